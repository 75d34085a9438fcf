// A GPU with DRAM that is not ours, and modules that look at what L2 writes back. One simulation per process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <deque>
#include <map>

#include "platform/machine/gpu_memories.h"
#include "platform/systemc/memory_subsystem_module.h"
#include "platform/systemc/systemc_backend.h"
#include "rtl_models/tlm/pins/pin_wires.h"
#include "tests/platform/machine/body_kernel.h"
#include "tests/platform/machine/harness.h"
#include "tests/rtl_models/tlm/foreign_modules.h"
#include "tests/support/checked_hops.h"
#include "tests/support/kernel_run.h"
#include "tests/support/monitor.h"

namespace warpline::test {
namespace foreign_dram_test {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// An L2 so small that it writes back much.
GpuConfig config(const std::vector<std::string>& more = {}) {
  std::vector<std::string> all{{"sms=2"},     {"l2.slices=3"}, {"dram.channels=5"},
                               {"l2.sets=4"}, {"l2.ways=2"},   {"clocks.dram=777"}};
  all.insert(all.end(), more.begin(), more.end());
  return preset("mini", all);
}

/// Channels that answer in a given way and store what is written.
struct Stores {
  std::shared_ptr<SystemCBackend> backend(Way way, CheckedHops& hops) {
    auto made = checked_backend(config(), hops);
    made->replace_dram([this, way](const DramSite& site) {
      vidmem = site.vidmem;
      DramSockets sockets;
      for (unsigned i = 0; i < site.inputs; ++i)
        sockets.from_l2.push_back(&channels
                                       .emplace_back((site.name + "_" + std::to_string(i)).c_str(), way,
                                                     sc_core::sc_time(30, sc_core::SC_NS))
                                       .socket);
      return sockets;
    });
    return made;
  }
  std::deque<ForeignTarget> channels;
  const std::uint8_t* vidmem = nullptr;
};

/// Every legal way to answer.
class ForeignDramOf : public ::testing::TestWithParam<unsigned> {};

TEST_P(ForeignDramOf, StoresWhatKernelsHaveWritten) {
  Stores stores;
  CheckedHops hops;
  RunOptions options;
  options.backend = stores.backend(static_cast<Way>(GetParam()), hops);
  GpuPlatform gpu(config(), options);
  const std::uint64_t out = gpu.allocate("out", 65536);
  // Every thread writes a word, none of them twice.
  const auto module = module_of_body(
      "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %tid.x;\nmad.lo.u32 %r0, %r0, 128, %r1;\nmul.lo.u32 %r1, %r0, "
      "2654435761;\n"
      "mul.wide.u32 %d0, %r0, 4;\nadd.u64 %d0, %d0, %a0;\nst.global.u32 [%d0], %r1;\n",
      1);
  const auto kernel = module->make_kernel("k", {128, 1, 1}, {128, 1, 1}, 0, block_of({out}));
  EXPECT_EQ(gpu.launch(*kernel).outcome, RunOutcome::quiescent);
  EXPECT_THAT(gpu.unreconciled(), IsEmpty());
  std::vector<std::uint32_t> words(65536 / 4);
  gpu.read(out, words.data(), 65536);
  for (std::uint32_t i = 0; i < words.size(); ++i) ASSERT_EQ(words[i], i * 2654435761U);
  std::size_t stored = 0, wrong = 0;
  const std::uint64_t first = offset_in_aperture(*gpu.physical_of(out));
  for (const ForeignTarget& channel : stores.channels)
    for (const auto& [address, byte] : channel.memory) {
      if (address < first || address >= first + 65536) continue;
      ++stored;
      wrong += byte != stores.vidmem[address];
    }
  EXPECT_GT(stored, 450U * 128);
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(stores.channels.size(), 5U);
  EXPECT_STREQ(stores.channels[4].name(), "gpu.dram_4_0");
  const AllCounters counters(gpu);
  EXPECT_EQ(counters.values().count("dram[0].bytes_written"), 0U) << "ours are not there";
  EXPECT_GT(counters.total("l2.writebacks"), 450U);
  hops.expect_clean();
}

INSTANTIATE_TEST_SUITE_P(Ways, ForeignDramOf, ::testing::Range(0U, static_cast<unsigned>(Way::silent)));

/// A memory without time that has the only bytes of video memory there are: it takes them away where a host
/// lays them.
class Keeper final : public sc_core::sc_module {
 public:
  Keeper(const DramSite& site, std::map<std::uint64_t, std::uint8_t>& its_bytes)
      : sc_module(sc_core::sc_module_name(site.name.c_str())), bytes(its_bytes), vidmem(site.vidmem) {
    for (unsigned i = 0; i < site.inputs; ++i) {
      auto& socket = sockets.emplace_back(("from_l2_" + std::to_string(i)).c_str());
      socket.register_b_transport(this, &Keeper::serve);
      socket.register_transport_dbg(this, &Keeper::debug);
    }
  }
  std::deque<tlm_utils::simple_target_socket<Keeper, 256>> sockets;
  std::map<std::uint64_t, std::uint8_t>& bytes;
  std::uint8_t* vidmem;
  unsigned looks = 0;

 private:
  void serve(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    delay += sc_core::sc_time(7, sc_core::SC_NS);
    move(p);
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  unsigned debug(tlm::tlm_generic_payload& p) {
    ++looks;
    move(p);
    if (p.is_write()) std::memset(vidmem + p.get_address(), 0xEE, p.get_data_length());
    return p.get_data_length();
  }
  void move(tlm::tlm_generic_payload& p) {
    for (unsigned i = 0; i < p.get_data_length(); ++i) {
      const unsigned char* enables = p.get_byte_enable_ptr();
      if (enables != nullptr && enables[i % p.get_byte_enable_length()] != TLM_BYTE_ENABLED) continue;
      std::uint8_t& byte = bytes[p.get_address() + i];
      (p.is_write() ? byte : p.get_data_ptr()[i]) = p.is_write() ? p.get_data_ptr()[i] : byte;
    }
  }
};

struct Keepers {
  DramMaker maker() {
    return [this](const DramSite& site) {
      Keeper& k = channels.emplace_back(site, bytes);
      DramSockets sockets;
      for (auto& socket : k.sockets) sockets.from_l2.push_back(&socket);
      sockets.keeps_bytes = true;
      return sockets;
    };
  }
  std::map<std::uint64_t, std::uint8_t> bytes;
  std::deque<Keeper> channels;
};

/// Loads, stores of parts of sectors, and atomics, on lines that L2 does not hold for long.
void expect_right_sums(bool loose) {
  Keepers keepers;
  const auto backend = std::make_shared<SystemCBackend>(config().clocks, HopTransport::direct);
  backend->replace_dram(keepers.maker());
  RunOptions options;
  options.backend = backend;
  options.loose = loose;
  GpuPlatform gpu(config(), options);
  constexpr std::uint32_t kWords = 8192;
  const std::uint64_t in = gpu.allocate("in", kWords * 4), out = gpu.allocate("out", kWords * 4),
                      sums = gpu.allocate("sums", 256 * 4);
  std::vector<std::uint32_t> words(kWords), zeros(kWords);
  for (std::uint32_t i = 0; i < kWords; ++i) words[i] = i * 40503U;
  gpu.write(in, words.data(), kWords * 4);
  gpu.write(out, zeros.data(), kWords * 4);
  gpu.write(sums, zeros.data(), 256 * 4);
  const auto module = module_of_body(
      "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %tid.x;\nmad.lo.u32 %r0, %r0, 64, %r1;\nmul.wide.u32 %d0, %r0, "
      "4;\n"
      "add.u64 %d1, %d0, %a0;\nld.global.u32 %r2, [%d1];\nadd.u64 %d1, %d0, %a1;\nst.global.u16 [%d1], %r2;\n"
      "shr.u32 %r3, %r0, 5;\nmul.wide.u32 %d0, %r3, 4;\nadd.u64 %d0, %d0, %a2;\n"
      "red.global.add.u32 [%d0], %r2;\nred.global.add.u32 [%d1], 65536;\n",
      3);
  const auto kernel = module->make_kernel("k", {kWords / 64, 1, 1}, {64, 1, 1}, 0, block_of({in, out, sums}));
  ASSERT_EQ(gpu.launch(*kernel).outcome, RunOutcome::quiescent);
  EXPECT_THAT(gpu.unreconciled(), IsEmpty());
  std::vector<std::uint32_t> got(kWords), got_sums(256), wanted_sums(256);
  gpu.read(out, got.data(), kWords * 4);
  gpu.read(sums, got_sums.data(), 256 * 4);
  for (std::uint32_t i = 0; i < kWords; ++i) {
    ASSERT_EQ(got[i], (words[i] & 0xFFFFU) + 65536U) << i;
    wanted_sums[i / 32] += words[i];
  }
  EXPECT_EQ(got_sums, wanted_sums);
  EXPECT_EQ(keepers.channels.size(), 5U);
}

TEST(ForeignDram, KeepsTheBytesThatL2Fetches) {
  expect_right_sums(false);
}

TEST(ForeignDram, KeepsTheBytesThatL2FetchesLooselyTimed) {
  expect_right_sums(true);
}

TEST(ForeignDram, ABitThatFlipsInMemoryIsSeen) {
  Keepers keepers;
  const auto backend = std::make_shared<SystemCBackend>(config().clocks, HopTransport::direct);
  backend->replace_dram(keepers.maker());
  RunOptions options;
  options.backend = backend;
  GpuPlatform gpu(config(), options);
  const std::uint64_t at = gpu.allocate("at", 256), out = gpu.allocate("out", 256);
  const auto module = module_of_body("ld.global.u32 %r0, [%a0];\nst.global.u32 [%a1], %r0;\n", 2);
  const auto kernel = module->make_kernel("k", {1, 1, 1}, {1, 1, 1}, 0, block_of({at, out}));
  const std::uint32_t value = 0x12345678;
  gpu.write(at, &value, 4);
  gpu.start({GridLaunch{kernel.get(), 0, true}});
  keepers.bytes.at(offset_in_aperture(*gpu.physical_of(at)) + 1) ^= 0x40;
  EXPECT_EQ(gpu.finish().outcome, RunOutcome::quiescent);
  std::uint32_t got = 0;
  gpu.read(out, &got, 4);
  EXPECT_EQ(got, value ^ 0x4000U);
}

TEST(ForeignDram, WhoseSocketsDoNotFitIsRefused) {
  ForeignTarget target("target", Way::called, sc_core::sc_time(1, sc_core::SC_NS));
  const auto message = [&](const DramSockets& sockets, const std::vector<std::string>& more = {},
                           std::vector<std::string> pins = {}, bool slices = false) -> std::string {
    const auto backend = std::make_shared<SystemCBackend>(config(more).clocks, HopTransport::direct,
                                                          TickMode::lazy, 1, std::move(pins));
    backend->replace_dram([&](const DramSite&) { return sockets; });
    if (slices)
      backend->replace_slices([&](const SliceSite&) { return SliceSockets{&target.socket, {}, nullptr}; });
    RunOptions options;
    options.backend = backend;
    GpuPlatform gpu(config(more), options);
    try {
      gpu.build();
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return {};
  };
  EXPECT_EQ(message({}),
            "dram_0: a DRAM channel has a socket from_l2 for each of the 1 slices that use it, not 0");
  EXPECT_THAT(message({{nullptr}, false}), HasSubstr("dram_0: a DRAM channel has a socket"));
  EXPECT_EQ(message({}, {{"gpus=2"}}), "gpu.gpus: DRAM of somebody else's is for a platform of one GPU");
  EXPECT_THAT(message({}, {}, {"dram[4].*"}),
              HasSubstr("matches dram[4].from_l2, where the DRAM is not ours"));
}

/// Compares the bytes of whole lines that are written over wires with a memory.
class WireWatch final : public sc_core::sc_module {
 public:
  WireWatch(const sc_core::sc_module_name& name, const PinChannel& its_channel, MemoryImage& its_memory)
      : sc_module(name), channel(its_channel), memory(its_memory) {
    SC_HAS_PROCESS(WireWatch);
    SC_METHOD(look);
    dont_initialize();
    sensitive << channel.clock.posedge_event();
  }
  const PinChannel& channel;
  MemoryImage& memory;
  std::uint64_t seen = 0, right = 0;

 private:
  void look() {
    if (!channel.valid.read() || !channel.ready.read() || channel.command.read() != 1) return;
    if (channel.sectors.read() != kAllSectors) return;
    for (unsigned n = 0; n < channel.parameters.width; ++n) {
      if ((channel.strobes[n / 64].read() >> (n % 64) & 1U) == 0) continue;
      ++seen;
      const auto byte = static_cast<std::uint8_t>(channel.data[n / 8].read() >> (n % 8 * 8));
      right += byte == *memory.at(channel.address.read() + n);
    }
  }
};

/// That they have seen more than `some` together, and all of it was right.
template <class Watch>
void expect_all_right(const std::deque<Watch>& watches, std::uint64_t some) {
  std::uint64_t seen = 0, right = 0;
  for (const Watch& w : watches) {
    seen += w.seen;
    right += w.right;
  }
  EXPECT_GT(seen, some);
  EXPECT_EQ(right, seen);
}

TEST(WriteBacks, ShowTheirBytesOnWires) {
  const auto backend = std::make_shared<SystemCBackend>(config().clocks, HopTransport::direct, TickMode::lazy,
                                                        1, std::vector<std::string>{"dram*"});
  RunOptions options;
  options.backend = backend;
  GpuPlatform gpu(config(), options);
  const std::uint64_t out = gpu.allocate("out", 65536);
  gpu.build();
  std::deque<WireWatch> watches;
  for (PinWires* hop : backend->module().pins().wires())
    watches.emplace_back(sc_core::sc_gen_unique_name("watch"), hop->request, gpu.memory().vidmem(0));
  const auto module = module_of_body(
      "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %tid.x;\nmad.lo.u32 %r0, %r0, 128, %r1;\nmul.lo.u32 %r1, %r0, "
      "2654435761;\nmul.wide.u32 %d0, %r0, 4;\nadd.u64 %d0, %d0, %a0;\nst.global.u32 [%d0], %r1;\n",
      1);
  const auto kernel = module->make_kernel("k", {128, 1, 1}, {128, 1, 1}, 0, block_of({out}));
  EXPECT_EQ(gpu.launch(*kernel).outcome, RunOutcome::quiescent);
  expect_all_right(watches, 40000);
}

/// Compares what is written at the door of DRAM with what was.
struct WriteWatch {
  explicit WriteWatch(const char* name) : monitor(name) {
    monitor.look = [this](const tlm::tlm_generic_payload& p) {
      if (!p.is_write()) return;
      ++seen;
      bool all = true;
      for (unsigned i = 0; i < p.get_data_length(); ++i)
        all = all && p.get_data_ptr()[i] == static_cast<std::uint8_t>(p.get_address() / 128 * 7 + 1);
      right += all;
    };
  }
  Monitor monitor;
  std::uint64_t seen = 0, right = 0;
};

TEST(WriteBacks, CarryTheBytesThatWereWrittenWhereverSomebodyLooks) {
  MemorySubsystemOptions options;
  options.settings = {"sms=1", "l2.sets=4"};
  options.devices = 1;
  std::deque<WriteWatch> watches;
  options.interpose = [&watches](const HopSite& site) -> HopSockets {
    if (!site.matches("dram*")) return {};
    WriteWatch& w = watches.emplace_back(site.module_name.c_str());
    return {&w.monitor.from_initiator, &w.monitor.to_target};
  };
  MemorySubsystemModule memory("memory", options);
  std::vector<Access> lines;
  for (unsigned i = 0; i < 2000; ++i) {
    Access a;
    a.command = tlm::TLM_WRITE_COMMAND;
    a.address = i * 128ULL;
    a.data.assign(128, static_cast<std::uint8_t>(i * 7 + 1));
    lines.push_back(a);
  }
  ForeignInitiator device("device", lines, ForeignInitiator::Habits{sc_core::SC_ZERO_TIME, false});
  ForeignInitiator sm("sm", {}, ForeignInitiator::Habits{sc_core::SC_ZERO_TIME, false});
  device.socket.bind(memory.from_device(0));
  sm.socket.bind(memory.from_sm(0));
  sc_core::sc_start();
  expect_all_right(watches, 1000);
}

}  // namespace foreign_dram_test
}  // namespace warpline::test
