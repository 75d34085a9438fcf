#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "rtl_models/base/latency_histogram.h"
#include "rtl_models/document/output_file.h"
#include "rtl_models/sim/recorder.h"

namespace warpline {

/// Finds out where the requests of SMs spent their time: every cycle from the one in which a request begins
/// to leave its SM until the SM has taken the answer is charged to the block or the channel that it, or what
/// was sent on its behalf, was in. The sum is the latency.
///
/// Where a block sends several requests on behalf of one, the first that it sends is followed; what passes
/// after that is answered, until the block answers itself, is the block's. So it is where a block waits for
/// what it has asked for already on behalf of another.
class LatencyWriter final : public Observer {
 public:
  /// The file is open, and outlives it. `json`: it is JSON, not a table. `mhz`: of the clock that counts
  /// cycles.
  LatencyWriter(OutputFile& file, bool json, unsigned mhz) : file_(file), json_(json), mhz_(mhz) {}

  /// Requests that arrive by port `request`, and their answers by port `response`. Pre: before start().
  void add_hop(const PortBase& request, const PortBase& response);

  void start(Cycle /*first*/, const std::vector<Signal>& /*signals*/,
             const std::vector<std::uint64_t>& /*values*/) override {}
  void change(Cycle /*cycle*/, std::uint32_t /*signal*/, std::uint64_t /*value*/) override {}
  void message(const MessageEvent& event) override;
  void finish(Cycle last) override;

 private:
  using Place = std::uint32_t;  ///< an index of `places_`
  struct Hop {
    const Component* sender = nullptr;
    const Component* receiver = nullptr;
    Place there = 0, arrived = 0, back = 0, returned = 0;
  };
  /// A request that is under way on behalf of the one that is followed.
  struct Step {
    const Hop* hop = nullptr;
    const Request* request = nullptr;
    bool arrived = false;
  };
  struct Journey {
    Cycle begin = 0, since = 0;
    Place at = 0;
    Command command = Command::read;
    std::vector<Step> steps;                             ///< the request itself, then what was sent for it
    std::vector<std::pair<Place, std::uint64_t>> spent;  ///< in the order in which it came there
  };
  struct Spent {
    std::uint64_t cycles = 0;
  };
  struct Group {
    LatencyHistogram latency;
    std::map<Place, Spent> spent;
  };
  /// What was asked, the command, and how far down the answer came from.
  using Key = std::tuple<std::string, Command, AnsweredBy>;
  /// A group's places in the order in which requests come there.
  using Places = std::vector<std::pair<Place, const Spent*>>;

  Place place(const std::string& name);
  void move(Journey& journey, Cycle now, Place to);
  void begun(const Hop& hop, const MessageEvent& e);
  void answered(const Hop& hop, const MessageEvent& e);
  void done(const Hop& hop, const MessageEvent& e);
  void order_places();
  [[nodiscard]] Places in_order(const Group& group) const;
  [[nodiscard]] std::string as_table() const;
  [[nodiscard]] std::string as_json() const;

  OutputFile& file_;
  bool json_;
  unsigned mhz_;
  std::vector<std::string> places_;
  std::vector<int> turn_;  ///< of each place on the way of a request down, and of its answer up
  std::unordered_map<const PortBase*, Hop> hops_;
  std::unordered_map<std::uint64_t, Journey> journeys_;  ///< by the request's identifier
  std::map<Key, Group> groups_;
  std::uint64_t unfinished_ = 0;
};

}  // namespace warpline
