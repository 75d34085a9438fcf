#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <utility>

#include "rtl_models/base/random.h"
#include "tests/platform/nvme/nvme_bench.h"

namespace warpline {
namespace nvme_io_test {

using namespace regs::nvme;
using test::Cqe;
using test::nvme_parameters;
using test::NvmeBench;
using test::Sqe;

constexpr unsigned kData = 1U << 18U;

/// I/O of random kinds and sizes by two queues, a batch at a time whose commands touch different blocks,
/// against bytes that are known. What became of each command, and when if `times`.
class Traffic {
 public:
  Traffic(NvmeBench& bench, std::uint64_t seed, bool times)
      : bench_(bench), random_(seed), times_(times), data_(bench.share(kData)), known_(1U << 20U) {
    bench.start();
    EXPECT_EQ(bench.create(1, 16).code, 0U);
    EXPECT_EQ(bench.create(2, 8, true).code, 0U);
  }
  std::string run(unsigned batches) {
    for (unsigned b = 0; b < batches; ++b) batch();
    return text_;
  }

 private:
  static constexpr unsigned kSlot = 32768;  ///< of memory and of the disk, for each command of a batch
  struct Open {
    unsigned opcode = 0, queue = 0, first = 0, bytes = 0, offset = 0, id = 0;
    std::vector<std::uint8_t> given;
  };
  /// An SGL that cuts the data into pieces, in a segment or two.
  void cut(Sqe& c, std::uint64_t bus, unsigned bytes) {
    if (sgl_.bytes == nullptr) sgl_ = bench_.share(65536);
    std::uint8_t* at = sgl_.bytes + (turn_ % 16) * 4096;
    const std::uint64_t begin = sgl_.bus + (turn_++ % 16) * 4096;
    std::vector<std::pair<std::uint64_t, unsigned>> pieces;
    for (unsigned done = 0; done != bytes;) {
      const unsigned part = std::min<unsigned>(bytes - done, 1 + static_cast<unsigned>(random_.below(9000)));
      pieces.emplace_back(bus + done, part);
      done += part;
    }
    const auto put = [](std::uint8_t* to, std::uint64_t address, std::uint64_t length, unsigned type) {
      put_number(to, 8, address);
      put_number(to + 8, 8, length);
      to[15] = static_cast<std::uint8_t>(type << 4U);
    };
    c.flags = 0x40;
    std::array<std::uint8_t, 16> first{};
    const bool two = pieces.size() > 3;
    const std::size_t front = two ? 2 : pieces.size();
    if (pieces.size() == 1) {
      put(first.data(), pieces[0].first, pieces[0].second, 0);
    } else {
      put(first.data(), begin, 16 * (front + (two ? 1 : 0)), two ? 2 : 3);
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (two && i == front) {
          put(at, begin + 16 * (front + 1), 16 * (pieces.size() - front), 3);
          at += 16;
        }
        put(at, pieces[i].first, pieces[i].second, 0);
        at += 16;
      }
    }
    c.data1 = number_at(first.data(), 8);
    c.data2 = number_at(first.data() + 8, 8);
  }
  void batch() {
    std::vector<Open> open;
    const auto count = 1 + static_cast<unsigned>(random_.below(6));
    for (unsigned i = 0; i < count; ++i) open.push_back(submit(i));
    bench_.ring(1);
    bench_.ring(2);
    for (unsigned left = count; left != 0; --left) {
      Cqe done;
      unsigned queue = 0;
      for (unsigned step = 0; step < 4000 && !done.came; ++step) {
        queue = 1 + step % 2;
        done = bench_.poll(queue);
        if (!done.came && queue == 2) bench_.host.pass(50);
      }
      ASSERT_TRUE(done.came);
      for (Open& o : open)
        if (o.queue == queue && o.id == done.id && o.bytes != ~0U) finish(o, done);
    }
    for (const Open& o : open) EXPECT_EQ(o.bytes, ~0U);
    // In which order they end is a matter of time.
    std::string line;
    for (const std::string& part : parts_) line += part;
    text_ += line + "\n";
    parts_.assign(parts_.size(), {});
  }
  Open submit(unsigned i) {
    static constexpr std::array<unsigned, 9> kOpcodes = {kNvmOpcodeRead,
                                                         kNvmOpcodeWrite,
                                                         kNvmOpcodeRead,
                                                         kNvmOpcodeWrite,
                                                         kNvmOpcodeCompare,
                                                         kNvmOpcodeWriteZeroes,
                                                         kNvmOpcodeDatasetManagement,
                                                         kNvmOpcodeFlush,
                                                         kNvmOpcodeVerify};
    Open o;
    o.opcode = kOpcodes[random_.below(kOpcodes.size())];
    o.queue = 1 + static_cast<unsigned>(random_.below(2));
    o.bytes = 512 * (1 + static_cast<unsigned>(random_.below(32)));
    o.first = kSlot * i + 512 * static_cast<unsigned>(random_.below((kSlot - o.bytes) / 512 + 1));
    o.offset = kSlot * i + 4 * static_cast<unsigned>(random_.below((kSlot - o.bytes) / 4 + 1));
    if (random_.below(3) == 0) o.offset = kSlot * i;
    Sqe c = bench_.blocks(o.opcode, o.first / 512, o.bytes / 512, data_, o.offset);
    std::uint8_t* const memory = data_.bytes + o.offset;
    if (o.opcode == kNvmOpcodeRead) {
      std::memset(memory, 0xEE, o.bytes);
    } else if (o.opcode == kNvmOpcodeCompare && random_.below(2) == 0) {
      std::memcpy(memory, &known_[o.first], o.bytes);
    } else {
      for (unsigned b = 0; b < o.bytes; ++b) memory[b] = static_cast<std::uint8_t>(random_.next());
    }
    if (o.opcode == kNvmOpcodeDatasetManagement) {
      c = {o.opcode, 1, data_.bus + kSlot * i, 0, 0, 4};
      o.offset = kSlot * i;
      put_number(data_.bytes + o.offset, 4, 0);
      put_number(data_.bytes + o.offset + 4, 4, o.bytes / 512);
      put_number(data_.bytes + o.offset + 8, 8, o.first / 512);
    } else if (random_.below(2) == 0) {
      cut(c, data_.bus + o.offset, o.bytes);
    }
    if (o.opcode == kNvmOpcodeFlush) c = {o.opcode, random_.below(2) == 0 ? 1U : 0xFFFF'FFFFU};
    o.given.assign(data_.bytes + o.offset, data_.bytes + o.offset + o.bytes);
    o.id = bench_.submit(o.queue, c, false);
    if (parts_.size() <= i) parts_.resize(i + 1);
    return o;
  }
  void finish(Open& o, const Cqe& done) {
    unsigned expected = 0;
    std::uint8_t* const there = &known_[o.first];
    const std::vector<std::uint8_t> before(there, there + o.bytes);
    switch (o.opcode) {
      case kNvmOpcodeRead:
        EXPECT_EQ(before,
                  std::vector<std::uint8_t>(data_.bytes + o.offset, data_.bytes + o.offset + o.bytes));
        break;
      case kNvmOpcodeWrite: std::copy(o.given.begin(), o.given.end(), there); break;
      case kNvmOpcodeCompare:
        if (before != o.given) expected = kStatusCodeCompareFailure;
        break;
      case kNvmOpcodeWriteZeroes:
      case kNvmOpcodeDatasetManagement: std::memset(there, 0, o.bytes); break;
      default: break;
    }
    EXPECT_EQ(done.code, expected) << "opcode " << o.opcode;
    parts_[o.first / kSlot] = std::to_string(o.opcode) + ":" + std::to_string(done.code) +
                              (times_ ? "@" + std::to_string(bench_.host.now()) : "") + " ";
    o.bytes = ~0U;
  }
  NvmeBench& bench_;
  Random random_;
  bool times_;
  NvmeBench::Memory data_, sgl_;
  unsigned turn_ = 0;
  std::vector<std::uint8_t> known_;
  std::vector<std::string> parts_;
  std::string text_;
};

PcieSystemParameters parameters_of(std::uint64_t seed) {
  PcieSystemParameters p = nvme_parameters();
  Random random(seed);
  p.nvme.commands = 1 + static_cast<unsigned>(random.below(16));
  p.nvme.write_queue = 1 + static_cast<unsigned>(random.below(8));
  p.nvme.channels = 1 + static_cast<unsigned>(random.below(4));
  p.nvme.write_cache = random.below(2) == 0;
  p.nvme.block_bytes = 512;
  p.device.tags = 2 + static_cast<unsigned>(random.below(30));
  p.device.max_payload = 128U << random.below(3);
  p.device.max_read_request = 128U << random.below(4);
  return p;
}

TEST(NvmeIo, MovesTheBytesThatItShould) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    NvmeBench bench(parameters_of(seed));
    Traffic(bench, seed, true).run(25);
  }
}

TEST(NvmeIo, DoesTheSameLooselyTimed) {
  for (std::uint64_t seed = 11; seed <= 13; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    NvmeBench timed(parameters_of(seed)), loose(parameters_of(seed), true);
    EXPECT_EQ(Traffic(timed, seed, false).run(20), Traffic(loose, seed, false).run(20));
    std::vector<std::uint8_t> a(1U << 20U), b(1U << 20U);
    ASSERT_TRUE(timed.core().space(1).store().read(0, a.data(), a.size()));
    ASSERT_TRUE(loose.core().space(1).store().read(0, b.data(), b.size()));
    EXPECT_EQ(a, b);
  }
}

TEST(NvmeIo, LooselyTimedDataTakesItsTimeOnTheLink) {
  PcieSystemParameters p = nvme_parameters();
  p.nvme.read_ns = p.nvme.write_ns = 0;
  p.nvme.channel_mb_per_s = 1'000'000;
  for (const unsigned opcode : {kNvmOpcodeRead, kNvmOpcodeWrite}) {
    NvmeBench bench(p, true);
    bench.start();
    ASSERT_EQ(bench.create(1).code, 0U);
    const NvmeBench::Memory m = bench.share(131072);
    const Cycle from = bench.host.now();
    for (unsigned n = 0; n < 15; ++n) bench.submit(1, bench.blocks(opcode, 0, 256, m), false);
    bench.ring(1);
    for (unsigned n = 0; n < 15; ++n) EXPECT_EQ(bench.wait(1).code, 0U);
    while (bench.system.next_activity() != kNever) bench.host.pass(100);
    const Cycle least = 15 * 131072 / p.device.bytes_per_cycle;
    EXPECT_GT(bench.host.now() - from, least);
    EXPECT_LT(bench.host.now() - from, 3 * least);
  }
}

TEST(NvmeIo, TicksThatNobodyAskedForChangeNothing) {
  for (std::uint64_t seed = 21; seed <= 22; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto story = [seed](TickMode mode) {
      NvmeBench bench(parameters_of(seed), false, mode);
      std::string text = Traffic(bench, seed, true).run(3);
      for (const BusAccess& access : bench.system.access_log(0).entries())
        text += to_text(access, &bench.core().registers().map()) + "\n";
      return text;
    };
    const std::string lazy = story(TickMode::lazy);
    EXPECT_EQ(lazy, story(TickMode::every_cycle));
    EXPECT_EQ(lazy, story(TickMode::spurious_and_shuffled));
  }
}

TEST(NvmeIo, WrongCommandsAreRefused) {
  NvmeBench bench;
  bench.start();
  ASSERT_EQ(bench.create(1).code, 0U);
  const NvmeBench::Memory m = bench.share(1U << 18U);
  const auto code = [&](const Sqe& c) {
    const Cqe done = bench.run(1, c);
    EXPECT_TRUE(done.came);
    EXPECT_EQ(done.more, done.code != 0);
    return done.code;
  };
  const auto read = [&](std::uint64_t first, unsigned count, std::uint32_t nsid = 1) {
    return bench.blocks(kNvmOpcodeRead, first, count, m, 0, nsid);
  };
  EXPECT_EQ(code(read(2047, 1)), 0U);
  EXPECT_EQ(code(read(2047, 2)), kStatusCodeLbaOutOfRange);
  EXPECT_EQ(code(read(~std::uint64_t{0}, 1)), kStatusCodeLbaOutOfRange);
  EXPECT_EQ(code(read(0, 256)), 0U);
  EXPECT_EQ(code(read(0, 257)), kStatusCodeInvalidField) << "beyond MDTS";
  EXPECT_EQ(code(read(0, 1, 0)), kStatusCodeInvalidNamespace);
  EXPECT_EQ(code(read(0, 1, 3)), kStatusCodeInvalidNamespace);
  EXPECT_EQ(code(read(0, 1, 0xFFFF'FFFF)), kStatusCodeInvalidNamespace);
  bench.core().set_active(2, false);
  EXPECT_EQ(code(read(0, 1, 2)), kStatusCodeInvalidField) << "inactive";
  EXPECT_EQ(code({0x7F, 1}), kStatusCodeInvalidOpcode);
  Sqe c = read(0, 1);
  c.flags = 1;
  EXPECT_EQ(code(c), kStatusCodeInvalidField) << "fused";
  c.flags = 0xC0;
  EXPECT_EQ(code(c), kStatusCodeInvalidField);
  // PRP entries.
  c = read(0, 1);
  c.data1 = m.bus + 2;
  EXPECT_EQ(code(c), kStatusCodeInvalidPrpOffset);
  c = read(0, 16);
  c.data2 += 4;
  EXPECT_EQ(code(c), kStatusCodeInvalidPrpOffset);
  c = read(0, 64);
  c.data2 += 4;
  EXPECT_EQ(code(c), kStatusCodeInvalidPrpOffset) << "of the list itself";
  c = read(0, 64);
  put_number(m.bytes, 8, m.bus + 4096);
  put_number(m.bytes + 8, 8, m.bus + 4100);
  c.data2 = m.bus;
  EXPECT_EQ(code(c), kStatusCodeInvalidPrpOffset) << "an entry of it";
  for (unsigned i = 0; i < 512; ++i) put_number(m.bytes + 8 * i, 8, m.bus + 4088);
  c.data2 = m.bus + 4088;
  EXPECT_EQ(code(c), kStatusCodeInvalidPrpOffset) << "a list that leads to itself";
  // SGLs.
  const auto sgl = [&](unsigned type, std::uint64_t address, std::uint64_t length) {
    Sqe s = read(0, 1);
    s.flags = 0x40;
    s.data1 = address;
    s.data2 = length | std::uint64_t{type} << 56U;
    return code(s);
  };
  EXPECT_EQ(sgl(0x00, m.bus + 1, 512), 0U);
  EXPECT_EQ(sgl(0x00, m.bus, 511), kStatusCodeInvalidSglLength);
  EXPECT_EQ(sgl(0x00, m.bus, 513), kStatusCodeInvalidSglLength);
  EXPECT_EQ(sgl(0x00, ~std::uint64_t{0} - 10, 512), kStatusCodeInvalidSglLength);
  EXPECT_EQ(sgl(0x10, m.bus, 512), kStatusCodeInvalidSglType) << "a bit bucket";
  EXPECT_EQ(sgl(0x01, m.bus, 512), kStatusCodeInvalidSglType) << "by offset";
  EXPECT_EQ(sgl(0x30, m.bus, 24), kStatusCodeInvalidSglSegment);
  EXPECT_EQ(sgl(0x30, m.bus, 0), kStatusCodeInvalidSglSegment);
  std::memset(m.bytes, 0, 65536);
  put_number(m.bytes, 8, m.bus);
  put_number(m.bytes + 8, 8, 16 | std::uint64_t{0x20} << 56U);
  EXPECT_EQ(sgl(0x30, m.bus, 16), kStatusCodeInvalidSglSegment) << "a segment in the last one";
  EXPECT_EQ(sgl(0x20, m.bus, 16), kStatusCodeInvalidSglCount) << "a segment that leads to itself";
  std::memset(m.bytes, 0, 65536);
  EXPECT_EQ(sgl(0x20, m.bus, 32), kStatusCodeInvalidSglSegment) << "no segment follows";
  EXPECT_EQ(sgl(0x30, m.bus, 32768), kStatusCodeInvalidSglCount);
  // Memory that nobody has.
  c = bench.blocks(kNvmOpcodeWrite, 0, 1, m);
  c.data1 = std::uint64_t{1} << 60U;
  EXPECT_EQ(code(c), kStatusCodeDataTransferError);
  c = read(0, 64);
  c.data2 = std::uint64_t{1} << 60U;
  EXPECT_EQ(code(c), kStatusCodeDataTransferError);
  // Ranges: all are looked at first.
  put_number(m.bytes + 4, 4, 8);
  put_number(m.bytes + 16 + 4, 4, 8);
  put_number(m.bytes + 16 + 8, 8, 2041);
  std::uint8_t one = 1;
  ASSERT_EQ(bench.core().space(1).store().write(0, &one, 1), BlockOutcome::done);
  EXPECT_EQ(code({kNvmOpcodeDatasetManagement, 1, m.bus, 0, 1, 4}), kStatusCodeLbaOutOfRange);
  ASSERT_TRUE(bench.core().space(1).store().read(0, &one, 1));
  EXPECT_EQ(one, 1);
  EXPECT_EQ(code({kNvmOpcodeDatasetManagement, 1, m.bus, 0, 0, 4}), 0U);
  ASSERT_TRUE(bench.core().space(1).store().read(0, &one, 1));
  EXPECT_EQ(one, 0);
  EXPECT_EQ(code(read(0, 1)), 0U);
}

TEST(NvmeIo, InterruptsAndTheirCoalescing) {
  NvmeBench bench;
  bench.start(64);
  ASSERT_EQ(bench.create(1, 32, true).code, 0U);
  const NvmeBench::Memory m = bench.share(4096);
  const wl_port& port = bench.host.port_of(0);
  // Vectors are masked after a reset; the driver's port unmasks one that is waited for.
  const std::uint64_t table = bench.host.devices()[0].bars[NvmeCore::kMsixBar].address;
  static_cast<void>(port);
  for (unsigned v = 0; v < 5; ++v) bench.host.store(table + 16 * v + 12, 4, 0);
  const std::uint64_t before = bench.core().counters().interrupts;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(bench.run(1, {kNvmOpcodeFlush, 1}).code, 0U);
  EXPECT_EQ(bench.core().counters().interrupts, before + 4);
  // Four at once, or a millisecond.
  ASSERT_EQ(bench.set_feature(kFeatureInterruptCoalescing, 3U | 10U << 8U).code, 0U);
  const std::uint64_t set = bench.core().counters().interrupts;
  for (int i = 0; i < 6; ++i) EXPECT_EQ(bench.run(1, {kNvmOpcodeFlush, 1}).code, 0U);
  EXPECT_EQ(bench.core().counters().interrupts, set + 1);
  bench.host.pass(1'000'000);
  EXPECT_EQ(bench.core().counters().interrupts, set + 2);
  ASSERT_EQ(bench.set_feature(kFeatureInterruptVector, 1U | 1U << 16U).code, 0U);
  const std::uint64_t direct = bench.core().counters().interrupts;
  EXPECT_EQ(bench.run(1, bench.blocks(kNvmOpcodeRead, 0, 1, m)).code, 0U);
  EXPECT_EQ(bench.core().counters().interrupts, direct + 1);
}

TEST(NvmeIo, FormatChangesTheBlocks) {
  NvmeBench bench;
  bench.start();
  ASSERT_EQ(bench.create(1).code, 0U);
  const NvmeBench::Memory m = bench.share(8192);
  std::memset(m.bytes, 0x5A, 4096);
  EXPECT_EQ(bench.run(1, bench.blocks(kNvmOpcodeWrite, 8, 8, m)).code, 0U);
  EXPECT_EQ(bench.run(0, {kAdminOpcodeFormatNvm, 1, 0, 0, 1}).code, 0U);
  EXPECT_EQ(bench.run(1, bench.blocks(kNvmOpcodeRead, 1, 1, m, 4096, 1, 4096)).code, 0U);
  EXPECT_EQ(m.bytes[8191], 0x5A);
  EXPECT_EQ(bench.run(1, bench.blocks(kNvmOpcodeRead, 256, 1, m, 4096, 1, 4096)).code,
            kStatusCodeLbaOutOfRange);
  EXPECT_EQ(bench.run(0, {kAdminOpcodeFormatNvm, 0xFFFF'FFFF, 0, 0, 1U << 9U}).code, 0U);
  EXPECT_EQ(bench.run(1, bench.blocks(kNvmOpcodeRead, 8, 8, m, 4096)).code, 0U);
  EXPECT_EQ(m.bytes[8191], 0);
  EXPECT_EQ(bench.run(0, {kAdminOpcodeFormatNvm, 1, 0, 0, 2}).code, kStatusCodeInvalidFormat);
  EXPECT_EQ(bench.run(0, {kAdminOpcodeFormatNvm, 1, 0, 0, 2U << 9U}).code, kStatusCodeInvalidField);
  EXPECT_EQ(bench.run(0, {kAdminOpcodeFormatNvm, 9, 0, 0, 0}).code, kStatusCodeInvalidNamespace);
}

/// Whose lists are read when they are created, and not again.
TEST(NvmeIo, QueuesNeedNotBeContiguous) {
  for (const bool loose : {false, true}) {
    SCOPED_TRACE(loose ? "loosely timed" : "timed");
    PcieSystemParameters p = nvme_parameters();
    p.nvme.queue_entries = 65536;
    NvmeBench bench(p, loose);
    bench.start();
    const NvmeBench::Memory list = bench.share(12288), m = bench.share(8192);
    ASSERT_EQ(bench.create_scattered(1, 300, list).code, 0U);
    ASSERT_EQ(bench.create_scattered(2, 65536, list).code, 0U);
    std::memset(list.bytes, 0xFF, 12288);
    for (unsigned n = 0; n < 310; ++n) {
      const unsigned queue = n < 300 ? 1 : 2;
      put_number(m.bytes, 8, n + 1);
      ASSERT_EQ(bench.run(queue, bench.blocks(kNvmOpcodeWrite, n, 1, m)).code, 0U) << n;
      ASSERT_EQ(bench.run(queue, bench.blocks(kNvmOpcodeRead, n, 1, m, 4096)).code, 0U) << n;
      ASSERT_EQ(number_at(m.bytes + 4096, 8), n + 1) << n;
    }
    EXPECT_EQ(bench.core().counters().failed_commands, 0U);
  }
}

TEST(NvmeIo, QueuesListsAndDataInTheMemoryBuffer) {
  PcieSystemParameters p = nvme_parameters();
  p.nvme.buffer_bytes = 65536;
  NvmeBench bench(p);
  bench.start();
  EXPECT_EQ(bench.read(0, 8) >> 57U & 1U, 1U);
  EXPECT_EQ(bench.read(0x3C), 0U) << "not yet";
  bench.write(0x50, 1, 8);
  EXPECT_EQ(bench.read(0x38) & 7U, 4U);
  EXPECT_EQ(bench.read(0x3C), 0x1'001FU);
  constexpr std::uint64_t kAt = std::uint64_t{1} << 50U;
  bench.write(0x50, kAt | 3, 8);
  const std::uint64_t buffer = bench.host.devices()[0].bars[NvmeCore::kBufferBar].address;
  // Completions at 0, submissions at 4096, a list at 8192, data at 16384.
  EXPECT_EQ(bench.run(0, {kAdminOpcodeCreateCq, 0, kAt, 0, 7U << 16U | 1U, 1}).code, 0U);
  EXPECT_EQ(bench.run(0, {kAdminOpcodeCreateSq, 0, kAt + 4096, 0, 7U << 16U | 1U, 1U << 16U | 1U}).code, 0U);
  std::vector<std::uint8_t> wanted(12288);
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  ASSERT_EQ(bench.core().space(1).store().write(0, wanted.data(), wanted.size()), BlockOutcome::done);
  bench.host.store(buffer + 8192, 8, kAt + 16384 + 4096);
  bench.host.store(buffer + 8192 + 8, 8, kAt + 16384 + 8192);
  bench.host.store(buffer + 4096, 8, kNvmOpcodeRead | 9U << 16U | std::uint64_t{1} << 32U);
  bench.host.store(buffer + 4096 + 24, 8, kAt + 16384);
  bench.host.store(buffer + 4096 + 32, 8, kAt + 8192);
  bench.host.store(buffer + 4096 + 48, 4, 23);
  bench.write(0x1008, 1);
  for (int i = 0; i < 50 && bench.host.load(buffer + 12, 4) == 0; ++i) bench.host.pass(1000);
  EXPECT_EQ(bench.host.load(buffer + 12, 4), 0x1'0009U);
  EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), bench.core().buffer().begin() + 16384));
}

/// A host that places it where it cannot lie has a buffer that nobody uses.
TEST(NvmeIo, AMisplacedMemoryBufferIsNotReached) {
  PcieSystemParameters p = nvme_parameters();
  p.nvme.buffer_bytes = 65536;
  NvmeBench bench(p);
  bench.start();
  ASSERT_EQ(bench.create(1).code, 0U);
  constexpr std::uint64_t kAt = ~std::uint64_t{0} - 8191;  // the address space ends within it
  bench.write(0x50, kAt | 1, 8);
  EXPECT_EQ(bench.read(0x58), 0U) << "it is not in use";
  bench.write(0x50, kAt | 3, 8);
  EXPECT_EQ(bench.read(0x58), 1U);
  const NvmeBench::Memory there{nullptr, kAt};
  EXPECT_EQ(bench.run(1, bench.blocks(kNvmOpcodeWrite, 0, 1, there)).code, kStatusCodeDataTransferError);
}

TEST(NvmeIo, TheMemoryBufferIsEmptyAfterAReset) {
  PcieSystemParameters p = nvme_parameters();
  p.nvme.buffer_bytes = 4096;
  NvmeBench bench(p);
  const auto buffer = [&] { return bench.host.devices()[0].bars[NvmeCore::kBufferBar].address; };
  bench.host.store(buffer() + 8, 8, 0x1234);
  EXPECT_EQ(bench.host.load(buffer() + 8, 8), 0x1234U);
  bench.system.hot_reset(0);
  bench.host.enumerate();
  EXPECT_EQ(bench.host.load(buffer() + 8, 8), 0U);
}

/// Keeps which commands are open.
class OpenCommands final : public DeviceObserver {
 public:
  void accessed(const BusAccess& /*access*/) override { ++accesses; }
  void submitted(unsigned queue, std::uint64_t first, unsigned count, Cycle now) override {
    for (unsigned n = 0; n < count; ++n) EXPECT_TRUE(open_.emplace(std::pair(queue, first + n), now).second);
  }
  void entered(unsigned queue, std::uint64_t number, const char* /*step*/, Cycle now) override {
    const auto at = open_.find({queue, number});
    ASSERT_NE(at, open_.end());
    EXPECT_LE(at->second, now);
    at->second = now;
  }
  void completed(unsigned queue, std::uint64_t number, const ObservedCommand& /*command*/,
                 Cycle now) override {
    const auto at = open_.find({queue, number});
    ASSERT_NE(at, open_.end());
    EXPECT_LE(at->second, now);
    open_.erase(at);
    ++completions;
  }
  void forgotten(unsigned queue, Cycle /*now*/) override {
    for (auto at = open_.begin(); at != open_.end();)
      at = at->first.first == queue ? open_.erase(at) : next(at);
  }
  void raised(unsigned /*vector*/, Cycle /*now*/) override {}
  [[nodiscard]] std::size_t open() const { return open_.size(); }
  unsigned accesses = 0, completions = 0;

 private:
  std::map<std::pair<unsigned, std::uint64_t>, Cycle> open_;  ///< since when they are in their last step
};

TEST(NvmeIo, IsObservedTimedAndLooselyTimed) {
  OpenCommands seen;
  NvmeBench bench;
  bench.system.nvme(0).observe_by(&seen);
  const NvmeBench::Memory m = bench.share(4096);
  unsigned completions = 0;
  for (const bool loose : {false, true, false}) {
    bench.host.pass(50'000);
    bench.system.set_loose(loose);
    bench.start();
    ASSERT_EQ(bench.create(1).code, 0U);
    bench.submit(0, {kAdminOpcodeAsyncEventRequest});
    for (unsigned i = 0; i < 8; ++i) bench.submit(1, bench.blocks(kNvmOpcodeRead, i, 1, m), false);
    bench.ring(1);
    bench.host.pass(50'000);
    completions += 2 + 8;
    EXPECT_EQ(seen.completions, completions) << loose;
    EXPECT_EQ(seen.open(), 1U) << "that waits for an event";
  }
}

TEST(NvmeIo, InjectedErrorsEndAsTheyShould) {
  PcieSystemParameters p = nvme_parameters();
  p.nvme.read_errors = 100'000;
  p.nvme.write_faults = 100'000;
  p.nvme.internal_errors = 50'000;
  p.nvme.not_ready = 50'000;
  std::map<unsigned, unsigned> seen;
  for (const bool loose : {false, true}) {
    NvmeBench bench(p, loose);
    bench.start();
    ASSERT_EQ(bench.create(1).code, 0U);
    const NvmeBench::Memory m = bench.share(4096);
    std::map<unsigned, unsigned> codes;
    for (unsigned i = 0; i < 300; ++i) {
      // A block that was acknowledged is there.
      put_number(m.bytes, 8, i);
      const Cqe wrote = bench.run(1, bench.blocks(kNvmOpcodeWrite, i, 1, m));
      const Cqe read = bench.run(1, bench.blocks(kNvmOpcodeRead, i, 1, m, 512));
      if (wrote.code == 0 && read.code == 0) {
        ASSERT_EQ(number_at(m.bytes + 512, 8), i);
      }
      ++codes[wrote.code];
      ++codes[read.code];
      ASSERT_FALSE(wrote.do_not_retry || read.do_not_retry);
    }
    EXPECT_GT(codes[kStatusCodeUnrecoveredReadError], 10U);
    EXPECT_GT(codes[kStatusCodeWriteFault], 10U);
    EXPECT_GT(codes[kStatusCodeInternalError], 10U);
    EXPECT_GT(codes[kStatusCodeNamespaceNotReady], 10U);
    EXPECT_EQ(codes.size(), 5U);
    if (loose) {
      EXPECT_EQ(codes, seen) << "the same commands fail";
    }
    seen = codes;
    EXPECT_EQ(bench.core().counters().injected, 600U - codes[0]);
  }
}

TEST(NvmeIo, RulesNameBlocksAndCommands) {
  NvmeBench bench;
  bench.start();
  ASSERT_EQ(bench.create(1).code, 0U);
  const NvmeBench::Memory m = bench.share(4096);
  ASSERT_TRUE(bench.core().inject({NvmeFault::read_error, 1, 100, 103, 1, 2}));
  const auto read = [&](unsigned first, unsigned count, unsigned nsid = 1) {
    return bench.run(1, bench.blocks(kNvmOpcodeRead, first, count, m, 0, nsid)).code;
  };
  EXPECT_EQ(read(96, 4), 0U);
  EXPECT_EQ(read(100, 1), 0U) << "the first is let go";
  EXPECT_EQ(read(104, 1), 0U);
  EXPECT_EQ(read(100, 1, 2), 0U);
  EXPECT_EQ(read(96, 5), kStatusCodeUnrecoveredReadError);
  EXPECT_EQ(read(103, 4), kStatusCodeUnrecoveredReadError);
  EXPECT_EQ(read(103, 4), 0U) << "two were to fail";
  EXPECT_EQ(bench.core().counters().media_errors, 2U);
  EXPECT_EQ(bench.core().injected(), 0U) << "a rule that is spent is gone";
}

TEST(NvmeIo, RulesFitCommandsThatNameWhatTheyName) {
  NvmeBench bench;
  bench.start();
  ASSERT_EQ(bench.create(1).code, 0U);
  const NvmeBench::Memory m = bench.share(4096);
  ASSERT_TRUE(bench.core().inject({NvmeFault::internal_error, 0, 100, 100}));
  EXPECT_EQ(bench.run(1, {kNvmOpcodeFlush, 1}).code, 0U) << "of no blocks";
  EXPECT_EQ(bench.run(1, bench.blocks(kNvmOpcodeRead, 100, 1, m)).code, kStatusCodeInternalError);
  bench.core().forget_injected();
  ASSERT_TRUE(bench.core().inject({NvmeFault::internal_error, 1}));
  EXPECT_EQ(bench.run(1, {kNvmOpcodeFlush, 0xFFFF'FFFF}).code, kStatusCodeInternalError) << "of it, too";
  bench.core().forget_injected();
  for (std::size_t i = 0; i < NvmeFaults::kMost; ++i)
    ASSERT_TRUE(bench.core().inject({NvmeFault::not_ready, 2}));
  EXPECT_FALSE(bench.core().inject({NvmeFault::not_ready, 2}));
  // They are whoever's who tests the host, and outlive its devices.
  bench.system.hot_reset(0);
  EXPECT_EQ(bench.core().injected(), NvmeFaults::kMost);
}

}  // namespace nvme_io_test
}  // namespace warpline
