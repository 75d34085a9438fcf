#include "tests/equivalence/mesh_shape.h"

#include "rtl_models/base/random.h"

namespace warpline::test {
namespace {

class Picker {
 public:
  explicit Picker(std::uint64_t seed) : random_(seed * 7654321) {}
  unsigned operator()(std::uint64_t low, std::uint64_t high) {
    return static_cast<unsigned>(low + random_.below(high - low + 1));
  }
  std::uint64_t bits() { return random_.next(); }

 private:
  Random random_;
};

Ratio random_ratio(Picker& pick) {
  if (pick(0, 3) == 0) return {};
  const unsigned denominator = pick(1, 7);
  return {denominator + pick(0, 12), denominator};
}

ChannelParameters random_channel(Picker& pick) {
  return {8U << pick(0, 4), pick(0, 4) == 0 ? pick(1, 60) : pick(1, 4), pick(1, 6), pick(1, 7)};
}

AtomicBlock random_atomic(Picker& pick) {
  AtomicBlock block;
  block.operation = AtomicOperation::exchange;
  block.type = pick(0, 1) == 0 ? DataType::b32 : DataType::b64;
  block.count = pick(1, kWarpLanes);
  return block;
}

Item random_item(Picker& pick, Cycle at, bool maintenance) {
  const PhysicalAddress line = physical(Aperture::vidmem, pick(0, 4000) * std::uint64_t{kLineBytes});
  const auto sectors = static_cast<SectorMask>(pick(1, kAllSectors));
  switch (pick(maintenance ? 0 : 1, 10)) {
    case 0: return maintain_item(at, maintenance::kDrain);
    case 1: return atomic_item(at, line, random_atomic(pick));
    case 2: {
      Item item = atomic_item(at, line, random_atomic(pick));
      item.request.command = Command::reduce;
      return item;
    }
    case 10: return control_item(at, line, static_cast<LineControl>(pick(1, 4)));
    case 3:
    case 4:
    case 5: return write_item(at, line, ByteMask::of_sectors(sectors), 1);
    default: return read_item(at, line, sectors);
  }
}

}  // namespace

MeshShape::MeshShape(std::uint64_t seed, Form form, Requests requests)
    : crossbar(form == Form::crossbar || form == Form::wide_crossbar) {
  Picker pick(seed);
  const bool wide = form == Form::wide_crossbar;
  clients = wide ? pick(60, 140) : pick(1, 6);
  servers = crossbar ? pick(1, 5) : clients;
  switch (form) {
    case Form::one_hop:
    case Form::wide_crossbar: break;
    case Form::chains: upper_relays.resize(pick(1, 3)); break;
    case Form::crossbar: upper_relays.resize(pick(0, 2)); break;
  }
  for (Ratio& r : upper_relays) r = random_ratio(pick);
  if (form == Form::crossbar) lower_relays.resize(pick(0, 2));
  for (Ratio& r : lower_relays) r = random_ratio(pick);
  upper.resize(upper_relays.size() + 1);
  lower.resize(crossbar ? lower_relays.size() + 1 : 0);
  for (std::vector<Level>* half : {&upper, &lower})
    for (Level& level : *half) level = {random_channel(pick), random_channel(pick)};
  client_clock = random_ratio(pick);
  crossbar_clock = random_ratio(pick);
  server_clock = random_ratio(pick);
  for (unsigned n = pick(0, 3); n != 0; --n) hash.hash_masks.push_back(pick.bits());
  client_gap = pick(1, 5);
  relay_gap = pick(1, 3);
  server_gap = pick(1, 4);
  capacity = pick(1, 8);
  longest_delay = pick(1, 40);
  server_seed = pick.bits();
  items.resize(clients);
  const unsigned spread = pick(0, 30);
  for (auto& list : items) {
    Cycle at = pick(0, 50);
    for (unsigned n = pick(1, wide ? 8 : 50); n != 0; --n)
      list.push_back(random_item(pick, at += pick(0, spread), crossbar && requests == Requests::all));
  }
}

std::size_t MeshShape::transactions() const {
  std::size_t n = 0;
  for (const auto& list : items) n += list.size();
  return n;
}

}  // namespace warpline::test
