#include "tests/equivalence/plain_switch.h"

namespace warpline::test {

PlainSwitch::PlainSwitch(Engine& engine, const MeshShape& shape)
    : Component(engine, "switch", domain_of(shape.crossbar_clock)),
      core_(shape.hash, shape.servers),
      down_turns_(shape.servers),
      up_turns_(shape.clients) {
  for (unsigned i = 0; i < shape.clients; ++i) {
    down_in_.push_back(std::make_unique<In<RequestMessage>>(*this, "from_client"));
    up_out_.push_back(std::make_unique<Out<ResponseMessage>>(*this, "to_client"));
  }
  for (unsigned i = 0; i < shape.servers; ++i) {
    down_out_.push_back(std::make_unique<Out<RequestMessage>>(*this, "to_server"));
    up_in_.push_back(std::make_unique<In<ResponseMessage>>(*this, "from_server"));
  }
}

Cycle PlainSwitch::tick(Cycle now) {
  before_grants(down_turns_, up_turns_);
  grant(now, down_in_, down_out_, down_turns_, [this](const Request& r) { return core_.slice_of(r.line); });
  grant(now, up_in_, up_out_, up_turns_, [](const Request& r) { return static_cast<unsigned>(r.id >> 32U); });
  return kNever;
}

template <class M, class F>
void PlainSwitch::grant(Cycle now, Ins<M>& ins, Outs<M>& outs, Turns& turns, F&& wanted) {
  const auto inputs = static_cast<unsigned>(ins.size());
  std::vector<unsigned> wants(inputs, ~0U);  // asked first: what a pop uncovers waits for the next tick
  for (unsigned i = 0; i < inputs; ++i)
    if (ins[i]->ready(now)) wants[i] = wanted(*ins[i]->front().request);
  for (unsigned output = 0; output < outs.size(); ++output) {
    unsigned waiting = 0;
    for (const unsigned want : wants) waiting += want == output;
    if (waiting == 0 || !outs[output]->ready(now)) continue;
    unsigned winner = turns[output];
    while (wants[winner] != output) winner = (winner + 1) % inputs;
    outs[output]->send(now, ins[winner]->pop(now));
    turns[output] = (winner + 1) % inputs;
    if (waiting > 1 && wakes_losers()) static_cast<void>(outs[output]->ready(now));
  }
}

}  // namespace warpline::test
