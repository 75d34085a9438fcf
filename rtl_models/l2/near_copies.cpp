#include "rtl_models/l2/near_copies.h"

namespace warpline {

std::uint32_t NearCopies::line_for(std::uint64_t number, std::uint64_t key, EvictionPriority priority) {
  std::uint32_t index = partner_.find(number, key);
  if (index != TagArray::kAbsent) {
    partner_.use(index, priority);
    return index;
  }
  const EvictionClass eviction = partner_.admit(key, priority);
  index = partner_.victim(key);
  evicted_ += partner_.present(index) && !is_twin(partner_.number(index));
  partner_.install(index, number, eviction);
  return index;
}

bool NearCopies::drop(std::uint64_t number, std::uint64_t key) {
  if (const std::uint16_t entry = transfers_.find(number); entry != MissTable::kNone) transfers_.kill(entry);
  const std::uint32_t at = partner_.find(number, key);
  if (at == TagArray::kAbsent) return false;
  partner_.drop(at);
  return true;
}

NearCopies::Transfer NearCopies::send(Request& r) {
  const std::uint64_t number = line_number(r.line);
  Transfer t{r.sectors, transfers_.find(number)};
  if (t.entry == MissTable::kNone) {
    if (transfers_.full()) return t;
    t.entry = transfers_.allocate(number);
  }
  MissTable::Entry& entry = transfers_[t.entry];
  entry.priority = joined(entry.priority, r.l2_priority);
  t.sectors = static_cast<SectorMask>(r.sectors & ~entry.pending);
  entry.pending |= r.sectors;
  r.missing = r.sectors;
  entry.waiters.push(&r);
  return t;
}

void NearCopies::arrive(const Transfer& transfer, std::uint64_t key, RequestList& served) {
  MissTable::Entry& entry = transfers_[transfer.entry];
  entry.pending = static_cast<SectorMask>(entry.pending & ~transfer.sectors);
  if (entry.live) partner_.state(line_for(entry.number, key, entry.priority)).add_valid(transfer.sectors);
  RequestList still;
  while (!entry.waiters.empty()) {
    Request* w = entry.waiters.pop();
    w->missing = static_cast<SectorMask>(w->missing & ~transfer.sectors);
    (w->missing == 0 ? served : still).push(w);
  }
  entry.waiters = still;
  if (entry.pending == 0) transfers_.release(transfer.entry);
}

}  // namespace warpline
