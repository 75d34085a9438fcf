#include "platform/cuda/fat_binary_source.h"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "platform/cuda/program_file.h"
#include "platform/cuda/shortcomings.h"

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

/// Whether a text is of NVIDIA's library of launches from the device (libcudadevrt), by what it asks of the
/// driver: what is its own is built in here.
bool is_device_runtime(std::string_view text) {
  return text.find("__cuda_syscall_cnpv2") != std::string_view::npos;
}

/// Without those of the device runtime.
Result<std::vector<PtxText>> texts_in(std::string_view fat_binary, unsigned compute_capability,
                                      const std::string& name) {
  constexpr unsigned kAny = 999;
  if (compute_capability == 0) compute_capability = kAny;
  const Result<FatBinary> read = FatBinary::read(fat_binary, name);
  if (!read.ok()) return read.faults();
  std::vector<const FatBinaryEntry*> wanted;
  for (const FatBinaryEntry& entry : read.value().entries())
    if (entry.linked && entry.architecture <= compute_capability) wanted.push_back(&entry);
  if (wanted.empty()) {
    const FatBinaryEntry* const best = read.value().best_ptx(compute_capability);
    if (best == nullptr)
      return Diagnostic::about(name, "no code for this GPU: " + read.value().why_not(compute_capability));
    wanted.push_back(best);
  }
  std::vector<PtxText> texts;
  for (const FatBinaryEntry* const entry : wanted) {
    Result<std::string> text = read.value().text(*entry);
    if (!text.ok()) return text.faults();
    if (is_device_runtime(text.value())) continue;
    if (entry->architecture > compute_capability)
      Shortcomings::instance().note(
          "machine code for this GPU",
          fmt::format(
              "{}: its machine code for this GPU (sm_{}) cannot be run here; its PTX for sm_{} stands in",
              name, compute_capability, entry->architecture));
    texts.push_back({std::move(text.value()), entry->source.empty() ? name : std::string(entry->source)});
  }
  return texts;
}

/// Those of fat binaries that are linked. Some have none for this GPU and are needed by nobody: the stub of
/// what nvcc has linked, libraries that are built in here. Of another one, what lacks is named when the rest
/// is linked.
Result<std::vector<PtxText>> texts_in_all(const std::vector<std::string_view>& fat_binaries,
                                          unsigned compute_capability, const std::string& name) {
  std::vector<PtxText> texts;
  Diagnostics lacking;
  for (const std::string_view fat_binary : fat_binaries) {
    Result<std::vector<PtxText>> more = texts_in(fat_binary, compute_capability, name);
    if (!more.ok()) {
      lacking = more.faults();
      continue;
    }
    for (PtxText& text : more.value()) texts.push_back(std::move(text));
  }
  if (texts.empty() && !lacking.empty()) return lacking;
  return texts;
}

/// Whether an image begins with these bytes. It is read no further than it agrees with them.
bool begins_with(const void* image, std::string_view start) {
  const auto* const bytes = static_cast<const char*>(image);
  for (std::size_t n = 0; n < start.size(); ++n)
    if (bytes[n] != start[n]) return false;
  return true;
}
bool begins_with(const void* image, std::uint32_t magic) {
  char start[sizeof magic];
  std::memcpy(start, &magic, sizeof magic);
  return begins_with(image, std::string_view(start, sizeof start));
}
constexpr std::string_view kElf = "\177ELF";

Diagnostic machine_code(const std::string& name) {
  return Diagnostic::about(name, "this is machine code of a GPU, and PTX is what runs here",
                           "have nvcc keep PTX: -arch=sm_80, or -gencode arch=compute_80,code=compute_80");
}

}  // namespace

Result<std::vector<PtxText>> texts_of(const FatBinaryWrapper& wrapper, unsigned compute_capability,
                                      const std::string& name) {
  if (wrapper.magic != FatBinaryWrapper::kMagic || (wrapper.version != 1 && wrapper.version != 2))
    return Diagnostic::about(name, "the program registers what is no fat binary that this version knows");
  if (wrapper.version == 1) return texts_in(bytes_of(wrapper.data), compute_capability, name);
  std::vector<std::string_view> parts;
  for (const void* const* part = wrapper.parts; part != nullptr && *part != nullptr; ++part)
    parts.push_back(bytes_of(*part));
  Result<std::vector<PtxText>> texts = texts_in_all(parts, compute_capability, name);
  if (texts.ok() && texts.value().empty())
    return Diagnostic::about(name, "the program registers linked code without its parts");
  return texts;
}

Result<std::vector<PtxText>> texts_of_image(const void* image, unsigned compute_capability,
                                            const std::string& name) {
  if (begins_with(image, FatBinaryWrapper::kMagic))
    return texts_of(*static_cast<const FatBinaryWrapper*>(image), compute_capability, name);
  if (begins_with(image, FatBinary::kMagic)) return texts_in(bytes_of(image), compute_capability, name);
  if (begins_with(image, kElf)) return machine_code(name);
  return std::vector<PtxText>{PtxText{static_cast<const char*>(image), name}};
}

Result<std::vector<PtxText>> texts_of_bytes(std::string_view bytes, unsigned compute_capability,
                                            const std::string& name) {
  if (bytes.size() >= kElf.size() && begins_with(bytes.data(), FatBinary::kMagic))
    return texts_in(bytes, compute_capability, name);
  if (bytes.substr(0, kElf.size()) == kElf) return machine_code(name);
  return std::vector<PtxText>{PtxText{std::string(bytes.substr(0, bytes.find('\0'))), name}};
}

Result<std::vector<PtxText>> texts_to_link(std::string_view bytes, unsigned compute_capability,
                                           const std::string& name) {
  if (!is_object_code(bytes)) return texts_of_bytes(bytes, compute_capability, name);
  if (name.find("cudadevrt") != std::string::npos) return std::vector<PtxText>();
  const auto parts = fat_binaries_of(bytes, name);
  if (!parts.ok()) return parts.faults();
  if (parts.value().empty()) return Diagnostic::about(name, "there is no code for GPUs in it");
  return texts_in_all(parts.value(), compute_capability, name);
}

}  // namespace warpline::cuda
