// How many warp requests per second the model carries, next to what the bare tag look-ups of the same stream
// cost: the ratio is what counts, as both run in turn on the same machine.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "warpline/cache/tag_array.h"
#include "warpline/crossbar/crossbar_core.h"
#include "warpline/dram/dram_core.h"
#include "warpline/config/loader.h"
#include "warpline/gpu/gpu_platform.h"

namespace warpline {
namespace {

/// A stream of whole-line loads: load i of warp w reads line (i * warps + w) mod lines.
struct Stream {
  std::uint64_t lines = 0;
  std::uint64_t warps = 0;
  std::uint64_t loads_per_warp = 0;
  [[nodiscard]] std::uint64_t line(std::uint64_t warp, std::uint64_t i) const { return (i * warps + warp) % lines; }
};

constexpr unsigned kRegisters = 8;
constexpr unsigned kWarpsPerCta = 4;

class StreamSource final : public InstructionSource {
 public:
  StreamSource(const Stream& stream, unsigned slots) : stream_(stream), warps_(slots) {
    for (unsigned r = 0; r < kRegisters; ++r) {
      Instruction& i = loads_[r];
      i.kind = InstructionKind::memory;
      i.mem.space = Space::global;
      i.mem.type = DataType::u32;
      i.destination_count = 1;
      i.registers[0] = static_cast<std::uint16_t>(r);
    }
  }
  void begin_warp(unsigned slot, Dim3 cta, unsigned warp, LaneMask) override {
    warps_[slot] = {std::uint64_t{cta.x} * kWarpsPerCta + warp, 0, false};
  }
  WarpState state(unsigned slot) const override {
    return warps_[slot].killed || warps_[slot].done == stream_.loads_per_warp ? WarpState::exited
                                                                              : WarpState::runnable;
  }
  const Instruction& next(unsigned slot) override { return loads_[warps_[slot].done % kRegisters]; }
  void execute(unsigned slot, Issue& issue) override {
    Warp& w = warps_[slot];
    issue.active = ~LaneMask{0};
    issue.access->active = ~LaneMask{0};
    issue.access->form = AddressForm::strided;
    issue.access->base = stream_.line(w.number, w.done) * kLineBytes;
    issue.access->stride = 4;
    ++w.done;
  }
  void complete(unsigned, const Instruction&, const MemoryAccess&, bool) override {}
  void release_barrier(unsigned, std::uint32_t) override {}
  LaneMask live_lanes(unsigned slot) const override {
    return state(slot) == WarpState::exited ? 0 : ~LaneMask{0};
  }
  void kill(unsigned slot) override { warps_[slot].killed = true; }
  std::string where(const Instruction&) const override { return "stream"; }

 private:
  struct Warp {
    std::uint64_t number = 0, done = 0;
    bool killed = false;
  };
  Stream stream_;
  std::vector<Warp> warps_;
  std::array<Instruction, kRegisters> loads_;
};

class StreamKernel final : public Kernel {
 public:
  explicit StreamKernel(const Stream& stream) : stream_(stream) {
    info_.name = "stream";
    info_.grid = {static_cast<std::uint32_t>(stream.warps / kWarpsPerCta), 1, 1};
    info_.block = {kWarpsPerCta * kWarpLanes, 1, 1};
    info_.registers = kRegisters;
    info_.carries_data = false;
  }
  const KernelInfo& info() const override { return info_; }
  std::unique_ptr<InstructionSource> make_source(unsigned, unsigned slots) override {
    return std::make_unique<StreamSource>(stream_, slots);
  }

 private:
  Stream stream_;
  KernelInfo info_;
};

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// The same stream through the same arrays, without time: what a look-up costs at least.
class BareLookUp {
 public:
  explicit BareLookUp(const GpuConfig& c) : config_(c), route_(c.crossbar, c.l2.slices), rows_(c.dram) {
    for (unsigned i = 0; i < c.sms; ++i) l1_.emplace_back(c.l1_lg.geometry);
    for (unsigned i = 0; i < c.l2.slices; ++i) l2_.emplace_back(c.l2.geometry);
  }
  void run(const Stream& s) {
    const std::uint64_t ctas_per_sm = (s.warps / kWarpsPerCta + config_.sms - 1) / config_.sms;
    for (std::uint64_t i = 0; i < s.loads_per_warp; ++i)
      for (std::uint64_t turn = 0; turn < ctas_per_sm * kWarpsPerCta; ++turn)
        for (unsigned sm = 0; sm < config_.sms; ++sm) {
          // CTAs are dealt out one by one, so CTA c runs on SM c mod SMs.
          const std::uint64_t cta = turn / kWarpsPerCta * config_.sms + sm;
          if (cta * kWarpsPerCta < s.warps) look_up(sm, s.line(cta * kWarpsPerCta + turn % kWarpsPerCta, i));
        }
  }
  [[nodiscard]] std::uint64_t checksum() const { return checksum_; }

 private:
  static bool hit_or_install(TagArray& tags, std::uint64_t number, std::uint64_t key) {
    if (const std::uint32_t i = tags.find(number, key); i != TagArray::kAbsent) {
      tags.touch(i);
      return tags.state(i).valid == kAllSectors;
    }
    tags.install(tags.victim(key), number, EvictionClass::normal).valid = kAllSectors;
    return false;
  }
  void look_up(unsigned sm, std::uint64_t number) {
    if (hit_or_install(l1_[sm], number, number)) return;
    const PhysicalAddress line{number * kLineBytes};
    ++checksum_;
    if (hit_or_install(l2_[route_.slice_of(line)], number, number / config_.l2.slices)) return;
    checksum_ += static_cast<std::uint64_t>(rows_.open(rows_.place_of(line)));
  }
  GpuConfig config_;
  CrossbarCore route_;
  DramCore rows_;
  std::vector<TagArray> l1_, l2_;
  std::uint64_t checksum_ = 0;
};

struct Case {
  const char* name;
  std::uint64_t bytes;
  double aim_millions;
  double bar_ratio;
};

struct Figure {
  double model = 1e99, bare = 1e99;  ///< seconds per request, best of the repetitions
};

Figure measure(const GpuConfig& config, const Stream& stream, unsigned repetitions) {
  RunOptions options;
  options.tags_only = true;
  GpuPlatform platform(config, options);
  platform.map_everything();
  StreamKernel kernel(stream);
  BareLookUp bare(config);
  const double requests = static_cast<double>(stream.warps * stream.loads_per_warp);
  platform.launch(kernel, false);
  bare.run(stream);
  Figure best;
  for (unsigned r = 0; r < repetitions; ++r) {
    const double a = cpu_seconds();
    const LaunchResult lr = platform.launch(kernel, false);
    if (std::getenv("SHORT")) std::printf("cycles %llu ticks %llu requests %.0f\n", (unsigned long long)lr.cycles, 0ULL, requests);
    const double b = cpu_seconds();
    bare.run(stream);
    const double c = cpu_seconds();
    best.model = std::min(best.model, (b - a) / requests);
    best.bare = std::min(best.bare, (c - b) / requests);
  }
  return best;
}

int run(const std::string& only, unsigned sms) {
  Result<GpuConfig> loaded = load_gpu("v100", {});
  if (!loaded.ok()) return 2;
  GpuConfig config = loaded.value();
  if (sms != 0) config.sms = sms;
  const std::uint64_t warps = std::uint64_t{config.sms} * 8;
  std::printf("Warp requests per second of CPU time, tags only: %u SMs, %u slices, %u channels; best of 5.\n\n",
              config.sms, config.l2.slices, config.dram.channels);
  std::printf("%-10s %12s %8s %14s %8s %8s\n", "stream", "requests/s", "aim", "bare look-ups/s", "ratio", "bar");
  const Case cases[] = {{"L1 hit", 16384, 8, 10}, {"L2 hit", 4U << 20U, 1.5, 15}, {"DRAM", 256U << 20U, 1, 20}};
  for (const Case& c : cases) {
    if (!only.empty() && only != c.name) continue;
    const Stream s{c.bytes / kLineBytes, warps, std::getenv("SHORT") ? 1600U : c.bar_ratio <= 10 ? 1600U : 400U};
    const Figure f = measure(config, s, 5);
    std::printf("%-10s %10.2f M %6.1f M %12.2f M %8.1f %8.0f\n", c.name, 1e-6 / f.model, c.aim_millions,
                1e-6 / f.bare, f.model / f.bare, c.bar_ratio);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace warpline

int main(int argc, char** argv) { return warpline::run(argc > 1 ? argv[1] : "", argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 0); }
