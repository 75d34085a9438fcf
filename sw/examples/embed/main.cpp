// A small board: software and two timed masters on a bus, some RAM, and the memory subsystem of a GPU, behind
// the bus for all of these and behind an L1 for a shader core.
//
//   software  network   dma      shader
//      |         |       |          |
//   +--v---------v-------v--+       |
//   | bus                   |       |
//   +--+-----------+--------+       |
//      |           | from_device_0  | from_sm_0
//   +--v--+     +--v----------------v------+
//   | RAM |     | GPU memory subsystem     |
//   +-----+     +--------------------------+
//
// The software boots, loosely timed; then the others run, timed.
#include <cstdio>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <systemc>

#include "bus.h"
#include "ram.h"
#include "software.h"
#include "traffic.h"
#include "warpline/platform/systemc/memory_subsystem_module.h"

namespace {

constexpr std::uint64_t kRamBytes = std::uint64_t{1} << 20U;
constexpr std::uint64_t kVideoMemory = 0x8000'0000;  // where the bus has the GPU's video memory

warpline::MemorySubsystemOptions gpu_options(int argc, char* argv[]) {
  warpline::MemorySubsystemOptions options;
  options.gpu = argc > 1 ? argv[1] : "mini";
  for (int i = 2; i < argc; ++i) options.settings.emplace_back(argv[i]);
  options.settings.emplace_back("sms=1");
  options.devices = 1;
  return options;
}

Traffic::Parameters region(std::uint64_t base, unsigned pieces, unsigned rounds, std::uint64_t seed) {
  Traffic::Parameters p;
  p.base = base;
  p.pieces = pieces;
  p.rounds = rounds;
  p.seed = seed;
  return p;
}

struct Board final : sc_core::sc_module {
  explicit Board(const sc_core::sc_module_name& name, const warpline::MemorySubsystemOptions& options)
      : sc_module(name), gpu("gpu", options) {
    bus.map(0, kRamBytes);
    bus.to_targets.bind(ram.socket);
    bus.map(kVideoMemory, gpu.video_memory_bytes());
    bus.to_targets.bind(gpu.from_device(0));
    software.socket.bind(bus.from_initiators);
    network.socket.bind(bus.from_initiators);
    dma.socket.bind(bus.from_initiators);
    shader.socket.bind(gpu.from_sm(0));
    gpu.set_loose(true);
    software.when_booted = [this] {
      gpu.set_loose(false);
      for (Traffic* t : {&network, &dma, &shader}) t->start();
    };
  }

  Bus bus{"bus"};
  Ram ram{"ram", kRamBytes};
  warpline::MemorySubsystemModule gpu;
  Software software{"software", {512 * 1024, kVideoMemory + (2U << 20U), 64 * 1024}};
  Traffic network{"network", region(0, 256, 1, 1)};
  Traffic dma{"dma", region(kVideoMemory, 4096, 1, 2)};
  Traffic shader{"shader", region(1U << 20U, 256, 8, 3)};
};

bool report(const Software& s) {
  std::printf("  software booted after %.2f us: %u calls, %u bytes wrong, video memory %s\n",
              s.booted.to_seconds() * 1e6, s.calls, s.wrong,
              s.granted ? "given as a pointer" : "by calls only");
  return s.calls != 0 && s.wrong == 0 && s.granted == s.withdrawn;
}

bool report(const Traffic& t) {
  std::printf("  %-8s%8u%8u%8u%9u%11.2f us\n", t.basename(), t.written, t.read, t.wrong, t.refused,
              t.finished.to_seconds() * 1e6);
  return t.done() && t.wrong == 0 && t.refused == 0;
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  if (argc > 1 && argv[1][0] == '-') {
    std::printf("usage: %s [GPU [KEY=VALUE]...]\nexample: %s v100 l2.slices=4\n", argv[0], argv[0]);
    return std::string(argv[1]) == "--help" ? 0 : 2;
  }
  std::unique_ptr<Board> board;
  try {
    board = std::make_unique<Board>("board", gpu_options(argc, argv));
  } catch (const std::invalid_argument& mistake) {
    std::fprintf(stderr, "%s\n", mistake.what());
    return 2;
  }
  sc_core::sc_start();

  bool good = report(board->software);
  std::printf("  %-8s%8s%8s%8s%9s%14s\n", "", "written", "read", "wrong", "refused", "done after");
  for (const Traffic* t : {&board->network, &board->dma, &board->shader}) good = report(*t) && good;
  board->gpu.report(std::cout);
  for (const std::string& wait : board->gpu.waits()) std::fprintf(stderr, "%s\n", wait.c_str());
  return good ? 0 : 1;
}
