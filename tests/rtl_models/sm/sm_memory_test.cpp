#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "rtl_models/isa/atomic.h"
#include "tests/rtl_models/sm/script.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace sm_memory_test {

/// Where a lane's data have `c` of a compare-and-swap, of whatever size.
constexpr std::size_t kSecond = 16;

/// The lanes of one random memory instruction.
struct Lanes {
  LaneMask active = 0;
  bool is_strided = false;
  std::uint64_t base = 0;
  std::int64_t stride = 0;
  LaneBuffers buffers;
  [[nodiscard]] std::uint64_t address(unsigned lane) const {
    return is_strided ? base + static_cast<std::uint64_t>(static_cast<std::int64_t>(lane) * stride)
                      : buffers.address[lane];
  }
};

/// Some byte of a space, as a generic address where the space says so.
std::uint64_t some_address(Random& random, Space space, unsigned bytes) {
  const auto within = [&](std::uint64_t size) { return random.below(size / bytes) * bytes; };
  switch (space) {
    case Space::shared: return within(128);
    case Space::local: return within(64);
    case Space::constant:
    case Space::param: return within(256);
    case Space::generic: {
      const auto which = random.below(3);
      if (which == 0) return AddressWindows::kSharedBase + within(128);
      if (which == 1) return AddressWindows::kLocalBase + within(64);
      break;
    }
    default: break;
  }
  return (random.below(2) == 0 ? 0x1000U : 0x10000000U) + within(256);
}

Step random_step(Random& random, std::shared_ptr<Lanes>& lanes) {
  constexpr std::array<DataType, 5> kTypes = {DataType::u8, DataType::u16, DataType::u32, DataType::u64,
                                              DataType::b128};
  constexpr std::array<Space, 6> kSpaces = {Space::global, Space::global,  Space::shared,
                                            Space::local,  Space::generic, Space::constant};
  const auto what = random.below(8);
  Space space = kSpaces[random.below(kSpaces.size())];
  DataType type = kTypes[random.below(kTypes.size())];
  MemKind kind = what < 4 || space == Space::constant ? MemKind::load
                 : what < 7                           ? MemKind::store
                                                      : MemKind::atomic;
  if (space == Space::constant && random.below(2) != 0) space = Space::param;
  if (kind == MemKind::atomic) {
    space = random.below(2) != 0 ? Space::global : Space::shared;
    if (space == Space::global && random.below(2) != 0) kind = MemKind::reduction;
  }
  Step s = memory(kind, space, type, {});
  MemOp& op = s.instruction.mem;
  if (kind == MemKind::atomic || kind == MemKind::reduction) {
    const AtomicForm& form = atomic_forms()[random.below(atomic_forms().size())];
    op.atomic = form.operation;
    op.type = form.type;
    op.vector = static_cast<std::uint8_t>(form.vector);
  } else if (type != DataType::b128) {
    op.vector = static_cast<std::uint8_t>(1U << random.below(3));
  }
  op.is_noncoherent = kind == MemKind::load && space == Space::global && random.below(4) == 0;
  // Parameters start at 0x210; a generic address of 32 bytes must be global.
  if ((space == Space::param || space == Space::generic) && op.bytes_per_lane() == 32) op.vector = 1;
  const unsigned bytes = op.bytes_per_lane();
  lanes = std::make_shared<Lanes>();
  lanes->active = random.below(3) == 0 ? ~LaneMask{0} : static_cast<LaneMask>(random.next());
  for (std::uint64_t& a : lanes->buffers.address) a = some_address(random, space, bytes);
  for (std::uint8_t& b : lanes->buffers.data) b = static_cast<std::uint8_t>(random.next());
  if (space == Space::global && random.below(2) == 0) {
    lanes->is_strided = true;
    lanes->base = (random.below(2) == 0 ? 0x1000U : 0x10000000U) + 31ULL * 32 + random.below(4) * bytes;
    lanes->stride = (static_cast<std::int64_t>(random.below(3)) - 1) * static_cast<std::int64_t>(bytes);
  }
  s.fill = [l = lanes](MemoryAccess& a) {
    a.active = l->active;
    a.form = l->is_strided ? AddressForm::strided : AddressForm::per_lane;
    a.base = l->base;
    a.stride = l->stride;
    std::copy_n(l->buffers.address.data(), kWarpLanes, a.address);
    std::copy_n(l->buffers.data.data(), l->buffers.data.size(), a.data);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
      std::memcpy(&a.second[lane], a.lane_data(lane) + kSecond, sizeof a.second[lane]);
  };
  return s;
}

/// Every memory of the machine as a map of bytes.
struct NaiveMachine {
  std::map<std::uint64_t, std::uint8_t> global, shared, texture, constant;
  std::map<std::pair<unsigned, unsigned>, std::map<std::uint64_t, std::uint8_t>> local;  ///< by slot and lane

  std::uint8_t& byte(const MemOp& op, unsigned slot, unsigned lane, std::uint64_t address) {
    Space space = op.space;
    if (space == Space::generic) {
      space = AddressWindows::space_of(address);
      address = AddressWindows::from_generic(space, address);
    }
    if (space == Space::shared) return shared[address];
    if (space == Space::local) return local[{slot, lane}][address];
    if (space == Space::constant) return constant[address];
    if (space == Space::param) return constant[ConstantBanks::kParameterOffset + address];
    return op.is_noncoherent ? texture[address] : global[address];
  }
  /// Performs the lanes in order; `data` becomes what they get.
  void perform(const MemOp& op, unsigned slot, const Lanes& l, LaneBuffers& data) {
    const unsigned bytes = op.bytes_per_lane();
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if (((l.active >> lane) & 1U) == 0) continue;
      std::uint8_t* d = &data.data[lane * LaneBuffers::kMaxLaneBytes];
      if (op.kind == MemKind::load || op.kind == MemKind::store) {
        for (unsigned b = 0; b < bytes; ++b) {
          std::uint8_t& m = byte(op, slot, lane, l.address(lane) + b);
          (op.kind == MemKind::load ? d[b] : m) = op.kind == MemKind::load ? m : d[b];
        }
        continue;
      }
      AtomicBlock one;
      one.operation = op.atomic;
      one.type = op.type;
      one.vector = op.vector;
      std::memcpy(&one.lanes[0].operand, d, std::min(bytes, 8U));
      std::memcpy(&one.lanes[0].second, d + kSecond, std::min(bytes, 8U));
      std::memcpy(&one.high[0].operand, d + 8, 8);
      std::memcpy(&one.high[0].second, d + kSecond + 8, 8);
      LaneBytes there{};
      for (unsigned b = 0; b < bytes; ++b) there[b] = byte(op, slot, lane, l.address(lane) + b);
      const LaneBytes old_value = naive_lane(
          one, 0, there.data(), op.space == Space::shared ? Subnormals::kept : Subnormals::flushed);
      for (unsigned b = 0; b < bytes; ++b) byte(op, slot, lane, l.address(lane) + b) = there[b];
      if (op.kind == MemKind::atomic) std::memcpy(d, old_value.data(), bytes);
    }
  }
};

/// Fills what is only read, in the memory and in the oracle.
void fill_constants(SmBench& bench, NaiveMachine& naive) {
  for (std::uint64_t b = 0; b < 0x400; ++b) {
    const auto value = static_cast<std::uint8_t>(splitmix64(b));
    bench.constant.lines[0x100000 + b / 128 * 128][b % 128] = naive.constant[b] = value;
    for (const auto& [base, physical] : {std::pair{0x1000U, 0x8000U}, std::pair{0x10000000U, 0x10000U}}) {
      for (const std::uint64_t at : {b, b + 0x400}) {
        const auto v = static_cast<std::uint8_t>(splitmix64(base + at));
        bench.texture.lines[physical + at / 128 * 128][at % 128] = naive.texture[base + at] = v;
      }
    }
  }
}

void fuzz(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed * 101);
  SmParameters p;
  p.lsu_entries = static_cast<unsigned>(1 + random.below(12));
  p.lsu_queue = static_cast<unsigned>(1 + random.below(p.lsu_entries));
  p.issue_latency = static_cast<unsigned>(1 + random.below(6));
  p.writeback_latency = static_cast<unsigned>(random.below(4));
  const FlatMemory::Delay delay = FlatMemory::random_delay(seed, 1 + random.below(60));
  std::vector<std::vector<Step>> scripts(1 + random.below(4));
  std::vector<std::vector<std::shared_ptr<Lanes>>> lanes(scripts.size());
  for (std::size_t w = 0; w < scripts.size(); ++w) {
    for (unsigned k = 0; k < 40; ++k) {
      scripts[w].push_back(random_step(random, lanes[w].emplace_back()));
      if (random.below(5) == 0) {
        scripts[w].push_back(alu(static_cast<std::uint8_t>(1 + random.below(30)), {}, {1}));
        scripts[w].push_back(alu(1, {1}));
        lanes[w].resize(lanes[w].size() + 2);
      }
    }
    scripts[w].push_back(fence(Semantics::acq_rel, Scope::cta));  // or the warp exits with loads in flight
  }
  std::unique_ptr<SmBench> lazy;
  for (const TickMode mode : {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
    auto bench = std::make_unique<SmBench>(scripts, delay, p, mode);
    NaiveMachine naive;
    fill_constants(*bench, naive);
    ASSERT_EQ(bench->run(), RunOutcome::quiescent);
    ASSERT_TRUE(bench->sm.faults().empty()) << bench->sm.faults()[0].kind;
    ASSERT_EQ(bench->engine.pool().in_use(), 0U);
    if (lazy != nullptr) {
      ASSERT_EQ(bench->l1.seen, lazy->l1.seen);
      ASSERT_EQ(bench->log.issued.size(), lazy->log.issued.size());
      for (std::size_t i = 0; i < lazy->log.issued.size(); ++i)
        ASSERT_EQ(bench->log.issued[i].edge, lazy->log.issued[i].edge) << "instruction " << i;
      continue;
    }
    for (const Log::Issued& i : bench->log.issued) {
      const Instruction& instruction = bench->scripts[i.slot][i.step].instruction;
      if (instruction.kind != InstructionKind::memory) continue;
      const Lanes& l = *lanes[i.slot][i.step];
      LaneBuffers want = l.buffers;
      naive.perform(instruction.mem, i.slot, l, want);
      if (!instruction.mem.reads()) continue;
      const LaneBuffers& got = bench->log.loaded.at({i.slot, i.step});
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        const std::size_t at = lane * LaneBuffers::kMaxLaneBytes;
        ASSERT_EQ(std::memcmp(&got.data[at], &want.data[at], LaneBuffers::kMaxLaneBytes), 0)
            << "slot " << i.slot << " step " << i.step << " lane " << lane << ": " << to_ptx(instruction.mem);
      }
    }
    lazy = std::move(bench);
  }
}

TEST(SmMemory, RandomAccessesOfAllSpacesAreThoseOfMapsOfBytes) {
  for (std::uint64_t seed = 1; seed <= everyday(80) && !HasFatalFailure(); ++seed) fuzz(seed);
}

/// What each port to L1 has got, in their order of time.
std::vector<std::pair<unsigned, FlatMemory::Seen>> seen_by_port(const SmBench& bench) {
  std::vector<std::pair<unsigned, FlatMemory::Seen>> all;
  for (const FlatMemory::Seen& s : bench.l1.seen) all.emplace_back(0, s);
  for (unsigned k = 0; k < bench.more_l1.size(); ++k)
    for (const FlatMemory::Seen& s : bench.more_l1[k].seen) all.emplace_back(k + 1, s);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second.at < b.second.at; });
  return all;
}

SmParameters with_ports(unsigned ports) {
  SmParameters p;
  p.l1_ports = ports;
  return p;
}

TEST(SmMemory, LinesOfAnAccessGoToL1ByAsManyPortsAsThereAre) {
  for (const unsigned ports : {1U, 2U, 4U}) {
    SmBench bench({{memory(MemKind::load, Space::global, DataType::b32, strided(0x10000000, 128), {1})}},
                  SmBench::fixed(20), with_ports(ports));
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    const auto seen = seen_by_port(bench);
    ASSERT_EQ(seen.size(), 32U);
    std::map<Cycle, unsigned> in_cycle;
    std::set<std::uint64_t> numbers;
    for (const auto& [port, s] : seen) {
      ++in_cycle[s.at];
      numbers.insert(s.id);
      const std::uint64_t n = s.line.value / kLineBytes;
      EXPECT_EQ(port, (n ^ n >> 2U) % ports) << "line " << n;
    }
    EXPECT_EQ(numbers.size(), 32U) << "each has a number of its own";
    for (const auto& [at, count] : in_cycle) EXPECT_LE(count, ports);
    EXPECT_EQ(seen.back().second.at - seen.front().second.at, 32 / ports - 1);
    EXPECT_EQ(bench.sm.lsu_counters().l1_bank_conflicts, ports == 1 ? 0U : 31U) << "all of one bank";
  }
}

TEST(SmMemory, WholeLinesAreLoadedAlikeWithoutAQualifierAndWithOneThatAsksForNothingMore) {
  // The former take a short way through the load/store unit; `.ca` is what they ask for, too.
  for (const unsigned ports : {1U, 4U})
    for (const Cycle delay : {Cycle{3}, Cycle{200}}) {
      const auto run = [&](CacheOperator op) {
        std::vector<std::vector<Step>> scripts(6);
        for (unsigned warp = 0; warp < scripts.size(); ++warp)
          for (unsigned n = 0; n < 12; ++n) {
            const std::uint64_t line = 0x10000000 + (warp * 5 + n * n) % 64 * kLineBytes;
            Step load = memory(MemKind::load, Space::global, DataType::b32, strided(line, 4),
                               {static_cast<std::uint16_t>(n % 8)});
            load.instruction.mem.cache_operator = op;
            scripts[warp].push_back(load);
          }
        SmBench bench(std::move(scripts), SmBench::fixed(delay), with_ports(ports));
        EXPECT_EQ(bench.run(), RunOutcome::quiescent);
        std::vector<std::uint64_t> counters;
        bench.sm.lsu_counters().visit(
            [&](const char*, std::uint64_t value, const char*, const char*) { counters.push_back(value); });
        std::vector<std::pair<unsigned, std::uint64_t>> issued;
        for (const Log::Issued& i : bench.log.issued) issued.emplace_back(i.slot, i.edge);
        return std::tuple(seen_by_port(bench), counters, issued, bench.engine.now());
      };
      EXPECT_TRUE(run(CacheOperator::none) == run(CacheOperator::ca))
          << ports << " ports, answers after " << delay << " cycles";
    }
}

TEST(SmMemory, LoadsTakeTheBanksOfL1AsLongAsTheirWordsNeedThem) {
  // Bytes between lanes, bytes of each, and cycles from one load to the next (published for A100 and A40).
  struct Row {
    std::int64_t stride;
    DataType type;
    Cycle cycles;
  };
  for (const Row& row : {Row{4, DataType::b32, 1}, Row{8, DataType::b32, 2}, Row{12, DataType::b32, 2},
                         Row{16, DataType::b32, 4}, Row{48, DataType::b32, 4}, Row{64, DataType::b32, 16},
                         Row{128, DataType::b32, 32}, Row{0, DataType::b32, 1}, Row{8, DataType::b64, 2},
                         Row{32, DataType::b64, 8}, Row{40, DataType::b64, 3}, Row{48, DataType::b64, 4},
                         Row{96, DataType::b64, 8}, Row{128, DataType::b64, 32}}) {
    const Step load = memory(MemKind::load, Space::global, row.type, strided(0x10000000, row.stride));
    SmBench bench({{load, load, load, load}}, SmBench::fixed(20), with_ports(4));
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    std::vector<Cycle> first;
    for (const auto& [port, s] : seen_by_port(bench))
      if (s.line.value == 0x10000) first.push_back(s.at);
    ASSERT_EQ(first.size(), 4U);
    EXPECT_EQ(first[3] - first[2], row.cycles) << row.stride << " bytes apart";
  }
}

TEST(SmMemory, DrainsAndMmioWaitUntilWritesByOtherPortsHavePassedL1) {
  const Step stores = memory(MemKind::store, Space::global, DataType::b32, strided(0x10000000, 128));
  Step mmio = memory(MemKind::store, Space::global, DataType::b32, strided(0x1000, 4, 3));
  mmio.instruction.mem.is_mmio = true;
  mmio = ordered(mmio, Semantics::relaxed, Scope::sys);
  // Writes of odd lines are slow.
  const auto delay = [](const Request& r, std::size_t) {
    return r.command == Command::write && r.line.value / kLineBytes % 2 != 0 ? Cycle{300} : Cycle{3};
  };
  SmBench bench({{stores}, {fence(Semantics::acq_rel, Scope::gpu), mmio}}, delay, with_ports(4));
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  Cycle last_store = 0, drained = 0;
  std::vector<Cycle> single;
  for (const auto& [port, s] : seen_by_port(bench)) {
    if ((s.maintenance & maintenance::kDrain) != 0) drained = s.at;
    if (s.command == Command::write && s.exact) single.push_back(s.at);
    if (s.command == Command::write && !s.exact) last_store = std::max(last_store, s.at);
  }
  EXPECT_GT(drained, last_store + 300);
  ASSERT_EQ(single.size(), 2U);
  EXPECT_GT(single[1], single[0] + 3);
}

}  // namespace sm_memory_test
}  // namespace warpline::test
