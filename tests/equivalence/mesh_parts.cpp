#include "tests/equivalence/mesh_parts.h"

namespace warpline::test {
namespace {

class CrossbarSwitch final : public Switch {
 public:
  CrossbarSwitch(Engine& engine, const MeshShape& s)
      : crossbar_(engine, "crossbar", domain_of(s.crossbar_clock), s.hash, s.clients, s.servers,
                  {s.lower.front().request.width, s.upper.back().response.width}) {}
  In<RequestMessage>& from_client(unsigned i) override { return crossbar_.from_client(i); }
  Out<ResponseMessage>& to_client(unsigned i) override { return crossbar_.to_client(i); }
  Out<RequestMessage>& to_server(unsigned i) override { return crossbar_.to_l2(i); }
  In<ResponseMessage>& from_server(unsigned i) override { return crossbar_.from_l2(i); }

 private:
  Crossbar crossbar_;
};

}  // namespace

Cycle Relay::tick(Cycle now) {
  Cycle next = kNever;
  if (from_above.ready(now)) {
    if (now < takes_from_) {
      next = takes_from_;
    } else if (to_below.ready(now)) {
      to_below.send(now, from_above.pop(now));
      takes_from_ = now + gap_;
    }
  }
  if (from_below.ready(now) && to_above.ready(now)) to_above.send(now, from_below.pop(now));
  return next;
}

Cycle Server::tick(Cycle now) {
  if (!held_.empty() && held_.front().due <= now && out.ready(now)) {
    out.send(now, ResponseMessage{held_.front().request});
    held_.pop_front();
  }
  Cycle next = kNever;
  if (in.ready(now) && held_.size() < capacity_) {
    if (now < takes_from_) {
      next = takes_from_;
    } else {
      Request* r = in.pop(now).request;
      held_.push_back({r, now + 1 + random_.below(longest_delay_)});
      takes_from_ = now + gap_;
    }
  }
  if (held_.empty()) return next;
  if (held_.front().due > now) return std::min(next, held_.front().due);
  static_cast<void>(out.ready(now));
  return next;
}

std::unique_ptr<Switch> MeshParts::make_switch(Engine& engine, const MeshShape& shape) {
  return std::make_unique<CrossbarSwitch>(engine, shape);
}

std::unique_ptr<Server> MeshParts::make_server(Engine& engine, const MeshShape& shape, unsigned i) {
  return std::make_unique<Server>(engine, "server", shape, shape.server_seed + i);
}

}  // namespace warpline::test
