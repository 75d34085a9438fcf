#include "platform/cli/standstill_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "rtl_models/base/text.h"
#include "rtl_models/sim/wait_graph.h"

namespace warpline {
namespace {

constexpr std::size_t kShown = 20;

std::string more(std::size_t count) {
  return count > kShown ? fmt::format("  and {} more\n", count - kShown) : std::string{};
}

template <class T, class F>
std::size_t widest(const std::vector<T>& rows, F&& column) {
  std::size_t width = 0;
  for (std::size_t n = 0; n < std::min(rows.size(), kShown); ++n)
    width = std::max(width, column(rows[n]).size());
  return width;
}

std::string table(const std::vector<InFlight>& rows) {
  if (rows.empty()) return "no request is in flight\n";
  const auto made = [](const InFlight& r) {
    return r.made == kNever ? std::string("-") : std::to_string(r.made);
  };
  const std::size_t cycle = std::max<std::size_t>(5, widest(rows, made));
  const std::size_t what = widest(rows, [](const InFlight& r) { return r.what; });
  const std::size_t at = widest(rows, [](const InFlight& r) { return r.at; });
  std::string out = counted(rows.size(), "request") + " in flight, oldest first:\n";
  out +=
      fmt::format("  {:>{}}  {:<{}}  {:<{}}  {}\n", "cycle", cycle, "request", what, "at", at, "waits for");
  for (std::size_t n = 0; n < std::min(rows.size(), kShown); ++n) {
    const InFlight& r = rows[n];
    out += fmt::format("  {:>{}}  {:<{}}  {:<{}}  {}", made(r), cycle, r.what, what, r.at, at, r.wait.what);
    // Whoever has the request that is waited for, where the words do not say so.
    if (r.wait.answers.maker != nullptr && !r.wait.on.empty()) out += fmt::format(" ({})", r.wait.on.front());
    out += "\n";
  }
  return out + more(rows.size());
}

std::string listed(const std::vector<Wait>& waits) {
  const std::size_t who = widest(waits, [](const Wait& w) { return w.who; });
  std::string out;
  for (std::size_t n = 0; n < std::min(waits.size(), kShown); ++n)
    out += fmt::format("  {:<{}} waits for {}\n", waits[n].who, who, waits[n].what);
  return out + more(waits.size());
}

std::string reason(const Standstill& standstill) {
  const std::vector<WaitEdge> circle = circle_of(standstill);
  if (circle.empty()) {
    const std::vector<Wait> ends = ends_of(standstill);
    return ends.empty() ? std::string{} : "the waits end in:\n" + listed(ends);
  }
  std::string out = "the waits form a circle: " + to_text(circle) + "\n";
  for (std::size_t n = 0; n < std::min(circle.size(), kShown); ++n)
    out += fmt::format("  {} waits for {}: {}\n", circle[n].from, circle[n].to, circle[n].why);
  return out + more(circle.size());
}

}  // namespace

std::string standstill_text(const Standstill& standstill) {
  std::string out = standstill.dead || standstill.repeats ? reason(standstill) : std::string{};
  out += table(standstill.in_flight);
  if (!standstill.waits.empty()) out += "who waits for what:\n" + listed(standstill.waits);
  return out;
}

}  // namespace warpline
