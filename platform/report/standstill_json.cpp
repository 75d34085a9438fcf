#include "platform/report/standstill_json.h"

#include <fmt/format.h>

#include "rtl_models/base/text.h"
#include "rtl_models/sim/wait_graph.h"

namespace warpline {
namespace {

/// Appends a member that is a list, an element a line.
template <class T, class F>
void append_list(std::string& out, const char* name, const std::vector<T>& elements, F&& text) {
  out += fmt::format("  \"{}\": [", name);
  const char* comma = "\n    ";
  for (const T& e : elements) {
    out += comma + text(e);
    comma = ",\n    ";
  }
  out += elements.empty() ? "]" : "\n  ]";
}

}  // namespace

std::string json_list(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(json_string(text));
  return "[" + joined(quoted) + "]";
}

void append_standstill(std::string& out, const Standstill& standstill) {
  append_list(out, "in_flight", standstill.in_flight, [](const InFlight& row) {
    return fmt::format(
        "{{\"id\": {}, \"made\": {}, \"request\": {}, \"holder\": {}, \"at\": {}, \"waits_for\": {}, \"on\": "
        "{}}}",
        row.id, row.made == kNever ? "null" : std::to_string(row.made), json_string(row.what),
        json_string(row.holder), json_string(row.at), json_string(row.wait.what), json_list(row.wait.on));
  });
  out += ",\n";
  append_list(out, "waits", standstill.waits, [](const Wait& w) {
    return fmt::format("{{\"who\": {}, \"waits_for\": {}, \"on\": {}}}", json_string(w.who),
                       json_string(w.what), json_list(w.on));
  });
  out += ",\n";
  const std::vector<WaitEdge> circle = standstill.dead ? circle_of(standstill) : std::vector<WaitEdge>{};
  append_list(out, "circle", circle, [](const WaitEdge& e) { return json_string(e.from); });
  out += "\n";
}

}  // namespace warpline
