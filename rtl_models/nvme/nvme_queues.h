#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/types.h"
#include "rtl_models/nvme/place_set.h"
#include "rtl_models/nvme/registers/nvme.h"

namespace warpline {

/// Whether a controller can be told that the host has memory pages of so many bytes.
[[nodiscard]] inline bool is_memory_page(std::uint32_t bytes) {
  const auto most = std::uint64_t{4096} << field<regs::nvme::kCapMpsmax>(
                        reset_value(regs::nvme::kMap.registers[regs::nvme::kCap]));
  return bytes >= 4096 && bytes <= most && is_power_of_two(bytes);
}

/// Where a queue lies on the bus.
struct NvmeQueuePlace {
  std::uint64_t address = 0;         ///< of one that is contiguous
  std::vector<std::uint64_t> pages;  ///< of one that is not: its memory pages in order

  /// Of a byte of it. `page`: bytes of a memory page.
  [[nodiscard]] std::uint64_t at(std::uint64_t offset, std::uint32_t page) const {
    return pages.empty() ? address + offset : pages[offset / page] + offset % page;
  }
  /// Whether it may be that of a queue of so many bytes.
  [[nodiscard]] bool suits(std::uint64_t bytes, std::uint32_t page) const {
    return pages.empty() || pages.size() == (bytes + page - 1) / page;
  }
  template <class Archive>
  void archive(Archive& a) {
    a(address, pages);
  }
};

/// A completion queue of a controller.
struct NvmeCompletionQueue {
  bool exists = false;
  NvmeQueuePlace place;
  std::uint32_t entries = 0;
  std::uint32_t head = 0, tail = 0;
  std::uint16_t phase = 1;
  std::uint32_t reserved = 0;  ///< entries for commands that were fetched and will complete
  std::uint32_t users = 0;     ///< submission queues
  bool interrupts = false;
  unsigned vector = 0;

  [[nodiscard]] std::uint32_t written() const { return (tail + entries - head) % entries; }
  /// Entries that neither hold a completion nor are kept for one.
  [[nodiscard]] std::uint32_t free() const {
    const std::uint32_t used = written() + reserved + 1;
    return used >= entries ? 0 : entries - used;
  }
  [[nodiscard]] bool ring(std::uint32_t value) {
    if (value >= entries || (value + entries - head) % entries > written()) return false;
    head = value;
    return true;
  }
  void advance() {
    tail = (tail + 1) % entries;
    if (tail == 0) phase ^= 1U;
  }
  template <class Archive>
  void archive(Archive& a) {
    a(exists, place, entries, head, tail, phase, reserved, users, interrupts, vector);
    if (exists && (entries < 2 || head >= entries || tail >= entries || phase > 1))
      a.misfit("has a queue that cannot be");
  }
};

/// A submission queue.
struct NvmeSubmissionQueue {
  bool exists = false;
  bool deleting = false;  ///< nothing more is fetched
  NvmeQueuePlace place;
  std::uint32_t entries = 0;
  std::uint32_t head = 0;  ///< entries before it have been read: software may put others there
  std::uint32_t next = 0;  ///< which is read next; those from `head` to here are being read
  std::uint32_t tail = 0;
  unsigned completions = 0;   ///< its completion queue
  std::uint64_t fetched = 0;  ///< commands since it was made

  [[nodiscard]] bool has_command() const { return exists && !deleting && next != tail; }
  [[nodiscard]] bool ring(std::uint32_t value) {
    if (value >= entries) return false;
    // Indices only grow, so a tail behind the one before has gone round; then it must not reach the head
    // again.
    const std::uint32_t pending = (tail + entries - head) % entries;
    const std::uint32_t added = (value + entries - tail) % entries;
    if (pending + added >= entries) return false;
    tail = value;
    return true;
  }
  template <class Archive>
  void archive(Archive& a) {
    a(exists, deleting, place, entries, head, tail, completions, fetched);
    next = head;  // whoever is saved reads nothing
    if (exists && (entries < 2 || head >= entries || tail >= entries)) a.misfit("has a queue that cannot be");
  }
};

/// Pair 0 is the admin queue's.
struct NvmeQueues {
  explicit NvmeQueues(unsigned pairs) : submissions(pairs), completions(pairs) {}
  std::vector<NvmeSubmissionQueue> submissions;
  std::vector<NvmeCompletionQueue> completions;

  /// The submission queue that has a command to be read, the first in turn from number `from` on;
  /// PlaceSet::kNone: there is none. Pre: there is one of that number.
  [[nodiscard]] unsigned next_command(unsigned from) {
    for (unsigned n = pending_.next(from);; n = pending_.next(n + 1)) {
      if (n == PlaceSet::kNone && from != 0) {
        from = 0;
        n = pending_.next(0);
      }
      if (n == PlaceSet::kNone || submissions[n].has_command()) return n;
      pending_.remove(n);
    }
  }
  /// NvmeSubmissionQueue::ring() of one of them.
  [[nodiscard]] bool ring(unsigned number, std::uint32_t tail) {
    pending_.add(number);
    return submissions[number].ring(tail);
  }
  [[nodiscard]] bool has_io() const {
    return std::any_of(submissions.begin() + 1, submissions.end(), [](const auto& q) { return q.exists; }) ||
           std::any_of(completions.begin() + 1, completions.end(), [](const auto& q) { return q.exists; });
  }
  /// Whether each lies in as many memory pages, of `page` bytes, as it takes.
  [[nodiscard]] bool lie_well(std::uint32_t page) const {
    using namespace regs::nvme;
    const auto lies_well = [page](const auto& queues, std::uint64_t entry) {
      return std::all_of(queues.begin(), queues.end(),
                         [&](const auto& q) { return !q.exists || q.place.suits(entry * q.entries, page); });
    };
    return lies_well(submissions, kCommandBytes) && lies_well(completions, kCompletionBytes);
  }
  void forget() {
    std::fill(submissions.begin(), submissions.end(), NvmeSubmissionQueue{});
    std::fill(completions.begin(), completions.end(), NvmeCompletionQueue{});
    pending_.clear();
  }
  template <class Archive>
  void archive(Archive& a) {
    a.fixed(submissions).fixed(completions);
    for (unsigned n = 0; n < submissions.size(); ++n) pending_.add(n);
    std::vector<std::uint32_t> users(completions.size());
    for (const NvmeSubmissionQueue& q : submissions) {
      if (q.completions >= completions.size() || (q.exists && !completions[q.completions].exists))
        a.misfit("has a queue that cannot be");
      if (q.exists) ++users[q.completions];
    }
    // There are as many interrupt vectors as queues.
    for (std::size_t n = 0; n < completions.size(); ++n)
      if (completions[n].users != users[n] || completions[n].vector >= completions.size())
        a.misfit("has a queue that cannot be");
  }

 private:
  PlaceSet pending_;  ///< submission queues that may have commands to be read
};

}  // namespace warpline
