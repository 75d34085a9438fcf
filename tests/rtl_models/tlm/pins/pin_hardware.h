#pragma once

#include <array>
#include <deque>
#include <vector>

#include "rtl_models/tlm/pins/pin_wires.h"

namespace warpline::test {

/// Registers between two channels of wires, as a designer would write them for any valid/ready bus: one for
/// the beat that is offered, one for the beat that comes in while `ready` is on its way back. Knows no
/// message.
class SkidBuffer final : public sc_core::sc_module {
 public:
  SkidBuffer(const sc_core::sc_module_name& name, PinChannel& from, PinChannel& to)
      : sc_module(name), from_(from), to_(to) {
    SC_HAS_PROCESS(SkidBuffer);
    SC_METHOD(edge);
    dont_initialize();
    sensitive << from.clock.posedge_event();
  }

 private:
  struct Beat {
    PinChannel::Word command = 0, address = 0, sectors = 0, beat = 0, identifier = 0, origin = 0;
    bool last = false, error = false;
    std::array<PinChannel::Word, 16> data{};
    std::array<PinChannel::Word, 2> strobes{};
  };
  void edge() {
    if (to_.valid.read() && to_.ready.read()) beats_.pop_front();
    if (from_.valid.read() && from_.ready.read()) beats_.push_back(take());
    to_.valid.write(!beats_.empty());
    if (!beats_.empty()) put(beats_.front());
    from_.ready.write(beats_.size() < 2);
  }
  [[nodiscard]] Beat take() const {
    Beat b{from_.command.read(),
           from_.address.read(),
           from_.sectors.read(),
           from_.beat.read(),
           from_.identifier.read(),
           from_.origin.read(),
           from_.last.read(),
           from_.error.read(),
           {},
           {}};
    for (std::size_t i = 0; i < from_.data.size(); ++i) b.data[i] = from_.data[i].read();
    for (std::size_t i = 0; i < from_.strobes.size(); ++i) b.strobes[i] = from_.strobes[i].read();
    return b;
  }
  void put(const Beat& b) {
    to_.command.write(b.command);
    to_.address.write(b.address);
    to_.sectors.write(b.sectors);
    to_.beat.write(b.beat);
    to_.identifier.write(b.identifier);
    to_.origin.write(b.origin);
    to_.last.write(b.last);
    to_.error.write(b.error);
    for (std::size_t i = 0; i < to_.data.size(); ++i) to_.data[i].write(b.data[i]);
    for (std::size_t i = 0; i < to_.strobes.size(); ++i) to_.strobes[i].write(b.strobes[i]);
  }
  PinChannel& from_;
  PinChannel& to_;
  std::deque<Beat> beats_;
};

/// A memory of 32-byte words behind wires of that width, with one clock. Answers in the order of requests,
/// after some edges; takes one request at a time, or two. Addresses beyond its size are errors, and so are
/// commands other than 0 and 1.
class RtlMemory final : public sc_core::sc_module {
 public:
  struct Habits {
    unsigned latency = 1;
    unsigned queue = 2;
    unsigned stall_ready = 0;  ///< of 8 edges, as many with `ready` low, within messages too
    unsigned stall_valid = 0;  ///< likewise, with `valid` low between the beats of an answer
  };
  RtlMemory(const sc_core::sc_module_name& name, PinWires& pins, unsigned words, Habits habits,
            std::uint64_t base = 0)
      : sc_module(name), pins_(pins), words_(words), habits_(habits), base_(base) {
    SC_HAS_PROCESS(RtlMemory);
    SC_METHOD(edge);
    dont_initialize();
    sensitive << pins.request.clock.posedge_event();
  }
  using Line = std::array<PinChannel::Word, 4>;  ///< a word of 32 bytes
  Line& word(std::uint64_t address) { return words_[address / 32]; }
  std::vector<PinChannel::Word> commands;  ///< as they came, one per message

 private:
  struct Answer {
    unsigned due = 0;
    PinChannel::Word identifier = 0;
    bool error = false;
    std::vector<std::uint64_t> words;  ///< addresses read
  };
  void edge() {
    ++now_;
    if (pins_.request.valid.read() && pins_.request.ready.read()) take();
    pins_.request.ready.write(answers_.size() < habits_.queue && now_ % 8 >= habits_.stall_ready);
    answer();
  }
  void take() {
    const PinChannel& r = pins_.request;
    const PinChannel::Word command = r.command.read();
    const std::uint64_t address = r.address.read() - base_;
    Answer a;
    a.identifier = r.identifier.read();
    a.due = now_ + habits_.latency;
    a.error = command > 1 || address / 32 >= words_.size();
    if (r.beat.read() == 0) commands.push_back(command);
    if (command == 1 && !a.error) write(word(address));
    if (!r.last.read()) return;
    for (unsigned s = 0; command == 0 && s < 4; ++s)
      if ((r.sectors.read() >> s & 1U) != 0) a.words.push_back(address / 128 * 128 + s * 32);
    answers_.push_back(a);
  }
  void write(Line& w) {
    for (unsigned i = 0; i < 32; ++i) {
      if ((pins_.request.strobes[0].read() >> i & 1U) == 0) continue;
      const PinChannel::Word byte = pins_.request.data[i / 8].read() >> (i % 8 * 8) & 0xFF;
      w[i / 8] = (w[i / 8] & ~(PinChannel::Word{0xFF} << (i % 8 * 8))) | byte << (i % 8 * 8);
    }
  }
  void answer() {
    PinChannel& r = pins_.response;
    if (r.valid.read()) {
      if (!r.ready.read()) return;
      ++beat_;
      if (beat_ >= answers_.front().words.size()) {
        answers_.pop_front();
        beat_ = 0;
      }
    }
    const bool pause = beat_ != 0 && now_ % 8 < habits_.stall_valid;
    const bool valid = !pause && !answers_.empty() && answers_.front().due <= now_;
    r.valid.write(valid);
    if (!valid) return;
    const Answer& a = answers_.front();
    r.identifier.write(a.identifier);
    r.error.write(a.error);
    r.beat.write(beat_);
    r.last.write(beat_ + 1 >= a.words.size());
    for (unsigned i = 0; i < 4; ++i)
      r.data[i].write(a.words.empty() || a.error ? 0 : word(a.words[beat_])[i]);
  }
  PinWires& pins_;
  std::vector<Line> words_;
  Habits habits_;
  std::uint64_t base_;  ///< its first address
  unsigned now_ = 0;
  std::deque<Answer> answers_;
  std::size_t beat_ = 0;
};

}  // namespace warpline::test
