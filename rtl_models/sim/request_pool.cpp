#include "rtl_models/sim/request_pool.h"

namespace warpline {

void RequestDepot::bring(Request* list) {
  const std::lock_guard<std::mutex> lock(mutex_);
  lists_.push_back(list);
}

Request* RequestDepot::fetch() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (lists_.empty()) return nullptr;
  Request* const list = lists_.back();
  lists_.pop_back();
  return list;
}

/// There is one more chunk of requests, from others or new.
void RequestPool::refill() {
  stock_ += kChunk;
  if (depot_ != nullptr) free_ = depot_->fetch();
  if (free_ != nullptr) return;
  chunks_.push_back(std::unique_ptr<Request[]>(new Request[kChunk]));
  Request* chunk = chunks_.back().get();
  for (std::size_t i = kChunk; i-- > 0;) {
    chunk[i].next = free_;
    free_ = &chunk[i];
  }
}

void RequestPool::share_surplus() {
  while (stock_ - in_use_ > 2 * kChunk) {
    Request* const list = free_;
    Request* last = list;
    for (std::size_t i = 1; i < kChunk; ++i) last = last->next;
    free_ = last->next;
    last->next = nullptr;
    stock_ -= kChunk;
    depot_->bring(list);
  }
}

Request* RequestPool::allocate_child(const Request& parent, const void* maker) {
  Request* c = take();
  static_cast<RequestHead&>(*c) = parent;
  c->next = nullptr;
  c->maker = maker;
  c->missing = 0;
  c->no_l1 = c->exact = c->settled = c->captured = c->far = false;
  c->status = Status::ok;
  c->answered_by = AnsweredBy::first_level;
  c->maintenance = 0;
  c->token = c->route = c->epoch = 0;
  return c;
}

AtomicBlock* RequestPool::allocate_atomics() {
  if (free_blocks_.empty()) {
    blocks_.push_back(std::make_unique<AtomicBlock>());
    return blocks_.back().get();
  }
  AtomicBlock* block = free_blocks_.back();
  free_blocks_.pop_back();
  block->count = 0;
  block->of_mbarriers = false;
  block->wide_sums = false;
  block->vector = 1;
  return block;
}

Request* RequestPool::allocate_prefetch(const Request& parent, const void* maker) {
  const auto wanted = static_cast<SectorMask>(parent.prefetch >> kOtherLineShift);
  if (wanted == 0) return nullptr;
  Request* p = allocate_child(parent, maker);
  p->command = Command::read;
  p->sectors = 0;
  p->prefetch = wanted;
  p->cache_operator = CacheOperator::none;
  p->scope = Scope::none;
  // The block is aligned in virtual addresses; that it is mapped as a whole makes it contiguous below.
  p->virtual_line = VirtualAddress{parent.virtual_line.value ^ kLineBytes};
  p->line = PhysicalAddress{parent.line.value + (p->virtual_line.value - parent.virtual_line.value)};
  return p;
}

}  // namespace warpline
