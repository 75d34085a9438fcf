#pragma once

#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "platform/host/host_machine.h"
#include "platform/machine/pcie_system.h"
#include "rtl_models/pcie/gpu_link/gpu_function.h"
#include "rtl_models/queue_device/queue_device.h"
#include "tests/platform/machine/body_kernel.h"
#include "tests/platform/machine/harness.h"

namespace warpline::test {

/// GPUs of the preset mini behind the root complex of a host, with peer devices that every GPU may touch: one
/// if the options ask for no more.
class GpusAndHost {
 public:
  explicit GpusAndHost(RunOptions options = {}, const std::vector<std::string>& overrides = {})
      : platform(preset("mini", with_a_peer(overrides)), completed(std::move(options))) {
    platform.build();
    host.emplace(*platform.pcie(), kReserved);
    host->enumerate();
    for (unsigned gpu = 0; gpu < platform.config().gpus; ++gpu)
      for (unsigned peer = 0; peer < platform_peers(); ++peer)
        for (const unsigned bar : {QueueDeviceCore::kRegisterBar, QueueDeviceCore::kBufferBar})
          if (!host->open_bar(device_of(gpu), peer, bar)) throw std::runtime_error("a BAR is not opened");
    registers = map_bar(0, QueueDeviceCore::kRegisterBar);
    buffer = map_bar(0, QueueDeviceCore::kBufferBar);
  }
  /// The number that a GPU has among the host's devices.
  [[nodiscard]] unsigned device_of(unsigned gpu) const { return platform_peers() + gpu; }

  /// A launch of an entry, or of a body.
  struct Grid {
    programs::Module* module = nullptr;
    std::string entry;
    std::vector<std::uint8_t> parameters;
    unsigned ctas = 1, threads = 1;
  };
  void start(const std::vector<Grid>& grids) {
    std::vector<GridLaunch> launches;
    kernels_.clear();
    for (const Grid& g : grids) {
      kernels_.push_back(g.module->make_kernel(g.entry, {g.ctas, 1, 1}, {g.threads, 1, 1}, 0, g.parameters));
      launches.push_back({kernels_.back().get(), static_cast<unsigned>(launches.size()), true});
    }
    platform.start(launches);
  }
  LaunchResult finish() {
    const LaunchResult r = platform.finish();
    if (r.outcome != RunOutcome::quiescent) throw std::runtime_error("the grids do not end");
    if (!platform.faults().empty()) throw std::runtime_error(platform.faults().front().kind);
    return r;
  }
  LaunchResult run(const std::string& body, const std::vector<std::uint64_t>& parameters,
                   unsigned threads = 1) {
    modules_.push_back(module_of_body(body, parameters.size()));
    start({{modules_.back().get(), "k", block_of(parameters), 1, threads}});
    return finish();
  }
  /// Host memory of zeros, as software and kernels see it.
  struct Shared {
    std::uint8_t* bytes = nullptr;
    std::uint64_t address = 0;
    [[nodiscard]] std::uint32_t word(std::size_t i) const {
      std::uint32_t value = 0;
      std::memcpy(&value, bytes + 4 * i, sizeof value);
      return value;
    }
  };
  Shared share(std::size_t bytes) {
    Shared s;
    s.bytes = static_cast<std::uint8_t*>(host->allocate(bytes, 4096));
    s.address = platform.map(Aperture::sysmem, *host->physical(s.bytes, bytes), bytes);
    return s;
  }
  /// The virtual address of a device's BAR.
  std::uint64_t map_bar(unsigned peer, unsigned bar) {
    const HostDevice::Bar& b = host->devices()[peer].bars[bar];
    return platform.map(Aperture::peer, b.address, b.bytes, b.prefetchable);
  }
  /// Video memory of a GPU, zeros: as its kernels see it, and as the host and devices do, which must have the
  /// GPU's BAR opened to them.
  struct Video {
    std::uint64_t address = 0, bus = 0;
  };
  Video video(std::size_t bytes, unsigned gpu = 0) {
    Video v;
    v.address = platform.allocate("", bytes, Aperture::vidmem, gpu);
    const HostDevice& device = host->devices()[device_of(gpu)];
    v.bus = device.bars[GpuFunction::kMemoryBar].address +
            offset_in_aperture(*platform.physical_of(v.address, gpu));
    return v;
  }
  /// Lets the peer device, or a GPU, reach the video memory of a GPU.
  void open_video(unsigned device, unsigned gpu = 0) {
    if (!host->open_bar(device, device_of(gpu), GpuFunction::kMemoryBar))
      throw std::runtime_error("a GPU's BAR is not opened");
  }
  /// A word as L2 has it, at a virtual address.
  [[nodiscard]] std::uint32_t word_at(std::uint64_t address) const {
    std::uint32_t value = 0;
    platform.read(address, &value, sizeof value);
    return value;
  }
  [[nodiscard]] QueueDeviceCore& peer(unsigned i = 0) { return platform.pcie()->peer(i).core(); }
  [[nodiscard]] std::uint32_t buffer_word(std::size_t i, unsigned of = 0) {
    std::uint32_t value = 0;
    std::memcpy(&value, &peer(of).buffer()[4 * i], sizeof value);
    return value;
  }

  GpuPlatform platform;
  std::optional<HostMachine> host;
  std::uint64_t registers = 0, buffer = 0;  ///< virtual addresses of the first device's BARs

 private:
  static constexpr std::uint64_t kReserved = 1U << 20U;
  static std::vector<std::string> with_a_peer(const std::vector<std::string>& overrides) {
    std::vector<std::string> all = {{"pcie_system.peers=1"}, {"peer_bytes=0"}};
    all.insert(all.end(), overrides.begin(), overrides.end());
    return all;
  }
  static RunOptions completed(RunOptions o) {
    o.max_cycles = 50'000'000;
    return o;
  }
  [[nodiscard]] unsigned platform_peers() const { return const_cast<GpuPlatform&>(platform).pcie()->peers(); }
  std::vector<std::unique_ptr<programs::Module>> modules_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
};

/// The module in a file.
inline std::unique_ptr<programs::Module> module_in(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  auto module = ptx::parse(text.str(), path);
  if (!module.ok()) throw std::runtime_error(module.faults().front().text());
  return std::move(module.value());
}

}  // namespace warpline::test
