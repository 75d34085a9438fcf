#include "platform/programs/sass_trace/packed_trace.h"

#include <fcntl.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "rtl_models/base/text.h"
#include "rtl_models/document/file_identity.h"
#include "rtl_models/document/output_file.h"

namespace warpline::sass {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMagic = 0x0045434152544C57;  ///< "WLTRACE" and a zero
/// Of the format. Files of another are packed anew.
constexpr std::uint64_t kVersion = 1;
/// Bytes that are copied or checked at a time.
constexpr std::size_t kCopiedAtOnce = std::size_t{1} << 16U;

/// The words at the start of the file, little-endian, in this order.
struct Heading {
  enum Word : unsigned {
    magic,
    version,
    source_bytes,
    source_crc,
    warps_per_block,
    blocks,
    warp_bytes,
    index_bytes,
    table_bytes,
    content_crc,  ///< of all that follows the heading
    heading_crc,  ///< of the words before
    words
  };
  static constexpr std::size_t kBytes = std::size_t{words} * 8;
  std::array<std::uint64_t, words> word{};

  [[nodiscard]] std::array<std::uint8_t, kBytes> bytes() const {
    std::array<std::uint8_t, kBytes> out{};
    for (unsigned i = 0; i < kBytes; ++i) out[i] = static_cast<std::uint8_t>(word[i / 8] >> (i % 8 * 8));
    return out;
  }
  [[nodiscard]] static Heading of(const std::array<std::uint8_t, kBytes>& bytes) {
    Heading h;
    for (unsigned i = 0; i < kBytes; ++i) h.word[i / 8] |= std::uint64_t{bytes[i]} << (i % 8 * 8);
    return h;
  }
  [[nodiscard]] std::uint64_t own_crc() const { return lzma_crc64(bytes().data(), kBytes - 8, 0); }
  /// Bytes behind the heading; nothing where they do not fit 64 bits.
  [[nodiscard]] bool add_up_to(std::uint64_t content) const {
    std::uint64_t sum = 0;
    return !__builtin_add_overflow(word[warp_bytes], word[index_bytes], &sum) &&
           !__builtin_add_overflow(sum, word[table_bytes], &sum) && sum == content;
  }
};

/// The blocks of a packed trace that has been checked.
class PackedReader final : public BlockSource {
 public:
  PackedReader(std::string path, int file, const Heading& heading)
      : heading_(heading),
        bytes_(std::move(path), file, Heading::kBytes,
               heading.word[Heading::warp_bytes] + heading.word[Heading::index_bytes] +
                   heading.word[Heading::table_bytes]),
        index_(bytes_, heading.word[Heading::warp_bytes],
               heading.word[Heading::warp_bytes] + heading.word[Heading::index_bytes]) {}

  /// Whether the content is what was written.
  bool is_whole() {
    std::vector<std::uint8_t> piece(kCopiedAtOnce);
    std::uint64_t crc = 0;
    for (std::uint64_t at = 0; at < bytes_.size();) {
      const std::size_t n = std::min<std::uint64_t>(piece.size(), bytes_.size() - at);
      bytes_.read(at, piece.data(), n);
      crc = lzma_crc64(piece.data(), n, crc);
      at += n;
    }
    return crc == heading_.word[Heading::content_crc];
  }

  /// Adds the instructions to `program`, under the numbers that they have here. False where they cannot be
  /// that. Throws InputError at one that is no instruction.
  bool add_to(Program& program) {
    NumberReader table(bytes_, heading_.word[Heading::warp_bytes] + heading_.word[Heading::index_bytes],
                       bytes_.size());
    const std::string name = "packed trace";
    for (unsigned number = 0; !table.done(); ++number) {
      const std::uint64_t pc = table.next();
      const std::string text = table.text(table.next());
      LineCursor line(name, number + 1, text);
      std::string_view taken;
      const Operands operands = read_operands(line, static_cast<std::uint32_t>(pc), taken);
      if (pc > UINT32_MAX || taken != text || program.full()) return false;
      const Program::Entry& entry = program.entry(text, operands);
      // One that is illegal by now is a fault of the trace, and its text has the line.
      if (entry.number != number || entry.is_illegal()) return false;
    }
    return true;
  }

  TraceBlock next() override {
    TraceBlock block;
    block.warps.resize(heading_.word[Heading::warps_per_block]);
    const std::uint64_t listed = index_.next();
    for (std::uint64_t i = 0; i < listed; ++i) {
      const std::uint64_t warp = index_.next(), bytes = index_.next();
      if (listed > block.warps.size() || warp >= block.warps.size() ||
          bytes > heading_.word[Heading::warp_bytes] - offset_)
        bytes_.fail("has an index that does not fit its warps; delete it");
      block.warps[warp] = {offset_, bytes};
      offset_ += bytes;
    }
    return block;
  }
  void end() override {}
  PackedBytes& packed() override { return bytes_; }

 private:
  Heading heading_;
  PackedBytes bytes_;
  NumberReader index_;
  std::uint64_t offset_ = 0;  ///< of the next block's first warp
};

/// Reads the heading of the file that is open; false where it is none of a packed trace of this version.
bool read_heading(int file, Heading& heading) {
  std::array<std::uint8_t, Heading::kBytes> bytes{};
  struct stat found = {};
  if (::fstat(file, &found) != 0 || !S_ISREG(found.st_mode) ||
      ::pread(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return false;
  heading = Heading::of(bytes);
  return heading.word[Heading::magic] == kMagic && heading.word[Heading::version] == kVersion &&
         heading.word[Heading::heading_crc] == heading.own_crc() &&
         heading.add_up_to(static_cast<std::uint64_t>(found.st_size) - Heading::kBytes);
}

/// Passes `bytes` to f(data, count), piece by piece.
template <class F>
void for_each_piece(PackedBytes& bytes, F&& f) {
  std::vector<std::uint8_t> piece(kCopiedAtOnce);
  for (std::uint64_t at = 0; at < bytes.size();) {
    const std::size_t n = std::min<std::uint64_t>(piece.size(), bytes.size() - at);
    bytes.read(at, piece.data(), n);
    f(piece.data(), n);
    at += n;
  }
}

/// Whether the file can be made or replaced in one step, and nobody else's is changed by it. One whose owner
/// or group a new file cannot have would be written over, and others may be reading it.
bool is_replaceable(const std::string& path) {
  struct stat found = {};
  if (::lstat(path.c_str(), &found) != 0) return true;
  return S_ISREG(found.st_mode) && found.st_nlink == 1 && found.st_uid == ::geteuid() &&
         (found.st_gid == ::getegid() || ::group_member(found.st_gid) != 0) &&
         ::faccessat(AT_FDCWD, folder_of(path).c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

}  // namespace

std::vector<std::string> packed_paths(const std::string& trace) {
  std::vector<std::string> paths = {trace + kPackedSuffix};
  const auto set = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value == '/' ? std::string(value) : std::string();
  };
  std::string caches = set("XDG_CACHE_HOME");
  if (const std::string home = set("HOME"); caches.empty() && !home.empty()) caches = home + "/.cache";
  if (caches.empty()) return paths;
  const fs::path place = file_place(trace).path;
  std::error_code error;
  const std::string whole = fs::absolute(place, error).lexically_normal().string();
  const std::uint64_t number =
      lzma_crc64(reinterpret_cast<const std::uint8_t*>(whole.data()), whole.size(), 0);
  paths.push_back(caches + "/warpline/traces/" + hexadecimal(number, 16).substr(2) + "-" +
                  place.filename().string().substr(0, 200) + kPackedSuffix);
  return paths;
}

std::unique_ptr<BlockSource> open_packed(const std::string& trace, const TraceHeader& header,
                                         Program& program) {
  FileFingerprint source;  // once a file asks for it
  for (const std::string& path : packed_paths(trace)) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) continue;
    Heading heading;
    if (!read_heading(file, heading)) {
      ::close(file);
      continue;
    }
    auto reader = std::make_unique<PackedReader>(path, file, heading);
    const auto& word = heading.word;
    struct stat now = {};
    if (word[Heading::warps_per_block] != header.warps_per_block() ||
        word[Heading::blocks] != header.grid.count() || ::stat(trace.c_str(), &now) != 0 ||
        static_cast<std::uint64_t>(now.st_size) != word[Heading::source_bytes])
      continue;
    try {
      if (source.bytes == 0) source = fingerprint_of(trace);
      if (source != FileFingerprint{word[Heading::source_bytes], word[Heading::source_crc]}) continue;
      if (reader->is_whole() && reader->add_to(program)) return reader;
    } catch (const std::runtime_error&) {
      // Unreadable, or of another making: the text says what is to be said.
    }
  }
  return nullptr;
}

void write_packed(const std::string& trace, const TraceHeader& header, Program& program,
                  const PackedText& text) {
  try {
    PackedBytes table{std::vector<std::string>{}};
    for (unsigned n = 0; n < program.size(); ++n) {
      const Program::Entry& entry = program.at(n);
      table.append_number(entry.pc);
      table.append_number(entry.text.size());
      table.append(reinterpret_cast<const std::uint8_t*>(entry.text.data()), entry.text.size());
    }
    Heading heading;
    auto& word = heading.word;
    word[Heading::magic] = kMagic;
    word[Heading::version] = kVersion;
    word[Heading::source_bytes] = text.source.bytes;
    word[Heading::source_crc] = text.source.crc;
    word[Heading::warps_per_block] = header.warps_per_block();
    word[Heading::blocks] = text.blocks;
    word[Heading::warp_bytes] = text.warps.size();
    word[Heading::index_bytes] = text.index.size();
    word[Heading::table_bytes] = table.size();
    const std::array<PackedBytes*, 3> parts = {&text.warps, &text.index, &table};
    for (PackedBytes* const part : parts)
      for_each_piece(*part, [&](const std::uint8_t* bytes, std::size_t count) {
        word[Heading::content_crc] = lzma_crc64(bytes, count, word[Heading::content_crc]);
      });
    word[Heading::heading_crc] = heading.own_crc();
    for (const std::string& path : packed_paths(trace)) {
      OutputFile file;
      if (!is_replaceable(path) || !file.open(path).empty()) continue;
      const auto write = [&](const std::uint8_t* bytes, std::size_t count) {
        file.write({reinterpret_cast<const char*>(bytes), count});
      };
      const auto start = heading.bytes();
      write(start.data(), start.size());
      for (PackedBytes* const part : parts) for_each_piece(*part, write);
      if (file.close().empty()) return;
    }
  } catch (const std::runtime_error&) {
    // The scratch file cannot be read: what it holds is lost, and nothing else.
  }
}

}  // namespace warpline::sass
