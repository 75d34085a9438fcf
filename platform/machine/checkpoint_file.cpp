#include "platform/machine/checkpoint_file.h"

#include <algorithm>
#include <cstring>
#include <istream>
#include <map>
#include <ostream>
#include <tuple>

#include "platform/machine/checkpoint.h"
#include "rtl_models/base/sha256.h"
#include "rtl_models/base/state_archive.h"
#include "rtl_models/base/text.h"
#include "rtl_models/sim/memory_image.h"

namespace warpline {
namespace {

constexpr std::string_view kFileKind = "warpline checkpoint ";
constexpr std::string_view kFileFormat = "2\n";
constexpr std::string_view kHashLine = "\nsha256 ";
constexpr std::string_view kLastLine = "\nend of checkpoint\n";
constexpr std::size_t kDigits = 64;
constexpr std::size_t kTrailer = kHashLine.size() + kDigits + kLastLine.size();
/// Differing keys that are named.
constexpr std::size_t kNamedKeys = 12;

/// What is written, and its hash.
class HashedStream {
 public:
  explicit HashedStream(std::ostream& out) : out_(out) {}
  void write(std::string_view bytes) {
    hash_.add(bytes);
    out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  /// Numbers and texts.
  template <class... T>
  void put(const T&... values) {
    std::string text;
    StateArchive a(text);
    auto copies = std::make_tuple(values...);
    std::apply([&a](auto&... v) { a(v...); }, copies);
    write(text);
  }
  [[nodiscard]] std::string digest() { return hash_.digest(); }

 private:
  std::ostream& out_;
  Sha256 hash_;
};

/// Takes a checkpoint apart; throws StateMisfit where it ends too soon.
class Parts {
 public:
  explicit Parts(std::string_view left) : left_(left) {}
  std::uint64_t number() {
    std::uint64_t n = 0;
    StateArchive a(left_.substr(0, sizeof n));
    a(n);
    left_.remove_prefix(sizeof n);
    return n;
  }
  /// The text of a length and that many bytes, which stay where they are.
  std::string_view text() {
    const std::uint64_t bytes = number();
    if (bytes > left_.size()) throw StateMisfit("is cut off");
    const std::string_view text = left_.substr(0, bytes);
    left_.remove_prefix(bytes);
    return text;
  }
  [[nodiscard]] bool ended() const { return left_.empty(); }

 private:
  std::string_view left_;
};

void read_memory(Parts& parts, CheckpointFile::Memory& m) {
  m.name = parts.text();
  m.size = parts.number();
  std::uint64_t end = 0;
  for (;;) {
    const std::uint64_t offset = parts.number();
    const std::string_view bytes = parts.text();
    if (bytes.empty()) return;
    if (offset < end || offset > m.size || bytes.size() > m.size - offset)
      throw StateMisfit("has bytes where no memory is");
    end = offset + bytes.size();
    m.runs.push_back({offset, bytes});
  }
}

/// Reads what follows the format's line, up to the hash.
void read_parts(CheckpointFile& file, Parts parts) {
  file.version = parts.text();
  for (std::uint64_t left = parts.number(); left != 0; --left) {
    std::string key(parts.text());
    file.keys.emplace_back(std::move(key), parts.text());
  }
  file.note = parts.text();
  file.state = parts.text();
  for (std::uint64_t left = parts.number(); left != 0; --left)
    read_memory(parts, file.memories.emplace_back());
  if (!parts.ended()) throw StateMisfit("has bytes behind its end");
}

/// Why a checkpoint does not fit what has these keys and memories.
Diagnostics misfits(const CheckpointFile& file, const CheckpointKeys& keys,
                    const std::vector<CheckpointMemory>& memories) {
  const std::map<std::string, std::string> there(file.keys.begin(), file.keys.end());
  const std::map<std::string, std::string> here(keys.begin(), keys.end());
  std::vector<std::string> differing;
  for (const auto& [key, value] : keys)
    if (const auto saved = there.find(key); saved == there.end() || saved->second != value)
      differing.push_back(key + " is " + value + ", and was " +
                          (saved == there.end() ? std::string("not there") : saved->second));
  for (const auto& [key, value] : file.keys)
    if (here.count(key) == 0) differing.push_back(key + " is not there, and was " + value);
  if (!differing.empty()) {
    const std::size_t more = differing.size() - std::min(differing.size(), kNamedKeys);
    differing.resize(differing.size() - more);
    return {Diagnostic::about(file.name,
                              "was saved by a platform of another configuration: " + joined(differing, "; ") +
                                  (more == 0 ? "" : "; and " + std::to_string(more) + " more keys"),
                              "a checkpoint is restored into a platform that is configured alike")};
  }
  const bool same = file.memories.size() == memories.size() &&
                    std::equal(memories.begin(), memories.end(), file.memories.begin(),
                               [](const CheckpointMemory& m, const CheckpointFile::Memory& saved) {
                                 return m.name == saved.name && m.image.size() == saved.size;
                               });
  if (same) return {};
  return {Diagnostic::about(file.name, "has the bytes of other memories than this platform's")};
}

/// Restores the state; or changes nothing, and says why.
Diagnostics restore_state(const CheckpointFile& file, const std::function<void(StateArchive&)>& archive) {
  std::string before;
  StateArchive saves(before);
  archive(saves);
  try {
    StateArchive restores{file.state};
    archive(restores);
    if (!restores.ended()) restores.misfit("has more to it than there is here");
  } catch (const StateMisfit& misfit) {
    StateArchive undoes{std::string_view(before)};
    archive(undoes);
    return {Diagnostic::about(file.name, misfit.what())};
  }
  return {};
}

/// Brings the saved bytes into memories. Pre: no misfits().
void fill_memories(const CheckpointFile& file, const std::vector<CheckpointMemory>& memories) {
  for (std::size_t n = 0; n < memories.size(); ++n) {
    MemoryImage& image = memories[n].image;
    image.clear();
    for (const CheckpointFile::Run& run : file.memories[n].runs)
      std::memcpy(image.at(run.offset), run.bytes.data(), run.bytes.size());
  }
}

}  // namespace

Diagnostics save_checkpoint(std::ostream& out, std::string_view note, const CheckpointContents& contents) {
  std::string state;
  StateArchive saves(state);
  contents.archive(saves);
  HashedStream file(out);
  const auto put_text = [&file](std::string_view text) {
    file.put(std::uint64_t{text.size()});
    file.write(text);
  };
  file.write(kFileKind);
  file.write(kFileFormat);
  put_text(WARPLINE_VERSION);
  file.put(std::uint64_t{contents.keys.size()});
  for (const auto& [key, value] : contents.keys) {
    put_text(key);
    put_text(value);
  }
  put_text(note);
  put_text(state);
  file.put(std::uint64_t{contents.memories.size()});
  for (const CheckpointMemory& m : contents.memories) {
    put_text(m.name);
    file.put(m.image.size());
    m.image.for_each_run([&](std::uint64_t offset, std::uint64_t bytes) {
      file.put(offset);
      put_text({reinterpret_cast<const char*>(m.image.at(offset)), bytes});
    });
    file.put(std::uint64_t{0}, std::uint64_t{0});
  }
  out << kHashLine << file.digest() << kLastLine;
  out.flush();
  if (out.good()) return {};
  return {Diagnostic::about("checkpoint", "it could not be written")};
}

Diagnostics restore_checkpoint(const CheckpointFile& file, const CheckpointContents& contents) {
  if (Diagnostics faults = misfits(file, contents.keys, contents.memories); !faults.empty()) return faults;
  if (Diagnostics faults = restore_state(file, contents.archive); !faults.empty()) return faults;
  fill_memories(file, contents.memories);
  return {};
}

Result<Checkpoint> Checkpoint::read(std::istream& in, const std::string& name) {
  auto file = std::make_shared<CheckpointFile>();
  file->name = name;
  const auto fault = [&name](std::string message, std::string hint = {}) {
    return Diagnostic::about(name, std::move(message), std::move(hint));
  };
  std::vector<char> piece(std::size_t{1} << 16U);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() != 0) {
    file->text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    // Something else may be larger than the host's memory, or have no end.
    if (file->text.compare(0, kFileKind.size(), kFileKind) != 0) break;
  }
  if (in.bad()) return fault("cannot be read to its end");
  const std::string_view text = file->text;
  if (text.substr(0, kFileKind.size()) != kFileKind)
    return fault("is no checkpoint", "warpline run --save FILE and GpuPlatform::save() write them");
  const std::string_view rest = text.substr(kFileKind.size());
  if (rest.substr(0, kFileFormat.size()) != kFileFormat) {
    const std::string_view format = rest.substr(0, std::min<std::size_t>(rest.find('\n'), 20));
    return fault("is a checkpoint of format \"" + std::string(format) +
                 "\", and this is Warpline " WARPLINE_VERSION ", which reads format 1");
  }
  if (text.size() < kFileKind.size() + kFileFormat.size() + kTrailer ||
      text.substr(text.size() - kLastLine.size()) != kLastLine)
    return fault("is cut off, or has something behind its end");
  const std::string_view saved = text.substr(0, text.size() - kTrailer);
  const std::string_view hash = text.substr(saved.size(), kHashLine.size() + kDigits);
  if (hash != std::string(kHashLine) + sha256_of(saved)) return fault("is damaged: its SHA-256 is another");
  try {
    read_parts(*file, Parts(saved.substr(kFileKind.size() + kFileFormat.size())));
  } catch (const StateMisfit& misfit) {
    return fault(misfit.what());
  }
  if (file->version != WARPLINE_VERSION)
    return fault("was saved by Warpline " + file->version + ", and this is Warpline " WARPLINE_VERSION,
                 "a checkpoint is restored by the version that saved it");
  return Checkpoint(std::move(file));
}

const std::string& Checkpoint::note() const {
  return file_->note;
}

const std::string& Checkpoint::name() const {
  return file_->name;
}

}  // namespace warpline
