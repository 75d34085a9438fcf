#include "rtl_models/tlm/pins/pin_sampler.h"

#include <algorithm>

#include "rtl_models/tlm/pins/pin_message.h"

namespace warpline {

PinSampler::PinSampler(const sc_core::sc_module_name& name, EngineProcess& engine, PinChannel& channel,
                       Owner& owner)
    : sc_module(name), engine_(engine), channel_(channel), owner_(owner) {
  SC_HAS_PROCESS(PinSampler);
  SC_METHOD(run);
}

void PinSampler::run() {
  if (channel_.clock.posedge()) sample(engine_.cycle_of(sc_core::sc_time_stamp()));
  if (channel_.valid.read() || rise_at_ != kNever) {
    next_trigger(channel_.clock.posedge_event());
  } else {
    next_trigger(channel_.valid.posedge_event() | rise_known_);
  }
}

/// The edge at the start of cycle `now`: what the wires said before it.
void PinSampler::sample(Cycle now) {
  const bool valid = channel_.valid.read(), ready = channel_.ready.read();
  if (held_) {
    held_ = false;
    if (!valid) {
      owner_.protest("valid fell before ready");
    } else if (!(read() == said_)) {
      owner_.protest("the wires changed while valid waited for ready");
    }
  }
  if (valid) {
    const Said said = read();
    if (ready) {
      take(said, now);
    } else {
      held_ = true;
    }
    said_ = said;
  }
  if (rise_at_ <= now) {
    rise_at_ = kNever;
    channel_.domain.release();
    engine_.pins().arrive();
    channel_.ready.write(true);
  }
}

PinSampler::Said PinSampler::read() const {
  return {channel_.command.read(), channel_.address.read() & ~PinChannel::Word{kLineBytes - 1},
          channel_.sectors.read(), channel_.identifier.read(),
          channel_.beat.read(),    channel_.last.read()};
}

void PinSampler::take(const Said& said, Cycle now) {
  if (!dropping_ && beat_ == 0) {
    message_ = {};
    message_.command = static_cast<Command>(said.command);
    message_.line = said.line;
    message_.sectors = static_cast<SectorMask>(said.sectors);
    message_.identifier = said.identifier;
    message_.origin = channel_.origin.read();
    dropping_ = !owner_.admit(message_);
  }
  if (!dropping_) {
    const std::string fault = fault_of(said);
    if (!fault.empty()) owner_.protest(fault);
    dropping_ = !fault.empty();
  }
  if (dropping_) {
    beat_ = 0;
    dropping_ = !said.last;
    return;
  }
  collect();
  if (++beat_ == message_.beats) complete(now);
}

std::string PinSampler::fault_of(const Said& said) const {
  const std::string which = "beat " + std::to_string(beat_) + " of " + std::to_string(message_.beats) +
                            " with identifier " + std::to_string(message_.identifier);
  if (said.beat != beat_) return which + " says that it is beat " + std::to_string(said.beat);
  if (said.last != (beat_ + 1 == message_.beats))
    return which + (said.last ? " is marked as the last" : " is not marked as the last");
  if (said.identifier != message_.identifier)
    return which + " says identifier " + std::to_string(said.identifier);
  return {};
}

void PinSampler::collect() {
  message_.error = channel_.error.read();
  const unsigned width = channel_.parameters.width;
  const unsigned first = beat_ * width;
  const unsigned end = message_.carries ? std::min(first + width, message_.size()) : first;
  const bool strobed = message_.command == Command::write;
  for_each_packed_run(message_.sectors, first, end, [&](unsigned place, unsigned offset, unsigned n) {
    for (unsigned i = 0; i < n; ++i) {
      const unsigned at = place - first + i;
      if (strobed && (channel_.strobes[at / 64].read() >> (at % 64) & 1U) == 0) continue;
      message_.data[offset + i] = static_cast<std::uint8_t>(channel_.data[at / 8].read() >> (at % 8 * 8));
      message_.bytes.set(offset + i, 1);
    }
  });
}

void PinSampler::complete(Cycle now) {
  beat_ = 0;
  const ClockDomain& sender = channel_.domain.domain();
  const std::uint64_t edge = sender.edge_at_or_after(now);
  // Had no beat been late, it would have begun so many edges ago; nobody has seen it meanwhile.
  const Cycle t = sender.cycle_of(edge - std::min<std::uint64_t>(edge, message_.beats));
  const Cycle free = owner_.arrived(t, message_);
  if (free <= now) return;
  channel_.ready.write(false);
  if (free != kNever) free_from(free);
}

Cycle PinSampler::cycle_of_beat() const {
  const ClockDomain& sender = channel_.domain.domain();
  return sender.cycle_of(sender.edge_at_or_after(engine_.cycle_of(sc_core::sc_time_stamp())) - 1);
}

void PinSampler::free_from(Cycle c) {
  rise_at_ = channel_.domain.domain().align(c);
  channel_.domain.hold();
  engine_.pins().depart();
  rise_known_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace warpline
