#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rtl_models/base/byte_mask.h"
#include "rtl_models/base/types.h"
#include "rtl_models/isa/mem_op.h"

namespace warpline {

/// A point of a recorded execution. Later is greater; two that happen in one cycle differ, too.
using Moment = std::uint64_t;

/// A thread of the grid.
struct RecordedThread {
  Dim3 cta;
  std::uint64_t cta_number = 0;  ///< x first, then y, then z
  unsigned number = 0;           ///< in its CTA
  std::uint64_t cluster = 0;     ///< of its CTA, numbered likewise
};

/// A static instruction that a record names.
struct RecordedInstruction {
  MemOp op;
  std::string where;  ///< "k.ptx:12"
};

/// What one thread did by one execution of an instruction: a scalar access, a fence, or an arrival at a
/// barrier; or the completion of what a bulk copy reads, or writes, where the generic proxy knows of that. A
/// vector's elements are accesses of their own (PTX ISA, "Vector Data-types").
struct RecordedEvent {
  enum class Kind : std::uint8_t { access, fence, barrier, completion };
  /// Of an asynchronous operation, which its thread does not wait for: what it reads, what it writes, and
  /// that an mbarrier object is told of it.
  enum class Part : std::uint8_t { source, target, told };
  static constexpr unsigned kMostBytes = 16;
  using Bytes = std::array<std::uint8_t, kMostBytes>;

  Kind kind = Kind::access;
  bool reads = false;
  bool writes = false;    ///< not so: a compare-and-swap that found something else
  bool returned = false;  ///< its thread got what it read
  std::uint8_t bytes = 0;
  std::uint32_t thread = 0;       ///< of ExecutionRecord::threads
  std::uint32_t instruction = 0;  ///< of ExecutionRecord::instructions
  /// Which memory: 0 is global; n + 1 the shared memory of CTA n.
  std::uint64_t space = 0;
  std::uint64_t address = 0;   ///< virtual, or in shared memory
  std::uint64_t physical = 0;  ///< on the buses, or in shared memory: equal ones are equal bytes
  Bytes read{};                ///< what was there, if `reads`; of a reduction as the order of writes has it
  Bytes written{};             ///< what it left, if `writes`
  Moment issued = 0;
  Moment answered = ~Moment{0};  ///< when its thread got what it read, or went on behind a fence
  Moment coherent = 0;           ///< of what writes: when it took effect where all threads meet
  std::uint64_t meeting = 0;     ///< of a barrier: equal numbers met
  bool of_cluster = false;       ///< of a barrier: that of a cluster
  bool releases = false;         ///< of an arrival there: without `.relaxed`
  std::uint32_t expected = 0;    ///< of a barrier: threads that it names; 0: all of the CTA
  bool waits = false;            ///< of a barrier: bar.sync, barrier.cluster.wait
  std::uint32_t operation = 0;   ///< the asynchronous operation that it is of, from 1; 0: of none
  std::uint32_t element = 0;     ///< of its sources and targets: those that belong together
  Part part = Part::source;      ///< likewise
  bool follows_copies = false;   ///< an arrival that has waited for its thread's asynchronous copies
  Moment waited = ~Moment{0};    ///< of a part: when its thread had waited for it
};

/// 128 bytes of a memory that the record has accesses of.
struct RecordedLine {
  ByteMask touched;
  std::array<std::uint8_t, kLineBytes> before{};
  std::array<std::uint8_t, kLineBytes> after{};  ///< of global memory: at the end of the grid
};

/// What the threads of one grid did to memory that others can see, in the order in which they issued it.
///
/// Not in it: local memory and the parameters, which a thread has to itself; constant banks, which nobody
/// writes while a grid runs; hints and cache control, which are no operations of the memory model.
struct ExecutionRecord {
  std::string kernel;
  unsigned threads_per_cta = 0;
  std::vector<RecordedThread> threads;
  std::vector<RecordedInstruction> instructions;
  std::vector<RecordedEvent> events;
  std::map<std::pair<std::uint64_t, std::uint64_t>, RecordedLine> lines;  ///< by space and line address
  /// Names of global memory, for people: first virtual address, bytes, name.
  struct Buffer {
    std::uint64_t address = 0, bytes = 0;
    std::string name;
  };
  std::vector<Buffer> buffers;
  /// Why this is not all that the grid did, a sentence each.
  std::vector<std::string> refusals;
};

}  // namespace warpline
