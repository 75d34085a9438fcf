#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "rtl_models/base/contract.h"
#include "rtl_models/sim/request.h"

namespace warpline {

/// Where pools of which some hand out more than they get back, and some less, meet: by lists of requests,
/// linked by Request::next. Callable from several threads.
class RequestDepot {
 public:
  void bring(Request* list);
  /// Null: there is none.
  [[nodiscard]] Request* fetch();

 private:
  std::mutex mutex_;
  std::vector<Request*> lists_;
};

/// Recycles requests and atomic blocks, so that a run allocates nothing once it is warm.
class RequestPool {
 public:
  RequestPool() = default;
  /// One of several that share `depot`, which outlives it: a request may go back to another pool than it came
  /// from.
  explicit RequestPool(RequestDepot* depot) : depot_(depot) {}
  /// Makes it one. Pre: nothing was handed out yet.
  void share(RequestDepot* depot) { depot_ = depot; }
  /// A request whose head is as at first; all else is left as it was.
  [[nodiscard]] Request* allocate() {
    Request* r = take();
    static_cast<RequestHead&>(*r) = RequestHead();
    return r;
  }
  /// A request with a head like this one.
  [[nodiscard]] Request* allocate(const RequestHead& head) {
    Request* r = take();
    static_cast<RequestHead&>(*r) = head;
    return r;
  }
  /// A read of no sector, whose `prefetch` is what `parent` wants of the other line of its 256-byte
  /// block; null if that is nothing. Its answer carries no data.
  [[nodiscard]] Request* allocate_prefetch(const Request& parent, const void* maker);
  /// A request that `maker` sends on behalf of `parent`: same identity, requester, address, sectors and
  /// hints; command, token and what belongs to them are the caller's, and whether it is exact.
  [[nodiscard]] Request* allocate_child(const Request& parent, const void* maker);
  void release(Request* request) {
    WARPLINE_EXPECT(in_use_ > 0 || depot_ != nullptr, "every request is released once");
    if (request->command == Command::atomic || request->command == Command::reduce) release_atomics(*request);
    request->next = free_;
    free_ = request;
    --in_use_;
  }
  /// Gives requests that it has too many of to the depot. To be called now and then.
  void share_surplus();
  [[nodiscard]] AtomicBlock* allocate_atomics();
  /// Requests handed out and not yet released; where several pools share a depot, the sum of all is, modulo
  /// its type.
  [[nodiscard]] std::size_t in_use() const { return in_use_; }

 private:
  static constexpr std::size_t kChunk = 256;
  /// One in whatever state it was released.
  [[nodiscard]] Request* take() {
    if (free_ == nullptr) refill();
    Request* r = free_;
    free_ = r->next;
    ++in_use_;
    return r;
  }
  [[gnu::noinline]] void refill();
  void release_atomics(Request& request) {
    if (request.atomics == nullptr) return;
    free_blocks_.push_back(request.atomics);
    request.atomics = nullptr;
  }
  std::vector<std::unique_ptr<Request[]>> chunks_;
  std::vector<std::unique_ptr<AtomicBlock>> blocks_;
  std::vector<AtomicBlock*> free_blocks_;
  Request* free_ = nullptr;
  std::size_t in_use_ = 0;
  RequestDepot* depot_ = nullptr;
  std::size_t stock_ = 0;  ///< requests in free_ and in use
};

}  // namespace warpline
