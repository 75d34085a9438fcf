#include <fmt/format.h>

#include <algorithm>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/cli/shared_options.h"
#include "platform/config/config_entries.h"
#include "platform/config/config_reference.h"

namespace warpline {
namespace {

std::string one_line(const GpuConfig& c) {
  const auto kib = [](std::uint64_t caches, const CacheGeometry& g) {
    return caches * g.sets * g.ways * kLineBytes / 1024;
  };
  return fmt::format("{:<9} {:>4} SMs at {} MHz, {} KiB L1 each, {} KiB L2 in {} slices, {} DRAM channels",
                     c.name, c.sms, c.clocks.sm, kib(1, c.l1_lg.geometry), kib(c.l2.slices, c.l2.geometry),
                     c.l2.slices, c.dram.channels);
}

int list_presets() {
  for (const std::string& name : preset_names()) {
    const auto loaded = load_gpu(name, {});
    if (!loaded.ok()) return bad_input(loaded.faults());
    print_result(one_line(loaded.value()) + (name == preset_names().front() ? " (default)\n" : "\n"));
  }
  return kDone;
}

/// Any GPU, changed by --set, with all its keys and where their values come from.
int show(const GpuChoice& gpu) {
  const auto loaded = trace_gpu(gpu.name, gpu.sets);
  if (!loaded.ok()) return bad_input(loaded.faults());
  print_result(to_toml(loaded.value().config, loaded.value().sources));
  return kDone;
}

struct GpuPair {
  std::string first, second;
  std::vector<std::string> sets;
};

/// The keys in which two GPUs differ.
int compare(const GpuPair& two) {
  const auto a = trace_gpu(two.first, two.sets), b = trace_gpu(two.second, two.sets);
  if (!a.ok()) return bad_input(a.faults());
  if (!b.ok()) return bad_input(b.faults());
  const auto left = config_entries(a.value().config), right = config_entries(b.value().config);
  std::size_t key_width = 0, value_width = 0, differ = 0;
  const auto each = [&](auto&& visit) {
    for (std::size_t n = 0; n < left.size(); ++n)
      if (left[n].value != right[n].value && left[n].path() != "name") visit(left[n], right[n]);
  };
  each([&](const ConfigEntry& l, const ConfigEntry& r) {
    key_width = std::max(key_width, l.path().size());
    value_width =
        std::max({value_width, l.value.size(), r.value.size(), two.first.size(), two.second.size()});
    ++differ;
  });
  constexpr std::size_t kWidest = 24;  // of a column of values: lists are longer
  value_width = std::min(value_width, kWidest);
  std::string out;
  if (differ != 0)
    out += fmt::format("{:<{}}  {:>{}}  {:>{}}  meaning\n", "key", key_width, two.first, value_width,
                       two.second, value_width);
  each([&](const ConfigEntry& l, const ConfigEntry& r) {
    out += fmt::format("{:<{}}  {:>{}}  {:>{}}  {}\n", l.path(), key_width, l.value, value_width, r.value,
                       value_width, l.meaning);
  });
  print_result(out + fmt::format("{} of {} keys differ\n", differ, config_keys().size()));
  return kDone;
}

int list_keys() {
  print_result(config_reference());
  return kDone;
}

/// Every fault, and what is allowed but unwise.
int check_gpu(const GpuChoice& gpu) {
  const auto loaded = gpu.load();
  if (!loaded.ok()) return bad_input(loaded.faults());
  for (const Problem& p : loaded.value().shallow_channels())
    print_message(gpu.name + ": warning: " + p.path + ": " + p.message + "\n");
  print_result(gpu.name + ": good\n" + one_line(loaded.value()) + "\n");
  return kDone;
}

}  // namespace

void add_config(CLI::App& app, int& status) {
  CLI::App& config =
      *app.add_subcommand("config", "GPU presets and their keys: list, show, compare, keys, check");
  config.require_subcommand(1);
  config.footer("Example: warpline config show v100 > my_gpu.toml");
  const auto add = [&](const char* name, const char* meaning, const char* example) -> CLI::App& {
    CLI::App& command = *config.add_subcommand(name, meaning);
    command.footer(fmt::format("Example: warpline config {}{}", name, example));
    return command;
  };
  const auto take_gpu = [&](CLI::App& command, int (*run)(const GpuChoice&), const char* name,
                            const char* meaning) {
    GpuChoice& gpu = options_of(command, status, run);
    command.add_option(name, gpu.name, meaning)->required();
    gpu.add_set(command);
  };
  add("list", "Lists the built-in presets", "").callback([&status] { status = list_presets(); });
  take_gpu(add("show", "Prints a GPU as TOML", " a100"), show, "NAME", "preset or TOML file");
  CLI::App& comparison = add("compare", "Prints the keys in which two GPUs differ", " a100 h100");
  GpuPair& two = options_of(comparison, status, compare);
  comparison.add_option("FIRST", two.first, "preset or TOML file")->required();
  comparison.add_option("SECOND", two.second, "preset or TOML file")->required();
  comparison.add_option("--set", two.sets, "key.path=value for both; may be repeated")
      ->allow_extra_args(false);
  add("keys", "Prints every key, its meaning, its value in each preset and its rules, as Markdown", "")
      .callback([&status] { status = list_keys(); });
  take_gpu(add("check", "Reports every fault of a GPU file", " my_gpu.toml"), check_gpu, "FILE",
           "TOML file or preset");
}

}  // namespace warpline
