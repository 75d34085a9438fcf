#include "platform/programs/generators/generator.h"

#include "platform/programs/generators/pattern.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/base/random.h"
#include "rtl_models/sm/instruction_source.h"

namespace warpline {
namespace generators {
namespace {

/// What the sources of all patterns have in common: warps that load a number of times, then end.
class LoadSource : public InstructionSource {
 public:
  LoadSource(std::shared_ptr<Plan> plan, unsigned slots) : plan_(std::move(plan)), warps_(slots) {}

  WarpState state(unsigned slot) const final {
    return warps_[slot].left != 0 ? WarpState::runnable : WarpState::exited;
  }
  const Instruction& next(unsigned slot) final {
    return plan_->instructions[warps_[slot].left % plan_->instructions.size()];
  }
  void complete(unsigned, const Instruction&, const MemoryAccess&, bool) final {}
  void release_barrier(unsigned, std::uint32_t) final {}
  LaneMask live_lanes(unsigned slot) const final { return warps_[slot].left != 0 ? warps_[slot].threads : 0; }
  void kill(unsigned slot) final { warps_[slot].left = 0; }
  std::string where(const Instruction& instruction) const final {
    return plan_->info.name + " generator, load " + std::to_string(instruction.pc);
  }

 protected:
  struct Warp {
    std::uint64_t left = 0;  ///< loads still to make
    LaneMask threads = 0;
    std::uint64_t at = 0;  ///< where the pattern stands; its meaning is the pattern's
    std::uint64_t seed = 0;
  };
  [[nodiscard]] std::uint64_t number(Dim3 cta, unsigned warp_in_cta) const {
    return cta.number_in(plan_->info.grid) * plan_->info.warps_per_cta() + warp_in_cta;
  }
  static void issue_lanes(Issue& issue, LaneMask lanes) {
    issue.active = lanes;
    issue.access->active = lanes;
  }

  std::shared_ptr<Plan> plan_;
  std::vector<Warp> warps_;
};

/// stream, strided and reuse: every access is a run of lanes a fixed distance apart.
class SweepSource final : public LoadSource {
 public:
  SweepSource(std::shared_ptr<Plan> plan, unsigned slots)
      : LoadSource(std::move(plan), slots),
        own_(plan_->parameters.kind == "reuse"),
        stride_(static_cast<std::int64_t>(plan_->unit / kWarpLanes)),
        size_(plan_->units * plan_->unit),
        step_((own_ ? 1 : plan_->warps % plan_->units) * plan_->unit) {}

  void begin_warp(unsigned slot, Dim3 cta, unsigned warp_in_cta, LaneMask threads) override {
    const std::uint64_t w = number(cta, warp_in_cta);
    warps_[slot] = {plan_->share(w), threads, own_ ? 0 : w % plan_->units * plan_->unit, 0};
  }
  void execute(unsigned slot, Issue& issue) override {
    Warp& w = warps_[slot];
    issue_lanes(issue, w.threads);
    issue.access->form = AddressForm::strided;
    issue.access->base = plan_->parameters.base + w.at;
    issue.access->stride = stride_;
    w.at += step_;
    if (w.at >= size_) w.at -= size_;
    --w.left;
  }

 private:
  bool own_;  ///< every warp sweeps alone
  std::int64_t stride_;
  std::uint64_t size_;  ///< of a sweep
  std::uint64_t step_;  ///< from one access of a warp to its next, at most size_
};

/// random: lanes at random words.
class RandomSource final : public LoadSource {
 public:
  RandomSource(std::shared_ptr<Plan> plan, unsigned slots)
      : LoadSource(std::move(plan), slots), words_(plan_->parameters.footprint / kWord) {}

  void begin_warp(unsigned slot, Dim3 cta, unsigned warp_in_cta, LaneMask threads) override {
    const std::uint64_t w = number(cta, warp_in_cta);
    warps_[slot] = {plan_->share(w), threads, 0, splitmix64(splitmix64(plan_->parameters.seed) ^ w)};
  }
  void execute(unsigned slot, Issue& issue) override {
    Warp& w = warps_[slot];
    issue_lanes(issue, w.threads);
    issue.access->form = AddressForm::per_lane;
    const std::uint64_t first = w.seed + w.at * kWarpLanes;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
      issue.access->address[lane] = plan_->parameters.base + word(splitmix64(first + lane)) * kWord;
    ++w.at;
    --w.left;
  }

 private:
  /// One of the words, by a random number; a multiplication where 64 bits hold it.
  [[nodiscard]] std::uint64_t word(std::uint64_t random) const {
    return words_ >> 32U == 0 ? (random >> 32U) * words_ >> 32U : random % words_;
  }
  std::uint64_t words_;
};

/// chase: one lane after pointers that are worked out here, since a generator carries no data.
class ChaseSource final : public LoadSource {
 public:
  using LoadSource::LoadSource;

  void begin_warp(unsigned slot, Dim3 cta, unsigned warp_in_cta, LaneMask) override {
    const bool first = number(cta, warp_in_cta) == 0;
    if (first) plan_->make_cycle();
    warps_[slot] = {first ? plan_->accesses : 0, 1, 0, 0};
  }
  void execute(unsigned slot, Issue& issue) override {
    Warp& w = warps_[slot];
    issue_lanes(issue, 1);
    issue.access->form = AddressForm::strided;
    issue.access->base = plan_->parameters.base + w.at * plan_->unit;
    issue.access->stride = 0;
    w.at = plan_->next_node[w.at];
    --w.left;
  }
};

class GeneratorKernel final : public Kernel {
 public:
  explicit GeneratorKernel(const GeneratorParameters& parameters)
      : plan_(std::make_shared<Plan>(make_plan(parameters))) {}
  const KernelInfo& info() const override { return plan_->info; }
  std::unique_ptr<InstructionSource> make_source(const SmSite& site) override {
    const std::string& kind = plan_->parameters.kind;
    if (kind == "random") return std::make_unique<RandomSource>(plan_, site.slots);
    if (kind == "chase") return std::make_unique<ChaseSource>(plan_, site.slots);
    return std::make_unique<SweepSource>(plan_, site.slots);
  }

 private:
  std::shared_ptr<Plan> plan_;
};

}  // namespace
}  // namespace generators

std::unique_ptr<Kernel> make_generator(const GeneratorParameters& parameters) {
  WARPLINE_EXPECT(parameters.problems("generator").empty(), "the parameters hold no fault");
  return std::make_unique<generators::GeneratorKernel>(parameters);
}

}  // namespace warpline
