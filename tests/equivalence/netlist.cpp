#include "tests/equivalence/netlist.h"

#include "rtl_models/base/counter.h"
#include "rtl_models/base/random.h"

namespace warpline::test {
namespace {

constexpr std::uint64_t kMemory = 4096;

class Picker {
 public:
  explicit Picker(std::uint64_t seed) : random_(seed * 1000003) {}
  unsigned operator()(std::uint64_t low, std::uint64_t high) {
    return static_cast<unsigned>(low + random_.below(high - low + 1));
  }
  std::uint64_t bits() { return random_.next(); }

 private:
  Random random_;
};

/// At least `least` cycles pass before a message or a credit arrives.
ChannelParameters random_channel(Picker& pick, unsigned least) {
  const unsigned latency = least - 1 + (pick(1, 2) == 1 ? pick(1, 3) : pick(1, 100));
  return {8U << pick(0, 4), latency, pick(1, 10), least - 1 + pick(1, 5)};
}

ClockDomain random_domain(Picker& pick) {
  if (pick(0, 2) == 0) return {};
  const unsigned denominator = pick(1, 7);
  return {denominator + pick(0, 12), denominator};
}

AtomicBlock random_atomic(Picker& pick) {
  constexpr std::array<std::pair<AtomicOperation, DataType>, 6> kPairs = {
      {{AtomicOperation::add, DataType::u32},
       {AtomicOperation::add, DataType::f32},
       {AtomicOperation::max, DataType::s32},
       {AtomicOperation::exchange, DataType::b64},
       {AtomicOperation::compare_and_swap, DataType::b16},
       {AtomicOperation::bit_xor, DataType::b64}}};
  AtomicBlock block;
  std::tie(block.operation, block.type) = kPairs[pick(0, 5)];
  block.count = pick(1, 32);
  const unsigned size = size_of(block.type);
  for (unsigned i = 0; i < block.count; ++i) {
    block.lanes[i].lane = static_cast<std::uint8_t>(i);
    block.lanes[i].offset = static_cast<std::uint8_t>(size * pick(0, kLineBytes / size - 1));
    block.lanes[i].operand = size == 8 ? pick.bits() : pick.bits() & ((1ULL << (8 * size)) - 1);
    block.lanes[i].second = block.lanes[i].operand ^ 1U;
  }
  return block;
}

Item random_item(Picker& pick, Cycle at) {
  const bool sysmem = pick(0, 3) == 0;
  // A few lines beyond the end of system memory, too.
  const PhysicalAddress line =
      physical(sysmem ? Aperture::sysmem : Aperture::vidmem,
               pick(0, sysmem ? kMemory / kLineBytes : 4000) * std::uint64_t{kLineBytes});
  switch (pick(0, 12)) {
    case 12: return control_item(at, line, static_cast<LineControl>(pick(1, 4)));
    case 0: return maintain_item(at, maintenance::kDrain);
    case 1:
    case 2: {
      Item item = atomic_item(at, line, random_atomic(pick));
      if (pick(0, 1) == 0) item.request.command = Command::reduce;
      return item;
    }
    case 3:
    case 4:
    case 5: {
      ByteMask mask = ByteMask::of_sectors(static_cast<SectorMask>(pick(1, 15)));
      if (pick(0, 1) == 0) mask = mask & ByteMask{pick.bits() | 1U, pick.bits() | 1U};
      if (!mask.any()) mask.set(0, 1);
      return write_item(at, line, mask, static_cast<std::uint8_t>(pick(1, 255)));
    }
    default: return read_item(at, line, static_cast<SectorMask>(pick(1, 15)));
  }
}

/// What an SM asks of the shared memory of another, some in no GPC of its own and some nowhere.
Item random_network_item(Picker& pick, Cycle at, unsigned sms) {
  ClusterAddress to;
  to.sm = pick(0, sms);
  to.cluster = pick(0, 3);
  to.rank = pick(0, 7);
  to.offset = kLineBytes * pick(0, 40);
  const PhysicalAddress line = to.packed();
  switch (pick(0, 3)) {
    case 0: return atomic_item(at, line, random_atomic(pick));
    case 1:
      return write_item(at, line, ByteMask::of_sectors(static_cast<SectorMask>(pick(1, 15))),
                        static_cast<std::uint8_t>(pick(1, 255)));
    default: return read_item(at, line, static_cast<SectorMask>(pick(1, 15)));
  }
}

void draw_network(Picker& pick, unsigned least, unsigned spread, Shape& s) {
  s.network_items.resize(pick(2, 6));
  s.gpcs = {pick(1, 2), pick(1, 2)};
  s.network_request = random_channel(pick, least);
  s.network_response = random_channel(pick, least);
  s.shared_delay = pick(1, 30);
  s.shared_gap = pick(1, 3);
  const auto sms = static_cast<unsigned>(s.network_items.size());
  for (auto& list : s.network_items) {
    Cycle at = pick(0, 50);
    for (unsigned n = pick(1, 20); n != 0; --n)
      list.push_back(random_network_item(pick, at += pick(0, spread), sms));
  }
}

/// The clients sit in TPCs and GPCs, but for some.
void draw_crossbar_network(Picker& pick, Shape& s) {
  NetworkParameters& n = s.crossbar.network;
  for (unsigned* level :
       {&n.tpc_request, &n.tpc_reply, &n.gpc_request, &n.gpc_reply, &n.slice_reply, &n.group_reply})
    *level = pick(0, 1) * pick(4, 300);
  n.queue = pick(1, 20);
  n.header = pick(1, 16);
  n.share_window = pick(0, 1) * pick(1, 90);
  n.groups = pick(1, s.slices);
  n.slice_distance = {pick(0, 40), pick(0, 40)};
  n.tpc_distance = {pick(0, 9), pick(0, 9), pick(0, 9)};
  const unsigned gpcs = pick(1, 3);
  for (unsigned i = 0; i < s.items.size(); ++i)
    s.places.push_back(pick(0, 9) == 0 ? NetworkPlace{} : NetworkPlace{i / 2, i / 4, i / 4 % gpcs});
  if (pick(0, 1) == 0) return;
  TranslationParameters& t = s.crossbar.translation;
  t = {4096, pick(1, 3), pick(0, 30), pick(0, 6), pick(0, 200), pick(0, 3), pick(1, 3)};
  for (auto& list : s.items)
    for (Item& item : list)
      item.request.virtual_line = VirtualAddress{std::uint64_t{t.page_bytes} * pick(0, 9)};
}

/// What a GPU asks of the memory of several, some lines of which are of no object.
Item random_switch_item(Picker& pick, Cycle at) {
  const PhysicalAddress line = physical(Aperture::multicast, kLineBytes * pick(0, 8));
  switch (pick(0, 3)) {
    case 0:
      return write_item(at, line, ByteMask::of_sectors(static_cast<SectorMask>(pick(1, 15))),
                        static_cast<std::uint8_t>(pick(1, 255)));
    case 1: return read_item(at, line, static_cast<SectorMask>(pick(1, 15)));  // refused: not multimem
    default: break;
  }
  AtomicBlock block;
  block.operation = pick(0, 1) == 0 ? AtomicOperation::add : AtomicOperation::max;
  block.type = DataType::u32;
  block.count = pick(1, 32);
  for (unsigned n = 0; n < block.count; ++n) {
    block.lanes[n].lane = static_cast<std::uint8_t>(n);
    block.lanes[n].offset = static_cast<std::uint8_t>(n * 4);
    block.lanes[n].operand = pick(0, 1000);
  }
  Item item = atomic_item(at, line, block);
  if (pick(0, 1) == 0) item.request.command = Command::reduce;
  item.request.sectors = sectors_of(0, block.count * 4);
  return item;
}

void draw_switch(Picker& pick, unsigned least, unsigned spread, Shape& s) {
  const unsigned gpus = pick(1, 4);
  for (unsigned n = pick(1, 3); n != 0; --n) {
    std::vector<MulticastReplica> replicas;
    for (unsigned gpu = 0; gpu < gpus; ++gpu)
      if (pick(0, 3) != 0) replicas.push_back({gpu, physical(Aperture::vidmem, 0x1000 * n), 0});
    if (!replicas.empty()) s.objects.add(kLineBytes * pick(1, 3), std::move(replicas));
  }
  s.switch_parameters = {1, pick(1, 12)};
  s.switch_request = random_channel(pick, least);
  s.switch_response = random_channel(pick, least);
  s.replica_delay = pick(1, 30);
  s.replica_gap = pick(1, 3);
  s.switch_items.resize(gpus);
  for (auto& list : s.switch_items) {
    Cycle at = pick(0, 50);
    for (unsigned n = pick(1, 20); n != 0; --n)
      list.push_back(random_switch_item(pick, at += pick(0, spread)));
  }
}

}  // namespace

Bridge::Bridge(Engine& engine, std::string name, ClockDomain domain, Cycle delay)
    : Component(engine, std::move(name), domain),
      from_crossbar(*this, "from_crossbar"),
      to_crossbar(*this, "to_crossbar"),
      to_dram(*this, "to_dram"),
      to_pcie(*this, "to_pcie"),
      from_dram(*this, "from_dram"),
      from_pcie(*this, "from_pcie"),
      delay_(delay) {}

Cycle Bridge::tick(Cycle now) {
  if (from_dram.ready(now)) {
    replies_.push_back(from_dram.pop(now).request);
    seen.push_back({now, replies_.back()->id, 'd'});
  }
  if (from_pcie.ready(now)) {
    replies_.push_back(from_pcie.pop(now).request);
    seen.push_back({now, replies_.back()->id, 'p'});
  }
  for (; !own_.empty() && own_.front().first <= now; own_.erase(own_.begin()))
    replies_.push_back(own_.front().second);
  if (from_crossbar.ready(now) && forward(now)) {
    seen.push_back({now, from_crossbar.front().request->id, 'x'});
    from_crossbar.pop(now);
  }
  if (!replies_.empty() && to_crossbar.ready(now)) {
    to_crossbar.send(now, ResponseMessage{replies_.front()});
    replies_.erase(replies_.begin());
  }
  if (!replies_.empty()) static_cast<void>(to_crossbar.ready(now));
  return own_.empty() ? kNever : own_.front().first;
}

bool Bridge::forward(Cycle now) {
  Request* r = from_crossbar.front().request;
  const bool sysmem = aperture_of(r->line) == Aperture::sysmem;
  if (r->command == Command::maintain || r->command == Command::control ||
      (!sysmem && r->command != Command::read && r->command != Command::write)) {
    own_.emplace_back(now + delay_, r);
    return true;
  }
  Out<RequestMessage>& out = sysmem ? to_pcie : to_dram;
  if (!out.ready(now)) return false;
  out.send(now, RequestMessage{r});
  return true;
}

Shape::Shape(std::uint64_t seed) {
  Picker pick(seed);
  sm = random_domain(pick);
  l2 = random_domain(pick);
  dram = random_domain(pick);
  link = random_domain(pick);
  const unsigned least = pick(0, 1) == 0 ? 1 : pick(2, 40);
  for (ChannelParameters* p :
       {&client_request, &client_response, &l2_request, &l2_response, &memory_request, &memory_response})
    *p = random_channel(pick, least);
  for (unsigned n = pick(0, 3); n != 0; --n) crossbar.hash_masks.push_back(pick.bits());
  slices = pick(1, 7);
  channels = pick(1, slices);
  dram_parameters.channels = channels;
  dram_parameters.banks = pick(1, 16);
  dram_parameters.row_bytes = 128 * pick(1, 16);
  dram_parameters.queue = pick(1, 40);
  dram_parameters.activate = pick(0, 20);
  dram_parameters.precharge = pick(0, 20);
  dram_parameters.column = pick(1, 20);
  dram_parameters.sector_cycles = pick(1, 3);
  dram_parameters.write_to_read = pick(0, 8);
  dram_parameters.read_to_write = pick(0, 8);
  dram_parameters.age_limit = pick(0, 300);
  if (pick(0, 1) != 0) {
    DramParameters& d = dram_parameters;
    d.bank_groups = pick(1, 4);
    d.banks = d.bank_groups * pick(1, 4);
    d.write_column = pick(1, d.column);
    d.write_to_read += d.column;
    d.write_to_read_group = d.write_to_read + pick(0, 12);
    d.column_interval = pick(0, 3);
    d.column_interval_group = pick(0, 6);
    d.row_active = pick(0, 40);
    d.activate_interval = pick(0, 6);
    d.activate_interval_group = pick(0, 9);
    d.four_activates = pick(0, 40);
    d.read_to_precharge = pick(0, 10);
    d.write_recovery = pick(0, 20);
    d.write_high = pick(0, d.queue);
    d.write_low = d.write_high == 0 ? 0 : pick(0, d.write_high - 1);
    d.refresh = pick(0, 2) == 0 ? "none" : pick(0, 1) == 0 ? "all_bank" : "per_bank";
    d.refresh_interval = pick(1000, 3000);
    d.refresh_cycles = d.refresh_bank_cycles = pick(0, 200);
  }
  pcie_parameters.latency = pick(1, 1500);
  pcie_parameters.bytes_per_cycle = pick(1, 64);
  pcie_parameters.tlp_overhead = pick(0, 40);
  pcie_parameters.max_payload = pick(32, 256);
  pcie_parameters.tags = pick(1, 64);
  pcie_parameters.atomic_ops = pick(0, 3) != 0;
  client_gap = pick(1, 5);
  bridge_delay = pick(1, 40);
  items.resize(pick(1, 20));
  const unsigned spread = pick(0, 60);
  for (auto& list : items) {
    Cycle at = pick(0, 50);
    for (unsigned n = pick(1, 60); n != 0; --n) list.push_back(random_item(pick, at += pick(0, spread)));
  }
  if (pick(0, 2) == 0) draw_network(pick, least, spread, *this);
  if (pick(0, 2) == 0) draw_switch(pick, least, spread, *this);
  if (pick(0, 2) == 0) draw_crossbar_network(pick, *this);
}

Netlist::Netlist(const Shape& s, TickMode mode, std::uint64_t seed, Clusters clusters)
    : own_engine(std::make_unique<Engine>(mode, seed)), engine(*own_engine), sysmem(kMemory) {
  DirectHops hops;
  build(s, hops, clusters);
}

Netlist::Netlist(const Shape& s, Engine& e, HopMaker& hops, Clusters clusters) : engine(e), sysmem(kMemory) {
  build(s, hops, clusters);
}

Netlist::Netlist(const Shape& s, Engine& e, HopMaker& hops, unsigned outside) : engine(e), sysmem(kMemory) {
  build(s, hops, Clusters::each, outside);
}

void Netlist::build(const Shape& s, HopMaker& hops, Clusters clusters, unsigned outside) {
  const auto next_cluster = [this, clusters] {
    if (clusters == Clusters::each) engine.begin_cluster();
  };
  const auto count = static_cast<unsigned>(s.items.size());
  crossbar =
      std::make_unique<Crossbar>(engine, "crossbar", s.l2, s.crossbar, count, s.slices,
                                 CrossbarWidths{s.l2_request.width, s.client_response.width}, 0, s.places);
  for (unsigned i = 0; i < count; ++i) {
    clients.emplace_back();
    if (i < outside) continue;
    next_cluster();
    clients[i] = std::make_unique<Requester>(engine, "client", s.sm, s.items[i], s.client_gap,
                                             std::uint64_t{i} << 32U);
    hops.hop(clients[i]->out, crossbar->from_client(i), s.client_request, crossbar->to_client(i),
             clients[i]->in, s.client_response);
  }
  next_cluster();
  link = std::make_unique<PcieLink>(engine, "pcie", s.link, s.pcie_parameters, &sysmem, s.slices);
  for (unsigned c = 0; c < s.channels; ++c) {
    next_cluster();
    channels.push_back(std::make_unique<DramChannel>(engine, "dram", s.dram, s.dram_parameters,
                                                     (s.slices - c + s.channels - 1) / s.channels));
  }
  for (unsigned i = 0; i < s.slices; ++i) {
    next_cluster();
    bridges.push_back(std::make_unique<Bridge>(engine, "bridge", s.l2, s.bridge_delay));
    Bridge& b = *bridges[i];
    hops.hop(crossbar->to_l2(i), b.from_crossbar, s.l2_request, b.to_crossbar, crossbar->from_l2(i),
             s.l2_response);
    hops.hop(b.to_pcie, link->from_l2(i), s.memory_request, link->to_l2(i), b.from_pcie, s.memory_response);
    DramChannel& channel = *channels[i % s.channels];
    hops.hop(b.to_dram, channel.from_l2(i / s.channels), s.memory_request, channel.to_l2(i / s.channels),
             b.from_dram, s.memory_response);
  }
  if (!s.network_items.empty()) build_network(s, hops, clusters);
  if (!s.switch_items.empty()) build_switch(s, hops, clusters);
}

void Netlist::build_network(const Shape& s, HopMaker& hops, Clusters clusters) {
  const auto next_cluster = [this, clusters] {
    if (clusters == Clusters::each) engine.begin_cluster();
  };
  const auto count = static_cast<unsigned>(s.network_items.size());
  next_cluster();
  network = std::make_unique<SmNetwork>(engine, "sm_network", s.sm, count, s.gpcs,
                                        SmNetworkWidths{s.network_request.width, s.network_response.width});
  for (unsigned i = 0; i < count; ++i) {
    next_cluster();
    // Numbers of requests begin beyond those of the crossbar's clients.
    askers.push_back(std::make_unique<Requester>(engine, "sm", s.sm, s.network_items[i], s.client_gap,
                                                 std::uint64_t{s.items.size() + i} << 32U));
    memories.push_back(std::make_unique<Target>(engine, "shared", s.sm, s.shared_delay, s.shared_gap));
    hops.hop(askers[i]->out, network->from_sm(i), s.network_request, network->to_sm(i), askers[i]->in,
             s.network_response);
    hops.hop(network->to_shared(i), memories[i]->in, s.network_request, memories[i]->out,
             network->from_shared(i), s.network_response);
  }
}

void Netlist::build_switch(const Shape& s, HopMaker& hops, Clusters clusters) {
  const auto next_cluster = [this, clusters] {
    if (clusters == Clusters::each) engine.begin_cluster();
  };
  const auto count = static_cast<unsigned>(s.switch_items.size());
  objects = s.objects;
  next_cluster();
  gpu_switch = std::make_unique<GpuSwitch>(engine, "gpu_switch", s.l2, count, s.switch_parameters,
                                           GpuSwitchWidths{s.switch_request.width, s.switch_response.width},
                                           objects, false);
  for (unsigned i = 0; i < count; ++i) {
    next_cluster();
    // Numbers of requests begin beyond those of all others.
    const std::uint64_t number = s.items.size() + s.network_items.size() + i;
    askers.push_back(
        std::make_unique<Requester>(engine, "gpu", s.l2, s.switch_items[i], s.client_gap, number << 32U));
    memories.push_back(std::make_unique<Target>(engine, "replica", s.l2, s.replica_delay, s.replica_gap));
    hops.hop(askers.back()->out, gpu_switch->from_gpu(i), s.switch_request, gpu_switch->to_gpu(i),
             askers.back()->in, s.switch_response);
    hops.hop(gpu_switch->to_replica(i), memories.back()->in, s.switch_request, memories.back()->out,
             gpu_switch->from_replica(i), s.switch_response);
  }
}

void describe_answers(const std::vector<Answer>& answers, std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Answer& a = answers[i];
    std::uint64_t digest = static_cast<std::uint64_t>(a.status);
    for (const std::uint8_t byte : a.data) digest = splitmix64(digest ^ byte);
    for (unsigned lane = 0; lane < a.atomics.count; ++lane)
      digest = splitmix64(digest ^ a.atomics.lanes[lane].old_value);
    lines.push_back("client item " + std::to_string(i) + " sent " + std::to_string(a.sent) + " answered " +
                    std::to_string(a.answered) + " with " + std::to_string(digest));
  }
}

std::vector<std::string> Netlist::trace() const {
  std::vector<std::string> lines;
  for (const auto& client : clients)
    if (client != nullptr) describe_answers(client->answers, lines);
  for (const auto& asker : askers) describe_answers(asker->answers, lines);
  for (const auto& memory : memories)
    for (const Target::Seen& s : memory->seen)
      lines.push_back("memory took " + std::to_string(s.id) + " at " + std::to_string(s.at));
  for (const auto& bridge : bridges)
    for (const Bridge::Seen& s : bridge->seen)
      lines.push_back("bridge " + std::string(1, s.port) + " took " + std::to_string(s.id) + " at " +
                      std::to_string(s.at));
  class Lines final : public CounterVisitor {
   public:
    explicit Lines(std::vector<std::string>& lines) : lines_(lines) {}
    void counter(std::string_view block, std::string_view name, std::uint64_t value, std::string_view,
                 std::string_view) override {
      lines_.push_back(std::string(block) + "." + std::string(name) + " = " + std::to_string(value));
    }

   private:
    std::vector<std::string>& lines_;
  } visitor(lines);
  visit_counters("crossbar", crossbar->counters(), visitor);
  if (const Translation* const t = crossbar->translation(); t != nullptr)
    visit_counters("crossbar.translation", t->counters(), visitor);
  for (const auto& channel : channels) visit_counters("dram", channel->counters(), visitor);
  visit_counters("pcie", link->counters(), visitor);
  if (network != nullptr) visit_counters("sm_network", network->counters(), visitor);
  for (unsigned i = 0; gpu_switch != nullptr && i < gpu_switch->gpus(); ++i)
    visit_counters("gpu_switch", gpu_switch->counters(i), visitor);
  std::uint64_t digest = 0;
  for (std::uint64_t i = 0; i < sysmem.size(); ++i) digest = splitmix64(digest ^ *sysmem.at(i));
  lines.push_back("memory " + std::to_string(digest));
  lines.push_back("ended at " + std::to_string(engine.now()));
  return lines;
}

}  // namespace warpline::test
