#pragma once

#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rtl_models/base/random.h"
#include "rtl_models/sim/channel.h"
#include "tests/support/naive_atomic.h"

namespace warpline::test {

/// Performs requests on a flat memory as it takes them, at most one every `gap` cycles, and answers
/// each after a delay of its own: in any order.
class FlatMemory final : public Component {
 public:
  using Line = std::array<std::uint8_t, kLineBytes>;
  using Delay = std::function<Cycle(const Request&, std::size_t)>;
  struct Seen {
    Cycle at = 0;
    Command command = Command::read;
    std::uint8_t maintenance = 0;
    PhysicalAddress line;
    SectorMask sectors = 0;
    Scope scope = Scope::none;
    std::uint16_t warp = 0;
    std::uint64_t id = 0;
    SectorMask prefetch = 0;
    EvictionPriority l1_priority = EvictionPriority::none, l2_priority = EvictionPriority::none;
    bool last_use = false;
    LineControl control = LineControl::none;
    bool exact = false;
    ByteMask bytes;  ///< of an exact access
    Reader reader = Reader::load;
    Cycle answered = kNever;
    friend bool operator==(const Seen& a, const Seen& b) {
      return a.at == b.at && a.command == b.command && a.line == b.line && a.sectors == b.sectors &&
             a.id == b.id && a.prefetch == b.prefetch && a.answered == b.answered;
    }
  };

  FlatMemory(Engine& engine, std::string name, Delay delay, Cycle gap = 1)
      : Component(engine, std::move(name)), delay_(std::move(delay)), gap_(gap) {}
  /// Delays up to `most` cycles, drawn per message.
  static Delay random_delay(std::uint64_t seed, Cycle most) {
    return [=](const Request&, std::size_t n) { return 1 + splitmix64(seed * 1000003 + n) % most; };
  }
  static Delay fixed(Cycle cycles) {
    return [=](const Request&, std::size_t) { return cycles; };
  }
  static void perform(Request& r, Line& line) {
    switch (r.command) {
      case Command::read: copy_sectors(r.data.data(), line.data(), r.sectors); return;
      case Command::write: copy_masked(line.data(), r.data.data(), r.bytes); return;
      case Command::maintain:
      case Command::control: return;
      case Command::atomic:
      case Command::reduce: break;
    }
    for (unsigned i = 0; i < r.atomics->count; ++i) {
      const LaneBytes old_value = naive_lane(*r.atomics, i, line.data());
      std::memcpy(&r.atomics->lanes[i].old_value, old_value.data(), 8);
      std::memcpy(&r.atomics->high[i].old_value, &old_value[8], 8);
    }
  }

  In<RequestMessage> in{*this, "in"};
  Out<ResponseMessage> out{*this, "out"};
  std::vector<Seen> seen;
  std::map<std::uint64_t, Line> lines;
  std::optional<PhysicalAddress> broken;  ///< a line that is read with an error

  Cycle tick(Cycle now) override {
    if (!due_.empty() && due_.begin()->first.first <= now && out.ready(now)) {
      const auto first = due_.begin();
      seen[first->first.second].answered = now;
      out.send(now, {first->second});
      due_.erase(first);
    }
    if (now >= next_pop_ && in.ready(now)) {
      take(now, in.pop(now).request);
      next_pop_ = now + gap_;
    }
    Cycle next = next_pop_ > now ? next_pop_ : kNever;
    if (due_.empty()) return next;
    const Cycle at = due_.begin()->first.first;
    if (at > now) return std::min(next, at);
    static_cast<void>(out.ready(now));
    return std::min(next, now + 1);
  }
  [[nodiscard]] bool busy() const override { return !due_.empty(); }
  void explain(std::vector<Wait>& waits) const override { waits.push_back({name(), "its delay"}); }

 private:
  void take(Cycle now, Request* r) {
    seen.push_back({now, r->command, r->maintenance, r->line, r->sectors, r->scope, r->warp, r->id,
                    r->prefetch, r->l1_priority, r->l2_priority, r->last_use, r->control, r->exact,
                    r->exact ? r->bytes : ByteMask{}, r->reader});
    if (r->command < Command::maintain) perform(*r, lines[r->line.value]);
    if (r->command == Command::read && broken == r->line) r->status = Status::address_error;
    due_[{now + delay_(*r, seen.size() - 1), seen.size() - 1}] = r;
  }
  Delay delay_;
  Cycle gap_;
  Cycle next_pop_ = 0;
  std::map<std::pair<Cycle, std::size_t>, Request*> due_;
};

}  // namespace warpline::test
