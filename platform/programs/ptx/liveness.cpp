#include "platform/programs/ptx/liveness.h"

#include <algorithm>

namespace warpline::ptx {

Liveness::Liveness(const Program& program) : program_(program), made_of_nothing_(program.registers) {
  constexpr std::uint64_t kMostBits = std::uint64_t{1} << 30U;
  find_blocks();
  find_made_of_nothing();
  if (std::uint64_t{program.registers} * blocks() <= kMostBits) solve();
}

void Liveness::solve() {
  needed_before_.assign(begins_.size(), RegisterSet(program_.registers));
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = begins_.size(); b-- > 0;) {
      RegisterSet needed = needed_behind(b);
      walk(b, needed, nullptr, [] {});
      changed = needed_before_[b].add(needed) || changed;
    }
  }
}

unsigned Liveness::most_in(std::size_t block) const {
  RegisterSet needed = needed_behind(block);
  unsigned now = 0;
  needed.for_each([&](std::uint16_t r) { now += units(r); });
  unsigned most = now;
  walk(block, needed, &now, [&] { most = std::max(most, now); });
  return most;
}

/// Registers that one instruction alone writes, which needs no other register.
void Liveness::find_made_of_nothing() {
  std::vector<unsigned> writers(program_.registers);
  for (std::size_t i = 0; i < program_.ops.size(); ++i) {
    const Instruction& instruction = program_.instructions[i];
    const Op& op = program_.ops[i];
    const unsigned sources = instruction.source_count, all = sources + instruction.destination_count;
    const bool from_memory = instruction.kind == InstructionKind::memory &&
                             instruction.mem.space != Space::constant &&
                             instruction.mem.space != Space::param;
    // A parameter or result of a device function is the value of another instruction.
    const bool alone = sources == 0 && !op.guarded && !from_memory && op.flow == Flow::next &&
                       op.effect != Effect::parameter;
    for (unsigned n = sources; n < all; ++n) {
      const std::uint16_t r = instruction.registers[n];
      writers[r] += alone ? 1 : 2;
      if (writers[r] == 1) {
        made_of_nothing_.add(r);
      } else {
        made_of_nothing_.remove(r);
      }
    }
  }
}

void Liveness::find_blocks() {
  const std::size_t count = program_.ops.size();
  std::vector<bool> begins(count + 1, false);
  begins[0] = true;
  for (const FunctionImage& f : program_.functions) begins[f.entry] = true;
  for (std::size_t i = 0; i < count; ++i) {
    const Op& op = program_.ops[i];
    if (!ends_block(op.flow)) continue;
    begins[i + 1] = true;
    if (op.flow == Flow::branch) begins[op.target] = true;
    if (op.flow == Flow::branch_table)
      for (const std::uint32_t t : program_.tables[op.target]) begins[t] = true;
  }
  block_of_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (begins[i]) begins_.push_back(i);
    block_of_[i] = begins_.size() - 1;
  }
}

RegisterSet Liveness::needed_behind(std::size_t block) const {
  RegisterSet needed(program_.registers);
  const std::size_t last = end_of(block) - 1;
  const Op& op = program_.ops[last];
  const auto follow = [&](std::size_t to) {
    if (to < program_.ops.size()) needed.add(needed_before_[block_of_[to]]);
  };
  if (op.flow == Flow::branch) follow(op.target);
  if (op.flow == Flow::branch_table)
    for (const std::uint32_t t : program_.tables[op.target]) follow(t);
  const bool always_leaves = op.flow == Flow::branch || op.flow == Flow::branch_table ||
                             op.flow == Flow::back || op.flow == Flow::exit || op.flow == Flow::trap;
  if (!always_leaves || op.guarded) follow(last + 1);
  return needed;
}

template <class F>
void Liveness::walk(std::size_t block, RegisterSet& needed, unsigned* count, F&& visit) const {
  for (std::size_t i = end_of(block); i-- > begins_[block];) {
    const Instruction& instruction = program_.instructions[i];
    const unsigned sources = instruction.source_count, all = sources + instruction.destination_count;
    // What a guard may leave as it was is needed before.
    if (!program_.ops[i].guarded)
      for (unsigned n = sources; n < all; ++n) change(needed, instruction.registers[n], false, count);
    for (unsigned n = 0; n < sources; ++n) change(needed, instruction.registers[n], true, count);
    visit();
  }
}

void Liveness::change(RegisterSet& needed, std::uint16_t r, bool is_needed, unsigned* count) const {
  if (needed.has(r) == is_needed) return;
  if (is_needed) {
    needed.add(r);
  } else {
    needed.remove(r);
  }
  if (count != nullptr) *count += is_needed ? units(r) : 0U - units(r);
}

}  // namespace warpline::ptx
