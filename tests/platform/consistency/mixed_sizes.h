#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rtl_models/base/random.h"

namespace warpline::litmus::test {

/// What a thread of a program of mixed sizes does at one place. Unless the program is of few bytes, those of
/// all its writes differ, and none is 0, which memory holds at first: each that is read tells who wrote it.
struct MixedOperation {
  enum class Kind : std::uint8_t { load, store, exchange, fence };
  Kind kind = Kind::load;
  bool strong = false, wide_scope = false;  ///< the scope of strong ones: the GPU, or the CTA
  bool acquires = false, releases = false, sequential = false;
  unsigned location = 0;  ///< 0: "x", of 8 bytes; 1: "f", of which 4 are used
  unsigned offset = 0, bytes = 4;
  std::uint8_t first = 0;  ///< what a write leaves in its first byte; one more in each that follows
  bool few = false;        ///< it leaves bit n of `first` in its byte n instead

  [[nodiscard]] bool reads() const { return kind == Kind::load || kind == Kind::exchange; }
  [[nodiscard]] bool writes() const { return kind == Kind::store || kind == Kind::exchange; }
  /// What a write leaves in its byte n.
  [[nodiscard]] std::uint8_t left(unsigned n) const {
    return static_cast<std::uint8_t>(few ? first >> n & 1 : first + n);
  }
};

struct MixedThread {
  unsigned cta = 0;
  std::vector<MixedOperation> code;
};

/// A program and an end of it.
struct MixedProgram {
  std::vector<MixedThread> threads;
  /// What each read reads, by thread and operation; 0 beyond its bytes.
  std::vector<std::vector<std::uint64_t>> read;
  std::optional<std::uint64_t> end;  ///< what "x" holds at the end, if the condition asks

  /// As a litmus test that asks for that end. `computes`: stores write sums, which are known when it has run.
  [[nodiscard]] std::string text(bool computes = false) const;
};

/// 2 or 3 threads of up to 4 operations of 1, 2, 4 and 8 bytes, and an end that is often not to be.
[[nodiscard]] MixedProgram random_mixed_program(Random& random);

/// The same of up to 4 bytes each, all of which are 0 or 1.
[[nodiscard]] MixedProgram random_program_of_few_bytes(Random& random);

/// The moments at which writes took effect and fences were passed in a run, by thread and operation.
using MixedMoments = std::vector<std::vector<std::uint64_t>>;

/// The verdict of the PTX memory model, by brute force, byte by byte: each axiom as its sentence says.
/// `moments`: the coherence order and the order of fences; null: any. Pre: of a program of few bytes,
/// sources_of() is not large: all of them are tried.
[[nodiscard]] bool naively_allowed(const MixedProgram& program, const MixedMoments* moments = nullptr);

/// In how many ways the bytes that are read may come from the writes.
[[nodiscard]] double sources_of(const MixedProgram& program);

/// Whether two threads conflict on partly the same bytes.
[[nodiscard]] bool mixes_sizes(const MixedProgram& program);

}  // namespace warpline::litmus::test
