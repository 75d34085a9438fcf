// The C++ of docs/systemc.md and docs/embedding.md: it compiles, and it does what the pages say.
#include <gtest/gtest.h>
#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <deque>

#include "platform/config/load_gpu.h"
#include "platform/machine/gpu_platform.h"
#include "platform/programs/generators/generator.h"
#include "platform/systemc/memory_subsystem_module.h"
#include "platform/systemc/systemc_backend.h"
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
