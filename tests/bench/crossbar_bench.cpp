// What a message costs in the crossbar: sources and sinks with the crossbar between them, and the
// same sources and sinks joined directly. The difference, over two, is one message one way.

#include <benchmark/benchmark.h>

#include <memory>

#include "rtl_models/crossbar/crossbar.h"
#include "tests/bench/traffic.h"

namespace warpline::bench {
namespace {

constexpr ChannelParameters kChannel{32, 8, 16, 1};
constexpr Cycle kStep = 1000;

std::uint64_t done(const std::vector<std::unique_ptr<Source>>& sources) {
  std::uint64_t sum = 0;
  for (const auto& s : sources) sum += s->done;
  return sum;
}

void run(::benchmark::State& state, Engine& engine, const std::vector<std::unique_ptr<Source>>& sources) {
  engine.run_until(10 * kStep);
  const std::uint64_t before = done(sources);
  Cycle limit = 10 * kStep;
  for (auto _ : state) engine.run_until(limit += kStep);
  const auto requests = static_cast<double>(done(sources) - before);
  state.counters["requests/cycle"] = requests / static_cast<double>(limit - 10 * kStep);
  state.counters["s/request"] =
      ::benchmark::Counter(requests, ::benchmark::Counter::kIsRate | ::benchmark::Counter::kInvert);
}

void through_crossbar(::benchmark::State& state) {
  const auto clients = static_cast<unsigned>(state.range(0));
  const auto slices = static_cast<unsigned>(state.range(1));
  Engine engine;
  const CrossbarParameters parameters{{0x1111111111111110, 0x2222222222222220, 0x4444444444444440}};
  Crossbar crossbar(engine, "crossbar", {}, parameters, clients, slices, {});
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<std::unique_ptr<Sink>> sinks;
  for (unsigned i = 0; i < clients; ++i) {
    sources.push_back(
        std::make_unique<Source>(engine, "source", i * 7919ULL, 64, static_cast<SectorMask>(state.range(2))));
    connect(sources.back()->out, crossbar.from_client(i), kChannel);
    connect(crossbar.to_client(i), sources.back()->in, kChannel);
  }
  for (unsigned i = 0; i < slices; ++i) {
    sinks.push_back(std::make_unique<Sink>(engine, "sink"));
    connect(crossbar.to_l2(i), sinks.back()->in, kChannel);
    connect(sinks.back()->out, crossbar.from_l2(i), kChannel);
  }
  run(state, engine, sources);
}
BENCHMARK(through_crossbar)
    ->Args({8, 4, 15})
    ->Args({80, 64, 15})
    ->Args({240, 64, 15})
    ->Args({432, 80, 15})
    ->Args({432, 80, 1});

void direct(::benchmark::State& state) {
  const auto pairs = static_cast<unsigned>(state.range(0));
  Engine engine;
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<std::unique_ptr<Sink>> sinks;
  for (unsigned i = 0; i < pairs; ++i) {
    sources.push_back(
        std::make_unique<Source>(engine, "source", i * 7919ULL, 64, static_cast<SectorMask>(state.range(1))));
    sinks.push_back(std::make_unique<Sink>(engine, "sink"));
    connect(sources.back()->out, sinks.back()->in, kChannel);
    connect(sinks.back()->out, sources.back()->in, kChannel);
  }
  run(state, engine, sources);
}
BENCHMARK(direct)->Args({8, 15})->Args({80, 15})->Args({432, 15});

}  // namespace
}  // namespace warpline::bench
