#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "warpline/tlp/endpoint_core.h"
#include "warpline/tlp/tlp_port.h"

namespace warpline {

/// A GPU as a PCI Express function, where its link meets the root complex: what the link has for devices
/// becomes packets, one for each run of bytes, lane or word, and answers come back piece by piece.
///
/// Packets are made in the order in which they are asked for; one that finds no tag keeps back what comes
/// after it. What is not answered with data, in time (unsupported, aborted, damaged, given up; or the
/// function may make no requests, as software has not allowed it to), is answered with all ones.
///
/// Its only BAR, if it has one, is 0: 64-bit, prefetchable, the offset in it the offset in video memory. What
/// asks for bytes beyond the end of that is unsupported; other requests for it are for the link to take
/// on.
class GpuFunction final : public LooseTlpTarget {
 public:
  static constexpr unsigned kMemoryBar = 0;
  /// Video memory as it is seen from outside.
  struct Memory {
    std::uint64_t bar_bytes = 0;  ///< 0: it is not
    std::uint64_t bytes = 0;      ///< that there are
  };
  /// What its configuration space says of it.
  [[nodiscard]] static FunctionDescription description(std::uint64_t bar_bytes);

  /// The pool outlives it. Pre: the parameters have no problems.
  GpuFunction(Component& link, TlpPool& pool, FunctionId id, const LinkParameters& parameters,
              const Memory& memory);

  [[nodiscard]] TlpPort& to_root() { return port_; }
  /// Who performs what is loosely timed.
  void perform_by(LooseTlpTarget& root) { root_ = &root; }
  /// Who performs requests for video memory that are loosely timed. Lives as long.
  class LooseMemory {
   public:
    /// From cycle `at` on, in which the packet is at the far end of the link; `at`: when its answer is there
    /// again. Afterwards `tlp.data` of a request that reads is the answer.
    virtual void perform_inbound(Tlp& tlp, std::uint64_t offset, Cycle& at) = 0;

   protected:
    ~LooseMemory() = default;
  };
  void perform_by(LooseMemory& memory) { loose_memory_ = &memory; }

  /// Asks for at most a line, which is answered in one piece or, of more bytes than a packet has, in several;
  /// of 0 bytes: when the writes before it have arrived. `transfer` and `part` come back with the answer.
  void read(std::uint32_t transfer, std::uint8_t part, std::uint64_t address, unsigned bytes);
  void write(std::uint64_t address, const std::uint8_t* data, unsigned bytes);
  /// `operands`: see EndpointCore::atomic.
  void atomic(std::uint32_t transfer, std::uint8_t part, TlpKind kind, std::uint64_t address, unsigned bytes,
              const std::uint8_t* operands);

  /// An answer, or a part of it.
  struct Piece {
    std::uint32_t transfer = 0;
    std::uint8_t part = 0;
    unsigned first = 0;  ///< of the bytes asked for, where these lie
    unsigned bytes = 0;
    std::array<std::uint8_t, kLineBytes> data{};
    bool refused = false;
    bool last = false;
  };
  /// Pieces that have come, oldest first.
  [[nodiscard]] std::deque<Piece>& pieces() { return pieces_; }

  /// How many requests for video memory may be taken now, by class: others stay at the end of the link, and
  /// what must stay behind them.
  struct Room {
    unsigned posted = 0, non_posted = 0;
  };
  /// Takes what has come and makes what can be made. Part of the link's tick; transmit() ends it.
  void exchange(Cycle now, Room room);
  /// A request for video memory that was taken: the caller's, and for complete() in the end.
  struct Claimed {
    Tlp* tlp = nullptr;
    std::uint64_t offset = 0;
  };
  [[nodiscard]] std::deque<Claimed>& claimed() { return claimed_; }
  /// Such a request is done: answers it with its data, or aborts it, as its `status` says. It is released.
  void complete(Tlp* request);
  /// Puts packets on the wire. Returns when there is more to do; kNever: not before something comes.
  [[nodiscard]] Cycle transmit(Cycle now);
  /// Has all that is asked for performed, loosely timed. `at`: afterwards when the last answer is there.
  void exchange_loosely(Cycle& at);
  /// A configuration request, or one for video memory.
  void perform(Tlp& tlp, Cycle& at) override;

  [[nodiscard]] bool busy() const { return !waiting_.empty() || port_.busy(); }
  void explain(std::vector<Wait>& waits) const;
  [[nodiscard]] const EndpointCore& endpoint() const { return endpoint_; }

  struct Counters {
    std::uint64_t refused = 0;
    template <class F>
    void visit(F&& f) const {
      f("refused", refused, "packets", "to devices, that were not answered with data or not sent");
    }
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  /// What is asked for.
  struct Wanted {
    TlpKind kind = TlpKind::memory_read;
    std::uint32_t transfer = 0;
    std::uint8_t part = 0;
    std::uint64_t address = 0;
    unsigned bytes = 0;
    std::array<std::uint8_t, kLineBytes> data{};  ///< to be written, or the operands
    bool under_way = false;
  };
  void forget();
  void claim(const EndpointCore::BarRequest& request, Room& room);
  [[nodiscard]] bool lies_in_memory(const EndpointCore::BarRequest& request) const;
  void issue(Cycle now);
  void collect();
  void refuse(const Wanted& wanted, unsigned first);

  EndpointCore endpoint_;
  TlpPort port_;
  LooseTlpTarget* root_ = nullptr;
  LooseMemory* loose_memory_ = nullptr;
  TlpPool& pool_;
  Memory memory_;
  std::deque<Claimed> claimed_;
  std::deque<Wanted> waiting_;
  /// Requests under way, by cookie, and which cookies are free.
  std::vector<Wanted> under_way_;
  std::vector<std::uint32_t> free_;
  std::deque<Piece> pieces_;
  Counters counters_;
};

}  // namespace warpline
