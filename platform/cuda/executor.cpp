#include "platform/cuda/executor.h"

#include <utility>

namespace warpline::cuda {

Executor::Ticket Executor::submit(Work work) {
  const std::lock_guard lock(mutex_);
  if (stopping()) return submitted_ + 1;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  queue_.push_back(std::move(work));
  asked_.notify_one();
  return ++submitted_;
}

void Executor::wait_for_room() {
  std::unique_lock lock(mutex_);
  if (queue_.size() < kMostQueued || is_own_thread()) return;
  finished_.wait(lock, [&] { return queue_.size() < kMostQueued || stopping(); });
}

bool Executor::wait(Ticket ticket) {
  if (is_done(ticket)) return true;
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return is_done(ticket) || stopping(); });
  return is_done(ticket);
}

Executor::Ticket Executor::last() const {
  const std::lock_guard lock(mutex_);
  return submitted_;
}

void Executor::stop() {
  std::deque<Work> dropped;  // what it holds goes without the lock
  {
    const std::lock_guard lock(mutex_);
    stopping_.store(true);
    dropped.swap(queue_);
    asked_.notify_one();
    finished_.notify_all();
  }
  if (thread_.joinable() && !is_own_thread()) thread_.join();
}

void Executor::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    asked_.wait(lock, [&] { return !queue_.empty() || stopping(); });
    if (stopping()) return;
    Work work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    work = nullptr;  // what it holds goes before anybody learns that it is done
    lock.lock();
    done_.store(done_.load() + 1, std::memory_order_release);
    finished_.notify_all();
  }
}

}  // namespace warpline::cuda
