#include "platform/programs/sass_trace/opcode.h"
#include "rtl_models/isa/sass_cctl.h"
#include "rtl_models/isa/sass_words.h"

namespace warpline::sass {
namespace {

/// The modifiers of one CCTL or CCTLL. False: there is one that is not understood, or not one operation.
bool read_modifiers(const std::vector<std::string_view>& words, Cctl& c, MemKind& kind) {
  unsigned operations = 0;
  for (const std::string_view w : words) {
    bool known = w == "E";
    if (known) c.extended = true;
    if (const auto cache = cctl_cache_named(w)) {
      c.cache = *cache;
      known = true;
    }
    if (const auto operation = cctl_operation_named(w)) {
      c.operation = *operation;
      known = true;
      ++operations;
    }
    // What `applypriority` and `discard` are lowered to.
    if (const MemKind* const control = find_sass(kSassLineControls, w)) {
      kind = *control;
      known = true;
      ++operations;
    }
    if (!known) return false;
  }
  return operations == 1;
}

}  // namespace

bool decode_cache_control(bool local, const std::vector<std::string_view>& words, Opcode& out) {
  Cctl c;
  c.local = local;
  MemKind kind = MemKind::cache_control;
  if (!read_modifiers(words, c, kind)) return false;
  c.wait = Cctl::kDispatchWait;
  // Disassemblers write `.E` of invalidations too, which name no address.
  c.extended = c.extended && !c.acts_on_all();
  // The operations on L2 have no form for local lines.
  if (judge(c) || (local && kind != MemKind::cache_control)) return false;
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
