#include "platform/sweep_report/observed_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "platform/sweep/beside_run.h"
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
                   [&](std::size_t a, std::size_t b) { return s.positive[a] < s.positive[b]; });
  const auto add = [&](std::size_t n, const char* role) {
    auto at = std::find_if(out.begin(), out.end(), [n](const ObservedRun& o) { return o.run == n; });
    if (at == out.end()) {
      if (out.size() == most) return;
      out.emplace_back().run = n;
      at = out.end() - 1;
    }
    if (role != nullptr) at->roles.emplace_back(role);
  };
  // Those that are asked for have a place before others, and their other names before that one.
  std::vector<std::size_t> wanted;
  for (const std::size_t n : order)
    if (std::find(asked.begin(), asked.end(), point(n)) != asked.end() && wanted.size() < most)
      wanted.push_back(n);
  const auto name = [&](std::size_t n, const char* role) {
    const bool is_wanted = std::find(wanted.begin(), wanted.end(), n) != wanted.end();
    const std::size_t unnamed =
        static_cast<std::size_t>(std::count_if(wanted.begin(), wanted.end(), [&](std::size_t w) {
          return std::none_of(out.begin(), out.end(), [w](const ObservedRun& o) { return o.run == w; });
        }));
    if (is_wanted || out.size() + unnamed < most) add(n, role);
  };
  if (order.size() == 1) {
    name(first, "only");
  } else {
    name(first, "first");
    name(order.back(), "worst");
    name(order.front(), "best");
  }
  for (const std::size_t n : wanted) add(n, "asked for");
  const std::size_t others = most - out.size();
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

/// Whether a launch of these kernels, joined by " + ", is one of `kernel`.
bool is_of(const std::string& launched, const std::string& kernel) {
  return (" + " + launched + " + ").find(" + " + kernel + " + ") != std::string::npos;
}

void read_series(const ResultStore& store, const Subject& s, std::size_t point, ObservedRun& out) {
  const std::string text = store.series_of(point);
  constexpr std::size_t kLaunch = 4;  // columns that say which span a row is
  double before = 0;
  std::vector<double> cycles;  // of each span
  for (const std::string_view row : split(text, '\n')) {
    if (row.empty()) continue;
    const std::vector<std::string> fields = row_fields(row);
    if (out.figures.empty() && fields[0] == "launch") {
      for (std::size_t n = kLaunch; n < fields.size(); ++n) out.figures.emplace_back().name = fields[n];
      continue;
    }
    if (fields.size() != kLaunch + out.figures.size()) throw StoreError{"has a series that is damaged"};
    if (!s.kernel.empty() && !is_of(fields[1], s.kernel)) continue;
    const double first = real_number(fields[2]).value_or(0), last = real_number(fields[3]).value_or(0);
    cycles.push_back(last - first + 1);
    before += cycles.back();
    out.ends.push_back(before);
    for (std::size_t n = 0; n < out.figures.size(); ++n) {
      ObservedFigure& f = out.figures[n];
      f.values.push_back(real_number(fields[kLaunch + n]).value_or(NAN));
      if (f.values.back() > f.most) {
        f.most = f.values.back();
        f.most_at = before;
      }
    }
  }
  // Neighbours together.
  const std::size_t step = std::max<std::size_t>((out.ends.size() + kMostSpans - 1) / kMostSpans, 1);
  out.spans_in_one = step;
  for (ObservedFigure& f : out.figures) {
    std::vector<double> means;
    for (std::size_t n = 0; n < f.values.size(); n += step) {
      double sum = 0, weighed = 0, known = 0;
      for (std::size_t k = n; k < std::min(n + step, f.values.size()); ++k) {
        if (std::isnan(f.values[k])) continue;
        sum += f.values[k];
        weighed += f.values[k] * cycles[k];
        known += cycles[k];
      }
      means.push_back(known > 0 ? weighed / known : NAN);
      f.sums.push_back(known > 0 ? sum : NAN);
    }
    f.values = std::move(means);
  }
  std::vector<double> ends;
  for (std::size_t n = 0; n < out.ends.size(); n += step)
    ends.push_back(out.ends[std::min(n + step, out.ends.size()) - 1]);
  out.ends = std::move(ends);
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
  // Those with the most cycles first: of many subjects, the others have nothing.
  std::vector<std::size_t> order(subjects.size());
  std::iota(order.begin(), order.end(), 0);
  const auto weight = [&subjects](std::size_t s) {
    return std::accumulate(subjects[s].cycles.begin(), subjects[s].cycles.end(), 0.0);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return weight(a) > weight(b); });
  const auto asked_of = [&](std::size_t s) {
    return static_cast<std::size_t>(
        std::count_if(subjects[s].runs.begin(), subjects[s].runs.end(), [&](std::size_t r) {
          return std::find(asked.begin(), asked.end(), results.runs[r].point) != asked.end();
        }));
  };
  const std::size_t usual = std::clamp<std::size_t>(kMostOnPage / subjects.size(), 3, kMostOfSubject);
  std::size_t left = kMostOnPage, still_asked = 0;
  for (const std::size_t s : order) still_asked += asked_of(s);
  for (const std::size_t s : order) {
    const std::size_t own = std::min(asked_of(s), left);
    still_asked -= asked_of(s);
    // What is asked for of others has its place.
    const std::size_t free = left - own - std::min(still_asked, left - own);
    out[s] = chosen(subjects[s], results, kept, asked, own + std::min(usual - std::min(own, usual), free));
    left -= out[s].size();
    for (ObservedRun& run : out[s]) {
      const std::size_t point = results.runs[subjects[s].runs[run.run]].point;
      read_profile(store, subjects[s], point, run);
      read_series(store, subjects[s], point, run);
    }
  }
  return out;
}

}  // namespace warpline::sweep
