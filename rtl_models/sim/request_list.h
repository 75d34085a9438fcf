#pragma once

#include "rtl_models/sim/request.h"

namespace warpline {

/// A first-in first-out list threaded through Request::next. A request is in one list at most.
class RequestList {
 public:
  [[nodiscard]] bool empty() const { return head_ == nullptr; }
  [[nodiscard]] Request* front() const { return head_; }
  /// Calls visit(const Request&) for each, first to last.
  template <class F>
  void for_each(F&& visit) const {
    for (const Request* r = head_; r != nullptr; r = r->next) visit(*r);
  }
  void push(Request* r) {
    r->next = nullptr;
    if (head_ == nullptr) {
      head_ = r;
    } else {
      tail_->next = r;
    }
    tail_ = r;
  }
  void push_front(Request* r) {
    r->next = head_;
    head_ = r;
    if (r->next == nullptr) tail_ = r;
  }
  /// Puts all of `earlier` before what is here, in its order; it is left empty.
  void push_front(RequestList& earlier) {
    if (earlier.empty()) return;
    earlier.tail_->next = head_;
    if (head_ == nullptr) tail_ = earlier.tail_;
    head_ = earlier.head_;
    earlier = RequestList{};
  }
  Request* pop() {
    Request* r = head_;
    head_ = r->next;
    r->next = nullptr;
    return r;
  }

 private:
  Request* head_ = nullptr;
  Request* tail_ = nullptr;
};

/// A list that knows how many are in it.
class RequestQueue {
 public:
  [[nodiscard]] unsigned size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const RequestList& list() const { return list_; }
  void push(Request* r) {
    list_.push(r);
    ++size_;
  }
  void push_front(Request* r) {
    list_.push_front(r);
    ++size_;
  }
  Request* pop() {
    --size_;
    return list_.pop();
  }

 private:
  RequestList list_;
  unsigned size_ = 0;
};

}  // namespace warpline
