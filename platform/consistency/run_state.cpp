#include "platform/consistency/run_state.h"

#include <algorithm>

namespace warpline::litmus {
namespace {

/// One time in `n`.
bool one_in(unsigned n, Random& random) {
  return random.below(n) == 0;
}

/// Each memory has a cache line of its own, most of the time; else all are in one.
void draw_layout(RunState& run, Random& random) {
  const unsigned bytes = run.program->slot_bytes;
  const unsigned slots = kLineBytes / bytes;
  const auto memories = static_cast<unsigned>(run.offset.size());
  const bool together = one_in(8, random) && memories <= slots;
  const auto line = static_cast<unsigned>(random.below(Arena::kLines));
  std::uint64_t taken = 0;  // lines, or slots of the one line
  for (std::uint32_t& offset : run.offset) {
    auto n = static_cast<unsigned>(random.below(together ? slots : Arena::kLines));
    while ((taken >> n & 1U) != 0) n = (n + 1) % (together ? slots : Arena::kLines);
    taken |= std::uint64_t{1} << n;
    const auto slot = together ? n : static_cast<unsigned>(random.below(slots));
    offset = (together ? line : n) * kLineBytes + slot * bytes;
  }
}

/// Each CTA has an SM of its own, most of the time; now and then it joins the one before it.
void draw_places(RunState& run, unsigned sms, unsigned resident, Random& random) {
  const auto first = static_cast<unsigned>(random.below(sms));
  const auto room = [&](const GpuState& gpu, unsigned sm) {
    return std::count(gpu.sms.begin(), gpu.sms.end(), sm) < static_cast<std::ptrdiff_t>(resident);
  };
  run.gpus.resize(run.program->places.gpus);
  for (GpuState& gpu : run.gpus) {
    gpu.ctas.clear();
    gpu.sms.clear();
  }
  const auto ctas = static_cast<unsigned>(run.program->ctas.size());
  for (unsigned n = 0; n < ctas; ++n) {
    GpuState& gpu = run.gpus[run.program->ctas[n].gpu];
    unsigned sm = (first + n) % sms;
    if (!gpu.sms.empty() && one_in(4, random)) sm = gpu.sms.back();
    while (!room(gpu, sm)) sm = (sm + 1) % sms;
    gpu.ctas.push_back(n);
    gpu.sms.push_back(sm);
  }
  if (run.program->noise.empty() || one_in(2, random)) return;
  const auto beside = static_cast<unsigned>(random.below(ctas));
  GpuState& gpu = run.gpus[run.program->ctas[beside].gpu];
  const auto at = std::find(gpu.ctas.begin(), gpu.ctas.end(), beside) - gpu.ctas.begin();
  const unsigned sm = gpu.sms[static_cast<std::size_t>(at)];
  if (!room(gpu, sm)) return;
  gpu.ctas.push_back(ctas);
  gpu.sms.push_back(sm);
}

/// CTAs of clusters, each cluster's on SMs of one GPC: each on an SM of its own, most of the time; now and
/// then it joins the one before it. Noise has a cluster of its own, on the SM of one of them.
void draw_clusters(RunState& run, unsigned sms, const GpcShape& shape, unsigned resident, Random& random) {
  const Program& program = *run.program;
  std::vector<std::vector<unsigned>> gpcs(shape.gpcs);
  for (unsigned n = 0; n < sms; ++n) gpcs[shape.gpc_of(n)].push_back(n);
  run.gpus.assign(program.places.gpus, {});
  const auto taken = [](const GpuState& gpu, unsigned sm) {
    return static_cast<unsigned>(std::count(gpu.sms.begin(), gpu.sms.end(), sm));
  };
  const auto add = [&](GpuState& gpu, unsigned cta, const std::vector<unsigned>& of, std::size_t at) {
    for (std::size_t k = 0; k < of.size() && taken(gpu, of[at % of.size()]) >= resident; ++k) ++at;
    gpu.ctas.push_back(cta);
    gpu.sms.push_back(of[at % of.size()]);
  };
  const auto first = random.below(shape.gpcs);
  for (std::size_t c = 0; c < program.clusters.size(); ++c) {
    const std::vector<unsigned>& members = program.clusters[c];
    GpuState& gpu = run.gpus[program.ctas[members.front()].gpu];
    const std::vector<unsigned>& of = gpcs[(first + (one_in(2, random) ? c : 0)) % gpcs.size()];
    auto at = random.below(of.size());
    for (unsigned rank = 0; rank < program.cluster_ctas; ++rank) {
      if (rank != 0 && !one_in(4, random)) ++at;
      add(gpu, rank < members.size() ? members[rank] : GpuState::kEmpty, of, at);
    }
  }
  if (program.noise.empty() || one_in(2, random)) return;
  GpuState& gpu = run.gpus[program.ctas[random.below(program.ctas.size())].gpu];
  const unsigned beside = gpu.sms[random.below(gpu.sms.size())];
  const std::vector<unsigned>& of = gpcs[shape.gpc_of(beside)];
  const auto at = static_cast<std::size_t>(std::find(of.begin(), of.end(), beside) - of.begin());
  std::size_t room = 0;
  for (const unsigned sm : of) room += resident - std::min(resident, taken(gpu, sm));
  if (room < program.cluster_ctas) return;
  for (unsigned rank = 0; rank < program.cluster_ctas; ++rank)
    add(gpu, rank == 0 ? static_cast<unsigned>(program.ctas.size()) : GpuState::kEmpty, of, at + rank);
}

void draw_threads(RunState& run, const Test& test, Random& random) {
  constexpr unsigned kSkews[] = {1, 16, 100, 400, 2000};
  constexpr unsigned kPaces[] = {0, 16, 128, 1000};
  constexpr unsigned kNoiseDelay = 64, kMostNoise = 4;
  const auto skew = kSkews[random.below(5)];
  const auto pace = kPaces[random.below(4)];
  const std::size_t own = test.threads.size();
  run.threads.resize(std::max(run.threads.size(), own + 1));
  for (unsigned n = 0; n < run.threads.size(); ++n) {
    ThreadState& t = run.threads[n];
    t.code = n < own ? &run.program->code[n] : nullptr;
    t.current = nullptr;
    t.at = 0;
    t.last = nullptr;
    t.at_barrier = false;
    t.own = 0;
    t.entered = t.left = 0;
    t.ready = false;
    t.behind = nullptr;
    t.rests = false;
    t.delay = static_cast<unsigned>(random.below(n < own ? skew : kNoiseDelay));
    t.pace = n < own ? pace : kNoiseDelay;
    t.noise = n < own ? 0 : 1 + static_cast<unsigned>(random.below(kMostNoise));
    t.random = Random(random.next());
    if (n < own) {
      t.registers = test.threads[n].initial;
    } else {
      t.registers.assign(1, 0);
    }
  }
}

}  // namespace

unsigned RunState::sm_of(unsigned thread) const {
  for (const GpuState& gpu : gpus)
    for (std::size_t n = 0; n < gpu.ctas.size(); ++n) {
      if (gpu.ctas[n] >= program->ctas.size()) continue;
      const std::vector<unsigned>& own = program->ctas[gpu.ctas[n]].threads;
      if (std::find(own.begin(), own.end(), thread) != own.end()) return gpu.sms[n];
    }
  return 0;
}

void RunState::draw(const Test& test, std::uint64_t seed, unsigned sm_count, const GpcShape& shape,
                    unsigned resident) {
  Random random(seed);
  offset.resize(test.memories.size());
  shared_end.assign(test.memories.size(), 0);
  draw_layout(*this, random);
  if (program->cluster_ctas > 1) {
    draw_clusters(*this, sm_count, shape, resident, random);
  } else {
    draw_places(*this, sm_count, resident, random);
  }
  ctas.assign(program->ctas.size() + 1, CtaState{});
  draw_threads(*this, test, random);
}

}  // namespace warpline::litmus
