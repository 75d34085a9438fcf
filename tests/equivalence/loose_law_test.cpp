// Loosely timed access against timed access, request by request: where no two overlap, every answer has the
// same bytes and every counter is equal, for random netlists, clocks and traffic. So is the time of reads
// where nothing is written; a write-back on its own way to memory can hold a timed fetch up, and no loose
// one.
//
// WARPLINE_LOOSE_SEEDS sets how many netlists are drawn, WARPLINE_LOOSE_SEED the first one's seed.
#include <gtest/gtest.h>

#include <map>

#include "rtl_models/base/counter.h"
#include "rtl_models/base/random.h"
#include "rtl_models/cache/read_only_cache.h"
#include "rtl_models/crossbar/crossbar.h"
#include "rtl_models/dram/dram_channel.h"
#include "rtl_models/l1_lg/l1_lg.h"
#include "rtl_models/l2/l2_slice.h"
#include "rtl_models/pcie/gpu_link/pcie_link.h"
#include "rtl_models/sim/loose_hop.h"
#include "tests/support/environment.h"
#include "tests/support/mock_components.h"

namespace warpline::test {
namespace loose_law_test {

constexpr std::uint64_t kBytes = 1U << 14U;
constexpr Cycle kApart = 20'000;  ///< longer than any request and all that it causes

struct Shape {
  CrossbarParameters crossbar;
  ClockDomain sm, memory, link;
  L1LgParameters l1;
  ReadOnlyCacheParameters texture;
  L2Parameters l2;
  DramParameters dram;
  PcieParameters pcie;
  std::vector<HopParameters> hops;
  bool with_data = true;
};

Shape random_shape(Random& random) {
  const auto pick = [&random](std::initializer_list<unsigned> list) {
    return *(list.begin() + random.below(list.size()));
  };
  Shape s;
  s.sm = {1, 1};
  s.memory = {pick({5, 7, 9}), pick({3, 4, 5})};
  s.link = {pick({5, 7, 9}), pick({2, 3, 5})};
  s.l1.geometry = {pick({1, 2, 7}), pick({1, 2, 4})};
  s.l1.miss_registers = pick({1, 4});
  s.l1.update_on_store = random.below(2) == 0;
  s.l1.poison_last_use = random.below(4) == 0;
  s.texture.geometry = {pick({1, 2, 7}), pick({1, 2, 4})};
  s.l2.slices = pick({1, 2, 3});
  s.l2.geometry = {pick({1, 2, 7}), pick({1, 2, 4})};
  s.l2.miss_registers = pick({1, 4});
  s.l2.poison_discarded = random.below(2) == 0;
  if (s.l2.slices > 1 && random.below(2) == 0) s.l2.partitions = {2, pick({0, 3, 60}), pick({0, 4, 32})};
  if (random.below(2) == 0) s.l2.atomics = {pick({0, 10}), pick({0, 46}), 0, pick({0, 5}), pick({0, 9}), 0};
  s.dram.channels = s.l2.slices;
  s.dram.banks = pick({1, 3, 16});
  s.pcie.tags = pick({1, 3, 256});
  s.pcie.max_payload = pick({32, 64, 256});
  s.pcie.atomic_ops = random.below(2) == 0;
  for (unsigned i = 0; i < 5; ++i) {
    HopParameters h;
    h.request = {pick({4, 32, 128}), pick({1, 2, 9}), pick({1, 2, 16}), pick({1, 3})};
    h.response = {pick({4, 32, 128}), pick({1, 2, 9}), pick({1, 2, 16}), pick({1, 3})};
    s.hops.push_back(h);
  }
  s.with_data = random.below(4) != 0;
  if (random.below(2) == 0) s.crossbar.network.slice_distance = {3, 0, 17};
  return s;
}

/// Two requesters, an L1 and a texture cache, a crossbar, slices with a DRAM channel each, and a link.
class Gpu final : public CounterVisitor {
 public:
  Gpu(const Shape& s, const std::vector<std::vector<Item>>& items)
      : l1(engine, "l1", s.sm, s.l1, s.with_data),
        texture(engine, "texture", s.sm, s.texture, s.with_data),
        crossbar(engine, "crossbar", s.memory, s.crossbar, 2, s.l2.slices,
                 {s.hops[2].request.width, s.hops[1].response.width}, 0, {{0, 0, 0}, {0, 0, 0}}),
        pcie(engine, "pcie", s.link, s.pcie, s.with_data ? &sysmem : nullptr, s.l2.slices) {
    for (unsigned i = 0; i < 2; ++i)
      requesters.push_back(
          std::make_unique<Requester>(engine, "requester", s.sm, items[i], 1, id_of_sm({i, 0}, 0)));
    hop(requesters[0]->out, l1.from_sm, l1.to_sm, requesters[0]->in, s.hops[0]);
    hop(requesters[1]->out, texture.from_sm, texture.to_sm, requesters[1]->in, s.hops[0]);
    hop(l1.to_crossbar, crossbar.from_client(0), crossbar.to_client(0), l1.from_crossbar, s.hops[1]);
    hop(texture.to_crossbar, crossbar.from_client(1), crossbar.to_client(1), texture.from_crossbar,
        s.hops[1]);
    for (unsigned i = 0; i < s.l2.slices; ++i) {
      L2Slice& slice = *slices.emplace_back(std::make_unique<L2Slice>(
          engine, "l2[" + std::to_string(i) + "]", s.memory, s.l2, s.with_data ? &vidmem : nullptr, 1));
      slice.set_place({0, i, {}});
      DramChannel& channel = *channels.emplace_back(
          std::make_unique<DramChannel>(engine, "dram[" + std::to_string(i) + "]", s.memory, s.dram, 1));
      hop(crossbar.to_l2(i), slice.from_crossbar, slice.to_crossbar, crossbar.from_l2(i), s.hops[2]);
      hop(slice.to_dram[0], channel.from_l2(0), channel.to_l2(0), slice.from_dram[0], s.hops[3]);
      hop(slice.to_pcie, pcie.from_l2(i), pcie.to_l2(i), slice.from_pcie, s.hops[4]);
    }
    for (const auto& r : requesters) loose.push_back(std::make_unique<LooseHop>(r->out, r->in));
  }

  static void hop(Out<RequestMessage>& a, In<RequestMessage>& b, Out<ResponseMessage>& c,
                  In<ResponseMessage>& d, const HopParameters& p) {
    connect(a, b, p.request);
    connect(c, d, p.response);
  }
  void counter(std::string_view block, std::string_view name, std::uint64_t value, std::string_view,
               std::string_view) override {
    counters[std::string(block) + "." + std::string(name)] = value;
  }
  void count() {
    visit_counters("l1", l1.counters(), *this);
    visit_counters("texture", texture.counters(), *this);
    visit_counters("crossbar", crossbar.counters(), *this);
    for (const auto& s : slices) visit_counters(s->name(), s->counters(), *this);
    for (const auto& c : channels) visit_counters(c->name(), c->counters(), *this);
    visit_counters("pcie", pcie.counters(), *this);
  }

  Engine engine;
  MemoryImage vidmem{kBytes}, sysmem{kBytes};
  L1Lg l1;
  ReadOnlyCache texture;
  Crossbar crossbar;
  PcieLink pcie;
  std::vector<std::unique_ptr<Requester>> requesters;
  std::vector<std::unique_ptr<L2Slice>> slices;
  std::vector<std::unique_ptr<DramChannel>> channels;
  std::vector<std::unique_ptr<LooseHop>> loose;
  std::map<std::string, std::uint64_t> counters;
};

enum class Traffic {
  reads,
  all,
  bursts,  ///< and invalidations of local lines, whose write-backs overlap with each other
};

Traffic random_traffic_kind(Random& random) {
  return static_cast<Traffic>(random.below(3));
}

Item random_item(Random& random, Cycle at, bool texture, Traffic traffic) {
  const bool sysmem = random.below(3) == 0;
  // Now and then beyond the end of the memory.
  const std::uint64_t lines = kBytes / kLineBytes / 4 + (random.below(40) == 0 ? kBytes : 0);
  const PhysicalAddress line =
      physical(sysmem ? Aperture::sysmem : Aperture::vidmem, random.below(lines) * kLineBytes);
  const auto sectors = static_cast<SectorMask>(1 + random.below(15));
  Item item;
  const std::uint64_t kind = texture || traffic == Traffic::reads ? 0 : random.below(14);
  if (kind < 5) {
    item = read_item(at, line, sectors);
    item.request.last_use = random.below(8) == 0;
    // A prefetch would overlap with a write-back that the same request's fill causes.
    if (traffic == Traffic::reads && random.below(4) == 0)
      item.request.prefetch = static_cast<SectorMask>(random.below(16));
  } else if (kind < 9) {
    ByteMask bytes;
    const auto offset = static_cast<unsigned>(random.below(kLineBytes));
    bytes.set(offset, 1 + static_cast<unsigned>(random.below(kLineBytes - offset)));
    item = write_item(at, line, bytes, static_cast<std::uint8_t>(random.below(256)));
  } else if (kind < 11) {
    AtomicBlock block;
    block.operation = random.below(2) == 0 ? AtomicOperation::add : AtomicOperation::max;
    block.type = DataType::u32;
    block.count = 1 + static_cast<unsigned>(random.below(3));
    for (unsigned i = 0; i < block.count; ++i) {
      block.lanes[i].lane = static_cast<std::uint8_t>(i);
      block.lanes[i].offset = static_cast<std::uint8_t>(4 * random.below(8));
      block.lanes[i].operand = random.below(1000);
    }
    item = atomic_item(at, line, block);
    item.request.sectors = 1;
    if (random.below(2) == 0) item.request.command = Command::reduce;
  } else if (kind < 13) {
    item = control_item(at, line, static_cast<LineControl>(1 + random.below(7)));
    item.request.sectors = sectors;
  } else {
    item =
        maintain_item(at, static_cast<std::uint8_t>(1 + random.below(traffic == Traffic::bursts ? 31 : 15) +
                                                    32 * random.below(4)));
  }
  if (texture && random.below(12) == 0) item = maintain_item(at, maintenance::kInvalidate);
  Request& r = item.request;
  r.virtual_line = VirtualAddress{r.line.value};
  r.sm = texture ? 1 : 0;
  const bool data = r.command == Command::read || r.command == Command::write;
  const bool local_control = r.command == Command::control && r.control != LineControl::apply_priority &&
                             r.control != LineControl::discard;
  r.local = (data || local_control) && !texture && !sysmem && line.value % 1024 < 512;
  if (!r.local) r.last_use = false;
  if (r.last_use) r.bytes = ByteMask::of_sectors(r.sectors);
  r.surface = data && !r.local && !texture && random.below(4) == 0;
  r.no_l1 = data && !r.local && random.below(8) == 0;
  r.cache_operator = r.local || random.below(6) != 0 ? CacheOperator::none : CacheOperator::cv;
  if (r.command == Command::write && r.cache_operator == CacheOperator::cv)
    r.cache_operator = CacheOperator::wt;
  if (!texture && !r.local && random.below(6) == 0) r.scope = random.below(2) == 0 ? Scope::gpu : Scope::sys;
  r.l1_priority = static_cast<EvictionPriority>(random.below(6));
  r.l2_priority = static_cast<EvictionPriority>(1 + random.below(5));
  return item;
}

std::vector<std::vector<Item>> random_traffic(Random& random, unsigned count, Traffic traffic) {
  std::vector<std::vector<Item>> items(2);
  for (unsigned i = 0; i < count; ++i) {
    const bool texture = random.below(4) == 0;
    items[texture].push_back(random_item(random, (i + 1) * kApart + random.below(50), texture, traffic));
  }
  return items;
}

void set_loose(Gpu& gpu, bool loose) {
  for (const auto& hop : gpu.loose) hop->set_loose(loose);
}

void expect_same(const std::vector<std::vector<Item>>& items, Traffic traffic, Gpu& a, Gpu& b) {
  for (unsigned i = 0; i < 2; ++i) {
    for (std::size_t n = 0; n < items[i].size(); ++n) {
      const Answer& x = a.requesters[i]->answers[n];
      const Answer& y = b.requesters[i]->answers[n];
      SCOPED_TRACE("requester " + std::to_string(i) + " item " + std::to_string(n));
      ASSERT_EQ(x.sent, y.sent);
      ASSERT_TRUE(traffic != Traffic::reads || x.answered == y.answered)
          << "command " << static_cast<int>(items[i][n].request.command) << " line " << std::hex
          << items[i][n].request.line.value;
      ASSERT_EQ(x.status, y.status);
      const Request& r = items[i][n].request;
      if (r.command == Command::read && x.status == Status::ok) {
        for (unsigned byte = 0; byte < kLineBytes; ++byte) {
          if ((r.sectors >> (byte / kSectorBytes) & 1U) == 0) continue;
          ASSERT_EQ(x.data[byte], y.data[byte]) << byte;
        }
      }
      if (r.command != Command::atomic) continue;
      for (unsigned lane = 0; lane < x.atomics.count; ++lane)
        ASSERT_EQ(x.atomics.lanes[lane].old_value, y.atomics.lanes[lane].old_value);
    }
  }
  a.count();
  b.count();
  // A DRAM channel may take a fetch before the write-back that the same request sent first.
  if (traffic != Traffic::reads) {
    for (Gpu* gpu : {&a, &b}) {
      for (auto c = gpu->counters.begin(); c != gpu->counters.end();) {
        const bool of_order = c->first.find(".row_") != std::string::npos ||
                              c->first.find(".turnarounds") != std::string::npos ||
                              (traffic == Traffic::bursts && c->first == "crossbar.conflicts");
        c = of_order ? gpu->counters.erase(c) : std::next(c);
      }
    }
  }
  for (const auto& [name, value] : a.counters) ASSERT_EQ(value, b.counters.at(name)) << name;
  for (std::uint64_t at = 0; at < kBytes; ++at) {
    ASSERT_EQ(*a.vidmem.at(at), *b.vidmem.at(at));
    ASSERT_EQ(*a.sysmem.at(at), *b.sysmem.at(at));
  }
  ASSERT_EQ(b.engine.pool().in_use(), 0U);
}

template <class F>
void for_each_seed(F&& f) {
  const std::uint64_t first = from_environment("WARPLINE_LOOSE_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_LOOSE_SEEDS", 60);
  for (std::uint64_t seed = first; seed < first + count && !::testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("WARPLINE_LOOSE_SEEDS=1 WARPLINE_LOOSE_SEED=" + std::to_string(seed));
    Random random(splitmix64(seed));
    f(random);
  }
}

TEST(LooseLaw, RequestsThatDoNotOverlapTakeTheSameTimeAndCountTheSame) {
  for_each_seed([](Random& random) {
    const Shape shape = random_shape(random);
    const Traffic traffic = random_traffic_kind(random);
    const auto items = random_traffic(random, 300, traffic);
    Gpu timed(shape, items), loose(shape, items);
    set_loose(loose, true);
    ASSERT_EQ(timed.engine.run_until(kNever - 1), RunOutcome::quiescent);
    ASSERT_EQ(loose.engine.run_until(kNever - 1), RunOutcome::quiescent);
    expect_same(items, traffic, timed, loose);
  });
}

TEST(LooseLaw, SwitchingAtRestLeavesCachesWarmAndChangesNothing) {
  for_each_seed([](Random& random) {
    const Shape shape = random_shape(random);
    const Traffic traffic = random_traffic_kind(random);
    const auto items = random_traffic(random, 300, traffic);
    Gpu timed(shape, items), switching(shape, items);
    ASSERT_EQ(timed.engine.run_until(kNever - 1), RunOutcome::quiescent);
    Cycle at = 0;
    for (bool is_loose = true; switching.engine.next_tick() != kNever; is_loose = !is_loose) {
      set_loose(switching, is_loose);
      at += kApart * (1 + random.below(40));
      static_cast<void>(switching.engine.run_until(at - 1));  // between two items
    }
    expect_same(items, traffic, timed, switching);
  });
}

}  // namespace loose_law_test
}  // namespace warpline::test
