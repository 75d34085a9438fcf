#pragma once

#include <string>
#include <vector>

#include "rtl_models/base/random.h"
#include "tests/equivalence/naive_channel.h"

namespace warpline::test {

/// What a MeshShape does, computed the long way: every block looks at its ports in every edge of its clock,
/// every channel moves in every cycle. No events, no calendar, nothing woken; of the model it uses the random
/// numbers and plain data only.
class NaiveMesh {
 public:
  explicit NaiveMesh(const MeshShape& shape);
  /// Runs until everything is answered and all credits are home, or to the end of cycle `limit`.
  void run(Cycle limit);
  /// A line for every message on every hop, and for every answer a client took.
  [[nodiscard]] std::vector<std::string> trace() const;
  /// The requests and the responses on a hop; hops are numbered row by row from the clients down.
  struct Logs {
    const ChannelLog& down;
    const ChannelLog& up;
  };
  [[nodiscard]] Logs logs(unsigned hop) const;
  /// The part of trace() about the answers.
  [[nodiscard]] std::vector<std::string> answers() const;

 private:
  struct Hop {
    NaiveChannel down, up;
  };
  using Row = std::vector<Hop>;
  struct Client {
    std::vector<NaiveMessage> messages;
    std::vector<Cycle> earliest, sent, answered;
    std::size_t next = 0, received = 0;
    Cycle takes_from = 0;
  };
  struct Server {
    struct Held {
      NaiveMessage message;
      Cycle due = 0;
    };
    explicit Server(std::uint64_t seed) : random(seed) {}
    std::deque<Held> held;
    Random random;
    Cycle takes_from = 0;
  };
  /// One that is answered when every server has answered.
  struct Everywhere {
    std::uint64_t id = 0;
    unsigned answers = 0;
  };

  [[nodiscard]] NaiveMessage message_of(const Item& item, unsigned client, std::uint64_t number) const;
  [[nodiscard]] unsigned server_of(PhysicalAddress line) const;
  void add_half(const std::vector<MeshShape::Level>& levels, unsigned columns);
  void settle(Cycle c);
  void tick_client(Cycle c, unsigned i);
  void tick_relay(Cycle c, Hop& above, Hop& below, Cycle& takes_from);
  void tick_crossbar(Cycle c);
  void send_requests_on(Cycle c);
  void send_responses_on(Cycle c);
  [[nodiscard]] std::vector<bool> gather_answers_from_everywhere(Cycle c);
  void tick_server(Cycle c, unsigned i);
  [[nodiscard]] bool done() const;

  const MeshShape& shape_;
  std::vector<Row> rows_;                        ///< of hops, from the clients down
  std::vector<NaiveClock> clocks_;               ///< of the stages: row i lies between stages i and i + 1
  std::vector<std::vector<Cycle>> relays_from_;  ///< of each stage, where of relays: when it takes again
  std::size_t crossbar_stage_ = 0;               ///< 0: none
  std::vector<bool> edges_;                      ///< of the stages, in this cycle
  std::vector<Client> clients_;
  std::vector<Server> servers_;
  std::vector<unsigned> down_turn_, up_turn_;
  std::vector<std::vector<bool>> copied_;  ///< of each client's head: to which servers it went already
  std::vector<std::vector<Everywhere>> gathering_;  ///< of each client
  std::vector<std::deque<NaiveMessage>> finished_;  ///< of each client: answered everywhere
};

}  // namespace warpline::test
