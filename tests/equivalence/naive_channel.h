#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "tests/equivalence/mesh_shape.h"
#include "tests/equivalence/passage.h"

namespace warpline::test {

/// A clock, told of every cycle.
class NaiveClock {
 public:
  explicit NaiveClock(Ratio ratio) : ratio_(ratio) {}
  /// Whether an edge falls on cycle `c`. Called once for each cycle, in order.
  bool step(Cycle c) {
    const Cycle next = (edge_ * ratio_.numerator + ratio_.denominator - 1) / ratio_.denominator;
    if (next != c) return false;
    ++edge_;
    return true;
  }

 private:
  Ratio ratio_;
  std::uint64_t edge_ = 0;
};

/// A message as far as hops care: whose it is, where it goes, how much it carries.
struct NaiveMessage {
  std::uint64_t id = 0;
  unsigned client = 0;
  unsigned server = 0;
  bool everywhere = false;  ///< goes to all servers
  unsigned request_bytes = 0;
  unsigned response_bytes = 0;
};

/// One direction of a hop, clocked through every cycle: beats on a wire, messages on their way, a queue, and
/// credits that travel back. Written from the sentences of the architecture; shares no code with the channel
/// of the model.
class NaiveChannel {
 public:
  enum class Way : std::uint8_t { request, response };
  NaiveChannel(const ChannelParameters& parameters, Way way)
      : parameters_(parameters), way_(way), credits_(parameters.depth) {}

  /// The first half of cycle `c`: wires move, before anybody looks at them.
  void settle(Cycle c, bool sender_edge);
  [[nodiscard]] bool can_send() const { return !wire_taken_ && credits_ > 0; }
  void send(Cycle c, const NaiveMessage& message);
  [[nodiscard]] bool can_pop() const { return !queue_.empty(); }
  [[nodiscard]] const NaiveMessage& front() const { return queue_.front(); }
  NaiveMessage pop(Cycle c);

  [[nodiscard]] const ChannelLog& log() const { return log_; }
  /// Nothing is on it, and all credits are home.
  [[nodiscard]] bool at_rest() const { return !wire_taken_ && credits_ == parameters_.depth; }

 private:
  struct Flying {
    NaiveMessage message;
    unsigned edges_left = 0;
  };
  [[nodiscard]] unsigned beats_of(const NaiveMessage& message) const;
  void put_beat(Cycle c);

  ChannelParameters parameters_;
  Way way_;
  unsigned credits_;
  std::vector<unsigned> credits_on_their_way_;  ///< cycles left of each
  bool wire_taken_ = false;
  NaiveMessage on_wire_;
  unsigned beats_left_ = 0;
  std::deque<Flying> flying_;
  std::deque<NaiveMessage> queue_;
  std::size_t popped_ = 0, arrived_ = 0;
  ChannelLog log_;
};

}  // namespace warpline::test
