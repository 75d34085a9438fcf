#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/machine/gpu_platform.h"
#include "rtl_models/base/types.h"

namespace warpline {

class GpuRegisters;
class PcieLink;
struct GpuLaunchEnd;

/// What is behind the registers of a platform's first GPU (sw/regs/gpu.toml): reads what software has put
/// into video memory, runs the kernel, and tells what became of it. A launch takes the time of its grid;
/// reading its descriptor and program takes none.
///
/// Of video memory, software has all but the constant banks at its start and an eighth at its end, where
/// code, variables and local memory of kernels are.
class ServedGpu {
 public:
  /// The platform outlives it, and has nothing under way nor allocated. Pre: it has data, and GPUs with
  /// registers (PcieParameters::registers). Builds it.
  explicit ServedGpu(GpuPlatform& platform);
  ~ServedGpu();
  ServedGpu(const ServedGpu&) = delete;
  ServedGpu& operator=(const ServedGpu&) = delete;

  /// The root port behind which it is.
  [[nodiscard]] unsigned port() const;
  /// Why no GPU like this can be served, with the key that says so; empty: it can.
  [[nodiscard]] static std::string problem_of(const GpuConfig& config);
  /// Begins what is asked for, no earlier than in cycle `asked`, up to which software has acted, and ends
  /// what has ended. To be called between cycles, after each in which anything happened.
  void attend(Cycle asked);
  /// Whether a launch was asked for that has not ended.
  [[nodiscard]] bool has_launch();
  /// Its function was reset: what runs is ended where it is, and told to nobody. To be called again and again
  /// while time passes; true: nothing of it is left, and its memory is all zeros.
  [[nodiscard]] bool settle();
  /// See GpuPlatform.
  void set_loose(bool loose) { platform_.set_loose(loose); }

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
  void watch_faults();
  void end(Cycle cycles);
  void finish(const GpuLaunchEnd& end, const std::string& text);
  void release();
  [[nodiscard]] std::string text_at(std::uint64_t offset, std::uint64_t bytes) const;
  void check_range(std::uint64_t offset, std::uint64_t bytes, const char* what) const;

  GpuPlatform& platform_;
  std::uint64_t first_ = 0, end_ = 0;  ///< of video memory, what is software's
  std::unique_ptr<Launch> launch_;     ///< null: nothing runs
  Cycle looked_ = 0;                   ///< for faults
};

}  // namespace warpline
