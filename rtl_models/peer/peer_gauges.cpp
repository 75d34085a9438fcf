// What of a peer waves show.
#include <string>
#include <vector>

#include "warpline/fabric/gauge.h"
#include "warpline/peer/peer.h"

namespace warpline {
namespace {

/// A register as a signal.
struct NamedRegister {
  std::string name;
  RegisterAt at;
  std::uint64_t most = 0;
};

/// All of them, in the order of the manual.
const std::vector<NamedRegister>& named_registers() {
  static const std::vector<NamedRegister> kAll = [] {
    std::vector<NamedRegister> all;
    const RegisterMap& map = regs::peer::kMap;
    for (unsigned index = 0; index < map.register_count; ++index) {
      const RegisterDescription& r = map.registers[index];
      const std::uint64_t most = ~std::uint64_t{0} >> (64U - 8U * r.bytes);
      for (unsigned element = 0; element < r.count; ++element)
        all.push_back({"registers." + name_of(map, {index, element}), {index, element}, most});
    }
    return all;
  }();
  return kAll;
}

}  // namespace

void Peer::visit_gauges(GaugeVisitor& visitor) const {
  visitor.gauge("reads", endpoint_.reads_in_flight(), link_.parameters().tags, "reads of memory under way");
  visitor.gauge("answers", answers_.size(), kAnswers, "requests that wait for their answer");
  for (unsigned q = 0; q < core_.queues().size(); ++q) {
    const QueuePair& queue = core_.queues()[q];
    const std::string name = "queue[" + std::to_string(q) + "].";
    visitor.gauge(name + "sq_head", queue.sq_head(), kUnlimitedGauge, "next command to be fetched");
    visitor.gauge(name + "sq_tail", queue.sq_tail(), kUnlimitedGauge, "where software puts the next command");
    visitor.gauge(name + "cq_head", queue.cq_head(), kUnlimitedGauge, "next completion that software takes");
    visitor.gauge(name + "cq_tail", queue.cq_tail(), kUnlimitedGauge, "next completion to be written");
    visitor.gauge(name + "phase", queue.phase(), 1, "phase bit of the next completion");
  }
  std::uint64_t pending = 0, masked = 0;
  const MsixTable& msix = *endpoint_.msix();
  for (unsigned v = 0; v < msix.vectors(); ++v) {
    pending |= std::uint64_t{msix.pending(v)} << v;
    masked |= std::uint64_t{msix.masked(v)} << v;
  }
  const std::uint64_t vectors = ~std::uint64_t{0} >> (64U - msix.vectors());
  visitor.gauge("msix.pending", pending, vectors, "vectors that were raised and not yet sent, a bit each");
  visitor.gauge("msix.masked", masked, vectors, "vectors that software has masked, a bit each");
  const RegisterFile& registers = core_.registers();
  for (const NamedRegister& r : named_registers())
    visitor.gauge(r.name, registers.look(r.at.index, r.at.element), r.most,
                  registers.map().registers[r.at.index].meaning);
}

}  // namespace warpline
