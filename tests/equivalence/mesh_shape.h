#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/crossbar/crossbar_parameters.h"
#include "tests/support/mock_components.h"

namespace warpline::test {

/// A clock: edge k falls on cycle ceil(k * numerator / denominator).
struct Ratio {
  unsigned numerator = 1;
  unsigned denominator = 1;
};

/// Clients, chains of relays, a crossbar (or none), chains again, servers: what a random one is built of and
/// what its clients ask for. Plain data, from which the netlist and the naive model are built alike; the same
/// seed gives the same.
///
/// Column i of the upper half belongs to client i, column i of the lower half to server i. Without a crossbar
/// there is only the upper half, and client i talks to server i.
struct MeshShape {
  enum class Form : std::uint8_t {
    one_hop,        ///< each client bound to its server
    chains,         ///< with one to three relays in between
    crossbar,       ///< chains of up to two relays above and below a crossbar
    wide_crossbar,  ///< a crossbar between more clients than a machine word has bits and few servers
  };
  enum class Requests : std::uint8_t { all, no_maintenance };
  MeshShape(std::uint64_t seed, Form form, Requests requests = Requests::all);

  /// One row of hops, all alike, from the stage above it to the one below.
  struct Level {
    ChannelParameters request, response;
  };
  bool crossbar = false;
  unsigned clients = 1;
  unsigned servers = 1;
  std::vector<Ratio> upper_relays, lower_relays;  ///< a row of relays for each, from the clients down
  std::vector<Level> upper, lower;  ///< one more than rows of relays; lower: none without crossbar
  Ratio client_clock, crossbar_clock, server_clock;
  CrossbarParameters hash;
  Cycle client_gap = 1;     ///< between two answers that a client takes
  Cycle relay_gap = 1;      ///< between two requests that a relay takes
  Cycle server_gap = 1;     ///< between two requests that a server takes
  unsigned capacity = 1;    ///< requests that a server holds
  Cycle longest_delay = 1;  ///< cycles for which a server holds a request: 1 to this, drawn per message
  std::uint64_t server_seed = 1;
  std::vector<std::vector<Item>> items;  ///< of each client

  [[nodiscard]] std::size_t transactions() const;
};

}  // namespace warpline::test
