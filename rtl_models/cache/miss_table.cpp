#include "rtl_models/cache/miss_table.h"

#include "rtl_models/base/contract.h"

namespace warpline {

MissTable::MissTable(unsigned entries) : entries_(entries) {
  WARPLINE_EXPECT(entries >= 1 && entries < kNone, "1 to 65534 miss registers");
  std::size_t buckets = 1;
  while (buckets < entries) buckets *= 2;
  buckets_.assign(buckets, kNone);
  bucket_mask_ = buckets - 1;
  for (unsigned i = entries; i-- > 0;) {
    entries_[i].chain = free_;
    free_ = static_cast<std::uint16_t>(i);
  }
}

std::uint16_t MissTable::allocate(std::uint64_t number) {
  WARPLINE_EXPECT(!full(), "a miss register is free");
  const std::uint16_t index = free_;
  Entry& e = entries_[index];
  free_ = e.chain;
  e.number = number;
  e.pending = 0;
  e.live = true;
  e.in_use = true;
  e.kind = LineKind::global;
  e.stale = false;
  e.priority = EvictionPriority::no_allocate;
  std::uint16_t& head = buckets_[bucket_of(number)];
  e.chain = head;
  head = index;
  ++in_use_;
  return index;
}

void MissTable::kill(std::uint16_t index) {
  Entry& e = entries_[index];
  if (!e.live) return;
  unlink(index);
  e.live = false;
}

void MissTable::in_flight(std::vector<InFlight>& rows, const void* maker, const std::string& name,
                          const std::vector<std::string>& below) const {
  for_each([&](unsigned number, const Entry& e) {
    list_all(rows, e.waiters, name, name + " miss register " + std::to_string(number),
             "the fetch of its line", below, {maker, number});
  });
}

void MissTable::release(std::uint16_t index) {
  Entry& e = entries_[index];
  WARPLINE_EXPECT(e.in_use && e.pending == 0 && e.waiters.empty(), "a finished miss register is released");
  kill(index);
  e.in_use = false;
  e.chain = free_;
  free_ = index;
  --in_use_;
}

}  // namespace warpline
