#include "platform/consistency/graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "rtl_models/base/text.h"

namespace warpline::litmus {
namespace {

/// Graphviz has no escape for control characters.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) out += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return out;
}

std::string label_of(const Candidate& c, Values& values, unsigned n) {
  const Event& e = c.events[n];
  if (e.thread == Event::kInitial) {
    std::string name;
    for (const Location& l : c.test.locations)
      if (l.memory == e.memory && name.empty()) name = l.name;
    return fmt::format("{} = {}", name, c.test.memories[e.memory].initial);
  }
  std::string out = escaped(e.instruction->text);
  if (e.partner != Event::kNone) out += e.kind == EventKind::read ? " (read)" : " (write)";
  if (e.kind != EventKind::read) return out;
  for (unsigned v = 0; v < c.paths[e.thread]->values.size(); ++v) {
    const Value& value = c.paths[e.thread]->values[v];
    if (value.kind != Value::Kind::read || value.event != e.in_path) continue;
    if (const auto read = values.of(e.thread, v)) out += fmt::format(" = {}", *read);
  }
  return out;
}

/// Pairs of a transitive relation that no third event lies between.
Relation immediate(const Relation& r) {
  return r - r.then(r);
}

void edges(std::string& out, const Relation& r, const char* name, const char* color) {
  for (unsigned a = 0; a < r.size(); ++a)
    r.row(a).each([&](unsigned b) {
      out += fmt::format("  e{} -> e{} [label=\"{}\", color={}, fontcolor={}, constraint=false];\n", a, b,
                         name, color, color);
    });
}

}  // namespace

std::string draw(const Candidate& c, const std::vector<ReadsFrom>& reads_from, const Relation& coherence,
                 const Causality& causality, std::optional<Axiom> violated) {
  Values values(c, reads_from);
  std::string out =
      fmt::format("digraph \"{}\" {{\n  node [shape=box, fontname=monospace];\n", escaped(c.test.name));
  out += fmt::format("  label=\"{}\";\n",
                     violated ? fmt::format("forbidden: {}", name_of(*violated)) : "allowed");
  for (unsigned t = 0; t < c.paths.size(); ++t) {
    const Thread& thread = c.test.threads[t];
    out += fmt::format("  subgraph cluster_{} {{\n    label=\"{}: gpu {}, CTA {}\";\n", t, thread.name,
                       thread.place.gpu, thread.place.cta);
    for (unsigned n = 0; n < c.size; ++n)
      if (c.events[n].thread == t) out += fmt::format("    e{} [label=\"{}\"];\n", n, label_of(c, values, n));
    out += "  }\n";
  }
  c.initial.each([&](unsigned n) {
    out += fmt::format("  e{} [label=\"{}\", style=dashed];\n", n, label_of(c, values, n));
  });
  const Relation order = immediate(c.program_order | c.covered | c.uncovered);
  for (unsigned a = 0; a < c.size; ++a)
    order.row(a).each([&](unsigned b) { out += fmt::format("  e{} -> e{};\n", a, b); });
  edges(out, reads_from_relation(c, reads_from), "rf", "red");
  edges(out, immediate(coherence), "co", "blue");
  edges(out, from_reads(c, reads_from, coherence), "fr", "orange");
  edges(out, causality.synchronizes, "sync", "darkgreen");
  return out + "}\n";
}

std::string draw(const ExecutionRecord& record, const RecordedSharing::Contradiction& of) {
  constexpr std::size_t kMost = 32;  // more accesses than that make no readable graph
  std::string out = fmt::format(
      "digraph \"{}\" {{\n  node [shape=box, fontname=monospace];\n  label=\"forbidden: {}: {}\";\n",
      escaped(record.kernel), of.axiom, escaped(of.reason));
  const std::size_t first = of.accesses.size() - std::min(kMost, of.accesses.size());
  for (std::size_t n = first; n < of.accesses.size(); ++n) {
    const RecordedEvent& e = record.events[of.accesses[n]];
    out += fmt::format("  e{} [label=\"{} {}\"];\n", n, escaped(place_of(record, e)),
                       escaped(access_text(record, e)));
    if (n != first) out += fmt::format("  e{} -> e{};\n", n - 1, n);
  }
  return out + "}\n";
}

}  // namespace warpline::litmus
