#include "tests/programs/random_run.h"

#include "platform/machine/netlist_backend.h"

namespace warpline::test {

Play::Play(const Program& program, const Contents& start, const GpuConfig& config, const std::string& ptx,
           std::shared_ptr<NetlistBackend> backend, std::optional<std::uint64_t> jitter)
    : program_(program), start_(start), bench_(config, ptx, std::move(backend), 500'000'000, jitter) {
  const unsigned owners = program.threads_in_all();
  const std::size_t grids = program.grids.size();
  for (unsigned a = 0; a < kGlobalAreas; ++a) {
    std::vector<std::uint8_t> bytes(start.slices[a].size());
    for (unsigned i = 0; i < bytes.size(); ++i)
      bytes[place(static_cast<Area>(a), i / kSlice, i % kSlice, owners)] = start.slices[a][i];
    at_.push_back(bench_.put(bytes, a < 2 ? Aperture::vidmem : Aperture::sysmem));
  }
  at_.push_back(bench_.put(start.counters[0]));
  at_.push_back(bench_.put(start.counters[1], Aperture::sysmem));
  at_.push_back(bench_.put(start.table));
  at_.push_back(bench_.put(std::vector<std::uint64_t>(grids * owners * kRegisters)));
  at_.push_back(bench_.put(std::vector<std::uint64_t>(grids * program.grids[0].ctas * kCounters)));
  at_.push_back(0);
  const std::uint64_t constants = ConstantBanks::address(ConstantBanks::kModuleBank, 0);
  bench_.module().place("ctable", constants);
  bench_.platform().write_constant(constants, start.constants.data(), start.constants.size());
}

void Play::load() {
  const std::vector<std::uint8_t> blob(start_.constants.begin(), start_.constants.begin() + kSlice);
  for (std::size_t g = 0; g < program_.grids.size(); ++g) {
    const Grid& grid = program_.grids[g];
    bench_.platform().load(
        bench_.make_kernel("g" + std::to_string(g), grid.ctas, grid.threads, at_, blob)->info());
  }
}

void Play::refill() {
  const unsigned owners = program_.threads_in_all();
  const std::size_t grids = program_.grids.size();
  const auto write = [this](std::uint64_t at, const auto& values) {
    bench_.platform().write(at, values.data(), values.size() * sizeof values[0]);
  };
  for (unsigned a = 0; a < kGlobalAreas; ++a) {
    std::vector<std::uint8_t> bytes(start_.slices[a].size());
    for (unsigned i = 0; i < bytes.size(); ++i)
      bytes[place(static_cast<Area>(a), i / kSlice, i % kSlice, owners)] = start_.slices[a][i];
    write(at_[a], bytes);
  }
  write(at_[4], start_.counters[0]);
  write(at_[5], start_.counters[1]);
  write(at_[7], std::vector<std::uint64_t>(grids * owners * kRegisters));
  write(at_[8], std::vector<std::uint64_t>(grids * program_.grids[0].ctas * kCounters));
}

Outcome Play::run(Cycle pace, Timing timing) {
  Outcome out;
  if (pace != 0) bench_.watch_in_flight(pace, out.complaints);
  run_grids(0, program_.grids.size(), out, timing);
  conclude(out);
  return out;
}

void Play::run_grids(std::size_t first, std::size_t end, Outcome& out, Timing timing) {
  GpuPlatform& platform = bench_.platform();
  platform.set_functional(timing == Timing::functional);
  platform.set_loose(timing == Timing::loose || timing == Timing::functional);
  const std::vector<std::uint8_t> blob(start_.constants.begin(), start_.constants.begin() + kSlice);
  for (std::size_t g = first; g < end; ++g) {
    const Grid& grid = program_.grids[g];
    if (timing == Timing::alternating) platform.set_loose(g % 2 == 0);
    if (timing == Timing::all_in_turn) {
      platform.set_functional(g % 3 == 1);
      platform.set_loose(g % 3 != 0);
    }
    const LaunchResult r = bench_.launch("g" + std::to_string(g), grid.ctas, grid.threads, at_, true, blob);
    out.cycles.push_back(r.cycles);
    if (r.outcome != RunOutcome::quiescent) {
      out.complaints.push_back("grid " + std::to_string(g) + " did not end");
      for (const Wait& w : r.standstill.waits) out.complaints.push_back(w.who + " waits for " + w.what);
      return;
    }
    for (const std::string& s : bench_.platform().unreconciled()) out.complaints.push_back(s);
  }
}

void Play::conclude(Outcome& out) {
  for (const FaultRecord& f : bench_.platform().faults()) out.complaints.push_back(f.kind + " at " + f.where);
  if (out.complaints.empty()) read_back(out);
}

void Play::read_back(Outcome& out) {
  const unsigned owners = program_.threads_in_all();
  const std::size_t grids = program_.grids.size();
  for (unsigned a = 0; a < kGlobalAreas; ++a) {
    const auto bytes = bench_.get<std::uint8_t>(at_[a], start_.slices[a].size());
    out.contents.slices[a].resize(bytes.size());
    for (unsigned i = 0; i < bytes.size(); ++i)
      out.contents.slices[a][i] = bytes[place(static_cast<Area>(a), i / kSlice, i % kSlice, owners)];
  }
  for (unsigned i = 0; i < 2; ++i)
    out.contents.counters[i] = bench_.get<std::uint64_t>(at_[4 + i], kCounters);
  out.contents.registers = bench_.get<std::uint64_t>(at_[7], grids * owners * kRegisters);
  out.contents.shared_counters =
      bench_.get<std::uint64_t>(at_[8], grids * program_.grids[0].ctas * kCounters);
  out.in_flight = bench_.seen_in_flight;
  Observation seen;
  bench_.platform().visit(seen);
  out.counters = seen.values;
}

namespace {

/// The first difference, or nothing.
template <class T>
std::string difference(const char* what, const std::vector<T>& got, const std::vector<T>& wanted) {
  if (got.size() != wanted.size()) return std::string(what) + ": another size";
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != wanted[i])
      return std::string(what) + "[" + std::to_string(i) + "]: got " + std::to_string(got[i]) + ", wanted " +
             std::to_string(wanted[i]);
  return {};
}

}  // namespace

std::string difference(const Contents& got, const Contents& wanted) {
  std::string out = difference("registers", got.registers, wanted.registers);
  const char* const names[] = {"vidmem_packed", "vidmem_woven", "sysmem_packed", "sysmem_woven"};
  for (unsigned a = 0; a < kGlobalAreas; ++a)
    if (out.empty()) out = difference(names[a], got.slices[a], wanted.slices[a]);
  if (out.empty()) out = difference("vidmem counters", got.counters[0], wanted.counters[0]);
  if (out.empty()) out = difference("sysmem counters", got.counters[1], wanted.counters[1]);
  if (out.empty()) out = difference("shared counters", got.shared_counters, wanted.shared_counters);
  return out;
}

}  // namespace warpline::test
