// Threads come and go.
#define SC_INCLUDE_DYNAMIC_PROCESSES

#include "rtl_models/queue_device/queue_device_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sysc/kernel/sc_spawn.h>

#include <array>
#include <map>
#include <string>

#include "tests/rtl_models/queue_device/systemc/bare_bus.h"

namespace warpline::test {
namespace {

using ::testing::HasSubstr;

sc_core::sc_time ns(double n) {
  return {n, sc_core::SC_NS};
}

struct Counts final : CounterVisitor {
  void counter(std::string_view, std::string_view name, std::uint64_t value, std::string_view,
               std::string_view) override {
    values[std::string(name)] = value;
  }
  std::map<std::string, std::uint64_t> values;
};
std::uint64_t counter(const QueueDeviceModule& device, const std::string& name) {
  Counts counts;
  device.visit(counts);
  return counts.values.at(name);
}

/// What each access takes is in the module's contract: two cycles there, 4 of access latency, one back.
TEST(QueueDeviceModule, RegistersAnswerThroughTheSocketInTheTimeThatIsPromised) {
  BareBench bench([](BareBench& b) {
    EXPECT_EQ(b.load(WL_PEER_IDENTITY_OFFSET), WL_PEER_IDENTITY_VALUE);
    EXPECT_EQ(sc_core::sc_time_stamp(), ns(7.5));  // made at 0, in the cycle that begins then
    sc_core::wait(ns(1.5));
    b.store(WL_PEER_SCRATCH_OFFSET(0), 0x12345678);
    EXPECT_EQ(sc_core::sc_time_stamp(), ns(11.5));
    EXPECT_EQ(b.load(WL_PEER_SCRATCH_OFFSET(0)), 0x12345678U);
    EXPECT_EQ(b.load(WL_PEER_SCRATCH_OFFSET(0), 2), 0U) << "no register takes it";
    EXPECT_EQ(b.load(WL_PEER_ERROR_OFFSET), WL_PEER_ERROR_BAD_ACCESS_MASK);
    EXPECT_EQ(b.load(WL_PEER_BAD_OFFSET_OFFSET), WL_PEER_SCRATCH_OFFSET(0));
  });
  bench.simulate();
  EXPECT_EQ(counter(bench.device, "bad_accesses"), 1U);
  EXPECT_EQ(bench.device.access_log().entries().size(), 6U);
}

TEST(QueueDeviceModule, ItsMemoryTakesBurstsOfAnySizeWithinAPage) {
  BareBench bench([](BareBench& b) {
    const std::uint64_t at = b.device.memory_at();
    std::vector<std::uint8_t> wrote(4096), read(4096);
    for (std::size_t i = 0; i < wrote.size(); ++i) wrote[i] = static_cast<std::uint8_t>(i * 7);
    EXPECT_EQ(b.access(tlm::TLM_WRITE_COMMAND, at + 4096, wrote.data(), 4096), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(b.access(tlm::TLM_READ_COMMAND, at + 4096, read.data(), 4096), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(read, wrote);
    EXPECT_EQ(b.load(at + 4096 + 3, 1), wrote[3]);
    EXPECT_EQ(b.load(b.device.window_bytes() - 8, 8), 0U);
  });
  bench.simulate();
}

TEST(QueueDeviceModule, WhatABusMayNotAskIsAnsweredWithItsStatusOfTlm) {
  BareBench bench([](BareBench& b) {
    std::array<unsigned char, 4104> data{};
    std::array<unsigned char, 8> enables{};
    const auto status = [&](std::uint64_t address, unsigned bytes, tlm::tlm_command command,
                            unsigned streaming, bool enabled) {
      tlm::tlm_generic_payload p;
      p.set_command(command);
      p.set_address(address);
      p.set_data_ptr(data.data());
      p.set_data_length(bytes);
      p.set_streaming_width(streaming);
      if (enabled) {
        p.set_byte_enable_ptr(enables.data());
        p.set_byte_enable_length(8);
      }
      sc_core::sc_time delay;
      b.cpu->b_transport(p, delay);
      EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
      return p.get_response_status();
    };
    const std::uint64_t memory = b.device.memory_at();
    EXPECT_EQ(status(memory, 8, tlm::TLM_READ_COMMAND, 8, true), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    EXPECT_EQ(status(memory, 8, tlm::TLM_READ_COMMAND, 4, false), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(status(memory + 4092, 8, tlm::TLM_READ_COMMAND, 8, false), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(status(memory, 4104, tlm::TLM_WRITE_COMMAND, 4104, false), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(status(memory, 8, tlm::TLM_IGNORE_COMMAND, 8, false), tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(status(0x5000, 4, tlm::TLM_READ_COMMAND, 4, false), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(status(b.device.window_bytes(), 4, tlm::TLM_READ_COMMAND, 4, false),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(status(memory, 8, tlm::TLM_READ_COMMAND, 8, false), tlm::TLM_OK_RESPONSE);
  });
  bench.simulate();
  EXPECT_EQ(bench.device.access_log().total(), 1U) << "the others did not arrive";
}

TEST(QueueDeviceModule, DebugAccessSeesMemoryAndRegistersWithoutEffects) {
  BareBench bench([](BareBench& b) {
    const auto debug = [&](tlm::tlm_command command, std::uint64_t address, void* data, unsigned bytes) {
      tlm::tlm_generic_payload p;
      p.set_command(command);
      p.set_address(address);
      p.set_data_ptr(static_cast<unsigned char*>(data));
      p.set_data_length(bytes);
      return b.cpu->transport_dbg(p);
    };
    std::uint64_t value = 0x0123456789ABCDEF, seen = 0;
    EXPECT_EQ(debug(tlm::TLM_WRITE_COMMAND, b.device.memory_at() + 100, &value, 8), 8U);
    EXPECT_EQ(b.load(b.device.memory_at() + 100, 8), value);
    EXPECT_EQ(debug(tlm::TLM_READ_COMMAND, b.device.memory_at() + 104, &seen, 4), 4U);
    EXPECT_EQ(seen, value >> 32U);
    EXPECT_EQ(debug(tlm::TLM_READ_COMMAND, b.device.window_bytes() - 3, &seen, 8), 3U);
    seen = 0;
    EXPECT_EQ(debug(tlm::TLM_READ_COMMAND, WL_PEER_IDENTITY_OFFSET, &seen, 4), 4U);
    EXPECT_EQ(seen, WL_PEER_IDENTITY_VALUE);
    EXPECT_EQ(debug(tlm::TLM_WRITE_COMMAND, WL_PEER_SCRATCH_OFFSET(0), &seen, 4), 0U);
    EXPECT_EQ(debug(tlm::TLM_READ_COMMAND, WL_PEER_SCRATCH_OFFSET(0) + 1, &seen, 4), 0U);
    tlm::tlm_generic_payload p;
    tlm::tlm_dmi dmi;
    EXPECT_FALSE(b.cpu->get_direct_mem_ptr(p, dmi));
  });
  bench.simulate();
  EXPECT_EQ(counter(bench.device, "register_reads"), 0U);
  EXPECT_EQ(counter(bench.device, "bad_accesses"), 0U);
}

/// The memory takes 10 ns. So the completion that went out at T is answered in a tick that is 11 cycles
/// later, as an end at a tick counts from the next one on; the message goes out in it, and the wire rises
/// half a cycle after it.
TEST(QueueDeviceModule, AnInterruptComesAsMessageAndAsWireWhenTheCompletionIsThere) {
  constexpr std::uint64_t kDoorbell = NotingMemory::kBase + 0xFF000;
  BareBench bench([&](BareBench& b) {
    BareDriver driver(b);
    driver.start(4, true);
    b.store(QueueDeviceModule::kMessageTable, kDoorbell, 8);
    b.store(QueueDeviceModule::kMessageTable + 8, 0xCAFE);
    b.store(QueueDeviceModule::kMessageTable + 12, 0);
    std::uint8_t* const data = b.allocate(8192);
    for (unsigned i = 0; i < 3000; ++i) data[i] = static_cast<std::uint8_t>(i * 13);
    b.memory.accesses.clear();
    wl_peer_completion done{};
    ASSERT_EQ(driver.run(driver.copy(data, data + 4096, 3000), done), WL_OK);
    EXPECT_EQ(done.status, WL_PEER_STATUS_CODE_OK);
    EXPECT_EQ(std::memcmp(data, data + 4096, 3000), 0);
    sc_core::wait(ns(100));
    std::uint32_t message = 0;
    std::memcpy(&message, b.memory.bytes.at(0xFF000), 4);
    EXPECT_EQ(message, 0xCAFEU);
  });
  bench.simulate();
  const auto& seen = bench.memory.accesses;
  ASSERT_GE(seen.size(), 3U);
  const NotingMemory::Access &told = seen.back(), &completion = seen[seen.size() - 2];
  EXPECT_EQ(told.address, kDoorbell);
  EXPECT_EQ(completion.bytes, 16U);
  EXPECT_EQ(told.at, completion.at + ns(11));
  ASSERT_EQ(bench.wave.size(), 2U);
  EXPECT_EQ(bench.wave[0].vector, 0U);
  EXPECT_TRUE(bench.wave[0].high);
  EXPECT_EQ(bench.wave[0].at, completion.at + ns(11.5));
  EXPECT_EQ(bench.wave[1].at, bench.wave[0].at + ns(1));
}

/// Each of many interrupts is an edge, or one follows: who looks at the ring at each edge misses none.
TEST(QueueDeviceModule, NoInterruptIsLostWhereMoreComeThanTheWireCanTell) {
  BareBench bench([](BareBench& b) {
    b.memory.latency = sc_core::SC_ZERO_TIME;
    BareDriver driver(b);
    driver.start(6, true);
    wl_peer_command nop{};
    nop.opcode = WL_PEER_OPCODE_NOP;
    nop.length = 1;
    for (unsigned i = 0; i < 40; ++i) ASSERT_EQ(wl_peer_submit(&driver.peer, 0, &nop), WL_OK);
    ASSERT_EQ(wl_peer_ring(&driver.peer, 0), WL_OK);
    wl_peer_completion done{};
    for (unsigned taken = 0; taken < 40;) {
      ASSERT_TRUE(b.wait_interrupt(0, 100)) << taken;
      while (wl_peer_poll(&driver.peer, 0, &done) == WL_OK) ++taken;
    }
  });
  bench.simulate();
  EXPECT_EQ(counter(bench.device, "commands"), 40U);
  for (std::size_t i = 0; i + 1 < bench.wave.size(); ++i) {
    EXPECT_NE(bench.wave[i].high, bench.wave[i + 1].high);
    EXPECT_GE(bench.wave[i + 1].at - bench.wave[i].at, ns(1));
  }
}

TEST(QueueDeviceModule, ErrorsOfTheBusAreInItsRegisters) {
  BareBench bench([](BareBench& b) {
    BareDriver driver(b);
    driver.start();
    std::uint8_t* const data = b.allocate(8192);
    wl_peer_command c = driver.copy(data, data + 4096, 64);
    wl_peer_completion done{};
    const auto failed = [&](std::uint64_t address) {
      EXPECT_EQ(b.load(WL_PEER_ERROR_OFFSET) & WL_PEER_ERROR_BUS_MASK, WL_PEER_ERROR_BUS_MASK);
      EXPECT_EQ(b.load(WL_PEER_ERROR_ADDRESS_OFFSET, 8), address);
      std::uint32_t errors = 0;
      EXPECT_EQ(wl_peer_check(&driver.peer, &errors), WL_OK);
    };
    c.source = 0x123'0000'0000;  // nobody's
    ASSERT_EQ(driver.run(c, done), WL_OK);
    EXPECT_NE(done.status, WL_PEER_STATUS_CODE_OK);
    failed(c.source);
    c = driver.copy(data, data + 4096, 64);
    b.memory.broken = {c.source, 8};
    ASSERT_EQ(driver.run(c, done), WL_OK);
    EXPECT_NE(done.status, WL_PEER_STATUS_CODE_OK);
    failed(c.source);
    // A write that is refused, which PCI Express would tell nobody of.
    b.memory.broken = {c.destination, 8};
    ASSERT_EQ(driver.run(c, done), WL_OK);
    EXPECT_EQ(done.status, WL_PEER_STATUS_CODE_OK);
    failed(c.destination);
  });
  bench.simulate();
}

TEST(QueueDeviceModule, AFetchAddIsAReadAndAWriteWithNothingOfTheDeviceBetween) {
  BareBench bench([](BareBench& b) {
    BareDriver driver(b);
    driver.start(5);
    std::uint8_t* const data = b.allocate(8192);
    wl_peer_command add{};
    add.opcode = WL_PEER_OPCODE_FETCH_ADD;
    add.length = 8;
    add.operand = 3;
    add.destination = driver.bus(data);
    const wl_peer_command copy = driver.copy(data + 64, data + 4096, 2000);
    for (unsigned i = 0; i < 20; ++i)
      ASSERT_EQ(wl_peer_submit(&driver.peer, 0, i % 4 == 3 ? &copy : &add), WL_OK);
    ASSERT_EQ(wl_peer_ring(&driver.peer, 0), WL_OK);
    wl_peer_completion done{};
    for (unsigned i = 0; i < 20; ++i) ASSERT_EQ(wl_peer_wait(&driver.peer, 0, 1000, &done), WL_OK);
    std::uint64_t sum = 0;
    std::memcpy(&sum, data, 8);
    EXPECT_EQ(sum, 45U);
    // Between the read and the write of one there is nothing.
    const auto& seen = b.memory.accesses;
    unsigned atomics = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (seen[i].address != add.destination || seen[i].writes) continue;
      ++atomics;
      ASSERT_LT(i + 1, seen.size());
      EXPECT_TRUE(seen[i + 1].writes);
      EXPECT_EQ(seen[i + 1].address, add.destination);
    }
    EXPECT_EQ(atomics, 15U);
  });
  bench.simulate();
}

/// How many of the accesses that read, or write, were under way at once.
int most_at_once(const NotingMemory& memory, bool writes) {
  int most = 0;
  for (const auto& a : memory.accesses) {
    int same = 0;
    for (const auto& other : memory.accesses)
      same += other.writes == writes && other.at <= a.at && a.at < other.at + memory.latency;
    most = std::max(most, same);
  }
  return most;
}

void copy_much(BareBench& b, bool relaxed) {
  b.memory.latency = ns(100);
  BareDriver driver(b);
  driver.start(4, false, relaxed);
  std::uint8_t* const data = b.allocate(65536);
  for (unsigned i = 0; i < 16384; ++i) data[i] = static_cast<std::uint8_t>(i * 11 + i / 256);
  wl_peer_completion done{};
  ASSERT_EQ(driver.run(driver.copy(data, data + 32768, 16384), done), WL_OK);
  sc_core::wait(ns(1000));
  EXPECT_EQ(std::memcmp(data, data + 32768, 16384), 0);
}

TEST(QueueDeviceModule, ReadsOverlapAndWritesDoNot) {
  BareBench bench([](BareBench& b) { copy_much(b, false); });
  bench.simulate();
  EXPECT_GT(most_at_once(bench.memory, false), 8);
  EXPECT_EQ(most_at_once(bench.memory, true), 1);
}

TEST(QueueDeviceModule, WritesOfARelaxedQueueOverlap) {
  BareBench bench([](BareBench& b) { copy_much(b, true); });
  bench.simulate();
  EXPECT_GT(most_at_once(bench.memory, true), 4);
}

TEST(QueueDeviceModule, ResetInTheMiddleOfWorkForgetsIt) {
  BareBench bench([](BareBench& b) {
    b.memory.latency = ns(50);
    BareDriver driver(b);
    driver.start(4, true);
    std::uint8_t* const data = b.allocate(65536);
    ASSERT_EQ(driver.submit(driver.copy(data, data + 32768, 16384)), WL_OK);
    sc_core::wait(ns(220));  // reads are under way
    // So is an access.
    std::uint32_t value = 0;
    b.at(ns(3), [&b] { b.device.reset(); });
    EXPECT_EQ(b.access(tlm::TLM_READ_COMMAND, WL_PEER_IDENTITY_OFFSET, &value, 4),
              tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(b.load(WL_PEER_STATUS_OFFSET), 0U);
    EXPECT_EQ(b.load(WL_PEER_SQ_BASE_OFFSET(0), 8), 0U);
    sc_core::wait(ns(1000));
    EXPECT_TRUE(b.engine->at_rest()) << "the answers of the bus to what was forgotten have come";
    EXPECT_TRUE(b.wave.empty());
    // As new.
    BareDriver again(b);
    again.start(4, true);
    data[5] = 77;
    wl_peer_completion done{};
    ASSERT_EQ(again.run(again.copy(data, data + 32768, 100), done), WL_OK);
    EXPECT_EQ(done.status, WL_PEER_STATUS_CODE_OK);
    EXPECT_EQ(data[32768 + 5], 77);
    EXPECT_EQ(b.wave.size(), 2U);
  });
  bench.simulate();
}

TEST(QueueDeviceModule, ResetAtEveryMomentLeavesADeviceThatWorks) {
  BareBench bench([](BareBench& b) {
    b.memory.latency = ns(7);
    std::uint8_t* const data = b.allocate(16384);
    std::uint8_t* const rings = b.allocate(8192);
    for (unsigned moment = 0; moment < 400; moment += 3) {
      BareDriver driver(b);
      ASSERT_EQ(wl_peer_probe(&driver.peer, &driver.port), WL_OK);
      ASSERT_EQ(wl_peer_start(&driver.peer), WL_OK);
      std::memset(rings, 0, 8192);
      wl_peer_queue_options options{};
      options.order = 4;
      options.submissions = rings;
      options.completions = rings + 4096;
      driver.slots.resize(16);
      options.slots = driver.slots.data();
      options.interrupt = 1;
      ASSERT_EQ(wl_peer_queue_create(&driver.peer, 0, &options), WL_OK);
      wl_peer_command add{};
      add.opcode = WL_PEER_OPCODE_FETCH_ADD;
      add.length = 4;
      add.operand = 1;
      add.destination = driver.bus(data + 12288);
      const wl_peer_command copy = driver.copy(data, data + 8192, 1500);
      for (unsigned i = 0; i < 6; ++i)
        ASSERT_EQ(wl_peer_submit(&driver.peer, 0, i % 2 == 0 ? &copy : &add), WL_OK);
      ASSERT_EQ(wl_peer_ring(&driver.peer, 0), WL_OK);
      sc_core::wait(ns(moment));
      if (moment % 2 == 0) {
        b.device.reset();
      } else {
        b.reset.write(true);
        sc_core::wait(ns(1));
        std::uint32_t value = 0;
        EXPECT_EQ(b.access(tlm::TLM_READ_COMMAND, 0, &value, 4), tlm::TLM_GENERIC_ERROR_RESPONSE);
        b.reset.write(false);
        sc_core::wait(ns(1));
      }
      EXPECT_EQ(b.load(WL_PEER_COMMANDS_OFFSET, 8), 0U) << moment;
    }
    sc_core::wait(ns(1000));
    EXPECT_TRUE(b.engine->at_rest());
    for (const auto& wire : b.wires) EXPECT_FALSE(wire.read());
  });
  bench.simulate();
}

/// An initiator with four phases, and as many accesses at once.
struct PhasedInitiator final : sc_core::sc_module, tlm::tlm_bw_transport_if<>, tlm::tlm_mm_interface {
  explicit PhasedInitiator(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
    SC_HAS_PROCESS(PhasedInitiator);
    SC_METHOD(end_late);
    dont_initialize();
    sensitive << end;
  }
  void end_late() {
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay;
    EXPECT_EQ(socket->nb_transport_fw(*late, phase, delay), tlm::TLM_COMPLETED);
  }
  tlm::tlm_sync_enum send(std::uint64_t address, std::uint32_t& value, tlm::tlm_command command) {
    tlm::tlm_generic_payload& p = payloads.emplace_back(this);
    p.acquire();
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    p.set_data_length(4);
    p.set_streaming_width(4);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    const auto status = socket->nb_transport_fw(p, phase, delay);
    EXPECT_TRUE(status != tlm::TLM_UPDATED || phase == tlm::END_REQ);
    return status;
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    EXPECT_EQ(phase, tlm::BEGIN_RESP);
    EXPECT_TRUE(p.is_response_ok());
    answers.push_back(sc_core::sc_time_stamp());
    if (answers.size() % 2 == 0) {  // END_RESP by call, late
      late = &p;
      end.notify(ns(20));
      return tlm::TLM_ACCEPTED;
    }
    phase = tlm::END_RESP;
    delay = ns(2);
    return tlm::TLM_UPDATED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void free(tlm::tlm_generic_payload*) override {}
  tlm::tlm_initiator_socket<64> socket{"socket"};
  std::deque<tlm::tlm_generic_payload> payloads;
  std::vector<sc_core::sc_time> answers;
  tlm::tlm_generic_payload* late = nullptr;
  sc_core::sc_event end;
};

TEST(QueueDeviceModule, TakesAccessesByPhasesManyAtOnce) {
  const auto engine = make_engine("engine", 1000);
  QueueDeviceModule device("device", *engine);
  PhasedInitiator cpu("cpu");
  NotingMemory memory("memory", 4096);
  WidthAdapter<64, 256> widen("widen");
  WidthAdapter<256, 64> narrow("narrow");
  cpu.socket.bind(widen.from_initiator);
  bind_checked(widen.to_target, narrow.from_initiator);
  narrow.to_target.bind(device.from_bus());
  device.to_memory().bind(memory.socket);
  std::uint32_t wrote = 0xABCD, read[4] = {};
  sc_core::sc_start(ns(0.2));
  EXPECT_EQ(cpu.send(WL_PEER_SCRATCH_OFFSET(1), wrote, tlm::TLM_WRITE_COMMAND), tlm::TLM_UPDATED);
  EXPECT_EQ(cpu.send(WL_PEER_SCRATCH_OFFSET(1), read[0], tlm::TLM_READ_COMMAND), tlm::TLM_UPDATED);
  EXPECT_EQ(cpu.send(WL_PEER_IDENTITY_OFFSET, read[1], tlm::TLM_READ_COMMAND), tlm::TLM_UPDATED);
  EXPECT_EQ(cpu.send(WL_PEER_PRESENT_OFFSET, read[2], tlm::TLM_READ_COMMAND), tlm::TLM_UPDATED);
  EXPECT_EQ(cpu.send(0x5000, read[3], tlm::TLM_READ_COMMAND), tlm::TLM_COMPLETED) << "nothing is there";
  EXPECT_FALSE(engine->at_rest());
  sc_core::sc_start(ns(200));
  EXPECT_EQ(read[0], 0xABCDU);
  EXPECT_EQ(read[1], WL_PEER_IDENTITY_VALUE);
  EXPECT_EQ(read[2], WL_PEER_PRESENT_VALUE);
  // The write, and the first read two cycles of the response channel later, which END_RESP holds up from
  // then.
  ASSERT_EQ(cpu.answers.size(), 4U);
  EXPECT_EQ(cpu.answers[0], ns(2.5));
  EXPECT_EQ(cpu.answers[1], ns(8.5));
  EXPECT_EQ(cpu.answers[2], ns(28.5));
  EXPECT_EQ(cpu.answers[3], ns(30.5));
  EXPECT_TRUE(engine->at_rest());
}

TEST(QueueDeviceModule, AccessesByPhasesThatAreAnsweredOutOfOrderKeepTheirAnswers) {
  const auto engine = make_engine("engine", 1000);
  QueueDeviceModule device("device", *engine);
  PhasedInitiator cpu("cpu");
  NotingMemory memory("memory", 4096);
  cpu.socket.bind(device.from_bus());
  device.to_memory().bind(memory.socket);
  // Writes are done before the reads around them.
  constexpr unsigned kRounds = 12;
  std::array<std::uint32_t, 2 * kRounds> read{};
  std::array<std::uint32_t, kRounds> wrote{};
  sc_core::sc_start(ns(0.2));
  for (unsigned i = 0; i < kRounds; ++i) {
    wrote[i] = 1000 + i;
    cpu.send(WL_PEER_IDENTITY_OFFSET, read[2 * i], tlm::TLM_READ_COMMAND);
    cpu.send(device.memory_at() + 64 * i, wrote[i], tlm::TLM_WRITE_COMMAND);
    cpu.send(device.memory_at() + 64 * i, read[2 * i + 1], tlm::TLM_READ_COMMAND);
  }
  sc_core::sc_start(ns(3000));
  EXPECT_EQ(cpu.answers.size(), 3 * kRounds);
  for (unsigned i = 0; i < kRounds; ++i) {
    EXPECT_EQ(read[2 * i], WL_PEER_IDENTITY_VALUE) << i;
    EXPECT_EQ(read[2 * i + 1], wrote[i]) << i;
  }
  EXPECT_TRUE(engine->at_rest());
}

TEST(QueueDeviceModule, AccessesOfAThreadThatIsKilledComeToTheirEndWithoutIt) {
  BareBench bench([](BareBench& b) {
    for (unsigned n = 0; n < 30; ++n) {
      std::vector<sc_core::sc_process_handle> threads;
      for (unsigned t = 0; t < 4; ++t)
        threads.push_back(sc_core::sc_spawn([&b, t] {
          std::array<unsigned char, 256> data{};
          tlm::tlm_generic_payload p;
          p.set_command(t % 2 == 0 ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND);
          p.set_address(b.device.memory_at() + 4096 * t);
          p.set_data_ptr(data.data());
          p.set_data_length(256);
          p.set_streaming_width(256);
          sc_core::sc_time delay = ns(t);
          b.cpu->b_transport(p, delay);
        }));
      sc_core::wait(ns(0.5 * n));
      for (sc_core::sc_process_handle& h : threads)
        if (h.valid() && !h.terminated()) h.kill();
      b.store(WL_PEER_SCRATCH_OFFSET(0), n);
      EXPECT_EQ(b.load(WL_PEER_SCRATCH_OFFSET(0)), n);
    }
    sc_core::wait(ns(100));
    EXPECT_TRUE(b.engine->at_rest());
  });
  bench.simulate();
}

TEST(QueueDeviceModule, AnAccessThatIsMadeAfterItsDelayFindsTheResetThatHasBegunMeanwhile) {
  BareBench bench([](BareBench& b) {
    std::uint32_t value = 0;
    b.at(ns(5), [&b] { b.reset.write(true); });
    b.local = ns(20);
    EXPECT_EQ(b.access(tlm::TLM_READ_COMMAND, 0, &value, 4), tlm::TLM_GENERIC_ERROR_RESPONSE);
    b.local = sc_core::SC_ZERO_TIME;
    b.at(ns(1), [&b] { b.reset.write(false); });
    b.pass(ns(2));
    EXPECT_EQ(b.load(WL_PEER_IDENTITY_OFFSET), WL_PEER_IDENTITY_VALUE);
  });
  bench.simulate();
}

TEST(QueueDeviceModule, ACallFromAProcessThatCannotWaitIsRefused) {
  static unsigned reports = 0;
  reports = 0;
  BareBench bench([](BareBench& b) {
    std::uint32_t value = 0;
    tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
    b.at(ns(3), [&] { status = b.access(tlm::TLM_READ_COMMAND, 0, &value, 4); });
    sc_core::wait(ns(50));
    EXPECT_EQ(status, tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_TRUE(b.engine->at_rest());
    EXPECT_EQ(b.load(WL_PEER_IDENTITY_OFFSET), WL_PEER_IDENTITY_VALUE);
  });
  sc_core::sc_report_handler::set_handler([](const sc_core::sc_report& report, const sc_core::sc_actions&) {
    if (std::string(report.get_msg()).find("must come from an SC_THREAD") != std::string::npos) ++reports;
  });
  bench.simulate();
  sc_core::sc_report_handler::set_handler(sc_core::sc_report_handler::default_handler);
  EXPECT_EQ(reports, 1U);
}

TEST(QueueDeviceModule, UnfitParametersAreRefusedTogether) {
  const auto engine = make_engine("engine", 1000);
  QueueDeviceModuleParameters parameters;
  parameters.device.commands = 0;
  parameters.outstanding = 0;
  parameters.burst_bytes = 100;
  try {
    const QueueDeviceModule device("device", *engine, parameters);
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), HasSubstr("device.commands"));
    EXPECT_THAT(e.what(), HasSubstr("outstanding"));
    EXPECT_THAT(e.what(), HasSubstr("burst_bytes"));
  }
}

}  // namespace
}  // namespace warpline::test
