#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "rtl_models/bulk_copy/bulk_copy_counters.h"
#include "rtl_models/bulk_copy/bulk_copy_parameters.h"
#include "rtl_models/bulk_copy/bulk_walk.h"
#include "rtl_models/bulk_copy/tensor_map.h"
#include "rtl_models/sim/channel.h"
#include "rtl_models/sm/bulk_order.h"
#include "rtl_models/sm/load_store_unit.h"
#include "rtl_models/sm/memory_map.h"

namespace warpline {

/// The unit of one SM that carries out bulk copies (PTX ISA, "cp.async.bulk"): it sends requests for their
/// lines past L1, copy after copy, and moves their bytes to or from shared memory without taking turns at its
/// banks. What has come for a copy to shared memory is told to its mbarrier at once.
///
/// What goes to other CTAs of the cluster goes over the network between SMs, a message for each line and CTA,
/// in order; behind the last of a copy follows a message to the mbarrier there. Of a copy to several CTAs,
/// each line is read once. Not a component: the SM ticks it, responses first.
class BulkCopyUnit final : public BulkSink {
 public:
  BulkCopyUnit(const BulkCopyParameters& parameters, Component& owner, Out<RequestMessage>& to_crossbar,
               LoadStoreUnit& lsu, SmNumber sm);

  /// For a new kernel. Pre: idle. Tensor maps are read anew.
  void start(const MemoryMap& map);
  [[nodiscard]] bool has_room() const override { return !free_copies_.empty(); }
  void take(Cycle now, const BulkOrder& order) override;
  /// Sends what can be in this cycle. Events are appended.
  void advance(Cycle now, std::vector<BulkEvent>& events, std::vector<LsuEvent>& waits);
  /// A response has come back.
  void respond(Cycle now, Request& r, std::vector<BulkEvent>& events, std::vector<LsuEvent>& waits);
  /// An answer of another SM has come back, whose token has LoadStoreUnit::kOfBulk.
  void hear(Cycle now, Request& r, std::vector<BulkEvent>& events);
  /// Whether the work distributor is to be asked to cancel a CTA, or a cluster, that has not begun; for the
  /// Sm to send with this ticket, oldest first.
  [[nodiscard]] std::deque<unsigned>& cancels() { return cancels_; }
  /// What it answers. Nothing: none was left.
  void answer_cancel(Cycle now, unsigned ticket, const std::optional<Dim3>& cta,
                     std::vector<BulkEvent>& events, std::vector<LsuEvent>& waits);
  /// When advance() next has something to do, if that is known.
  [[nodiscard]] Cycle next_work(Cycle now) const;
  [[nodiscard]] bool idle() const { return under_way_ == 0; }
  /// Copies of the warp go no further.
  void kill(unsigned slot);
  /// Drops the tensor maps that it holds: they may have changed.
  void forget_tensor_maps() { maps_.clear(); }
  [[nodiscard]] const Fault& last_fault() const { return last_fault_; }
  [[nodiscard]] const BulkCopyCounters& counters() const { return counters_; }
  [[nodiscard]] unsigned under_way() const { return under_way_; }
  /// What waits for the network.
  [[nodiscard]] std::size_t messages() const { return outgoing_.size(); }
  [[nodiscard]] unsigned requests_under_way() const {
    return static_cast<unsigned>(flights_.size() - free_flights_.size());
  }
  void explain(const std::string& who, std::vector<Wait>& waits) const;
  template <class Archive>
  void archive(Archive& a) {
    // Pre: idle().
    a(counters_, last_number_, next_request_);
  }

 private:
  struct Copy {
    BulkOrder order;
    Cycle at = 0;  ///< when its turn can come
    TensorMap map;
    BulkWalk walk;
    BulkPiece piece;              ///< the next to be sent
    unsigned outstanding = 0;     ///< pieces under way, parts of a tensor map, messages to mbarriers
    unsigned unsent = 0;          ///< of the pieces, those that are not all on their way to where they go
    std::uint32_t tell_left = 0;  ///< CTAs whose mbarriers are yet to be told, a bit for each rank
    bool begun = false;           ///< `walk` and `piece` are there
    bool walked = false;          ///< its turn is over
    bool telling = false;         ///< its messages to mbarriers have their place in the queue to the network
    bool killed = false;
  };
  /// A piece of a copy that is under way, or a part of its tensor map.
  struct Flight {
    unsigned copy = 0;
    BulkPiece piece;
    bool of_map = false;
    std::uint32_t ranks_left = 0;                       ///< CTAs that its bytes are yet to be sent to
    unsigned answers = 0;                               ///< of other SMs, to come
    std::array<std::uint8_t, BulkWalk::kLine> bytes{};  ///< for those
  };
  /// What waits for the network: the bytes of a flight, or the messages to mbarriers of a copy.
  struct Outgoing {
    unsigned number = 0;
    bool tells = false;
    unsigned part = 0;  ///< of the bytes for one CTA, lines that have been sent
  };
  struct HeldMap {
    std::uint64_t address = 0;
    TensorMap map;
  };
  /// A tensor map that is being read.
  struct Reading {
    std::array<std::uint8_t, TensorMap::kBytes> bytes{};
    std::uint32_t asked = 0, come = 0;  ///< bytes
  };

  [[nodiscard]] bool begin(Cycle now, unsigned index, std::vector<BulkEvent>& events);
  [[nodiscard]] bool read_map(Cycle now, unsigned index, std::vector<BulkEvent>& events);
  void begin_tensor(Cycle now, Copy& c, const TensorMap& map, std::vector<BulkEvent>& events);
  void hold(std::uint64_t address, const TensorMap& map);
  void step(Copy& c, std::vector<BulkEvent>& events);
  void end_turn(std::vector<BulkEvent>& events);
  void end_copy(unsigned index, std::vector<BulkEvent>& events);
  void fill(Cycle now, Copy& c, std::vector<BulkEvent>& events, std::vector<LsuEvent>& waits);
  [[nodiscard]] bool send(Cycle now, unsigned index, std::vector<BulkEvent>& events,
                          std::vector<LsuEvent>& waits);
  [[nodiscard]] bool pass_on(Cycle now, unsigned index, std::vector<BulkEvent>& events,
                             std::vector<LsuEvent>& waits);
  void ask_to_cancel(unsigned index, std::vector<BulkEvent>& events);
  void deliver(Cycle now, unsigned number, const std::uint8_t* bytes, std::vector<BulkEvent>& events,
               std::vector<LsuEvent>& waits);
  void note_moved(const Copy& c, const BulkPiece& piece, const std::uint8_t* bytes, bool landed);
  void combine_here(Cycle now, Flight& f, const std::uint8_t* bytes);
  void settle(unsigned index, std::vector<BulkEvent>& events);
  void end_flight(unsigned number, std::vector<BulkEvent>& events);
  void advance_network(Cycle now, std::vector<BulkEvent>& events);
  void drop_outgoing(std::vector<BulkEvent>& events);
  [[nodiscard]] Request* to_cta(Cycle now, const Copy& c, unsigned token, unsigned rank, std::uint64_t line);
  [[nodiscard]] Request* make_part(Cycle now, const Flight& f, unsigned token, unsigned rank, unsigned part,
                                   unsigned& parts);
  void make(Request& r, const Copy& c, const BulkPiece& piece, const Mapping& mapping);
  void make_atomics(Request& r, const Copy& c, const BulkPiece& piece, unsigned first);
  static void add_atomics(AtomicBlock& block, const std::uint8_t* bytes, unsigned count, unsigned first);
  [[nodiscard]] Request* new_request(Cycle now, const Copy& c, unsigned flight);
  [[nodiscard]] unsigned new_flight(unsigned copy, const BulkPiece& piece, bool of_map);
  void land(const Copy& c, const BulkPiece& piece, const std::uint8_t* from);
  void tell_mbarrier(Cycle now, Copy& c, std::uint32_t offset, std::uint32_t bytes,
                     std::vector<BulkEvent>& events, std::vector<LsuEvent>& waits);
  void report(Cycle now, Copy& c, const Fault& fault, std::vector<BulkEvent>& events);
  template <class F>
  static void for_each_run(const Copy& c, const BulkPiece& piece, F&& f);
  [[nodiscard]] static bool reads_global(const Copy& c) {
    return c.order.op().bulk == BulkDirection::to_shared;
  }
  /// Bytes that the mbarriers of all CTAs it goes to are told in all; of a tensor, once its map is there.
  [[nodiscard]] static std::uint32_t bytes_of(const Copy& c) { return c.order.operands.bytes; }

  BulkCopyParameters parameters_;
  Component& owner_;
  Out<RequestMessage>& to_crossbar_;
  LoadStoreUnit& lsu_;
  SmNumber sm_;
  MemoryMap map_;
  const Mapping* hint_ = nullptr;
  std::vector<Copy> copies_;
  std::vector<unsigned> free_copies_;
  unsigned under_way_ = 0;       ///< copies that are not free
  std::vector<unsigned> queue_;  ///< copies whose requests are not all sent, the oldest first
  std::vector<Flight> flights_;
  std::vector<unsigned> free_flights_;
  std::vector<HeldMap> maps_;  ///< the one used last comes last
  Reading reading_;            ///< of the copy whose turn it is
  bool blocked_ = false;       ///< waits for its port or a response
  std::deque<Outgoing> outgoing_;
  bool network_blocked_ = false;  ///< they wait for the port
  std::deque<unsigned> cancels_;
  Cycle next_request_ = 0;
  std::uint64_t last_number_ = 0;
  Fault last_fault_;
  BulkCopyCounters counters_;
};

}  // namespace warpline
