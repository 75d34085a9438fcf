#include "platform/sweep_report/observed_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "rtl_models/base/text.h"
#include "rtl_models/sm/stall_reason.h"

namespace warpline::sweep {
namespace {

/// Runs of a page, over all subjects, and of one subject.
constexpr std::size_t kMostOnPage = 60, kMostOfSubject = 12;
/// Spans of a figure that are drawn; of more, neighbours are one.
constexpr std::size_t kMostSpans = 100;

void hottest_first(std::vector<ObservedLine>& lines) {
  std::stable_sort(lines.begin(), lines.end(),
                   [](const ObservedLine& a, const ObservedLine& b) { return a.stalled() > b.stalled(); });
}

/// Which of a subject's runs are shown, by their numbers in it, and as what.
std::vector<ObservedRun> chosen(const Subject& s, const StudyResults& results,
                                const std::set<std::size_t>& kept, const std::vector<std::size_t>& asked,
                                std::size_t most) {
  const auto point = [&](std::size_t n) { return results.runs[s.runs[n]].point; };
  std::vector<std::size_t> order;  // from the best to the worst
  for (std::size_t n = 0; n < s.runs.size(); ++n)
    if (kept.count(point(n)) != 0) order.push_back(n);
  std::vector<ObservedRun> out;
  if (order.empty()) return out;
  const std::size_t first = order.front();
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return s.metric[a] < s.metric[b]; });
  const auto add = [&](std::size_t n, const char* role) {
    auto at = std::find_if(out.begin(), out.end(), [n](const ObservedRun& o) { return o.run == n; });
    if (at == out.end()) {
      out.emplace_back().run = n;
      at = out.end() - 1;
    }
    if (role != nullptr) at->roles.emplace_back(role);
  };
  if (order.size() == 1) {
    add(first, "only");
  } else {
    add(first, "first");
    add(order.back(), "worst");
    add(order.front(), "best");
  }
  for (const std::size_t n : order)
    if (std::find(asked.begin(), asked.end(), point(n)) != asked.end()) add(n, "asked for");
  const std::size_t others = most > out.size() ? most - out.size() : 0;
  for (std::size_t k = 1; k <= others; ++k) {
    // The next one that is not shown yet.
    const auto is_shown = [&](std::size_t at) {
      return std::any_of(out.begin(), out.end(), [&](const ObservedRun& o) { return o.run == order[at]; });
    };
    std::size_t at = k * (order.size() - 1) / (others + 1);
    while (at < order.size() && is_shown(at)) ++at;
    if (at < order.size()) add(order[at], nullptr);
  }
  return out;
}

/// Reads the profile of a subject's run.
void read_profile(const ResultStore& store, const Subject& s, std::size_t point, ObservedRun& out) {
  store.ask(fmt::format("SELECT name, warps, warp_cycles FROM profiled_kernels JOIN kernels ON id = kernel "
                        "WHERE point = {}",
                        point)
                .c_str(),
            [&](const ResultStore::Row& row) {
              if (!s.kernel.empty() && row.text(0) != s.kernel) return;
              out.warps += static_cast<std::uint64_t>(row.number(1));
              out.warp_cycles += static_cast<std::uint64_t>(row.number(2));
            });
  std::map<std::int64_t, ObservedLine> lines;
  store.ask(
      fmt::format("SELECT line, name, place, text, cuda, cuda_text, issued, accesses, sectors, latency, "
                  "shared_conflicts, first_level, l2, dram, link FROM profile_lines "
                  "JOIN source_lines ON source_lines.id = line JOIN kernels ON kernels.id = kernel "
                  "WHERE point = {}",
                  point)
          .c_str(),
      [&](const ResultStore::Row& row) {
        if (!s.kernel.empty() && row.text(1) != s.kernel) return;
        ObservedLine& line = lines[row.number(0)];
        const auto count = [&row](int column) { return static_cast<std::uint64_t>(row.number(column)); };
        line.kernel = row.text(1);
        line.place = row.text(2);
        line.text = row.text(3);
        line.cuda = row.text(4);
        line.cuda_text = row.text(5);
        line.issued = count(6);
        line.accesses = count(7);
        line.sectors = count(8);
        line.latency = count(9);
        line.conflicts = count(10);
        line.first_level = count(11);
        line.l2 = count(12);
        line.answered = count(11) + count(12) + count(13) + count(14);
      });
  store.ask(fmt::format("SELECT line, reason, warp_cycles FROM stalls WHERE point = {}", point).c_str(),
            [&](const ResultStore::Row& row) {
              const auto line = lines.find(row.number(0));
              if (line == lines.end()) return;
              const auto cycles = static_cast<std::uint64_t>(row.number(2));
              line->second.stalls[row.text(1)] += cycles;
              out.stalls[row.text(1)] += cycles;
            });
  for (auto& [number, line] : lines) out.lines.push_back(std::move(line));
  hottest_first(out.lines);
}

/// The fields of a row of CSV without quotes inside, as `--series` writes them.
std::vector<std::string> fields_of(std::string_view row) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (const char c : row) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

/// Whether a launch of these kernels, joined by " + ", is one of `kernel`.
bool is_of(const std::string& launched, const std::string& kernel) {
  return (" + " + launched + " + ").find(" + " + kernel + " + ") != std::string::npos;
}

void read_series(const ResultStore& store, const Subject& s, std::size_t point, ObservedRun& out) {
  const std::string text = store.series_of(point);
  constexpr std::size_t kLaunch = 4;  // columns that say which span a row is
  double before = 0;
  for (const std::string_view row : split(text, '\n')) {
    if (row.empty()) continue;
    const std::vector<std::string> fields = fields_of(row);
    if (out.figures.empty() && fields[0] == "launch") {
      for (std::size_t n = kLaunch; n < fields.size(); ++n) out.figures.push_back({fields[n], {}});
      continue;
    }
    if (fields.size() != kLaunch + out.figures.size()) throw StoreError{"has a series that is damaged"};
    if (!s.kernel.empty() && !is_of(fields[1], s.kernel)) continue;
    const double first = real_number(fields[2]).value_or(0), last = real_number(fields[3]).value_or(0);
    before += last - first + 1;
    out.ends.push_back(before);
    for (std::size_t n = 0; n < out.figures.size(); ++n)
      out.figures[n].values.push_back(real_number(fields[kLaunch + n]).value_or(NAN));
  }
  // Neighbours together.
  const std::size_t step = (out.ends.size() + kMostSpans - 1) / kMostSpans;
  if (step < 2) return;
  const auto joined_of = [step](const std::vector<double>& values, bool mean) {
    std::vector<double> made;
    for (std::size_t n = 0; n < values.size(); n += step) {
      const std::size_t end = std::min(n + step, values.size());
      double sum = 0;
      std::size_t known = 0;
      for (std::size_t k = n; k < end; ++k)
        if (!std::isnan(values[k])) {
          sum += values[k];
          ++known;
        }
      made.push_back(!mean ? values[end - 1] : known == 0 ? NAN : sum / static_cast<double>(known));
    }
    return made;
  };
  out.ends = joined_of(out.ends, false);
  for (ObservedFigure& f : out.figures) f.values = joined_of(f.values, true);
}

}  // namespace

std::uint64_t ObservedLine::stalled() const {
  std::uint64_t sum = 0;
  for (const auto& [reason, cycles] : stalls)
    if (reason != name_of(StallReason::selected)) sum += cycles;
  return sum;
}

std::string ObservedLine::mostly() const {
  std::string most;
  std::uint64_t of_most = 0;
  for (const auto& [reason, cycles] : stalls)
    if (reason != name_of(StallReason::selected) && cycles > of_most) {
      most = reason;
      of_most = cycles;
    }
  return most;
}

void ObservedLine::add(const ObservedLine& other) {
  issued += other.issued;
  accesses += other.accesses;
  sectors += other.sectors;
  latency += other.latency;
  conflicts += other.conflicts;
  first_level += other.first_level;
  l2 += other.l2;
  answered += other.answered;
  for (const auto& [reason, cycles] : other.stalls) stalls[reason] += cycles;
}

std::vector<ObservedLine> ObservedRun::cuda_lines() const {
  std::vector<ObservedLine> out;
  std::map<std::pair<std::string, std::string>, std::size_t> place_of;
  for (const ObservedLine& line : lines) {
    if (line.cuda.empty()) continue;
    const auto [at, is_new] = place_of.try_emplace({line.kernel, line.cuda}, out.size());
    if (is_new) {
      out.push_back(line);
    } else {
      out[at->second].add(line);
    }
  }
  hottest_first(out);
  return out;
}

std::vector<std::size_t> observed_points(const ResultStore& store) {
  std::vector<std::size_t> out;
  store.ask("SELECT point FROM profiled_kernels UNION SELECT point FROM series ORDER BY point",
            [&out](const ResultStore::Row& row) { out.push_back(static_cast<std::size_t>(row.number(0))); });
  return out;
}

std::vector<std::vector<ObservedRun>> observed_runs(const ResultStore& store, const StudyResults& results,
                                                    const std::vector<Subject>& subjects,
                                                    const std::vector<std::size_t>& asked) {
  std::vector<std::vector<ObservedRun>> out(subjects.size());
  const std::vector<std::size_t> points = observed_points(store);
  const std::set<std::size_t> kept(points.begin(), points.end());
  if (kept.empty()) return out;
  const std::size_t most = std::clamp<std::size_t>(kMostOnPage / subjects.size(), 3, kMostOfSubject);
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    out[s] = chosen(subjects[s], results, kept, asked, most);
    for (ObservedRun& run : out[s]) {
      const std::size_t point = results.runs[subjects[s].runs[run.run]].point;
      read_profile(store, subjects[s], point, run);
      read_series(store, subjects[s], point, run);
    }
  }
  return out;
}

}  // namespace warpline::sweep
