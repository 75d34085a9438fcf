#pragma once

#include <deque>
#include <vector>

#include "rtl_models/base/state_archive.h"
#include "rtl_models/sim/channel.h"
#include "rtl_models/sm/cta_launch.h"

namespace warpline {

/// Hands the CTAs of a grid to the SMs in linear order (x, then y, then z): one per cycle, to the
/// next SM in turn that has room, or each to the SM that it is meant for. Turns are those of Placement.
///
/// Grids that are queued behind it depend on each other (PTX ISA, "griddepcontrol"): the next one begins when
/// every CTA of the one before has said so or has ended, and the one before that is complete; so two are
/// under way at most. An SM has CTAs of one of them at a time. When the first is complete, SMs perform what
/// it has written, and then those of the second are told.
/// CTAs that have not begun may be cancelled by others of their grid (PTX ISA, "clusterlaunchcontrol"): the
/// next in order, or the next cluster.
/// Of a grid of clusters, a whole cluster per cycle, in linear order of clusters, to the next GPC in turn
/// whose SMs have room for all of its CTAs: each to the next SM of the GPC in turn that has room.
class WorkDistributor final : public Component {
 public:
  /// How the turns of SMs follow each other.
  enum class Placement : std::uint8_t {
    by_tpc,  ///< the first SM of each TPC, and so from GPC to GPC; then the second of each, and so on
    by_gpc,  ///< all SMs of a GPC, then those of the next, of which the largest are first
  };
  WorkDistributor(Engine& engine, std::string name, ClockDomain domain, unsigned sms, GpcShape shape = {},
                  Placement placement = Placement::by_tpc);

  std::deque<Out<CtaLaunch>> to_sm;
  std::deque<In<CtaDone>> from_sm;

  /// Begins a grid; `resident`: CTAs that one SM holds at once. Pre: idle, resident > 0.
  void start(Dim3 grid, unsigned resident);
  /// Begins a grid of clusters of `cluster` CTAs. Pre: the same; the grid's extents are multiples of the
  /// cluster's; most_ctas() says that one fits.
  void start_clusters(Dim3 grid, unsigned resident, Dim3 cluster);
  /// Begins a grid of one CTA for each element of `sms`, which outlives the run: CTA n goes to SM sms[n], in
  /// this order, one per cycle from cycle `first` on. Pre: idle; `first` is in the future; an SM holds all
  /// CTAs that are meant for it. `cluster`: so many in a row are a cluster, and begin in one cycle. Pre: they
  /// go to SMs of one GPC.
  void start_at(const std::vector<unsigned>& sms, Cycle first, unsigned cluster = 1);
  /// Queues a grid that depends on the one that was started or queued last; `cluster`: the CTAs of its
  /// clusters, 1 x 1 x 1 if it has none. Pre: start() was called in this cycle; as of start_clusters().
  void queue(Dim3 grid, unsigned resident, Dim3 cluster = {}) {
    queued_.push_back({grid, resident, cluster});
  }
  /// Has no further CTA begin. The grid ends with those that have.
  void cut_short() {
    total_ = next_;
    queued_.clear();
  }
  /// Has the grid end: no further CTA begins, and those that have are ended. Between cycles.
  void end() {
    end_grid();
    wake(engine().now() + 1);
  }
  Cycle tick(Cycle now) override;
  [[nodiscard]] bool busy() const override {
    return done_ < total_ || !queued_.empty() || !to_tell_.empty() || flushing_ != 0 || !answers_.empty();
  }
  void explain(std::vector<Wait>& waits) const override;
  void visit_gauges(GaugeVisitor& visitor) const override;
  void archive(StateArchive& a) override {
    a(grid_, next_, total_, done_, last_done_);
    if (done_ != total_ || next_ != total_) a.misfit("is of a grid that has not ended");
    a.index(first_, resident_.size()).index(turn_, resident_.size());
  }
  /// Which SM gets the first CTA of a grid.
  void draw_turns(Random& random) override { first_ = static_cast<unsigned>(random.below(resident_.size())); }
  [[nodiscard]] std::uint64_t done() const { return done_; }
  [[nodiscard]] std::uint64_t total() const {
    std::uint64_t all = total_;
    for (const Queued& q : queued_) all += q.grid.count();
    return all;
  }
  /// When a CTA was done last. Pre: done() > 0.
  [[nodiscard]] Cycle last_done() const { return last_done_; }
  /// CTAs that the largest of the GPCs holds at once, of which an SM holds `resident`.
  [[nodiscard]] static std::uint64_t most_ctas(unsigned sms, const GpcShape& shape, unsigned resident);
  /// CTAs that all of them hold at once, in whole clusters of `cluster` CTAs, of which none spans two GPCs;
  /// 1: without clusters.
  [[nodiscard]] static std::uint64_t resident_ctas(unsigned sms, const GpcShape& shape, unsigned resident,
                                                   std::uint64_t cluster);

 private:
  void begin(Dim3 grid, Cycle first);
  void begin_clusters(Dim3 cluster);
  /// Hands out a cluster, if a GPC has room for it. Returns when to look again.
  [[nodiscard]] Cycle hand_out_cluster(Cycle now);
  [[nodiscard]] bool find_room(unsigned gpc, ClusterPlace& place) const;

  void end_grid();
  void take(unsigned sm, const CtaDone& report, Cycle now);
  void end_cta(unsigned sm, bool had_triggered, Cycle now);
  void tell(CtaLaunch::Kind what, bool all);
  void send_told(Cycle now);
  void begin_queued();
  void complete_before();
  void cancel_next(unsigned sm, std::uint32_t ticket);
  void send_answers(Cycle now);
  [[nodiscard]] Dim3 next_cta() const;
  /// CTAs that begin together.
  [[nodiscard]] unsigned together() const { return clustered_ ? static_cast<unsigned>(cluster_.count()) : 1; }
  /// Whether SM `sm`, of which `more` CTAs are taken beside those it has, has room for one of the present
  /// grid.
  [[nodiscard]] bool has_room(unsigned sm, unsigned more = 0) const {
    return resident_[sm] + more < resident_limit_ && (resident_[sm] == 0 || grid_of_[sm] == number_);
  }
  struct Queued {
    Dim3 grid;
    unsigned resident = 0;
    Dim3 cluster;
  };
  /// To a question of an SM.
  struct Answer {
    unsigned sm = 0;
    CtaLaunch message;
  };
  Dim3 grid_;
  std::uint64_t next_ = 0, total_ = 0, done_ = 0;
  unsigned resident_limit_ = 0;
  std::vector<unsigned> order_;    ///< of the SMs, in which they have their turns
  unsigned first_ = 0, turn_ = 0;  ///< places in it
  Cycle starts_ = 0, last_done_ = 0;
  std::vector<unsigned> resident_;
  std::vector<unsigned> to_tell_;  ///< SMs yet to be told `told_`
  CtaLaunch::Kind told_ = CtaLaunch::Kind::end;
  // Of grids that depend on each other.
  std::deque<Queued> queued_;
  std::vector<std::uint32_t> grid_of_;  ///< of the CTAs that each SM has
  std::uint32_t number_ = 0;            ///< of the grid whose CTAs begin
  std::uint64_t first_cta_ = 0;         ///< of that, counted through all of them
  std::uint64_t triggered_ = 0;         ///< CTAs of it that have said that the next may begin, or have ended
  std::uint64_t ended_ = 0;             ///< CTAs of it
  std::uint64_t before_left_ = 0;       ///< CTAs of the grid before it that have not ended
  unsigned flushing_ = 0;               ///< SMs that perform what that has written
  bool complete_before_ = true;         ///< it is complete, and what it has written is there
  const std::vector<unsigned>* places_ = nullptr;  ///< of the CTAs; null: wherever there is room

  // Of a grid of clusters.
  GpcShape shape_;
  std::vector<std::vector<unsigned>> sms_of_;  ///< of each GPC
  Dim3 cluster_;
  bool clustered_ = false;
  unsigned gpc_turn_ = 0;
  std::vector<unsigned> turn_in_;  ///< of each GPC, a place in sms_of_
  std::uint32_t next_number_ = 0;  ///< of a cluster; those of dependent grids go on

  std::deque<Answer> answers_;
};

}  // namespace warpline
