#pragma once

#include <string>
#include <systemc>

namespace warpline {

/// Reports a mistake of the other side of `socket`: a SystemC error that names the socket.
inline void protest(const sc_core::sc_object& socket, const std::string& what) {
  SC_REPORT_ERROR("/warpline/socket", (std::string(socket.name()) + ": " + what).c_str());
}

/// Reports what the other side of `socket` may do, but hardly wants to: a SystemC warning that names the
/// socket.
inline void warn(const sc_core::sc_object& socket, const std::string& what) {
  SC_REPORT_WARNING("/warpline/socket", (std::string(socket.name()) + ": " + what).c_str());
}

/// The name of what is bound to `socket` by way of `bound`, an interface of it.
template <class Interface>
std::string name_of_bound(const Interface* bound, const sc_core::sc_object& socket) {
  const auto* object = dynamic_cast<const sc_core::sc_object*>(bound);
  return object != nullptr ? object->name() : "whatever is bound to " + std::string(socket.name());
}

}  // namespace warpline
