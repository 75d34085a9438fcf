// How many runs of a litmus test a second: litmus_bench FILE [RUNS [GPU]].
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "platform/config/load_gpu.h"
#include "platform/consistency/parser.h"
#include "platform/consistency/runner.h"
#include "tests/bench/cpu_time.h"

int main(int argc, char** argv) {
  using namespace warpline;
  if (argc < 2) {
    std::fputs("usage: litmus_bench FILE [RUNS [GPU]]\n", stderr);
    return 2;
  }
  std::ifstream file(argv[1]);
  std::stringstream text;
  text << file.rdbuf();
  const auto test = litmus::parse(text.str(), argv[1]);
  const auto gpu = load_gpu(argc > 3 ? argv[3] : "mini", {});
  if (!test.ok() || !gpu.ok()) {
    std::fputs((test.ok() ? gpu.faults() : test.faults()).front().text().c_str(), stderr);
    return 2;
  }
  litmus::Machine machine(gpu.value());
  for (const std::string& why : machine.refusals(test.value())) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return 2;
  }
  litmus::RunSeries plan;
  plan.runs = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100'000;
  const double begin = bench::cpu_seconds();
  const litmus::RunReport report = litmus::run(machine, test.value(), plan);
  const double seconds = bench::cpu_seconds() - begin;
  for (const litmus::Outcome& o : report.outcomes)
    std::printf("%10llu %c %s\n", static_cast<unsigned long long>(o.count), o.in_question ? '*' : ' ',
                litmus::text_of(o, report.terms, test.value()).c_str());
  const auto runs = static_cast<double>(report.runs);
  std::printf("%.0f runs/s, %.1f ticks a run, %llu stuck\n", runs / seconds,
              static_cast<double>(machine.ticks()) / runs, static_cast<unsigned long long>(report.stuck));
  return 0;
}
