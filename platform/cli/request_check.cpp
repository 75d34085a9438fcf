#include "platform/cli/request_check.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "platform/cli/command_line.h"
#include "platform/cli/console.h"
#include "rtl_models/document/document.h"

namespace warpline {
namespace {

const std::vector<std::string> kTransports = {"fast", "lt", "at"};

/// A cycle number as written; nothing written leaves `cycle` as it is.
bool read_cycle(const std::string& text, Cycle& cycle) {
  if (text.empty()) return true;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), cycle);
  return error == std::errc{} && stop == text.data() + text.size() && cycle != kNever;
}

/// Reads --window where it is given, and judges it with the options that it belongs to.
int check_observation(RunRequest& request, const std::string* window) {
  WatchOptions& o = request.observation;
  const bool windowed = window != nullptr;
  if (!o.wanted() && (windowed || !o.probes.empty())) {
    print_error(std::string(windowed ? "--window" : "--probe") +
                " bounds --wave and --timeline, and neither is given");
    return kBadInput;
  }
  if (o.wanted() && request.transport == "lt") {
    print_error("--wave and --timeline show a timed run; --transport lt has no cycles that they could show",
                "--transport fast or at");
    return kBadInput;
  }
  bool shared = false;
  const auto same = [](const std::string& a, const std::string& b) { return !a.empty() && a == b; };
  const std::string* const files[] = {&o.wave, &o.timeline, &request.stats, &request.access_log};
  for (const auto* a = std::begin(files); a != std::end(files); ++a)
    shared =
        shared || std::any_of(a + 1, std::end(files), [&](const std::string* b) { return same(**a, *b); });
  if (shared) {
    print_error("--wave, --timeline, --stats and --access-log need a file each");
    return kBadInput;
  }
  if (!windowed) return kDone;
  const std::size_t colon = window->find(':');
  if (colon == std::string::npos || !read_cycle(window->substr(0, colon), o.window.first) ||
      !read_cycle(window->substr(colon + 1), o.window.last)) {
    print_error("--window: \"" + *window + "\" is not FIRST:LAST, two whole numbers of cycles",
                "--window 1000:2000; either may be left out");
    return kBadInput;
  }
  if (o.window.first > o.window.last) {
    print_error("--window: its last cycle lies before its first");
    return kBadInput;
  }
  return kDone;
}

}  // namespace

bool pins_fit(const std::string& transport, const std::vector<std::string>& pins) {
  if (transport != "lt" || pins.empty()) return true;
  print_error("--pins opens hops of a timed run; --transport lt has no cycles that wires could show",
              "--transport fast or at");
  return false;
}

int check_request(RunRequest& request, const std::string* window) {
  if (!pins_fit(request.transport, request.pins)) return kBadInput;
  if (!request.fast_forward.empty() && !request.pins.empty()) {
    print_error("--fast-forward crosses hops by calls, which hops opened as pins do not take",
                "--pins without --fast-forward");
    return kBadInput;
  }
  if (std::find(kTransports.begin(), kTransports.end(), request.transport) == kTransports.end()) {
    print_error("--transport: \"" + request.transport + "\" is none of fast, lt, at",
                did_you_mean(request.transport, kTransports));
    return kBadInput;
  }
  if (request.transport == "lt" && !request.fast_forward.empty()) {
    print_error("--fast-forward leads to timed grids; --transport lt has none", "--transport fast or at");
    return kBadInput;
  }
  if (!request.dot.empty() && !request.check_consistency) {
    print_error("--dot draws what --check-consistency finds, which is not given");
    return kBadInput;
  }
  if (request.check_consistency && request.tags_only) {
    print_error("--check-consistency judges values; a run with --tags-only has none");
    return kBadInput;
  }
  if (const int status = check_observation(request, window); status != kDone) return status;
  if (request.max_cycles == 0) {
    print_error("--max-cycles must be at least 1");
    return kBadInput;
  }
  return kDone;
}

}  // namespace warpline
