#include "platform/programs/ptx/warp.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <tuple>

#include "platform/programs/nanoseconds.h"
#include "rtl_models/base/random.h"

namespace warpline::ptx {
namespace {

/// Backward branches after which a group gives way to others; a spin loop's cost as many as kSpin.
constexpr std::uint32_t kPatience = 1024;
constexpr std::uint32_t kSpin = 128;

unsigned first_lane(LaneMask mask) {
  return static_cast<unsigned>(__builtin_ctz(mask));
}

constexpr unsigned kPredicateBytes = 4;

/// What lane `lane` has in `blocks`, one after the other.
std::vector<std::byte> taken_from(const std::byte* file, const std::vector<ParameterBlock>& blocks,
                                  unsigned lane) {
  std::vector<std::byte> bytes;
  for (const ParameterBlock& b : blocks) {
    const std::byte* at = file + b.ref + std::size_t{lane} * b.bytes;
    bytes.insert(bytes.end(), at, at + b.bytes);
  }
  return bytes;
}

/// The other way round, as far as the bytes from `from` to `end` go; what is left of them.
const std::byte* put_into(std::byte* file, const std::vector<ParameterBlock>& blocks, unsigned lane,
                          const std::byte* from, const std::byte* end) {
  for (const ParameterBlock& b : blocks) {
    const std::size_t n = std::min<std::size_t>(b.bytes, static_cast<std::size_t>(end - from));
    std::copy_n(from, n, file + b.ref + std::size_t{lane} * b.bytes);
    from += n;
  }
  return from;
}

}  // namespace

void sleep(const Op& op, Frame& f) {
  const auto* t = f.in<std::uint32_t>(op.r[1]);
  std::uint64_t longest = 0;
  for (unsigned i = 0; i < kWarpLanes; ++i)
    if ((f.active & kLaneBit[i]) != 0) longest = std::max<std::uint64_t>(longest, t[i]);
  f.issue->sleep_cycles = programs::cycles_to_sleep(longest, *f.in<std::uint32_t>(op.r[2]));
}

Warp::Warp(const Program& program)
    : program_(program),
      file_(static_cast<Block*>(
          std::aligned_alloc(alignof(Block), std::max<std::size_t>(program.file_bytes, 1)))),
      called_(program.functions.size()) {
  if (file_ == nullptr) throw std::bad_alloc();
  if (!program.calls.empty()) lanes_.resize(kWarpLanes);
}

void Warp::begin(LaneMask threads) {
  clear(program_.cleared);
  called_.assign(called_.size(), false);
  for (Lane& lane : lanes_) {
    lane.calls.clear();
    lane.saved.clear();
    lane.local_top = program_.local_bytes;
  }
  alive_ = threads;
  groups_[0] = Group{};
  groups_[0].mask = threads;
  groups_[0].pc = program_.functions[0].entry;
  count_ = threads != 0 ? 1 : 0;
  settle();
}

WarpState Warp::state() const {
  if (alive_ == 0) return WarpState::exited;
  return current_ == kNobody ? WarpState::at_barrier : WarpState::runnable;
}

void Warp::kill() {
  leave(alive_);
}

std::uint64_t Warp::digest() const {
  std::uint64_t d = alive_;
  const auto add = [&d](std::uint64_t word) { d = splitmix64(d ^ word); };
  const auto add_bytes = [&add](const std::byte* from, std::size_t count) {
    for (; count >= 8; count -= 8, from += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, from, sizeof word);
      add(word);
    }
    for (; count != 0; --count) add(static_cast<std::uint64_t>(*from++));
  };
  const auto* const bytes = reinterpret_cast<const std::byte*>(file_.get());
  const auto add_ranges = [&](const std::vector<FileRange>& ranges) {
    for (const FileRange& r : ranges) add_bytes(bytes + r.begin, r.end - r.begin);
  };
  add_ranges(program_.cleared);
  for (std::size_t i = 0; i < called_.size(); ++i)
    if (called_[i]) add_ranges(program_.functions[i].cleared);
  // Patience decides between groups only: where there is one, and has been one since an earlier digest, none
  // of it counts. Of several, who gave way more often than whom counts, and not how often.
  const bool together = count_ == 1;
  if (together) add(splits_);
  std::uint32_t fewest = ~0U;
  for (std::size_t i = 0; i < count_; ++i)
    if (groups_[i].status != Group::Status::barrier) fewest = std::min(fewest, groups_[i].epoch);
  for (std::size_t i = 0; i < count_; ++i) {
    const Group& g = groups_[i];
    add(std::uint64_t{g.mask} << 32U | g.pc);
    add(static_cast<std::uint64_t>(g.status) << 40U | std::uint64_t{g.barrier} << 32U | g.barrier_op);
    add((g.spun && !together ? 2U : 0U) | (g.forced ? 1U : 0U));
    if (g.status != Group::Status::barrier && !together)
      add(std::uint64_t{g.epoch - fewest} << 32U | g.patience);
  }
  add(current_);
  for (const Lane& lane : lanes_) {
    add(lane.local_top);
    add_bytes(lane.saved.data(), lane.saved.size());
    for (const CallRecord& c : lane.calls) {
      add(std::uint64_t{c.back} << 32U | c.site);
      add(std::uint64_t{c.image} << 32U | c.saved);
    }
    add(lane.calls.size());
  }
  return d;
}

void Warp::merge() {
  for (std::size_t i = 0; i < count_; ++i) {
    for (std::size_t k = i + 1; k < count_;) {
      Group& a = groups_[i];
      const Group& b = groups_[k];
      const bool waits = a.status == Group::Status::barrier || b.status == Group::Status::barrier;
      const bool alike = a.status == b.status && a.barrier == b.barrier;
      // Lanes in different calls of a function have different places to meet again, unless they meet here.
      const bool meets = a.depth == b.depth || a.status == Group::Status::converging ||
                         b.status == Group::Status::converging;
      if (a.pc != b.pc || (waits && !alike) || !meets) {
        ++k;
        continue;
      }
      // A newcomer at a warp operation makes the group look at its members again.
      if (a.status != b.status) a.status = Group::Status::ready;
      a.mask |= b.mask;
      a.depth = std::max(a.depth, b.depth);
      if (std::tie(a.epoch, a.patience) < std::tie(b.epoch, b.patience)) {
        a.epoch = b.epoch;
        a.patience = b.patience;
      }
      a.spun |= b.spun;
      groups_[k] = groups_[--count_];
    }
  }
}

void Warp::settle() {
  if (count_ > 1) merge();
  for (;;) {
    current_ = kNobody;
    bool at_barrier = false;
    std::size_t stuck = kNobody;
    for (std::size_t i = 0; i < count_; ++i) {
      const Group& g = groups_[i];
      at_barrier |= g.status == Group::Status::barrier;
      if (g.status == Group::Status::converging && (stuck == kNobody || g.pc < groups_[stuck].pc)) stuck = i;
      if (g.status != Group::Status::ready) continue;
      if (current_ != kNobody) {
        const Group& first = groups_[current_];
        if (std::tie(first.epoch, g.depth, first.pc) <= std::tie(g.epoch, first.depth, g.pc)) continue;
      }
      current_ = i;
    }
    if (current_ != kNobody || stuck == kNobody || at_barrier) return;
    // Members that never come: the program's mask names lanes that wait elsewhere in the warp.
    groups_[stuck].status = Group::Status::ready;
    groups_[stuck].forced = true;
  }
}

void Warp::move(LaneMask lanes, std::uint32_t target) {
  Group& g = groups_[current_];
  if (lanes == g.mask) {
    g.pc = target;
    return;
  }
  if (lanes == 0) return;
  Group moved = g;
  moved.mask = lanes;
  moved.pc = target;
  g.mask &= ~lanes;
  groups_[count_++] = moved;
  ++splits_;
}

void Warp::leave(LaneMask lanes) {
  alive_ &= ~lanes;
  for (std::size_t i = 0; i < count_;) {
    groups_[i].mask &= ~lanes;
    if (groups_[i].status == Group::Status::converging) groups_[i].status = Group::Status::ready;
    if (groups_[i].mask == 0)
      groups_[i] = groups_[--count_];
    else
      ++i;
  }
  settle();
}

void Warp::trap(Issue& issue, const char* why) {
  issue.fault = why;
  leave(alive_);
}

void Warp::execute(Issue& issue, const std::byte* pool) {
  Group& g = groups_[current_];
  const Op& op = program_.ops[g.pc];
  Frame f;
  f.file = file();
  f.pool = pool;
  f.issue = &issue;
  f.active = op.guarded ? g.mask & f.guard(op) : g.mask;
  issue.active = f.active;
  g.spun |= op.spins;
  if (op.flow == Flow::next) {
    if (op.run != nullptr) op.run(op, f);
    ++g.pc;
    if (count_ > 1) settle();
    return;
  }
  const LaneMask lanes = f.active;
  switch (op.flow) {
    case Flow::next: break;
    case Flow::branch:
      issue.active = g.mask;
      branch(lanes, op);
      break;
    case Flow::branch_table: branch_table(lanes, op, f, issue); break;
    case Flow::call: call(lanes, op, f, issue); break;
    case Flow::back:
      move(g.mask & ~lanes, g.pc + 1);
      if (lanes != 0) back(lanes);
      break;
    case Flow::exit:
      if (lanes != g.mask) move(g.mask & ~lanes, g.pc + 1);
      if (lanes != 0) return leave(lanes);
      break;
    case Flow::trap:
      if (lanes != 0) return trap(issue, "trap");
      ++g.pc;
      break;
    case Flow::may_trap:
      if (lanes != 0) op.run(op, f);
      if (issue.fault != nullptr) return leave(alive_);
      ++g.pc;
      break;
    case Flow::barrier: barrier(lanes, op, f, issue); break;
    case Flow::converge: converge(lanes, op, f, issue); break;
  }
  settle();
}

unsigned Warp::compute(ComputedAhead::Step* steps, unsigned most, const std::byte* pool) {
  if (!runnable()) return 0;
  Frame f;
  f.file = file();
  f.pool = pool;
  unsigned n = 0;
  while (n < most && count_ == 1) {
    Group& g = groups_[0];
    const Op& op = program_.ops[g.pc];
    if (!op.is_private) break;
    f.active = op.guarded ? g.mask & f.guard(op) : g.mask;
    g.spun |= op.spins;
    ComputedAhead::Step& step = steps[n++];
    step = {g.pc, f.active};
    if (op.flow == Flow::next) {
      if (op.run != nullptr) op.run(op, f);
      ++g.pc;
    } else {
      step.active = g.mask;
      branch(f.active, op);
    }
  }
  if (count_ > 1) settle();
  return n;
}

void Warp::branch(LaneMask taken, const Op& op) {
  if (op.mode != 0) enter(taken);
  Group& g = groups_[current_];
  const bool backward = op.target <= g.pc && taken != 0;
  if (backward && count_ == 1) {
    g.patience = 0;
    g.spun = false;
  } else if (backward) {
    g.patience += g.spun ? kSpin : 1;
    g.spun = false;
    if (g.patience >= kPatience) {
      g.patience = 0;
      ++g.epoch;
    }
  }
  const LaneMask stay = g.mask & ~taken;
  const std::uint32_t next = g.pc + 1;
  move(taken, op.target);
  if (stay != 0) g.pc = next;
}

template <class F>
void Warp::scatter(LaneMask lanes, F&& target_of) {
  const LaneMask stay = groups_[current_].mask & ~lanes;
  const std::uint32_t next = groups_[current_].pc + 1;
  while (lanes != 0) {
    const std::uint32_t target = target_of(first_lane(lanes));
    LaneMask same = 0;
    for (unsigned i = 0; i < kWarpLanes; ++i)
      if ((lanes & kLaneBit[i]) != 0 && target_of(i) == target) same |= kLaneBit[i];
    lanes &= ~same;
    move(same, target);
  }
  if (stay != 0) groups_[current_].pc = next;
}

void Warp::branch_table(LaneMask lanes, const Op& op, Frame& f, Issue& issue) {
  const std::vector<std::uint32_t>& table = program_.tables[op.target];
  const auto* index = f.in<std::uint32_t>(op.r[0]);
  for (LaneMask left = lanes; left != 0; left &= left - 1)
    if (index[first_lane(left)] >= table.size())
      return trap(issue, "brx.idx: index beyond the list of targets");
  scatter(lanes, [&](unsigned lane) { return table[index[lane]]; });
}

void Warp::barrier(LaneMask lanes, const Op& op, Frame& f, Issue& issue) {
  Group& g = groups_[current_];
  const std::uint32_t here = g.pc;
  if (lanes == 0) {
    ++g.pc;
    return;
  }
  if (op.mode == kClusterWait) {
    // Lanes for which the phase is over go on.
    lanes &= ~issue.cluster_passes;
    if (lanes != 0) move(g.mask & ~lanes, here + 1);
    g.pc = here + 1;
    if (lanes == 0) return;
    g.status = Group::Status::barrier;
    g.barrier = kClusterBarrier;
    g.barrier_op = here;
    return;
  }
  const unsigned lane = first_lane(lanes);
  issue.barrier.id = f.in<std::uint32_t>(op.r[1])[lane];
  issue.barrier.threads = op.r[2] == kNoRef ? 0 : f.in<std::uint32_t>(op.r[2])[lane];
  issue.barrier.waits = op.mode == kBarrierWaits;
  if (issue.barrier.id > 15) return trap(issue, "a barrier number above 15");
  move(g.mask & ~lanes, here + 1);
  g.pc = here + 1;
  if (!issue.barrier.waits) return;
  g.status = Group::Status::barrier;
  g.barrier = static_cast<std::uint8_t>(issue.barrier.id);
  g.barrier_op = here;
}

void Warp::converge(LaneMask lanes, const Op& op, Frame& f, Issue& issue) {
  Group& g = groups_[current_];
  if (lanes == kAllLanes) {  // nobody is waited for
    if (op.run != nullptr) op.run(op, f);
    if (issue.fault != nullptr) return leave(alive_);
    g.forced = false;
    ++g.pc;
    return;
  }
  const auto* members = f.in<std::uint32_t>(op.r[Op::kMask]);
  LaneMask complete = 0;
  for (unsigned i = 0; i < kWarpLanes; ++i)
    if ((members[i] & alive_ & ~g.mask) == 0) complete |= kLaneBit[i];
  if (g.forced) complete = ~LaneMask{0};
  const LaneMask go = lanes & complete;
  if (go != lanes) {
    if (go == 0) {
      issue.active = 0;
      g.status = Group::Status::converging;
      return;
    }
    const LaneMask wait = lanes & ~go;
    move(wait, g.pc);
    groups_[count_ - 1].status = Group::Status::converging;
  }
  f.active = go;
  issue.active = go;
  if (op.run != nullptr && go != 0) op.run(op, f);
  if (issue.fault != nullptr) return leave(alive_);
  g.forced = false;
  ++g.pc;
}

std::uint32_t Warp::deepest_call() const {
  std::size_t deepest = 0;
  for (LaneMask m = lanes_.empty() ? 0 : alive_; m != 0; m &= m - 1)
    deepest = std::max(deepest, lanes_[first_lane(m)].calls.size());
  return static_cast<std::uint32_t>(deepest);
}

void Warp::note_depths() {
  for (std::size_t i = 0; i < count_; ++i) {
    std::size_t deepest = 0;
    for (LaneMask m = groups_[i].mask; m != 0; m &= m - 1)
      deepest = std::max(deepest, lanes_[first_lane(m)].calls.size());
    groups_[i].depth = static_cast<std::uint32_t>(deepest);
  }
}

int Warp::callee_of(const Op& op, const Frame& f, unsigned lane) const {
  const CallSite& site = program_.calls[op.target];
  if (site.function >= 0) return site.function;
  const std::uint64_t address = f.in<std::uint64_t>(op.r[0])[lane] - kFunctionBase;
  if (address % 16 != 0) return -1;
  for (std::size_t i = 0; i < program_.functions.size(); ++i) {
    const FunctionImage& image = program_.functions[i];
    if (static_cast<std::uint64_t>(image.declaration) * 16 != address) continue;
    const bool fits =
        image.parameters.size() == site.arguments.size() && image.results.size() == site.results.size();
    return fits ? static_cast<int>(i) : -1;
  }
  return -1;
}

void Warp::clear(const std::vector<FileRange>& ranges) {
  for (const FileRange& r : ranges) std::memset(file() + r.begin, 0, r.end - r.begin);
}

void Warp::push_call(unsigned lane, const Op& op, std::uint32_t image_index) {
  const FunctionImage& image = program_.functions[image_index];
  const CallSite& site = program_.calls[op.target];
  Lane& l = lanes_[lane];
  l.calls.push_back(
      {groups_[current_].pc + 1, op.target, image_index, static_cast<std::uint32_t>(l.saved.size())});
  // Arguments may lie in the very blocks that the callee's earlier activation owns.
  const std::vector<std::byte> arguments = taken_from(file(), site.arguments, lane);
  if (image.recursive) {
    const std::vector<std::byte> own = taken_from(file(), image.blocks, lane);
    l.saved.insert(l.saved.end(), own.begin(), own.end());
  }
  put_into(file(), image.parameters, lane, arguments.data(), arguments.data() + arguments.size());
}

void Warp::enter(LaneMask lanes) {
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if ((lanes & kLaneBit[lane]) == 0) continue;
    Lane& l = lanes_[lane];
    const FunctionImage& image = program_.functions[l.calls.back().image];
    for (const auto& [ref, bytes] : image.registers) {
      const std::byte* at = file() + ref + (bytes == 0 ? 0 : lane * bytes);
      l.saved.insert(l.saved.end(), at, at + (bytes == 0 ? kPredicateBytes : bytes));
    }
    const std::uint64_t base = l.local_top;
    std::memcpy(file() + image.local_base + lane * sizeof base, &base, sizeof base);
    l.local_top += image.local_bytes;
  }
}

void Warp::pop_call(unsigned lane) {
  Lane& l = lanes_[lane];
  const CallRecord record = l.calls.back();
  l.calls.pop_back();
  const FunctionImage& image = program_.functions[record.image];
  const std::vector<std::byte> results = taken_from(file(), image.results, lane);
  if (image.recursive) {
    const std::byte* from = l.saved.data() + record.saved;
    from = put_into(file(), image.blocks, lane, from, l.saved.data() + l.saved.size());
    for (const auto& [ref, bytes] : image.registers) {
      if (bytes != 0) {
        std::copy_n(from, bytes, file() + ref + std::size_t{lane} * bytes);
        from += bytes;
        continue;
      }
      LaneMask old = 0;
      LaneMask now = 0;
      std::memcpy(&old, from, sizeof old);
      std::memcpy(&now, file() + ref, sizeof now);
      now = (now & ~kLaneBit[lane]) | (old & kLaneBit[lane]);
      std::memcpy(file() + ref, &now, sizeof now);
      from += kPredicateBytes;
    }
    l.saved.resize(record.saved);
    l.local_top -= image.local_bytes;
  }
  put_into(file(), program_.calls[record.site].results, lane, results.data(),
           results.data() + results.size());
}

void Warp::call(LaneMask lanes, const Op& op, Frame& f, Issue& issue) {
  std::array<std::size_t, kWarpLanes> callee{};
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const unsigned lane = first_lane(left);
    const int image = callee_of(op, f, lane);
    if (image < 0) return trap(issue, "a call to something that is not a function with these parameters");
    if (lanes_[lane].calls.size() >= kDeepestCall) return trap(issue, "the call stack is full");
    callee[lane] = static_cast<std::size_t>(image);
  }
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const std::size_t image = callee[first_lane(left)];
    if (called_[image]) continue;
    called_[image] = true;
    clear(program_.functions[image].cleared);
  }
  for (LaneMask left = lanes; left != 0; left &= left - 1)
    push_call(first_lane(left), op, static_cast<std::uint32_t>(callee[first_lane(left)]));
  scatter(lanes, [&](unsigned lane) { return program_.functions[callee[lane]].entry; });
  note_depths();
}

void Warp::back(LaneMask lanes) {
  LaneMask outermost = 0;
  std::array<std::uint32_t, kWarpLanes> target{};
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const unsigned lane = first_lane(left);
    if (lanes_.empty() || lanes_[lane].calls.empty()) {
      outermost |= kLaneBit[lane];
      continue;
    }
    target[lane] = lanes_[lane].calls.back().back;
    pop_call(lane);
  }
  scatter(lanes & ~outermost, [&](unsigned lane) { return target[lane]; });
  if (!lanes_.empty()) note_depths();
  if (outermost != 0) leave(outermost);
}

}  // namespace warpline::ptx
