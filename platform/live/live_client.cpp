#include "platform/live/live_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "platform/live/http.h"
#include "platform/live/live_server.h"
#include "rtl_models/base/text.h"

namespace warpline::live {
namespace {

using LiveJson = nlohmann::json;

constexpr auto kMostWait = std::chrono::seconds(10);
constexpr int kBarColumns = 20;

Diagnostic fault_of(const std::string& sentence, const std::string& hint = {}) {
  return Diagnostic::about("watch", sentence, hint);
}

/// The object; an empty one where the text is none. What lies deeper than anything that a run says is left
/// out.
LiveJson read(const std::string& text) {
  constexpr int kDeepest = 16;
  const auto keeps = [](int depth, LiveJson::parse_event_t, LiveJson&) { return depth < kDeepest; };
  LiveJson json = LiveJson::parse(text, keeps, false);
  if (!json.is_object()) return LiveJson::object();
  return json;
}

std::uint64_t number(const LiveJson& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

double real(const LiveJson& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

/// Nothing in it moves a terminal: what prints it sees to that.
std::string word(const LiveJson& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

bool is_true(const LiveJson& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

const LiveJson& rows_of(const LiveJson& json, const char* name) {
  static const LiveJson kNone = LiveJson::array();
  const auto found = json.find(name);
  return found != json.end() && found->is_array() ? *found : kNone;
}

std::string cut(std::string text, std::size_t columns) {
  if (text.size() > columns) text.resize(columns);
  return text;
}

std::string bar(double share) {
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * kBarColumns);
  return std::string(full, '#') + std::string(kBarColumns - full, '.');
}

std::string rate(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.1f} M", per_second / 1e6);
  if (per_second >= 1e3) return fmt::format("{:.1f} k", per_second / 1e3);
  return fmt::format("{:.0f} ", per_second);
}

std::string duration(double seconds) {
  if (seconds >= 3600) return fmt::format("{:.1f} h", seconds / 3600);
  if (seconds >= 90) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.0f} s", seconds);
}

std::string name_of_inputs(const LiveJson& state) {
  std::vector<std::string> names;
  for (const LiveJson& input : rows_of(state, "inputs"))
    if (input.is_string()) {
      const std::string path = input.get<std::string>();
      names.push_back(path.substr(path.rfind('/') + 1));
    }
  return joined(names);
}

std::string condition(const LiveJson& state) {
  if (word(state, "phase") == "ended") return "ended: " + word(state, "end");
  if (is_true(state, "paused")) return "paused";
  return word(state, "phase") + (is_true(state, "busy") ? " (busy)" : "");
}

std::string sector_list(const LiveJson& row, const char* name) {
  std::string out;
  for (const LiveJson& s : rows_of(row, name)) out += (out.empty() ? "" : " ") + s.dump();
  return out.empty() ? "-" : out;
}

double share_of(const LiveJson& row) {
  const double most = real(row, "most");
  return most > 0 ? real(row, "value") / most : 0;
}

std::string queue_table(const LiveJson& queues, std::size_t rows) {
  std::vector<const LiveJson*> kinds;
  for (const LiveJson& k : rows_of(queues, "kinds"))
    if (number(k, "value") != 0) kinds.push_back(&k);
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const LiveJson* a, const LiveJson* b) { return share_of(*a) > share_of(*b); });
  std::string out = fmt::format("{:<40}  {:<{}}  {:>12}  {:>12}\n", "busiest queues", "filled", kBarColumns,
                                "held", "room");
  for (std::size_t n = 0; n < std::min(rows, kinds.size()); ++n) {
    const bool limited = number(*kinds[n], "most") != 0;
    out +=
        fmt::format("{:<40}  {:<{}}  {:>12}  {:>12}\n", cut(word(*kinds[n], "name"), 40),
                    limited ? bar(share_of(*kinds[n])) : "", kBarColumns, grouped(number(*kinds[n], "value")),
                    limited ? grouped(number(*kinds[n], "most")) : "-");
  }
  return kinds.empty() ? "all queues are empty\n" : out;
}

std::string counter_table(const LiveJson& counters, std::size_t rows) {
  std::string out =
      fmt::format("{:<50}  {:>14}  {:>16}\n", "counters since cycle " + grouped(number(counters, "since")),
                  "change", "value");
  std::size_t shown = 0;
  for (const LiveJson& c : rows_of(counters, "counters")) {
    if (number(c, "delta") == 0 || shown++ >= rows) continue;
    out +=
        fmt::format("{:<50}  {:>14}  {:>16}  {}\n", cut(word(c, "name"), 50),
                    "+" + grouped(number(c, "delta")), grouped(number(c, "value")), cut(word(c, "unit"), 14));
  }
  return out;
}

std::string wait_table(const LiveJson& waits, std::size_t rows) {
  std::string out = fmt::format("{:<30}  {:<30}  {:>8}   {} in flight\n", "who", "waits for", "times",
                                counted(number(waits, "in_flight"), "request"));
  std::size_t shown = 0;
  for (const LiveJson& k : rows_of(waits, "kinds")) {
    if (shown++ >= rows) break;
    out += fmt::format("{:<30}  {:<30}  {:>8}\n", cut(word(k, "from"), 30), cut(word(k, "to"), 30),
                       grouped(number(k, "count")));
  }
  for (const LiveJson& e : rows_of(waits, "circle"))
    out += cut("in a circle: " + word(e, "from") + " waits for " + word(e, "to"), 100) + "\n";
  return out;
}

}  // namespace

Result<LivePlace> place_of(const std::string& address) {
  const std::string hint =
      "the address that warpline run --live prints, http://127.0.0.1:PORT/TOKEN/, or a file with it";
  std::string rest = address;
  if (rest.rfind("http://", 0) == 0) rest = rest.substr(7);
  const std::size_t slash = rest.find('/'), colon = rest.find(':');
  if (slash == std::string::npos || colon == std::string::npos || colon > slash)
    return fault_of("\"" + address + "\" is no address of a run", hint);
  const std::string host = rest.substr(0, colon);
  if (host != "127.0.0.1" && host != "localhost")
    return fault_of("runs are watched on their own machine, and \"" + host + "\" is another name", hint);
  LivePlace place;
  const auto port = number_from<std::uint16_t>(rest.substr(colon + 1, slash - colon - 1));
  place.token = rest.substr(slash + 1);
  if (!place.token.empty() && place.token.back() == '/') place.token.pop_back();
  if (!port || *port == 0) return fault_of("\"" + address + "\" has no port", hint);
  place.port = *port;
  const bool is_token =
      !place.token.empty() && std::all_of(place.token.begin(), place.token.end(),
                                          [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
  if (!is_token) return fault_of("\"" + address + "\" has no token behind its port", hint);
  return place;
}

Result<std::string> LiveClient::ask(const char* method, const std::string& target) const {
  HttpAnswer answer =
      ask_http(place_.port, method, "/" + place_.token + "/" + target, {{kWishHeader, "watch"}}, kMostWait);
  const std::string where = "127.0.0.1:" + std::to_string(place_.port);
  if (!answer.failure.empty())
    return fault_of(where + " " + answer.failure,
                    "the run may have ended: its page lives as long as it does");
  const LiveJson json = answer.type == "application/json" ? read(answer.body) : LiveJson::object();
  if (answer.status == 404 && word(json, "error").empty())
    return fault_of("no run is watched at that address: " + where + " knows no such token",
                    "each run has a token of its own, and prints its address");
  if (json.empty()) return fault_of(where + " is no Warpline: it answers with something else");
  if (answer.status != 200) return fault_of(word(json, "error"));
  return std::move(answer.body);
}

Result<StateFacts> facts_of(const std::string& state) {
  const LiveJson json = read(state);
  if (word(json, "phase").empty()) return fault_of("that is no state of a run");
  const auto step = json.find("step_to");
  const bool steps = step != json.end() && step->is_number();
  return StateFacts{word(json, "phase") == "ended", is_true(json, "paused"), steps, word(json, "end"),
                    number(json, "cycle")};
}

std::uint64_t step_end_of(const std::string& answer) {
  return number(read(answer), "step_to");
}

std::uint64_t Snapshot::cycle() const {
  return number(read(counters), "cycle");
}

Result<Snapshot> snapshot(const LiveClient& client, std::uint64_t since) {
  Snapshot out;
  const auto state = client.get("state");
  if (!state.ok()) return state.faults();
  out.state = state.value();
  // A busy run answers the rest later.
  if (is_true(read(out.state), "busy")) return out;
  const std::pair<const char*, std::string Snapshot::*> questions[] = {
      {"queues?top=1", &Snapshot::queues},
      {"counters?top=60&since=", &Snapshot::counters},
      {"waits?top=1", &Snapshot::waits}};
  for (const auto& [target, place] : questions) {
    const std::string whole = place == &Snapshot::counters ? target + std::to_string(since) : target;
    auto answer = client.get(whole);
    if (answer.ok()) out.*place = std::move(answer.value());
  }
  return out;
}

std::string state_line(const std::string& text) {
  const LiveJson state = read(text);
  std::string out =
      fmt::format("{:5.1f}%  cycle {}", 100 * real(state, "done"), grouped(number(state, "cycle")));
  if (!word(state, "kernel").empty())
    out += fmt::format("  {}  {} of {} CTAs", word(state, "kernel"), grouped(number(state, "ctas_done")),
                       grouped(number(state, "ctas")));
  if (real(state, "cycles_per_s") > 0)
    out += fmt::format("  {}cycles/s  {}instructions/s", rate(real(state, "cycles_per_s")),
                       rate(real(state, "instructions_per_s")));
  if (real(state, "left_s") > 0) out += "  " + duration(real(state, "left_s")) + " left";
  return out + "  " + condition(state);
}

std::string snapshot_text(const Snapshot& snapshot, std::size_t rows) {
  const LiveJson state = read(snapshot.state);
  std::string out =
      cut(fmt::format("{} on {}{}: {}", name_of_inputs(state),
                      number(state, "gpus") > 1 ? counted(number(state, "gpus"), "GPU") + " " : "",
                      word(state, "gpu"), condition(state)),
          100) +
      "\n";
  out += fmt::format("[{}] {:5.1f}%  cycle {}", bar(real(state, "done")), 100 * real(state, "done"),
                     grouped(number(state, "cycle")));
  if (number(state, "launches") != 0)
    out += fmt::format("  launch {} of {}", std::min(number(state, "launch"), number(state, "launches")),
                       number(state, "launches"));
  out += "\n";
  if (!word(state, "kernel").empty())
    out += cut(fmt::format("{}: {} of {} CTAs done", word(state, "kernel"),
                           grouped(number(state, "ctas_done")), grouped(number(state, "ctas"))),
               100) +
           "\n";
  if (real(state, "cycles_per_s") > 0)
    out += fmt::format("{}cycles/s, {}warp instructions/s{}\n", rate(real(state, "cycles_per_s")),
                       rate(real(state, "instructions_per_s")),
                       real(state, "left_s") > 0 ? ", " + duration(real(state, "left_s")) + " left" : "");
  if (!snapshot.queues.empty()) out += "\n" + queue_table(read(snapshot.queues), rows);
  if (!snapshot.counters.empty()) out += "\n" + counter_table(read(snapshot.counters), rows);
  if (!snapshot.waits.empty()) out += "\n" + wait_table(read(snapshot.waits), rows);
  return out;
}

std::string memory_text(const std::string& text) {
  std::string out = fmt::format("{:<18}  {:>16}  {}\n", "address", "bytes", "what");
  const LiveJson json = read(text);
  for (const LiveJson& m : rows_of(json, "memory"))
    out +=
        fmt::format("{:<18}  {:>16}  {}\n", word(m, "address"), grouped(number(m, "bytes")), word(m, "name"));
  return out;
}

std::string line_text(const std::string& text) {
  const LiveJson line = read(text);
  std::string out =
      fmt::format("line {} of GPU {} in cycle {}: {} {}\n", word(line, "address"), number(line, "gpu"),
                  grouped(number(line, "cycle")), word(line, "memory"), word(line, "offset"));
  out += fmt::format("{:<24}  {:<8}  {:<8}  {:<8}  {:<8}  {}\n", "cache", "valid", "dirty", "awaited",
                     "differs", "class");
  for (const LiveJson& c : rows_of(line, "caches")) {
    const bool present = is_true(c, "present");
    out +=
        fmt::format("{:<24}  {:<8}  {:<8}  {:<8}  {:<8}  {}\n", cut(word(c, "cache"), 24),
                    present ? sector_list(c, "valid") : "absent", sector_list(c, "dirty"),
                    sector_list(c, "awaited"), sector_list(c, "differs"), present ? word(c, "class") : "-");
  }
  out += fmt::format("{} looked at; the others have nothing of it\n",
                     counted(number(line, "looked_at"), "cache"));
  if (const auto dram = line.find("dram"); dram != line.end() && dram->is_object())
    out += fmt::format("{}: bank {}, row {}, {}\n", word(*dram, "channel"), number(*dram, "bank"),
                       number(*dram, "row"),
                       is_true(*dram, "open")             ? "which is open"
                       : is_true(*dram, "other_row_open") ? "while another is open"
                                                          : "and none is open");
  for (const LiveJson& r : rows_of(line, "requests"))
    out += cut(fmt::format("in flight: {} at {}", word(r, "what"), word(r, "at")), 100) + "\n";
  const std::string bytes = word(line, "bytes");
  for (std::size_t n = 0; n + 32 <= bytes.size(); n += 32) {
    out += fmt::format("+{:02x} ", n / 2);
    for (std::size_t k = 0; k < 32; k += 2) out += " " + bytes.substr(n + k, 2);
    out += "\n";
  }
  return out;
}

}  // namespace warpline::live
