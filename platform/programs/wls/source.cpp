#include "platform/programs/wls/source.h"

#include "platform/programs/wls/warp.h"

namespace warpline::wls {
namespace {

class WlsSource final : public InstructionSource {
 public:
  WlsSource(const LaunchedProgram& launch, unsigned sm, unsigned slots)
      : launch_(launch), program_(*launch.program), sm_(sm), warps_(slots) {}

  void begin_warp(unsigned slot, Dim3 cta, unsigned warp_in_cta, LaneMask threads) override {
    std::unique_ptr<Warp>& warp = warps_[slot];
    if (warp == nullptr) warp = std::make_unique<Warp>(program_, launch_.ops);
    warp->begin({cta, launch_.info.grid, launch_.info.block, warp_in_cta, sm_}, threads);
  }
  WarpState state(unsigned slot) const override {
    return warps_[slot] == nullptr ? WarpState::exited : warps_[slot]->state();
  }
  const Instruction& next(unsigned slot) override { return program_.instructions[warps_[slot]->pc()]; }
  void execute(unsigned slot, Issue& issue) override {
    Warp& warp = *warps_[slot];
    const LaneMask before = warp.alive();
    warp.execute(issue);
    if (warp.alive() != before) keep_registers(warp, before & ~warp.alive());
  }
  void complete(unsigned slot, const Instruction& instruction, const MemoryAccess& access,
                bool with_data) override {
    if (!with_data || instruction.mem.kind != MemKind::load) return;
    warps_[slot]->finish_load(launch_.ops[instruction.pc >> kPcShift], instruction.mem, access);
  }
  void release_barrier(unsigned slot, std::uint32_t id) override {
    if (warps_[slot] != nullptr) warps_[slot]->release(id);
  }
  LaneMask live_lanes(unsigned slot) const override {
    return warps_[slot] == nullptr ? 0 : warps_[slot]->alive();
  }
  void kill(unsigned slot) override {
    if (warps_[slot] != nullptr) warps_[slot]->kill();
  }
  std::string where(const Instruction& instruction) const override {
    const std::uint32_t at = instruction.pc >> kPcShift;
    return at < program_.lines.size() ? program_.file + ":" + std::to_string(program_.lines[at])
                                      : program_.file;
  }

 private:
  /// Only the SM that has the first CTA does this, so that SMs share nothing here.
  void keep_registers(const Warp& warp, LaneMask lanes) {
    const WarpIdentity& who = warp.who();
    Inspection& inspection = *launch_.inspection;
    if (!(who.cta == Dim3{0, 0, 0}) || inspection.registers.empty()) return;
    for_each_lane(lanes, [&](unsigned lane) {
      const std::size_t first = std::size_t{who.warp * kWarpLanes + lane} * inspection.registers.size();
      for (std::size_t k = 0; k < inspection.registers.size(); ++k)
        inspection.left[first + k] = warp.value(inspection.registers[k], lane);
    });
  }

  const LaunchedProgram& launch_;
  const Program& program_;
  unsigned sm_;
  std::vector<std::unique_ptr<Warp>> warps_;  ///< of each slot, made when it is first used
};

}  // namespace

std::unique_ptr<InstructionSource> make_source(const LaunchedProgram& launch, unsigned sm, unsigned slots) {
  return std::make_unique<WlsSource>(launch, sm, slots);
}

}  // namespace warpline::wls
