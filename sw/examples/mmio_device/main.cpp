// Software pokes the timer; what arrived at it is printed, access by access.
#include <cstdio>
#include <cstring>
#include <string>

#include "timer.h"
#include "warpline/rtl_models/registers/access_log.h"
#include "wl_timer_regs.h"

namespace {

/// The timer on a bus: who accesses it is logged.
class Bus {
 public:
  std::uint64_t read(std::uint64_t offset, unsigned bytes) {
    const warpline::RegisterFile::Read r = timer_.registers.read(offset, bytes);
    add(warpline::AccessKind::read, r.outcome, offset, bytes, r.value);
    return r.value;
  }
  void write(std::uint64_t offset, unsigned bytes, std::uint64_t value) {
    const warpline::AccessOutcome outcome = timer_.registers.write(offset, bytes, value);
    add(warpline::AccessKind::write, outcome, offset, bytes, value);
  }
  void run(unsigned ticks) {
    for (; ticks > 0; --ticks, ++cycle_) timer_.tick();
  }
  void reset() { timer_.reset(); }
  [[nodiscard]] const warpline::AccessLog& log() const { return log_; }

 private:
  void add(warpline::AccessKind kind, warpline::AccessOutcome outcome, std::uint64_t offset, unsigned bytes,
           std::uint64_t value) {
    warpline::BusAccess access;
    access.cycle = cycle_;
    access.kind = kind;
    access.outcome = outcome;
    access.bytes = bytes;
    access.offset = offset;
    access.value = value;
    log_.add(access);
  }

  Timer timer_;
  warpline::AccessLog log_;
  warpline::Cycle cycle_ = 0;
};

/// A driver, with nothing but the header that was made for it. Returns what it found wrong.
unsigned drive(Bus& bus) {
  unsigned wrong = 0;
  const auto expect = [&](std::uint64_t offset, unsigned bytes, std::uint64_t value) {
    if (bus.read(offset, bytes) != value) ++wrong;
  };
  expect(WL_TIMER_PERIOD_OFFSET, 4, WL_TIMER_PERIOD_RESET_VALUE);
  bus.write(WL_TIMER_PERIOD_OFFSET, 4, 10);
  bus.write(WL_TIMER_NOTE_OFFSET(1), 4, 0xFEED);
  bus.write(WL_TIMER_CONTROL_OFFSET, 4, WL_TIMER_MODE_ALWAYS << WL_TIMER_CONTROL_MODE_SHIFT);
  bus.run(35);
  expect(WL_TIMER_NOW_OFFSET, 8, 35);
  expect(WL_TIMER_STATUS_OFFSET, 4, WL_TIMER_STATUS_LAP_MASK);
  bus.write(WL_TIMER_STATUS_OFFSET, 4, WL_TIMER_STATUS_LAP_MASK);
  expect(WL_TIMER_STATUS_OFFSET, 4, 0);
  for (const std::uint64_t lap : {10, 20, 0}) expect(WL_TIMER_LAPS_OFFSET, 4, lap);
  expect(WL_TIMER_MISSED_OFFSET, 4, 1);
  expect(WL_TIMER_MISSED_OFFSET, 4, 0);
  bus.write(WL_TIMER_CONTROL_OFFSET, 4, WL_TIMER_CONTROL_CLEAR_MASK | WL_TIMER_MODE_ONCE);
  bus.run(25);
  expect(WL_TIMER_NOW_OFFSET, 4, 10);
  expect(WL_TIMER_CONTROL_OFFSET, 4, WL_TIMER_MODE_OFF);
  bus.reset();
  expect(WL_TIMER_NOTE_OFFSET(1), 4, 0xFEED);
  bus.write(WL_TIMER_NOW_OFFSET, 8, 0);      // read only
  expect(WL_TIMER_PERIOD_OFFSET + 2, 4, 0);  // not at the register's start
  expect(WL_TIMER_BYTES - 4, 4, 0);          // nothing there
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = argc == 2 && std::strcmp(argv[1], "--json") == 0;
  if (argc > 1 && !json) {
    std::printf("usage: %s [--json]\n", argv[0]);
    return std::strcmp(argv[1], "--help") == 0 ? 0 : 2;
  }
  Bus bus;
  const unsigned wrong = drive(bus);
  for (const warpline::BusAccess& access : bus.log().entries()) {
    const warpline::RegisterMap* const map = &warpline::regs::timer::kMap;
    std::printf("%s\n", (json ? to_json(access, map) : to_text(access, map)).c_str());
  }
  if (!json)
    std::printf("%u of %zu accesses with another result than expected\n", wrong, bus.log().entries().size());
  return wrong == 0 ? 0 : 1;
}
