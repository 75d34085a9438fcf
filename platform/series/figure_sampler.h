#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "platform/machine/attachment.h"
#include "platform/series/series_figures.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/document/output_file.h"
#include "rtl_models/sim/engine.h"

namespace warpline {

class GpuPlatform;
class Watcher;

/// What is to be written about a run, span by span.
struct SampleOptions {
  Cycle every = 1000;                ///< cycles of a span; at least 1
  std::string series;                ///< CSV file, or empty
  std::vector<std::string> figures;  ///< see figures_named()
};

/// Where the value of a counter is added in a sample: to its total, and by itself.
struct SampledPlaces {
  static constexpr std::uint32_t kNone = ~0U;
  std::uint32_t total = kNone, instance = kNone;
};

/// Samples figures over time of what a platform does in timed grids. What is loosely timed or runs
/// functionally is left out: nothing there happens in a cycle of its own. No cycle and no counter changes.
/// docs/series.md describes the file.
///
/// A launch is cut into spans of so many cycles and a last one of what is left. What counters count in a
/// launch is the sum of its rows, whatever carries messages, in every tick mode and with any number of
/// threads. Rows are written as time passes.
///
///     FigureSampler& sampler = platform.attach(std::make_unique<FigureSampler>(platform, options, nullptr));
///     Diagnostics faults = sampler.start();
///     ... launches ...
///     std::string failure = sampler.finish();
class FigureSampler final : public Attachment, private SpanListener {
 public:
  /// `timeline`: gets a track of each figure; null: there is none. Both outlive it.
  FigureSampler(GpuPlatform& platform, SampleOptions options, Watcher* timeline);
  ~FigureSampler() override;
  FigureSampler(const FigureSampler&) = delete;
  FigureSampler& operator=(const FigureSampler&) = delete;
  /// It looks between ticks.
  [[nodiscard]] bool needs_order() const override { return false; }

  /// Builds the platform and begins the file. Returns what is wrong with the figures and the file. Called
  /// once, before the first launch, when all buffers are allocated.
  [[nodiscard]] Diagnostics start();
  /// What was counted up to now is of no row. Pre: start() found no fault; no grid is under way.
  void forget();
  /// Writes what is left of a launch that was cut short, and puts the file in its place; without this call
  /// there is none. Returns why that failed, or an empty string. Nothing is sampled any more.
  [[nodiscard]] std::string finish();

  void grids_start(const std::vector<GridLaunch>& grids) override;
  void grids_ended(const std::vector<GridRun>& runs, RunOutcome outcome) override;

 private:
  /// What counters and gauges show at the end of cycle `last`.
  struct Sample {
    Cycle last = 0;
    std::vector<std::uint64_t> counted;  ///< see SampledPlaces
    std::vector<std::uint64_t> held;     ///< of held_
  };
  /// A gauge of all blocks of a kind.
  struct Held {
    std::vector<const Component*> blocks;
    std::string gauge;
  };
  /// Where the numbers of a figure lie in a sample.
  struct Column {
    SeriesFigure figure;
    std::vector<std::size_t> parts, less, wholes;  ///< of `counted`
    std::size_t held = 0;
  };

  Cycle span_ended(Cycle last) override;
  Cycle came_to_rest(Cycle now) override;
  [[nodiscard]] Cycle next_end(Cycle last) const;
  void bind(const std::vector<SeriesFigure>& figures);
  [[nodiscard]] Sample sample(Cycle last);
  void drop_after(Cycle last);
  void write_waiting();
  void close(Cycle now);
  void write(const Sample& sample);
  [[nodiscard]] std::optional<double> value_of(const Column& column, const Sample& sample,
                                               Cycle cycles) const;

  GpuPlatform& platform_;
  SampleOptions options_;
  Watcher* timeline_;
  bool measures_ = false;              ///< the launch under way, or the last one
  std::vector<bool> wanted_;           ///< of each block, in the order of the visit: any counter is sampled
  std::vector<SampledPlaces> places_;  ///< of each counter of these
  std::size_t counted_ = 0;            ///< places in all
  std::vector<Held> held_;
  std::vector<Column> columns_;
  OutputFile file_;
  std::string row_;
  std::uint64_t launches_ = 0;  ///< so far
  std::string kernel_;          ///< of the last
  Sample before_;               ///< the last that was written
  /// Spans that have ended and may yet turn out to have ended after the launch, whose last cycles may be
  /// idle.
  std::deque<Sample> waiting_;
};

}  // namespace warpline
