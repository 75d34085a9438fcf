#pragma once

#include <vector>

#include "rtl_models/tlm/pins/pin_wires.h"

namespace warpline::test {

/// Hardware that sends: whole-sector writes and reads of 32-byte words, one at a time or many in flight.
class RtlMaster final : public sc_core::sc_module {
 public:
  struct Access {
    bool write = false;
    std::uint64_t line = 0;
    unsigned sectors = 1;
    unsigned strobes = 0xFFFFFFFF;        ///< of every beat
    std::vector<PinChannel::Word> words;  ///< four per sector: written, or read
    bool error = false;
    bool answered = false;
  };
  RtlMaster(const sc_core::sc_module_name& name, PinWires& pins, std::vector<Access> list, unsigned in_flight)
      : sc_module(name), accesses(std::move(list)), pins_(pins), in_flight_(in_flight) {
    SC_HAS_PROCESS(RtlMaster);
    SC_METHOD(edge);
    dont_initialize();
    sensitive << pins.request.clock.posedge_event();
  }
  std::vector<Access> accesses;

 private:
  void edge() {
    hear();
    say();
  }
  void hear() {
    PinChannel& r = pins_.response;
    r.ready.write(true);
    if (!r.valid.read() || !r.ready.read()) return;
    Access& a = accesses[r.identifier.read() - 100];
    if (!a.write)
      for (unsigned i = 0; i < 4; ++i) a.words.push_back(r.data[i].read());
    a.error = r.error.read();
    if (!r.last.read()) return;
    a.answered = true;
    --waiting_;
  }
  void say() {
    PinChannel& r = pins_.request;
    if (r.valid.read()) {
      if (!r.ready.read()) return;
      if (r.last.read()) {
        ++next_;
        ++waiting_;
        beat_ = 0;
      } else {
        ++beat_;
      }
    }
    const bool valid = next_ < accesses.size() && (beat_ != 0 || waiting_ < in_flight_);
    r.valid.write(valid);
    if (!valid) return;
    const Access& a = accesses[next_];
    const auto beats = static_cast<unsigned>(__builtin_popcount(a.sectors));
    r.command.write(a.write ? 1 : 0);
    r.address.write(a.line);
    r.sectors.write(a.sectors);
    r.identifier.write(100 + next_);
    r.beat.write(beat_);
    r.last.write(!a.write || beat_ + 1 == beats);
    r.strobes[0].write(a.write ? a.strobes : 0);
    for (unsigned i = 0; a.write && i < 4; ++i) r.data[i].write(a.words[beat_ * 4 + i]);
  }
  PinWires& pins_;
  unsigned in_flight_;
  std::size_t next_ = 0;
  unsigned beat_ = 0;
  unsigned waiting_ = 0;
};

/// Says what it is told on a channel, edge by edge, whatever `ready` is.
class RtlScript final : public sc_core::sc_module {
 public:
  struct Step {
    bool valid = true;
    unsigned command = 0;
    std::uint64_t address = 0;
    unsigned sectors = 1;
    unsigned identifier = 0;
    unsigned beat = 0;
    bool last = true;
    unsigned strobes = 0xFFFFFFFF;
  };
  RtlScript(const sc_core::sc_module_name& name, PinChannel& to, std::vector<Step> steps, unsigned from_edge)
      : sc_module(name), to_(to), steps_(std::move(steps)), from_(from_edge) {
    SC_HAS_PROCESS(RtlScript);
    SC_METHOD(edge);
    dont_initialize();
    sensitive << to.clock.posedge_event();
  }

 private:
  void edge() {
    const unsigned now = now_++;
    const bool says = now >= from_ && now - from_ < steps_.size();
    const Step s = says ? steps_[now - from_] : Step{false, 0, 0, 0, 0, 0, false, 0};
    to_.valid.write(s.valid);
    to_.command.write(s.command);
    to_.address.write(s.address);
    to_.sectors.write(s.sectors);
    to_.identifier.write(s.identifier);
    to_.beat.write(s.beat);
    to_.last.write(s.last);
    to_.strobes[0].write(s.strobes);
  }
  PinChannel& to_;
  std::vector<Step> steps_;
  unsigned from_;
  unsigned now_ = 0;
};

}  // namespace warpline::test
