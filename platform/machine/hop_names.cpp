#include "platform/machine/hop_names.h"

#include <algorithm>
#include <set>

#include "platform/machine/link_hop.h"
#include "platform/machine/pcie_system.h"
#include "platform/machine/system.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"
#include "rtl_models/sim/memory_image.h"

namespace warpline {
namespace {

/// "l2[*].from_crossbar" of "l2[3].from_crossbar": a pattern of all alike.
std::string without_numbers(const std::string& name) {
  std::string pattern;
  bool inside = false;
  for (const char c : name) {
    if (c == ']') inside = false;
    if (!inside) pattern += c;
    if (c == '[') {
      inside = true;
      pattern += '*';
    }
  }
  return pattern;
}

}  // namespace

Diagnostics unmatched_hops(const std::string& option, const std::vector<std::string>& patterns,
                           const GpuConfig& config) {
  Engine engine;
  MemoryImage sysmem(kBusPage);
  System system(config, engine, {}, &sysmem);
  std::vector<bool> matched(patterns.size(), false);
  std::vector<std::string> names, kinds;
  const auto note = [&](const std::string& name, const auto& hop) {
    names.push_back(name);
    if (const std::string kind = without_numbers(name);
        std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
      kinds.push_back(kind);
    for (std::size_t i = 0; i < patterns.size(); ++i)
      if (hop.matches(patterns[i])) matched[i] = true;
  };
  system.for_each_hop([&](const Hop& h) { note(h.name(), h); });
  if (config.has_root_complex()) {
    std::vector<PcieLink*> links;
    for (unsigned i = 0; i < config.gpus; ++i) links.push_back(&system.gpu(i).link());
    PcieSystemParameters parameters = config.pcie_system;
    parameters.nvme.files.clear();  // which another machine may have open
    const PcieSystem pcie(
        links, config.clocks.fastest(), parameters, sysmem, [&](TlpPort& root, TlpPort& other) {
          connect(root, other,
                  [&](Out<TlpMessage>& out, In<TlpMessage>& in, const ChannelParameters& channel) {
                    const LinkHop hop{out, in, channel};
                    note(hop.direction(), hop);
                  });
        });
  }
  Diagnostics faults;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (matched[i]) continue;
    const std::string near = did_you_mean(patterns[i], names);
    faults.push_back(Diagnostic::about(option, "\"" + patterns[i] + "\" matches no hop of " + config.name,
                                       near.empty() ? "hops are " + joined(kinds) : near));
  }
  return faults;
}

Diagnostics unopenable_hops(const std::string& option, const std::vector<std::string>& patterns,
                            Netlist& netlist) {
  Diagnostics faults = unmatched_hops(option, patterns, netlist.config());
  if (!netlist.lacks_slices() && !netlist.lacks_channels()) return faults;
  std::set<std::string> ours;
  netlist.for_each_hop([&](const Hop& h) { ours.insert(h.name()); });
  std::vector<bool> refused(patterns.size(), false);
  Engine engine;
  GpuPlace place;
  place.inbound = netlist.place().inbound;
  Netlist whole(netlist.config(), engine, nullptr, nullptr, Slices::ours, place);
  whole.for_each_hop([&](const Hop& h) {
    if (ours.count(h.name()) != 0) return;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (refused[i] || !h.matches(patterns[i])) continue;
      refused[i] = true;
      faults.push_back(Diagnostic::about(option,
                                         "\"" + patterns[i] + "\" matches " + h.name() + ", where " +
                                             (netlist.lacks_slices() ? "a slice" : "the DRAM") +
                                             " is not ours",
                                         "only a hop between two blocks of ours can be opened as pins"));
    }
  });
  return faults;
}

}  // namespace warpline
