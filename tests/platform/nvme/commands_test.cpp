#include <gtest/gtest.h>

#include <set>
#include <string>

#include "rtl_models/base/random.h"
#include "tests/platform/nvme/nvme_bench.h"

namespace warpline {
namespace nvme_commands_test {

using namespace regs::nvme;
using test::Cqe;
using test::nvme_parameters;
using test::NvmeBench;
using test::Sqe;

std::uint64_t at(const std::vector<std::uint8_t>& page, unsigned offset, unsigned bytes) {
  return number_at(&page[offset], bytes);
}

TEST(NvmeRegisters, SayWhatTheControllerIs) {
  NvmeBench bench;
  EXPECT_EQ(bench.host.devices()[0].vectors, 5U);
  EXPECT_EQ(bench.host.load_config(bench.host.devices()[0].id, 8, 4) >> 8U, 0x010802U);
  const std::uint64_t cap = bench.read(0, 8);
  EXPECT_EQ(cap & 0xFFFF, 63U);
  EXPECT_EQ(cap >> 16U & 1U, 0U) << "queues need not be contiguous";
  EXPECT_EQ(cap >> 37U & 0xFFU, 1U);
  EXPECT_EQ(bench.read(8), 0x0001'0400U);
  EXPECT_EQ(bench.read(0x1C), 0U);
  bench.write(0xC, 5);
  EXPECT_EQ(bench.read(0x10), 5U);
  bench.write(0x10, 4);
  EXPECT_EQ(bench.read(0xC), 1U);
}

TEST(NvmeRegisters, EnableResetAndShutDown) {
  NvmeBench bench;
  bench.start();
  // What cannot be enabled is fatal until it is disabled.
  bench.write(0x14, 0);
  bench.wait_ready(false);
  bench.write(0x14, 0x0046'0011);  // a command set that it has not
  EXPECT_EQ(bench.read(0x1C), 2U);
  bench.write(0x14, 0);
  EXPECT_EQ(bench.read(0x1C), 0U);
  EXPECT_NE(bench.read(0x24), 0U) << "the admin queue's registers keep their values";
  bench.start();
  ASSERT_EQ(bench.create(1).code, 0U);
  bench.write(0x14, bench.read(0x14) | 1U << 14U);
  for (int i = 0; i < 20 && (bench.read(0x1C) >> 2U & 3U) != 2; ++i) bench.host.pass(1000);
  EXPECT_EQ(bench.read(0x1C), 9U);
  // Nothing is executed until it has been disabled.
  EXPECT_FALSE([&] {
    bench.submit(0, {kAdminOpcodeIdentify});
    return bench.wait(0, 20).came;
  }());
  bench.start();
  EXPECT_EQ(bench.run(0, {kAdminOpcodeAbort}).code, 0U);
  EXPECT_EQ(bench.core().counters().resets, 3U);
  // A shutdown of what is not enabled is over at once, and forgotten when it is enabled.
  bench.write(0x14, 0);
  bench.wait_ready(false);
  bench.write(0x14, 1U << 14U);
  EXPECT_EQ(bench.read(0x1C), 8U);
  bench.start();
  EXPECT_EQ(bench.read(0x1C), 1U);
  EXPECT_EQ(bench.run(0, {kAdminOpcodeAbort}).code, 0U);
}

/// Two processes serve disks to one machine, and tell them apart by their seeds.
TEST(NvmeAdmin, ItsNamesFollowTheSeed) {
  std::set<std::string> serials, subsystems;
  for (const std::uint64_t seed : {1U, 2U}) {
    PcieSystemParameters p = nvme_parameters();
    p.nvme.seed = seed;
    NvmeBench bench(p);
    bench.start();
    const auto page = bench.page(kAdminOpcodeIdentify, 0, kIdentifyCnsController);
    serials.emplace(&page[4], &page[24]);
    subsystems.emplace(&page[768], &page[836]);
    EXPECT_EQ(page[836], 0);
    EXPECT_NE(page[835], 0);
  }
  EXPECT_EQ(serials.size(), 2U);
  EXPECT_EQ(subsystems.size(), 2U);
}

TEST(NvmeAdmin, IdentifiesItself) {
  PcieSystemParameters p = nvme_parameters();
  p.nvme.namespaces = 3;
  NvmeBench bench(p);
  bench.start();
  const auto controller = bench.page(kAdminOpcodeIdentify, 0, kIdentifyCnsController);
  EXPECT_EQ(std::string(&controller[24], &controller[32]), "Warpline");
  EXPECT_EQ(at(controller, 77, 1), 5U);
  EXPECT_EQ(at(controller, 80, 4), 0x1'0400U);
  EXPECT_EQ(at(controller, 516, 4), 3U);
  EXPECT_EQ(at(controller, 512, 2), 0x4466U);
  bench.system.nvme(0).set_active(2, false, bench.host.now() + 1);
  const auto list = bench.page(kAdminOpcodeIdentify, 0, kIdentifyCnsActiveNamespaces);
  EXPECT_EQ(at(list, 0, 4), 1U);
  EXPECT_EQ(at(list, 4, 4), 3U);
  EXPECT_EQ(at(list, 8, 4), 0U);
  const auto space = bench.page(kAdminOpcodeIdentify, 1, kIdentifyCnsNamespace);
  EXPECT_EQ(at(space, 0, 8), 2048U);
  EXPECT_EQ(at(space, 130, 1), 9U);
  EXPECT_EQ(at(space, 134, 1), 12U);
  EXPECT_EQ(at(bench.page(kAdminOpcodeIdentify, 2, kIdentifyCnsNamespace), 0, 8), 0U) << "inactive";
  const auto names = bench.page(kAdminOpcodeIdentify, 1, kIdentifyCnsDescriptors);
  EXPECT_EQ(at(names, 0, 2), 0x0801U);
  EXPECT_EQ(at(names, 4, 8), at(space, 120, 8));
  EXPECT_EQ(at(names, 12, 2), 0x1002U);
  EXPECT_EQ(at(names, 32, 2), 0x1003U);
  EXPECT_EQ(names[36 + 6] >> 4U, 4) << "a random UUID";
}

TEST(NvmeAdmin, FeaturesAreSetAndRead) {
  NvmeBench bench;
  bench.start();
  EXPECT_EQ(bench.set_feature(kFeatureNumberOfQueues, 0x00FF'00FF).result, 0x0003'0003U);
  EXPECT_EQ(bench.set_feature(kFeatureNumberOfQueues, 0).result, 0x0003'0003U) << "more than was asked for";
  EXPECT_EQ(bench.set_feature(kFeatureNumberOfQueues, 0xFFFF).code, kStatusCodeInvalidField);
  EXPECT_EQ(bench.set_feature(kFeatureWriteCache, 0).code, 0U);
  Sqe get;
  get.opcode = kAdminOpcodeGetFeatures;
  get.dword10 = kFeatureWriteCache;
  EXPECT_EQ(bench.run(0, get).result, 0U);
  get.dword10 |= 1U << 8U;
  EXPECT_EQ(bench.run(0, get).result, 1U) << "the default";
  get.dword10 = kFeatureWriteCache | 3U << 8U;
  EXPECT_EQ(bench.run(0, get).result, 4U) << "it can be changed";
  EXPECT_EQ(bench.set_feature(0x7F, 0).code, kStatusCodeInvalidField);
  EXPECT_EQ(bench.set_feature(kFeatureWriteCache | 1U << 31U, 0).code, kStatusCodeFeatureNotSaveable);
  EXPECT_EQ(bench.set_feature(kFeaturePowerManagement, 1).code, kStatusCodeInvalidField);
  EXPECT_EQ(bench.set_feature(kFeatureInterruptVector, 9).code, kStatusCodeInvalidField);
  const NvmeBench::Memory m = bench.share(4096);
  put_number(m.bytes, 8, 123'456);
  Sqe time;
  time.opcode = kAdminOpcodeSetFeatures;
  time.dword10 = kFeatureTimestamp;
  time.data1 = m.bus;
  EXPECT_EQ(bench.run(0, time).code, 0U);
  bench.host.pass(5'000'000);  // 5 ms
  const auto now = bench.page(kAdminOpcodeGetFeatures, 0, kFeatureTimestamp, 0, 8);
  EXPECT_NEAR(static_cast<double>(at(now, 0, 6)), 123'461, 1);
  EXPECT_EQ(now[6], 2);
  ASSERT_EQ(bench.create(1).code, 0U);
  EXPECT_EQ(bench.set_feature(kFeatureNumberOfQueues, 0x0003'0003).code, kStatusCodeSequenceError);
}

TEST(NvmeAdmin, QueuesThatCannotBeAreRefused) {
  NvmeBench bench;
  bench.start();
  const NvmeBench::Memory m = bench.share(8192);
  const auto make = [&](unsigned opcode, std::uint32_t dword10, std::uint32_t dword11, std::uint64_t at) {
    Sqe c;
    c.opcode = opcode;
    c.dword10 = dword10;
    c.dword11 = dword11;
    c.data1 = at;
    const Cqe done = bench.run(0, c);
    EXPECT_EQ(done.do_not_retry, done.code != 0);
    return done.code;
  };
  constexpr unsigned kCq = kAdminOpcodeCreateCq, kSq = kAdminOpcodeCreateSq;
  EXPECT_EQ(make(kCq, 7U << 16U, 1, m.bus), kStatusCodeInvalidQueueId);
  EXPECT_EQ(make(kCq, 7U << 16U | 5U, 1, m.bus), kStatusCodeInvalidQueueId);
  EXPECT_EQ(make(kCq, 1, 1, m.bus), kStatusCodeInvalidQueueSize);
  EXPECT_EQ(make(kCq, 64U << 16U | 1U, 1, m.bus), kStatusCodeInvalidQueueSize);
  EXPECT_EQ(make(kCq, 7U << 16U | 1U, 5U << 16U | 1U, m.bus), kStatusCodeInvalidVector);
  EXPECT_EQ(make(kCq, 7U << 16U | 1U, 1, m.bus + 64), kStatusCodeInvalidPrpOffset);
  EXPECT_EQ(make(kSq, 7U << 16U | 1U, 1U << 16U | 1U, m.bus), kStatusCodeInvalidCq);
  EXPECT_EQ(make(kSq, 7U << 16U | 1U, 1U, m.bus), kStatusCodeInvalidQueueId);
  bench.write(0x14, 0x0006'0001);
  EXPECT_EQ(make(kCq, 7U << 16U | 1U, 1, m.bus), kStatusCodeInvalidQueueSize) << "CC.IOCQES";
  bench.write(0x14, 0x0040'0001);
  EXPECT_EQ(make(kCq, 7U << 16U | 1U, 1, m.bus), 0U);
  EXPECT_EQ(make(kSq, 7U << 16U | 2U, 1U << 16U | 1U, m.bus + 4096), kStatusCodeInvalidQueueSize);
  bench.write(0x14, 0x0046'0001);
  EXPECT_EQ(make(kCq, 7U << 16U | 1U, 1, m.bus), kStatusCodeInvalidQueueId);
  EXPECT_EQ(make(kSq, 7U << 16U | 2U, 1U << 16U | 1U, m.bus + 4096), 0U);
  EXPECT_EQ(make(kAdminOpcodeDeleteCq, 1, 0, 0), kStatusCodeInvalidQueueDeletion);
  EXPECT_EQ(make(kAdminOpcodeDeleteSq, 3, 0, 0), kStatusCodeInvalidQueueId);
  EXPECT_EQ(make(kAdminOpcodeDeleteSq, 2, 0, 0), 0U);
  EXPECT_EQ(make(kAdminOpcodeDeleteSq, 2, 0, 0), kStatusCodeInvalidQueueId);
  EXPECT_EQ(make(kAdminOpcodeDeleteCq, 1, 0, 0), 0U);
  EXPECT_EQ(make(kAdminOpcodeDeleteCq, 1, 0, 0), kStatusCodeInvalidQueueId);
  EXPECT_EQ(make(0x7F, 0, 0, 0), kStatusCodeInvalidOpcode);
}

/// The lists of queues that are not contiguous.
TEST(NvmeAdmin, ListsOfQueuesThatCannotBeAreRefused) {
  PcieSystemParameters p = nvme_parameters();
  p.nvme.queue_entries = 65536;
  NvmeBench bench(p);
  bench.start();
  const NvmeBench::Memory list = bench.share(12288);
  const auto make = [&](unsigned opcode, std::uint32_t entries, std::uint64_t at) {
    return bench.run(0, {opcode, 0, at, 0, (entries - 1) << 16U | 2U, 1U << 16U}).code;
  };
  constexpr unsigned kCq = kAdminOpcodeCreateCq, kSq = kAdminOpcodeCreateSq;
  EXPECT_EQ(make(kCq, 1, list.bus), kStatusCodeInvalidQueueSize);
  EXPECT_EQ(make(kCq, 8, list.bus + 8), kStatusCodeInvalidPrpOffset);
  EXPECT_EQ(make(kCq, 8, std::uint64_t{1} << 50U), kStatusCodeDataTransferError);
  put_number(list.bytes, 8, list.bus + 4096);
  put_number(list.bytes + 8, 8, list.bus + 64);
  EXPECT_EQ(make(kCq, 257, list.bus), kStatusCodeInvalidPrpOffset) << "the second page";
  EXPECT_FALSE(bench.core().queues().completions[2].exists);
  EXPECT_EQ(make(kCq, 256, list.bus), 0U) << "needs the first only";
  EXPECT_EQ(make(kCq, 256, list.bus), kStatusCodeInvalidQueueId);
  // 1024 pages are three pages of list.
  ASSERT_EQ(bench.create(1).code, 0U);
  for (unsigned n = 0; n < 1536; ++n) put_number(list.bytes + std::size_t{8} * n, 8, std::uint64_t{4096} * n);
  put_number(list.bytes + 4088, 8, list.bus + 4096);
  put_number(list.bytes + 8184, 8, list.bus + 8192 + 8);
  EXPECT_EQ(make(kSq, 65536, list.bus), kStatusCodeInvalidPrpOffset) << "where the list goes on";
  put_number(list.bytes + 8184, 8, list.bus + 8192);
  EXPECT_EQ(make(kSq, 65536, list.bus), 0U);
  const std::vector<std::uint64_t>& pages = bench.core().queues().submissions[2].place.pages;
  ASSERT_EQ(pages.size(), 1024U);
  EXPECT_EQ(pages[510], 4096U * 510);
  EXPECT_EQ(pages[511], 4096U * 512);
  EXPECT_EQ(pages[1023], 4096U * 1025);
  // Nothing of it is left by a reset.
  bench.start();
  EXPECT_TRUE(bench.core().queues().submissions[2].place.pages.empty());
  EXPECT_EQ(bench.create(2).code, 0U);
}

TEST(NvmeAdmin, WrongIdentifyAndLogCommandsAreRefused) {
  NvmeBench bench;
  bench.start();
  const NvmeBench::Memory m = bench.share(4096);
  const auto code = [&](unsigned opcode, std::uint32_t nsid, std::uint32_t dword10, unsigned flags = 0,
                        std::uint64_t offset = 0) {
    Sqe c;
    c.opcode = opcode;
    c.nsid = nsid;
    c.dword10 = dword10;
    c.data1 = m.bus;
    c.flags = flags;
    c.dword12 = static_cast<std::uint32_t>(offset);
    return bench.run(0, c).code;
  };
  EXPECT_EQ(code(kAdminOpcodeIdentify, 0, 0), kStatusCodeInvalidNamespace);
  EXPECT_EQ(code(kAdminOpcodeIdentify, 3, 0), kStatusCodeInvalidNamespace);
  EXPECT_EQ(code(kAdminOpcodeIdentify, 0xFFFF'FFFE, 2), kStatusCodeInvalidNamespace);
  EXPECT_EQ(code(kAdminOpcodeIdentify, 1, 0x13), kStatusCodeInvalidField);
  EXPECT_EQ(code(kAdminOpcodeIdentify, 0, 1, 0x40), kStatusCodeInvalidField) << "an SGL";
  EXPECT_EQ(code(kAdminOpcodeIdentify, 0, 1, 1), kStatusCodeInvalidField) << "fused";
  EXPECT_EQ(code(kAdminOpcodeGetLogPage, 0, 0x7F), kStatusCodeInvalidLogPage);
  EXPECT_EQ(code(kAdminOpcodeGetLogPage, 1, kLogPageSmart | 127U << 16U), kStatusCodeInvalidField);
  EXPECT_EQ(code(kAdminOpcodeGetLogPage, 0, kLogPageSmart | 3U << 16U, 0, 2), kStatusCodeInvalidField);
  EXPECT_EQ(code(kAdminOpcodeGetLogPage, 0, kLogPageSmart | 3U << 16U, 0, 516), kStatusCodeInvalidField);
  EXPECT_EQ(code(kAdminOpcodeGetLogPage, 0, kLogPageSmart | 0xFFFFU << 16U), kStatusCodeInvalidField)
      << "beyond MDTS";
  const auto errors = bench.log(kLogPageError, 128);
  EXPECT_EQ(at(errors, 0, 8), 11U) << "each has an entry, the newest first";
  EXPECT_EQ(at(errors, 12, 2) >> 1U & 0x7FFU, std::uint64_t{kStatusCodeInvalidField});
  EXPECT_EQ(at(errors, 64, 8), 10U);
  EXPECT_EQ(at(bench.log(kLogPageSmart, 512), 176, 8), 11U);
}

/// NVM Express base 1.4, 7.8 and 5.14.
TEST(NvmeAdmin, NamespacesAreNamedWhereTheyMayBe) {
  NvmeBench bench;
  bench.start();
  const auto code = [&](unsigned opcode, std::uint32_t nsid, std::uint32_t dword10,
                        std::uint32_t dword11 = 0) {
    return bench.run(0, {opcode, nsid, bench.share(4096).bus, 0, dword10, dword11});
  };
  constexpr unsigned kSet = kAdminOpcodeSetFeatures, kGet = kAdminOpcodeGetFeatures;
  for (const unsigned feature : {kFeatureArbitration, kFeatureWriteCache, kFeatureTimestamp}) {
    EXPECT_EQ(code(kSet, 1, feature, 1).code, kStatusCodeFeatureNotNamespaceSpecific) << feature;
    EXPECT_EQ(code(kSet, 3, feature, 1).code, kStatusCodeInvalidNamespace) << feature;
    EXPECT_EQ(code(kSet, 0xFFFF'FFFF, feature, 1).code, 0U) << feature;
    EXPECT_EQ(code(kGet, 1, feature).code, 0U) << feature;
    EXPECT_EQ(code(kGet, 3, feature).code, kStatusCodeInvalidNamespace) << feature;
  }
  // Error recovery is each namespace's own.
  EXPECT_EQ(code(kSet, 0, kFeatureErrorRecovery, 5).code, kStatusCodeInvalidNamespace);
  EXPECT_EQ(code(kSet, 0xFFFF'FFFF, kFeatureErrorRecovery, 5).code, 0U);
  EXPECT_EQ(code(kSet, 2, kFeatureErrorRecovery, 7).code, 0U);
  EXPECT_EQ(code(kSet, 2, kFeatureErrorRecovery, 1U << 16U | 7U).code, kStatusCodeInvalidField);
  EXPECT_EQ(code(kGet, 1, kFeatureErrorRecovery).result, 5U);
  EXPECT_EQ(code(kGet, 2, kFeatureErrorRecovery).result, 7U);
  EXPECT_EQ(code(kGet, 2, kFeatureErrorRecovery | 3U << 8U).result, 6U);
  EXPECT_EQ(code(kGet, 0xFFFF'FFFF, kFeatureErrorRecovery).code, kStatusCodeInvalidNamespace);
  for (const unsigned page :
       {kLogPageError, kLogPageSmart, kLogPageFirmwareSlot, kLogPageChangedNamespaces, kLogPageCommands}) {
    EXPECT_EQ(code(kAdminOpcodeGetLogPage, 1, page | 15U << 16U).code, kStatusCodeInvalidField) << page;
    EXPECT_EQ(code(kAdminOpcodeGetLogPage, 0, page | 15U << 16U).code, 0U) << page;
  }
}

/// Fields first, then blocks, then the data pointer, and the media last.
TEST(NvmeAdmin, TheFirstErrorIsTold) {
  NvmeBench bench;
  bench.start();
  ASSERT_EQ(bench.create(1).code, 0U);
  const auto admin = [&](unsigned opcode, std::uint32_t dword10, std::uint32_t dword11 = 0) {
    return bench.run(0, {opcode, 0, 3, 0, dword10, dword11}).code;
  };
  EXPECT_EQ(admin(kAdminOpcodeIdentify, kIdentifyCnsController), kStatusCodeInvalidPrpOffset);
  EXPECT_EQ(admin(kAdminOpcodeIdentify, 0x13), kStatusCodeInvalidField);
  EXPECT_EQ(admin(kAdminOpcodeGetLogPage, 0x7F, 0xFFFF), kStatusCodeInvalidLogPage);
  EXPECT_EQ(admin(kAdminOpcodeGetLogPage, kLogPageSmart, 0xFFFF), kStatusCodeInvalidField);
  EXPECT_EQ(admin(kAdminOpcodeSetFeatures, kFeatureTimestamp), kStatusCodeInvalidPrpOffset);
  EXPECT_EQ(admin(kAdminOpcodeSetFeatures, kFeatureTimestamp | 1U << 31U), kStatusCodeFeatureNotSaveable);
  NvmeFaultRule rule;
  rule.fault = NvmeFault::read_error;
  ASSERT_TRUE(bench.core().inject(rule));
  const auto io = [&](std::uint64_t first, unsigned count, std::uint64_t bus) {
    return bench.run(1, {kNvmOpcodeRead, 1, bus, 0, static_cast<std::uint32_t>(first), 0, count - 1}).code;
  };
  EXPECT_EQ(io(5000, 512, 3), kStatusCodeInvalidField) << "more than a command moves";
  EXPECT_EQ(io(5000, 1, 3), kStatusCodeLbaOutOfRange);
  EXPECT_EQ(io(5, 1, 3), kStatusCodeInvalidPrpOffset);
  const Cycle from = bench.host.now();
  EXPECT_EQ(io(5, 1, bench.share(4096).bus), kStatusCodeUnrecoveredReadError);
  EXPECT_GT(bench.host.now() - from, 700U) << "the media takes its time";
}

TEST(NvmeAdmin, TheTimestampCountsFromAReset) {
  NvmeBench bench;
  bench.start();
  const auto stamp = [&] {
    return at(bench.page(kAdminOpcodeGetFeatures, 0, kFeatureTimestamp, 0, 8), 0, 6);
  };
  bench.host.pass(7'000'000);
  EXPECT_EQ(stamp(), 7U);
  bench.write(0x14, 0);
  bench.host.pass(3'000'000);
  bench.start();
  EXPECT_EQ(stamp(), 3U) << "and not from the beginning of time";
}

/// A temperature is told when it goes beyond the threshold, and not with every feature that is set after.
TEST(NvmeAdmin, ATemperatureIsToldOnce) {
  NvmeBench bench;
  bench.start();
  EXPECT_EQ(bench.set_feature(kFeatureTemperatureThreshold, 300).code, 0U);
  bench.submit(0, {kAdminOpcodeAsyncEventRequest});
  EXPECT_FALSE(bench.wait(0, 20).came) << "nobody wants to be told";
  EXPECT_EQ(bench.set_feature(kFeatureAsyncEvents, 2).code, 0U);
  EXPECT_EQ(bench.wait(0).result, 0x0002'0101U) << "now somebody does";
  EXPECT_EQ(at(bench.log(kLogPageSmart, 512), 0, 1), 2U);
  bench.submit(0, {kAdminOpcodeAsyncEventRequest});
  EXPECT_EQ(bench.set_feature(kFeatureArbitration, 1).code, 0U);
  EXPECT_FALSE(bench.wait(0, 20).came);
  EXPECT_EQ(bench.set_feature(kFeatureTemperatureThreshold, 400).code, 0U);
  EXPECT_FALSE(bench.wait(0, 20).came);
  bench.set_feature(kFeatureTemperatureThreshold, 300);
  EXPECT_TRUE(bench.wait(0).came) << "again";
}

TEST(NvmeAdmin, AFormatIsAChangeOfTheNamespace) {
  NvmeBench bench;
  bench.start();
  EXPECT_EQ(bench.set_feature(kFeatureAsyncEvents, 0x100).code, 0U);
  EXPECT_EQ(bench.run(0, {kAdminOpcodeFormatNvm, 1}).code, 0U) << "as it was";
  EXPECT_EQ(at(bench.log(kLogPageChangedNamespaces, 4096), 0, 4), 0U);
  EXPECT_EQ(bench.run(0, {kAdminOpcodeFormatNvm, 2, 0, 0, 1}).code, 0U);
  bench.submit(0, {kAdminOpcodeAsyncEventRequest});
  EXPECT_EQ(bench.wait(0).result, 0x0004'0002U);
  EXPECT_EQ(at(bench.log(kLogPageChangedNamespaces, 4096), 0, 4), 2U);
  EXPECT_EQ(at(bench.log(kLogPageChangedNamespaces, 4096), 0, 4), 0U) << "since it was read";
}

/// NVM Express base 1.4, SMART log: compares and verifies read the media, too.
TEST(NvmeAdmin, HealthCountsWhatIsRead) {
  NvmeBench bench;
  bench.start();
  ASSERT_EQ(bench.create(1).code, 0U);
  const NvmeBench::Memory m = bench.share(131072);
  const auto health = [&] {
    const auto page = bench.log(kLogPageSmart, 512);
    return std::vector<std::uint64_t>{at(page, 32, 8), at(page, 48, 8), at(page, 64, 8), at(page, 80, 8)};
  };
  for (unsigned n = 0; n < 4; ++n) EXPECT_EQ(bench.run(1, bench.blocks(kNvmOpcodeRead, 0, 256, m)).code, 0U);
  EXPECT_EQ(health(), (std::vector<std::uint64_t>{2, 0, 4, 0}));
  for (unsigned n = 0; n < 4; ++n)
    EXPECT_EQ(bench.run(1, bench.blocks(kNvmOpcodeCompare, 0, 256, m)).code, 0U);
  EXPECT_EQ(health(), (std::vector<std::uint64_t>{3, 0, 8, 0}));
  for (unsigned n = 0; n < 4; ++n)
    EXPECT_EQ(bench.run(1, bench.blocks(kNvmOpcodeVerify, 0, 256, m)).code, 0U);
  EXPECT_EQ(health(), (std::vector<std::uint64_t>{4, 0, 8, 0}));
  EXPECT_EQ(bench.run(1, bench.blocks(kNvmOpcodeRead, 5000, 256, m)).code, kStatusCodeLbaOutOfRange);
  EXPECT_EQ(health(), (std::vector<std::uint64_t>{4, 0, 9, 0})) << "none of its blocks, but a command";
}

TEST(NvmeAdmin, EventsAreToldOnceUntilTheirPageIsRead) {
  NvmeBench bench;
  bench.start();
  ASSERT_EQ(bench.set_feature(kFeatureAsyncEvents, 0x102).code, 0U);
  for (int i = 0; i < 4; ++i) bench.submit(0, {kAdminOpcodeAsyncEventRequest});
  bench.host.pass(5000);
  EXPECT_FALSE(bench.poll(0).came);
  EXPECT_EQ(bench.run(0, {kAdminOpcodeAsyncEventRequest}).code, kStatusCodeTooManyAsyncEvents);
  bench.write(0x1000 + 8 * 3, 1);  // no such queue
  EXPECT_EQ(bench.wait(0).result, 0x1'0000U);
  bench.write(0x1000, 77);  // no such entry
  EXPECT_FALSE(bench.wait(0, 20).came) << "one of that type was told, and its page has not been read";
  bench.log(kLogPageError, 64, true);
  EXPECT_FALSE(bench.wait(0, 20).came);
  bench.log(kLogPageError, 64);
  EXPECT_EQ(bench.wait(0).result, 0x1'0100U);
  bench.system.nvme(0).set_active(2, false, bench.host.now() + 1);
  EXPECT_EQ(bench.wait(0).result, 0x4'0002U);
  EXPECT_EQ(at(bench.log(kLogPageChangedNamespaces, 4096), 0, 4), 2U);
  EXPECT_EQ(at(bench.log(kLogPageChangedNamespaces, 4096), 0, 4), 0U);
  // Warmer than the threshold: the answer and the event, in either order.
  bench.submit(0, {kAdminOpcodeSetFeatures, 0, 0, 0, kFeatureTemperatureThreshold, 300});
  const Cqe first = bench.wait(0), second = bench.wait(0);
  EXPECT_EQ(first.result | second.result, 0x2'0101U);
  EXPECT_EQ(bench.log(kLogPageSmart, 512)[0], 2);
}

TEST(NvmeAdmin, ChangesThatWereReadAreNotToldAgain) {
  NvmeBench bench;
  bench.start();
  ASSERT_EQ(bench.set_feature(kFeatureAsyncEvents, 0x100).code, 0U);
  for (int i = 0; i < 2; ++i) bench.submit(0, {kAdminOpcodeAsyncEventRequest});
  bench.host.pass(10'000);
  bench.system.nvme(0).set_active(2, false, bench.host.now() + 1);
  EXPECT_EQ(bench.wait(0).result, 0x4'0002U);
  bench.system.nvme(0).set_active(1, false, bench.host.now() + 1);
  bench.host.pass(10'000);
  const auto list = bench.log(kLogPageChangedNamespaces, 4096);
  EXPECT_EQ(at(list, 0, 4), 1U);
  EXPECT_EQ(at(list, 4, 4), 2U);
  EXPECT_FALSE(bench.wait(0, 20).came) << "the list had both";
  bench.system.nvme(0).set_active(1, true, bench.host.now() + 1);
  EXPECT_EQ(bench.wait(0).result, 0x4'0002U);
  bench.system.nvme(0).set_active(2, true, bench.host.now() + 1);
  bench.host.pass(10'000);
  // A part of it does not clear it.
  EXPECT_EQ(at(bench.log(kLogPageChangedNamespaces, 4), 0, 4), 1U);
  const NvmeBench::Memory m = bench.share(4096);
  const std::uint32_t its_end = kLogPageChangedNamespaces | 0U << 16U;
  EXPECT_EQ(bench.run(0, {kAdminOpcodeGetLogPage, 0xFFFF'FFFF, m.bus, 0, its_end, 0, 4092}).code, 0U);
  EXPECT_EQ(at(bench.log(kLogPageChangedNamespaces, 4096), 4, 4), 2U);
  EXPECT_EQ(at(bench.log(kLogPageChangedNamespaces, 4096), 0, 4), 0U);
}

/// What the host did not see done to it is not there for who has it next; what was on the media is.
TEST(NvmeAdmin, PowerForgetsLogs) {
  NvmeBench bench;
  bench.start();
  bench.write(0x1000, 77);  // no such entry
  bench.system.nvme(0).set_active(2, false, bench.host.now() + 1);
  bench.host.pass(1000);
  EXPECT_EQ(at(bench.log(kLogPageError, 64, true), 0, 8), 1U);
  bench.system.hot_reset(0);
  bench.host.enumerate();
  bench.start();
  const std::vector<std::uint8_t> none(64);
  EXPECT_EQ(bench.log(kLogPageError, 64), none);
  EXPECT_EQ(bench.log(kLogPageChangedNamespaces, 64), none);
  bench.write(0x1000, 77);
  EXPECT_EQ(at(bench.log(kLogPageError, 64), 0, 8), 2U) << "errors are counted on";
}

TEST(NvmeAdmin, AbortEndsWhatWaits) {
  NvmeBench bench;
  bench.start();
  ASSERT_EQ(bench.create(1).code, 0U);
  const NvmeBench::Memory m = bench.share(4096);
  NvmeFaultRule rule;
  rule.fault = NvmeFault::timeout;
  rule.count = 2;
  ASSERT_TRUE(bench.core().inject(rule));
  const unsigned lost = bench.submit(1, bench.blocks(kNvmOpcodeRead, 0, 1, m));
  bench.submit(1, bench.blocks(kNvmOpcodeRead, 0, 1, m));
  EXPECT_FALSE(bench.wait(1, 50).came);
  EXPECT_EQ(bench.run(1, bench.blocks(kNvmOpcodeRead, 0, 1, m)).code, 0U) << "others go on";
  Sqe abort;
  abort.opcode = kAdminOpcodeAbort;
  abort.dword10 = 1U | lost << 16U;
  EXPECT_EQ(bench.run(0, abort).result, 0U);
  const Cqe ended = bench.wait(1);
  EXPECT_EQ(ended.id, lost);
  EXPECT_EQ(ended.code, kStatusCodeAbortRequested);
  EXPECT_FALSE(ended.do_not_retry);
  EXPECT_EQ(bench.run(0, abort).result, 1U) << "it is over";
  // The end of its queue ends the other one.
  EXPECT_EQ(bench.run(0, {kAdminOpcodeDeleteSq, 0, 0, 0, 1}).code, 0U);
  EXPECT_EQ(bench.wait(1).code, kStatusCodeAbortedSqDeletion);
  const unsigned event = bench.submit(0, {kAdminOpcodeAsyncEventRequest});
  abort.dword10 = event << 16U;
  bench.submit(0, abort);
  const Cqe one = bench.wait(0), two = bench.wait(0);
  EXPECT_EQ(one.code | two.code, kStatusCodeAbortRequested);
}

TEST(NvmeAdmin, MostDataIsWhatItSays) {
  PcieSystemParameters p = nvme_parameters();
  p.nvme.max_transfer = 4096;
  EXPECT_FALSE(p.nvme.problems("").empty()) << "MDTS 0 would be no limit";
  p.nvme.max_transfer = 8192;
  ASSERT_TRUE(p.nvme.problems("").empty());
  NvmeBench bench(p, true);
  bench.start();
  EXPECT_EQ(at(bench.page(kAdminOpcodeIdentify, 0, kIdentifyCnsController), 77, 1), 1U);
  ASSERT_EQ(bench.create(1).code, 0U);
  const NvmeBench::Memory m = bench.share(16384);
  EXPECT_EQ(bench.run(1, bench.blocks(kNvmOpcodeRead, 0, 16, m)).code, 0U);
  EXPECT_EQ(bench.run(1, bench.blocks(kNvmOpcodeRead, 0, 17, m)).code, kStatusCodeInvalidField);
}

TEST(NvmeAdmin, WhatIsAbortedCompletesBeforeTheAbort) {
  PcieSystemParameters p = nvme_parameters();
  p.nvme.commands = 2;
  NvmeBench bench(p);
  bench.start();
  ASSERT_EQ(bench.create(1).code, 0U);
  const NvmeBench::Memory m = bench.share(65536);
  unsigned aborted = 0;
  for (unsigned gap = 0; gap < 4000; gap += 100) {
    const unsigned id = bench.submit(1, bench.blocks(kNvmOpcodeWrite, 0, 32, m));
    bench.host.pass(gap);
    if (bench.run(0, {kAdminOpcodeAbort, 0, 0, 0, 1U | id << 16U}).result == 0) {
      ++aborted;
      const Cqe ended = bench.poll(1);
      ASSERT_TRUE(ended.came) << "after " << gap << " cycles";
      EXPECT_EQ(ended.code, kStatusCodeAbortRequested);
    } else {
      EXPECT_EQ(bench.wait(1).code, 0U);
    }
  }
  EXPECT_GT(aborted, 20U);
  NvmeFaultRule rule;
  rule.fault = NvmeFault::timeout;
  rule.count = 1;
  ASSERT_TRUE(bench.core().inject(rule));
  const unsigned lost = bench.submit(1, bench.blocks(kNvmOpcodeRead, 0, 1, m));
  bench.host.pass(10'000);
  EXPECT_EQ(bench.run(0, {kAdminOpcodeAbort, 0, 0, 0, 1U | lost << 16U}).result, 0U);
  EXPECT_TRUE(bench.poll(1).came);
  const Cqe itself = bench.run(0, {kAdminOpcodeAbort, 0, 0, 0, bench.queues[0].next_id << 16U});
  EXPECT_EQ(itself.code, 0U);
  EXPECT_EQ(itself.result, 1U) << "none aborts itself";
}

TEST(NvmeAdmin, TheEndOfAQueueNeedsNoOtherPlace) {
  for (const bool loose : {false, true}) {
    PcieSystemParameters p = nvme_parameters();
    p.nvme.commands = 1;
    NvmeBench bench(p, loose);
    bench.start();
    ASSERT_EQ(bench.create(1).code, 0U);
    NvmeFaultRule rule;
    rule.fault = NvmeFault::timeout;
    rule.count = 1;
    ASSERT_TRUE(bench.core().inject(rule));
    bench.submit(1, {kNvmOpcodeFlush, 1});
    bench.host.pass(10'000);
    const Cqe ended = bench.run(0, {kAdminOpcodeDeleteSq, 0, 0, 0, 1});
    EXPECT_TRUE(ended.came);
    EXPECT_EQ(ended.code, 0U);
    EXPECT_EQ(bench.wait(1).code, kStatusCodeAbortedSqDeletion);
  }
}

TEST(NvmeAdmin, TheEndOfAQueueCannotBeAborted) {
  PcieSystemParameters p = nvme_parameters();
  p.nvme.channel_mb_per_s = 100'000;
  NvmeBench bench(p);
  bench.start();
  const NvmeBench::Memory m = bench.share(65536);
  for (unsigned gap = 500; gap < 6000; gap += 500) {
    ASSERT_EQ(bench.create(1).code, 0U) << "after " << gap << " cycles";
    bench.submit(1, bench.blocks(kNvmOpcodeRead, 0, 128, m));
    bench.host.pass(gap);
    const unsigned id = bench.submit(0, {kAdminOpcodeDeleteSq, 0, 0, 0, 1}, false);
    bench.submit(0, {kAdminOpcodeAbort, 0, 0, 0, id << 16U});
    for (int i = 0; i < 2; ++i) {
      const Cqe done = bench.wait(0);
      EXPECT_EQ(done.code, 0U);
      EXPECT_EQ(done.result, done.id == id ? 0U : 1U);
    }
    EXPECT_EQ(bench.run(0, {kAdminOpcodeDeleteCq, 0, 0, 0, 1}).code, 0U);
  }
}

}  // namespace nvme_commands_test
}  // namespace warpline
