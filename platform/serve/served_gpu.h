#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/machine/gpu_platform.h"
#include "rtl_models/base/types.h"

namespace warpline {

class CounterVisitor;
class GpuRegisters;
class PcieLink;
struct GpuLaunchEnd;

/// What is behind the registers of one of a platform's GPUs (sw/regs/gpu.toml): reads what software has put
/// into video memory, runs the kernel, and tells what became of it. A launch takes the time of its grid;
/// reading its descriptor and program takes none.
///
/// Of video memory, software has all but the constant banks at its start and an eighth at its end, where
/// code, variables and local memory of kernels are.
class ServedGpu {
 public:
  /// The platform outlives it, and has nothing under way nor allocated on GPU `number`. Pre: it has data, and
  /// GPUs with registers (PcieParameters::registers). Builds it.
  ServedGpu(GpuPlatform& platform, unsigned number);
  ~ServedGpu();
  ServedGpu(const ServedGpu&) = delete;
  ServedGpu& operator=(const ServedGpu&) = delete;

  /// The root port behind which it is.
  [[nodiscard]] unsigned port() const;
  /// Why no GPU like this can be served, with the key that says so; empty: it can.
  [[nodiscard]] static std::string problem_of(const GpuConfig& config);
  /// What is done about launches between cycles.
  enum class Act : std::uint8_t {
    begin,   ///< one that was asked for, no earlier than in a cycle up to which software has acted
    abort,   ///< the one that runs ends where it is, as software wants
    cut,     ///< likewise, as it faulted, ran for too long, or its function was reset
    finish,  ///< it has ended: what it wrote is brought to where all see it, and then that is told
  };
  static constexpr std::uint8_t kActs = 4;
  struct Due {
    Act act;
    Cycle asked;  ///< up to which software had acted when it came to want that
  };
  /// What is due, if software has acted up to cycle `asked`. To be asked between cycles, after each in which
  /// anything happened, and done if it is something.
  [[nodiscard]] std::optional<Due> next_act(Cycle asked);
  /// Whether that may be done then.
  [[nodiscard]] bool is_due(Act act, Cycle asked);
  /// Pre: is_due().
  void act(Act act, Cycle asked);
  /// The cycle in which what runs has run for too long (PcieParameters::launch_limit_us); kNever: it may run
  /// for ever, or nothing does.
  [[nodiscard]] Cycle deadline() const;
  /// Whether a launch was asked for that has not ended.
  [[nodiscard]] bool has_launch();
  /// Its function was reset: what runs is ended where it is, and told to nobody. To be called again and again
  /// while time passes; true: nothing of it is left, and its memory is all zeros.
  [[nodiscard]] bool settle();
  /// Of all GPUs of the platform; see GpuPlatform.
  void set_loose(bool loose) { platform_.set_loose(loose); }
  /// The counters of all GPUs of the platform, without those of the bus: of their SMs, caches and memory.
  void visit(CounterVisitor& visitor) const;

 private:
  struct Descriptor;
  struct Refusal;
  struct Launch;
  [[nodiscard]] GpuRegisters& registers();
  [[nodiscard]] PcieLink& link();
  void begin(std::uint64_t descriptor);
  /// Fills in the launch; throws a Refusal.
  void prepare(std::uint64_t descriptor, Launch& launch);
  void load(const Descriptor& what, Launch& launch);
  void open_windows(Launch& launch);
  [[nodiscard]] bool is_heard();
  void cut();
  [[nodiscard]] bool looks_for_faults();
  void end(Cycle cycles);
  void finish(const GpuLaunchEnd& end, const std::string& text);
  void release();
  [[nodiscard]] std::string text_at(std::uint64_t offset, std::uint64_t bytes) const;
  void check_range(std::uint64_t offset, std::uint64_t bytes, const char* what) const;

  GpuPlatform& platform_;
  unsigned number_;
  std::uint64_t first_ = 0, end_ = 0;  ///< of video memory, what is software's
  std::unique_ptr<Launch> launch_;     ///< null: nothing runs
  Cycle looked_ = 0;                   ///< for faults
  std::optional<Cycle> rung_;  ///< up to which software had acted when a launch that waits was first seen
};

}  // namespace warpline
