#include "platform/cuda/executor.h"

#include <map>
#include <utility>

namespace warpline::cuda {

Executor::Ticket Executor::submit(Work work, const std::optional<Turn>& turn) {
  const std::lock_guard lock(mutex_);
  if (stopping()) return submitted_ + 1;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  queue_.push_back({++submitted_, std::move(work), turn});
  asked_.notify_one();
  return submitted_;
}

void Executor::wait_for_room() {
  std::unique_lock lock(mutex_);
  if (queue_.size() < kMostQueued || is_own_thread()) return;
  finished_.wait(lock, [&] { return queue_.size() < kMostQueued || stopping(); });
}

bool Executor::wait(Ticket ticket) {
  if (is_done(ticket)) return true;
  std::unique_lock lock(mutex_);
  const auto done = [&] { return done_.load() >= ticket || early_.count(ticket) != 0; };
  finished_.wait(lock, [&] { return done() || stopping(); });
  return done();
}

bool Executor::wait_for_all() {
  std::unique_lock lock(mutex_);
  const Ticket last = submitted_;
  finished_.wait(lock, [&] { return done_.load() >= last || stopping(); });
  return done_.load() >= last;
}

void Executor::stop() {
  std::deque<Item> dropped;  // what it holds goes without the lock
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
    Item item = std::move(queue_.front());
    queue_.pop_front();
    running_ = item.turn;
    lock.unlock();
    item.work();
    item.work = nullptr;  // what it holds goes before anybody learns that it is done
    lock.lock();
    note_done(item.ticket);
  }
}

void Executor::note_done(Ticket ticket) {
  Ticket done = done_.load();
  if (ticket != done + 1) {
    early_.insert(ticket);
    finished_.notify_all();
    return;
  }
  ++done;
  for (auto next = early_.begin(); next != early_.end() && *next == done + 1; next = early_.erase(next))
    ++done;
  done_.store(done, std::memory_order_release);
  finished_.notify_all();
}

std::optional<Executor::Item> Executor::take_short(Ticket last) {
  // What lies before a piece of work, as far as that may have to wait for it.
  struct Device {
    bool legacy = false, blocking = false;
  };
  std::set<std::uint64_t> streams;
  std::map<unsigned, Device> devices;
  const auto pass = [&](const Turn& turn) {
    streams.insert(turn.stream);
    Device& device = devices[turn.device];
    device.legacy |= turn.legacy;
    device.blocking |= turn.blocking;
  };
  const std::lock_guard lock(mutex_);
  if (!running_ || stopping()) return std::nullopt;
  pass(*running_);
  for (auto item = queue_.begin(); item != queue_.end() && item->turn && item->ticket <= last; ++item) {
    const Turn& turn = *item->turn;
    const Device& device = devices[turn.device];
    const bool waits = streams.count(turn.stream) != 0 || (turn.blocking && device.legacy) ||
                       (turn.legacy && device.blocking);
    const bool is_due = turn.after <= done_.load() || early_.count(turn.after) != 0;
    if (turn.is_short && is_due && !waits) {
      Item taken = std::move(*item);
      queue_.erase(item);
      return taken;
    }
    pass(turn);
  }
  return std::nullopt;
}

void Executor::do_short() {
  Ticket last = 0;
  {
    const std::lock_guard lock(mutex_);
    last = submitted_;
  }
  while (std::optional<Item> item = take_short(last)) {
    item->work();
    item->work = nullptr;
    const std::lock_guard lock(mutex_);
    note_done(item->ticket);
  }
}

}  // namespace warpline::cuda
