#include "rtl_models/sm/work_distributor.h"

#include "rtl_models/base/contract.h"
#include "rtl_models/sim/gauge_visitor.h"

namespace warpline {

WorkDistributor::WorkDistributor(Engine& engine, std::string name, ClockDomain domain, unsigned sms)
    : Component(engine, std::move(name), domain), resident_(sms, 0) {
  for (unsigned i = 0; i < sms; ++i) {
    to_sm.emplace_back(*this, "to_sm[" + std::to_string(i) + "]");
    from_sm.emplace_back(*this, "from_sm[" + std::to_string(i) + "]");
  }
}

void WorkDistributor::start(Dim3 grid, unsigned resident) {
  WARPLINE_EXPECT(!busy() && resident > 0, "a grid starts on an idle distributor, and a CTA fits on an SM");
  resident_limit_ = resident;
  places_ = nullptr;
  begin(grid, engine().now() + 1);
}

void WorkDistributor::start_at(const std::vector<unsigned>& sms, Cycle first) {
  WARPLINE_EXPECT(!busy(), "a grid starts on an idle distributor");
  resident_limit_ = ~0U;
  places_ = &sms;
  begin({static_cast<std::uint32_t>(sms.size()), 1, 1}, first);
}

void WorkDistributor::begin(Dim3 grid, Cycle first) {
  grid_ = grid;
  next_ = done_ = 0;
  total_ = grid.count();
  turn_ = first_;
  starts_ = first;
  wake(first);
}

Cycle WorkDistributor::tick(Cycle now) {
  for (std::size_t i = 0; i < from_sm.size(); ++i) {
    if (!from_sm[i].ready(now)) continue;
    from_sm[i].pop(now);
    --resident_[i];
    ++done_;
    last_done_ = now;
  }
  if (next_ >= total_) return kNever;
  if (now < starts_) return starts_;
  const auto sms = static_cast<unsigned>(resident_.size());
  if (places_ != nullptr) turn_ = (*places_)[next_];
  for (unsigned k = 0; k < (places_ != nullptr ? 1 : sms); ++k) {
    const unsigned sm = (turn_ + k) % sms;
    if (resident_[sm] >= resident_limit_ || !to_sm[sm].ready(now)) continue;
    CtaLaunch launch;
    launch.cta.x = static_cast<std::uint32_t>(next_ % grid_.x);
    launch.cta.y = static_cast<std::uint32_t>(next_ / grid_.x % grid_.y);
    launch.cta.z = static_cast<std::uint32_t>(next_ / grid_.x / grid_.y);
    to_sm[sm].send(now, launch);
    ++resident_[sm];
    turn_ = (sm + 1) % sms;
    ++next_;
    return next_ < total_ ? domain().after(now, 1) : kNever;
  }
  return kNever;
}

void WorkDistributor::visit_gauges(GaugeVisitor& visitor) const {
  visitor.gauge("ctas_waiting", total_ - next_, kUnlimitedGauge, "CTAs of the grid not yet given to an SM");
  visitor.gauge("ctas_running", next_ - done_, kUnlimitedGauge, "CTAs given to an SM and not yet done");
}

void WorkDistributor::explain(std::vector<Wait>& waits) const {
  if (!busy()) return;
  std::vector<std::string> on;
  for (std::size_t i = 0; i < resident_.size(); ++i)
    if (resident_[i] != 0) on.push_back(to_sm[i].other_side());
  waits.push_back(
      {name(), std::to_string(total_ - done_) + " of " + std::to_string(total_) + " CTAs to finish", on});
}

}  // namespace warpline
