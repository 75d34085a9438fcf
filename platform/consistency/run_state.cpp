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
  constexpr unsigned kSlots = kLineBytes / Test::kBytes;
  const auto memories = static_cast<unsigned>(run.offset.size());
  const bool together = one_in(8, random) && memories <= kSlots;
  const auto line = static_cast<unsigned>(random.below(Arena::kLines));
  std::uint64_t taken = 0;  // lines, or slots of the one line
  for (std::uint32_t& offset : run.offset) {
    auto n = static_cast<unsigned>(random.below(together ? kSlots : Arena::kLines));
    while ((taken >> n & 1U) != 0) n = (n + 1) % (together ? kSlots : Arena::kLines);
    taken |= std::uint64_t{1} << n;
    const auto slot = together ? n : static_cast<unsigned>(random.below(kSlots));
    offset = (together ? line : n) * kLineBytes + slot * Test::kBytes;
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

void RunState::draw(const Test& test, std::uint64_t seed, unsigned sm_count, unsigned resident) {
  Random random(seed);
  offset.resize(test.memories.size());
  shared_end.assign(test.memories.size(), 0);
  draw_layout(*this, random);
  draw_places(*this, sm_count, resident, random);
  ctas.assign(program->ctas.size() + 1, CtaState{});
  draw_threads(*this, test, random);
}

}  // namespace warpline::litmus
