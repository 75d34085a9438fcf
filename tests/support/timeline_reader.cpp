#include "tests/support/timeline_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace warpline::test {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error("timeline: " + what);
}

class Reader {
 public:
  Timeline read(const std::string& text) {
    const json all = json::parse(text);
    for (const json& e : all.at("traceEvents")) event(e);
    std::stable_sort(out_.slices.begin(), out_.slices.end(), [](const auto& a, const auto& b) {
      return std::make_tuple(a.process, a.thread, a.begin, b.end) <
             std::make_tuple(b.process, b.thread, b.begin, a.end);
    });
    nest();
    for (auto& [id, steps] : flows_) follow(id, steps);
    return std::move(out_);
  }

 private:
  struct Step {
    double time;
    std::string phase;
    unsigned process, thread;
  };

  /// JSON numbers are exact up to 2^53 only.
  static std::uint64_t number(const json& id) { return std::stoull(id.get<std::string>()); }

  void event(const json& e) {
    const std::string phase = e.at("ph");
    const unsigned process = e.at("pid");
    if (phase == "M") {
      metadata(e, process);
    } else if (phase == "X" && e.at("cat") == "kernel") {
      out_.kernels.push_back(e.at("name"));
    } else if (phase == "i" || (phase == "X" && is_of_device(e.at("cat")))) {
      device_event(e, process);
    } else if (phase == "X") {
      slice(e, process);
    } else if (phase == "s" || phase == "t" || phase == "f") {
      flows_[number(e.at("id"))].push_back({e.at("ts"), phase, process, e.at("tid")});
    } else {
      fail("event of phase " + phase);
    }
  }

  static bool is_of_device(const std::string& category) {
    return category == "command" || category == "step" || category == "host";
  }

  void metadata(const json& e, unsigned process) {
    const std::string what = e.at("name");
    if (what == "process_name") {
      if (process != names_.size()) fail("processes are named in order");
      names_.push_back(e.at("args").at("name"));
      if (process != 0) out_.blocks.push_back(names_.back());
    } else if (what == "thread_name") {
      const std::string name = e.at("args").at("name"), block = names_.at(process);
      if (name != block && name.rfind(block + " ", 0) != 0) fail("a thread has another name than its block");
      named_[{process, e.at("tid")}] = name;
    } else if (what != "process_sort_index") {
      fail("metadata " + what);
    }
  }

  void device_event(const json& e, unsigned process) {
    TimelineDeviceEvent d;
    d.thread = e.at("tid");
    d.track = named_[{process, d.thread}];
    if (d.track.empty()) fail("a thread has no name yet");
    d.block = names_.at(process);
    d.category = e.at("cat");
    d.name = e.at("name");
    d.begin = e.at("ts");
    d.end = d.begin + e.value("dur", std::uint64_t{0});
    d.unfinished = e.at("args").value("unfinished", false);
    d.lost = e.at("args").value("lost", false);
    out_.devices.push_back(d);
  }

  void slice(const json& e, unsigned process) {
    TimelineSlice s;
    s.process = process;
    s.thread = e.at("tid");
    if (named_[{process, s.thread}].empty()) fail("a thread has no name yet");
    s.block = names_.at(process);
    s.name = e.at("name");
    s.begin = e.at("ts");
    s.end = s.begin + e.at("dur").get<std::uint64_t>();
    const json& args = e.at("args");
    s.id = number(args.at("id"));
    s.command = args.at("command");
    s.sm = args.at("sm");
    s.unfinished = args.value("unfinished", false);
    out_.slices.push_back(s);
  }

  void nest() {
    std::vector<int> open;
    for (std::size_t i = 0; i < out_.slices.size(); ++i) {
      TimelineSlice& s = out_.slices[i];
      const auto at = [&](int n) -> const TimelineSlice& { return out_.slices[static_cast<std::size_t>(n)]; };
      while (!open.empty() && (at(open.back()).process != s.process || at(open.back()).thread != s.thread ||
                               at(open.back()).end <= s.begin))
        open.pop_back();
      if (!open.empty()) {
        if (at(open.back()).end < s.end) fail("slices overlap on a thread of " + s.block);
        if (at(open.back()).id != s.id) fail("a slice lies in that of another request in " + s.block);
        s.parent = open.back();
      }
      if (s.parent == -1) outer_.push_back(static_cast<unsigned>(i));
      open.push_back(static_cast<int>(i));
    }
  }

  void follow(std::uint64_t id, std::vector<Step>& steps) {
    const std::string name = "the flow of " + std::to_string(id);
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Step& a, const Step& b) { return a.time < b.time; });
    bool open = false;
    for (const Step& step : steps) {
      if ((step.phase == "s") == open) fail(name + " starts twice, or does not start");
      open = step.phase != "f";
      // The last slice on its thread, of those that lie in no other, that starts before it.
      const auto after =
          std::upper_bound(outer_.begin(), outer_.end(), step, [this](const Step& x, unsigned i) {
            const TimelineSlice& y = out_.slices[i];
            return std::make_tuple(x.process, x.thread, x.time) <
                   std::make_tuple(y.process, y.thread, static_cast<double>(y.begin));
          });
      if (after == outer_.begin()) fail(name + " points at no slice");
      const TimelineSlice& at = out_.slices[*(after - 1)];
      if (at.process != step.process || at.thread != step.thread || at.id != id ||
          step.time <= static_cast<double>(at.begin) || step.time >= static_cast<double>(at.end))
        fail(name + " points at no slice of its own");
      out_.flows[id].push_back(*(after - 1));
    }
    if (open) fail(name + " does not end");
  }

  Timeline out_;
  std::vector<unsigned> outer_;  ///< slices that lie in no other
  std::vector<std::string> names_;
  std::map<std::pair<unsigned, unsigned>, std::string> named_;
  std::map<std::uint64_t, std::vector<Step>> flows_;
};

}  // namespace

Timeline parse_timeline(const std::string& text) {
  return Reader().read(text);
}

}  // namespace warpline::test
