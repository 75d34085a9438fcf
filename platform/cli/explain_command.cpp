#include "platform/cli/explain_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "platform/cli/command_line.h"
#include "platform/cli/console.h"
#include "platform/config/load_gpu.h"
#include "platform/explain/explanation.h"
#include "platform/programs/ptx/single.h"

namespace warpline {
namespace {

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
  std::string sass;
  for (const std::string& opcode : e.sass) sass += (sass.empty() ? "" : "; ") + opcode;
  out += "\n" + paragraph("lowered to", sass.empty() ? "nothing" : sass);
  for (const std::string& note : e.notes) out += paragraph("", note);
  return out + paragraph("caches of", gpu);
}

}  // namespace

ExplainCommand::ExplainCommand(CLI::App& app) {
  app_ = app.add_subcommand("explain",
                            "Says what a memory instruction does at each cache, and what it is lowered to");
  app_->add_option("INSTRUCTION", instruction_, "one PTX memory instruction; registers need not be declared")
      ->required();
  app_->add_option("--gpu", gpu_, "preset or TOML file")->capture_default_str();
  app_->add_option("--set", sets_, "key.path=value changes the GPU; may be repeated")
      ->allow_extra_args(false);
  app_->footer(
      "Exit status: 0 explained; 1 the assembler refuses the instruction; 2 bad input.\n"
      "Example: warpline explain 'ld.global.L1::evict_last.u32 d, [a];' --gpu a100");
}

bool ExplainCommand::parsed() const {
  return app_->parsed();
}

int ExplainCommand::run() const {
  const auto gpu = load_gpu(gpu_, overrides_of(sets_));
  if (!gpu.ok()) {
    print_faults(gpu.faults());
    return kBadInput;
  }
  auto single = ptx::read_single(instruction_);
  if (!single.ok()) {
    print_faults(single.faults());
    return kCheckFailed;
  }
  const std::optional<MemOp>& op = single.value().op;
  print_result(op ? text_of(explain(*op, gpu.value()), gpu.value().name)
                  : std::string("computes in registers, or waits: no cache is asked for anything\n"));
  return kDone;
}

}  // namespace warpline
