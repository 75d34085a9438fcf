#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/systemc/hop_hardware_module.h"
#include "rtl_models/tlm/pins/pins.h"
#include "rtl_models/tlm/sockets.h"

namespace warpline {

/// Opens hops between modules of ours as wires, through or for hardware of somebody else's, and keeps them.
class HopOpener {
 public:
  HopOpener(EngineProcess& engine, std::vector<HopOpening> openings)
      : engine_(engine), openings_(std::move(openings)), used_(openings_.size(), false) {}

  /// The opening that fits a hop, or null. Throws std::invalid_argument where two do, or where the one that
  /// does makes nothing.
  [[nodiscard]] const HopOpening* find(const HopSite& site);
  /// Opens the hop between two sockets that are bound to each other, and has hardware made for it unless
  /// `opening` is null.
  void open(const HopSite& site, InitiatorSocket& initiator, TargetSocket& target,
            const HopParameters& parameters, const HopOpening* opening);
  /// Patterns that have fitted none of the hops that find() was asked for.
  [[nodiscard]] std::vector<std::string> unused() const;

 private:
  EngineProcess& engine_;
  std::vector<HopOpening> openings_;
  std::vector<bool> used_;
  std::vector<std::unique_ptr<PinHop>> hops_;
};

}  // namespace warpline
