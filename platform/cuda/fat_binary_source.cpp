#include "platform/cuda/fat_binary_source.h"

#include <link.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

namespace warpline::cuda {
namespace {

/// Bytes from an address to the end of what the loader has mapped there of the program or a library of it.
std::optional<std::size_t> bytes_to_end(const void* address) {
  struct Search {
    std::uintptr_t address;
    std::optional<std::size_t> found;
  } search{reinterpret_cast<std::uintptr_t>(address), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        for (int n = 0; n < info->dlpi_phnum; ++n) {
          const auto& segment = info->dlpi_phdr[n];
          const std::uintptr_t first = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD && s.address - first < segment.p_memsz)
            s.found = segment.p_memsz - (s.address - first);
        }
        return s.found ? 1 : 0;
      },
      &search);
  return search.found;
}

/// The bytes of a fat binary in memory: as far as the program's own data goes; elsewhere, on the heap, as its
/// header says.
std::string_view bytes_of(const void* fat_binary) {
  const auto* const bytes = static_cast<const char*>(fat_binary);
  if (const auto rest = bytes_to_end(fat_binary)) return {bytes, *rest};
  std::uint16_t header = 0;
  std::uint64_t body = 0;
  std::memcpy(&header, bytes + 6, sizeof header);
  std::memcpy(&body, bytes + 8, sizeof body);
  return {bytes, header + std::min<std::uint64_t>(body, std::numeric_limits<std::int64_t>::max())};
}

Result<PtxText> text_of(const void* fat_binary, unsigned compute_capability, const std::string& name) {
  constexpr unsigned kAny = 999;
  if (compute_capability == 0) compute_capability = kAny;
  const Result<FatBinary> read = FatBinary::read(bytes_of(fat_binary), name);
  if (!read.ok()) return read.faults();
  const FatBinaryEntry* const best = read.value().best_ptx(compute_capability);
  if (best == nullptr)
    return Diagnostic::about(name, "no code for this GPU: " + read.value().why_not(compute_capability));
  Result<std::string> text = read.value().text(*best);
  if (!text.ok()) return text.faults();
  return PtxText{std::move(text.value()), best->source.empty() ? name : std::string(best->source)};
}

}  // namespace

Result<std::vector<PtxText>> texts_of(const FatBinaryWrapper& wrapper, unsigned compute_capability,
                                      const std::string& name) {
  if (wrapper.magic != FatBinaryWrapper::kMagic || (wrapper.version != 1 && wrapper.version != 2))
    return Diagnostic::about(name, "the program registers what is no fat binary that this version knows");
  std::vector<PtxText> texts;
  const auto add = [&](const void* fat_binary) {
    Result<PtxText> text = text_of(fat_binary, compute_capability, name);
    if (!text.ok()) return text.faults();
    texts.push_back(std::move(text.value()));
    return Diagnostics{};
  };
  if (wrapper.version == 1) {
    if (Diagnostics faults = add(wrapper.data); !faults.empty()) return faults;
    return texts;
  }
  // Libraries that are linked in, such as that of launches from the device, have none for every GPU, and what
  // is theirs is built in here. Of another part, what lacks is named when the rest is linked.
  Diagnostics lacking;
  for (const void* const* part = wrapper.parts; part != nullptr && *part != nullptr; ++part)
    if (Diagnostics faults = add(*part); !faults.empty()) lacking = std::move(faults);
  if (texts.empty() && !lacking.empty()) return lacking;
  if (texts.empty()) return Diagnostic::about(name, "the program registers linked code without its parts");
  return texts;
}

Result<std::vector<PtxText>> texts_of_image(const void* image, unsigned compute_capability,
                                            const std::string& name) {
  std::uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof magic);
  if (magic == FatBinaryWrapper::kMagic)
    return texts_of(*static_cast<const FatBinaryWrapper*>(image), compute_capability, name);
  if (magic == FatBinary::kMagic) {
    Result<PtxText> text = text_of(image, compute_capability, name);
    if (!text.ok()) return text.faults();
    return std::vector<PtxText>{std::move(text.value())};
  }
  if (std::memcmp(image, "\177ELF", 4) == 0)
    return Diagnostic::about(name, "this is machine code of a GPU, and PTX is what runs here",
                             "have nvcc keep PTX: -arch=sm_80, or -gencode arch=compute_80,code=compute_80");
  return std::vector<PtxText>{PtxText{static_cast<const char*>(image), name}};
}

}  // namespace warpline::cuda
