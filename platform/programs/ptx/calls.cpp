#include <algorithm>
#include <cstring>

#include "warpline/programs/ptx/warp.h"

namespace warpline::ptx {
namespace {

constexpr unsigned kPredicateBytes = 4;

/// The state that lane `lane` has of one activation of `image`: bytes appended to `to`, or taken
/// back from `from`.
template <class Transfer>
void for_each_block(const std::vector<ParameterBlock>& blocks, unsigned lane, Transfer&& transfer) {
  for (const ParameterBlock& b : blocks) transfer(b.ref + static_cast<Ref>(lane * b.bytes), b.bytes);
}

}  // namespace

std::uint32_t Warp::deepest_call() const {
  std::size_t deepest = 0;
  for (LaneMask m = lanes_.empty() ? 0 : alive_; m != 0; m &= m - 1)
    deepest = std::max(deepest, lanes_[static_cast<unsigned>(__builtin_ctz(m))].calls.size());
  return static_cast<std::uint32_t>(deepest);
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

void Warp::push_call(unsigned lane, const Op& op, std::uint32_t image_index) {
  const FunctionImage& image = program_.functions[image_index];
  const CallSite& site = program_.calls[op.target];
  Lane& l = lanes_[lane];
  l.calls.push_back(
      {groups_[current_].pc + 1, op.target, image_index, static_cast<std::uint32_t>(l.saved.size())});
  // Arguments may lie in the very blocks that the callee's earlier activation owns.
  std::vector<std::byte> arguments;
  for_each_block(site.arguments, lane, [&](Ref at, std::uint32_t bytes) {
    arguments.insert(arguments.end(), file() + at, file() + at + bytes);
  });
  if (image.recursive)
    for_each_block(image.blocks, lane, [&](Ref at, std::uint32_t bytes) {
      l.saved.insert(l.saved.end(), file() + at, file() + at + bytes);
    });
  std::size_t taken = 0;
  for_each_block(image.parameters, lane, [&](Ref at, std::uint32_t bytes) {
    const std::size_t n = std::min<std::size_t>(bytes, arguments.size() - taken);
    std::copy_n(arguments.begin() + static_cast<std::ptrdiff_t>(taken), n, file() + at);
    taken += n;
  });
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
  std::vector<std::byte> results;
  for_each_block(image.results, lane, [&](Ref at, std::uint32_t bytes) {
    results.insert(results.end(), file() + at, file() + at + bytes);
  });
  if (image.recursive) {
    const std::byte* from = l.saved.data() + record.saved;
    for_each_block(image.blocks, lane, [&](Ref at, std::uint32_t bytes) {
      std::copy_n(from, bytes, file() + at);
      from += bytes;
    });
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
  std::size_t taken = 0;
  for_each_block(program_.calls[record.site].results, lane, [&](Ref at, std::uint32_t bytes) {
    const std::size_t n = std::min<std::size_t>(bytes, results.size() - taken);
    std::copy_n(results.begin() + static_cast<std::ptrdiff_t>(taken), n, file() + at);
    taken += n;
  });
}

void Warp::call(LaneMask lanes, const Op& op, Frame& f, Issue& issue) {
  const LaneMask stay = groups_[current_].mask & ~lanes;
  const std::uint32_t next = groups_[current_].pc + 1;
  std::array<int, kWarpLanes> callee{};
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if ((lanes & kLaneBit[lane]) == 0) continue;
    callee[lane] = callee_of(op, f, lane);
    if (callee[lane] < 0)
      return trap(issue, "a call to something that is not a function with these parameters");
    if (lanes_[lane].calls.size() >= kDeepestCall) return trap(issue, "the call stack is full");
  }
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    if ((lanes & kLaneBit[lane]) != 0) push_call(lane, op, static_cast<std::uint32_t>(callee[lane]));
  while (lanes != 0) {
    const int image = callee[static_cast<unsigned>(__builtin_ctz(lanes))];
    LaneMask same = 0;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
      if ((lanes & kLaneBit[lane]) != 0 && callee[lane] == image) same |= kLaneBit[lane];
    lanes &= ~same;
    move(same, program_.functions[static_cast<std::size_t>(image)].entry);
  }
  if (stay != 0) groups_[current_].pc = next;
}

void Warp::back(LaneMask lanes) {
  LaneMask outermost = 0;
  std::array<std::uint32_t, kWarpLanes> target{};
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if ((lanes & kLaneBit[lane]) == 0) continue;
    if (lanes_.empty() || lanes_[lane].calls.empty()) {
      outermost |= kLaneBit[lane];
      continue;
    }
    target[lane] = lanes_[lane].calls.back().back;
    pop_call(lane);
  }
  LaneMask left = lanes & ~outermost;
  while (left != 0) {
    const std::uint32_t to = target[static_cast<unsigned>(__builtin_ctz(left))];
    LaneMask same = 0;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
      if ((left & kLaneBit[lane]) != 0 && target[lane] == to) same |= kLaneBit[lane];
    left &= ~same;
    move(same, to);
  }
  if (outermost != 0) leave(outermost);
}

}  // namespace warpline::ptx
