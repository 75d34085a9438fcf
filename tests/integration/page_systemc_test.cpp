// The C++ of docs/systemc.md, docs/embedding.md and docs/drivers.md: it compiles, and it does what the pages
// say.
#include <gtest/gtest.h>
#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <deque>
#include <iostream>

#include "platform/config/load_gpu.h"
#include "platform/config/parameter_broker.h"
#include "platform/host/host_machine.h"
#include "platform/machine/gpu_platform.h"
#include "platform/programs/generators/generator.h"
#include "platform/systemc/memory_subsystem_module.h"
#include "platform/systemc/systemc_backend.h"
#include "rtl_models/pcie/hops/tlp_extension_module.h"
#include "rtl_models/queue_device/queue_device_module.h"
#include "rtl_models/tlm/pins/pin_through.h"
#include "rtl_models/tlm/width_adapter.h"
#include "tests/support/monitor.h"

namespace warpline {
namespace page_systemc_test {

using test::Monitor;

TEST(PageSystemC, AModuleComesIntoTheHopsThatMatch) {
  const GpuConfig config = load_gpu("mini", {}).value();
  auto backend = std::make_shared<SystemCBackend>(config.clocks, HopTransport::direct);
  std::deque<Monitor> monitors;
  backend->interpose([&](const warpline::HopSite& hop) -> warpline::HopSockets {  // asked for every hop
    if (!hop.matches("l2[*].from_crossbar")) return {};                           // leaves it as it is
    Monitor& monitor = monitors.emplace_back(hop.module_name.c_str());            // a std::deque<Monitor>
    return {&monitor.from_initiator, &monitor.to_target};                         // 256 bits, base protocol
  });
  backend->module().set_end_response(warpline::EndResponse::by_return);  // cycles are the same
  RunOptions options;
  options.backend = backend;
  options.tags_only = true;
  GpuPlatform gpu(config, options);
  GeneratorParameters stream;
  stream.kind = "stream";
  stream.footprint = 65536;
  stream.base = gpu.allocate("data", stream.footprint);
  stream.block = Dim3{32, 1, 1};
  stream.grid = Dim3{1, 1, 1};
  gpu.launch(*make_generator(stream));
  EXPECT_EQ(monitors.size(), config.l2.slices);
  for (const Monitor& m : monitors) EXPECT_GT(m.requests, 0U) << m.name();
}

/// What Verilator makes of a register slice, but for the registers.
struct Slice final : sc_core::sc_module {
  explicit Slice(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_HAS_PROCESS(Slice);
    SC_METHOD(edge);
    dont_initialize();
    sensitive << clock.pos();
  }
  void edge() {
    if (!in_valid.read() || !in_ready.read()) return;
    ++beats;
    nonzero = nonzero || in_data.read().or_reduce();
    last_address = in_address.read();
  }
  void connect_the_rest(PinChannel& from, PinChannel& to) {
    rest = std::make_unique<PinThrough>("rest", from, to);
  }
  sc_core::sc_in<bool> clock{"clock"}, in_valid{"in_valid"}, in_ready{"in_ready"};
  sc_core::sc_in<std::uint64_t> in_address{"in_address"};
  sc_core::sc_in<sc_dt::sc_bv<256>> in_data{"in_data"};
  std::unique_ptr<PinThrough> rest;
  unsigned beats = 0;
  std::uint64_t last_address = 0;
  bool nonzero = false;
};

TEST(PageSystemC, RtlComesIntoAHop) {
  const GpuConfig config = load_gpu("mini").value();
  auto backend = std::make_shared<SystemCBackend>(config.clocks, HopTransport::direct);
  std::deque<Slice> slices;
  std::deque<PinThrough> wires;
  backend->open_hops("l2[0].from_crossbar", [&](const warpline::HopSite& hop,
                                                warpline::PinWires& from_initiator,
                                                warpline::PinWires& to_target) {
    Slice& slice = slices.emplace_back(hop.module_name.c_str());  // RTL; a std::deque<Slice>
    slice.clock(from_initiator.request.clock);
    slice.in_valid(from_initiator.request.valid);
    slice.in_ready(from_initiator.request.ready);
    slice.in_address(from_initiator.request.address);  // sc_in<uint64_t>
    slice.in_data(from_initiator.request.data);        // sc_in<sc_bv<256>>
    slice.connect_the_rest(from_initiator.request, to_target.request);
    wires.emplace_back("answers", to_target.response, from_initiator.response);  // a std::deque<PinThrough>
  });
  RunOptions options;
  options.backend = backend;
  options.tags_only = true;
  GpuPlatform gpu(config, options);
  GeneratorParameters stream;
  stream.kind = "stream";
  stream.footprint = 65536;
  stream.base = gpu.allocate("data", stream.footprint);
  stream.block = Dim3{32, 1, 1};
  stream.grid = Dim3{1, 1, 1};
  gpu.launch(*make_generator(stream));
  ASSERT_EQ(slices.size(), 1U);
  EXPECT_GT(slices[0].beats, 100U);
  EXPECT_GT(slices[0].last_address, 0U);
}

struct Top final : sc_core::sc_module {
  explicit Top(const sc_core::sc_module_name& name) : sc_module(name) {}
  MemorySubsystemModule memory{"memory", {"mini", {"l2.slices=4"}}};
};

TEST(PageEmbedding, AParameterOfAModuleIsSetFromOutside) {
  ::testing::internal::CaptureStdout();
  warpline::ParameterBroker& broker = warpline::ParameterBroker::global();
  broker.set_preset_value("top.memory.l2.slices", 2);  // wins over what Top says of its module `memory`
  Top top("top");
  for (const warpline::Parameter& p : broker.parameters("top.memory.l2.*"))
    std::cout << p.path << " = " << p.value.json() << ": " << p.description << "\n";
  EXPECT_EQ(::testing::internal::GetCapturedStdout().rfind("top.memory.l2.slices = 2: ", 0), 0U);
}

TEST(PageSystemC, AModuleInALinkSeesPackets) {
  const GpuConfig config = load_gpu("mini", {"pcie_system.peers=1"}).value();
  auto backend = std::make_shared<SystemCBackend>(config.clocks, HopTransport::direct);
  std::deque<Monitor> monitors;
  unsigned completions = 0;
  backend->interpose([&](const warpline::HopSite& hop) -> warpline::HopSockets {
    if (!hop.matches("root.from_device[*].*")) return {};  // from devices, and GPUs
    Monitor& monitor = monitors.emplace_back(hop.module_name.c_str());
    monitor.look = [&](const tlm::tlm_generic_payload& payload) {
      const auto* packet = payload.get_extension<warpline::TlpExtension>();
      if (packet->kind == warpline::TlpKind::completion) ++completions;
    };
    return {&monitor.from_initiator, &monitor.to_target};
  });
  RunOptions options;
  options.backend = backend;
  GpuPlatform gpu(config, options);
  gpu.build();
  EXPECT_EQ(monitors.size(), 6U);  // of each class, from the device and the GPU
  HostMachine host(*gpu.pcie());
  host.enumerate();
  EXPECT_GT(completions, 10U);
}

struct DeviceBus final : sc_core::sc_module {
  explicit DeviceBus(const sc_core::sc_module_name& name) : sc_module(name) {
    from_device.register_b_transport(this, &DeviceBus::transport);
  }
  void transport(tlm::tlm_generic_payload& p, sc_core::sc_time& /*delay*/) {
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  tlm_utils::simple_initiator_socket<DeviceBus, 64> to_device{"to_device"};
  tlm_utils::simple_target_socket<DeviceBus, 64> from_device{"from_device"};
};

TEST(PageDrivers, TheDeviceIsOnABusOfOnesOwn) {
  DeviceBus bus("bus");
  sc_core::sc_signal<bool> interrupt("interrupt");
  const auto engine = warpline::make_engine("engine", 500);  // MHz
  warpline::QueueDeviceModule device("device", *engine);
  bus.to_device.bind(device.from_bus());  // 64 bits, base protocol, timed or loosely timed
  device.to_memory().bind(bus.from_device);
  device.interrupts[0].bind(interrupt);  // an sc_signal<bool>: a pulse for each
  engine->set_loose(true);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::uint32_t identity = 0;
  tlm::tlm_generic_payload p;
  p.set_command(tlm::TLM_READ_COMMAND);
  p.set_address(0);
  p.set_data_ptr(reinterpret_cast<unsigned char*>(&identity));
  p.set_data_length(4);
  p.set_streaming_width(4);
  sc_core::sc_time delay;
  bus.to_device->b_transport(p, delay);
  EXPECT_EQ(identity, 0x574C5044U);
}

struct Shader final : sc_core::sc_module {
  explicit Shader(const sc_core::sc_module_name& name) : sc_module(name) {}
  tlm_utils::simple_initiator_socket<Shader, 256> socket{"socket"};
};

struct Bus final : sc_core::sc_module {
  explicit Bus(const sc_core::sc_module_name& name) : sc_module(name) {}
  tlm_utils::multi_passthrough_initiator_socket<Bus, 256> to_targets{"to_targets"};
  tlm_utils::simple_initiator_socket<Bus> to_registers{"to_registers"};
};

struct Processor final : sc_core::sc_module {
  explicit Processor(const sc_core::sc_module_name& name) : sc_module(name) {}
  tlm_utils::simple_initiator_socket<Processor, 32> socket{"socket"};
};

/// Asks for one byte, and expects it to be served.
void send(tlm::tlm_fw_transport_if<>& to, tlm::tlm_command command, unsigned char& byte) {
  tlm::tlm_generic_payload p;
  p.set_command(command);
  p.set_address(0x1000);
  p.set_data_ptr(&byte);
  p.set_data_length(1);
  p.set_streaming_width(1);
  sc_core::sc_time delay;
  to.b_transport(p, delay);
  EXPECT_TRUE(p.is_response_ok());
}

TEST(PageEmbedding, AProcessorOf32BitsFacesTheMemorySubsystem) {
  Processor processor("processor");
  warpline::MemorySubsystemModule gpu("gpu", {"mini", {"sms=1"}, 1});
  warpline::WidthAdapter<32, 256> widen("widen");  // warpline/rtl_models/tlm/width_adapter.h
  processor.socket.bind(widen.from_initiator);     // tlm_initiator_socket<32>
  widen.to_target.bind(gpu.from_device(0));        // tlm_target_socket<256>
  Shader idle("idle");
  idle.socket.bind(gpu.from_sm(0));
  Processor host("host");
  host.socket.bind(gpu.from_host());
  gpu.set_loose(true);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  unsigned char written = 42, read = 0;
  send(*processor.socket.operator->(), tlm::TLM_WRITE_COMMAND, written);
  send(*processor.socket.operator->(), tlm::TLM_READ_COMMAND, read);
  EXPECT_EQ(read, 42);
}

TEST(PageEmbedding, AShaderAndABusFaceTheMemorySubsystem) {
  Shader shader("shader");
  Bus bus("bus");
  // One SM's L1, and one device at the crossbar; all sockets have the base protocol.
  warpline::MemorySubsystemModule gpu("gpu", {"v100", {"sms=1"}, 1});
  shader.socket.bind(gpu.from_sm(0));  // tlm_target_socket<256>
  bus.to_targets.bind(gpu.from_device(0));
  bus.to_registers.bind(gpu.from_host());  // 32 bits: the driver's cache maintenance
  gpu.set_loose(true);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);

  unsigned char written = 42, read = 0;
  send(*bus.to_targets[0], tlm::TLM_WRITE_COMMAND, written);
  send(*shader.socket.operator->(), tlm::TLM_READ_COMMAND, read);
  EXPECT_EQ(read, 42);
}

}  // namespace page_systemc_test
}  // namespace warpline
