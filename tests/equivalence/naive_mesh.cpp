#include "tests/equivalence/naive_mesh.h"

namespace warpline::test {

NaiveMesh::NaiveMesh(const MeshShape& shape) : shape_(shape) {
  clocks_.emplace_back(shape.client_clock);
  relays_from_.emplace_back();
  const auto add_relays = [this](const std::vector<Ratio>& ratios, unsigned columns) {
    for (const Ratio& r : ratios) {
      clocks_.emplace_back(r);
      relays_from_.emplace_back(columns, 0);
    }
  };
  add_relays(shape.upper_relays, shape.clients);
  add_half(shape.upper, shape.clients);
  if (shape.crossbar) {
    crossbar_stage_ = clocks_.size();
    clocks_.emplace_back(shape.crossbar_clock);
    relays_from_.emplace_back();
    add_relays(shape.lower_relays, shape.servers);
    add_half(shape.lower, shape.servers);
  }
  clocks_.emplace_back(shape.server_clock);
  relays_from_.emplace_back();
  edges_.resize(clocks_.size());
  for (unsigned i = 0; i < shape.clients; ++i) {
    Client& client = clients_.emplace_back();
    for (const Item& item : shape.items[i]) {
      client.messages.push_back(message_of(item, i, client.messages.size()));
      client.earliest.push_back(item.at);
    }
    client.sent.resize(client.messages.size(), kNever);
    client.answered.resize(client.messages.size(), kNever);
  }
  for (unsigned i = 0; i < shape.servers; ++i) servers_.emplace_back(shape.server_seed + i);
  down_turn_.resize(shape.servers);
  up_turn_.resize(shape.clients);
  copied_.assign(shape.clients, std::vector<bool>(shape.servers));
  gathering_.resize(shape.clients);
  finished_.resize(shape.clients);
}

void NaiveMesh::add_half(const std::vector<MeshShape::Level>& levels, unsigned columns) {
  for (const MeshShape::Level& level : levels) {
    Row& row = rows_.emplace_back();
    for (unsigned i = 0; i < columns; ++i)
      row.push_back({NaiveChannel(level.request, NaiveChannel::Way::request),
                     NaiveChannel(level.response, NaiveChannel::Way::response)});
  }
}

NaiveMessage NaiveMesh::message_of(const Item& item, unsigned client, std::uint64_t number) const {
  const Request& r = item.request;
  NaiveMessage m;
  m.id = (std::uint64_t{client} << 32U) + number;
  m.client = client;
  m.server = shape_.crossbar ? server_of(r.line) : client;
  unsigned sectors = 0;
  for (unsigned s = 0; s < 4; ++s) sectors += (r.sectors >> s) & 1U;
  const unsigned operands =
      item.atomics ? item.atomics->count * (item.atomics->type == DataType::b64 ? 8 : 4) : 0;
  switch (r.command) {
    case Command::read: m.response_bytes = 32 * sectors; break;
    case Command::write: m.request_bytes = 32 * sectors; break;
    case Command::atomic: m.request_bytes = m.response_bytes = operands; break;
    case Command::reduce: m.request_bytes = operands; break;
    case Command::maintain: m.everywhere = true; break;
    case Command::control: break;
  }
  return m;
}

unsigned NaiveMesh::server_of(PhysicalAddress line) const {
  const std::uint64_t number = line.value / 128;
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < shape_.hash.hash_masks.size(); ++i) {
    bool odd = false;
    for (unsigned bit = 0; bit < 64; ++bit)
      if (((number & shape_.hash.hash_masks[i]) >> bit) & 1U) odd = !odd;
    if (odd) hash |= std::uint64_t{1} << i;
  }
  return static_cast<unsigned>((number ^ hash) % shape_.servers);
}

void NaiveMesh::settle(Cycle c) {
  for (std::size_t i = 0; i < clocks_.size(); ++i) edges_[i] = clocks_[i].step(c);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (Hop& hop : rows_[i]) {
      hop.down.settle(c, edges_[i]);
      hop.up.settle(c, edges_[i + 1]);
    }
  }
}

void NaiveMesh::run(Cycle limit) {
  for (Cycle c = 0; c <= limit && !done(); ++c) {
    settle(c);
    for (std::size_t stage = 0; stage < clocks_.size(); ++stage) {
      if (!edges_[stage]) continue;
      if (stage == 0) {
        for (unsigned i = 0; i < clients_.size(); ++i) tick_client(c, i);
      } else if (stage + 1 == clocks_.size()) {
        for (unsigned i = 0; i < servers_.size(); ++i) tick_server(c, i);
      } else if (stage == crossbar_stage_) {
        tick_crossbar(c);
      } else {
        for (std::size_t i = 0; i < rows_[stage].size(); ++i)
          tick_relay(c, rows_[stage - 1][i], rows_[stage][i], relays_from_[stage][i]);
      }
    }
  }
}

void NaiveMesh::tick_client(Cycle c, unsigned i) {
  Client& client = clients_[i];
  Hop& hop = rows_.front()[i];
  if (hop.up.can_pop() && c >= client.takes_from) {
    client.answered[hop.up.pop(c).id & 0xFFFFFFFFU] = c;
    ++client.received;
    client.takes_from = c + shape_.client_gap;
  }
  if (client.next < client.messages.size() && client.earliest[client.next] <= c && hop.down.can_send()) {
    hop.down.send(c, client.messages[client.next]);
    client.sent[client.next++] = c;
  }
}

void NaiveMesh::tick_relay(Cycle c, Hop& above, Hop& below, Cycle& takes_from) {
  if (above.down.can_pop() && c >= takes_from && below.down.can_send()) {
    below.down.send(c, above.down.pop(c));
    takes_from = c + shape_.relay_gap;
  }
  if (below.up.can_pop() && above.up.can_send()) above.up.send(c, below.up.pop(c));
}

void NaiveMesh::tick_server(Cycle c, unsigned i) {
  Server& server = servers_[i];
  Hop& hop = rows_.back()[i];
  if (!server.held.empty() && server.held.front().due <= c && hop.up.can_send()) {
    hop.up.send(c, server.held.front().message);
    server.held.pop_front();
  }
  if (hop.down.can_pop() && c >= server.takes_from && server.held.size() < shape_.capacity) {
    const NaiveMessage message = hop.down.pop(c);
    server.held.push_back({message, c + 1 + server.random.below(shape_.longest_delay)});
    server.takes_from = c + shape_.server_gap;
  }
}

bool NaiveMesh::done() const {
  for (const Client& client : clients_)
    if (client.received != client.messages.size()) return false;
  for (const Row& row : rows_)
    for (const Hop& hop : row)
      if (!hop.down.at_rest() || !hop.up.at_rest()) return false;
  return true;
}

std::vector<std::string> NaiveMesh::trace() const {
  std::vector<std::string> lines;
  unsigned number = 0;
  for (const Row& row : rows_) {
    for (const Hop& hop : row) {
      const std::string name = "hop " + std::to_string(number++);
      describe(name + " down", hop.down.log(), lines);
      describe(name + " up", hop.up.log(), lines);
    }
  }
  for (std::string& line : answers()) lines.push_back(std::move(line));
  return lines;
}

NaiveMesh::Logs NaiveMesh::logs(unsigned hop) const {
  std::size_t row = 0;
  for (; hop >= rows_[row].size(); ++row) hop -= static_cast<unsigned>(rows_[row].size());
  return {rows_[row][hop].down.log(), rows_[row][hop].up.log()};
}

std::vector<std::string> NaiveMesh::answers() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < clients_.size(); ++i)
    for (std::size_t k = 0; k < clients_[i].messages.size(); ++k)
      lines.push_back("client " + std::to_string(i) + " item " + std::to_string(k) + " sent " +
                      std::to_string(clients_[i].sent[k]) + " answered " +
                      std::to_string(clients_[i].answered[k]));
  return lines;
}

}  // namespace warpline::test
