#pragma once

#include <string>

#include "rtl_models/base/glob.h"
#include "rtl_models/pcie/packets/tlp_port.h"

namespace warpline {

/// A hop of a PCI Express link: the channel of one class of packets in one direction.
struct LinkHop {
  Out<TlpMessage>& out;
  In<TlpMessage>& in;
  const ChannelParameters& parameters;

  /// The path of the port that receives, such as "root.from_device[0].posted".
  [[nodiscard]] std::string name() const { return in.path(); }
  /// That of the direction, of all classes: "root.from_device[0]".
  [[nodiscard]] std::string direction() const { return without_class(in.path()); }
  /// Whether a pattern fits its name or its direction's, or those at the end that sends.
  [[nodiscard]] bool matches(const std::string& pattern) const {
    return glob_matches(pattern, in.path()) || glob_matches(pattern, direction()) ||
           glob_matches(pattern, out.path()) || glob_matches(pattern, without_class(out.path()));
  }

 private:
  [[nodiscard]] static std::string without_class(const std::string& path) {
    return path.substr(0, path.rfind('.'));
  }
};

}  // namespace warpline
