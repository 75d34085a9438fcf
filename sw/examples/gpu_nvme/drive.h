#pragma once

#include <cstdint>
#include <optional>

#include "warpline/platform/host/host.h"

/// Memory that host and drive reach: zeros, whole pages.
struct Shared {
  std::uint8_t* bytes = nullptr;
  std::uint64_t bus = 0;  ///< where the drive finds it
};

/// A command, in the parts that differ.
struct Command {
  unsigned opcode = 0;
  std::uint32_t nsid = 0;
  std::uint64_t data1 = 0, data2 = 0;  ///< its data pointer: PRP entries
  std::uint32_t dword10 = 0, dword11 = 0, dword12 = 0;
};

/// A queue pair in the host's memory, as a driver that polls has it.
class DriveQueue {
 public:
  /// Two pages of memory that the drive reaches. Pre: `entries` fit into one each.
  DriveQueue(warpline::Host& host, std::uint64_t registers, unsigned number, unsigned entries,
             Shared submissions, Shared completions)
      : host_(host),
        registers_(registers),
        number_(number),
        entries_(entries),
        submissions_(submissions),
        completions_(completions) {}
  DriveQueue(DriveQueue&&) = default;
  DriveQueue(const DriveQueue&) = delete;
  DriveQueue& operator=(const DriveQueue&) = delete;

  [[nodiscard]] unsigned number() const { return number_; }
  [[nodiscard]] unsigned entries() const { return entries_; }
  [[nodiscard]] std::uint64_t submissions() const { return submissions_.bus; }
  [[nodiscard]] std::uint64_t completions() const { return completions_.bus; }

  /// Hands the drive a command. Pre: fewer than entries() - 1 are under way.
  void submit(const Command& command, std::uint16_t id);
  struct Completion {
    std::uint16_t id = 0;
    unsigned status = 0;  ///< 0: success
  };
  /// Takes a completion, if there is one.
  [[nodiscard]] bool take(Completion& out);
  static constexpr unsigned kNoAnswer = ~0U;
  /// Submits a command and waits for its end. Returns its status; kNoAnswer: it has none after 10 ms, and the
  /// queue is of no use any more. Pre: nothing is under way.
  unsigned run(const Command& command);

 private:
  warpline::Host& host_;
  std::uint64_t registers_;
  unsigned number_, entries_;
  Shared submissions_, completions_;
  unsigned tail_ = 0, head_ = 0, phase_ = 1;
};

/// What a driver does with an NVMe controller: it takes it into use, and makes queues.
class Drive {
 public:
  /// `device`: its number among the host's. The host outlives it.
  Drive(warpline::Host& host, unsigned device);

  /// Resets it and makes the admin queue. False: it does not get ready.
  [[nodiscard]] bool start();
  /// Makes queue pair `number` in host memory.
  [[nodiscard]] DriveQueue new_queue(unsigned number, unsigned entries);
  /// Has the drive take a queue pair into use whose memory lies anywhere that it reaches: whole pages, zeros.
  /// Returns whether it does.
  [[nodiscard]] bool create(unsigned number, unsigned entries, std::uint64_t submissions,
                            std::uint64_t completions);
  [[nodiscard]] bool create(const DriveQueue& queue) {
    return create(queue.number(), queue.entries(), queue.submissions(), queue.completions());
  }
  [[nodiscard]] Shared share(std::size_t bytes);

 private:
  [[nodiscard]] bool becomes(bool ready);

  warpline::Host& host_;
  unsigned device_;
  std::uint64_t registers_;
  std::optional<DriveQueue> admin_;
};
