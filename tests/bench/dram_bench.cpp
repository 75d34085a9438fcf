// What a request costs in a DRAM channel, ticks included; the source that feeds it is part of the figure.

#include <benchmark/benchmark.h>

#include "rtl_models/dram/dram_channel.h"
#include "tests/bench/traffic.h"

namespace warpline::bench {
namespace {

void dram(::benchmark::State& state) {
  Engine engine;
  DramParameters parameters;
  parameters.channels = 1;
  DramChannel channel(engine, "dram", {}, parameters, 2);
  Source a(engine, "a", 1, 32, static_cast<SectorMask>(state.range(0)), state.range(1) != 0);
  Source b(engine, "b", 1000, 32, static_cast<SectorMask>(state.range(0)), state.range(1) != 0);
  unsigned i = 0;
  for (Source* s : {&a, &b}) {
    connect(s->out, channel.from_l2(i), {32, 4, 16, 1});
    connect(channel.to_l2(i), s->in, {32, 4, 16, 1});
    ++i;
  }
  engine.run_until(10000);
  const std::uint64_t before = a.done + b.done;
  Cycle limit = 10000;
  for (auto _ : state) engine.run_until(limit += 1000);
  const auto requests = static_cast<double>(a.done + b.done - before);
  state.counters["bus"] =
      static_cast<double>(channel.counters().busy_cycles) / static_cast<double>(engine.now());
  state.counters["ticks/request"] =
      static_cast<double>(engine.ticks()) / static_cast<double>(channel.counters().reads);
  state.counters["s/request"] =
      ::benchmark::Counter(requests, ::benchmark::Counter::kIsRate | ::benchmark::Counter::kInvert);
}
BENCHMARK(dram)
    ->ArgNames({"sectors", "sequential"})
    ->Args({15, 0})
    ->Args({15, 1})
    ->Args({1, 0})
    ->Args({1, 1});

}  // namespace
}  // namespace warpline::bench
