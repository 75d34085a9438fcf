#include "rtl_models/l1_lg/l1_lg_core.h"

#include <gtest/gtest.h>

#include "tests/rtl_models/l1_lg/core_bench.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace l1_lg_core_test {

/// Random programs of one SM, with another writer at L2, on caches of a few lines.
void fuzz(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  L1LgParameters parameters;
  parameters.geometry = {static_cast<unsigned>(1 + random.below(3)),
                         static_cast<unsigned>(1 + random.below(3)),
                         static_cast<unsigned>(random.below(101))};
  parameters.miss_registers = static_cast<unsigned>(1 + random.below(5));
  parameters.update_on_store = random.below(2) != 0;
  parameters.geometry.replacement = std::array{"lru", "pseudo_lru", "random"}[seed % 3];
  CoreBench bench(parameters);
  bench.resets = random.below(2) != 0;
  for (unsigned step = 0; step < 1500 && !::testing::Test::HasFatalFailure(); ++step) bench.step(random);
  bench.finish(random);
  const L1LgCounters& c = bench.core.counters();
  EXPECT_EQ(c.sector_hits + c.sector_misses, c.sector_accesses);
  EXPECT_EQ(c.load_sectors() - c.load_sector_hits(),
            c.fetched_sectors - c.prefetched_sectors + c.merged_sectors);
  EXPECT_EQ(c.fetched_sectors, bench.sectors_fetched);
  EXPECT_EQ(c.writeback_sectors, bench.sectors_written_back);
}

TEST(L1LgCore, RandomProgramsSeeTheirOwnStoresAndLoseNoDirtyByte) {
  for (std::uint64_t seed = 1; seed <= everyday(150) && !HasFatalFailure(); ++seed) fuzz(seed);
}

/// A read of the first sector of line `n`.
Request read_of(std::uint64_t n, Reader reader = Reader::load) {
  Request r;
  r.command = Command::read;
  r.virtual_line = VirtualAddress{n * kLineBytes};
  r.line = PhysicalAddress{n * kLineBytes};
  r.sectors = 1;
  r.reader = reader;
  return r;
}

TEST(L1LgCore, ReadsOfEveryKindFindTheSameLinesAndAreCountedApart) {
  L1LgCore core(one_line(), true);
  Request put = read_of(7);
  put.data[0] = 0x5A;
  core.path().put(put);
  for (const Reader reader : {Reader::load, Reader::noncoherent, Reader::texture}) {
    Request r = read_of(7, reader);
    r.cache_operator = CacheOperator::cg;  // what it asks of a read of another proxy is its priority
    r.no_l1 = reader != Reader::load;
    ASSERT_TRUE(core.serves(r));
    EXPECT_EQ(core.read(r).kind, ReadOutcome::Kind::hit);
    EXPECT_EQ(r.data[0], 0x5A);
    EXPECT_EQ(core.counters().of(reader).sectors, 1U);
    EXPECT_EQ(core.counters().of(reader).hits, 1U);
  }
  // A store of the SM's own drops or updates it for all of them alike.
  Request store = read_of(7);
  store.command = Command::write;
  store.no_l1 = true;
  core.store_global(store);
  Request r = read_of(7, Reader::texture);
  EXPECT_EQ(core.read(r).kind, ReadOutcome::Kind::wait);
  EXPECT_EQ(core.counters().of(Reader::texture).sectors, 2U);
  EXPECT_EQ(core.counters().of(Reader::texture).hits, 1U);
  EXPECT_EQ(core.counters().load_sectors(), 4U);
}

TEST(L1LgCore, LeavesStorageToSharedMemoryAndDropsItsLines) {
  L1LgParameters p;
  p.geometry = {8, 2};
  L1LgCore core(p, true);
  const auto put_all = [&core] {
    for (std::uint64_t n = 0; n < 16; ++n) core.path().put(read_of(n));
  };
  const auto present = [&core] {
    unsigned count = 0;
    for (std::uint64_t n = 0; n < 16; ++n) count += core.path().tags().find(n, n) != TagArray::kAbsent;
    return count;
  };
  put_all();
  EXPECT_EQ(present(), 16U);
  core.leave_to_shared(0);
  EXPECT_EQ(present(), 16U) << "nothing changes";
  Request dirty = read_of(100);
  dirty.command = Command::write;
  dirty.local = true;
  dirty.bytes.set(0, 4);
  static_cast<void>(core.store_local(dirty));
  core.leave_to_shared(std::uint64_t{5} * 2 * kLineBytes);
  EXPECT_EQ(present(), 0U);
  EXPECT_EQ(core.path().tags().lines(), 6U);
  put_all();
  EXPECT_EQ(present(), 6U) << "three sets of two ways";
  core.leave_to_shared(0);
  put_all();
  EXPECT_EQ(present(), 16U);
}

TEST(L1LgCore, AFillReadBeforeItsLinesWriteBackDoesNotInstall) {
  CoreBench bench(one_line());
  // Some bytes of a local sector are dirty; a load of the whole sector misses and its fetch is on
  // its way when another local line takes the place: the fetch overtakes nothing, so it is old.
  bench.store_local(0, 0, 4, 0x11);
  bench.load(0, 1, true);
  bench.perform_below();
  bench.store_local(1, 0, 4, 0x22);
  bench.perform_below();
  bench.answer_all();
  bench.load(0, 1, true);
  bench.perform_below();
  bench.answer_all();
  bench.check_local();
}

TEST(L1LgCore, ADeadFillServesItsWaitersAndInstallsNothing) {
  CoreBench bench(one_line());
  bench.load(0, 1, false);
  bench.core.invalidate_global();
  bench.perform_below();
  bench.answer_all();
  EXPECT_EQ(bench.core.counters().dead_fills, 1U);
  EXPECT_EQ(bench.loads_answered, 1U);
  bench.load(0, 1, false);
  EXPECT_EQ(bench.core.counters().sector_hits, 0U);
  EXPECT_EQ(bench.core.counters().fetched_sectors, 2U);
  bench.perform_below();
  bench.answer_all();
}

TEST(L1LgCore, ForgottenLocalLinesAreNeitherWrittenBackNorRemembered) {
  L1LgCore core(one_line(), true);
  Request store;
  store.command = Command::write;
  store.local = true;
  store.sectors = 1;
  store.bytes.set(0, kSectorBytes);
  store.data.fill(0x11);
  static_cast<void>(core.store_local(store));
  Request load;
  load.local = true;
  load.sectors = 1;
  load.last_use = true;
  ASSERT_EQ(core.read(load).kind, ReadOutcome::Kind::hit);
  Request other = store;
  other.virtual_line = VirtualAddress{kLineBytes};
  static_cast<void>(core.store_local(other));
  core.forget_local();
  load.last_use = false;
  const ReadOutcome out = core.read(load);
  ASSERT_EQ(out.kind, ReadOutcome::Kind::wait);
  Request fetched = load;
  fetched.token = out.entry;
  fetched.data.fill(0);
  RequestList served;
  EXPECT_FALSE(core.fill(fetched, served).happened);
  EXPECT_EQ(load.data[0], 0);
}

TEST(L1LgCore, AStoreKillsTheFillOfItsLineOnly) {
  L1LgParameters p = one_line();
  p.geometry = {4, 1};
  CoreBench bench(p);
  bench.load(0, 1, false);
  bench.load(1, 1, false);
  bench.store_global(0, 64, 4, 9);  // another sector of line 0
  bench.perform_below();
  bench.answer_all();
  EXPECT_EQ(bench.core.counters().dead_fills, 1U);
  bench.load(1, 1, false);
  EXPECT_EQ(bench.core.counters().load_sector_hits(), 1U);
  bench.load(0, 1, false);
  EXPECT_EQ(bench.core.counters().load_sector_hits(), 1U);
  bench.perform_below();
  bench.answer_all();
}

TEST(L1LgCore, AStrongLoadBeyondTheCtaIsNotServedAndDropsTheLine) {
  for (const Scope scope : {Scope::cta, Scope::cluster, Scope::gpu, Scope::sys}) {
    CoreBench bench(one_line());
    bench.load(0, 1, false);
    bench.perform_below();
    bench.answer_all();
    Request r;
    r.sectors = 1;
    r.scope = scope;
    r.virtual_line = VirtualAddress{0};
    const bool wide = scope != Scope::cta;
    EXPECT_EQ(bench.core.serves(r), !wide);
    bench.load(0, 1, false);
    EXPECT_EQ(bench.core.counters().load_sector_hits(), wide ? 0U : 1U);
    bench.perform_below();
    bench.answer_all();
  }
}

TEST(L1LgCore, AHitUnderAMissIsServedAndAFullTableStallsMissesOnly) {
  L1LgParameters p = one_line();
  p.geometry = {4, 1};
  p.miss_registers = 1;
  CoreBench bench(p);
  bench.load(0, 1, false);
  bench.perform_below();
  bench.answer_all();
  bench.load(1, 1, false);
  Request hit;
  hit.sectors = 1;
  Request miss = hit;
  miss.virtual_line = VirtualAddress{256};
  EXPECT_EQ(bench.core.read(miss).kind, ReadOutcome::Kind::stall);
  const std::uint64_t accesses = bench.core.counters().sector_accesses;
  EXPECT_EQ(bench.core.read(miss).kind, ReadOutcome::Kind::stall);
  EXPECT_EQ(bench.core.counters().sector_accesses, accesses) << "what stalls is counted once it is served";
  EXPECT_EQ(bench.core.read(hit).kind, ReadOutcome::Kind::hit);
  bench.perform_below();
  bench.answer_all();
}

}  // namespace l1_lg_core_test
}  // namespace warpline::test
