#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "platform/serve/control_messages.h"
#include "rtl_models/registers/register_map.h"

namespace warpline {

class AccessWatches;
class CounterVisitor;
class ServedFunction;
class ServedMachine;
class Serving;

/// Does what is asked for at the control socket of a served machine.
///
/// Functions are called as the machine has them, `peer[0]`; registers FUNCTION.REGISTER, as in
/// `peer[0].SQ_BASE[3]`, and the function may be left out where only one has such a register. Patterns have
/// `*` for any characters and `?` for one.
class Control {
 public:
  /// All outlive it.
  Control(ServedMachine& machine, Serving& serving, const AccessWatches& watches)
      : machine_(machine), serving_(serving), watches_(watches) {}

  /// `done` is called once, within the call or later, when it has been done; never, when the machine ends
  /// before. Called by the thread that serves.
  using Done = std::function<void(ControlReply)>;
  void perform(const ControlRequest& request, Done done);

 private:
  /// A register of a function.
  struct Found {
    unsigned function = 0;
    RegisterAt at;
  };
  void perform_access(const ControlRequest& request, ControlReply reply, Done done);
  void perform_injection(const ControlRequest& request, ControlReply reply, Done done);
  [[nodiscard]] ServedFunction* find_function(const std::string& name, ControlReply& reply) const;
  void perform_plug(const ControlRequest& request, ControlReply reply, Done done);
  void look_at_registers(const std::vector<std::string>& names, ControlReply& reply) const;
  void list_functions(ControlReply& reply) const;
  [[nodiscard]] std::string name_of_function(unsigned function) const;
  [[nodiscard]] const RegisterMap& map_of(unsigned function) const;
  [[nodiscard]] ControlRegister shown(const Found& where, std::uint64_t value) const;
  [[nodiscard]] std::vector<std::pair<std::string, Found>> registers() const;

  ServedMachine& machine_;
  Serving& serving_;
  const AccessWatches& watches_;
};

/// The counters that `visit` shows, without what is 0, as the reply that has them.
[[nodiscard]] ControlReply counters_of(const std::function<void(CounterVisitor&)>& visit);

}  // namespace warpline
