#include "rtl_models/dram/dram_channel.h"

#include <algorithm>

#include "rtl_models/sim/gauge_visitor.h"

namespace warpline {

DramChannel::Bursts::Bursts(unsigned most) {
  std::size_t size = 1;
  while (size < most) size *= 2;
  ring_.resize(size);
  mask_ = size - 1;
}

DramChannel::DramChannel(Engine& engine, std::string name, ClockDomain domain,
                         const DramParameters& parameters, unsigned inputs)
    : Component(engine, std::move(name), domain),
      queue_(parameters.queue),
      controller_(parameters),
      ports_(*this, "from_l2", "to_l2", inputs),
      held_(parameters.queue),
      moving_(parameters.queue) {
  WARPLINE_EXPECT(parameters.problems("").empty(), "DRAM parameters are checked before they are used");
  ports_.perform_by(*this);
}

void DramChannel::perform(Request& r, Cycle& at) {
  WARPLINE_EXPECT((r.command == Command::read || r.command == Command::write) && r.sectors != 0,
                  "a DRAM channel reads and writes sectors");
  at = domain().after(at, controller_.serve_alone(domain().edge_at_or_after(at), r.line,
                                                  sector_count(r.sectors), r.command == Command::write));
}

Cycle DramChannel::tick(Cycle now) {
  const std::uint64_t t = domain().edge_at_or_after(now);
  ports_.collect(now);
  while (!moving_.empty() && moving_.front().end <= t) {
    ports_.answer_now(now, moving_.front().held.port, moving_.front().held.request);
    moving_.pop();
  }
  ports_.send_answers(now);
  if (can_take()) {
    const unsigned port = ports_.choose([](const Request&) { return true; });
    Request* r = ports_.take(now, port);
    WARPLINE_EXPECT((r->command == Command::read || r->command == Command::write) && r->sectors != 0,
                    "a DRAM channel reads and writes sectors");
    const unsigned sectors = sector_count(r->sectors);
    held_[controller_.accept(t, r->line, sectors, r->command == Command::write)] = {r, port};
  }
  if (controller_.changed() || t >= next_) {
    DramController::Burst burst;
    if (controller_.issue(t, burst)) moving_.add({held_[burst.entry], burst.end});
    next_ = controller_.next(t);
  }
  std::uint64_t next = next_;
  if (!moving_.empty()) next = std::min(next, moving_.front().end);
  if (can_take()) next = t + 1;
  return next == DramController::kNone ? kNever : domain().cycle_of(next);
}

void DramChannel::visit_gauges(GaugeVisitor& visitor) const {
  visitor.gauge("queue", under_way(), queue_, "requests taken and not yet answered");
  visitor.gauge("waiting", controller_.held(), queue_, "of them, whose column command is not given yet");
  visitor.gauge("bursts", moving_.size(), queue_, "of them, on the data bus or next on it");
  visitor.gauge("answers", ports_.unsent(), queue_, "of them, whose response waits for its channel");
}

void DramChannel::in_flight(std::vector<InFlight>& rows) const {
  for (const auto& [entry, why] : controller_.waits())
    rows.emplace_back(*held_[entry].request, name(), name() + " queue", why);
  moving_.for_each([&](const Moving& m) {
    rows.emplace_back(*m.held.request, name(), name() + " data bus",
                      "its data to have moved in cycle " + std::to_string(domain().cycle_of(m.end)));
  });
  ports_.in_flight(rows);
}

}  // namespace warpline
