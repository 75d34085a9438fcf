// What a slice says of itself while it waits.
#include "warpline/fabric/gauge.h"
#include "warpline/l2/l2.h"

namespace warpline {

bool L2Slice::busy() const {
  return served_count_ != 0 || out_count_ != 0 || !again_.empty() || core_.misses().in_use() != 0 ||
         !sysmem_writes_.idle();
}

void L2Slice::visit_gauges(GaugeVisitor& visitor) const {
  visitor.gauge("miss_registers", core_.misses().in_use(), core_.misses().capacity(), "lines being fetched");
  visitor.gauge("outgoing", out_count_, kUnlimitedGauge, "requests that wait for to_dram or to_pcie");
  visitor.gauge("answers", served_count_, kUnlimitedGauge, "responses that wait for to_crossbar");
  visitor.gauge("write_backs", sysmem_writes_.outstanding(), kUnlimitedGauge,
                "of system memory, and flushes, that the link has not answered");
}

void L2Slice::explain(std::vector<Wait>& waits) const {
  if (core_.misses().in_use() != 0)
    waits.push_back({name(), std::to_string(core_.misses().in_use()) + " lines being fetched", {}, {this}});
  const auto room = [&](const PortBase& port, unsigned count, const char* what) {
    if (count != 0)
      waits.push_back({name(), port.room() + " for " + std::to_string(count) + what, {port.other_side()}});
  };
  for (std::size_t i = 0; i < dram_out_.size(); ++i) room(to_dram[i], dram_out_[i].count, " requests");
  room(to_pcie, pcie_out_.count, " requests");
  room(to_crossbar, served_count_, " answers");
  if (!sysmem_writes_.idle())
    waits.push_back(
        {name(),
         std::to_string(sysmem_writes_.outstanding()) + " write-backs and flushes to be answered by the link",
         {to_pcie.other_side()},
         all_writes()});
}

void L2Slice::in_flight(std::vector<InFlight>& rows) const {
  core_.misses().in_flight(rows, this, name(), {});
  const auto leaving = [&](const RequestList& list, const PortBase& port) {
    list_all(rows, list, name(), port.path(), port.room(), {port.other_side()});
  };
  for (std::size_t i = 0; i < dram_out_.size(); ++i) leaving(dram_out_[i].list, to_dram[i]);
  leaving(pcie_out_.list, to_pcie);
  leaving(served_, to_crossbar);
  list_all(rows, again_, name(), name() + " waiting line", "its turn after the fill of its line", {});
  sysmem_writes_.for_each_drain([&](const Request& r) {
    rows.emplace_back(r, name(), name() + " drain",
                      "the write-backs and flushes before it to be answered by the link",
                      std::vector<std::string>{to_pcie.other_side()}, all_writes());
  });
}

}  // namespace warpline
