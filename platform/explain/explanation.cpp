#include "platform/explain/explanation.h"

#include <fmt/format.h>

#include "platform/explain/caches.h"
#include "platform/explain/lowering.h"
#include "platform/explain/summary.h"

namespace warpline {
namespace {

/// Adds effects one by one.
class Writer {
 public:
  Writer(const MemOp& op, const GpuConfig& gpu, Explanation& out) : op_(op), gpu_(gpu), out_(out) {}

  void write() {
    if (op_.multimem) {
      multimem();
      return order();
    }
    switch (op_.kind) {
      case MemKind::load:
      case MemKind::store:
      case MemKind::async_copy: access(); break;
      case MemKind::atomic:
      case MemKind::reduction: atomic(); break;
      case MemKind::texture_load:
        read_only_load();
        add("L2", l2_size() + l2_load(op_, gpu_.l2));
        break;
      case MemKind::surface_load:
      case MemKind::surface_store: surface(); break;
      case MemKind::image_query: add("SM", "the unit knows it: no memory is accessed"); break;
      case MemKind::prefetch:
      case MemKind::prefetch_uniform: prefetch(); break;
      case MemKind::apply_priority:
        add("L2", "a present line of 128 B becomes " + class_text(L2Eviction::normal, gpu_.l2.geometry));
        break;
      case MemKind::discard: discard(); break;
      case MemKind::fence:
      case MemKind::proxy_fence: break;
      case MemKind::cache_control: break;
      case MemKind::mbarrier: mbarrier(); break;
      case MemKind::bulk_copy: bulk_copy(); break;
      case MemKind::async_store:
        add("SM",
            "one request for each 128 B line of another block's shared memory, and behind them one to the "
            "mbarriers there; no cache is involved");
        break;
      case MemKind::fill: add("SM", "shared memory gets 128 B of zeros in a cycle"); break;
    }
    order();
  }

 private:
  void add(const char* place, std::string text) { out_.effects.push_back({place, std::move(text)}); }
  [[nodiscard]] std::string l1_size() const { return size_of_cache(gpu_.l1_lg.geometry, 1) + ": "; }
  [[nodiscard]] std::string texture_size() const { return size_of_cache(gpu_.texture.geometry, 1) + ": "; }
  [[nodiscard]] std::string l2_size() const { return size_of_cache(gpu_.l2.geometry, gpu_.l2.slices) + ": "; }
  /// `.nc` and texture loads.
  void read_only_load() {
    if (gpu_.sm.unified_l1) {
      add("L1 local/global", l1_size() + unified_load(op_, gpu_.l1_lg));
    } else {
      add("texture/.nc", texture_size() + texture_load(op_, gpu_.texture));
    }
  }
  [[nodiscard]] bool stores() const { return op_.kind == MemKind::store; }

  void coalesced() {
    if (op_.is_mmio) {
      add("SM", "each active lane on its own, in lane order");
      return;
    }
    add("SM", "one request for each 128 B line that active lanes touch, with the 32 B sectors they need");
    if (op_.sink_lanes != 0) add("SM", "elements written as '_' are not accessed at all");
  }

  void shared() {
    add("SM",
        fmt::format("shared memory in {} banks of 4 bytes; lanes that need different words of one bank take "
                    "turns; no cache is involved",
                    gpu_.sm.shared_banks));
  }

  void multimem() {
    const bool loads = op_.kind == MemKind::atomic;
    coalesced();
    add("L1 local/global", "passed by: it never has lines of several GPUs' memory");
    add("switch",
        loads ? "reads the sectors of every GPU's replica, and combines their elements in the order of the "
                "GPUs' numbers when all have come"
              : "one request for every GPU's replica, and an answer when all have answered");
    add("L2", loads      ? "of each of those GPUs: serves the sectors as those of a load"
              : stores() ? "of each of those GPUs: takes the bytes as those of a store"
                         : "of each of those GPUs: performs the operation");
  }

  void mbarrier() {
    add("SM", "performed on the object in shared memory, lane by lane; no cache is involved");
    if (op_.mbarrier == MbarrierOperation::try_wait)
      add("SM",
          fmt::format("the warp stands still until the phase is complete, {} cycles at most where no time "
                      "is given",
                      gpu_.sm.mbarrier_try_wait_cycles));
    if (op_.mbarrier == MbarrierOperation::copies_arrive)
      add("SM", "the arrival happens when the warp's asynchronous copies that were issued before are done");
  }

  void bulk_copy() {
    if (op_.bulk == BulkDirection::cancel) {
      add("bulk copies", "asks the work distributor, and writes its answer to shared memory");
      return;
    }
    if (op_.bulk == BulkDirection::to_cluster) {
      add("bulk copies",
          "one request for each 128 B line, over the network between SMs; no cache is involved");
      return;
    }
    add("bulk copies", "one request for each 128 B line, past L1, by a unit of the SM's own");
    if (op_.multicast)
      add("bulk copies", "each line goes on to the other blocks' shared memory over the network between SMs");
    add("L1 local/global", "not looked up: its lines stay as they are");
    add("L2", l2_size() + "serves and takes the lines as those of other accesses");
  }

  void local() {
    add("SM", "the same word of the 32 lanes is one 128 B line");
    add("L1 local/global",
        l1_size() + (stores() ? l1_store(op_, gpu_.l1_lg) : l1_local_load(op_, gpu_.l1_lg)));
    add("L2", l2_size() + (stores() ? "gets the line when L1 replaces it" : "serves what L1 misses"));
  }

  void constant() {
    add("SM", "one request for each 128 B line that active lanes touch");
    add("constant", size_of_cache(gpu_.constant.geometry, 1) + ": looked up; invalidated between grids only");
    add("L2", l2_size() + "serves what it misses");
  }

  void global() {
    coalesced();
    const bool copies = op_.kind == MemKind::async_copy;
    if (op_.is_noncoherent)
      read_only_load();
    else if (op_.bypass_l1)
      add("L1 local/global", "passed by: neither looked up nor allocated");
    else
      add("L1 local/global", l1_size() + (stores() ? l1_store(op_, gpu_.l1_lg) : l1_load(op_, gpu_.l1_lg)));
    add("L2", l2_size() + (stores() ? l2_store(op_, gpu_.l2) : l2_load(op_, gpu_.l2)));
    add("system memory", system_memory(op_));
    if (copies) add("SM", "the bytes are in shared memory when a wait for their group has ended");
  }

  void access() {
    switch (op_.space) {
      case Space::shared_cluster:
        add("SM",
            "what lies in another CTA's shared memory is asked of its SM, a request for each 128 B line, "
            "over "
            "the network between SMs");
        [[fallthrough]];
      case Space::shared: shared(); return;
      case Space::local: local(); return;
      case Space::constant:
      case Space::param: constant(); return;
      case Space::generic:
        add("SM",
            "each lane's address says by its window whether it is shared, local or global; what follows is "
            "for global");
        break;
      default: break;
    }
    global();
  }

  void atomic() {
    if (op_.space == Space::shared || op_.space == Space::shared_cluster) {
      add("SM", "performed in shared memory, lane by lane where they meet");
      return;
    }
    add("SM", "one request for each 128 B line, with the operands of its lanes");
    add("L1 local/global", "a present line is dropped, and what is being fetched of it is not installed");
    add("L2",
        l2_size() + "the atomics unit performs the lanes in order; what is missing is fetched from DRAM");
    add("system memory", system_memory(op_));
  }

  void surface() {
    const bool load = op_.kind == MemKind::surface_load;
    MemOp plain = op_;
    plain.kind = load ? MemKind::load : MemKind::store;
    plain.space = Space::global;
    add("SM", "the coordinates become addresses of the surface's memory");
    add("L1 local/global", l1_size() + (load ? l1_load(plain, gpu_.l1_lg) : l1_store(plain, gpu_.l1_lg)) +
                               ". All of that is of the surface proxy's own lines: generic accesses neither "
                               "see nor change them, and "
                               "acquires spare them; its fence drops both proxies' lines");
    add("L2", l2_size() + (load ? l2_load(plain, gpu_.l2) : l2_store(plain, gpu_.l2)));
  }

  void prefetch() {
    if (op_.kind == MemKind::prefetch_uniform)
      add("SM", "a global address as for prefetch.L1; no operation on shared, local and constant ones");
    if (op_.level != 2)
      add("L1 local/global",
          l1_size() +
              "fetches what it lacks of the 128 B line; an invalidation or a store on the way "
              "makes it install nothing");
    add("L2", l2_size() + "fetches what it lacks of the 128 B line, which becomes " +
                  class_text(op_.l2_eviction, gpu_.l2.geometry));
    add("system memory", "a copy is fetched likewise; nothing is ever read from a peer for a hint");
  }

  void discard() {
    add("L1 local/global", "a present line is dropped");
    add("L2",
        "the 128 bytes become undefined: a write that writes nothing. What is dirty of them is not written "
        "back");
  }

  void order() {
    if (op_.releases())
      add("order", op_.scope == Scope::cta
                       ? "waits for the thread's earlier loads, and for its stores to pass L1"
                       : fmt::format("first waits until all that this SM has stored is performed at {}",
                                     op_.scope == Scope::sys ? "L2, or the memory itself" : "L2"));
    if (op_.acquires())
      add("order", op_.scope == Scope::cta
                       ? "nothing later of the thread issues before it is done"
                       : "nothing later of the thread issues before it is done and the global lines of "
                         "L1 are invalidated");
    if (op_.is_volatile)
      add("order", "volatile instructions are neither added nor left out, and issue in their order");
    if (op_.kind == MemKind::proxy_fence)
      add("order",
          "waits for the thread's loads and the SM's stores of all proxies, then makes the named proxy see "
          "them");
  }

  const MemOp& op_;
  const GpuConfig& gpu_;
  Explanation& out_;
};

}  // namespace

Explanation explain(const MemOp& op, const GpuConfig& gpu) {
  Explanation out;
  out.summary = summary_of(op);
  Writer(op, gpu, out).write();
  Lowering lowering = lowering_of(op);
  out.sass = std::move(lowering.opcodes);
  out.notes = std::move(lowering.notes);
  return out;
}

}  // namespace warpline
