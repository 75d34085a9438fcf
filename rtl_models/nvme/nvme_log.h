#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "rtl_models/nvme/nvme_command.h"

namespace warpline {

/// What a controller did.
struct NvmeCounters {
  std::uint64_t register_reads = 0;
  std::uint64_t register_writes = 0;
  std::uint64_t buffer_accesses = 0;
  std::uint64_t bad_accesses = 0;
  std::uint64_t doorbells = 0;
  std::uint64_t bad_doorbells = 0;
  std::uint64_t admin_commands = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t compares = 0;
  std::uint64_t other_commands = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t failed_commands = 0;
  std::uint64_t aborted_commands = 0;
  std::uint64_t media_errors = 0;
  std::uint64_t injected = 0;
  std::uint64_t events = 0;
  std::uint64_t interrupts = 0;
  std::uint64_t resets = 0;

  template <class F>
  void visit(F&& f) const {
    f("register_reads", register_reads, "accesses", "reads of registers, of the MSI-X table too");
    f("register_writes", register_writes, "accesses", "writes of registers, of the MSI-X table too");
    f("buffer_accesses", buffer_accesses, "accesses", "of the controller memory buffer, by the bus");
    f("bad_accesses", bad_accesses, "accesses", "that no register takes");
    f("doorbells", doorbells, "accesses", "of registers, those to doorbells");
    f("bad_doorbells", bad_doorbells, "accesses", "of those, without a queue or with a value it cannot take");
    f("admin_commands", admin_commands, "commands", "of the admin queue, completed");
    f("reads", reads, "commands", "reads, completed");
    f("writes", writes, "commands", "writes, completed");
    f("compares", compares, "commands", "compares, completed");
    f("other_commands", other_commands, "commands", "other I/O commands, completed");
    f("read_bytes", read_bytes, "bytes", "read from the media by reads, compares and verifies");
    f("written_bytes", written_bytes, "bytes", "written to it by writes");
    f("failed_commands", failed_commands, "commands", "completed with another status than success");
    f("aborted_commands", aborted_commands, "commands", "of those, by Abort or the end of their queue");
    f("media_errors", media_errors, "commands", "of those, with an unrecovered read or a write fault");
    f("injected", injected, "commands", "with a failure that was injected");
    f("events", events, "events", "told asynchronously");
    f("interrupts", interrupts, "interrupts", "raised, masked ones included");
    f("resets", resets, "resets", "by CC.EN");
  }
};

/// The error log of a controller, newest entry first, and its other log pages as bytes.
class NvmeErrorLog {
 public:
  explicit NvmeErrorLog(std::size_t most) : most_(most) {}
  void add(unsigned queue, const NvmeCommand& command, NvmeStatus status, bool names_blocks) {
    Entry e;
    e.count = ++total_;
    e.queue = static_cast<std::uint16_t>(queue);
    e.command = command.id;
    e.status = static_cast<std::uint16_t>(status.code << 1U | (status.do_not_retry ? 0x8000U : 0U));
    e.block = names_blocks ? command.first_block() : 0;
    e.nsid = command.nsid;
    put(e);
  }
  /// A doorbell that was refused belongs to no command.
  void add_doorbell(unsigned queue) {
    Entry e;
    e.count = ++total_;
    e.queue = static_cast<std::uint16_t>(queue);
    e.command = 0xFFFF;
    put(e);
  }
  /// The count of errors goes on, as it identifies them (NVM Express base 1.4, 5.14.1.1).
  void clear() { entries_.clear(); }
  [[nodiscard]] std::uint64_t total() const { return total_; }
  /// Of 64 bytes an entry; those that are not there are 0.
  [[nodiscard]] std::vector<std::uint8_t> page() const {
    std::vector<std::uint8_t> out(64 * most_);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      std::uint8_t* const at = &out[64 * i];
      const Entry& e = entries_[i];
      put_number(at, 8, e.count);
      put_number(at + 8, 2, e.queue);
      put_number(at + 10, 2, e.command);
      put_number(at + 12, 2, e.status);
      put_number(at + 14, 2, 0xFFFF);  // of no field in particular
      put_number(at + 16, 8, e.block);
      put_number(at + 24, 4, e.nsid);
    }
    return out;
  }
  template <class Archive>
  void archive(Archive& a) {
    a(entries_, total_);
    if (entries_.size() > most_) a.misfit("logs too many errors");
  }

 private:
  struct Entry {
    std::uint64_t count = 0;
    std::uint16_t queue = 0, command = 0, status = 0;
    std::uint64_t block = 0;
    std::uint32_t nsid = 0;
    template <class Archive>
    void archive(Archive& a) {
      a(count, queue, command, status, block, nsid);
    }
  };
  void put(const Entry& e) {
    entries_.push_front(e);
    if (entries_.size() > most_) entries_.pop_back();
  }
  std::size_t most_;
  std::deque<Entry> entries_;
  std::uint64_t total_ = 0;
};

}  // namespace warpline
