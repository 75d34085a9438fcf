#include <algorithm>

#include "platform/programs/sass_trace/opcode.h"
#include "rtl_models/isa/sass_cctl_text.h"
#include "rtl_models/isa/sass_words.h"

namespace warpline::sass {
namespace {

constexpr std::string_view kReserved = "QRY1";  ///< an operation that hardware does not carry out

bool is_known(std::string_view word) {
  return word == "E" || word == kReserved || cctl_cache_named(word) || cctl_operation_named(word) ||
         find_sass(kSassLineControls, word) != nullptr;
}

}  // namespace

bool decode_cache_control(bool local, const std::vector<std::string_view>& words, Opcode& out) {
  if (!std::all_of(words.begin(), words.end(), is_known)) return false;
  MemKind kind = MemKind::cache_control;
  std::string text = local ? "CCTLL" : "CCTL";
  for (const std::string_view w : words) {
    const MemKind* const control = find_sass(kSassLineControls, w);
    if (control != nullptr && local) {
      out.illegal = "CCTLL has no ." + std::string(w);
      out.hint = "it acts on L2, where local lines are not named";
      return true;
    }
    // What `applypriority` and `discard` are lowered to has the form of a prefetch into L2.
    if (control != nullptr) kind = *control;
    text += "." + std::string(control != nullptr ? name_of(CctlOperation::prefetch_l2) : w);
  }
  const Result<Cctl> parsed = parse_cctl(text + " [RZ]");
  if (!parsed.ok()) {
    out.illegal = parsed.faults().front().message;
    out.hint = parsed.faults().front().hint;
    return true;
  }
  const Cctl& c = parsed.value();
  out.control = c;
  out.mem.kind = kind;
  out.mem.space = local ? Space::local : Space::generic;
  out.mem.cache_operation = c.operation;
  out.mem.cache_target = target_of(c);
  if (kind == MemKind::apply_priority) out.mem.l2_eviction = L2Eviction::normal;
  out.wide_address = c.extended;
  out.explicit_width = true;
  out.destination_registers = 0;
  out.source_registers = {static_cast<std::uint8_t>(c.extended ? 2 : 1)};
  switch (out.mem.cache_target) {
    case CctlTarget::call_return_stack: out.kind = InstructionKind::flush_stack; break;
    case CctlTarget::constants: out.kind = InstructionKind::invalidate_constants; break;
    case CctlTarget::instructions:
      out.kind = InstructionKind::invalidate_instructions;
      out.latency = Cctl::kDispatchWait;
      break;
    default: out.kind = InstructionKind::memory;
  }
  return true;
}

}  // namespace warpline::sass
