#include "platform/cuda/libraries/static_runtime.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "platform/cuda/abi/runtime.h"
#include "platform/cuda/program_file.h"

namespace warpline::cuda {
namespace {

/// `movabs rax, target; jmp rax`.
std::array<std::uint8_t, 12> jump_to(Address target) {
  std::array<std::uint8_t, 12> code{0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xE0};
  std::memcpy(&code[2], &target, sizeof target);
  return code;
}

/// What is added to addresses of the program's file; the first that the loader tells of is the program.
std::uintptr_t program_base() {
  std::uintptr_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        *static_cast<std::uintptr_t*>(data) = info->dlpi_addr;
        return 1;
      },
      &base);
  return base;
}

/// Entry points begin at multiples of 16, so that none reaches into the next, however short it is.
bool write_jump(std::uintptr_t at, Address target) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto code = jump_to(target);
  const std::uintptr_t first = at / page * page, end = at + code.size();
  auto* const pages = reinterpret_cast<void*>(first);
  if (mprotect(pages, end - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  std::memcpy(reinterpret_cast<void*>(at), code.data(), code.size());
  return mprotect(pages, end - first, PROT_READ | PROT_EXEC) == 0;
}

}  // namespace

/// The toolkit that a runtime is of, by names that came and went.
unsigned toolkit_of(const std::vector<FileFunction>& functions) {
  const auto has = [&functions](std::string_view name) {
    return std::any_of(functions.begin(), functions.end(),
                       [&](const FileFunction& f) { return f.name == name; });
  };
  return has("cudaBindTexture") ? 11 : has("cudaGetDeviceProperties_v2") ? 12 : kNewest;
}

StaticRuntime lead_static_runtime() {
  std::map<std::string_view, std::size_t> numbers;
  for (std::size_t n = 0; n < runtime_names(); ++n) numbers.emplace(runtime_name_at(n), n);
  StaticRuntime result;
  const auto program = read_program_file(
      "/proc/self/exe", [&numbers](std::string_view name) { return numbers.count(name) != 0; });
  if (!program.ok()) return result;
  const std::uintptr_t base = program_base();
  const unsigned toolkit = toolkit_of(program.value().functions);
  for (const FileFunction& f : program.value().functions) {
    ++result.found;
    Address target = runtime_function(f.name, toolkit);
    if (target == nullptr) target = refusal(numbers.at(f.name));
    if (f.address % 16 == 0 && write_jump(base + f.address, target)) ++result.led;
  }
  return result;
}

}  // namespace warpline::cuda
