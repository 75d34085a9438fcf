// Two shader cores above the L1 caches of a GPU.
//
//   core_0       core_1
//     |            |
//   +-v------------v-----------+
//   | GPU memory subsystem     |  from_sm_0, from_sm_1
//   +--------------------------+
#include <cstdio>
#include <deque>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <systemc>

#include "core.h"
#include "warpline/platform/systemc/memory_subsystem_module.h"
#include "warpline/rtl_models/tlm/payload.h"

namespace {

constexpr unsigned kCores = 2, kElements = 16384;  // of each vector
constexpr std::uint64_t kX = 0x100000, kY = 0x200000;
constexpr float kA = 2.5F;

/// Makes a load go past L1: that travels in an extension, with the address that the SM sees. It lasts until
/// the payload is recycled.
void past_l1(ShaderCore::Payload& payload) {
  warpline::Request request;
  request.command = warpline::Command::read;
  request.virtual_line = warpline::VirtualAddress{payload.get_address()};
  request.no_l1 = true;
  warpline::RequestExtension model;
  model.request = &request;
  payload.set_auto_extension(new warpline::RequestExtension(model));  // owns a copy of the request
}

/// Elements of the vectors, by debug access: as a host would fill and compare them.
bool debug(ShaderCore& core, tlm::tlm_command command, std::uint64_t address, float* element) {
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(element));
  payload.set_data_length(sizeof *element);
  payload.set_streaming_width(sizeof *element);
  return core.socket->transport_dbg(payload) == sizeof *element;
}

float x_of(unsigned i) {
  return static_cast<float>(i) * 0.25F;
}
float y_of(unsigned i) {
  return static_cast<float>(i % 97);
}

/// The share of a core: every other half of the vectors.
ShaderCore::Work share(unsigned core) {
  const unsigned lines = kElements / 32 / kCores;
  const std::uint64_t offset = core * std::uint64_t{lines} * 128;
  return {kA, kX + offset, kY + offset, lines};
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  const std::string gpu_name = argc > 1 ? argv[1] : "mini", option = argc > 2 ? argv[2] : "";
  if (argc > 3 || gpu_name[0] == '-' || (!option.empty() && option != "--stream")) {
    std::printf("usage: %s [GPU [--stream]]\nexample: %s v100 --stream\n", argv[0], argv[0]);
    return 2;
  }
  warpline::MemorySubsystemOptions options;
  options.gpu = gpu_name;
  options.settings = {"sms=" + std::to_string(kCores)};
  std::unique_ptr<warpline::MemorySubsystemModule> gpu;
  try {
    gpu = std::make_unique<warpline::MemorySubsystemModule>("gpu", options);
  } catch (const std::invalid_argument& mistake) {
    std::fprintf(stderr, "%s\n", mistake.what());
    return 2;
  }
  ShaderCore::Parameters parameters;
  if (!option.empty()) parameters.qualify = past_l1;
  std::deque<ShaderCore> cores;
  for (unsigned c = 0; c < kCores; ++c) {
    cores.emplace_back(("core_" + std::to_string(c)).c_str(), share(c), parameters);
    cores.back().socket.bind(gpu->from_sm(c));
  }

  sc_core::sc_start(sc_core::SC_ZERO_TIME);  // binds everything
  unsigned wrong = 0;
  for (unsigned i = 0; i < kElements; ++i) {
    float x = x_of(i), y = y_of(i);
    wrong += !debug(cores[0], tlm::TLM_WRITE_COMMAND, kX + 4 * i, &x);
    wrong += !debug(cores[0], tlm::TLM_WRITE_COMMAND, kY + 4 * i, &y);
  }
  sc_core::sc_start();

  for (unsigned i = 0; i < kElements; ++i) {
    float y = 0;
    wrong += !debug(cores[0], tlm::TLM_READ_COMMAND, kY + 4 * i, &y) || y != kA * x_of(i) + y_of(i);
  }
  bool good = wrong == 0;
  for (const ShaderCore& core : cores) {
    std::printf("%s: %u lines, %u refused, at most %u accesses in flight, done after %.2f us\n", core.name(),
                core.finished, core.refused, core.most_in_flight, core.done.to_seconds() * 1e6);
    good = good && core.refused == 0 && core.in_flight == 0 && core.finished == share(0).lines;
  }
  std::printf("%u of %u results wrong\n", wrong, kElements);
  gpu->report(std::cout);
  for (const std::string& wait : gpu->waits()) std::fprintf(stderr, "%s\n", wait.c_str());
  return good ? 0 : 1;
}
