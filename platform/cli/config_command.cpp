#include <fmt/format.h>

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
  return fmt::format("{:<6} {:>4} SMs at {} MHz, {} KiB L1 each, {} KiB L2 in {} slices, {} DRAM channels",
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

/// The text of a preset, with what the standard of its DRAM gives below the line that names it.
std::string shown_preset(const std::string& text, const GpuConfig& config) {
  const std::size_t table = text.find("\n[dram]");
  if (config.dram.standard == "custom" || table == std::string::npos) return text;
  const std::string set = text.substr(table, text.find("\n[", table + 1) - table);
  const std::size_t named = set.find("\nstandard = ");
  if (named == std::string::npos) return text;
  std::string given =
      fmt::format("# {} gives at {} MHz, unless they are set:\n", config.dram.standard, config.clocks.dram);
  for (const ConfigEntry& e : config_entries(config))
    if (e.table == "dram" && set.find("\n" + e.name + " = ") == std::string::npos)
      given += fmt::format("#   {} = {}  # {}\n", e.name, e.value, e.meaning);
  const std::size_t below = table + set.find('\n', named + 1) + 1;
  return text.substr(0, below) + given + text.substr(below);
}

/// A preset with its comments, or any GPU, changed by --set, with all its keys.
int show(const GpuChoice& gpu) {
  const auto loaded = gpu.load();
  if (!loaded.ok()) return bad_input(loaded.faults());
  const std::string text = gpu.sets.empty() ? preset_text(gpu.name) : std::string{};
  print_result(text.empty() ? to_toml(loaded.value()) : shown_preset(text, loaded.value()));
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
  CLI::App& config = *app.add_subcommand("config", "GPU presets and their keys: list, show, keys, check");
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
  add("keys", "Prints every key, its meaning, its value in each preset and its rules, as Markdown", "")
      .callback([&status] { status = list_keys(); });
  take_gpu(add("check", "Reports every fault of a GPU file", " my_gpu.toml"), check_gpu, "FILE",
           "TOML file or preset");
}

}  // namespace warpline
