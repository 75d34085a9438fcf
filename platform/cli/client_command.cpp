#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/cli/shared_options.h"
#include "platform/vfio_user/client_machine.h"
#include "rtl_models/base/size_text.h"
#include "rtl_models/base/text.h"
#include "sw/driver/wl_peer.h"

namespace warpline {
namespace {

using vfio_user::ClientMachine;
using Clock = std::chrono::steady_clock;

struct ClientRequest {
  std::string socket;
  std::vector<std::string> accesses;
  bool measure = false;
};

/// An access to a function: "bar0:0x10" or "config:4:2" reads, "bar0:0x10=1" writes.
struct ClientAccess {
  unsigned space = 0;
  std::uint64_t offset = 0;
  unsigned bytes = 4;
  std::optional<std::uint64_t> value;
};

Result<ClientAccess> access_of(const std::string& word) {
  const auto refuse = [&](const std::string& why) {
    return Diagnostic::about(word, why, "such as bar0:0x10, config:4:2, or bar0:0x10=1 to write");
  };
  ClientAccess access;
  const std::size_t equals = word.find('=');
  if (equals != std::string::npos) {
    access.value = number_with_prefix<std::uint64_t>(word.substr(equals + 1));
    if (!access.value) return refuse("what is to be written is no number of 64 bits");
  }
  const std::string place = word.substr(0, equals);
  const std::vector<std::string_view> parts = split(place, ':');
  if (parts.size() < 2 || parts.size() > 3) return refuse("this names no place");
  const std::string where(parts[0]);
  if (where == "config") {
    access.space = WL_SPACE_CONFIG;
  } else if (where.size() == 4 && where.rfind("bar", 0) == 0 && where[3] >= '0' && where[3] <= '5') {
    access.space = static_cast<unsigned>(where[3] - '0');
  } else {
    return refuse("a function has bar0 to bar5, and config");
  }
  const auto offset = number_with_prefix<std::uint64_t>(parts[1]);
  if (!offset) return refuse("the offset is no number of 64 bits");
  access.offset = *offset;
  const auto bytes = parts.size() == 3 ? number_with_prefix<std::uint64_t>(parts[2]) : std::uint64_t{4};
  if (!bytes || (*bytes != 1 && *bytes != 2 && *bytes != 4 && *bytes != 8))
    return refuse("an access has 1, 2, 4 or 8 bytes");
  access.bytes = static_cast<unsigned>(*bytes);
  if (access.value && access.bytes < 8 && *access.value >> 8U * access.bytes != 0)
    return refuse(
        fmt::format("{} does not fit into {}", hexadecimal(*access.value), counted(access.bytes, "byte")));
  return access;
}

std::string description(const ClientMachine& machine) {
  std::string out = fmt::format("function  {:04x}:{:04x}, class {:06x}\n", machine.vendor(), machine.device(),
                                machine.class_code());
  for (unsigned b = 0; b < ClientMachine::kBars; ++b) {
    const ClientMachine::Bar& bar = machine.bars()[b];
    if (bar.bytes == 0) continue;
    out += fmt::format("BAR {}     {}, {}-bit{}{}\n", b, size_text(bar.bytes), bar.wide ? 64 : 32,
                       bar.prefetchable ? ", prefetchable" : "", bar.memory.file ? ", mapped" : "");
  }
  out +=
      fmt::format("MSI-X     {}\n", machine.vectors() == 0 ? "none" : counted(machine.vectors(), "vector"));
  return out;
}

/// Calls it again and again for about half a second. Microseconds of each call.
template <class F>
std::vector<double> timed(F&& f) {
  std::vector<double> us;
  const auto end = Clock::now() + std::chrono::milliseconds(500);
  for (auto before = Clock::now(); before < end;) {
    f();
    const auto after = Clock::now();
    us.push_back(std::chrono::duration<double, std::micro>(after - before).count());
    before = after;
  }
  std::sort(us.begin(), us.end());
  return us;
}

std::string row(const std::string& what, const std::vector<double>& us) {
  double total = 0;
  for (const double t : us) total += t;
  const auto at = [&](double share) {
    return us[static_cast<std::size_t>(share * static_cast<double>(us.size() - 1))];
  };
  // Of memory that is mapped it is no tenth of one.
  const int digits = at(0.5) < 0.1 ? 4 : 1;
  return fmt::format("{:<32}{:>12.{}f}{:>12.{}f}{:>14}\n", what, at(0.5), digits, at(0.99), digits,
                     grouped(static_cast<std::uint64_t>(static_cast<double>(us.size()) / total * 1e6)));
}

/// What a queue device of ours does, by its driver.
class MeasuredPeer {
 public:
  explicit MeasuredPeer(ClientMachine& machine) : machine_(machine), slots_(std::size_t{1} << kOrder) {}

  /// Nothing, or what went wrong.
  [[nodiscard]] wl_result start() {
    if (const wl_result probed = wl_peer_probe(&peer_, &machine_.port()); probed != WL_OK) return probed;
    if (const wl_result started = wl_peer_start(&peer_); started != WL_OK) return started;
    wl_peer_queue_options options{};
    options.order = kOrder;
    options.submissions = machine_.allocate(std::size_t{64} << kOrder);
    options.completions = machine_.allocate(std::size_t{16} << kOrder);
    options.slots = slots_.data();
    options.interrupt = 1;
    return wl_peer_queue_create(&peer_, 0, &options);
  }
  /// A command, its doorbell, its interrupt and its completion.
  void once() { note(submit(1)), take(1); }
  /// A thousand commands at once. Each has a doorbell for itself and the others.
  void thousand() {
    note(submit(kMany));
    take(kMany);
  }
  static constexpr unsigned kMany = 1000;
  [[nodiscard]] wl_result result() const { return result_; }

 private:
  static constexpr unsigned kOrder = 10;
  void note(wl_result result) {
    if (result_ == WL_OK) result_ = result;
  }
  wl_result submit(unsigned commands) {
    wl_peer_command command{};
    command.opcode = WL_PEER_OPCODE_NOP;
    for (unsigned i = 0; i < commands; ++i) note(wl_peer_submit(&peer_, 0, &command));
    return wl_peer_ring(&peer_, 0);
  }
  void take(unsigned commands) {
    wl_peer_completion completion{};
    for (unsigned i = 0; i < commands && result_ == WL_OK; ++i)
      note(wl_peer_wait(&peer_, 0, 10'000'000, &completion));
  }

  ClientMachine& machine_;
  wl_peer peer_{};
  std::vector<wl_peer_slot> slots_;
  wl_result result_ = WL_OK;
};

int measure(ClientMachine& machine) {
  const wl_port& port = machine.port();
  unsigned space = WL_SPACE_CONFIG;
  for (unsigned b = ClientMachine::kBars; b-- != 0;)
    if (machine.bars()[b].bytes != 0) space = b;
  std::string out = fmt::format("\n{:<32}{:>12}{:>12}{:>14}\n", "what", "median, us", "99%, us", "a second");
  out += row("4-byte read", timed([&] { static_cast<void>(port.read(port.context, space, 0, 4)); }));
  // A read at the end waits for all of them.
  constexpr unsigned kWrites = 100;
  if (space != WL_SPACE_CONFIG) {
    std::vector<double> us = timed([&] {
      for (unsigned i = 0; i < kWrites; ++i) port.write(port.context, space, 0, 4, 0);
      static_cast<void>(port.read(port.context, space, 0, 4));
    });
    for (double& t : us) t /= kWrites;
    out += row(fmt::format("4-byte posted write, of {}", kWrites), us);
  }
  for (unsigned b = 0; b < ClientMachine::kBars; ++b) {
    if (machine.bars()[b].memory.bytes == nullptr) continue;
    const auto words = [&](auto access) {
      std::vector<double> us = timed([&] {
        for (unsigned i = 0; i < kWrites; ++i) access(std::uint64_t{4} * i);
      });
      for (double& t : us) t /= kWrites;
      return us;
    };
    out += row(fmt::format("4-byte read of BAR {}, mapped", b),
               words([&](std::uint64_t at) { static_cast<void>(port.read(port.context, b, at, 4)); }));
    out += row(fmt::format("4-byte write of BAR {}, mapped", b),
               words([&](std::uint64_t at) { port.write(port.context, b, at, 4, 0); }));
  }
  MeasuredPeer peer(machine);
  if (peer.start() == WL_OK) {
    out += row("doorbell to interrupt", timed([&] { peer.once(); }));
    std::vector<double> us = timed([&] { peer.thousand(); });
    for (double& t : us) t /= MeasuredPeer::kMany;
    out += row(fmt::format("command, of {} in flight", grouped(MeasuredPeer::kMany)), us);
    if (peer.result() != WL_OK) {
      print_error(fmt::format("the device's driver failed: {}", wl_result_text(peer.result())));
      return kCheckFailed;
    }
  }
  print_result(out);
  return kDone;
}

int client(const ClientRequest& request) {
  std::vector<ClientAccess> accesses;
  for (const std::string& word : request.accesses) {
    const auto access = access_of(word);
    if (!access.ok()) return bad_input(access.faults());
    accesses.push_back(access.value());
  }
  const auto machine = ClientMachine::connect(request.socket, {});
  if (!machine.ok()) return bad_input(machine.faults());
  ClientMachine& m = *machine.value();
  if (accesses.empty()) print_result(description(m));
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const ClientAccess& a = accesses[i];
    if (a.value) {
      m.port().write(m.port().context, a.space, a.offset, a.bytes, *a.value);
    } else {
      const std::uint64_t value = m.port().read(m.port().context, a.space, a.offset, a.bytes);
      if (m.lost() == 0)
        print_result(fmt::format("{}  {}\n", request.accesses[i], hexadecimal(value, 2 * a.bytes)));
    }
    if (m.lost() != 0)
      return bad_input(
          fmt::format("{}: {}", request.accesses[i], std::string(strerror(m.lost()))),
          m.lost() == EINVAL ? "is the place in the function, and such an access allowed there?" : "");
  }
  if (request.measure) {
    const int status = measure(m);
    if (status != kDone) return status;
    if (m.lost() != 0) return bad_input(std::string("the connection is lost: ") + strerror(m.lost()));
  }
  return end_results(kDone);
}

}  // namespace

void add_client(CLI::App& app, int& status) {
  CLI::App& command = *app.add_subcommand(
      "client", "Connects to a device that is served: what it is, accesses, and how fast it answers");
  ClientRequest& r = options_of(command, status, client);
  command.add_option("SOCKET", r.socket, "where it is served")->required();
  command.add_option(
      "ACCESS", r.accesses,
      "a read, such as bar0:0x10 or config:4:2, of 4 bytes if no number is said; or a write, such as "
      "bar0:0x10=1");
  command.add_flag("--measure", r.measure,
                   "how long reads and posted writes take, and commands where the device is a peer of ours");
  command.footer("Example: warpline client /tmp/peer bar0:0");
}

}  // namespace warpline
