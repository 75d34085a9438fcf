#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rtl_models/gpu_switch/gpu_switch_parameters.h"
#include "rtl_models/gpu_switch/multicast_table.h"
#include "rtl_models/sim/request.h"
#include "rtl_models/sim/request_pool.h"

namespace warpline {

/// What passed between a switch and one GPU. At quiescence requests equals responses. Of what the GPU asks
/// for, the sectors are those of the multicast object; of what is asked of it, those of its replica.
struct GpuSwitchCounters {
  std::uint64_t requests = 0, responses = 0, refused = 0;
  std::uint64_t stores = 0, loads = 0, reductions = 0;
  std::uint64_t asked_read_sectors = 0, asked_written_sectors = 0, asked_atomic_sectors = 0;
  std::uint64_t replica_requests = 0, replica_read_sectors = 0, replica_written_sectors = 0,
                replica_reduced_sectors = 0;
  std::uint64_t beats = 0, room_waits = 0;

  template <class F>
  void visit(F&& f) const {
    f("requests", requests, "requests", "taken from the GPU");
    f("stores", stores, "requests", "of them, multimem.st");
    f("loads", loads, "requests", "of them, multimem.ld_reduce");
    f("reductions", reductions, "requests", "of them, multimem.red");
    f("refused", refused, "requests",
      "of them, for no multicast object, or not multimem: answered with an error");
    f("responses", responses, "responses", "given to the GPU");
    f("asked_read_sectors", asked_read_sectors, "sectors", "of plain reads, which are refused");
    f("asked_written_sectors", asked_written_sectors, "sectors", "of the stores, once for all replicas");
    f("asked_atomic_sectors", asked_atomic_sectors, "sectors", "of loads and reductions, likewise");
    f("replica_requests", replica_requests, "requests", "sent to the GPU, for its replica");
    f("replica_read_sectors", replica_read_sectors, "sectors", "of them, read");
    f("replica_written_sectors", replica_written_sectors, "sectors", "of them, written");
    f("replica_reduced_sectors", replica_reduced_sectors, "sectors", "of them, reduced into");
    f("beats", beats, "beats", "sent to the GPU");
    f("room_waits", room_waits, "requests", "that found as many of the GPU under way as there can be");
  }
};

/// What a switch between GPUs does, without time: what becomes of a request for the memory of several GPUs,
/// and what its answer is. A store is a store to each replica, a reduction one in each; a load with reduction
/// reads the sectors of each, and combines them element by element in the order of the GPUs' numbers,
/// whichever comes first. An original has its answer when all replicas have given theirs.
class GpuSwitchCore {
 public:
  /// Requests for the replicas of one original, by rising number of the GPU.
  struct Parts {
    unsigned count = 0;  ///< 0: the original is refused
    std::array<Request*, kMaxReplicas> requests{};
    std::array<std::uint8_t, kMaxReplicas> gpus{};
  };

  /// `table` outlives it. `with_data`: requests carry bytes.
  GpuSwitchCore(unsigned gpus, const GpuSwitchParameters& parameters, GpuSwitchWidths widths,
                const MulticastTable& table, bool with_data)
      : limit_(parameters.requests), widths_(widths), table_(&table), with_data_(with_data), gpus_(gpus) {}

  /// The parts of `r`, which GPU `gpu` sent; from `pool`, made by `maker`. Refused, its status says so.
  [[nodiscard]] Parts split(Request& r, unsigned gpu, RequestPool& pool, const void* maker);
  /// Makes the answer of `r` of those of its parts, which go back to the pool.
  void join(Request& r, const Parts& parts, RequestPool& pool) const;

  /// Whether another request of the GPU can be under way.
  [[nodiscard]] bool has_room(unsigned gpu) const { return gpus_[gpu].under_way < limit_; }
  /// Splits `r`, as split(), and keeps its parts until their answers are here; their `token` is the number
  /// of `r`. Pre: has_room(gpu).
  [[nodiscard]] Parts begin(Request& r, unsigned gpu, RequestPool& pool, const void* maker);
  /// An answer to a part has come. Returns the original, answered, and its GPU, once all have; null before.
  struct Ended {
    Request* original = nullptr;
    unsigned gpu = 0;
  };
  [[nodiscard]] Ended end(const Request& part, RequestPool& pool);
  void count_response(Request& r, unsigned gpu);
  void count_wait(unsigned gpu) { ++gpus_[gpu].counters.room_waits; }
  /// Requests under way, all and of one GPU.
  [[nodiscard]] unsigned under_way() const { return under_way_; }
  [[nodiscard]] unsigned under_way(unsigned gpu) const { return gpus_[gpu].under_way; }
  [[nodiscard]] unsigned limit() const { return limit_; }
  /// Calls visit(number, const Request&) for every request under way, and for its parts that have been
  /// answered.
  template <class F>
  void for_each_under_way(F&& visit) const {
    for (std::size_t n = 0; n < entries_.size(); ++n) {
      const Entry& e = entries_[n];
      if (e.awaited == 0) continue;
      visit(static_cast<std::uint16_t>(n), *e.original);
      for (unsigned k = 0; k < e.parts.count; ++k)
        if ((e.answered >> k & 1U) != 0) visit(static_cast<std::uint16_t>(n), *e.parts.requests[k]);
    }
  }
  [[nodiscard]] const GpuSwitchCounters& counters(unsigned gpu) const { return gpus_[gpu].counters; }
  [[nodiscard]] unsigned gpus() const { return static_cast<unsigned>(gpus_.size()); }

  template <class Archive>
  void archive(Archive& a) {
    // Pre: nothing is under way.
    a.same(gpus_.size(), "GPUs");
    for (Gpu& g : gpus_) a(g.counters);
  }

 private:
  struct Gpu {
    unsigned under_way = 0;
    GpuSwitchCounters counters;
  };
  struct Entry {
    Request* original = nullptr;
    unsigned gpu = 0;
    unsigned awaited = 0;
    unsigned answered = 0;  ///< bit n: part n has been
    Parts parts;
  };
  [[nodiscard]] bool is_sound(const Request& r, const MulticastObject* object) const;
  [[nodiscard]] Request* make_part(Request& r, const MulticastObject& object, const MulticastReplica& replica,
                                   RequestPool& pool, const void* maker);
  void count(const Request& r, unsigned gpu);
  void combine(Request& r, const Parts& parts) const;

  unsigned limit_;
  GpuSwitchWidths widths_;
  const MulticastTable* table_;
  bool with_data_;
  std::vector<Gpu> gpus_;
  std::vector<Entry> entries_;
  std::vector<std::uint16_t> free_;  ///< of entries_
  unsigned under_way_ = 0;
};

}  // namespace warpline
