#pragma once

#include <deque>
#include <string>
#include <vector>

#include "platform/systemc/interposer_module.h"
#include "rtl_models/pcie/hops/tlp_hop_module.h"
#include "rtl_models/pcie/hops/tlp_pin_module.h"
#include "rtl_models/pcie/packets/tlp_port.h"

namespace warpline {

/// The hops of links of PCI Express that are not port to port: over sockets, with foreign modules in them, or
/// as pins.
class LinkHops {
 public:
  struct Wishes {
    HopTransport transport = HopTransport::direct;  ///< of hops that nothing else is said of
    std::vector<std::string> pins;                  ///< patterns of hops to open (LinkHop::matches)
    Interposer interpose;                           ///< is asked for each
  };
  explicit LinkHops(EngineProcess& engine) : engine_(engine) {}

  /// Joins the two ends of a link. Throws std::invalid_argument where a hop is opened as pins and has a
  /// module put into it besides, or is given one socket only.
  void join(TlpPort& root, TlpPort& other, const Wishes& wishes);
  /// Wires of those that are opened as pins.
  [[nodiscard]] const std::deque<TlpPinHopModule>& pins() const { return pins_; }
  /// Names of all directions joined so far: "root.from_device[0]".
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Patterns among the wishes that fitted a hop.
  [[nodiscard]] bool matched(const std::string& pattern) const;

 private:
  EngineProcess& engine_;
  std::deque<TlpHopModule> sockets_;
  std::deque<TlpPinHopModule> pins_;
  std::vector<std::string> names_, matched_;
};

}  // namespace warpline
