#pragma once

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "platform/programs/sass_trace/trace.h"
#include "rtl_models/sm/address_windows.h"
#include "rtl_models/sm/instruction_source.h"
#include "rtl_models/sm/kernel.h"

namespace warpline::test {

/// A file that goes away with the test.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& content) {
    folder_ = std::filesystem::temp_directory_path() / ("warpline_trace_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    path_ = folder_ / name;
    std::ofstream(path_, std::ios::binary) << content;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    std::filesystem::remove(folder_, ignored);
  }
  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string folder() const { return folder_.string(); }

 private:
  std::filesystem::path folder_, path_;
};

/// One executed instruction, as an SM sees it.
struct Executed {
  unsigned warp = 0;
  Instruction instruction;
  LaneMask active = 0;    ///< that executed it
  LaneMask accessed = 0;  ///< of a memory instruction
  std::array<std::uint64_t, kWarpLanes> address{};
  BarrierOp barrier;
  std::uint64_t sleep_cycles = 0;
};

/// What a run adds up to.
struct Totals {
  std::uint64_t instructions = 0, loads = 0, stores = 0, copies = 0, lanes = 0, sectors = 0, lines = 0;
  std::set<std::uint64_t> distinct_lines;
};

/// Plays the SM to the end of a kernel: one CTA at a time, its warps in turn, one instruction each.
/// Barriers open once every warp of the CTA waits or has exited.
class Player {
 public:
  explicit Player(Kernel& kernel) : kernel_(kernel) {}
  std::function<void(const Executed&)> on_executed = [](const Executed&) {};

  Totals run() {
    const KernelInfo& info = kernel_.info();
    const std::unique_ptr<InstructionSource> source = kernel_.make_source({0, info.warps_per_cta()});
    for (std::uint64_t c = 0; c < info.grid.count(); ++c) {
      const Dim3 cta{static_cast<std::uint32_t>(c % info.grid.x),
                     static_cast<std::uint32_t>(c / info.grid.x % info.grid.y),
                     static_cast<std::uint32_t>(c / info.grid.x / info.grid.y)};
      run_cta(*source, cta, info);
    }
    return totals_;
  }

 private:
  void run_cta(InstructionSource& source, Dim3 cta, const KernelInfo& info) {
    const unsigned warps = info.warps_per_cta();
    for (unsigned w = 0; w < warps; ++w) {
      const unsigned left = info.threads_per_cta() - w * kWarpLanes;
      source.begin_warp(w, cta, w, left >= kWarpLanes ? 0xFFFFFFFFU : (1U << left) - 1);
    }
    for (bool progress = true; progress;) {
      progress = false;
      bool waiting = false;
      for (unsigned w = 0; w < warps; ++w) {
        if (source.state(w) == WarpState::runnable) {
          step(source, w);
          progress = true;
        }
        waiting = waiting || source.state(w) == WarpState::at_barrier;
      }
      if (progress || !waiting) continue;
      for (unsigned w = 0; w < warps; ++w)
        for (std::uint32_t id = 0; id < 16; ++id) source.release_barrier(w, id);
      progress = true;
    }
  }

  void step(InstructionSource& source, unsigned slot) {
    const Instruction& i = source.next(slot);
    Issue issue;
    MemoryAccess access;
    issue.access = &access;
    source.execute(slot, issue);
    Executed e{slot,
               i,
               issue.active,
               i.kind == InstructionKind::memory ? access.active : 0,
               {},
               issue.barrier,
               issue.sleep_cycles};
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
      if ((e.accessed >> lane & 1U) != 0) e.address[lane] = access.address_of(lane);
    count(e);
    on_executed(e);
    source.complete(slot, i, access, false);
  }

  void count(const Executed& e) {
    ++totals_.instructions;
    const MemOp& m = e.instruction.mem;
    if (e.accessed == 0 || m.bytes_per_lane() == 0 || m.space == Space::shared || m.space == Space::local ||
        m.space == Space::constant)
      return;
    std::set<std::uint64_t> sectors, lines;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if ((e.accessed >> lane & 1U) == 0) continue;
      const std::uint64_t a = e.address[lane];
      if (m.space == Space::generic && AddressWindows::space_of(a) != Space::global) continue;
      ++totals_.lanes;
      for (std::uint64_t s = a / kSectorBytes; s <= (a + m.bytes_per_lane() - 1) / kSectorBytes; ++s)
        sectors.insert(s);
    }
    for (const std::uint64_t s : sectors) lines.insert(s / kSectorsPerLine);
    if (m.kind == MemKind::load) ++totals_.loads;
    if (m.kind == MemKind::store) ++totals_.stores;
    if (m.kind == MemKind::async_copy) ++totals_.copies;
    totals_.sectors += sectors.size();
    totals_.lines += lines.size();
    totals_.distinct_lines.insert(lines.begin(), lines.end());
  }

  Kernel& kernel_;
  Totals totals_;
};

/// A trace text of one warp per block unless said otherwise.
struct TraceText {
  std::string grid = "(1,1,1)", block = "(32,1,1)";
  std::string extra = "-accelsim tracer version = 5\n";  ///< further header lines
  std::string body;

  [[nodiscard]] std::string text() const {
    return "-kernel name = k\n-kernel id = 1\n-grid dim = " + grid + "\n-block dim = " + block +
           "\n-shmem = 128\n-nregs = 12\n-binary version = 80\n-shmem base_addr = 0x00007fb139000000\n"
           "-local mem base_addr = 0x00007fb137000000\n" +
           extra + "-enable lineinfo = 0\n\n#traces format = ...\n\n" + body;
  }
};

/// A thread block whose warp 0 executes `lines`.
inline std::string block_of(const std::vector<std::string>& lines, const std::string& coordinates = "0,0,0",
                            unsigned warp = 0) {
  std::string s = "#BEGIN_TB\n\nthread block = " + coordinates + "\n\nwarp = " + std::to_string(warp) +
                  "\ninsts = " + std::to_string(lines.size()) + "\n";
  for (const std::string& l : lines) s += l + "\n";
  return s + "\n#END_TB\n";
}

/// Everything that a trace text executes; throws InputError.
inline std::vector<Executed> play(const std::string& text, std::vector<std::string>* unknown = nullptr) {
  const TemporaryFile file("kernel-1.traceg", text);
  auto kernel = sass::open_trace(file.path());
  if (!kernel.ok()) throw InputError(kernel.faults().front());
  Player player(*kernel.value());
  std::vector<Executed> all;
  player.on_executed = [&](const Executed& e) { all.push_back(e); };
  player.run();
  if (unknown != nullptr) *unknown = kernel.value()->unknown_opcodes();
  return all;
}

/// What version-5 lines execute in one warp.
inline std::vector<Executed> play_lines(const std::vector<std::string>& lines,
                                        std::vector<std::string>* unknown = nullptr) {
  TraceText t;
  t.body = block_of(lines);
  return play(t.text(), unknown);
}

}  // namespace warpline::test
