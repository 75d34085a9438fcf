#include "platform/cuda/fat_binary.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

namespace warpline::cuda {
namespace {

constexpr std::size_t kHeaderBytes = 16;
/// The shortest header of an entry that has all fields that are read here.
constexpr std::size_t kEntryBytes = 0x40;
constexpr std::uint64_t kMostTextBytes = std::uint64_t{1} << 30;

enum Flags : std::uint64_t {
  kDebug = 0x2,
  kLz4 = 0x2000,
  kZstd = 0x8000,
  kArchitectureSpecific = 0x100000,
  kFamilySpecific = 0x200000,
  kLinked = std::uint64_t{1} << 62U,  ///< ours: nvcc writes none
};

/// The little-endian number at an offset. Pre: it lies in `bytes`.
template <class T>
T number_at(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

FatBinaryEntry::Kind kind_of(std::uint16_t number) {
  if (number == 1) return FatBinaryEntry::Kind::ptx;
  return number == 2 ? FatBinaryEntry::Kind::elf : FatBinaryEntry::Kind::other;
}

/// "sm_90a".
std::string target_name(const FatBinaryEntry& entry) {
  const char* suffix = entry.architecture_specific ? "a" : entry.family_specific ? "f" : "";
  return fmt::format("sm_{}{}", entry.architecture, suffix);
}

bool runs_on(const FatBinaryEntry& entry, unsigned compute_capability) {
  if (entry.architecture_specific) return entry.architecture == compute_capability;
  if (entry.family_specific && entry.architecture / 10 != compute_capability / 10) return false;
  return entry.architecture <= compute_capability;
}

}  // namespace

Result<FatBinary> FatBinary::read(std::string_view bytes, const std::string& name) {
  const auto damaged = [&](std::string what) {
    return Diagnostic::about(name, fmt::format("this fat binary is damaged: {}", what));
  };
  if (bytes.size() < kHeaderBytes || number_at<std::uint32_t>(bytes, 0) != kMagic)
    return Diagnostic::about(name, "this is no fat binary", "one begins with the bytes 50 ed 55 ba");
  const auto version = number_at<std::uint16_t>(bytes, 4);
  if (version != 1)
    return Diagnostic::about(
        name, fmt::format("this is a fat binary of version {}, and only version 1 is known", version));
  const std::size_t header = number_at<std::uint16_t>(bytes, 6);
  if (header < kHeaderBytes || header > bytes.size())
    return damaged(fmt::format("its header says that it has {} bytes", header));
  const auto body = number_at<std::uint64_t>(bytes, 8);
  bytes.remove_prefix(header);
  if (body > bytes.size())
    return damaged(fmt::format("it has {} bytes of the {} that it says", bytes.size(), body));
  bytes = bytes.substr(0, body);

  FatBinary read;
  read.name_ = name;
  while (!bytes.empty()) {
    const std::size_t number = read.entries_.size() + 1;
    if (bytes.size() < kEntryBytes) return damaged(fmt::format("the header of entry {} is cut off", number));
    const std::size_t entry_header = number_at<std::uint32_t>(bytes, 0x04);
    const auto stored = number_at<std::uint64_t>(bytes, 0x08);
    if (entry_header < kEntryBytes || entry_header > bytes.size() || stored > bytes.size() - entry_header)
      return damaged(fmt::format("entry {} leads out of it", number));
    const auto compressed = number_at<std::uint32_t>(bytes, 0x10);
    const auto flags = number_at<std::uint64_t>(bytes, 0x28);
    FatBinaryEntry entry;
    entry.kind = kind_of(number_at<std::uint16_t>(bytes, 0x00));
    entry.architecture = number_at<std::uint32_t>(bytes, 0x1c);
    entry.architecture_specific = (flags & kArchitectureSpecific) != 0;
    entry.family_specific = (flags & kFamilySpecific) != 0;
    entry.debug = (flags & kDebug) != 0;
    entry.linked = (flags & kLinked) != 0;
    if (compressed != 0) {
      if (compressed > stored)
        return damaged(fmt::format("entry {} is longer compressed than it is stored", number));
      if ((flags & (kLz4 | kZstd)) == 0)
        return damaged(
            fmt::format("entry {} is compressed in a way that is not known (flags 0x{:x})", number, flags));
      entry.compression = (flags & kZstd) != 0 ? Compression::zstd : Compression::lz4;
    }
    entry.payload = bytes.substr(entry_header, compressed != 0 ? compressed : stored);
    entry.text_bytes = compressed != 0 ? number_at<std::uint64_t>(bytes, 0x38) : stored;
    const auto name_at = number_at<std::uint32_t>(bytes, 0x20),
               name_bytes = number_at<std::uint32_t>(bytes, 0x24);
    if (name_at >= kEntryBytes && name_at < entry_header && name_bytes <= entry_header - name_at)
      entry.source = bytes.substr(name_at, name_bytes);
    read.entries_.push_back(entry);
    bytes.remove_prefix(entry_header + stored);
  }
  return read;
}

const FatBinaryEntry* FatBinary::best_ptx(unsigned compute_capability) const {
  const FatBinaryEntry* best = nullptr;
  for (const FatBinaryEntry& entry : entries_) {
    if (entry.kind != FatBinaryEntry::Kind::ptx || !runs_on(entry, compute_capability)) continue;
    const auto rank = [](const FatBinaryEntry& e) {
      return std::tuple(e.architecture, e.architecture_specific, e.family_specific);
    };
    if (best == nullptr || rank(*best) < rank(entry)) best = &entry;
  }
  if (best != nullptr || !has_machine_code(compute_capability)) return best;
  for (const FatBinaryEntry& entry : entries_)
    if (entry.kind == FatBinaryEntry::Kind::ptx && !entry.architecture_specific && !entry.family_specific &&
        entry.architecture > compute_capability &&
        (best == nullptr || entry.architecture < best->architecture))
      best = &entry;
  return best;
}

bool FatBinary::has_machine_code(unsigned compute_capability) const {
  return std::any_of(entries_.begin(), entries_.end(), [compute_capability](const FatBinaryEntry& e) {
    const bool same = e.architecture == compute_capability;
    return e.kind == FatBinaryEntry::Kind::elf &&
           (same || (!e.architecture_specific && e.architecture / 10 == compute_capability / 10 &&
                     e.architecture < compute_capability));
  });
}

std::string FatBinary::why_not(unsigned compute_capability) const {
  std::set<std::string> ptx, code;
  for (const FatBinaryEntry& entry : entries_) {
    if (entry.kind == FatBinaryEntry::Kind::ptx) ptx.insert(target_name(entry));
    if (entry.kind == FatBinaryEntry::Kind::elf) code.insert(target_name(entry));
  }
  if (!ptx.empty())
    return fmt::format(
        "its PTX is for {}, and this GPU is sm_{}: compile with `-arch=sm_{}`, or choose another GPU",
        fmt::join(ptx, ", "), compute_capability, compute_capability);
  if (!code.empty())
    return fmt::format(
        "it has machine code for {} and no PTX: compile with `-arch=sm_{}`, or add `-gencode "
        "arch=compute_{},code=compute_{}`",
        fmt::join(code, ", "), compute_capability, compute_capability, compute_capability);
  return "it has no code at all";
}

Result<std::string> FatBinary::text(const FatBinaryEntry& entry) const {
  const auto damaged = [&](const std::string& what) {
    return Diagnostic::about(
        name_, fmt::format("the program for {} in this fat binary is damaged: {}", target_name(entry), what));
  };
  if (entry.text_bytes > kMostTextBytes)
    return damaged(fmt::format("its text is said to have {} bytes, and the most is {}", entry.text_bytes,
                               kMostTextBytes));
  std::string text;
  if (entry.compression == Compression::none) {
    text = entry.payload;
  } else {
    // A frame or block expands to some 250 times its size at most; what claims more takes no memory.
    constexpr std::uint64_t kMostExpansion = 100'000;
    if (entry.text_bytes > (entry.payload.size() + 1) * kMostExpansion)
      return damaged(fmt::format("{} bytes cannot become {}", entry.payload.size(), entry.text_bytes));
    text.resize(entry.text_bytes);
    if (entry.compression == Compression::zstd) {
      const std::size_t made =
          ZSTD_decompress(text.data(), text.size(), entry.payload.data(), entry.payload.size());
      if (ZSTD_isError(made) != 0) return damaged(fmt::format("zstd says \"{}\"", ZSTD_getErrorName(made)));
      text.resize(made);
    } else {
      const int made =
          LZ4_decompress_safe(entry.payload.data(), text.data(), static_cast<int>(entry.payload.size()),
                              static_cast<int>(text.size()));
      if (made < 0) return damaged("its LZ4 block ends wrongly");
      text.resize(static_cast<std::size_t>(made));
    }
    if (text.size() != entry.text_bytes)
      return damaged(fmt::format("it has {} bytes after decompression and should have {}", text.size(),
                                 entry.text_bytes));
  }
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

std::string linked_fat_binary(const std::vector<std::string>& texts, unsigned architecture) {
  constexpr std::size_t kPadding = 8;
  std::string image;
  const auto put = [&image](auto value) {
    image.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  std::string entries;
  std::swap(image, entries);
  for (const std::string& text : texts) {
    // A text ends in one zero at least, as a program's own would.
    const std::uint64_t stored = (text.size() + kPadding) / kPadding * kPadding;
    put(std::uint16_t{1});
    put(std::uint16_t{0x0101});
    put(static_cast<std::uint32_t>(kEntryBytes));
    put(stored);
    put(std::uint64_t{0});  // not compressed, no options
    put(std::uint32_t{0});
    put(std::uint32_t{architecture});
    put(std::uint64_t{0});  // no name of a source
    put(std::uint64_t{0x11} | kLinked);
    put(std::uint64_t{0});
    put(std::uint64_t{0});
    image += text;
    image.append(stored - text.size(), '\0');
  }
  std::swap(image, entries);
  put(FatBinary::kMagic);
  put(std::uint16_t{1});
  put(static_cast<std::uint16_t>(kHeaderBytes));
  put(static_cast<std::uint64_t>(entries.size()));
  return image + entries;
}

}  // namespace warpline::cuda
