#include "tests/equivalence/naive_channel.h"

namespace warpline::test {

unsigned NaiveChannel::beats_of(const NaiveMessage& message) const {
  const unsigned bytes = way_ == Way::request ? message.request_bytes : message.response_bytes;
  unsigned beats = 1;
  while (beats * parameters_.width < bytes) ++beats;
  return beats;
}

void NaiveChannel::put_beat(Cycle c) {
  log_.back().beats.push_back(c);
  if (--beats_left_ == 0) flying_.push_back({on_wire_, parameters_.latency});
}

void NaiveChannel::settle(Cycle c, bool sender_edge) {
  std::vector<unsigned> still;
  for (const unsigned cycles : credits_on_their_way_) {
    if (cycles == 1) {
      ++credits_;
    } else {
      still.push_back(cycles - 1);
    }
  }
  credits_on_their_way_ = still;
  if (sender_edge) {
    for (Flying& f : flying_) --f.edges_left;
    while (!flying_.empty() && flying_.front().edges_left == 0) {
      queue_.push_back(flying_.front().message);
      flying_.pop_front();
      log_[arrived_++].arrived = c;
    }
    if (wire_taken_ && beats_left_ == 0) wire_taken_ = false;
    if (wire_taken_) put_beat(c);
  }
  if (!log_.empty() && log_.back().end == kNever && can_send()) log_.back().end = c;
}

void NaiveChannel::send(Cycle c, const NaiveMessage& message) {
  --credits_;
  log_.emplace_back().id = message.id;
  wire_taken_ = true;
  on_wire_ = message;
  beats_left_ = beats_of(message);
  put_beat(c);
}

NaiveMessage NaiveChannel::pop(Cycle c) {
  const NaiveMessage message = queue_.front();
  queue_.pop_front();
  log_[popped_++].popped = c;
  credits_on_their_way_.push_back(parameters_.credit_latency);
  return message;
}

}  // namespace warpline::test
