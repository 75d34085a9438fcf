// What took effect in which order, and what follows from it.
#include <algorithm>

#include "warpline/gpu/record/execution_recorder.h"
#include "warpline/isa/atomic.h"

namespace warpline {

/// One SM's requests to one sector reach L2 in the order in which it issued them, so the oldest run of the
/// warp that has bytes of the request still under way is the one that made it.
void ExecutionRecorder::taken(const Request& r) {
  const bool writes =
      r.command == Command::write || r.command == Command::atomic || r.command == Command::reduce;
  if (!writes || r.local) return;
  const auto found = on_their_way_.find(pair_key(r.sm, r.warp));
  if (found == on_their_way_.end()) return;
  std::vector<Run>& runs = found->second;
  for (auto run = runs.begin(); run != runs.end(); ++run) {
    const std::size_t left = run->left;
    take_lanes(r, *run);
    if (run->left == left) continue;
    if (run->left == 0) runs.erase(run);
    return;
  }
}

void ExecutionRecorder::take_lanes(const Request& r, Run& run) {
  for (std::size_t n = run.first; n < run.first + run.offsets.size(); ++n) {
    RecordedEvent& e = record_.events[n];
    const auto is_in = [&] {
      const std::uint64_t offset = e.physical - r.line.value;
      if (e.space != 0 || !e.writes || e.coherent != 0 || offset >= kLineBytes) return false;
      if (r.command == Command::write) return !e.reads && r.bytes.test(static_cast<unsigned>(offset));
      const unsigned lane = record_.threads[e.thread].number % kWarpLanes;
      const LaneAtomic* const first = r.atomics->lanes.data();
      return e.reads && std::any_of(first, first + r.atomics->count,
                                    [&](const LaneAtomic& part) { return part.lane == lane; });
    };
    if (!is_in()) continue;
    e.coherent = ++now_;
    --run.left;
    if (r.exact) return;  // a transaction has one lane
  }
}

/// Goes through all writes in the order in which they took effect: what reductions found, and what atomics
/// left, follows from it.
void ExecutionRecorder::perform() {
  std::vector<std::size_t> order;
  for (std::size_t n = 0; n < record_.events.size(); ++n) {
    const RecordedEvent& e = record_.events[n];
    if (!e.writes) continue;
    order.push_back(n);
    if (e.coherent == 0)
      refuse("a write that never reached L2 (" + record_.instructions[e.instruction].where + ")", nullptr,
             nullptr);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return record_.events[a].coherent < record_.events[b].coherent;
  });
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::array<std::uint8_t, kLineBytes>> memory;
  for (const auto& [key, line] : record_.lines) memory[key] = line.before;
  for (const std::size_t n : order) {
    RecordedEvent& e = record_.events[n];
    const std::uint64_t line = e.physical & ~std::uint64_t{kLineBytes - 1};
    std::uint8_t* at = &memory[{e.space, line}][e.physical - line];
    if (e.reads) {
      const MemOp& op = record_.instructions[e.instruction].op;
      const Operands& o = operands_[n];
      if (!e.returned) std::copy_n(at, e.bytes, e.read.begin());
      e.written = e.read;
      RecordedEvent::Bytes old_value;
      perform_atomic(op.atomic, op.type, 1, e.written.data(), o.b.data(), o.c.data(), old_value.data(),
                     e.space == 0 ? Subnormals::flushed : Subnormals::kept);
      const bool swaps = op.atomic == AtomicOperation::compare_and_swap;
      e.writes = !swaps || std::equal(o.b.begin(), o.b.begin() + e.bytes, e.read.begin());
      if (!e.writes) continue;
    }
    std::copy_n(e.written.begin(), e.bytes, at);
  }
}

void ExecutionRecorder::read_ends() {
  for (auto& [key, line] : record_.lines)
    for (unsigned n = 0; n < kLineBytes; ++n)
      if (key.first == 0 && line.touched.test(n)) read_(PhysicalAddress{key.second + n}, &line.after[n], 1);
}

ExecutionRecord ExecutionRecorder::end(const std::string& broken) {
  if (!broken.empty()) record_.refusals.insert(record_.refusals.begin(), broken);
  if (full_) {
    record_.events.clear();
    record_.lines.clear();
  }
  if (record_.refusals.empty()) {
    perform();
    read_ends();
  }
  return std::move(record_);
}

}  // namespace warpline
