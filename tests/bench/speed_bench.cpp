// How many warp requests per second the model carries, next to what the look-ups of the same stream cost
// without time: the ratios are what counts, as all run in turn on the same machine.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "warpline/cache/tag_array.h"
#include "warpline/config/loader.h"
#include "warpline/crossbar/crossbar_core.h"
#include "warpline/dram/dram_core.h"
#include "warpline/gpu/gpu_platform.h"
#include "warpline/l1_lg/l1_lg_core.h"
#include "warpline/l2/l2_core.h"

namespace warpline {
namespace {

/// A stream of whole-line loads: load i of warp w reads line (i * warps + w) mod lines.
struct Stream {
  std::uint64_t lines = 0;
  std::uint64_t warps = 0;
  std::uint64_t loads_per_warp = 0;
  [[nodiscard]] std::uint64_t line(std::uint64_t warp, std::uint64_t i) const {
    return (i * warps + warp) % lines;
  }
};

constexpr unsigned kRegisters = 8;
constexpr unsigned kWarpsPerCta = 4;
constexpr unsigned kWarpsPerSm = 4;  // one per issue partition, each with kRegisters loads in flight

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

/// The order in which SMs take the stream's lines: CTAs are dealt out one by one, so CTA c runs on SM c mod
/// SMs.
template <class LookUp>
void replay(const Stream& s, unsigned sms, LookUp&& look_up) {
  const std::uint64_t ctas_per_sm = (s.warps / kWarpsPerCta + sms - 1) / sms;
  for (std::uint64_t i = 0; i < s.loads_per_warp; ++i)
    for (std::uint64_t turn = 0; turn < ctas_per_sm * kWarpsPerCta; ++turn)
      for (unsigned sm = 0; sm < sms; ++sm) {
        const std::uint64_t cta = turn / kWarpsPerCta * sms + sm;
        if (cta * kWarpsPerCta < s.warps) look_up(sm, s.line(cta * kWarpsPerCta + turn % kWarpsPerCta, i));
      }
}

/// The same stream through tag arrays of the same shape, and nothing else: no sectors, no miss registers, no
/// counters, no time.
class BareTags {
 public:
  explicit BareTags(const GpuConfig& c) : config_(c), route_(c.crossbar, c.l2.slices), rows_(c.dram) {
    for (unsigned i = 0; i < c.sms; ++i) l1_.emplace_back(c.l1_lg.geometry);
    for (unsigned i = 0; i < c.l2.slices; ++i) l2_.emplace_back(c.l2.geometry);
  }
  void look_up(unsigned sm, std::uint64_t number) {
    if (hit_or_install(l1_[sm], number, number)) return;
    const PhysicalAddress line{number * kLineBytes};
    if (hit_or_install(l2_[route_.slice_of(line)], number, number / config_.l2.slices)) return;
    rows_.open(rows_.place_of(line));
  }

 private:
  static bool hit_or_install(TagArray& tags, std::uint64_t number, std::uint64_t key) {
    if (const std::uint32_t i = tags.find(number, key); i != TagArray::kAbsent) {
      tags.touch(i);
      return tags.state(i).valid == kAllSectors;
    }
    tags.install(tags.victim(key), number, EvictionClass::normal).valid = kAllSectors;
    return false;
  }
  GpuConfig config_;
  CrossbarCore route_;
  DramCore rows_;
  std::vector<TagArray> l1_, l2_;
};

/// The same stream through the model's own cores, the blocks without their time: sectors, miss registers,
/// fills and counters as in a run.
class TimelessCores final : private WriteBackSink {
 public:
  explicit TimelessCores(const GpuConfig& c) : route_(c.crossbar, c.l2.slices), rows_(c.dram) {
    for (unsigned i = 0; i < c.sms; ++i) l1_.emplace_back(c.l1_lg, false);
    for (unsigned i = 0; i < c.l2.slices; ++i) l2_.emplace_back(c.l2, c.l2.slices, nullptr);
  }
  void look_up(unsigned sm, std::uint64_t number) {
    Request& r = requests_[0];
    r.virtual_line = VirtualAddress{number * kLineBytes};
    r.line = PhysicalAddress{number * kLineBytes};
    r.sectors = kAllSectors;
    if (!l1_[sm].serves(r)) return;
    const ReadOutcome out = l1_[sm].read(r);
    if (out.kind == ReadOutcome::Kind::hit) return;
    Request& fetch = requests_[1];
    fetch.line = r.line;
    fetch.virtual_line = r.virtual_line;
    fetch.sectors = out.fetch;
    fetch.token = out.entry;
    L2Core& l2 = l2_[route_.slice_of(r.line)];
    const L2Outcome below = l2.access(fetch, *this);
    if (below.kind == L2Outcome::Kind::wait) {
      rows_.open(rows_.place_of(r.line));
      Request& fill = requests_[2];
      fill.line = r.line;
      fill.sectors = below.fetch;
      fill.token = below.entry;
      RequestList served, again;
      l2.fill(fill, served, again, *this);
    }
    RequestList served;
    l1_[sm].fill(fetch, served);
  }

 private:
  void write_back(const WriteBack&) override {}
  CrossbarCore route_;
  DramCore rows_;
  std::vector<L1LgCore> l1_;
  std::vector<L2Core> l2_;
  std::array<Request, 3> requests_;
};

struct Case {
  const char* name;
  std::uint64_t bytes;
  double aim_millions;
  double bar_ratio;
};

/// Seconds of CPU time per request, best of the repetitions.
struct Figure {
  double model = 1e99, tags = 1e99, cores = 1e99;
};

Figure measure(const GpuConfig& config, const Stream& stream, unsigned repetitions) {
  RunOptions options;
  options.tags_only = true;
  GpuPlatform platform(config, options);
  platform.map_everything();
  StreamKernel kernel(stream);
  BareTags tags(config);
  TimelessCores cores(config);
  const auto seconds = [&stream](auto&& work) {
    const double start = cpu_seconds();
    work();
    return (cpu_seconds() - start) / static_cast<double>(stream.warps * stream.loads_per_warp);
  };
  const auto run_model = [&] { platform.launch(kernel, false); };
  const auto run_tags = [&] {
    replay(stream, config.sms, [&tags](unsigned sm, std::uint64_t n) { tags.look_up(sm, n); });
  };
  const auto run_cores = [&] {
    replay(stream, config.sms, [&cores](unsigned sm, std::uint64_t n) { cores.look_up(sm, n); });
  };
  run_model();
  run_tags();
  run_cores();
  Figure best;
  for (unsigned r = 0; r < repetitions; ++r) {
    best.model = std::min(best.model, seconds(run_model));
    best.tags = std::min(best.tags, seconds(run_tags));
    best.cores = std::min(best.cores, seconds(run_cores));
  }
  return best;
}

std::uint64_t loads_for(std::uint64_t requests, std::uint64_t warps) {
  return std::max<std::uint64_t>(1, requests / warps);
}

/// Requests per second, and how many times the cost of bare look-ups that is. `only`: the stream wanted, or
/// nothing for all.
void rates(const GpuConfig& config, const std::string& only) {
  const std::uint64_t warps = std::uint64_t{config.sms} * kWarpsPerSm;
  std::printf(
      "Warp requests per second of CPU time, tags only: %u SMs of %u warps, %u slices, %u channels; best of "
      "5\n\n",
      config.sms, kWarpsPerSm, config.l2.slices, config.dram.channels);
  std::printf("%-8s %12s %8s   %18s   %18s\n", "stream", "requests/s", "aim", "x bare tags (bar)",
              "x timeless cores");
  const Case cases[] = {
      {"L1 hit", 16384, 8, 10}, {"L2 hit", 4U << 20U, 1.5, 15}, {"DRAM", 256U << 20U, 1, 20}};
  for (const Case& c : cases) {
    if (!only.empty() && only != c.name) continue;
    const Stream s{c.bytes / kLineBytes, warps, loads_for(1'000'000, warps)};
    const Figure f = measure(config, s, 5);
    std::printf("%-8s %10.2f M %6.1f M   %11.1f  (%3.0f)   %18.1f\n", c.name, 1e-6 / f.model, c.aim_millions,
                f.model / f.tags, c.bar_ratio, f.model / f.cores);
    std::fflush(stdout);
  }
}

/// Time per request must not grow with the length of a run or the size of the machine.
void growth(const GpuConfig& base) {
  std::printf("\nGrowth of the time per request, L2 hits\n\n");
  const std::uint64_t warps = std::uint64_t{base.sms} * kWarpsPerSm;
  const Stream million{(4U << 20U) / kLineBytes, warps, loads_for(1'000'000, warps)};
  Stream ten = million;
  ten.loads_per_warp *= 10;
  const Figure one = measure(base, million, 5);
  std::printf("%-28s %6.2f   (bar 1.15)\n", "10^7 to 10^6 requests", measure(base, ten, 1).model / one.model);
  GpuConfig small = base, large = base;
  small.sms = 8;
  large.sms = 144;
  const auto at = [](const GpuConfig& c) {
    const std::uint64_t w = std::uint64_t{c.sms} * kWarpsPerSm;
    return measure(c, {(4U << 20U) / kLineBytes, w, loads_for(1'000'000, w)}, 5);
  };
  const Figure few = at(small), many = at(large);
  std::printf("%-28s %6.2f   (bar 1.30)\n", "144 to 8 SMs", many.model / few.model);
  std::printf("%-28s %6.2f   (bar 1.15)\n", "the same, to the bare tags",
              many.model / many.tags / (few.model / few.tags));
}

int run(const std::string& only) {
  Result<GpuConfig> loaded = load_gpu("v100", {});
  if (!loaded.ok()) return 2;
  if (only != "growth") rates(loaded.value(), only);
  if (only.empty() || only == "growth") growth(loaded.value());
  return 0;
}

}  // namespace
}  // namespace warpline

/// speed_bench ["L1 hit" | "L2 hit" | DRAM | growth]: all, or the one named.
int main(int argc, char** argv) {
  return warpline::run(argc > 1 ? argv[1] : "");
}
