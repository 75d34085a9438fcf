#include "platform/observe/selected_probes.h"

#include <vector>

#include "rtl_models/sim/engine.h"

namespace warpline {

void add_probes(Engine& engine, const Selection& selection, bool signals, const ToldPorts& told,
                Recorder& recorder, std::deque<Probe>& probes) {
  std::unordered_map<const Component*, std::vector<PortProbe>> of;
  for (const PortBase* p : engine.ports()) {
    if (p->channel() == nullptr) continue;
    PortProbe probe;
    probe.port = p;
    probe.signals = signals && selection.takes(*p);
    const auto at = told.find(p);
    probe.messages = at != told.end();
    probe.responses = probe.messages && at->second;
    if (probe.signals || probe.messages) of[&p->owner()].push_back(probe);
  }
  std::uint32_t order = 0;
  for (Component* c : engine.components()) {
    const bool gauges = signals && selection.takes(*c);
    if (gauges || of.count(c) != 0) probes.emplace_back(*c, gauges, of[c], recorder, order);
  }
}

}  // namespace warpline
