// A foreign initiator on the bus of a PcieSystemModule: shapes, addresses, statuses, both ways of transport.
#define SC_INCLUDE_DYNAMIC_PROCESSES

#include <gtest/gtest.h>
#include <sysc/kernel/sc_spawn.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstring>
#include <functional>

#include "platform/systemc/pcie_system_module.h"
#include "tests/platform/host/systemc/cpu_bench.h"

namespace warpline {
namespace processors_bus_test {

using test::CpuBench;
using test::DriverBench;

/// A bus master of somebody else's.
struct Foreign final : sc_core::sc_module {
  explicit Foreign(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_nb_transport_bw(this, &Foreign::nb_transport_bw);
    socket.register_invalidate_direct_mem_ptr(this, &Foreign::invalidate);
  }
  tlm::tlm_generic_payload& payload(tlm::tlm_command command, std::uint64_t address, void* data,
                                    unsigned bytes) {
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(static_cast<unsigned char*>(data));
    p.set_data_length(bytes);
    p.set_streaming_width(bytes);
    p.set_byte_enable_ptr(nullptr);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    return p;
  }
  tlm::tlm_response_status send(tlm::tlm_generic_payload& made) {
    socket->b_transport(made, delay);
    return made.get_response_status();
  }
  tlm::tlm_response_status read(std::uint64_t address, void* data, unsigned bytes) {
    return send(payload(tlm::TLM_READ_COMMAND, address, data, bytes));
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& /*made*/, tlm::tlm_phase& phase,
                                     sc_core::sc_time& /*when*/) {
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    answered.notify(sc_core::SC_ZERO_TIME);
    return tlm::TLM_COMPLETED;
  }
  void invalidate(sc_dt::uint64 /*start*/, sc_dt::uint64 /*end*/) { ++invalidations; }

  tlm_utils::simple_initiator_socket<Foreign, PcieSystemModule::kBusBits> socket{"socket"};
  tlm::tlm_generic_payload p;
  sc_core::sc_time delay;
  sc_core::sc_event answered;
  unsigned invalidations = 0;
};

/// A system with a processor and a foreign bus master.
struct Bus {
  explicit Bus(bool loose) : bench(options(), loose) { foreign.socket.bind(bench.system.from_cpu(1)); }
  static PcieSystemOptions options() {
    PcieSystemOptions o;
    o.memory_bytes = 1U << 24U;
    o.processors = 2;
    return o;
  }
  /// Runs `function` when the processor has set the device up.
  void run(const std::function<void(HostCpu&)>& function) { bench.run({function}); }

  CpuBench bench;
  Foreign foreign{"foreign"};
};

class ProcessorsBus : public ::testing::TestWithParam<bool> {};

TEST_P(ProcessorsBus, AForeignMasterReadsRegistersAndMemoryThatADeviceWrote) {
  Bus bus(GetParam());
  bus.run([&](HostCpu& cpu) {
    DriverBench driver(cpu, bus.bench.system.system());
    driver.start();
    const auto to = driver.share(4096);
    wl_peer_command command{};
    command.opcode = WL_PEER_OPCODE_FILL;
    command.destination = to.bus;
    command.length = 64;
    command.operand = 0x1122334455667788;
    wl_peer_completion completion{};
    ASSERT_EQ(driver.run(command, completion), WL_OK);
    std::uint64_t value = 0;
    const std::uint64_t physical = *cpu.physical(to.bytes, 64);
    EXPECT_EQ(bus.foreign.read(physical + 8, &value, 8), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(value, 0x1122334455667788U);
    std::uint32_t id = 0, seen = 0;
    const std::uint64_t registers = cpu.devices()[0].bars[0].address;
    EXPECT_EQ(bus.foreign.read(registers + WL_PEER_IDENTITY_OFFSET, &id, 4), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(id, static_cast<std::uint32_t>(cpu.load(registers + WL_PEER_IDENTITY_OFFSET, 4)));
    EXPECT_EQ(id, WL_PEER_IDENTITY_VALUE);
    EXPECT_EQ(bus.foreign.read(PcieSystemModule::config_address(cpu.devices()[0].id, 2), &seen, 2),
              tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(seen, cpu.devices()[0].device);
    EXPECT_EQ(bus.foreign.delay != sc_core::SC_ZERO_TIME, GetParam());
  });
}

TEST_P(ProcessorsBus, WhatCannotBeIsAnsweredByStatus) {
  Bus bus(GetParam());
  bus.run([&](HostCpu& cpu) {
    std::array<unsigned char, 8192> data{};
    Foreign& f = bus.foreign;
    const std::uint64_t nobody = std::uint64_t{1} << 60U;
    const std::uint64_t config = PcieSystemModule::config_address(cpu.devices()[0].id, 0);
    EXPECT_EQ(f.read(nobody, data.data(), 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(data[0] & data[3], 0xFF);
    EXPECT_EQ(f.read(0, data.data(), 4096), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(f.read(0, data.data(), 4097), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(f.read(4092, data.data(), 8), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(f.read(0, data.data(), 0), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(f.read(config, data.data(), 4), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(f.read(config + 2, data.data(), 4), tlm::TLM_BURST_ERROR_RESPONSE);
    data.fill(0);
    EXPECT_EQ(f.read(PcieSystemModule::config_address(function_id(9, 0, 0), 0), data.data(), 4),
              tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(data[0] & data[1] & data[2] & data[3], 0xFF);
    EXPECT_EQ(f.send(f.payload(tlm::TLM_IGNORE_COMMAND, 0, data.data(), 4)), tlm::TLM_COMMAND_ERROR_RESPONSE);
    auto& streaming = f.payload(tlm::TLM_READ_COMMAND, 0, data.data(), 8);
    streaming.set_streaming_width(4);
    EXPECT_EQ(f.send(streaming), tlm::TLM_BURST_ERROR_RESPONSE);
    unsigned char enables = 0xFF;
    auto& enabled = f.payload(tlm::TLM_WRITE_COMMAND, 0, data.data(), 4);
    enabled.set_byte_enable_ptr(&enables);
    enabled.set_byte_enable_length(1);
    EXPECT_EQ(f.send(enabled), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    EXPECT_EQ(f.send(f.payload(tlm::TLM_WRITE_COMMAND, nobody, data.data(), 4)), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(cpu.load(nobody, 8), ~std::uint64_t{0});
    EXPECT_EQ(cpu.status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  });
}

TEST_P(ProcessorsBus, NonBlockingTransportIsAnswered) {
  Bus bus(GetParam());
  bus.run([&](HostCpu& cpu) {
    std::uint32_t id = 0;
    const std::uint64_t address = cpu.devices()[0].bars[0].address + WL_PEER_IDENTITY_OFFSET;
    auto& p = bus.foreign.payload(tlm::TLM_READ_COMMAND, address, &id, 4);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    EXPECT_NE(bus.foreign.socket->nb_transport_fw(p, phase, delay), tlm::TLM_COMPLETED);
    sc_core::wait(bus.foreign.answered);
    EXPECT_EQ(p.get_response_status(), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(id, static_cast<std::uint32_t>(cpu.load(address, 4)));
  });
}

TEST_P(ProcessorsBus, BothWaysOfTransportGoOnSideBySide) {
  Bus bus(GetParam());
  bus.run([&](HostCpu& cpu) {
    const std::uint64_t address = cpu.devices()[0].bars[0].address + WL_PEER_IDENTITY_OFFSET;
    unsigned right = 0;
    bool done = false;
    sc_core::sc_spawn([&] {
      for (unsigned n = 0; n < 50; ++n) {
        std::uint32_t id = 0;
        auto& p = bus.foreign.payload(tlm::TLM_READ_COMMAND, address, &id, 4);
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay;
        static_cast<void>(bus.foreign.socket->nb_transport_fw(p, phase, delay));
        sc_core::wait(bus.foreign.answered);
        sc_core::wait(sc_core::sc_time(1, sc_core::SC_NS));
        right += id == WL_PEER_IDENTITY_VALUE;
      }
      done = true;
    });
    for (unsigned n = 0; n < 50; ++n) right += cpu.load(address, 4) == WL_PEER_IDENTITY_VALUE;
    while (!done) sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
    EXPECT_EQ(right, 100U);
  });
}

std::vector<std::string>& reports() {
  static std::vector<std::string> all;
  return all;
}

TEST_P(ProcessorsBus, WhoCannotWaitMayPostOnly) {
  Bus bus(GetParam());
  sc_core::sc_report_handler::set_handler([](const sc_core::sc_report& report, const sc_core::sc_actions&) {
    if (report.get_severity() != sc_core::SC_INFO) reports().emplace_back(report.get_msg());
  });
  bus.run([&](HostCpu& cpu) {
    std::vector<tlm::tlm_response_status> statuses;
    std::uint32_t word = 0x12345678;
    sc_core::sc_spawn_options method;
    method.spawn_method();
    sc_core::sc_spawn(
        [&] {
          statuses.push_back(bus.foreign.send(bus.foreign.payload(tlm::TLM_WRITE_COMMAND, 8192, &word, 4)));
          statuses.push_back(bus.foreign.read(8192, &word, 4));
        },
        "method", &method);
    sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
    const std::vector<tlm::tlm_response_status> expected = {tlm::TLM_OK_RESPONSE,
                                                            tlm::TLM_GENERIC_ERROR_RESPONSE};
    EXPECT_EQ(statuses, expected);
    EXPECT_EQ(cpu.load(8192, 4), 0x12345678U);
  });
  sc_core::sc_report_handler::set_handler(sc_core::sc_report_handler::default_handler);
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_NE(reports()[0].find("from_cpu_1: b_transport from a process that cannot wait"), std::string::npos)
      << reports()[0];
}

TEST_P(ProcessorsBus, PointersAreGrantedToMemoryInLooseTimeOnly) {
  Bus bus(GetParam());
  bus.run([&](HostCpu& cpu) {
    std::uint32_t word = 0x12345678, back = 0;
    Foreign& f = bus.foreign;
    tlm::tlm_dmi dmi;
    auto& memory = f.payload(tlm::TLM_WRITE_COMMAND, 8192, &word, 4);
    EXPECT_EQ(f.socket->transport_dbg(memory), 4U);
    EXPECT_EQ(f.socket->get_direct_mem_ptr(memory, dmi), GetParam());
    if (GetParam()) {
      std::memcpy(&back, dmi.get_dmi_ptr() + 8192, 4);
      EXPECT_EQ(back, word);
      EXPECT_EQ(dmi.get_end_address(), (1U << 24U) - 1);
    }
    auto& registers = f.payload(tlm::TLM_READ_COMMAND, cpu.devices()[0].bars[0].address, &back, 4);
    EXPECT_FALSE(f.socket->get_direct_mem_ptr(registers, dmi));
    EXPECT_EQ(f.socket->transport_dbg(registers), 0U);
    const unsigned before = f.invalidations;
    bus.bench.system.set_loose(false);
    EXPECT_EQ(f.invalidations, before + (GetParam() ? 1 : 0));
  });
}

INSTANTIATE_TEST_SUITE_P(Timing, ProcessorsBus, ::testing::Values(false, true),
                         [](const auto& which) { return which.param ? "LooselyTimed" : "Timed"; });

TEST(HostCpus, ASystemHasOne) {
  PcieSystemModule system("system");
  HostCpu cpu("cpu", system);
  try {
    HostCpu second("second", system);
    FAIL() << "it was made";
  } catch (const std::logic_error& fault) {
    EXPECT_NE(std::string(fault.what()).find("has a host already"), std::string::npos) << fault.what();
  }
}

TEST(PcieSystemOptions, SaysEveryFaultOfItsOptions) {
  PcieSystemOptions options;
  options.processors = 0;
  options.mhz = 0;
  options.parameters.peers = 99;
  try {
    PcieSystemModule module("system", options);
    FAIL() << "it was made";
  } catch (const std::invalid_argument& fault) {
    for (const char* const word : {"processors", "mhz", "parameters.peers"})
      EXPECT_NE(std::string(fault.what()).find(word), std::string::npos) << fault.what();
  }
}

}  // namespace processors_bus_test
}  // namespace warpline
