#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/consistency/condition.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/isa/mem_op.h"

namespace warpline::litmus {

/// A value that an instruction uses: a constant or a register of its thread.
struct WARPLINE_PUBLIC Operand {
  bool is_register = false;
  unsigned number = 0;     ///< of the register
  std::int64_t value = 0;  ///< of the constant
};

enum class InstructionKind : std::uint8_t {
  memory,         ///< `op` is a load, store, atomic, reduction, asynchronous copy or bulk copy
  fence,          ///< `op` is a fence or proxy fence
  cache_control,  ///< SASS CCTL: no event of the memory model
  commit_copies,  ///< the copies since the last commit become a group
  wait_copies,    ///< until at most `a` groups are unfinished; waits == false: until all copies are done
  commit_bulk,    ///< the bulk copies since the last commit become a group
  wait_bulk,  ///< until at most `a` groups of bulk copies are unfinished; reads_only: until they have read
  barrier,
  cluster_arrive,  ///< at the barrier of the thread's cluster; op.semantics: release, or relaxed
  cluster_wait,    ///< there, for the phase in which the thread has arrived
  move,            ///< destination = a
  compare,         ///< destination = 1 if a and b compare so, else 0
  add,             ///< destination = a + b
  subtract,        ///< destination = a - b
  branch,          ///< to `target` if a and b compare so
  jump,            ///< to `target`
};

/// What an instruction does to an mbarrier object. In the model an object counts phases, arrivals and bytes
/// of transactions (MbarrierState): what changes it is an atomic operation, and a wait a load, of the
/// semantics that they say (PTX ISA, "mbarrier").
enum class MbarrierUse : std::uint8_t {
  none,
  arrive,         ///< its result is the phase that it arrives in, modulo 4
  arrive_expect,  ///< the same, and before it the phase expects `b` more bytes
  expect,         ///< the phase expects `b` more bytes
  complete,       ///< `b` bytes have come
  test_wait,      ///< its result is whether phase `a` is complete
  parity_wait,    ///< its result is whether the phase of parity `a` is complete
  copies_arrive,  ///< an arrival when the thread's asynchronous copies are done
};
[[nodiscard]] constexpr bool waits_for_phase(MbarrierUse use) {
  return use == MbarrierUse::test_wait || use == MbarrierUse::parity_wait;
}

enum class Comparison : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };
WARPLINE_PUBLIC [[nodiscard]] bool holds(Comparison comparison, std::int64_t a, std::int64_t b);

/// One instruction of a thread.
struct WARPLINE_PUBLIC Instruction {
  static constexpr unsigned kNoRegister = ~0U;
  InstructionKind kind = InstructionKind::move;
  MemOp op;
  Comparison comparison = Comparison::equal;
  bool waits = true;        ///< of a barrier: bar.sync; false: bar.arrive. Of wait_copies: see there
  bool reads_only = false;  ///< of wait_bulk: for what the copies read
  bool suspends = false;    ///< of a wait for a phase: try_wait
  bool subtracts = false;   ///< of an atomic: adds the negative of `a`
  unsigned destination = kNoRegister;  ///< none: of stores and reductions
  unsigned location = 0;               ///< of an access: in Test::locations
  std::uint32_t offset = 0;            ///< bytes behind the location's first
  Operand a, b;                        ///< the value stored, an atomic's operands; a barrier's id and threads
  bool counts = false;                 ///< of a barrier: `b` says how many threads meet
  unsigned guard = kNoRegister;        ///< not executed where this register is 0; none: always executed
  bool guard_negated = false;          ///< not executed where it is not 0
  unsigned index = kNoRegister;   ///< of an access: the register that is added to `offset`; see offset_at
  unsigned target = 0;            ///< of branches: an instruction of the thread; its number: the end
  unsigned copy_to = 0;           ///< of a copy, whose source is `location`: where it writes
  std::uint32_t copy_offset = 0;  ///< likewise: bytes behind that location's first
  MbarrierUse mbarrier = MbarrierUse::none;  ///< of an access: to an mbarrier object
  static constexpr unsigned kNoLocation = ~0U;
  /// Of `st.async`, `red.async` and bulk copies to shared memory: the mbarrier object that is told of all
  /// their bytes when they are done; none: of other accesses.
  unsigned completes = kNoLocation;
  /// Of a bulk copy, whose size is 16 bytes: those that anybody else looks at, the first, a multiple of 4.
  unsigned copied = 0;
  /// Of a vector: the registers, or the values stored, of the elements behind the first.
  std::vector<unsigned> more_destinations;
  std::vector<Operand> more_values;
  std::string text;  ///< as written
  /// Of an access: how many bytes it has; of a vector each element.
  [[nodiscard]] unsigned bytes() const;
  [[nodiscard]] unsigned all_bytes() const { return bytes() * op.vector; }
  /// Whether it has two locations, of which it reads one and writes the other while its thread goes on.
  [[nodiscard]] bool copies() const {
    return kind == InstructionKind::memory &&
           (op.kind == MemKind::async_copy || op.kind == MemKind::bulk_copy);
  }
  /// Where an access begins if its index register holds `index`: bytes behind the location's first. What lies
  /// beyond the location's 8 bytes wraps, and is aligned down to the access.
  [[nodiscard]] std::uint32_t offset_at(std::int64_t index) const;
  /// Of an atomic: the type that its operation has; as written, or the one that stands for it.
  [[nodiscard]] DataType atomic_type() const;
};

/// Where a thread runs. Clusters and CTAs are numbered within their GPU.
struct WARPLINE_PUBLIC Placement {
  unsigned gpu = 0, cluster = 0, cta = 0;
  [[nodiscard]] bool same_cta(const Placement& o) const { return gpu == o.gpu && cta == o.cta; }
  [[nodiscard]] bool same_cluster(const Placement& o) const {
    return same_cta(o) || (gpu == o.gpu && cluster == o.cluster);
  }
};
/// Whether a scope of an operation of a thread at `from` includes a thread at `to` (PTX ISA, "Scope").
WARPLINE_PUBLIC [[nodiscard]] bool includes(Scope scope, const Placement& from, const Placement& to);

struct WARPLINE_PUBLIC Thread {
  std::string name;  ///< "P0"
  Placement place;
  std::vector<Instruction> code;
  std::vector<std::string> registers;  ///< their names; an Operand's number is an index
  std::vector<std::int64_t> initial;   ///< their values, sign-extended
};

/// Where the bytes of a location lie.
enum class Home : std::uint8_t {
  unsaid,  ///< see Places
  vidmem,
  sysmem,
  peer,    ///< a device on the link
  shared,  ///< of one CTA
};

/// A name by which programs reach memory. Several names may be of one memory (PTX ISA, "Proxies"): by another
/// proxy, or by another virtual address.
struct WARPLINE_PUBLIC Location {
  std::string name;
  Proxy proxy = Proxy::generic;
  unsigned memory = 0;       ///< physical memory: equal numbers are equal bytes
  unsigned address = 0;      ///< the generic virtual address behind it: equal for the proxies of one address
  Home home = Home::unsaid;  ///< as written
  static constexpr unsigned kNoThread = ~0U;
  unsigned owner = kNoThread;  ///< of shared memory: a thread of the CTA that has it, as written
};

/// The bytes behind a location.
struct WARPLINE_PUBLIC Memory {
  std::int64_t initial = 0;
  /// Of its value: 4, or more where an access goes beyond its first four. Of a recorded execution: all that
  /// it has.
  unsigned bytes = 4;
  /// It is an mbarrier object, in shared memory, of which each phase has so many arrivals; 0: it is none.
  std::uint32_t arrivals = 0;
  /// What its bytes, `bits`, stand for in a condition.
  [[nodiscard]] std::int64_t value(std::uint64_t bits) const;
};

/// The value of an access's bytes: sign-extended unless its type is an unsigned one.
WARPLINE_PUBLIC [[nodiscard]] std::int64_t extended(DataType type, std::uint64_t bits);

/// Keeps an event of every run back until an instruction is done, so that a rare interleaving becomes a sure
/// one. It changes when things happen, never what the model allows.
struct WARPLINE_PUBLIC Hold {
  enum class What : std::uint8_t {
    fill,   ///< what a cache of the SM waits for does not arrive there
    write,  ///< stores and atomics of the SM do not arrive at L2, nor what it sends to that slice behind them
  };
  What what = What::fill;
  unsigned location = 0;
  unsigned thread = 0;             ///< on whose SM
  unsigned until_thread = 0;       ///< whose instruction ends it
  unsigned until_instruction = 0;  ///< of Thread::code: a read is done when it has its value
};

/// A litmus test.
struct WARPLINE_PUBLIC Test {
  static constexpr unsigned kBytes = 8;         ///< of a memory, for scalar accesses
  static constexpr unsigned kBulkBytes = 16;    ///< of a memory: of bulk copies, and atomics of 128 bits
  static constexpr unsigned kDefaultBytes = 4;  ///< of an access without a type
  std::string name;                             ///< as in its first line
  std::string description;                      ///< the quoted lines
  std::vector<Location> locations;
  std::vector<Memory> memories;
  std::vector<Thread> threads;
  std::vector<Hold> holds;
  Condition condition;
};

/// A thread of the CTA whose shared memory has memory `m`: as written, or the first that accesses it;
/// Location::kNoThread: nobody does, or it does not lie in shared memory.
WARPLINE_PUBLIC [[nodiscard]] unsigned shared_owner(const Test& test, unsigned m);

/// What the code of a test's threads tells of the barrier that an instruction is at.
struct WARPLINE_PUBLIC BarrierUse {
  /// Threads that meet where instructions give no number: all that use it; 0: all of the CTA do, and those
  /// who have exited are not waited for.
  unsigned threads = 0;
  /// How often threads will come to it; 0: they branch, and may come more often or less.
  unsigned arrivals = 0;
};
/// Pre: `i` is a barrier of `own`, a thread of the test. A barrier whose number is in a register may be any.
WARPLINE_PUBLIC [[nodiscard]] BarrierUse barrier_use(const Test& test, const Thread& own,
                                                     const Instruction& i);
/// Whether arrival `number`, from 1 on, of so many at a barrier at which `group` threads meet, is of a last
/// group that is too small, behind complete ones: such threads pass, as no more will come. 0 arrivals:
/// unknown.
[[nodiscard]] constexpr bool is_left_over(unsigned number, unsigned arrivals, unsigned group) {
  return arrivals > group && number > arrivals - arrivals % (group == 0 ? 1 : group);
}

}  // namespace warpline::litmus
