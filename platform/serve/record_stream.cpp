#include "platform/serve/record_stream.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <istream>
#include <optional>
#include <ostream>
#include <tuple>

#include "platform/machine/pcie_system.h"
#include "platform/serve/served_function.h"
#include "platform/serve/served_machine.h"
#include "rtl_models/base/state_archive.h"
#include "rtl_models/base/text.h"
#include "rtl_models/pcie/endpoint/endpoint_device.h"
#include "rtl_models/sim/engine.h"

namespace warpline {
namespace {

constexpr char kMagic[] = "warpline serve record 2\n";
constexpr std::size_t kMagicBytes = sizeof kMagic - 1;
/// Of zstd: the fastest of the usual ones, as it is done while software waits.
constexpr int kCompression = 1;
/// Of a block, unpacked, or of the heading. No event is nearly as long.
constexpr std::uint32_t kMostBlock = 64U << 20U;

/// FNV-1a of 64 bits.
std::uint64_t checksum(const std::string& bytes) {
  std::uint64_t sum = 0xCBF2'9CE4'8422'2325;
  for (const char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3;
  return sum;
}

/// What stands before each piece of a file.
struct Heading {
  std::uint32_t bytes = 0;     ///< that follow
  std::uint32_t unpacked = 0;  ///< what these come to
  std::uint64_t sum = 0;       ///< of them and of these two numbers
};

std::uint64_t sum_of(const Heading& heading, const std::string& bytes) {
  return checksum(bytes) ^ checksum(std::to_string(heading.bytes) + "/" + std::to_string(heading.unpacked));
}

void write_piece(std::ostream& out, const std::string& bytes, std::size_t unpacked) {
  Heading heading{static_cast<std::uint32_t>(bytes.size()), static_cast<std::uint32_t>(unpacked), 0};
  heading.sum = sum_of(heading, bytes);
  out.write(reinterpret_cast<const char*>(&heading), sizeof heading);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.flush();
}

enum class Piece : std::uint8_t { good, end, cut, damaged };
Piece read_piece(std::istream& in, std::string& bytes, std::uint32_t& unpacked) {
  Heading heading;
  in.read(reinterpret_cast<char*>(&heading), sizeof heading);
  if (in.gcount() == 0) return Piece::end;
  if (in.gcount() != sizeof heading) return Piece::cut;
  if (heading.bytes > kMostBlock || heading.unpacked > kMostBlock) return Piece::damaged;
  bytes.resize(heading.bytes);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (in.gcount() != static_cast<std::streamsize>(bytes.size())) return Piece::cut;
  unpacked = heading.unpacked;
  return sum_of(heading, bytes) == heading.sum ? Piece::good : Piece::damaged;
}

class StreamReader final : public RecordReader {
 public:
  StreamReader(std::istream& in, std::string name, std::string machine)
      : in_(in), name_(std::move(name)), machine_(std::move(machine)) {}

  [[nodiscard]] const std::string& machine() const override { return machine_; }
  [[nodiscard]] const ServedEvent* next() override {
    if (event_) return &*event_;
    try {
      while (!ended_ && (!archive_ || archive_->ended())) read_block();
      if (ended_) return nullptr;
      event_.emplace();
      event_->archive(*archive_);
    } catch (const StateMisfit&) {
      damaged();
    }
    return event_ ? &*event_ : nullptr;
  }
  void take() override {
    ++events_;
    event_.reset();
  }
  [[nodiscard]] std::uint64_t events() const override { return events_; }
  [[nodiscard]] bool cut() const override { return cut_; }
  [[nodiscard]] Diagnostics faults() const override { return faults_; }

 private:
  void damaged() {
    event_.reset();
    ended_ = true;
    faults_ = {Diagnostic::about(name_, fmt::format("it is damaged after {} events", events_))};
  }
  void read_block() {
    std::string packed;
    std::uint32_t bytes = 0;
    switch (read_piece(in_, packed, bytes)) {
      case Piece::good: break;
      case Piece::end: ended_ = true; return;
      case Piece::cut: ended_ = cut_ = true; return;
      case Piece::damaged: return damaged();
    }
    block_.resize(bytes);
    const std::size_t got = ZSTD_decompress(block_.data(), block_.size(), packed.data(), packed.size());
    if (ZSTD_isError(got) != 0 || got != bytes) return damaged();
    archive_.emplace(std::string_view(block_));
  }

  std::istream& in_;
  std::string name_, machine_;
  std::string block_;
  std::optional<StateArchive> archive_;
  std::optional<ServedEvent> event_;
  std::uint64_t events_ = 0;
  bool ended_ = false, cut_ = false;
  Diagnostics faults_;
};

/// Holds what a machine does against what is recorded.
class ComparedTape final : public ServedTape {
 public:
  ComparedTape(ServedMachine& machine, RecordReader& reader) : machine_(machine), reader_(reader) {}

  void happen(ServedEvent& event) override {
    const ServedEvent* const recorded = reader_.next();
    if (!difference_.empty() || recorded == nullptr) {
      // Nothing is known of what is asked now: a difference was before, or the recording was cut off.
      event.result = event.kind == ServedEvent::Kind::perform ? 1 : 2;
      return;
    }
    if (!same(event, *recorded)) {
      differs(event, is(*recorded) + first_byte(event.data, recorded->data));
      event.result = event.kind == ServedEvent::Kind::perform ? 1 : 2;
      return;
    }
    event.result = recorded->result;
    event.place = recorded->place;
    event.answer = recorded->answer;
    ended_ = event.kind == ServedEvent::Kind::end;
    reader_.take();
  }
  [[nodiscard]] bool replays() const override { return true; }
  void rest() override {}
  void differs(const ServedEvent& event, const std::string& recorded) {
    difference_ =
        fmt::format("event {}, cycle {}: {}; {}", reader_.events(), event.now, text_of(event), recorded);
  }
  void ends_early(const ServedEvent& recorded) {
    difference_ = fmt::format("event {}, cycle {}: the machine does nothing; {}", reader_.events(),
                              machine_.system().engine().now(), is(recorded));
  }
  [[nodiscard]] bool ended() const { return ended_; }
  /// Whether this machine can be done that.
  [[nodiscard]] bool fits(const ServedEvent& e) const {
    using What = ServedEvent::Kind;
    if (e.kind == What::timing || e.kind == What::turn || e.kind == What::finish || e.kind == What::end)
      return true;
    if (e.function >= machine_.functions()) return false;
    if (e.kind != What::read && e.kind != What::write) return true;
    const std::uint64_t bytes = machine_.function(e.function).region(e.region).bytes;
    return e.cycle != 0 && e.bytes != 0 && e.bytes <= bytes && e.offset <= bytes - e.bytes &&
           (e.kind == What::read || e.data.size() == e.bytes);
  }
  [[nodiscard]] const std::string& difference() const { return difference_; }

 private:
  [[nodiscard]] static bool same(const ServedEvent& a, const ServedEvent& b) {
    const auto facts = [](const ServedEvent& e) {
      return std::tie(e.kind, e.steps, e.now, e.cycle, e.function, e.region, e.offset, e.bytes, e.data);
    };
    const bool asks = a.kind == ServedEvent::Kind::find || a.kind == ServedEvent::Kind::perform ||
                      a.kind == ServedEvent::Kind::interrupt;
    return facts(a) == facts(b) && (asks || a.result == b.result);
  }

  [[nodiscard]] std::string text_of(const ServedEvent& event) const {
    return to_text(event, event.function < machine_.functions()
                              ? machine_.system().at_port(event.function).name
                              : fmt::format("function {}", event.function));
  }
  [[nodiscard]] std::string is(const ServedEvent& recorded) const {
    return fmt::format("recorded is, in cycle {}: {}", recorded.now, text_of(recorded));
  }
  /// Where data differ, if that is so.
  [[nodiscard]] static std::string first_byte(const std::vector<std::uint8_t>& now,
                                              const std::vector<std::uint8_t>& recorded) {
    const auto [a, b] = std::mismatch(now.begin(), now.end(), recorded.begin(), recorded.end());
    if (a == now.end() || b == recorded.end()) return {};
    return fmt::format("; byte {} of the data is {}, and was {}", a - now.begin(), hexadecimal(*a, 2),
                       hexadecimal(*b, 2));
  }

  ServedMachine& machine_;
  RecordReader& reader_;
  std::string difference_;
  bool ended_ = false;
};

}  // namespace

/// Compresses blocks, with memory that it keeps between them.
class RecordWriter::Packer {
 public:
  [[nodiscard]] const std::string& pack(const std::string& block) {
    packed_.resize(ZSTD_compressBound(block.size()));
    packed_.resize(ZSTD_compressCCtx(context_.get(), packed_.data(), packed_.size(), block.data(),
                                     block.size(), kCompression));
    return packed_;
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> context_{ZSTD_createCCtx()};
  std::string packed_;
};

RecordWriter::RecordWriter(std::ostream& out, const std::string& machine, Failed failed)
    : out_(out), failed_(std::move(failed)), packer_(std::make_unique<Packer>()) {
  out_.write(kMagic, kMagicBytes);
  write(machine, machine.size());
}

RecordWriter::~RecordWriter() {
  flush();
}

void RecordWriter::happen(ServedEvent& event) {
  if (!good()) return;
  StateArchive archive(block_);
  event.archive(archive);
  ++events_;
  if (block_.size() >= kBlock) flush();
}

void RecordWriter::flush() {
  if (block_.empty()) return;
  write(packer_->pack(block_), block_.size());
  block_.clear();
}

void RecordWriter::write(const std::string& bytes, std::size_t unpacked) {
  if (!good()) return;
  errno = 0;
  write_piece(out_, bytes, unpacked);
  if (!good() && failed_) failed_(errno);
}

bool RecordWriter::good() const {
  return out_.good();
}

Result<std::unique_ptr<RecordReader>> RecordReader::open(std::istream& in, const std::string& name) {
  char magic[kMagicBytes];
  in.read(magic, sizeof magic);
  if (in.gcount() != sizeof magic || std::memcmp(magic, kMagic, sizeof magic) != 0)
    return Diagnostic::about(name, "it is no record of this version of Warpline",
                             "`warpline serve --record` writes them");
  std::string machine;
  std::uint32_t bytes = 0;
  if (read_piece(in, machine, bytes) != Piece::good)
    return Diagnostic::about(name, "it is damaged, or was cut off, where it says which machine it is of");
  return std::unique_ptr<RecordReader>(std::make_unique<StreamReader>(in, name, std::move(machine)));
}

ReplayEnd replay(ServedMachine& machine, RecordReader& reader, const std::function<bool()>& stop) {
  ComparedTape comparison(machine, reader);
  bool stopped = false;
  machine.tape_by(&comparison);
  while (comparison.difference().empty()) {
    const ServedEvent* const recorded = reader.next();
    if (recorded == nullptr) break;
    if (stop && stop()) {
      stopped = true;
      break;
    }
    if (recorded->steps > machine.steps()) {
      if (machine.can_step()) {
        machine.step_once();
      } else {
        comparison.ends_early(*recorded);
      }
      continue;
    }
    const std::uint64_t before = reader.events();
    if (recorded->is_input() && comparison.fits(*recorded)) {
      const ServedEvent event = *recorded;
      machine.apply(event);
    }
    // What the machine was to do by now, or could not be done to it.
    if (reader.events() == before && comparison.difference().empty()) comparison.ends_early(*recorded);
  }
  machine.tape_by(nullptr);
  return {reader.events(),         reader.cut(),   comparison.ended(), stopped,
          comparison.difference(), reader.faults()};
}

}  // namespace warpline
