#include "tests/equivalence/mesh.h"

namespace warpline::test {

Mesh::Mesh(const MeshShape& s, Engine& engine, HopMaker& hops, MeshParts& parts) : engine_(engine) {
  for (unsigned i = 0; i < s.clients; ++i) {
    engine.begin_cluster();
    clients_.push_back(std::make_unique<Requester>(engine, "client", domain_of(s.client_clock), s.items[i],
                                                   s.client_gap, std::uint64_t{i} << 32U));
    faces_.push_back({&clients_[i]->out, &clients_[i]->in});
  }
  add_relays(s.upper_relays, s.upper, s.relay_gap, hops);
  const MeshShape::Level* last = &s.upper.back();
  if (s.crossbar) {
    engine.begin_cluster();
    switch_ = parts.make_switch(engine, s);
    for (unsigned i = 0; i < s.clients; ++i)
      hops.hop(*faces_[i].down, switch_->from_client(i), last->request, switch_->to_client(i), *faces_[i].up,
               last->response);
    faces_.clear();
    for (unsigned i = 0; i < s.servers; ++i)
      faces_.push_back({&switch_->to_server(i), &switch_->from_server(i)});
    add_relays(s.lower_relays, s.lower, s.relay_gap, hops);
    last = &s.lower.back();
  }
  for (unsigned i = 0; i < s.servers; ++i) {
    engine.begin_cluster();
    servers_.push_back(parts.make_server(engine, s, i));
    hops.hop(*faces_[i].down, servers_[i]->in, last->request, servers_[i]->out, *faces_[i].up,
             last->response);
  }
}

void Mesh::add_relays(const std::vector<Ratio>& clocks, const std::vector<MeshShape::Level>& levels,
                      Cycle gap, HopMaker& hops) {
  for (std::size_t row = 0; row < clocks.size(); ++row) {
    for (Face& face : faces_) {
      engine_.begin_cluster();
      relays_.push_back(std::make_unique<Relay>(engine_, "relay", domain_of(clocks[row]), gap));
      Relay& r = *relays_.back();
      hops.hop(*face.down, r.from_above, levels[row].request, r.to_above, *face.up, levels[row].response);
      face = {&r.to_below, &r.from_below};
    }
  }
}

std::vector<std::string> Mesh::answers() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < clients_.size(); ++i)
    for (std::size_t k = 0; k < clients_[i]->answers.size(); ++k)
      lines.push_back("client " + std::to_string(i) + " item " + std::to_string(k) + " sent " +
                      std::to_string(clients_[i]->answers[k].sent) + " answered " +
                      std::to_string(clients_[i]->answers[k].answered));
  return lines;
}

}  // namespace warpline::test
