#include "warpline/fabric/request.h"

#include "warpline/base/contract.h"

namespace warpline {

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
  r->l1_class = EvictionClass::normal;
  r->l2_class = EvictionClass::normal;
  r->scope = Scope::none;
  r->local = false;
  r->no_l1 = false;
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
  c->l1_class = parent.l1_class;
  c->l2_class = parent.l2_class;
  c->scope = parent.scope;
  c->local = parent.local;
  c->gpu = parent.gpu;
  c->sm = parent.sm;
  c->warp = parent.warp;
  c->region = parent.region;
  return c;
}

void RequestPool::release(Request* request) {
  WARPLINE_EXPECT(in_use_ > 0, "every request is released once");
  const bool atomic = request->command == Command::atomic || request->command == Command::reduce;
  if (atomic && request->atomics != nullptr) {
    free_blocks_.push_back(request->atomics);
    request->atomics = nullptr;
  }
  request->next = free_;
  free_ = request;
  --in_use_;
}

AtomicBlock* RequestPool::allocate_atomics() {
  if (free_blocks_.empty()) {
    blocks_.push_back(std::make_unique<AtomicBlock>());
    return blocks_.back().get();
  }
  AtomicBlock* block = free_blocks_.back();
  free_blocks_.pop_back();
  block->count = 0;
  return block;
}

}  // namespace warpline
