#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "platform/consistency/places.h"
#include "platform/consistency/test.h"
#include "rtl_models/sm/image_table.h"
#include "rtl_models/sm/instruction.h"

namespace warpline::litmus {

/// Where litmus tests keep their memories: the same bytes of each memory in every run, a few lines, so that a
/// run can lay a test's memories over cache lines and slices as it likes. Windows show the arenas of vidmem,
/// sysmem and the peer at several virtual addresses, for locations that are aliases of each other. The arena
/// of vidmem is where constant addresses begin, too.
struct Arena {
  static constexpr unsigned kLines = 64;
  static constexpr std::uint64_t kBytes = std::uint64_t{kLines} * kLineBytes;
  static constexpr unsigned kWindows = 8;
  static constexpr PhysicalAddress base(Home home) {
    return physical(home == Home::sysmem ? Aperture::sysmem
                    : home == Home::peer ? Aperture::peer
                                         : Aperture::vidmem,
                    0);
  }
  static constexpr std::uint64_t window(Home home, unsigned number) {
    constexpr std::uint64_t kVidmem = 0x7F00'0000'0000ULL, kSysmem = 0x7E00'0000'0000ULL,
                            kPeer = 0x7D00'0000'0000ULL, kApart = 1U << 20U;
    return (home == Home::sysmem ? kSysmem : home == Home::peer ? kPeer : kVidmem) + number * kApart;
  }
};

/// One instruction as an SM issues it, and what the source does when it has been issued.
struct Step : warpline::Instruction {
  /// What an access gives the SM for an address.
  enum class Address : std::uint8_t {
    none,     ///< it has no address
    global,   ///< a virtual address
    element,  ///< an image, and the number of an element
    byte,     ///< an image, and a byte of it
    constant,
    shared,   ///< a byte of the CTA's shared memory, wherever the run's layout puts the others
    copy,     ///< a virtual address, and `copy_to`
    bulk,     ///< likewise, and the mbarrier object at `told`
    between,  ///< of a bulk copy: a byte of the CTA's shared memory, `copy_to` and `told`
    store,    ///< of `st.async` and `red.async`: a byte of a CTA's shared memory, and `told`
  };
  const litmus::Instruction* of = nullptr;  ///< null: it sleeps, or waits for its registers
  Address address = Address::none;
  unsigned memory = 0;     ///< that it accesses
  unsigned bytes = 0;      ///< of its access
  std::uint64_t base = 0;  ///< of `global`: where the window begins; an image's handle; of `shared`: the byte
  std::uint32_t copy_to = 0;  ///< of a copy: the byte of shared memory
  std::uint32_t count = 0;    ///< of an operation on an mbarrier object: arrivals, or bytes
  std::uint32_t told = 0;     ///< of an asynchronous operation: where the mbarrier object is that is told
  /// What is executed with it: a fence before an arrival at the barrier of a cluster, or behind a wait there.
  const Step* before = nullptr;
  const Step* after = nullptr;
  bool reads_end = false;     ///< appended by the run: it reads what its memory holds at the end
  std::uint16_t threads = 0;  ///< of a barrier without a count: that meet; 0: all of the CTA that are left
  std::uint16_t uses = 0;     ///< of a barrier with a count: how many arrivals the run will have; 0: unknown
};

/// The threads of one CTA.
struct CtaProgram {
  unsigned gpu = 0;  ///< on which it runs; see Places
  std::vector<unsigned> threads;
  std::vector<Step> begin;  ///< gives shared memory its initial values
  std::vector<Step> end;    ///< reads what shared memory holds at the end
  unsigned rank = 0;        ///< in its cluster
};

/// A place in a cache that a run may have warmed: what may be there, and what finds it.
struct Warmable {
  enum class Cache : std::uint8_t { l1_lg, l1_surface, texture, constant };
  Cache cache = Cache::l1_lg;
  unsigned memory = 0;
  std::uint64_t base = 0;  ///< virtual address, or constant address, of the arena's first byte

  friend bool operator==(const Warmable& a, const Warmable& b) {
    return a.cache == b.cache && a.memory == b.memory && a.base == b.base;
  }
};

/// A test in the form in which SMs run it.
struct Program {
  Places places;
  std::vector<std::vector<Step>> code;  ///< by thread
  std::vector<CtaProgram> ctas;
  /// CTAs of one cluster at most, of a test whose CTAs meet or access each other's shared memory; 1: clusters
  /// are nothing but scopes.
  unsigned cluster_ctas = 1;
  std::vector<std::vector<unsigned>> clusters;  ///< of such a test: the CTAs of each, by rank
  /// Of such a test: what each thread executes before its code, and behind it, by thread. No CTA accesses
  /// another one's shared memory before that has its initial values, or when it has ended.
  std::vector<Step> enter;
  std::vector<std::vector<Step>> leave;
  /// By thread: before it leaves, nothing of it is under way to another CTA any more.
  std::vector<bool> rests;
  unsigned slot_bytes = Test::kBytes;  ///< that each memory has to itself
  /// Weak loads of everything, by the proxies that the threads use, and fences that write system memory back.
  std::vector<Step> noise;
  std::vector<Warmable> warmable;
  std::uint32_t shared_bytes = 0;
  unsigned registers = 1;
  unsigned threads_per_cta = 1;              ///< of the CTA that has most
  std::deque<litmus::Instruction> own_code;  ///< what begin and end are made of
  std::deque<Step> fences;                   ///< Step::before and Step::after
};

/// Why a GPU cannot run `test`, a sentence each.
[[nodiscard]] std::vector<std::string> refusals(const Test& test);

/// Whether its CTAs are to run in clusters: they meet at their barrier, or access each other's shared memory.
[[nodiscard]] bool needs_clusters(const Test& test);

/// Whether every barrier that waits for a number of threads can be met by that many (PTX ISA, "bar").
[[nodiscard]] bool barriers_can_be_met(const Test& test);

/// Lowers `test`, which outlives the program; textures and surfaces are added to `images`.
/// Pre: refusals() is empty.
[[nodiscard]] Program lower(const Test& test, ImageTable& images);

}  // namespace warpline::litmus
