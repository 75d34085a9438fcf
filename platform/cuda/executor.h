#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

namespace warpline::cuda {

/// Does the work of all streams of a process in a thread of its own, in the order in which it was asked for:
/// that is an order which streams and events allow, as what one waits for was asked for before. So a program
/// goes on while its grids run, and they see what it writes. What is short is done beside work that takes
/// long (do_short()), where streams allow that.
class Executor {
 public:
  using Work = std::function<void()>;
  /// Which work a piece of work must wait for (CUDA C++ Programming Guide, "Default Stream").
  struct Turn {
    std::uint64_t stream = 0;
    unsigned device = 0;
    bool legacy = false;    ///< of the legacy default stream
    bool blocking = false;  ///< that and this wait for each other
    bool is_short = false;
    std::uint64_t after = 0;  ///< a piece of work that must be done first; 0: none
  };
  /// Names a piece of work, in the order in which they were asked for. 0: none.
  using Ticket = std::uint64_t;

  Executor() = default;
  /// Drops what has not begun, and waits for what has.
  ~Executor() { stop(); }
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// What may wait to be done, of all streams and GPUs together, as of CUDA's own queues: a program that is
  /// faster than its GPU stands still sooner or later. A guess: CUDA does not say how much it is.
  static constexpr std::size_t kMostQueued = 1024;

  /// Asks for a piece of work, which throws nothing and does not wait for others. Without a turn: nothing
  /// that is asked for later is done before it.
  Ticket submit(Work work, const std::optional<Turn>& turn = std::nullopt);
  /// Does what is short, need not wait for what is under way nor for what was asked for before it, and was
  /// asked for before this call. Called by work that takes long, now and then.
  void do_short();
  /// Waits until less than kMostQueued pieces are left, or none is done any more. Of the executor's own
  /// thread, at once.
  void wait_for_room();
  [[nodiscard]] bool is_done(Ticket ticket) const {
    if (done_.load(std::memory_order_acquire) >= ticket) return true;
    const std::lock_guard lock(mutex_);
    return early_.count(ticket) != 0;
  }
  /// Waits until it is done; false: it was dropped by stop().
  bool wait(Ticket ticket);
  /// Waits until all is done that was asked for so far; false: some was dropped by stop().
  bool wait_for_all();
  /// Drops what has not begun, and waits for what has; what comes later is dropped, too. Work that takes
  /// long looks at stopping() now and then.
  void stop();
  [[nodiscard]] bool stopping() const { return stopping_.load(std::memory_order_relaxed); }
  /// Whether this is the executor's own thread, which nothing that waits may be called from.
  [[nodiscard]] bool is_own_thread() const { return std::this_thread::get_id() == thread_.get_id(); }

  /// What work and other threads use by turns: work that takes long lets others have it in between.
  class Shared {
   public:
    /// Waits until it is free, and has it until the end.
    class Hold {
     public:
      /// Calls `f` without it.
      template <class F>
      void without(F&& f) {
        shared_.mutex_.unlock();
        f();
        shared_.mutex_.lock();
      }
      explicit Hold(Shared& shared) : shared_(shared) {
        shared_.waiting_.fetch_add(1);
        shared_.mutex_.lock();
        shared_.waiting_.fetch_sub(1);
      }
      ~Hold() { shared_.mutex_.unlock(); }
      Hold(const Hold&) = delete;
      Hold& operator=(const Hold&) = delete;
      /// Lets those have it who wait for it, if any, and waits for it again.
      void let_others() {
        if (shared_.waiting_.load() == 0) return;
        shared_.mutex_.unlock();
        while (shared_.waiting_.load() != 0) std::this_thread::yield();
        shared_.mutex_.lock();
      }

     private:
      Shared& shared_;
    };

   private:
    std::mutex mutex_;
    std::atomic<unsigned> waiting_{0};
  };

 private:
  void run();

  mutable std::mutex mutex_;
  std::condition_variable asked_, finished_;
  struct Item {
    Ticket ticket = 0;
    Work work;
    std::optional<Turn> turn;  ///< nothing: all wait for it
  };
  /// Takes the first piece up to `last` out that do_short() may do.
  std::optional<Item> take_short(Ticket last);
  /// Pre: mutex_ is held.
  void note_done(Ticket ticket);

  std::deque<Item> queue_;
  std::optional<Turn> running_;  ///< whose turn it is; guarded by mutex_
  Ticket submitted_ = 0;         ///< guarded by mutex_
  std::atomic<Ticket> done_{0};  ///< all to this one are; written with mutex_ held
  std::set<Ticket> early_;       ///< behind it; guarded by mutex_
  std::atomic<bool> stopping_{false};
  std::thread thread_;  ///< started by the first work
};

}  // namespace warpline::cuda
