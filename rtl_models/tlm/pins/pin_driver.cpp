#include "rtl_models/tlm/pins/pin_driver.h"

#include <algorithm>

#include "rtl_models/base/contract.h"
#include "rtl_models/tlm/pins/pin_message.h"

namespace warpline {

PinDriver::PinDriver(const sc_core::sc_module_name& name, EngineProcess& engine, PinChannel& channel,
                     Owner& owner)
    : sc_module(name), engine_(engine), channel_(channel), owner_(owner) {
  SC_HAS_PROCESS(PinDriver);
  SC_METHOD(run);
  SC_METHOD(watch);
  dont_initialize();
  sensitive << channel_.ready.posedge_event();
  SC_METHOD(settle);
  dont_initialize();
  sensitive << settled_;
}

void PinDriver::start(Cycle t, const PinMessage& message) {
  WARPLINE_EXPECT(!sending_ && engine_.tick_of(t) == sc_core::sc_time_stamp(),
                  "pins carry one message at a time, from its own cycle on");
  message_ = message;
  beat_ = 0;
  sending_ = true;
  start_.notify(sc_core::SC_ZERO_TIME);
}

void PinDriver::run() {
  if (driving_ && channel_.ready.read()) {
    ++beat_;
    driving_ = beat_ != message_.beats;
    if (driving_) {
      put();
    } else {
      channel_.valid.write(false);
      sending_ = false;
      asking_ = true;
      owner_.sent();
      watch();
    }
  } else if (sending_ && !driving_) {
    driving_ = true;
    channel_.valid.write(true);
    put();
  }
  next_trigger(driving_ ? channel_.clock.posedge_event() : start_);
}

void PinDriver::put() {
  const unsigned width = channel_.parameters.width;
  channel_.command.write(static_cast<PinChannel::Word>(message_.command));
  channel_.address.write(message_.address(beat_, width));
  channel_.sectors.write(message_.sectors);
  channel_.beat.write(beat_);
  channel_.last.write(beat_ + 1 == message_.beats);
  channel_.identifier.write(message_.identifier);
  channel_.origin.write(message_.origin);
  channel_.error.write(message_.error);
  std::array<PinChannel::Word, kLineBytes / 8> data{};
  std::array<PinChannel::Word, kLineBytes / 64> strobes{};
  const unsigned first = beat_ * width;
  const unsigned end = message_.carries ? std::min(first + width, message_.size()) : first;
  for_each_packed_run(message_.sectors, first, end, [&](unsigned place, unsigned offset, unsigned n) {
    for (unsigned i = 0; i < n; ++i) {
      const unsigned at = place - first + i;
      if (!message_.bytes.test(offset + i)) continue;
      data[at / 8] |= PinChannel::Word{message_.data[offset + i]} << (at % 8 * 8);
      strobes[at / 64] |= PinChannel::Word{1} << (at % 64);
    }
  });
  for (std::size_t i = 0; i < channel_.data.size(); ++i) channel_.data[i].write(data[i]);
  for (std::size_t i = 0; i < channel_.strobes.size(); ++i) channel_.strobes[i].write(strobes[i]);
}

/// `ready` may have risen, or stayed: it counts as it is just before components tick, however many delta
/// cycles it takes to settle.
void PinDriver::watch() {
  if (!asking_) return;
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  const Cycle c = engine_.freed_by_end_at(now);
  settled_.notify(engine_.tick_of(c) - sc_core::sc_get_time_resolution() - now);
}

void PinDriver::settle() {
  if (!asking_ || !channel_.ready.read()) return;
  asking_ = false;
  owner_.free(engine_.cycle_of(sc_core::sc_time_stamp()));
}

}  // namespace warpline
