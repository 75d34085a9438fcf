#include <fmt/format.h>

#include <map>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/cli/shared_options.h"
#include "platform/machine/gpu_platform.h"
#include "platform/report/run_statistics.h"

namespace warpline {
namespace {

/// The part of a counter's path that names its block.
std::string block_of(const std::string& path) {
  return path.substr(0, path.rfind('.'));
}

std::string reference(const CounterTable& table) {
  std::map<std::string, std::vector<std::string>> instances;  // of each block's total
  for (const CounterTable::Entry& e : table.entries()) {
    std::vector<std::string>& known = instances[block_of(total_path(e.path))];
    const std::string block = block_of(e.path);
    if (total_path(e.path) != e.path && (known.empty() || known.back() != block)) known.push_back(block);
  }
  std::string out =
      "# Counters\n\n"
      "What `warpline run --stats` writes: every counter with its path, unit and meaning. This page is the "
      "output of\n"
      "`warpline counters`; [Statistics](statistics.md) says how to read them.\n";
  std::string open;
  for (const CounterTable::Entry& e : table.entries()) {
    if (total_path(e.path) != e.path) continue;
    const std::string block = block_of(e.path);
    if (block != open) {
      out += fmt::format("\n## {}\n\n", block);
      if (const auto& i = instances[block]; !i.empty())
        out +=
            fmt::format("The sums over {}. Each has the same counters.\n\n",
                        i.size() == 1 ? "`" + i.front() + "`" : "`" + i.front() + "` to `" + i.back() + "`");
      out += "| counter | unit | meaning |\n|---|---|---|\n";
      open = block;
    }
    out += fmt::format("| `{}` | {} | {} |\n", e.path, e.unit, e.description);
  }
  return out;
}

int counters(const GpuChoice& gpu) {
  const auto loaded = gpu.load();
  if (!loaded.ok()) return bad_input(loaded.faults());
  GpuPlatform platform(loaded.value(), {});
  platform.allocate("NAME", kLineBytes);
  platform.build();
  CounterTable table;
  static_cast<void>(table.read([&](CounterVisitor& visitor) { platform.visit(visitor); }));
  print_result(reference(table));
  return kDone;
}

}  // namespace

void add_counters(CLI::App& app, int& status) {
  CLI::App& command =
      *app.add_subcommand("counters", "Prints the path, unit and meaning of every counter, as Markdown");
  GpuChoice& gpu = options_of(command, status, counters);
  gpu.add_gpu(command);
  gpu.add_set(command);
  command.footer("Example: warpline counters --gpu a100");
}

}  // namespace warpline
