#pragma once

#include <array>
#include <cstdint>
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
/// banks. What has come for a copy to shared memory is told to its mbarrier at once. Not a component: the SM
/// ticks it, responses first.
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
    BulkPiece piece;           ///< the next to be sent
    unsigned outstanding = 0;  ///< requests
    bool begun = false;        ///< `walk` and `piece` are there
    bool killed = false;
  };
  /// A request under way: for a piece of a copy, or for a part of its tensor map.
  struct Flight {
    unsigned copy = 0;
    BulkPiece piece;
    bool of_map = false;
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
  [[nodiscard]] bool send(Cycle now, unsigned index, std::vector<BulkEvent>& events);
  void make(Request& r, const Copy& c, const BulkPiece& piece, const Mapping& mapping);
  void make_atomics(Request& r, const Copy& c, const BulkPiece& piece, unsigned first);
  [[nodiscard]] Request* new_request(Cycle now, const Copy& c, unsigned flight);
  [[nodiscard]] unsigned new_flight(unsigned copy, const BulkPiece& piece, bool of_map);
  void land(const Copy& c, const BulkPiece& piece, const std::uint8_t* from);
  void tell_mbarrier(Cycle now, Copy& c, std::uint32_t bytes, std::vector<BulkEvent>& events,
                     std::vector<LsuEvent>& waits);
  void report(Cycle now, Copy& c, const Fault& fault, std::vector<BulkEvent>& events);
  template <class F>
  static void for_each_run(const Copy& c, const BulkPiece& piece, F&& f);
  [[nodiscard]] static bool reads_global(const Copy& c) {
    return c.order.op().bulk == BulkDirection::to_shared;
  }

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
  Cycle next_request_ = 0;
  std::uint64_t last_number_ = 0;
  Fault last_fault_;
  BulkCopyCounters counters_;
};

}  // namespace warpline
