#include "rtl_models/sim/request.h"

namespace warpline {

bool TakenCommands::take(const Request& r) const {
  switch (r.command) {
    case Command::read: return true;
    case Command::write: return writes;
    case Command::atomic:
    case Command::reduce: return atomics;
    case Command::maintain: return maintenance != 0 && (r.maintenance & ~maintenance) == 0;
    case Command::control: return control;
  }
  return false;
}

Request* RequestPool::allocate() {
  if (free_ == nullptr) {
    chunks_.push_back(std::unique_ptr<Request[]>(new Request[kChunk]));
    Request* chunk = chunks_.back().get();
    for (std::size_t i = kChunk; i-- > 0;) {
      chunk[i].next = free_;
      free_ = &chunk[i];
    }
  }
  Request* r = free_;
  free_ = r->next;
  ++in_use_;
  r->maker = nullptr;
  r->next = nullptr;
  r->id = 0;
  r->missing = 0;
  r->prefetch = 0;
  r->cache_operator = CacheOperator::none;
  r->l1_priority = EvictionPriority::none;
  r->l2_priority = EvictionPriority::none;
  r->scope = Scope::none;
  r->local = false;
  r->no_l1 = false;
  r->surface = false;
  r->last_use = false;
  r->exact = false;
  r->captured = false;
  r->maintenance = 0;
  r->status = Status::ok;
  r->gpu = 0;
  r->sm = 0;
  r->warp = 0;
  r->token = 0;
  r->route = 0;
  r->epoch = 0;
  r->region = 0;
  r->sectors = 0;
  return r;
}

Request* RequestPool::allocate_child(const Request& parent, const void* maker) {
  Request* c = allocate();
  c->maker = maker;
  c->id = parent.id;
  c->virtual_line = parent.virtual_line;
  c->line = parent.line;
  c->sectors = parent.sectors;
  c->prefetch = parent.prefetch;
  c->cache_operator = parent.cache_operator;
  c->l1_priority = parent.l1_priority;
  c->l2_priority = parent.l2_priority;
  c->scope = parent.scope;
  c->local = parent.local;
  c->surface = parent.surface;
  c->last_use = parent.last_use;
  c->gpu = parent.gpu;
  c->sm = parent.sm;
  c->warp = parent.warp;
  c->region = parent.region;
  return c;
}

void RequestPool::release_atomics(Request& request) {
  if (request.atomics == nullptr) return;
  free_blocks_.push_back(request.atomics);
  request.atomics = nullptr;
}

AtomicBlock* RequestPool::allocate_atomics() {
  if (free_blocks_.empty()) {
    blocks_.push_back(std::make_unique<AtomicBlock>());
    return blocks_.back().get();
  }
  AtomicBlock* block = free_blocks_.back();
  free_blocks_.pop_back();
  block->count = 0;
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
