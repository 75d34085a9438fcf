#include "platform/cuda/libraries/static_runtime.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/cuda/abi/runtime.h"
#include "platform/cuda/program_file.h"
#include "platform/cuda/shortcomings.h"

namespace warpline::cuda {
namespace {

/// `movabs rax, target; jmp rax`.
std::array<std::uint8_t, 12> jump_to(Address target) {
  std::array<std::uint8_t, 12> code{0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xE0};
  std::memcpy(&code[2], &target, sizeof target);
  return code;
}

/// Entry points of CUDA runtimes that are linked into something.
struct StaticRuntime {
  std::size_t found = 0;
  std::size_t led = 0;  ///< those that lead to ours now
};

/// A file that the loader has mapped for the program, and what is added to addresses of it.
struct Loaded {
  std::string path;
  std::uintptr_t base = 0;
};

/// The program, which the loader tells of first, and its libraries.
std::vector<Loaded> all_loaded() {
  std::vector<Loaded> all;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& loaded = *static_cast<std::vector<Loaded>*>(data);
        const bool is_program = loaded.empty();
        if (is_program || std::strchr(info->dlpi_name, '/') != nullptr)
          loaded.push_back({is_program ? "/proc/self/exe" : info->dlpi_name, info->dlpi_addr});
        return 0;
      },
      &all);
  return all;
}

/// Libraries that have functions of these names for all to see: ours, and NVIDIA's.
bool is_runtime_itself(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.rfind("libcuda.so", 0) == 0 || name.rfind("libcudart.so", 0) == 0;
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

/// The toolkit that a runtime is of, by names that came and went.
unsigned toolkit_of(const std::vector<FileFunction>& functions) {
  const auto has = [&functions](std::string_view name) {
    return std::any_of(functions.begin(), functions.end(),
                       [&](const FileFunction& f) { return f.name == name; });
  };
  return has("cudaBindTexture") ? 11 : has("cudaGetDeviceProperties_v2") ? 12 : kNewest;
}

/// Leads the runtimes of all that is loaded and was not looked at before.
class Leader {
 public:
  Leader() {
    for (std::size_t n = 0; n < runtime_names(); ++n) numbers_.emplace(runtime_name_at(n), n);
  }

  StaticRuntime lead_new() {
    StaticRuntime result;
    std::set<std::pair<std::string, std::uintptr_t>> there;
    for (const Loaded& loaded : all_loaded()) {
      there.emplace(loaded.path, loaded.base);
      if (seen_.count({loaded.path, loaded.base}) == 0 && !is_runtime_itself(loaded.path))
        lead(loaded, result);
    }
    seen_ = std::move(there);  // what was unloaded may come again
    return result;
  }

 private:
  void lead(const Loaded& loaded, StaticRuntime& result) const {
    const auto file =
        read_program_file(loaded.path, [this](std::string_view name) { return numbers_.count(name) != 0; });
    if (!file.ok()) return;
    const unsigned toolkit = toolkit_of(file.value().functions);
    for (const FileFunction& f : file.value().functions) {
      ++result.found;
      Address target = runtime_function(f.name, toolkit);
      if (target == nullptr) target = refusal(numbers_.at(f.name));
      if (f.address % 16 == 0 && write_jump(loaded.base + f.address, target)) ++result.led;
    }
  }

  std::map<std::string_view, std::size_t> numbers_;
  std::set<std::pair<std::string, std::uintptr_t>> seen_;
};

void lead_and_tell() {
  static auto* const leader = new Leader;
  const StaticRuntime runtime = leader->lead_new();
  if (runtime.led == runtime.found) return;
  say("the CUDA runtime that is linked into this program or a library of it cannot be led to ours: link it "
      "with "
      "`-cudart shared`");
}

/// The loader calls it whenever what is loaded changes, before constructors of what is new: it stands for the
/// function that debuggers watch (<link.h>, r_debug::r_brk), which does nothing.
void note_change() {
  if (_r_debug.r_state == r_debug::RT_CONSISTENT) lead_and_tell();
}

}  // namespace

void lead_static_runtimes() {
  lead_and_tell();
  if (_r_debug.r_brk % 16 != 0 || !write_jump(_r_debug.r_brk, reinterpret_cast<Address>(&note_change)))
    say("the loader does not tell of libraries: a CUDA runtime that is linked into one that is loaded later "
        "cannot be led to ours");
}

}  // namespace warpline::cuda
