#include "platform/explain/caches.h"

#include <fmt/format.h>

#include "rtl_models/base/types.h"

namespace warpline {
namespace {

bool streams(const MemOp& op) {
  return op.cache_operator == CacheOperator::cs || op.cache_operator == CacheOperator::lu;
}

std::string last_text(const CacheGeometry& g) {
  if (g.last_lines() == 0) return "evict_last, for which this GPU sets nothing aside: as evict_normal";
  return fmt::format("evict_last: replaced when no other is left; at most {} of the {} lines{}",
                     g.last_lines(), g.sets * g.ways,
                     g.ways_for_last() == g.ways ? "" : ", and all but one of a set");
}

/// Which line of a class goes.
std::string who_goes(const CacheGeometry& g) {
  if (g.replacement == "random") return "any of them goes";
  return g.replacement == "lru" ? "the least recently used goes" : "one goes that was not used of late";
}

template <class Eviction>
std::string class_of(Eviction eviction, const CacheGeometry& g) {
  switch (eviction) {
    case Eviction::first: return "evict_first: the next one to go";
    case Eviction::last: return last_text(g);
    case Eviction::unchanged: return "as it was; where it is new, evict_normal";
    default: return "evict_normal: " + who_goes(g);
  }
}

/// The eviction priority of the instruction, or what its cache operator implies.
template <class Eviction>
Eviction wish(const MemOp& op, Eviction own) {
  return own == Eviction::none && streams(op) ? Eviction::first : own;
}

L1Eviction l1_wish(const MemOp& op) {
  return wish(op, op.l1_eviction);
}

std::string l2_class(const MemOp& op, const L2Parameters& l2) {
  if (op.cache_hint)
    return "what the policy says of its address: a range in steps of 4 KiB at least, a fraction of n "
           "sixteenths of the lines";
  return class_text(wish(op, op.l2_eviction), l2.geometry);
}

}  // namespace

std::string size_of_cache(const CacheGeometry& g, unsigned caches) {
  return fmt::format("{} KiB, {}{} sets of {} lines",
                     std::uint64_t{caches} * g.sets * g.ways * kLineBytes / 1024,
                     caches == 1 ? "" : fmt::format("{} slices of ", caches), g.sets, g.ways);
}

std::string class_text(L1Eviction eviction, const CacheGeometry& geometry) {
  return eviction == L1Eviction::no_allocate ? "not installed" : class_of(eviction, geometry);
}

std::string class_text(L2Eviction eviction, const CacheGeometry& geometry) {
  return class_of(eviction, geometry);
}

std::string l1_load(const MemOp& op, const L1LgParameters& l1) {
  if (op.beyond_cta())
    return "not looked up: the scope reaches beyond this SM. A present line is dropped, and what is being "
           "fetched "
           "of it is not installed";
  if (op.cache_operator == CacheOperator::cg) return "passed by: neither looked up nor allocated";
  if (op.cache_operator == CacheOperator::cv)
    return "never hit: a present line is dropped and nothing is allocated";
  std::string text = "looked up; a hit is served, even if another SM has stored since";
  if (l1_wish(op) == L1Eviction::no_allocate)
    return text + "; a miss fetches its sectors and installs nothing";
  return text + "; a miss fetches the missing 32 B sectors. The line becomes " +
         class_text(l1_wish(op), l1.geometry);
}

std::string l1_local_load(const MemOp& op, const L1LgParameters& l1) {
  std::string text = "looked up; a miss fetches the missing sectors";
  if (streams(op))
    text +=
        fmt::format("; last use: the line's write-back is owed no longer, and bytes that were only here {}",
                    l1.poison_last_use ? "read as a pattern from then on" : "stay readable");
  return text + ". The line becomes " + class_text(l1_wish(op), l1.geometry);
}

std::string l1_store(const MemOp& op, const L1LgParameters& l1) {
  if (op.space == Space::local)
    return "written here, to go to L2 when the line is replaced; the line becomes " +
           class_text(l1_wish(op), l1.geometry);
  if (op.is_mmio || op.cache_operator == CacheOperator::cg || op.cache_operator == CacheOperator::wt)
    return "passed by: not looked up, and nothing is allocated. A present line is dropped, and what is being "
           "fetched of it is not installed";
  std::string text = l1.update_on_store ? "written through: a present line is updated"
                                        : "written through: a present line is dropped";
  text += ", a miss allocates nothing; what is being fetched of the line is not installed";
  if (l1.update_on_store && l1_wish(op) != L1Eviction::none && l1_wish(op) != L1Eviction::no_allocate)
    text += ". A present line becomes " + class_text(l1_wish(op), l1.geometry);
  return text;
}

std::string texture_load(const MemOp& op, const ReadOnlyCacheParameters& texture) {
  std::string text =
      "looked up; no store, acquire or ordinary fence ever invalidates it: a line may be stale until "
      "the grid ends";
  if (l1_wish(op) == L1Eviction::no_allocate || op.cache_operator == CacheOperator::cg)
    return text + "; a miss installs nothing";
  return text + ". The line becomes " + class_text(l1_wish(op), texture.geometry);
}

std::string unified_load(const MemOp& op, const L1LgParameters& l1) {
  std::string text =
      "looked up as a weak load's line, which it shares: a line may be stale until the grid ends, or "
      "something "
      "drops L1's lines";
  if (l1_wish(op) == L1Eviction::no_allocate || op.cache_operator == CacheOperator::cg)
    return text + "; a miss installs nothing";
  return text + ". The line becomes " + class_text(l1_wish(op), l1.geometry);
}

/// What `.mmio` is at L2, by what it does to video memory.
std::string l2_mmio(const char* video_memory) {
  return fmt::format("one access for each lane, never split or combined, nor kept. Of video memory: {}",
                     video_memory);
}

std::string l2_load(const MemOp& op, const L2Parameters& l2) {
  if (op.is_mmio)
    return l2_mmio("not looked up; what is dirty of the line goes to DRAM first, and DRAM answers");
  std::string text =
      "looked up; a miss fetches the missing sectors from DRAM. The line becomes " + l2_class(op, l2);
  if (op.prefetch_bytes != 0)
    text += fmt::format(
        ". The rest of the aligned {} B block is fetched, too, as far as it is mapped and in video memory",
        op.prefetch_bytes);
  return text;
}

std::string l2_store(const MemOp& op, const L2Parameters& l2) {
  if (op.is_mmio) return l2_mmio("not looked up; a present line gets the bytes, and they go to DRAM at once");
  return "performed here, byte by byte; DRAM gets it when the line is replaced. The line becomes " +
         l2_class(op, l2);
}

std::string system_memory(const MemOp& op) {
  if (op.is_mmio)
    return "one bus transaction for each lane, in lane order; the next waits for a read's answer";
  if (op.is_atomic())
    return "L2 writes back and drops its copy; performed over the link: fetch-add, exchange and "
           "compare-and-swap as "
           "PCIe atomics, others as a loop of compare-and-swap";
  const bool at_memory = op.is_strong() && op.scope == Scope::sys;
  if (at_memory) return "L2 writes back and drops its copy; performed at the memory itself";
  if (op.cache_operator == CacheOperator::cv)
    return "L2 writes back and drops its copy, and reads the memory each time";
  if (op.cache_operator == CacheOperator::wt)
    return "written through L2 to the memory before the store is done";
  return op.writes()
             ? "L2 keeps the bytes in its copy until it is replaced, or a release at .sys writes it back"
             : "L2 keeps a copy, which other agents' stores do not change";
}

}  // namespace warpline
