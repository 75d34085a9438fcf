// A processor, loosely timed, and four DMA engines, timed, on the memory subsystem of a GPU.
//
//   processor   dma_0 .. dma_3
//       |         |        |
//   +---v---------v--------v---+
//   | GPU memory subsystem     |  from_device_0 to 4
//   +--------------------------+
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <systemc>

#include "dma.h"
#include "processor.h"
#include "warpline/platform/systemc/memory_subsystem_module.h"
#include "warpline/rtl_models/tlm/idle_sockets.h"

namespace {

constexpr unsigned kEngines = 4, kRounds = 5, kLines = 32, kLineBytes = 128;
constexpr std::uint64_t kSource = 0x100000, kTarget = 0x200000;  // in video memory

std::uint64_t doorbell_of(unsigned engine) {
  return engine * std::uint64_t{kLineBytes};
}
std::uint64_t buffer(std::uint64_t base, unsigned engine) {
  return base + engine * std::uint64_t{kLines} * kLineBytes;
}
std::uint8_t pattern(unsigned round, unsigned engine, unsigned byte) {
  return static_cast<std::uint8_t>(round * 59 + engine * 101 + byte * 7 + byte / 251);
}

/// What the processor executes.
struct Program {
  unsigned wrong = 0;  ///< bytes

  void operator()(Processor& cpu) {
    for (unsigned round = 0; round < kRounds; ++round) {
      for (unsigned engine = 0; engine < kEngines; ++engine) start(cpu, round, engine);
      cpu.work(3000);  // something of its own, meanwhile
      for (unsigned engine = 0; engine < kEngines; ++engine) finish(cpu, round, engine);
    }
    Doorbell stop;
    stop.state = Doorbell::stop;
    for (unsigned engine = 0; engine < kEngines; ++engine) cpu.write(doorbell_of(engine), &stop, sizeof stop);
  }
  static void start(Processor& cpu, unsigned round, unsigned engine) {
    std::array<std::uint8_t, kLineBytes> line{};
    for (unsigned l = 0; l < kLines; ++l) {
      for (unsigned i = 0; i < kLineBytes; ++i) line[i] = pattern(round, engine, l * kLineBytes + i);
      cpu.work(kLineBytes);
      cpu.write(buffer(kSource, engine) + l * kLineBytes, line.data(), kLineBytes);
    }
    const Doorbell ring{buffer(kSource, engine), buffer(kTarget, engine), kLines * kLineBytes,
                        Doorbell::ring};
    cpu.write(doorbell_of(engine), &ring, sizeof ring);
  }
  void finish(Processor& cpu, unsigned round, unsigned engine) {
    for (Doorbell doorbell{0, 0, 0, Doorbell::ring}; doorbell.state != Doorbell::idle; cpu.work(50))
      cpu.read(doorbell_of(engine), &doorbell, sizeof doorbell);
    std::array<std::uint8_t, kLineBytes> line{};
    for (unsigned l = 0; l < kLines; ++l) {
      cpu.read(buffer(kTarget, engine) + l * kLineBytes, line.data(), kLineBytes);
      for (unsigned i = 0; i < kLineBytes; ++i)
        wrong += line[i] != pattern(round, engine, l * kLineBytes + i);
      cpu.work(kLineBytes);
    }
  }
};

warpline::MemorySubsystemOptions gpu_options() {
  warpline::MemorySubsystemOptions options;
  options.settings = {"sms=1"};
  options.devices = 1 + kEngines;
  return options;
}

struct Board final : sc_core::sc_module {
  Board(const sc_core::sc_module_name& name, Program& program)
      : sc_module(name), processor("processor", [&program](Processor& cpu) { program(cpu); }) {
    processor.socket.bind(gpu.from_device(0));
    for (unsigned i = 0; i < kEngines; ++i) {
      engines.emplace_back(("dma_" + std::to_string(i)).c_str(), doorbell_of(i));
      engines.back().socket.bind(gpu.from_device(1 + i));
    }
  }
  warpline::MemorySubsystemModule gpu{"gpu", gpu_options()};
  warpline::IdleInitiator no_sm{"no_sm", gpu.from_sm(0)};  // this board has no shader core
  Processor processor;
  std::deque<Dma> engines;
};

}  // namespace

int sc_main(int argc, char* argv[]) {
  const double quantum = argc > 1 ? std::atof(argv[1]) : 1000;
  if (argc > 2 || quantum < 0 || (argc > 1 && (argv[1][0] < '0' || argv[1][0] > '9'))) {
    std::printf("usage: %s [QUANTUM_NS]\nexample: %s 1000\n", argv[0], argv[0]);
    return 2;
  }
  tlm::tlm_global_quantum::instance().set(sc_core::sc_time(quantum, sc_core::SC_NS));

  Program program;
  Board board("board", program);
  sc_core::sc_start();

  std::printf("processor: %u accesses, %u refused, %u bytes wrong, done after %.2f us\n",
              board.processor.accesses, board.processor.refused, program.wrong,
              sc_core::sc_time_stamp().to_seconds() * 1e6);
  bool good = board.processor.done && board.processor.refused == 0 && program.wrong == 0;
  for (const Dma& dma : board.engines) {
    std::printf("%s: %llu bytes copied\n", dma.basename(), static_cast<unsigned long long>(dma.copied));
    good = good && dma.stopped && dma.refused == 0 && dma.copied == kRounds * kLines * kLineBytes;
  }
  for (const std::string& wait : board.gpu.waits()) std::fprintf(stderr, "%s\n", wait.c_str());
  return good && board.gpu.idle() ? 0 : 1;
}
