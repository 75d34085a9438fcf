#include <fmt/format.h>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/cli/shared_options.h"
#include "platform/explain/explanation.h"
#include "platform/programs/ptx/single.h"
#include "rtl_models/base/text.h"

namespace warpline {
namespace {

struct ExplainOptions {
  std::string instruction;
  GpuChoice gpu;
};

constexpr std::size_t kPlaceWidth = 18;
constexpr std::size_t kTextWidth = 96;

/// `text` under `title`, broken between words.
std::string paragraph(const std::string& title, std::string text) {
  std::string out = fmt::format("{:<{}}", title, kPlaceWidth);
  while (text.size() > kTextWidth) {
    const std::size_t space = text.rfind(' ', kTextWidth);
    const std::size_t cut = space == std::string::npos || space == 0 ? kTextWidth : space;
    out += text.substr(0, cut) + "\n" + std::string(kPlaceWidth, ' ');
    text.erase(0, cut + (text[cut] == ' ' ? 1 : 0));
  }
  return out + text + "\n";
}

std::string text_of(const Explanation& e, const std::string& gpu) {
  std::string out = e.summary + "\n\n";
  std::string last;
  for (const Explanation::Effect& effect : e.effects) {
    out += paragraph(effect.place == last ? "" : effect.place, effect.text);
    last = effect.place;
  }
  out += "\n" + paragraph("lowered to", e.sass.empty() ? "nothing" : joined(e.sass, "; "));
  for (const std::string& note : e.notes) out += paragraph("", note);
  return out + paragraph("caches of", gpu);
}

int explain_instruction(const ExplainOptions& o) {
  const auto gpu = o.gpu.load();
  if (!gpu.ok()) return bad_input(gpu.faults());
  const auto single = ptx::read_single(o.instruction);
  if (!single.ok()) {
    print_faults(single.faults());
    return kCheckFailed;
  }
  const std::optional<MemOp>& op = single.value().op;
  print_result(op ? text_of(explain(*op, gpu.value()), gpu.value().name)
                  : std::string("computes in registers, or waits: no cache is asked for anything\n"));
  return kDone;
}

}  // namespace

void add_explain(CLI::App& app, int& status) {
  CLI::App& command = *app.add_subcommand(
      "explain", "Says what a memory instruction does at each cache, and what it is lowered to");
  ExplainOptions& o = options_of(command, status, explain_instruction);
  command
      .add_option("INSTRUCTION", o.instruction, "one PTX memory instruction; registers need not be declared")
      ->required();
  o.gpu.add_options(command);
  command.footer(
      "Exit status: 0 explained; 1 the assembler refuses the instruction; 2 bad input.\n"
      "Example: warpline explain 'ld.global.L1::evict_last.u32 d, [a];' --gpu a100");
}

}  // namespace warpline
