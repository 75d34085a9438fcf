// What an L1 holds and waits for, for people.
#include "warpline/fabric/gauge.h"
#include "warpline/l1_lg/l1_lg.h"

namespace warpline {

bool L1Lg::busy() const {
  return served_count_ != 0 || out_count_ != 0 || core_.misses().in_use() != 0 || !writes_.idle() ||
         !surface_writes_.idle() || !flushing_.empty();
}

void L1Lg::visit_gauges(GaugeVisitor& visitor) const {
  visitor.gauge("miss_registers", core_.misses().in_use(), core_.misses().capacity(), "lines being fetched");
  visitor.gauge("outgoing", out_count_, out_capacity_, "requests that wait for to_crossbar");
  visitor.gauge("answers", served_count_, kUnlimitedGauge, "responses that wait for to_sm");
  visitor.gauge("writes", outstanding_writes(), kUnlimitedGauge, "writes that L2 has not acknowledged");
}

void L1Lg::explain(std::vector<Wait>& waits) const {
  const std::string below = to_crossbar.other_side();
  if (core_.misses().in_use() != 0)
    waits.push_back(
        {name(), std::to_string(core_.misses().in_use()) + " lines being fetched", {below}, {this}});
  if (outstanding_writes() != 0)
    waits.push_back({name(),
                     std::to_string(outstanding_writes()) + " writes to be performed at L2",
                     {below},
                     all_writes()});
  if (!flushing_.empty())
    waits.push_back({name(), to_crossbar.room() + ", to write dirty local lines back", {below}});
  if (out_count_ != 0)
    waits.push_back(
        {name(), to_crossbar.room() + " for " + std::to_string(out_count_) + " requests", {below}});
  if (served_count_ != 0)
    waits.push_back(
        {name(), to_sm.room() + " for " + std::to_string(served_count_) + " answers", {to_sm.other_side()}});
}

void L1Lg::in_flight(std::vector<InFlight>& rows) const {
  const std::string below = to_crossbar.other_side();
  core_.misses().in_flight(rows, this, name(), {below});
  list_all(rows, served_, name(), to_sm.path(), to_sm.room(), {to_sm.other_side()});
  list_all(rows, flushing_, name(), name() + " flush", "dirty local lines to be written back", {below});
  list_all(rows, outgoing_, name(), to_crossbar.path(), to_crossbar.room(), {below});
  for (const WriteTracker* tracker : {&writes_, &surface_writes_})
    tracker->for_each_drain([&](const Request& r) {
      rows.emplace_back(r, name(), name() + " drain", "the writes before it to be performed at L2",
                        std::vector<std::string>{below}, all_writes());
    });
}

}  // namespace warpline
