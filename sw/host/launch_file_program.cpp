// What the host of a launch file does while grids run.
#include <algorithm>

#include "warpline/config/element.h"
#include "warpline/host/launch_file_host.h"

namespace warpline {
namespace {

/// Looks over the bus at a machine at rest, all alike, after which another would be like them: more than a
/// queue behind a register holds.
constexpr unsigned kVainLooks = 64;
/// Time that passes before the host hears that it is to stop.
constexpr Cycle kMostAtOnce = 1000;

bool holds(const HostStep& step, std::uint64_t got, std::uint64_t wanted) {
  const DataType type = step.target.type;
  if (!step.at_least) return same_element(type, got & step.mask, wanted & step.mask);
  if (is_float(type)) return element_as_double(type, got) >= element_as_double(type, wanted);
  if (!is_signed(type)) return got >= wanted;
  const unsigned unused = 64 - 8 * size_of(type);
  return static_cast<std::int64_t>(got << unused) >= static_cast<std::int64_t>(wanted << unused);
}

/// "\"flags[0]\" to be 1"
std::string condition(const HostStep& step, std::uint64_t wanted) {
  return "\"" + step.target.text + "\" to be " + (step.at_least ? "at least " : "") +
         element_text(step.target.type, wanted);
}

std::string place_of(const HostStep& step, const LaunchFile& file) {
  return file.document->file() + ":" + std::to_string(step.place.line);
}

/// Of a load that brought no value.
std::string text_of(HostBridge::Outcome outcome) {
  switch (outcome) {
    case HostBridge::Outcome::done: break;
    case HostBridge::Outcome::unsupported_request: return "was refused: unsupported request";
    case HostBridge::Outcome::completer_abort: return "was refused: completer abort";
    case HostBridge::Outcome::poisoned: return "was answered with poisoned data";
    case HostBridge::Outcome::timeout:
      return "was not answered in time (pcie_system.host.completion_timeout)";
  }
  return "was answered";
}

/// "write flags[0]"
std::string text_of(const HostStep& step) {
  switch (step.kind) {
    case HostStep::Kind::write: return "write " + step.target.text;
    case HostStep::Kind::read: return "read " + step.target.text;
    case HostStep::Kind::wait: return "wait " + step.target.text;
    case HostStep::Kind::interrupt:
      return "interrupt peer[" + std::to_string(step.device) + "].vector[" + std::to_string(step.vector) +
             "]";
    case HostStep::Kind::delay: break;
  }
  return "delay";
}

}  // namespace

HostedLaunch LaunchFileHost::run(const PlacedFile& placed, const Launch& launch,
                                 const std::vector<GridLaunch>& grids) {
  Engine& engine = platform_.pcie()->engine();
  const Cycle started = engine.now();
  platform_.start(grids);
  Program program{placed, {}, false, std::nullopt};
  for (const HostStep& step : launch.host) {
    if (!may_go_on()) give_up(step, program, "time for its next step");
    if (!may_go_on() || !perform(step, program)) break;
  }
  LaunchResult& result = program.out.result;
  if (program.grids_ended) {
    result.outcome = platform_.pcie()->run_until(max_cycles_);
  } else {
    result = platform_.finish();
  }
  if (result.outcome == RunOutcome::quiescent && host_->now() > engine.now()) {
    // The host went on when nothing moved any more: its last step ends the launch.
    engine.note_move(host_->now());
    result.outcome = platform_.pcie()->run_until(max_cycles_);
  }
  result.cycles = engine.now() - started;
  if (host_->was_stopped()) {
    result.outcome = RunOutcome::stopped;
  } else if (program.waits && result.outcome == RunOutcome::quiescent) {
    program.out.host_is_stuck = true;
    result.outcome = left() != 0 ? RunOutcome::deadlock : RunOutcome::cycle_limit;
  }
  if (result.outcome == RunOutcome::quiescent) return std::move(program.out);
  result.standstill = platform_.standstill();
  if (program.waits) result.standstill.waits.push_back(*program.waits);
  return std::move(program.out);
}

bool LaunchFileHost::perform(const HostStep& step, Program& program) {
  // What grids that have ended wrote is seen by now.
  if (platform_.pcie()->engine().quiescent()) static_cast<void>(end_grids(program));
  const Cycle begun = std::max(host_->now(), platform_.now());
  const bool goes_on = perform_unseen(step, program);
  platform_.host_did(text_of(step), place_of(step, program.placed.file), begun,
                     std::max(host_->now(), platform_.now()));
  return goes_on;
}

bool LaunchFileHost::perform_unseen(const HostStep& step, Program& program) {
  switch (step.kind) {
    case HostStep::Kind::write: write(step, program); break;
    case HostStep::Kind::read: read(step, program); break;
    case HostStep::Kind::wait: return wait(step, program);
    case HostStep::Kind::interrupt: return wait_interrupt(step, program);
    case HostStep::Kind::delay: return delay(step, program);
  }
  return true;
}

Cycle LaunchFileHost::left() const {
  return max_cycles_ - std::min(max_cycles_, std::max(host_->now(), platform_.now()));
}

bool LaunchFileHost::may_go_on() const {
  return !host_->was_stopped() && left() != 0;
}

std::uint8_t* LaunchFileHost::at(const HostTarget& target, const PlacedFile& placed) {
  return platform_.pcie()->sysmem().at(offset_of(target.buffer, placed) +
                                       target.element * size_of(target.type));
}

std::optional<std::uint64_t> LaunchFileHost::on_bus(const HostTarget& target,
                                                    const PlacedFile& placed) const {
  if (target.device) return address_of(*target.device);
  if (placed.file.buffers[target.buffer].aperture != Aperture::vidmem) return std::nullopt;
  return behind_bar(target.buffer, placed) + target.element * size_of(target.type);
}

std::optional<std::uint64_t> LaunchFileHost::look(const HostTarget& target, const PlacedFile& placed) {
  if (const auto address = on_bus(target, placed)) {
    const std::uint64_t value = host_->load(*address, size_of(target.type));
    if (host_->outcome() != HostBridge::Outcome::done) return std::nullopt;
    return value;
  }
  return load_element(target.type, at(target, placed));
}

void LaunchFileHost::write(const HostStep& step, Program& program) {
  const HostTarget& target = step.target;
  const std::uint64_t bits = bits_of(*step.value, program.placed);
  if (const auto address = on_bus(target, program.placed))
    return host_->store(*address, size_of(target.type), bits);
  store_element(target.type, bits, at(target, program.placed));
}

void LaunchFileHost::read(const HostStep& step, Program& program) {
  const auto got = look(step.target, program.placed);
  if (got && !step.value) return;
  ++program.out.checks;
  const std::uint64_t wanted = step.value ? bits_of(*step.value, program.placed) : 0;
  if (got && holds(step, *got, wanted)) return;
  std::string failure =
      "the host (" + place_of(step, program.placed.file) + ") read \"" + step.target.text + "\": ";
  if (got) {
    failure += "got " + element_text(step.target.type, *got & step.mask) + ", wanted " +
               element_text(step.target.type, wanted & step.mask);
  } else {
    failure += text_of(host_->outcome());
  }
  program.out.failures.push_back(std::move(failure));
}

bool LaunchFileHost::wait(const HostStep& step, Program& program) {
  const std::uint64_t wanted = bits_of(*step.value, program.placed);
  const bool by_loads = on_bus(step.target, program.placed).has_value();
  std::optional<std::uint64_t> before;
  for (unsigned alike = 0;;) {
    // What answered the look before may yet have wakes for what is over.
    const bool rested = by_loads ? platform_.pcie()->engine().quiescent() : at_rest();
    const auto got = look(step.target, program.placed);
    if (got && holds(step, *got, wanted)) return true;
    // What is not answered now will not be, whatever else goes on.
    alike = (rested || !got) && got == before ? alike + 1 : 0;
    before = got;
    const bool over = rested && !end_grids(program);
    const bool in_vain = (over || !got) && (!by_loads || alike >= kVainLooks);
    if (in_vain || !may_go_on()) {
      give_up(
          step, program,
          condition(step, wanted) + ", which " +
              (got ? "is " + element_text(step.target.type, *got & step.mask) : text_of(host_->outcome())));
      return false;
    }
    host_->pass(std::min(kPoll, left()));
  }
}

bool LaunchFileHost::wait_interrupt(const HostStep& step, Program& program) {
  for (;;) {
    const bool rested = at_rest();
    if (host_->wait_interrupt_for(step.device, step.vector, std::min(kMostAtOnce, left()))) return true;
    if (!(rested && !end_grids(program)) && may_go_on()) continue;
    give_up(step, program,
            "interrupt " + std::to_string(step.vector) + " of peer[" + std::to_string(step.device) + "]");
    return false;
  }
}

bool LaunchFileHost::delay(const HostStep& step, Program& program) {
  Cycle more = step.cycles;
  while (more != 0 && may_go_on()) {
    const Cycle now = std::min({more, kMostAtOnce, left()});
    host_->pass(now);
    more -= now;
  }
  if (more != 0) give_up(step, program, std::to_string(more) + " more cycles to pass");
  return more == 0;
}

/// Whether grids, of a machine at rest, end now: then what they wrote is seen. False: they have before, or
/// cannot end.
bool LaunchFileHost::end_grids(Program& program) {
  if (program.grids_ended || platform_.running()) return false;
  program.out.result = platform_.finish();
  program.grids_ended = true;
  return true;
}

void LaunchFileHost::give_up(const HostStep& step, Program& program, const std::string& what) {
  program.waits = Wait{"host", what + " (" + place_of(step, program.placed.file) + ")"};
}

}  // namespace warpline
