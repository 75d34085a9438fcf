#include "rtl_models/sm/work_distributor.h"

#include <algorithm>

#include "rtl_models/base/contract.h"
#include "rtl_models/sim/gauge_visitor.h"

namespace warpline {

WorkDistributor::WorkDistributor(Engine& engine, std::string name, ClockDomain domain, unsigned sms,
                                 GpcShape shape, Placement placement)
    : Component(engine, std::move(name), domain),
      resident_(sms, 0),
      grid_of_(sms, 0),
      shape_(shape),
      sms_of_(shape.gpcs),
      turn_in_(shape.gpcs, 0) {
  for (unsigned i = 0; i < sms; ++i) {
    sms_of_[shape_.gpc_of(i)].push_back(i);
    to_sm.emplace_back(*this, "to_sm[" + std::to_string(i) + "]");
    from_sm.emplace_back(*this, "from_sm[" + std::to_string(i) + "]");
  }
  if (placement == Placement::by_gpc) {
    std::vector<const std::vector<unsigned>*> gpcs;
    for (const std::vector<unsigned>& of_gpc : sms_of_) gpcs.push_back(&of_gpc);
    std::stable_sort(gpcs.begin(), gpcs.end(),
                     [](const auto* a, const auto* b) { return a->size() > b->size(); });
    for (const std::vector<unsigned>* of_gpc : gpcs)
      order_.insert(order_.end(), of_gpc->begin(), of_gpc->end());
  } else {
    for (unsigned first = 0; first < shape_.sms_per_tpc; ++first)
      for (unsigned i = first; i < sms; i += shape_.sms_per_tpc) order_.push_back(i);
  }
}

void WorkDistributor::start(Dim3 grid, unsigned resident) {
  WARPLINE_EXPECT(!busy() && resident > 0, "a grid starts on an idle distributor, and a CTA fits on an SM");
  resident_limit_ = resident;
  places_ = nullptr;
  begin(grid, engine().now() + 1);
}

void WorkDistributor::start_clusters(Dim3 grid, unsigned resident, Dim3 cluster) {
  start(grid, resident);
  begin_clusters(cluster);
}

void WorkDistributor::begin_clusters(Dim3 cluster) {
  cluster_ = cluster;
  clustered_ = true;
}

std::uint64_t WorkDistributor::most_ctas(unsigned sms, const GpcShape& shape, unsigned resident) {
  std::vector<unsigned> count(shape.gpcs, 0);
  for (unsigned i = 0; i < sms; ++i) ++count[shape.gpc_of(i)];
  return std::uint64_t{*std::max_element(count.begin(), count.end())} * resident;
}

std::uint64_t WorkDistributor::resident_ctas(unsigned sms, const GpcShape& shape, unsigned resident,
                                             std::uint64_t cluster) {
  std::vector<unsigned> count(shape.gpcs, 0);
  for (unsigned i = 0; i < sms; ++i) ++count[shape.gpc_of(i)];
  std::uint64_t all = 0;
  for (const unsigned n : count) all += std::uint64_t{n} * resident / cluster * cluster;
  return all;
}

void WorkDistributor::start_at(const std::vector<unsigned>& sms, Cycle first, unsigned cluster) {
  WARPLINE_EXPECT(!busy(), "a grid starts on an idle distributor");
  resident_limit_ = ~0U;
  places_ = &sms;
  begin({static_cast<std::uint32_t>(sms.size()), 1, 1}, first);
  if (cluster > 1) begin_clusters({cluster, 1, 1});
}

void WorkDistributor::begin(Dim3 grid, Cycle first) {
  grid_ = grid;
  clustered_ = false;
  gpc_turn_ = shape_.gpc_of(order_[first_]);
  std::fill(turn_in_.begin(), turn_in_.end(), 0);
  next_number_ = 0;
  answers_.clear();
  next_ = done_ = first_cta_ = triggered_ = ended_ = before_left_ = 0;
  number_ = 0;
  complete_before_ = true;
  flushing_ = 0;
  queued_.clear();
  to_tell_.clear();
  std::fill(grid_of_.begin(), grid_of_.end(), 0);
  total_ = grid.count();
  turn_ = first_;
  starts_ = first;
  wake(first);
}

/// No further CTA begins, and SMs are to end those that have.
void WorkDistributor::end_grid() {
  cut_short();
  flushing_ = 0;
  tell(CtaLaunch::Kind::end, false);
}

/// SMs are told something: all, or those that have CTAs.
void WorkDistributor::tell(CtaLaunch::Kind what, bool all) {
  told_ = what;
  to_tell_.clear();
  for (unsigned i = 0; i < resident_.size(); ++i)
    if (all || resident_[i] != 0) to_tell_.push_back(i);
}

void WorkDistributor::send_told(Cycle now) {
  const auto told = [this, now](unsigned sm) {
    if (!to_sm[sm].ready(now)) return false;
    CtaLaunch message;
    message.kind = told_;
    to_sm[sm].send(now, message);
    return true;
  };
  to_tell_.erase(std::remove_if(to_tell_.begin(), to_tell_.end(), told), to_tell_.end());
}

void WorkDistributor::take(unsigned sm, const CtaDone& report, Cycle now) {
  switch (report.kind) {
    case CtaDone::Kind::ended: return end_cta(sm, report.had_triggered, now);
    case CtaDone::Kind::ends_grid: return end_grid();
    case CtaDone::Kind::triggered:
      if (grid_of_[sm] == number_) ++triggered_;
      return;
    case CtaDone::Kind::cancel: return cancel_next(sm, report.ticket);
    case CtaDone::Kind::flushed:
      if (flushing_ == 0 || --flushing_ != 0) return;
      complete_before_ = true;
      tell(CtaLaunch::Kind::release, false);
      return;
  }
}

void WorkDistributor::end_cta(unsigned sm, bool had_triggered, Cycle now) {
  --resident_[sm];
  ++done_;
  last_done_ = now;
  if (grid_of_[sm] == number_) {
    ++ended_;
    triggered_ += had_triggered ? 0 : 1;
  } else if (--before_left_ == 0) {
    complete_before();
  }
}

/// All CTAs of the grid before have ended: what they have written goes to L2.
void WorkDistributor::complete_before() {
  flushing_ = static_cast<unsigned>(resident_.size());
  tell(CtaLaunch::Kind::flush, true);
}

/// The next grid begins.
void WorkDistributor::begin_queued() {
  before_left_ = total_ - first_cta_ - ended_;
  complete_before_ = false;
  const Queued next = queued_.front();
  queued_.pop_front();
  cluster_ = next.cluster;
  clustered_ = next.cluster.count() > 1;
  grid_ = next.grid;
  resident_limit_ = next.resident;
  ++number_;
  first_cta_ = next_;
  total_ += next.grid.count();
  triggered_ = ended_ = 0;
  if (before_left_ == 0) complete_before();
}

Cycle WorkDistributor::tick(Cycle now) {
  for (std::size_t i = 0; i < from_sm.size(); ++i)
    if (from_sm[i].ready(now)) take(static_cast<unsigned>(i), from_sm[i].pop(now), now);
  if (!to_tell_.empty()) send_told(now);
  if (!answers_.empty()) send_answers(now);
  if (!queued_.empty() && next_ == total_ && triggered_ == total_ - first_cta_ && complete_before_ &&
      to_tell_.empty()) {
    begin_queued();
    return domain().after(now, 1);
  }
  if (next_ >= total_) return kNever;
  if (now < starts_) return starts_;
  if (clustered_) return hand_out_cluster(now);
  const auto sms = static_cast<unsigned>(resident_.size());
  for (unsigned k = 0; k < (places_ != nullptr ? 1 : sms); ++k) {
    const unsigned turn = (turn_ + k) % sms;
    const unsigned sm = places_ != nullptr ? (*places_)[next_] : order_[turn];
    if (!has_room(sm) || !to_sm[sm].ready(now)) continue;
    CtaLaunch launch;
    launch.cta = next_cta();
    launch.grid = number_;
    launch.released = complete_before_;
    to_sm[sm].send(now, launch);
    ++resident_[sm];
    grid_of_[sm] = number_;
    turn_ = (turn + 1) % sms;
    ++next_;
    // The next grid begins in a tick of its own.
    return next_ < total_ || !queued_.empty() ? domain().after(now, 1) : kNever;
  }
  return kNever;
}

/// The CTA that begins next, of a cluster the first.
Dim3 WorkDistributor::next_cta() const {
  const Dim3 size = clustered_ ? cluster_ : Dim3{};
  const std::uint64_t number = (next_ - first_cta_) / together();
  const std::uint32_t across = grid_.x / size.x, down = grid_.y / size.y;
  return {static_cast<std::uint32_t>(number % across) * size.x,
          static_cast<std::uint32_t>(number / across % down) * size.y,
          static_cast<std::uint32_t>(number / across / down) * size.z};
}

/// The next CTA, or cluster, of the grid that `sm` has CTAs of counts as done, if there is one.
void WorkDistributor::cancel_next(unsigned sm, std::uint32_t ticket) {
  Answer& answer = answers_.emplace_back();
  answer.sm = sm;
  answer.message.kind = CtaLaunch::Kind::answer;
  answer.message.ticket = ticket;
  if (grid_of_[sm] != number_ || next_ == total_ || places_ != nullptr) return;
  answer.message.cancelled = true;
  answer.message.cta = next_cta();
  const unsigned ctas = together();
  next_ += ctas;
  done_ += ctas;
  ended_ += ctas;
  triggered_ += ctas;
}

void WorkDistributor::send_answers(Cycle now) {
  const auto sent = [this, now](const Answer& a) {
    if (!to_sm[a.sm].ready(now)) return false;
    to_sm[a.sm].send(now, a.message);
    return true;
  };
  answers_.erase(std::remove_if(answers_.begin(), answers_.end(), sent), answers_.end());
}

bool WorkDistributor::find_room(unsigned gpc, ClusterPlace& place) const {
  const std::vector<unsigned>& sms = sms_of_[gpc];
  std::vector<unsigned> taken(sms.size(), 0);
  unsigned rank = 0;
  for (std::size_t passed = 0, at = turn_in_[gpc]; rank < place.ctas && passed < sms.size();
       at = (at + 1) % sms.size()) {
    if (!has_room(sms[at], taken[at])) {
      ++passed;
      continue;
    }
    passed = 0;
    ++taken[at];
    place.sms.at(rank++) = static_cast<std::uint16_t>(sms[at]);
  }
  return rank == place.ctas;
}

Cycle WorkDistributor::hand_out_cluster(Cycle now) {
  const unsigned gpcs = shape_.gpcs;
  const auto size = static_cast<unsigned>(cluster_.count());
  for (unsigned k = 0; k < gpcs; ++k) {
    const unsigned gpc = places_ != nullptr ? shape_.gpc_of((*places_)[next_]) : (gpc_turn_ + k) % gpcs;
    CtaLaunch launch;
    launch.grid = number_;
    launch.released = complete_before_;
    launch.place.ctas = static_cast<std::uint8_t>(size);
    if (places_ != nullptr) {
      for (unsigned rank = 0; rank < size; ++rank)
        launch.place.sms.at(rank) = static_cast<std::uint16_t>((*places_)[next_ + rank]);
    } else if (!find_room(gpc, launch.place)) {
      continue;
    }
    const auto begin = launch.place.sms.begin(), end = begin + size;
    // All begin in one cycle. Each that is not ready asks for the wake.
    bool ready = true;
    for (auto sm = begin; sm != end; ++sm) ready = to_sm[*sm].ready(now) && ready;
    if (!ready) continue;
    launch.place.number = next_number_++ % ClusterAddress::kClusters;
    launch.cta = next_cta();
    for (auto sm = begin; sm != end; ++sm) {
      ++resident_[*sm];
      grid_of_[*sm] = number_;
      if (std::find(begin, sm, *sm) != sm) continue;
      launch.ranks = 0;
      for (auto other = sm; other != end; ++other)
        if (*other == *sm) launch.ranks |= 1U << (other - begin);
      to_sm[*sm].send(now, launch);
    }
    const std::vector<unsigned>& sms = sms_of_[gpc];
    const auto last = std::find(sms.begin(), sms.end(), *(end - 1)) - sms.begin();
    turn_in_[gpc] = static_cast<unsigned>((static_cast<std::size_t>(last) + 1) % sms.size());
    gpc_turn_ = (gpc + 1) % gpcs;
    next_ += size;
    return next_ < total_ || !queued_.empty() ? domain().after(now, 1) : kNever;
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
