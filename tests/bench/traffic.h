#pragma once

#include <string>
#include <vector>

#include "rtl_models/base/random.h"
#include "rtl_models/sim/channel.h"

namespace warpline::bench {

/// Sends requests for random lines as long as it may, and recycles them: the cheapest requester
/// that keeps a block busy.
class Source final : public Component {
 public:
  Source(Engine& engine, std::string name, std::uint64_t seed, unsigned outstanding, SectorMask sectors,
         bool sequential = false)
      : Component(engine, std::move(name)),
        out(*this, "out"),
        in(*this, "in"),
        random_(seed),
        left_(outstanding),
        sectors_(sectors),
        sequential_(sequential) {
    wake(1);
  }
  Cycle tick(Cycle now) override {
    if (in.ready(now)) {
      idle_.push(in.pop(now).request);
      ++left_;
      ++done;
    }
    if (left_ != 0 && out.ready(now)) {
      Request* r = idle_.empty() ? pool().allocate() : idle_.pop();
      r->command = Command::read;
      r->line = physical(Aperture::vidmem, (sequential_ ? line_++ : random_.below(1U << 20U)) * kLineBytes);
      r->sectors = sectors_;
      --left_;
      out.send(now, RequestMessage{r});
      if (left_ != 0) static_cast<void>(out.ready(now));
    }
    return kNever;
  }
  [[nodiscard]] bool busy() const override { return true; }
  void explain(std::vector<Wait>&) const override {}
  Out<RequestMessage> out;
  In<ResponseMessage> in;
  std::uint64_t done = 0;

 private:
  Random random_;
  RequestList idle_;
  unsigned left_;
  SectorMask sectors_;
  bool sequential_;
  std::uint64_t line_ = 0;
};

/// Answers every request in the next cycle in which it may.
class Sink final : public Component {
 public:
  Sink(Engine& engine, std::string name)
      : Component(engine, std::move(name)), in(*this, "in"), out(*this, "out") {}
  Cycle tick(Cycle now) override {
    if (!due_.empty() && out.ready(now)) out.send(now, ResponseMessage{due_.pop()});
    if (in.ready(now)) due_.push(in.pop(now).request);
    return !due_.empty() && out.ready(now) ? now + 1 : kNever;
  }
  [[nodiscard]] bool busy() const override { return true; }
  void explain(std::vector<Wait>&) const override {}
  In<RequestMessage> in;
  Out<ResponseMessage> out;

 private:
  RequestList due_;
};

}  // namespace warpline::bench
