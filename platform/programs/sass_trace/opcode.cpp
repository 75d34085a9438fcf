#include "platform/programs/sass_trace/opcode.h"

#include <algorithm>

#include "rtl_models/base/text.h"
#include "rtl_models/isa/sass_words.h"

namespace warpline::sass {
namespace {

bool has(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// MEMBAR and FENCE. `.SC` is fence.sc and `.ALL` fence.acq_rel; before Volta there was membar only,
/// which is fence.sc (semantics of PTX's membar).
Opcode decode_fence(const std::vector<std::string_view>& words, std::string_view name) {
  const bool is_fence = name == "FENCE";
  Opcode out;
  out.kind = InstructionKind::fence;
  out.mem.kind = MemKind::fence;
  // FENCE.VIEW.ASYNC orders generic with asynchronous accesses of the same SM.
  out.mem.semantics = is_fence ? Semantics::acq_rel : Semantics::sc;
  out.mem.scope = is_fence ? Scope::cta : Scope::gpu;
  out.destination_registers = 0;
  for (const std::string_view w : words) {
    if (w == "SC") {
      out.mem.semantics = Semantics::sc;
    } else if (w == "ALL") {
      out.mem.semantics = Semantics::acq_rel;
    } else if (const Scope* const scope = find_sass(kSassScopes, w)) {
      out.mem.scope = *scope;
    } else if (!(is_fence && (w == "VIEW" || w == "ASYNC"))) {
      out.unknown.push_back(std::string(name) + "." + std::string(w));
    }
  }
  return out;
}

/// BAR.SYNC, BAR.ARV, and the forms that reduce or scan a predicate while they wait.
Opcode decode_barrier(const std::vector<std::string_view>& words) {
  Opcode out;
  const std::string_view form = words.empty() ? std::string_view{"SYNC"} : words.front();
  if (form == "ARV") {
    out.action = Action::barrier_arrive;
  } else if (form == "SYNC" || form == "SYNCALL" || form == "RED" || form == "SCAN") {
    out.action = Action::barrier_sync;
  } else {
    out.unknown.push_back("BAR." + std::string(form));
    return out;
  }
  out.kind = InstructionKind::barrier;
  return out;
}

/// Registers of a matrix instruction's operands (PTX ISA, "Matrix Fragments for mma").
void set_matrix_registers(const std::vector<std::string_view>& words, std::string_view name, Opcode& out) {
  const bool single = has(words, "F32") || name != "HMMA";
  out.destination_registers = single ? 4 : 2;
  const std::uint8_t c = out.destination_registers;
  if (has(words, "16816") || has(words, "16832") || has(words, "168128") || has(words, "168256") ||
      has(words, "16864")) {
    const bool small = name == "IMMA" && has(words, "16816");
    out.source_registers = small ? std::vector<std::uint8_t>{2, 1, c} : std::vector<std::uint8_t>{4, 2, c};
  } else if (has(words, "8816") || has(words, "8832") || has(words, "88128")) {
    out.destination_registers = 2;
    out.source_registers = {1, 1, 2};
  } else if (name == "DMMA") {
    out.source_registers = {2, 2, 4};
  } else {
    out.source_registers = {2, 1, c};
  }
}

void set_alu_registers(std::string_view name, const std::vector<std::string_view>& words, Opcode& out) {
  const auto is_64 = [](std::string_view w) { return w == "F64" || w == "S64" || w == "U64" || w == "64"; };
  if (name == "DADD" || name == "DFMA" || name == "DMUL" || name == "DMNMX" || name == "DSETP" ||
      name == "DSET") {
    out.destination_registers = name == "DSETP" || name == "DSET" ? 1 : 2;
    out.source_registers = {2};
  } else if (name == "HMMA" || name == "IMMA" || name == "BMMA" || name == "DMMA") {
    set_matrix_registers(words, name, out);
  } else if (has(words, "WIDE")) {
    out.destination_registers = 2;
    out.source_registers = {1, 1, 2};
  } else if (name == "CS2R") {
    out.destination_registers = has(words, "32") ? 1 : 2;
  } else if (name == "LDC") {
    out.destination_registers = has(words, "128") ? 4 : has(words, "64") ? 2 : 1;
  } else if (name == "F2F" && words.size() >= 2) {
    // Destination type first: F2F.F64.F32.
    std::vector<std::string_view> types;
    for (const std::string_view w : words)
      if (w.size() >= 3 && w[0] == 'F' && w != "FTZ") types.push_back(w);
    out.destination_registers = !types.empty() && types.front() == "F64" ? 2 : 1;
    out.source_registers = {static_cast<std::uint8_t>(types.size() > 1 && types[1] == "F64" ? 2 : 1)};
  } else if (name == "F2I" || name == "FRND") {
    out.destination_registers =
        has(words, "S64") || has(words, "U64") || (name == "FRND" && has(words, "F64")) ? 2 : 1;
    out.source_registers = {static_cast<std::uint8_t>(has(words, "F64") ? 2 : 1)};
  } else if (name == "I2F") {
    out.destination_registers = has(words, "F64") ? 2 : 1;
    out.source_registers = {static_cast<std::uint8_t>(has(words, "S64") || has(words, "U64") ? 2 : 1)};
  } else if (name == "MOV" && std::any_of(words.begin(), words.end(), is_64)) {
    out.destination_registers = 2;
    out.source_registers = {2};
  }
}

}  // namespace

Opcode decode_opcode(std::string_view text) {
  Opcode out;
  std::vector<std::string_view> words = split(text, '.');
  const std::string_view name = words.front();
  words.erase(words.begin());
  if (decode_memory_opcode(name, words, out)) return out;
  if ((name == "CCTL" || name == "CCTLL") && decode_cache_control(name == "CCTLL", words, out)) return out;
  if (name == "MEMBAR" || name == "FENCE") return decode_fence(words, name);
  if (name == "BAR") return decode_barrier(words);
  if (name == "NANOSLEEP") {
    out.kind = InstructionKind::sleep;
    out.action = Action::sleep;
    return out;
  }
  if (name == "EXIT" || name == "KILL") out.action = Action::exit;
  if (name == "LDGDEPBAR") out.action = Action::async_commit;
  if (name == "DEPBAR" && has(words, "LE")) out.action = Action::async_wait;
  const unsigned latency = alu_latency(name);
  if (latency == 0) {
    // Its latency is unknown; it is reported with all its modifiers.
    out.unknown.emplace_back(text.substr(0, 80));
    return out;
  }
  out.latency = static_cast<std::uint8_t>(latency);
  out.pipe = alu_pipe(name);
  set_alu_registers(name, words, out);
  return out;
}

}  // namespace warpline::sass
