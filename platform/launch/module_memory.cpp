#include "platform/launch/module_memory.h"

#include <algorithm>

#include "platform/launch/device_memory.h"
#include "rtl_models/base/bits.h"
#include "rtl_models/base/text.h"
#include "rtl_models/sm/address_windows.h"

namespace warpline {

void fill_variable(const programs::Variable& v, std::uint64_t address, const std::vector<std::uint8_t>& bytes,
                   GpuPlatform& platform, unsigned gpu) {
  if (v.space == Space::constant) {
    platform.write_constant(address, bytes.data(), bytes.size(), gpu);
  } else {
    platform.write(address, bytes.data(), bytes.size());
  }
}

std::uint64_t place_constant(const programs::Variable& v, std::uint64_t& used) {
  const std::uint64_t at = align_up(used, std::max<std::uint64_t>(v.alignment, 1));
  if (at > ConstantBanks::kBankBytes || v.initial.size() > ConstantBanks::kBankBytes - at) return 0;
  used = at + v.initial.size();
  return ConstantBanks::address(ConstantBanks::kModuleBank, at);
}

GlobalPlace place_global(const programs::Variable& v, GpuPlatform& platform, unsigned gpu) {
  constexpr std::uint64_t kAligned = 256;  // as the platform does
  const std::uint64_t spare = v.alignment > kAligned ? v.alignment - kAligned : 0;
  const std::uint64_t memory = platform.allocate("", v.initial.size() + spare, Aperture::vidmem, gpu);
  return {spare == 0 ? memory : align_up(memory, v.alignment), memory};
}

unsigned gpu_of_module(const LaunchFile& file, std::size_t module) {
  for (const Launch& l : file.launches)
    if (!l.generator && l.module == module) return l.gpu;
  return 0;
}

VariableAddresses place_variables(LoadedFile& loaded, GpuPlatform& platform, std::uint64_t& constant_used,
                                  Diagnostics& faults) {
  VariableAddresses out;
  std::map<std::pair<unsigned, std::string>, GlobalPlace> shared;  // by GPU and name
  for (std::size_t m = 0; m < loaded.modules.size(); ++m) {
    out.emplace_back();
    const unsigned gpu = gpu_of_module(loaded.file, m);
    const std::string whose = loaded.modules.size() == 1 ? "" : " of " + loaded.file.modules[m].path;
    for (const programs::Variable& v : loaded.modules[m]->variables()) {
      if (!v.refused.empty()) continue;
      const bool constant = v.space == Space::constant;
      const auto before = shared.find({gpu, v.name});
      GlobalPlace place;
      if (before != shared.end()) {
        place = before->second;
      } else if (constant) {
        place.address = place_constant(v, constant_used);
      } else if (v.below_4g) {
        place.address = place.memory = platform.allocate_below_4g(v.initial.size(), gpu);
      } else {
        place = place_global(v, platform, gpu);
      }
      const std::uint64_t address = place.address;
      if (address == 0) {
        faults.push_back(loaded.file.document->fault(
            loaded.file.modules[m].place,
            "variable \"" + v.name + "\" of " + counted(v.initial.size(), "byte") +
                " does not fit the GPU's " + (constant ? "64 KiB constant bank" : "memory"),
            v.below_4g ? "nothing of it is to lie beyond 4 GiB: wls_window says from where on" : ""));
        continue;
      }
      const std::string name = "variable " + v.name + whose;
      if (is_shared_by_modules(v.name)) shared[{gpu, v.name}] = place;
      if (constant) {
        platform.name_constant(address, v.initial.size(), name, gpu);
      } else {
        platform.name_memory(place.memory, name);
      }
      out[m][v.name] = address;
      loaded.modules[m]->place(v.name, address);
    }
  }
  return out;
}

void fill_variables(const LoadedFile& loaded, const VariableAddresses& addresses, GpuPlatform& platform) {
  for (std::size_t m = 0; m < loaded.modules.size(); ++m)
    for (const programs::Variable& v : loaded.modules[m]->variables())
      if (v.refused.empty())
        fill_variable(v, addresses[m].at(v.name), loaded.modules[m]->initial_bytes(v.name), platform,
                      gpu_of_module(loaded.file, m));
  for (const ResolvedSymbol& s : loaded.symbols)
    if (s.initial)
      fill_variable(*s.variable, addresses[s.module].at(s.variable->name),
                    initial_bytes(*s.initial, s.type, s.count), platform,
                    gpu_of_module(loaded.file, s.module));
}

}  // namespace warpline
