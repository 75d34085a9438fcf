#include "platform/cli/request_check.h"

#include <algorithm>

#include "platform/cli/console.h"
#include "platform/metrics/nsight_metrics.h"
#include "platform/programs/ptx/module.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"

namespace warpline {
namespace {

/// A cycle number as written; nothing written leaves `cycle` as it is.
bool read_cycle(std::string_view text, Cycle& cycle) {
  if (text.empty()) return true;
  const auto read = number_from<Cycle>(text);
  cycle = read.value_or(kNever);
  return cycle != kNever;
}

/// Reads --window where it is given, and judges it with the options that it belongs to.
int check_observation(RunRequest& request) {
  WatchOptions& o = request.observation;
  if (!o.wanted() && request.window)
    return bad_input("--window bounds --wave, --timeline, --latency and --reuse, and none is given");
  if (o.wave.empty() && o.timeline.empty() && !o.probes.empty())
    return bad_input("--probe bounds --wave and --timeline, and neither is given");
  if (o.wanted() && !is_timed(request.transport))
    return bad_input("--wave, --timeline, --latency and --reuse show a timed run; --transport " +
                         request.transport + " has no cycles that they could show",
                     "--transport fast or at");
  return request.window ? read_window(*request.window, o.window) : kDone;
}

/// Of figures over time.
int check_sampling(const RunRequest& request) {
  const bool sampled = !request.series.empty() || request.sample;
  if (request.sample == Cycle{0})
    return bad_input("--sample must be at least 1: it is the cycles that each row stands for");
  if (request.sample && request.series.empty() && request.observation.timeline.empty())
    return bad_input("--sample says how often figures go into --series and --timeline, and neither is given");
  if (!request.figures.empty() && !sampled)
    return bad_input(
        "--figures says what --series has, and what --timeline has by --sample; neither is given");
  if (sampled && !is_timed(request.transport))
    return bad_input("--series and --sample show a timed run over time; what --transport " +
                         request.transport + " does happens in no cycle of its own",
                     "--transport fast or at");
  return kDone;
}

}  // namespace

int read_window(const std::string& text, Window& window) {
  const std::vector<std::string_view> cycles = split(text, ':');
  if (cycles.size() != 2 || !read_cycle(cycles[0], window.first) || !read_cycle(cycles[1], window.last))
    return bad_input("--window: \"" + text + "\" is not FIRST:LAST, two whole numbers of cycles",
                     "--window 1000:2000; either may be left out");
  if (window.first > window.last) return bad_input("--window: its last cycle lies before its first");
  return kDone;
}

bool is_timed(const std::string& transport) {
  return transport != "lt" && transport != "functional";
}

bool is_one_of(const char* option, const std::string& word, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), word) != known.end()) return true;
  print_error(std::string(option) + ": \"" + word + "\" is none of " + joined(known),
              did_you_mean(word, known));
  return false;
}

bool pins_fit(const std::string& transport, const std::vector<std::string>& pins) {
  if (is_timed(transport) || pins.empty()) return true;
  print_error(
      "--pins opens hops of a timed run; --transport " + transport + " has no cycles that wires could show",
      "--transport fast or at");
  return false;
}

bool metrics_fit(const std::string& option, const std::string& transport) {
  if (transport == "functional") {
    print_error(option + " is told from what caches did; --transport functional goes past them",
                option == "--roofline" ? "--transport fast or at" : "--transport fast, at or lt");
    return false;
  }
  if (transport != "lt" || option != "--roofline") return true;
  print_error(
      "--roofline is told from how long a run took, of which --transport lt has an estimate without "
      "waiting",
      "--transport fast or at");
  return false;
}

int check_request(RunRequest& request) {
  if (!pins_fit(request.transport, request.pins)) return kBadInput;
  if (!request.fast_forward.empty() && !request.pins.empty())
    return bad_input("--fast-forward crosses hops by calls, which hops opened as pins do not take",
                     "--pins without --fast-forward");
  if (!is_one_of("--transport", request.transport, {"fast", "at", "lt", "functional"})) return kBadInput;
  if (!is_one_of("--trace-cache", request.trace_cache, {"on", "off"})) return kBadInput;
  if (!is_timed(request.transport) && !request.fast_forward.empty())
    return bad_input("--fast-forward leads to timed grids; --transport " + request.transport + " has none",
                     "--transport fast or at");
  if (request.keep_warm && request.fast_forward.empty())
    return bad_input("--keep-warm says what --fast-forward leaves in the caches, which is not given");
  if (request.transport == "functional" && request.tags_only)
    return bad_input("--transport functional computes values; a run with --tags-only has none",
                     "--transport lt");
  if (request.transport == "functional" && request.check_consistency)
    return bad_input("--check-consistency watches what caches do; --transport functional goes past them",
                     "--transport lt");
  if (!request.schedule.empty() && !is_one_of("--schedule", request.schedule, ptx::schedule_names()))
    return kBadInput;
  if (!is_one_of("--model", request.model, {"ptx75", "ptx90"})) return kBadInput;
  if (request.model != "ptx90" && !request.check_consistency)
    return bad_input("--model says by what --check-consistency judges, which is not given");
  if (!request.dot.empty() && !request.check_consistency)
    return bad_input("--dot draws what --check-consistency finds, which is not given");
  if (request.check_consistency && request.tags_only)
    return bad_input("--check-consistency judges values; a run with --tags-only has none");
  if (request.paused && !request.live)
    return bad_input("--paused has a run wait for those who watch it, and --live PORT is not given");
  if (!request.save_after.empty() && request.save.empty())
    return bad_input("--save-after says when to save, and --save FILE is not given");
  if (request.warm && request.restore.empty())
    return bad_input("--warm starts on the machine of a checkpoint, and --restore FILE is not given");
  if (request.check_consistency && !request.restore.empty())
    return bad_input(
        "--check-consistency judges what a run has recorded; one that is restored lacks its beginning");
  if (!request.profile.empty() && request.transport == "functional")
    return bad_input("--profile tells what warps wait for; --transport functional has no time",
                     "--transport fast, at or lt");
  if (!request.metrics.empty() && !metrics_fit("--metrics", request.transport)) return kBadInput;
  if (request.energy && !metrics_fit("--energy", request.transport)) return kBadInput;
  if (request.roofline && !metrics_fit("--roofline", request.transport)) return kBadInput;
  if (const auto metrics = NsightMetric::named(request.metrics); !metrics.ok())
    return bad_input(metrics.faults());
  if (const int status = check_sampling(request); status != kDone) return status;
  if (const int status = check_observation(request); status != kDone) return status;
  return request.max_cycles == 0 ? bad_input("--max-cycles must be at least 1") : kDone;
}

}  // namespace warpline
