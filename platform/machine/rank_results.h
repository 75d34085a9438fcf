#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "platform/machine/gpu_platform.h"

namespace warpline {

class CounterVisitor;
class Engine;
class Exchange;
class System;

// What each of the ranks that run a platform together knows of its own part, brought to all of them: every
// rank calls these, and gets what one process would have.

/// The counters of all blocks, each as the rank has it that runs the block.
void visit_all_ranks(Exchange& exchange, const Engine& engine, const System& system, CounterVisitor& visitor);
/// Of each number the sum over all ranks.
[[nodiscard]] std::vector<std::uint64_t> sum_of_ranks(Exchange& exchange, std::vector<std::uint64_t> here);
/// The faults of all, rank by rank.
[[nodiscard]] std::vector<FaultRecord> faults_of_ranks(Exchange& exchange, std::vector<FaultRecord> here);
/// Does `part` on every rank. Where an input is unusable on one of them, all throw that InputError.
void do_on_all_ranks(Exchange& exchange, const std::function<void()>& part);
/// System::unreconciled of the whole machine.
[[nodiscard]] std::vector<std::string> unreconciled_of_ranks(Exchange& exchange, System& system);

}  // namespace warpline
