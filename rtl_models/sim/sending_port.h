#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "rtl_models/base/contract.h"
#include "rtl_models/base/state_archive.h"
#include "rtl_models/base/types.h"
#include "rtl_models/sim/carrier.h"
#include "rtl_models/sim/port_base.h"

namespace warpline {

template <class M>
class In;

/// What a sending port is bound to: one of the two.
template <class M>
struct Binding {
  In<M>* direct = nullptr;
  Carrier<M>* carrier = nullptr;

  /// Has the other side perform `message`, loosely timed (see LooseTarget): sent in cycle `at`, and on
  /// return answered in cycle `at`.
  void perform(const M& message, Cycle& at) const {
    direct != nullptr ? direct->perform(message, at) : carrier->perform(message, at);
  }
};

/// The sending port of a channel. It knows only when the channel is free.
template <class M>
class alignas(64) Out final : public PortBase {
 public:
  using PortBase::PortBase;

  /// Whether a message may be sent in cycle `now`. If not, the owner is woken when it may.
  [[nodiscard]] bool ready(Cycle now) { return free_at_ <= now || ask_for_wake(); }
  /// Sends. Pre: ready(now).
  void send(Cycle now, const M& message) {
    WARPLINE_EXPECT(free_at_ <= now, "a message is sent on a free channel");
    In<M>* const to = binding_.direct;
    if (to == nullptr || to->is_special_) return send_specially(now, message);
    Cycle at = 0;
    free_at_ = to->begin_plainly(now, message, at);
    to->owner_.wake_in_fastest(at);
  }
  /// The channel is free from cycle c on.
  void end(Cycle c) {
    free_at_ = c;
    if (armed_) {
      armed_ = false;
      owner_.wake(c);
    }
  }
  [[nodiscard]] bool bound() const { return binding_.direct != nullptr || binding_.carrier != nullptr; }
  [[nodiscard]] const Binding<M>& binding() const { return binding_; }
  /// Sends as `binding` says from now on, and returns how it was. Pre: bound; no message is under way.
  Binding<M> rebind(const Binding<M>& binding) {
    owner_.engine().note_binding();
    return std::exchange(binding_, binding);
  }
  /// Binds it by a carrier that lives as long. Pre: not bound.
  void bind(Carrier<M>& carrier) {
    WARPLINE_EXPECT(!bound(), "a port is bound once");
    binding_.carrier = &carrier;
    owner_.engine().note_binding();
  }
  [[nodiscard]] std::size_t occupancy() const override {
    return binding_.carrier != nullptr ? binding_.carrier->occupancy() : 0;
  }
  [[nodiscard]] Cycle lookahead() const override { return leads_outside() ? 1 : kNever; }
  [[nodiscard]] bool leads_outside() const override {
    return binding_.carrier != nullptr && binding_.carrier->receiver() == nullptr;
  }
  [[nodiscard]] bool is_direct() const override { return binding_.carrier == nullptr; }
  [[nodiscard]] bool receives() const override { return false; }
  /// Restored, it takes the channel for free, whatever it knew of a time that may be later than the restored
  /// one. A receiver that is bound directly then says better, and any other keeps waiting what comes early.
  void archive(StateArchive& a) override {
    if (a.saves()) return;
    free_at_ = 0;
    armed_ = false;
  }
  void in_flight(std::vector<InFlight>& /*rows*/) const override {}  // a carrier lists what it has
  [[nodiscard]] std::string other_side() const override;
  [[nodiscard]] std::string problem() const override {
    return bound() ? std::string{} : path() + ": not bound";
  }

 private:
  template <class N>
  friend void connect(Out<N>& from, In<N>& to, const ChannelParameters& parameters);
  /// The channel is not free: the owner is woken when it is. Returns false.
  [[gnu::noinline]] bool ask_for_wake() {
    if (free_at_ != kNever) {
      owner_.wake(free_at_);
    } else {
      armed_ = true;
    }
    return false;
  }
  [[gnu::noinline]] void send_specially(Cycle now, const M& message) {
    free_at_ = binding_.direct != nullptr ? binding_.direct->begin(now, message)
                                          : binding_.carrier->begin(now, message);
  }
  Binding<M> binding_;
  Cycle free_at_ = 0;
  bool armed_ = false;
};

template <class M>
std::string Out<M>::other_side() const {
  if (binding_.carrier != nullptr) return binding_.carrier->other_side();
  return binding_.direct != nullptr ? binding_.direct->owner().name() : std::string{};
}

}  // namespace warpline
