#pragma once

#include <cstdint>
#include <deque>

#include "warpline/regs/timer.h"
#include "warpline/rtl_models/registers/register_file.h"

/// The timer of timer.toml: here is what the description cannot say.
class Timer {
 public:
  Timer() {
    using namespace warpline::regs::timer;
    registers.on_look(kNow, [this](unsigned) { return now_; });
    registers.on_write(kControl, [this](const warpline::RegisterWrite& write) {
      if ((write.value & write.bits & kControlClear) == 0) return;
      now_ = 0;
      laps_.clear();
      registers.set(kLaps, 0);
    });
    registers.on_read(kLaps, [this](unsigned, std::uint64_t) {
      if (!laps_.empty()) laps_.pop_front();
      registers.set(kLaps, laps_.empty() ? 0 : laps_.front());
    });
  }

  /// One tick of its clock.
  void tick() {
    using namespace warpline::regs::timer;
    const std::uint64_t mode = warpline::field<kControlMode>(registers.get(kControl));
    if (mode == kModeOff) return;
    ++now_;
    const std::uint64_t period = registers.get(kPeriod);
    if (period == 0 || now_ % period != 0) return;
    registers.raise(kStatus, kStatusLap);
    note();
    if (mode == kModeOnce) registers.set(kControl, warpline::in_field<kControlMode>(kModeOff));
  }

  /// What a reset line does.
  void reset() {
    registers.reset();
    now_ = 0;
    laps_.clear();
  }

  warpline::RegisterFile registers{warpline::regs::timer::kMap};

 private:
  void note() {
    using namespace warpline::regs::timer;
    if (laps_.size() == kLapsDepth) return registers.set(kMissed, registers.get(kMissed) + 1);
    laps_.push_back(now_ & 0xFFFFFFFF);
    registers.set(kLaps, laps_.front());
  }

  std::uint64_t now_ = 0;
  std::deque<std::uint64_t> laps_;
};
