#include "platform/observe/latency_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "platform/observe/block_kind.h"
#include "platform/observe/command_name.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/base/text.h"

namespace warpline {
namespace {

constexpr std::array<const char*, kAnsweredBy> kLevels{"", "l2", "dram", "link"};

double average(std::uint64_t sum, std::uint64_t count) {
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

}  // namespace

LatencyWriter::Place LatencyWriter::place(const std::string& name) {
  const auto found = std::find(places_.begin(), places_.end(), name);
  if (found == places_.end()) places_.push_back(name);
  return static_cast<Place>(std::find(places_.begin(), places_.end(), name) - places_.begin());
}

void LatencyWriter::add_hop(const PortBase& request, const PortBase& response) {
  Hop hop;
  hop.sender = &response.owner();
  hop.receiver = &request.owner();
  const std::string from = kind_of(*hop.sender), to = kind_of(*hop.receiver);
  hop.there = place(from + " > " + to);
  hop.arrived = place(to);
  hop.back = place(to + " > " + from);
  hop.returned = place(from);
  hops_[&request] = hop;
  hops_[&response] = hop;
}

void LatencyWriter::move(Journey& journey, Cycle now, Place to) {
  // Places are kept in the order in which it comes there, even where no time passes.
  const auto at = std::find_if(journey.spent.begin(), journey.spent.end(),
                               [&](const auto& s) { return s.first == journey.at; });
  if (at == journey.spent.end())
    journey.spent.emplace_back(journey.at, now - journey.since);
  else
    at->second += now - journey.since;
  journey.since = now;
  journey.at = to;
}

void LatencyWriter::message(const MessageEvent& e) {
  const Hop& hop = hops_.at(e.port);
  if (e.response) return e.taken ? done(hop, e) : answered(hop, e);
  if (!e.taken) return begun(hop, e);
  const auto found = journeys_.find(e.id);
  if (found == journeys_.end()) return;
  Step& last = found->second.steps.back();
  if (last.hop != &hops_.at(e.port) || last.request != e.request || last.arrived) return;
  last.arrived = true;
  move(found->second, e.cycle, hop.arrived);
}

void LatencyWriter::begun(const Hop& hop, const MessageEvent& e) {
  const auto found = journeys_.find(e.id);
  if (found == journeys_.end()) {
    if (e.maker != hop.sender || kind_of(*hop.sender) != "sm") return;
    Journey& fresh = journeys_[e.id];
    fresh.begin = fresh.since = e.cycle;
    fresh.at = hop.there;
    fresh.command = e.command;
    fresh.steps.push_back({&hop, e.request, false});
    return;
  }
  Journey& journey = found->second;
  const Step& last = journey.steps.back();
  if (!last.arrived || last.hop->receiver != hop.sender) return;
  journey.steps.push_back({&hop, e.request, false});
  move(journey, e.cycle, hop.there);
}

void LatencyWriter::answered(const Hop& hop, const MessageEvent& e) {
  const auto found = journeys_.find(e.id);
  if (found == journeys_.end()) return;
  Journey& journey = found->second;
  const auto step = std::find_if(journey.steps.begin(), journey.steps.end(), [&](const Step& s) {
    return s.hop->sender == hop.sender && s.hop->receiver == hop.receiver && s.request == e.request;
  });
  if (step == journey.steps.end()) return;
  journey.steps.erase(step + 1, journey.steps.end());
  step->arrived = false;
  move(journey, e.cycle, hop.back);
}

void LatencyWriter::done(const Hop& hop, const MessageEvent& e) {
  const auto found = journeys_.find(e.id);
  if (found == journeys_.end()) return;
  Journey& journey = found->second;
  const Step& last = journey.steps.back();
  if (last.hop->sender != hop.sender || last.hop->receiver != hop.receiver || last.request != e.request)
    return;
  move(journey, e.cycle, hop.returned);
  journey.steps.pop_back();
  if (!journey.steps.empty()) return;
  Group& group = groups_[{kind_of(*hop.receiver), journey.command, e.answered_by}];
  const std::uint64_t latency = e.cycle - journey.begin;
  group.latency.add(latency);
  std::uint64_t sum = 0;
  for (const auto& [at, cycles] : journey.spent) {
    Spent& s = group.spent[at];
    s.cycles += cycles;
    sum += cycles;
  }
  WARPLINE_EXPECT(sum == latency, "every cycle of a request is charged to a place");
  journeys_.erase(found);
}

/// Blocks lie as deep as there are hops between them and an SM at least. A request comes to the shallow
/// places first, and its answer to them last.
void LatencyWriter::order_places() {
  constexpr int kBottom = 1000;
  std::map<Place, int> depth;
  // An SM's own way to a block that its caches lead to, too, does not make that less deep.
  const auto leads = [&](Place from, Place to) {
    return std::any_of(hops_.begin(), hops_.end(),
                       [&](const auto& h) { return h.second.returned == from && h.second.arrived == to; });
  };
  const auto goes_round = [&](const Hop& way) {
    return places_[way.returned] == "sm" && std::any_of(hops_.begin(), hops_.end(), [&](const auto& h) {
             return h.second.arrived == way.arrived && h.second.returned != way.returned &&
                    leads(way.returned, h.second.returned);
           });
  };
  for (const auto& [port, hop] : hops_)
    if (places_[hop.returned] == "sm") depth[hop.returned] = 0;
  for (bool more = true; more;) {
    more = false;
    for (const auto& [port, hop] : hops_) {
      const auto from = depth.find(hop.returned);
      if (from == depth.end() || goes_round(hop)) continue;
      const auto to = depth.try_emplace(hop.arrived, kBottom).first;
      more = more || to->second > from->second + 1;
      to->second = std::min(to->second, from->second + 1);
    }
  }
  turn_.assign(places_.size(), kBottom);
  for (const auto& [at, deep] : depth) turn_[at] = 2 * deep;
  for (const auto& [port, hop] : hops_) {
    const int from = turn_[hop.returned];
    turn_[hop.there] = std::min(turn_[hop.there], from + 1);
    turn_[hop.back] = std::max(turn_[hop.back], 2 * kBottom - from);
  }
}

LatencyWriter::Places LatencyWriter::in_order(const Group& group) const {
  Places out;
  for (const auto& [at, spent] : group.spent)
    if (spent.cycles != 0) out.emplace_back(at, &spent);
  std::stable_sort(out.begin(), out.end(),
                   [&](const auto& a, const auto& b) { return turn_[a.first] < turn_[b.first]; });
  return out;
}

std::string LatencyWriter::as_table() const {
  std::string out = fmt::format("where requests of SMs spent their time, in cycles of {} MHz\n", mhz_);
  if (groups_.empty()) out += "\nno request of an SM was answered\n";
  for (const auto& [key, group] : groups_) {
    const auto& [asked, command, level] = key;
    const LatencyHistogram& h = group.latency;
    const char* const from = kLevels[static_cast<std::size_t>(level)];
    out += fmt::format("\n{} of {}, answered by {}: {} requests\n", name_of(command), asked,
                       *from == 0 ? asked.c_str() : from, grouped(h.count()));
    out += fmt::format("  average {:.1f}, half within {}, 95% within {}, most {}\n",
                       average(h.total(), h.count()), grouped(h.percentile(50)), grouped(h.percentile(95)),
                       grouped(h.most()));
    for (const auto& [at, spent] : in_order(group))
      out += fmt::format("  {:>10.1f}  {:>5.1f}%  {}\n", average(spent->cycles, h.count()),
                         100 * average(spent->cycles, h.total()), places_[at]);
  }
  if (unfinished_ != 0)
    out += fmt::format("\n{} were under way at the end\n", counted(unfinished_, "request"));
  return out;
}

std::string LatencyWriter::as_json() const {
  std::string out = fmt::format("{{\"mhz\": {}, \"unfinished\": {}, \"groups\": [", mhz_, unfinished_);
  const char* comma = "\n";
  for (const auto& [key, group] : groups_) {
    const auto& [asked, command, level] = key;
    const char* const from = kLevels[static_cast<std::size_t>(level)];
    out += fmt::format(
        "{}  {{\"block\": {}, \"command\": \"{}\", \"answered_by\": {}, \"requests\": {}, \"cycles\": {}, "
        "\"most\": {},\n   \"spent\": {{",
        comma, json_string(asked), name_of(command), json_string(*from == 0 ? asked : from),
        group.latency.count(), group.latency.total(), group.latency.most());
    comma = ",\n";
    std::vector<std::string> texts;
    for (const auto& [at, spent] : in_order(group))
      texts.push_back(fmt::format("{}: {}", json_string(places_[at]), spent->cycles));
    out += joined(texts) + "},\n   \"histogram\": [";
    texts.clear();
    group.latency.for_each([&](std::uint64_t first, std::uint64_t last, std::uint64_t count) {
      texts.push_back(fmt::format("[{}, {}, {}]", first, last, count));
    });
    out += joined(texts) + "]}";
  }
  return out + "\n]}\n";
}

void LatencyWriter::finish(Cycle /*last*/) {
  unfinished_ = journeys_.size();
  journeys_.clear();
  order_places();
  file_.write(json_ ? as_json() : as_table());
}

}  // namespace warpline
