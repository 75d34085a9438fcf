#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "rtl_models/pcie/packets/tlp.h"
#include "rtl_models/sim/request.h"
#include "rtl_models/sim/request_pool.h"

namespace warpline {

/// What came to a GPU's BAR. Of the requests that are taken, reads + writes + atomics.
struct InboundCounters {
  std::uint64_t reads = 0, writes = 0, atomics = 0, flushes = 0, held_writes = 0;
  std::uint64_t read_sectors = 0, written_sectors = 0, atomic_sectors = 0;
  std::uint64_t bytes_read = 0, bytes_written = 0;

  template <class F>
  void visit(F&& f) const {
    f("reads", reads, "packets", "reads of video memory, flushes included");
    f("writes", writes, "packets", "writes of video memory");
    f("atomics", atomics, "packets", "atomics on video memory");
    f("flushes", flushes, "packets", "of the reads, those of no byte");
    f("held_writes", held_writes, "packets", "writes in order that came before the last one was done");
    f("read_sectors", read_sectors, "sectors", "asked of L2 by reads");
    f("written_sectors", written_sectors, "sectors", "written to L2");
    f("atomic_sectors", atomic_sectors, "sectors", "of atomics, sent to L2");
    f("bytes_read", bytes_read, "bytes", "that reads asked for");
    f("bytes_written", bytes_written, "bytes", "that writes carried");
  }
};

/// What a GPU does with packets for its video memory, without time: cuts them into requests of one line, and
/// says which of these may go to L2 now. Requests go as system-scope accesses past every L1, and are answered
/// by L2 when they are performed.
///
/// Order (R10): a write, a read or an atomic is sent to L2 when all earlier writes, by any requester, have
/// been performed; a read of no byte is answered then. So a requester that learns of a write in some other
/// way, and then writes itself, writes after it. Two kinds of writes need not wait: one to the line that all
/// writes before it are to, as requests for one line stay in order on their way to L2, and one with relaxed
/// ordering. Nothing waits for reads and atomics. The lines of one packet have no order among each other.
class InboundCore {
 public:
  /// The pool outlives it. `gpu`: whose memory it is.
  InboundCore(RequestPool& pool, unsigned gpu) : pool_(pool), gpu_(gpu) {}

  /// Packets of a class that are taken and not done.
  [[nodiscard]] unsigned held(TlpClass of) const { return held_[static_cast<unsigned>(of)]; }

  /// Takes a well-formed memory request for the bytes from `offset` of video memory on, all of which are
  /// there.
  void accept(Tlp* tlp, std::uint64_t offset);
  /// The next request for L2, whose answer is for answered(); null: none may go now.
  [[nodiscard]] Request* next();
  /// L2 has performed it, or refused to: what stands there in place of ours may. The request is released.
  void answered(Request* request);
  /// Packets that are done, oldest first: they are the caller's. `data` of a read or atomic is its answer;
  /// `status` says whether all of the packet was performed.
  [[nodiscard]] std::deque<Tlp*>& finished() { return finished_; }
  /// Of the writes that were ever taken, how many come before the first that is not done.
  [[nodiscard]] std::uint64_t writes_done() const {
    for (const std::uint16_t token : order_)
      if (entries_[token].tlp->posted()) return entries_[token].writes_before;
    return counters_.writes;
  }
  [[nodiscard]] bool idle() const { return order_.empty() && finished_.empty(); }
  template <class Archive>
  void archive(Archive& a) {
    // Pre: idle().
    a(made_, counters_);
  }

  [[nodiscard]] const InboundCounters& counters() const { return counters_; }

 private:
  struct Entry {
    Tlp* tlp = nullptr;
    std::uint64_t offset = 0;
    unsigned lines = 0, sent = 0, answered = 0;
    std::uint64_t writes_before = 0;  ///< writes that were taken before it
  };
  static constexpr std::size_t kNone = ~std::size_t{0};
  [[nodiscard]] std::size_t find_next() const;
  struct Span {
    unsigned in_line = 0, in_packet = 0;  ///< where its bytes begin
    unsigned bytes = 0;
  };
  [[nodiscard]] static Span span_in(const Entry& e, std::uint64_t line);
  void fill(const Tlp& tlp, Request& r, const Span& span);
  void make_atomic(const Tlp& tlp, Request& r, unsigned offset);
  void finish_flushes();
  void finish(std::size_t place);

  RequestPool& pool_;
  unsigned gpu_;
  std::vector<Entry> entries_;        ///< by the token of their requests
  std::vector<std::uint16_t> free_;   ///< places in entries_ that are free
  std::vector<std::uint16_t> order_;  ///< entries under way, in the order of their arrival
  std::array<unsigned, kTlpClasses> held_{};
  std::uint64_t made_ = 0;  ///< requests made: the id of each is its number
  std::deque<Tlp*> finished_;
  InboundCounters counters_;
};

}  // namespace warpline
