// Everything that one may put around Warpline's modules, in one simulation:
//
//   core      processor      kernels         kernels         software
//     |         |               |               |               |
//   +-v---------v-+         +---v----+      +---v----+        bus_cpu
//   | small       |         | large  |      | stored |          |
//   | (mini)      |         | (v100) |      | (mini) |      +---v-+  +-----+
//   | L1 crossbar |         | L2     |      | L2     |      | bus |--| ram |
//   | L2 DRAM     |         |  RTL   |      +---+----+      +---+-+  +-----+
//   +-------------+         | DRAM   |          |               |
//                           +--------+       my_dram          device
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "../bare_bus_device/bus.h"
#include "../bare_bus_device/bus_processor.h"
#include "../custom_dram/my_dram.h"
#include "../lt_processor/processor.h"
#include "../shader_core/core.h"
#include "hardware_in_hop.h"
#include "warpline/platform/machine/checkpoint.h"
#include "warpline/platform/systemc/memory_subsystem_module.h"
#include "warpline/rtl_models/queue_device/queue_device_module.h"
#include "warpline/rtl_models/tlm/idle_sockets.h"
#include "whole_gpu.h"

namespace {

constexpr unsigned kLines = 128, kLineBytes = 128, kElements = kLines * 32;  // of each vector of the core
constexpr std::uint64_t kX = 0x100000, kY = 0x200000, kSource = 0x300000, kTarget = 0x400000;
constexpr float kA = 2.5F;

float x_of(unsigned i) {
  return static_cast<float>(i) * 0.25F;
}
float y_of(unsigned i) {
  return static_cast<float>(i % 97);
}

/// Who did what, when it was done, and whether it was right.
class Report {
 public:
  void add(const std::string& who, const std::string& what, bool right,
           const sc_core::sc_time& done = sc_core::sc_time_stamp()) {
    rows_.push_back({who, what, done, right});
  }
  /// Returns whether all was right.
  [[nodiscard]] bool print() {
    bool good = true;
    std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.done < b.done; });
    std::printf("%-10s %-52s %9s  right\n", "who", "what", "done, us");
    for (const Row& row : rows_) {
      std::printf("%-10s %-52s %9.2f  %s\n", row.who.c_str(), row.what.c_str(), row.done.to_seconds() * 1e6,
                  row.right ? "yes" : "NO");
      good = good && row.right;
    }
    return good;
  }

 private:
  struct Row {
    std::string who, what;
    sc_core::sc_time done;
    bool right;
  };
  std::vector<Row> rows_;
};

/// Where threads wait until so many of them have come.
class Rendezvous {
 public:
  explicit Rendezvous(unsigned parties) : missing_(parties) {}
  void arrive_and_wait() {
    arrive();
    while (missing_ != 0) sc_core::wait(all_);
  }
  void arrive() {
    if (--missing_ == 0) all_.notify(sc_core::SC_ZERO_TIME);
  }

 private:
  unsigned missing_;
  sc_core::sc_event all_;
};

/// "5120 ns, again 5120 ns".
std::string both(double first, double second, const std::string& unit) {
  char line[80];
  std::snprintf(line, sizeof line, "%.0f %s, again %.0f %s", first, unit.c_str(), second, unit.c_str());
  return line;
}

bool none(const warpline::Diagnostics& faults) {
  for (const warpline::Diagnostic& d : faults) std::fprintf(stderr, "%s\n", d.text().c_str());
  return faults.empty();
}

/// Goes back to a checkpoint of a memory subsystem, or of a whole GPU.
template <class Machine>
bool restore(Machine& machine, const std::string& saved) {
  std::istringstream in(saved);
  const auto checkpoint = warpline::Checkpoint::read(in);
  return checkpoint.ok() ? none(machine.restore(checkpoint.value())) : none(checkpoint.faults());
}
template <class Machine>
bool save(Machine& machine, std::string& saved) {
  std::ostringstream out;
  const bool good = none(machine.save(out));
  saved = out.str();
  return good;
}

warpline::MemorySubsystemOptions small_options() {
  warpline::MemorySubsystemOptions options;
  options.gpu = "mini";
  options.settings = {"sms=1"};
  options.devices = 2;
  return options;
}

struct Board final : sc_core::sc_module {
  SC_HAS_PROCESS(Board);
  Board(const sc_core::sc_module_name& name, const std::string& kernels)
      : sc_module(name),
        processor("processor", [this](Processor& cpu) { work_of_processor(cpu); }),
        large("large",
              {"v100",
               {"sms=2", "l2.slices=8", "dram.channels=4"},
               kernels + "/histogram.toml",
               kernels + "/vecadd.sm_80.ptx",
               [this](warpline::SystemCBackend& backend) { put_hardware_into(backend); }},
              [this](WholeGpu& gpu) { work_of_large(gpu); }),
        stored("stored",
               {"mini",
                {},
                kernels + "/vecadd.toml",
                kernels + "/vecadd.sm_80.ptx",
                [this](warpline::SystemCBackend& backend) { put_dram_below(backend); }},
               [this](WholeGpu& gpu) { work_of_stored(gpu); }) {
    core.socket.bind(small.from_sm(0));
    processor.socket.bind(small.from_device(0));
    bus_cpu.to_bus.bind(bus.from_processor);
    bus.to_ram.bind(ram.socket);
    bus.to_device.bind(device.from_bus());
    device.to_memory().bind(bus.from_device);
    device.interrupts[0].bind(interrupt);
    bus_cpu.interrupt.bind(interrupt);
    SC_THREAD(watch_bus);
  }

  /// Elements of the core's vectors, by debug access: as a host would fill them.
  bool fill() {
    bool good = true;
    for (unsigned i = 0; i < kElements; ++i) {
      float x = x_of(i), y = y_of(i);
      good = poke(kX + 4 * i, x) && poke(kY + 4 * i, y) && good;
    }
    return good;
  }

  warpline::MemorySubsystemModule small{"small", small_options()};
  warpline::IdleInitiator unused{"unused", small.from_device(1)};
  ShaderCore core{"core", {kA, kX, kY, kLines}, {}};
  Processor processor;

  std::vector<std::unique_ptr<sc_core::sc_module>> in_hops;  // of large
  std::vector<std::unique_ptr<MyDram>> channels;             // of stored
  WholeGpu large, stored;

  std::unique_ptr<warpline::EngineModule> device_engine = warpline::make_engine("device_engine", 500);  // MHz
  warpline::QueueDeviceModule device{"device", *device_engine};
  Ram ram{"ram"};
  Bus bus{"bus"};
  BusProcessor bus_cpu{"bus_cpu", ram, device};
  sc_core::sc_signal<bool> interrupt{"interrupt"};

  Report report;

 private:
  bool poke(std::uint64_t address, float value) {
    tlm::tlm_generic_payload payload;
    payload.set_command(tlm::TLM_WRITE_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    payload.set_data_length(sizeof value);
    payload.set_streaming_width(sizeof value);
    return core.socket->transport_dbg(payload) == sizeof value;
  }

  void put_hardware_into(warpline::SystemCBackend& backend) {
    backend.open_hops("dram[0].from_l2[*]",
                      [this](const warpline::HopSite& hop, warpline::PinWires& from_initiator,
                             warpline::PinWires& to_target) {
                        for (auto& module : HardwareInHop::make(hop.module_name, from_initiator, to_target))
                          in_hops.push_back(std::move(module));
                      });
  }
  void put_dram_below(warpline::SystemCBackend& backend) {
    backend.replace_dram([this](const warpline::DramSite& site) {
      MyDram::Parameters p;
      p.inputs = site.inputs;
      MyDram& channel = *channels.emplace_back(std::make_unique<MyDram>(site.name.c_str(), p));
      warpline::DramSockets sockets;
      for (const auto& socket : channel.from_l2) sockets.from_l2.push_back(socket.get());
      sockets.keeps_bytes = true;
      return sockets;
    });
  }

  // The programs of all threads. First each does its work beside the others; when all have, and everything is
  // at rest, there are checkpoints.

  void work_of_processor(Processor& cpu) {
    fill_source(cpu);
    const unsigned wrong = copy(cpu);
    report.add("processor", std::to_string(cpu.accesses) + " accesses by b_transport, beside the core",
               wrong == 0 && cpu.refused == 0, cpu.now());
    while (core.finished != kLines) cpu.work(100);
    report.add("core", "y = a * x + y above L1, " + std::to_string(core.finished) + " lines",
               results_of_core(cpu) == 0 && core.refused == 0 && core.in_flight == 0, core.done);
    all_done.arrive_and_wait();

    std::string saved;
    bool good = save(small, saved);
    const Copied once = copy_again(cpu);
    good = restore(small, saved) && good;
    const Copied again = copy_again(cpu);
    // Where in a cycle of its clocks it is gone back to is up to the simulation's time.
    const sc_core::sc_time cycle(1, sc_core::SC_NS);
    good = good && once.time < again.time + cycle && again.time < once.time + cycle &&
           once.counters == again.counters && once.wrong + again.wrong + cpu.refused == 0;
    report.add(
        "small",
        "restored: copies take " + both(once.time.to_seconds() * 1e9, again.time.to_seconds() * 1e9, "ns"),
        good);
    finish();
  }
  static std::uint8_t pattern(unsigned line, unsigned byte) {
    return static_cast<std::uint8_t>(line * 59 + byte * 7);
  }
  void fill_source(Processor& cpu) {
    std::array<std::uint8_t, kLineBytes> data{};
    for (unsigned line = 0; line < kLines; ++line) {
      for (unsigned i = 0; i < kLineBytes; ++i) data[i] = pattern(line, i);
      cpu.work(kLineBytes);
      cpu.write(kSource + line * std::uint64_t{kLineBytes}, data.data(), kLineBytes);
    }
  }
  /// Copies what fill_source() has written, reads the copy, and returns how many of its bytes are wrong.
  static unsigned copy(Processor& cpu) {
    std::array<std::uint8_t, kLineBytes> data{};
    unsigned wrong = 0;
    for (unsigned line = 0; line < kLines; ++line) {
      const std::uint64_t at = line * std::uint64_t{kLineBytes};
      cpu.read(kSource + at, data.data(), kLineBytes);
      cpu.write(kTarget + at, data.data(), kLineBytes);
      data.fill(0);
      cpu.read(kTarget + at, data.data(), kLineBytes);
      for (unsigned i = 0; i < kLineBytes; ++i) wrong += data[i] != pattern(line, i);
      cpu.work(10);
    }
    return wrong;
  }
  static unsigned results_of_core(Processor& cpu) {
    std::array<float, 32> y{};
    unsigned wrong = 0;
    for (unsigned i = 0; i < kElements; ++i) {
      if (i % 32 == 0) cpu.read(kY + 4 * i, y.data(), kLineBytes);
      wrong += y[i % 32] != kA * x_of(i) + y_of(i);
    }
    return wrong;
  }
  struct Copied {
    sc_core::sc_time time;
    std::map<std::string, std::uint64_t> counters;
    unsigned wrong;
  };
  Copied copy_again(Processor& cpu) {
    const sc_core::sc_time begun = cpu.now();
    const unsigned wrong = copy(cpu);
    return {cpu.now() - begun, small.counters(), wrong};
  }

  void work_of_large(WholeGpu& gpu) {
    const WholeGpu::Outcome first = gpu.run_launch_file();
    report.add("large", std::string("histogram, ") + HardwareInHop::kind + " above DRAM 0",
               first.results != 0 && first.wrong == 0 && in_hops.size() == 4 &&
                   first.counters.at("dram[0].reads") != 0);
    all_done.arrive_and_wait();

    std::string saved;
    bool good = save(gpu.platform(), saved);
    const WholeGpu::Outcome once = gpu.vecadd();
    good = restore(gpu.platform(), saved) && good;
    const WholeGpu::Outcome again = gpu.vecadd();
    good = good && once.wrong == 0 && again.wrong == 0 && once.cycles == again.cycles &&
           once.counters == again.counters;
    report.add("large",
               "restored: vecadd takes " +
                   both(static_cast<double>(once.cycles), static_cast<double>(again.cycles), "cycles"),
               good);
    finish();
  }

  void work_of_stored(WholeGpu& gpu) {
    const WholeGpu::Outcome first = gpu.run_launch_file();
    std::uint64_t lines = 0, looks = 0;
    for (const auto& channel : channels) {
      lines += channel->counters().reads;
      looks += channel->counters().looks;
    }
    report.add("stored", "vecadd on MyDram, " + std::to_string(lines) + " lines read from it",
               first.results != 0 && first.wrong == 0 && lines != 0 && looks != 0);
    all_done.arrive_and_wait();

    // Warpline cannot know what somebody else's memory holds.
    std::ostringstream out;
    const warpline::Diagnostics refusal = gpu.platform().save(out);
    report.add("stored", "is not saved: its memory is somebody else's",
               refusal.size() == 1 && refusal[0].text().find("is not Warpline's") != std::string::npos);
    finish();
  }

  void watch_bus() {
    wait(bus_cpu.ends);
    report.add("bus_cpu", "drives the queue device on a bare bus, in C", bus_cpu.status == 0, bus_cpu.done);
    all_done.arrive();
  }

  /// The clocks of the opened hop would tick for ever.
  void finish() {
    if (--at_work == 0) sc_core::sc_stop();
  }

  Rendezvous all_done{4};
  unsigned at_work = 3;
};

}  // namespace

int sc_main(int argc, char* argv[]) {
  const double quantum = argc > 2 ? std::atof(argv[2]) : 1000;
  if (argc < 2 || argc > 3 || quantum < 0 || (argc > 2 && (argv[2][0] < '0' || argv[2][0] > '9'))) {
    std::fprintf(stderr, "usage: %s KERNELS_FOLDER [QUANTUM_NS]\nexample: %s share/warpline/kernels 1000\n",
                 argv[0], argv[0]);
    return 2;
  }
  tlm::tlm_global_quantum::instance().set(sc_core::sc_time(quantum, sc_core::SC_NS));
  std::unique_ptr<Board> board;
  try {
    board = std::make_unique<Board>("board", argv[1]);
  } catch (const std::invalid_argument& mistake) {
    std::fprintf(stderr, "%s\n", mistake.what());
    return 2;
  }
  sc_core::sc_start(sc_core::SC_ZERO_TIME);  // binds everything
  const bool filled = board->fill();
  sc_core::sc_start();
  for (const std::string& wait : board->small.waits()) std::fprintf(stderr, "%s\n", wait.c_str());
  return board->report.print() && filled ? 0 : 1;
}
