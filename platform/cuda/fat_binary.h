#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rtl_models/base/problem.h"

namespace warpline::cuda {

/// How the payload of an entry is stored.
enum class Compression : std::uint8_t {
  none,
  lz4,   ///< one raw block, as toolkits up to 12 write it
  zstd,  ///< an ordinary frame, as toolkit 13 writes it
};

/// One program in a fat binary: the same source, for one architecture, in one form.
struct FatBinaryEntry {
  enum class Kind : std::uint8_t { ptx, elf, other };
  Kind kind = Kind::other;
  unsigned architecture = 0;           ///< 10 x major + minor: 80 is sm_80
  bool architecture_specific = false;  ///< runs on that one only: sm_90a
  bool family_specific = false;        ///< runs on that major version from that minor one on: sm_100f
  bool debug = false;                  ///< made by `-G`: not optimised
  bool linked = false;  ///< made by linked_fat_binary(): the program is all such entries together
  Compression compression = Compression::none;
  std::string_view payload;      ///< as stored; points into what was read
  std::uint64_t text_bytes = 0;  ///< of the program; of a compressed one, after decompression
  std::string_view source;       ///< name of the source file; empty: the entry does not say
};

/// What nvcc links into a program: code for several GPUs, behind one header. Layout: found with toolkit 13 by
/// dumping sections of its output; that of toolkits 11 and 12 (LZ4) after public material.
class FatBinary {
 public:
  static constexpr std::uint32_t kMagic = 0xBA55ED50;

  /// Reads the headers of a fat binary at the start of `bytes`, which it does not copy and which outlive it;
  /// what follows its end is somebody else's. `name` is what messages call it. A fault: it is none, or is
  /// damaged: sizes that lead out of it.
  [[nodiscard]] static Result<FatBinary> read(std::string_view bytes, const std::string& name);

  [[nodiscard]] const std::vector<FatBinaryEntry>& entries() const { return entries_; }
  /// The entry in PTX that a driver would compile for a GPU of this compute capability (80 is 8.0): of the
  /// newest architecture that is no newer than the GPU, the most specific one of that. Where there is none,
  /// but machine code that the GPU would run: the oldest newer one, which stands in for that code. Null:
  /// none; why_not() says why.
  [[nodiscard]] const FatBinaryEntry* best_ptx(unsigned compute_capability) const;
  /// Why there is no best_ptx(), and which flag of nvcc would make one, as a sentence.
  [[nodiscard]] std::string why_not(unsigned compute_capability) const;
  /// The text of an entry, without the zeros behind it. A fault: it is damaged, or longer than 1 GiB.
  [[nodiscard]] Result<std::string> text(const FatBinaryEntry& entry) const;

 private:
  [[nodiscard]] bool has_machine_code(unsigned compute_capability) const;

  std::string name_;
  std::vector<FatBinaryEntry> entries_;
};

/// A fat binary of several texts that are linked when it is loaded: what cuLinkComplete gives a program. It
/// can be copied, and written to a file. `architecture`: as in FatBinaryEntry.
[[nodiscard]] std::string linked_fat_binary(const std::vector<std::string>& texts, unsigned architecture);

/// What a program registers for each of its fat binaries: where they lie in its memory.
struct FatBinaryWrapper {
  static constexpr std::uint32_t kMagic = 0x466243B1;
  std::uint32_t magic = 0;
  std::uint32_t version = 0;  ///< 1: `data` is the fat binary; 2: the linked one, without PTX
  const void* data = nullptr;
  const void* const* parts = nullptr;  ///< of version 2: those of each object (`-rdc=true`), null at the end
};

}  // namespace warpline::cuda
