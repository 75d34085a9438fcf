#pragma once

#include <deque>
#include <unordered_map>

#include "platform/machine/selection.h"
#include "rtl_models/sim/probe.h"
#include "rtl_models/sim/recorder.h"

namespace warpline {

/// Ports whose messages are told of, and whether these are responses.
using ToldPorts = std::unordered_map<const PortBase*, bool>;

/// Observes the components and ports of an engine that are selected, where `signals` are wanted, and the
/// messages of `told` ports. All outlive the probes.
void add_probes(Engine& engine, const Selection& selection, bool signals, const ToldPorts& told,
                Recorder& recorder, std::deque<Probe>& probes);

}  // namespace warpline
