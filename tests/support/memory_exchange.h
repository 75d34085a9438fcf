#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "rtl_models/sim/exchange.h"

namespace warpline::test {

/// Ranks that are threads of one process.
class MemoryExchange final : public Exchange {
 public:
  /// Those of `ranks` ranks.
  [[nodiscard]] static std::vector<std::shared_ptr<MemoryExchange>> of(unsigned ranks) {
    const auto hub = std::make_shared<Hub>(ranks);
    std::vector<std::shared_ptr<MemoryExchange>> all;
    for (unsigned r = 0; r < ranks; ++r) all.emplace_back(new MemoryExchange(hub, r));
    return all;
  }
  [[nodiscard]] unsigned rank() const override { return rank_; }
  [[nodiscard]] unsigned ranks() const override { return static_cast<unsigned>(hub_->gone.size()); }
  /// Will make no more calls: others that wait for one are told.
  void leave() {
    const std::lock_guard<std::mutex> lock(hub_->mutex);
    hub_->gone[rank_] = true;
    hub_->more.notify_all();
  }
  /// Messages that this one has sent.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Hub {
    explicit Hub(unsigned ranks)
        : gone(ranks, false), boxes(ranks, std::vector<std::deque<std::string>>(ranks)) {}
    std::mutex mutex;
    std::condition_variable more;
    std::vector<bool> gone;
    std::vector<std::vector<std::deque<std::string>>> boxes;  ///< by receiver and sender
  };
  MemoryExchange(std::shared_ptr<Hub> hub, unsigned rank) : hub_(std::move(hub)), rank_(rank) {}
  std::vector<std::string> carry(std::vector<std::string> to) override {
    std::unique_lock<std::mutex> lock(hub_->mutex);
    for (unsigned r = 0; r < ranks(); ++r) {
      if (r == rank_) continue;
      bytes_ += to[r].size();
      hub_->boxes[r][rank_].push_back(std::move(to[r]));
    }
    hub_->more.notify_all();
    std::vector<std::string> from(ranks());
    for (unsigned r = 0; r < ranks(); ++r) {
      if (r == rank_) continue;
      std::deque<std::string>& box = hub_->boxes[rank_][r];
      hub_->more.wait(lock, [&] { return !box.empty() || hub_->gone[r]; });
      if (box.empty()) throw ExchangeError("rank " + std::to_string(r) + " is gone");
      from[r] = std::move(box.front());
      box.pop_front();
    }
    return from;
  }
  std::shared_ptr<Hub> hub_;
  unsigned rank_;
  std::size_t bytes_ = 0;
};

/// What run(exchange) returns on each of `ranks` ranks, which are threads. Throws what a rank throws that was
/// not left alone by another.
template <class R>
std::vector<R> on_ranks(unsigned ranks, const std::function<R(std::shared_ptr<MemoryExchange>)>& run) {
  const auto exchanges = MemoryExchange::of(ranks);
  std::vector<R> results(ranks);
  std::vector<std::exception_ptr> failures(ranks);
  std::vector<std::thread> threads;
  for (unsigned r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      try {
        results[r] = run(exchanges[r]);
      } catch (...) {
        failures[r] = std::current_exception();
      }
      exchanges[r]->leave();
    });
  for (std::thread& t : threads) t.join();
  std::exception_ptr left_alone;
  for (const std::exception_ptr& failure : failures) {
    if (failure == nullptr) continue;
    try {
      std::rethrow_exception(failure);
    } catch (const ExchangeError&) {
      left_alone = failure;
    } catch (...) {
      throw;
    }
  }
  if (left_alone != nullptr) std::rethrow_exception(left_alone);
  return results;
}

}  // namespace warpline::test
