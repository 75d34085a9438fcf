#include "platform/cuda/memory_advice.h"

#include <algorithm>
#include <iterator>

namespace warpline::cuda {

void MemoryAdvice::split(std::uint64_t page) {
  const auto run = std::prev(from_.upper_bound(page));
  if (run->first != page) from_.emplace_hint(std::next(run), page, run->second);
}

MemoryAdvice::Of MemoryAdvice::common(std::uint64_t address, std::uint64_t bytes) const {
  const std::uint64_t first = address / kPage, last = (address + bytes - 1) / kPage;
  auto run = std::prev(from_.upper_bound(first));
  Of all = run->second;
  for (++run; run != from_.end() && run->first <= last; ++run) {
    const Of& here = run->second;
    all.read_mostly = all.read_mostly && here.read_mostly;
    if (!(all.preferred == here.preferred)) all.preferred = {};
    if (!(all.prefetched == here.prefetched)) all.prefetched = {};
    std::set<int> both;
    std::set_intersection(all.accessed_by.begin(), all.accessed_by.end(), here.accessed_by.begin(),
                          here.accessed_by.end(), std::inserter(both, both.end()));
    all.accessed_by = std::move(both);
  }
  return all;
}

void MemoryAdvice::forget(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  change(address, bytes, [](Of& of) { of = {}; });
  // Runs that are alike need not be told apart.
  const auto end = from_.upper_bound((address + bytes - 1) / kPage + 1);
  auto run = from_.upper_bound(address / kPage);
  if (run != from_.begin()) --run;
  if (run != from_.begin()) --run;
  for (auto next = std::next(run); next != end; next = std::next(run)) {
    if (next->second == run->second) {
      from_.erase(next);
    } else {
      run = next;
    }
  }
}

void MemoryAdvice::forget(const Allocation& gone, const Allocations& left) {
  if (gone.bytes == 0) return;
  const auto is_shared = [&left](std::uint64_t page) {
    return left.touch(Allocation::Kind::managed, page * kPage, kPage);
  };
  std::uint64_t first = gone.address / kPage, end = (gone.address + gone.bytes - 1) / kPage + 1;
  if (is_shared(first)) ++first;
  if (first < end && is_shared(end - 1)) --end;
  if (first < end) forget(first * kPage, (end - first) * kPage);
}

}  // namespace warpline::cuda
