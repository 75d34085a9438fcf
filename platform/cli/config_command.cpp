#include "platform/cli/config_command.h"

#include <fmt/format.h>

#include "platform/cli/command_line.h"
#include "platform/cli/console.h"
#include "platform/config/config_reference.h"
#include "platform/config/load_gpu.h"

namespace warpline {
namespace {

std::string one_line(const GpuConfig& c) {
  const auto kib = [](std::uint64_t caches, const CacheGeometry& g) {
    return caches * g.sets * g.ways * kLineBytes / 1024;
  };
  return fmt::format("{:<6} {:>4} SMs at {} MHz, {} KiB L1 each, {} KiB L2 in {} slices, {} DRAM channels",
                     c.name, c.sms, c.clocks.sm, kib(1, c.l1_lg.geometry), kib(c.l2.slices, c.l2.geometry),
                     c.l2.slices, c.dram.channels);
}

}  // namespace

int list_presets() {
  for (const std::string& name : preset_names()) {
    const auto loaded = load_gpu(name, {});
    if (!loaded.ok()) {
      print_faults(loaded.faults());
      return kBadInput;
    }
    print_result(one_line(loaded.value()) + (name == preset_names().front() ? " (default)\n" : "\n"));
  }
  return kDone;
}

int show_gpu(const std::string& name, const std::vector<std::string>& sets) {
  const auto loaded = load_gpu(name, overrides_of(sets));
  if (!loaded.ok()) {
    print_faults(loaded.faults());
    return kBadInput;
  }
  const std::string text = sets.empty() ? preset_text(name) : std::string{};
  print_result(text.empty() ? to_toml(loaded.value()) : text);
  return kDone;
}

int list_keys() {
  print_result(config_reference());
  return kDone;
}

int check_gpu(const std::string& file, const std::vector<std::string>& sets) {
  const auto loaded = load_gpu(file, overrides_of(sets));
  if (!loaded.ok()) {
    print_faults(loaded.faults());
    return kBadInput;
  }
  for (const Problem& p : loaded.value().shallow_channels())
    print_message(file + ": warning: " + p.path + ": " + p.message + "\n");
  print_result(file + ": good\n" + one_line(loaded.value()) + "\n");
  return kDone;
}

}  // namespace warpline
