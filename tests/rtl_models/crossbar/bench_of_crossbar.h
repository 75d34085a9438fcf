#pragma once

#include "rtl_models/crossbar/crossbar.h"
#include "tests/support/mock_components.h"

namespace warpline::test {

/// Requesters and targets around a crossbar.
struct CrossbarBench {
  struct Shape {
    CrossbarParameters parameters;
    std::vector<std::vector<Item>> items;  ///< of each client
    unsigned slices = 1;
    ChannelParameters channel{32, 1, 4, 1};
    Cycle delay = 1;       ///< of a slice's answer
    Cycle slice_gap = 1;   ///< between requests that a slice takes
    Cycle client_gap = 1;  ///< between answers that a client takes
    TickMode mode = TickMode::lazy;
    std::uint64_t seed = 1;
    std::vector<NetworkPlace> places{};  ///< of the clients in the network; none: outside
    std::uint64_t turns = 0;             ///< that draws turns and residence; 0: nothing is drawn
  };
  explicit CrossbarBench(const Shape& shape)
      : engine(shape.mode, shape.seed),
        crossbar(engine, "crossbar", {}, shape.parameters, static_cast<unsigned>(shape.items.size()),
                 shape.slices, {shape.channel.width, shape.channel.width}, 0, shape.places) {
    for (unsigned i = 0; i < shape.items.size(); ++i) {
      clients.push_back(std::make_unique<Requester>(engine, "client", ClockDomain{}, shape.items[i],
                                                    shape.client_gap, std::uint64_t{i} << 32U));
      connect(clients[i]->out, crossbar.from_client(i), shape.channel);
      connect(crossbar.to_client(i), clients[i]->in, shape.channel);
    }
    for (unsigned i = 0; i < shape.slices; ++i) {
      slices.push_back(
          std::make_unique<Target>(engine, "slice", ClockDomain{}, shape.delay, shape.slice_gap));
      connect(crossbar.to_l2(i), slices[i]->in, shape.channel);
      connect(slices[i]->out, crossbar.from_l2(i), shape.channel);
    }
    Random turns(shape.turns);
    if (shape.turns != 0) crossbar.draw_turns(turns);
  }
  Engine engine;
  Crossbar crossbar;
  std::vector<std::unique_ptr<Requester>> clients;
  std::vector<std::unique_ptr<Target>> slices;
};

inline PhysicalAddress line_at(std::uint64_t number) {
  return physical(Aperture::vidmem, number * kLineBytes);
}

}  // namespace warpline::test
