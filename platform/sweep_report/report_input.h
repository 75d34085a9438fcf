#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/sweep_report/observed_runs.h"
#include "platform/sweep_report/subjects.h"

namespace warpline::sweep {

/// What the sections of a report are made of.
struct ReportInput {
  const StudyResults& results;
  const std::vector<Factor>& factors;
  const std::vector<Subject>& subjects;
  const std::vector<std::vector<Moved>>&
      moved;  ///< of each subject, between the levels of its strongest factor
  const std::vector<std::vector<ObservedRun>>& observed;  ///< of each subject: profiles, figures over time
  const std::vector<Metric>& metrics;  ///< the first is what points are judged by: less is better
  std::optional<std::pair<std::string, std::string>> pareto, heat;  ///< what the user has asked for
};

/// A section of the page.
struct Section {
  std::string id, title;
  bool is_inner = false;  ///< of the one before it
  std::string html;       ///< without its heading
};

/// What the study shows, in sentences and tables.
[[nodiscard]] Section overview_section(const ReportInput& in);
/// Points that are best in one of two things without being worse in the other.
[[nodiscard]] Section pareto_section(const ReportInput& in);
/// All about a workload or a kernel: the parts below, one after the other.
[[nodiscard]] Section subject_section(const ReportInput& in, std::size_t subject);
/// The `id` of that section.
[[nodiscard]] std::string subject_id(const ReportInput& in, const Subject& subject);
/// Points that did not finish, and why.
[[nodiscard]] Section failures_section(const ReportInput& in);
/// All points, to be sorted and searched, with the command that repeats each.
[[nodiscard]] Section points_section(const ReportInput& in);
/// What was varied, what was not, and the files.
[[nodiscard]] Section configuration_section(const ReportInput& in);

/// Parts of the page of a workload or a kernel, of which there is nothing where they have nothing to say.
/// What each key does, and why.
[[nodiscard]] std::string effects_part(const ReportInput& in, std::size_t subject);
/// What warps waited for at the points that are compared.
[[nodiscard]] std::string stalls_part(const ReportInput& in, std::size_t subject);
/// Of each point that is shown, the hottest lines and figures over time.
[[nodiscard]] std::string observed_part(const ReportInput& in, std::size_t subject);
/// What warps of each workload or kernel wait for at its best point, for the overview.
[[nodiscard]] std::string stalls_overview(const ReportInput& in);
/// Metrics against keys, as lines and heat maps.
[[nodiscard]] std::string plots_part(const ReportInput& in, std::size_t subject);
/// Figures by the values of every key: the evidence for what the keys do.
[[nodiscard]] std::string figures_part(const ReportInput& in, std::size_t subject);
/// How far the runs are from what issue slots and bandwidths allow.
[[nodiscard]] std::string roofline_part(const ReportInput& in, std::size_t subject);
/// What goes through the memory hierarchy at the best and the worst point.
[[nodiscard]] std::string hierarchy_part(const ReportInput& in, std::size_t subject);
/// The counters that change most with the strongest key.
[[nodiscard]] std::string counters_part(const ReportInput& in, std::size_t subject);

/// "dram.channels 1 → 4: 58% fewer cycles", as HTML.
[[nodiscard]] std::string change_sentence(const ReportInput& in, const Subject& subject, std::size_t factor);
/// The figures that tell why: which move with a factor, or, where it does nothing, which it could have moved.
[[nodiscard]] std::string evidence(const ReportInput& in, const Subject& subject, std::size_t factor);
/// Where what a factor does depends on another one, how; else nothing.
[[nodiscard]] std::string dependence(const ReportInput& in, const Subject& subject, std::size_t factor);
/// What a subject's runs wait for, as sentences of HTML.
[[nodiscard]] std::string limit_sentence(const ReportInput& in, const Subject& subject);
/// The same in a few words: what is busiest.
[[nodiscard]] std::string limit_phrase(const ReportInput& in, const Subject& subject);
/// Which levels of a factor are compared: from the one with the most of the metric to that with the least; in
/// its order where it does nothing.
[[nodiscard]] std::pair<std::size_t, std::size_t> compared_levels(const Factor& factor,
                                                                  const Effects& effects, std::size_t number);
/// Factors that change a metric by less are said to do nothing: its most over its least.
constexpr double kLittle = 1.01;

/// The names that `--pareto` takes: metrics, keys with numbers, and "size".
[[nodiscard]] std::vector<std::string> pareto_names(const StudyResults& results,
                                                    const std::vector<std::string>& metrics);
/// The names that `--heat` takes: of factors, and of the keys that are part of one.
[[nodiscard]] std::vector<std::string> heat_names(const std::vector<Factor>& factors);
/// The factor that is, or has a key, called so. Pre: there is one.
[[nodiscard]] std::size_t factor_called(const std::vector<Factor>& factors, const std::string& name);

}  // namespace warpline::sweep
