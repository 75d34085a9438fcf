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

}  // namespace warpline
