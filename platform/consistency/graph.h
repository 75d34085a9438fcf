#pragma once

#include <optional>
#include <string>
#include <vector>

#include "platform/consistency/model.h"
#include "platform/consistency/recorded_sharing.h"

namespace warpline::litmus {

/// Graphviz of an execution: threads side by side, program order downward, and what reads from what;
/// `violated` names the axiom that forbids it.
[[nodiscard]] std::string draw(const Candidate& c, const std::vector<ReadsFrom>& reads_from,
                               const Relation& coherence, const Causality& causality,
                               std::optional<Axiom> violated);

/// Graphviz: what was done to the memory in which a record contradicts itself, in order, and what contradicts
/// it.
[[nodiscard]] std::string draw(const ExecutionRecord& record, const RecordedSharing::Contradiction& of);

}  // namespace warpline::litmus
