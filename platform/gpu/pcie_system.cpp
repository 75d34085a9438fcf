#include "warpline/gpu/pcie_system.h"

namespace warpline {

Problems PcieSystemParameters::problems(const std::string& path) const {
  Rules rules(path);
  rules.need(peers >= 1 && peers <= 8, "peers", "must be between 1 and 8");
  rules.add(root.problems(path + ".root"));
  rules.add(host.problems(path + ".host"));
  rules.add(device.problems(path + ".device"));
  rules.add(peer.problems(path + ".peer"));
  return rules.take();
}

PcieSystem::PcieSystem(Engine& engine, ClockDomain domain, unsigned mhz,
                       const PcieSystemParameters& parameters, MemoryImage& sysmem)
    : engine_(engine), sysmem_(sysmem), mhz_(mhz) {
  engine.begin_cluster();
  root_ =
      std::make_unique<RootComplex>(engine, "root", domain, pool_, parameters.root, sysmem, parameters.host,
                                    std::vector<LinkParameters>(parameters.peers, parameters.device));
  bridge_ = std::make_unique<HostBridge>(engine, "host", domain, pool_, parameters.host);
  connect(bridge_->to_root(), root_->to_host());
  bridge_->perform_by(*root_);
  root_->interrupt_by(*bridge_);
  for (unsigned i = 0; i < parameters.peers; ++i) {
    peers_.push_back(std::make_unique<Peer>(engine, "peer[" + std::to_string(i) + "]", domain, pool_,
                                            RootComplexCore::id_of(i), parameters.peer, parameters.device,
                                            mhz));
    connect(peers_[i]->to_root(), root_->to_device(i));
    peers_[i]->perform_by(*root_);
    root_->perform_by(i, *peers_[i]);
  }
}

void PcieSystem::set_present(unsigned i, bool present) {
  root_->set_link(i, present);
  peers_[i]->set_present(present);
}

void PcieSystem::set_loose(bool loose) {
  bridge_->set_loose(loose);
  for (const auto& peer : peers_) peer->set_loose(loose);
}

void PcieSystem::visit(CounterVisitor& visitor) const {
  visit_counters("root", root_->core().counters(), visitor);
  visit_counters("host", bridge_->counters(), visitor);
  for (const auto& peer : peers_) {
    visit_counters(peer->name(), peer->core().counters(), visitor);
    visit_counters(peer->name() + ".endpoint", peer->endpoint().counters(), visitor);
    visit_counters(peer->name() + ".link", const_cast<Peer&>(*peer).to_root().counters(), visitor);
  }
}

}  // namespace warpline
