#include <fmt/format.h>

#include <optional>
#include <vector>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "rtl_models/base/text.h"
#include "rtl_models/isa/sass_cctl_encoding.h"
#include "rtl_models/isa/sass_cctl_text.h"

namespace warpline {
namespace {

void row(std::string& out, const std::string& name, const std::string& value) {
  out += fmt::format("{:<16}{}\n", name, value);
}

struct Effect {
  const char* where;
  const char* what;
};

/// What becomes of the line of an address.
std::vector<Effect> line_effects(const Cctl& c) {
  switch (c.operation) {
    case CctlOperation::prefetch_l1:
      return {{"L1 data", "fetches the sectors of the line that are missing; nobody waits for them"},
              {"L2", "serves that fetch, and keeps the line"}};
    case CctlOperation::prefetch_l2:
      return {{"L1 data", "unchanged"},
              {"L2", "fetches the sectors of the line that are missing; nobody waits for them"}};
    case CctlOperation::write_back:
      return {{"L1 data", "the line, if it is dirty, is written back to L2 and stays, clean"},
              {"L2", "takes what is written back"}};
    case CctlOperation::invalidate:
      return {{"L1 data",
               "the line is dropped, and a fetch of it under way installs nothing; if it is dirty it is "
               "written back first"},
              {"L2", "takes what is written back"}};
    case CctlOperation::reset:
      return {
          {"L1 data",
           "the line is dropped, and a fetch of it under way installs nothing; what is dirty in it is lost"},
          {"L2", "unchanged"}};
    case CctlOperation::write_back_all:
    case CctlOperation::invalidate_all: break;
  }
  return {};
}

std::vector<Effect> effects_of(const Cctl& c) {
  switch (target_of(c)) {
    case CctlTarget::data_line: return line_effects(c);
    case CctlTarget::global_lines:
      return {
          {"L1 data",
           "all global lines are dropped, and fetches of them under way install nothing; local lines stay"},
          {"L2", "unchanged"}};
    case CctlTarget::local_lines:
      return {{"L1 data", "all local lines are dropped, dirty ones written back first; global lines stay"},
              {"L2", "takes what is written back"}};
    case CctlTarget::indexed_constants:
      return {{"L1 constant",
               "all lines of the indexed constant cache are dropped, in the order of the load/store queue"}};
    case CctlTarget::constants: return {{"L1 constant", "all lines are dropped"}};
    case CctlTarget::instructions:
      return {{"L1 instruction", "all lines are dropped: the next instructions are fetched anew"}};
    case CctlTarget::call_return_stack:
      return {{"top of stack",
               "the tokens of the warp that it holds are written to L1, as local lines, and stay"},
              {"L1 data", "has accepted every one of them before the next instruction issues"}};
  }
  return {};
}

std::string address_of(const Cctl& c) {
  if (c.acts_on_all()) return "none";
  const std::string space = c.local ? "in the thread's local window" : "generic";
  if (c.address_register == Cctl::kNoRegister)
    return fmt::format("0x{:x}, {}, of every thread", effective_address(c, 0, 0, 0), space);
  const auto offset = static_cast<std::int64_t>(effective_address(c, 0, 0, 256));
  const std::int64_t shown = c.extended ? offset : std::int64_t{static_cast<std::int32_t>(offset)};
  const std::string sum =
      shown == 0 ? "" : fmt::format(" {} {}", shown < 0 ? '-' : '+', shown < 0 ? -shown : shown);
  if (c.extended)
    return fmt::format("(R{}, R{}){}, 64 bits, {}", c.address_register, c.address_register + 1, sum, space);
  return fmt::format("R{}{}, 32 bits, zero-extended, {}", c.address_register, sum, space);
}

std::string path_of(const Cctl& c) {
  if (c.in_dispatch()) return "executed in dispatch: enters no queue";
  return "load/store queue, in order with the accesses around it";
}

std::string required_of(const Cctl& c) {
  std::string all;
  for (unsigned n = 0; n < Cctl::kScoreboards; ++n)
    if ((c.required >> n & 1U) != 0) all += fmt::format("{}SB{}", all.empty() ? "" : ", ", n);
  return all.empty() ? "no scoreboard" : all;
}

std::string table(const Cctl& c) {
  const InstructionWord w = encode(c);
  std::string out = to_text(c) + "\n\n";
  row(out, "encoding", fmt::format("0x{:016x}{:016x}", w.high, w.low));
  row(out, "address", address_of(c));
  for (const Effect& e : effects_of(c)) row(out, e.where, e.what);
  row(out, "other caches", "unchanged");
  row(out, "path", path_of(c));
  row(out, "waits for", required_of(c));
  if (c.read_scoreboard != Cctl::kNoScoreboard)
    row(out, "holds", fmt::format("SB{} until it has read its operands", c.read_scoreboard));
  row(out, "then", "the warp may issue again " + counted(c.wait, "cycle") + " later");
  if (c.cache == CctlCache::uniform)
    row(out, "note",
        c.acts_on_all() ? ".U is deprecated; of IVALL it selects the indexed constant cache"
                        : ".U is deprecated: write .D, which it means here");
  return out;
}

/// The 128 bits that up to 32 hexadecimal digits say; nothing if they are none.
std::optional<InstructionWord> word_of(const std::string& digits) {
  constexpr std::size_t kHalf = 16;
  if (digits.empty() || digits.size() > 2 * kHalf) return std::nullopt;
  const std::string all = std::string(2 * kHalf - digits.size(), '0') + digits;
  const auto high = number_from<std::uint64_t>(all.substr(0, kHalf), 16);
  const auto low = number_from<std::uint64_t>(all.substr(kHalf), 16);
  if (!high || !low) return std::nullopt;
  return InstructionWord{*low, *high};
}

int decode(const std::string& text) {
  const auto word = word_of(text.substr(2));
  if (!word)
    return bad_input("\"" + text + "\" is no instruction word", "0x and up to 32 hexadecimal digits");
  const DecodedCctl d = decode_cctl(*word);
  if (!d.illegal.empty()) {
    print_error("illegal instruction: " + d.illegal);
    return kCheckFailed;
  }
  print_result(table(d.instruction));
  return kDone;
}

int cctl(const std::string& text) {
  if (text.rfind("0x", 0) == 0) return decode(text);
  const Result<Cctl> c = parse_cctl(text, {"instruction", 1, 1, {}});
  if (!c.ok()) {
    print_faults(c.faults());
    return kCheckFailed;
  }
  print_result(table(c.value()));
  return kDone;
}

}  // namespace

void add_cctl(CLI::App& app, int& status) {
  CLI::App& command = *app.add_subcommand(
      "cctl", "Says what a CCTL or CCTLL instruction does to which cache, or why it is illegal");
  command
      .add_option("TEXT", options_of(command, status, cctl),
                  "the instruction, or its encoding: 0x and up to 32 hexadecimal digits")
      ->required();
  command.footer(
      "Grammar: {@{!}Pg} CCTL{.E}{.cache}.cop [Ra + imm] {&req=0xNN} {&rd=N} {?WAITn} ;\n"
      "         CCTLL.cop [Ra + imm], CCTL{.cache}.IVALL, CCTLL.IVALL, CCTLL.CRS.WBALL likewise\n"
      "Exit status: 0 legal; 1 illegal.\n"
      "Example: warpline cctl 'CCTL.E.D.IV [R2 + 4] &req=0x01 ?WAIT2;'");
}

}  // namespace warpline
