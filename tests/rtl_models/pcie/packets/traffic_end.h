#pragma once

#include <deque>
#include <vector>

#include "rtl_models/base/random.h"
#include "rtl_models/pcie/packets/tlp_port.h"
#include "tests/rtl_models/pcie/packets/packets.h"

namespace warpline::test {

/// One end of a link that sends a script, and takes what arrives by a rule of time and packet only, so that
/// which ticks it gets has no say.
class TrafficEnd final : public Component {
 public:
  struct Sent {
    Tlp tlp;
    Cycle due = 0;           ///< when it is queued
    Cycle sent = kNever;     ///< when it went onto the wire
    Cycle taken = kNever;    ///< when the other end took it
    std::uint64_t turn = 0;  ///< the how-manieth packet it was that the other end took
  };
  static constexpr std::uint64_t kNotSent = ~std::uint64_t{0};

  TrafficEnd(Engine& engine, const std::string& name, const std::string& to, const LinkParameters& p,
             const ClockDomain& clock = {})
      : Component(engine, name, clock), port(*this, to, p) {}

  /// Random packets of every class, some relaxed.
  void draw_script(std::uint64_t seed, unsigned count) {
    Random random(seed);
    Cycle due = 0;
    for (unsigned i = 0; i < count; ++i) {
      due += random.below(random.below(8) == 0 ? 200 : 6);
      constexpr std::array kKinds = {TlpKind::memory_write, TlpKind::memory_read, TlpKind::completion};
      const TlpKind kind = kKinds[random.below(kKinds.size())];
      add(packet(kind, 0, static_cast<std::uint32_t>(1 + random.below(256))), due);
      script.back().tlp.relaxed_ordering = random.below(4) == 0;
      script.back().tlp.tag = static_cast<std::uint16_t>(random.below(4));
    }
  }
  void add(Tlp tlp, Cycle due) {
    tlp.sequence = kNotSent;
    tlp.cookie = static_cast<std::uint32_t>(script.size());
    script.push_back({std::move(tlp), due});
  }

  Cycle tick(Cycle now) override {
    for (; queued_ < script.size() && script[queued_].due <= now; ++queued_) port.send(&script[queued_].tlp);
    bool refused = false, full = false;
    const auto wants = [&](const Tlp& t) {
      if (full) return false;
      const bool yes = class_of(t.kind) != never && accepts(t, now);
      refused = refused || (class_of(t.kind) != never && !yes);
      return yes;
    };
    while (Tlp* tlp = port.next(now, wants)) {
      port.take(now, tlp);
      note_taken(now, tlp);
      refused = false;
      full = one_a_tick;
    }
    Cycle next = transmit(now);
    if (refused) next = std::min(next, now + 1);
    if (queued_ < script.size()) next = std::min(next, std::max(now + 1, script[queued_].due));
    return next;
  }
  [[nodiscard]] bool busy() const override { return queued_ < script.size() || port.busy(); }
  void explain(std::vector<Wait>& waits) const override { port.explain(waits); }

  TlpPort port;
  TrafficEnd* other = nullptr;
  std::deque<Sent> script;
  bool one_a_tick = false;  ///< takes one packet, and relies on being woken for the next
  unsigned stall = 0;       ///< a packet is accepted in one of so many spans of 32 cycles only; 0: always
  TlpClass never = static_cast<TlpClass>(kTlpClasses);  ///< a class that is never accepted

 private:
  [[nodiscard]] bool accepts(const Tlp& t, Cycle now) const {
    return stall == 0 || (now / 32 + splitmix64(t.sequence)) % stall == 0;
  }
  Cycle transmit(Cycle now) {
    const std::uint64_t before = port.counters().packets_sent;
    const Cycle next = port.transmit(now);
    if (port.counters().packets_sent != before)
      for (std::size_t i = unsent_; i < queued_; ++i)
        if (script[i].tlp.sequence == before) script[i].sent = now;
    while (unsent_ < queued_ && script[unsent_].sent != kNever) ++unsent_;
    return next;
  }
  void note_taken(Cycle now, const Tlp* tlp) {
    Sent& s = other->script[tlp->cookie];
    s.taken = &s.tlp == tlp && s.taken == kNever ? now : kNever - 1;
    s.turn = turns_++;
  }
  std::size_t queued_ = 0;
  std::size_t unsent_ = 0;  ///< all before are sent
  std::uint64_t turns_ = 0;
};

}  // namespace warpline::test
