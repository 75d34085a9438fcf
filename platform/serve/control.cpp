#include "platform/serve/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "platform/machine/device_log.h"
#include "platform/machine/pcie_system.h"
#include "platform/serve/access_watches.h"
#include "platform/serve/served_function.h"
#include "platform/serve/served_machine.h"
#include "platform/serve/serving.h"
#include "rtl_models/base/counter.h"
#include "rtl_models/base/glob.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"
#include "rtl_models/nvme/nvme_faults.h"
#include "rtl_models/pcie/endpoint/endpoint_device.h"

namespace warpline {
namespace {

using Kind = ControlRequest::Kind;

/// Accesses of the log that are written at a time, while clients wait.
constexpr std::size_t kLogPiece = 100;

void refuse(ControlReply& reply, std::string error, std::string hint = {}) {
  reply.error = std::move(error);
  reply.hint = std::move(hint);
}

/// Whether a name or pattern means the register of this whole name, "peer[0].STATUS". One without a function
/// means those of all.
bool means(const std::string& pattern, const std::string& name) {
  if (glob_matches(pattern, name)) return true;
  return pattern.find('.') == std::string::npos && glob_matches(pattern, name.substr(name.find('.') + 1));
}

}  // namespace

std::string Control::name_of_function(unsigned function) const {
  return machine_.system().at_port(function).name;
}

const RegisterMap& Control::map_of(unsigned function) const {
  return machine_.system().at_port(function).function.registers().map();
}

/// By their whole names, in the order of functions and offsets.
std::vector<std::pair<std::string, Control::Found>> Control::registers() const {
  std::vector<std::pair<std::string, Found>> out;
  for (unsigned f = 0; f < machine_.functions(); ++f) {
    const RegisterMap& map = map_of(f);
    const std::size_t first = out.size();
    for (unsigned i = 0; i < map.register_count; ++i)
      for (unsigned e = 0; e < map.registers[i].count; ++e)
        out.emplace_back(name_of_function(f) + "." + name_of(map, {i, e}), Found{f, {i, e}});
    const auto offset = [&map](const auto& one) {
      const RegisterDescription& r = map.registers[one.second.at.index];
      return r.offset + std::uint64_t{one.second.at.element} * r.stride;
    };
    std::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                     [&](const auto& a, const auto& b) { return offset(a) < offset(b); });
  }
  return out;
}

ControlRegister Control::shown(const Found& where, std::uint64_t value) const {
  const RegisterMap& map = map_of(where.function);
  const RegisterDescription& r = map.registers[where.at.index];
  ControlRegister out;
  out.function = name_of_function(where.function);
  out.name = name_of(map, where.at);
  out.bar = machine_.system().at_port(where.function).function.register_bar();
  out.offset = r.offset + std::uint64_t{where.at.element} * r.stride;
  out.bytes = r.bytes;
  out.value = value;
  out.meaning = r.meaning;
  for (unsigned i = 0; i < r.field_count; ++i) {
    const FieldDescription& f = r.fields[i];
    out.fields.push_back({f.name, f.at.low, f.at.low + f.at.bits - 1U, f.at.in(value), f.meaning});
  }
  return out;
}

void Control::look_at_registers(const std::vector<std::string>& names, ControlReply& reply) const {
  const auto all = registers();
  std::vector<bool> shows(all.size(), names.empty());
  for (const std::string& name : names) {
    bool found = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!means(name, all[i].first)) continue;
      shows[i] = found = true;
    }
    if (found) continue;
    std::vector<std::string> known;
    const bool whole = name.find('.') != std::string::npos;
    for (const auto& [one, where] : all) known.push_back(whole ? one : one.substr(one.find('.') + 1));
    return refuse(reply, "there is no register \"" + name + "\"", did_you_mean(name, known));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!shows[i]) continue;
    const Found& where = all[i].second;
    const RegisterFile& file = machine_.system().at_port(where.function).function.registers();
    reply.registers.push_back(shown(where, file.look(where.at.index, where.at.element)));
  }
}

/// By the host bridge, after what clients have asked for.
void Control::perform_access(const ControlRequest& request, ControlReply reply, Done done) {
  std::vector<Found> meant;
  std::vector<std::string> names, known;
  const bool whole = request.name.find('.') != std::string::npos;
  for (const auto& [one, where] : registers()) {
    const std::string shortly = one.substr(one.find('.') + 1);
    known.push_back(whole ? one : shortly);
    if (request.name != known.back()) continue;
    meant.push_back(where);
    names.push_back(one);
  }
  if (meant.empty()) {
    refuse(reply, "there is no register \"" + request.name + "\"", did_you_mean(request.name, known));
    return done(std::move(reply));
  }
  if (meant.size() > 1) {
    refuse(reply, "several functions have a register \"" + request.name + "\"", joined(names, ", ", " or "));
    return done(std::move(reply));
  }
  const Found where = meant.front();
  const ControlRegister found = shown(where, request.value);
  const std::uint64_t most = ~std::uint64_t{0} >> (64U - 8U * found.bytes);
  if (request.value > most) {
    refuse(reply, names.front() + " has " + counted(found.bytes, "byte") + ", and " +
                      hexadecimal(request.value) + " has more");
    return done(std::move(reply));
  }
  ServedFunction& function = machine_.function(where.function);
  if (!function.present() || !function.decodes_memory()) {
    refuse(reply, found.function + (function.present() ? " decodes no memory: its software has not enabled it"
                                                       : " is unplugged"));
    return done(std::move(reply));
  }
  if (request.kind == Kind::read) {
    function.read(found.bar, found.offset, found.bytes,
                  [control = *this, where, bytes = found.bytes, reply = std::move(reply),
                   done = std::move(done)](const std::uint8_t* data) mutable {
                    std::uint64_t value = 0;
                    for (unsigned i = bytes; i-- > 0;) value = value << 8U | data[i];
                    reply.registers.push_back(control.shown(where, value));
                    reply.cycle = control.machine_.now();
                    done(std::move(reply));
                  });
    return;
  }
  std::array<std::uint8_t, 8> data{};
  for (unsigned i = 0; i < found.bytes; ++i) data[i] = static_cast<std::uint8_t>(request.value >> 8U * i);
  reply.registers.push_back(found);
  function.write(found.bar, found.offset, data.data(), found.bytes, false,
                 [&machine = machine_, reply = std::move(reply), done = std::move(done)]() mutable {
                   reply.cycle = machine.now();
                   done(std::move(reply));
                 });
}

/// Null: the reply says that there is none.
ServedFunction* Control::find_function(const std::string& name, ControlReply& reply) const {
  std::vector<std::string> known;
  for (unsigned f = 0; f < machine_.functions(); ++f) known.push_back(name_of_function(f));
  const auto at = std::find(known.begin(), known.end(), name);
  if (at != known.end()) return &machine_.function(static_cast<unsigned>(at - known.begin()));
  refuse(reply, "there is no function \"" + name + "\"", did_you_mean(name, known));
  return nullptr;
}

void Control::perform_plug(const ControlRequest& request, ControlReply reply, Done done) {
  ServedFunction* const function = find_function(request.name, reply);
  if (function == nullptr) return done(std::move(reply));
  function->plug(request.kind == Kind::plug,
                 [&machine = machine_, reply = std::move(reply), done = std::move(done)]() mutable {
                   reply.cycle = machine.now();
                   done(std::move(reply));
                 });
}

void Control::perform_injection(const ControlRequest& request, ControlReply reply, Done done) {
  ServedFunction* const function = find_function(request.name, reply);
  if (function != nullptr && !function->takes_rules())
    refuse(reply, "commands of NVMe controllers fail on demand, and " + request.name + " is none");
  if (function != nullptr && reply.error.empty() && request.kind == Kind::inject &&
      !function->takes_more_rules())
    refuse(
        reply,
        request.name + " has " + std::to_string(NvmeFaults::kMost) + " rules that are not spent, and no more",
        "`forget " + request.name + "` takes all back");
  if (!reply.error.empty()) return done(std::move(reply));
  function->inject(request.kind == Kind::inject ? &request.rule : nullptr,
                   [&machine = machine_, reply = std::move(reply), done = std::move(done)]() mutable {
                     reply.cycle = machine.now();
                     done(std::move(reply));
                   });
}

void Control::list_functions(ControlReply& reply) const {
  for (unsigned f = 0; f < machine_.functions(); ++f) {
    ServedFunction& function = machine_.function(f);
    const vfio_user::Client* const client = function.client();
    reply.functions.push_back({name_of_function(f), function.present(), client != nullptr,
                               client == nullptr ? 0 : client->process()});
  }
}

ControlReply counters_of(const std::function<void(CounterVisitor&)>& visit) {
  ControlReply reply;
  reply.to = ControlRequest::Kind::counters;
  EachCounter counters([&reply](std::string_view block, std::string_view name, std::uint64_t value,
                                std::string_view unit, std::string_view meaning) {
    if (value == 0) return;
    reply.counters.push_back(
        {std::string(block).append(".").append(name), value, std::string(unit), std::string(meaning)});
  });
  visit(counters);
  return reply;
}

void Control::perform(const ControlRequest& request, Done done) {
  ControlReply reply;
  reply.to = request.kind;
  reply.cycle = machine_.now();
  switch (request.kind) {
    case Kind::functions: list_functions(reply); break;
    case Kind::counters:
      reply.counters = counters_of([this](CounterVisitor& visitor) { serving_.visit(visitor); }).counters;
      break;
    case Kind::registers: look_at_registers(request.names, reply); break;
    case Kind::read:
    case Kind::write: return perform_access(request, std::move(reply), std::move(done));
    case Kind::unplug:
    case Kind::plug: return perform_plug(request, std::move(reply), std::move(done));
    case Kind::inject:
    case Kind::forget: return perform_injection(request, std::move(reply), std::move(done));
    case Kind::timing:
      if (request.loose && *request.loose != machine_.is_loose() && machine_.runs_kernel()) {
        refuse(reply, "a kernel is under way on a GPU, in the middle of which timing does not change",
               "when it has ended, by itself or by CONTROL.ABORT");
        break;
      }
      if (request.loose)
        return machine_.set_loose(*request.loose, [&machine = machine_, reply = std::move(reply),
                                                   done = std::move(done)](bool gave_up) mutable {
          if (gave_up)
            refuse(
                reply,
                fmt::format("timing is as it was: something was still under way after {} s",
                            ServedMachine::kLongestSwitch.count()),
                "when devices have no commands, none has another go on, and clients answer for their memory");
          reply.loose = machine.is_loose();
          reply.cycle = machine.now();
          done(std::move(reply));
        });
      reply.loose = machine_.is_loose();
      break;
    case Kind::pace:
      if (request.pace) serving_.set_pace(*request.pace);
      reply.pace = serving_.pace();
      break;
    case Kind::findings: reply.findings = watches_.findings(); break;
    case Kind::log:
      reply.log_is_json = request.as_json;
      reply.more_log = [log = DeviceLog(machine_.system(), {}, request.as_json)](std::string& out) mutable {
        return log.next(out, kLogPiece);
      };
      break;
  }
  done(std::move(reply));
}

}  // namespace warpline
