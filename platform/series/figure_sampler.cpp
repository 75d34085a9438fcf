#include "platform/series/figure_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "platform/machine/gpu_platform.h"
#include "platform/machine/netlist_backend.h"
#include "platform/observe/watcher.h"
#include "platform/report/run_statistics.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/base/counter.h"
#include "rtl_models/sim/gauge_visitor.h"
#include "rtl_models/sm/kernel.h"

namespace warpline {
namespace {

/// Adds up a gauge of the blocks that it visits.
class GaugeSum final : public GaugeVisitor {
 public:
  explicit GaugeSum(std::string_view name) : name_(name) {}
  void gauge(std::string_view name, std::uint64_t value, std::uint64_t /*most*/,
             std::string_view /*description*/) override {
    if (name == name_) sum_ += value;
  }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }

 private:
  std::string_view name_;
  std::uint64_t sum_ = 0;
};

using Places = SampledPlaces;

/// Finds where in a sample each counter of a platform goes.
class PlaceFinder final : public CounterVisitor {
 public:
  /// `place_of`: by the paths of counters and totals.
  explicit PlaceFinder(const std::unordered_map<std::string, std::uint32_t>& place_of)
      : place_of_(place_of) {}
  [[nodiscard]] bool wants(std::string_view /*block*/) override {
    end_block();
    wanted_.push_back(false);
    return true;
  }
  void counter(std::string_view block, std::string_view name, std::uint64_t /*value*/,
               std::string_view /*unit*/, std::string_view /*description*/) override {
    const std::string path = std::string(block).append(".").append(name);
    const std::string total = total_path(path);
    places_.push_back({place(total), path == total ? Places::kNone : place(path)});
    if (places_.back().total != Places::kNone || places_.back().instance != Places::kNone)
      wanted_.back() = true;
  }
  /// Of the blocks that are `wanted`, in the order of the visit.
  [[nodiscard]] std::vector<Places> take(std::vector<bool>& wanted) {
    end_block();
    wanted = std::move(wanted_);
    return std::move(places_);
  }

 private:
  [[nodiscard]] std::uint32_t place(const std::string& path) const {
    const auto known = place_of_.find(path);
    return known == place_of_.end() ? Places::kNone : known->second;
  }
  void end_block() {
    if (!wanted_.empty() && !wanted_.back()) places_.resize(kept_);
    kept_ = places_.size();
  }

  const std::unordered_map<std::string, std::uint32_t>& place_of_;
  std::vector<bool> wanted_;
  std::vector<Places> places_;
  std::size_t kept_ = 0;  ///< places before this block's
};

/// Adds counters up in a sample.
class PlaceReader final : public CounterVisitor {
 public:
  PlaceReader(const std::vector<bool>& wanted, const std::vector<Places>& places,
              std::vector<std::uint64_t>& sums)
      : wanted_(wanted), places_(places.begin()), end_(places.end()), sums_(sums) {}
  [[nodiscard]] bool wants(std::string_view /*block*/) override {
    WARPLINE_EXPECT(block_ < wanted_.size(), "a netlist keeps its blocks");
    return wanted_[block_++];
  }
  void counter(std::string_view /*block*/, std::string_view /*name*/, std::uint64_t value,
               std::string_view /*unit*/, std::string_view /*description*/) override {
    WARPLINE_EXPECT(places_ != end_, "a netlist keeps its counters");
    if (places_->total != Places::kNone) sums_[places_->total] += value;
    if (places_->instance != Places::kNone) sums_[places_->instance] += value;
    ++places_;
  }

 private:
  const std::vector<bool>& wanted_;
  std::vector<Places>::const_iterator places_, end_;
  std::vector<std::uint64_t>& sums_;
  std::size_t block_ = 0;
};

/// A field of CSV (RFC 4180).
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

FigureSampler::FigureSampler(GpuPlatform& platform, SampleOptions options, Watcher* timeline)
    : platform_(platform), options_(std::move(options)), timeline_(timeline) {}

FigureSampler::~FigureSampler() {
  platform_.backend().engine().tell_spans(nullptr, 0);
}

Diagnostics FigureSampler::start() {
  platform_.build();
  if (options_.figures.empty()) {
    bind(standard_figures(platform_.config()));
  } else {
    CounterTable table;
    static_cast<void>(table.read([this](CounterVisitor& v) { platform_.visit(v); }));
    const auto figures = figures_named(options_.figures, platform_.config(), table.entries());
    if (!figures.ok()) return figures.faults();
    bind(figures.value());
  }
  // What was counted before the first launch is the run's, as in its statistics.
  before_ = {platform_.now(), std::vector<std::uint64_t>(counted_), std::vector<std::uint64_t>(held_.size())};
  if (options_.series.empty()) return {};
  if (const std::string failure = file_.open(options_.series); !failure.empty())
    return {Diagnostic::about("--series", failure)};
  row_ = "launch,kernel,first,last";
  for (const Column& c : columns_) row_ += "," + field(c.figure.name);
  file_.write(row_ + "\n");
  return {};
}

void FigureSampler::bind(const std::vector<SeriesFigure>& figures) {
  std::unordered_map<std::string, std::uint32_t> place_of;
  const auto places_of = [&](const std::vector<std::string>& paths) {
    std::vector<std::size_t> out;
    for (const std::string& path : paths)
      out.push_back(place_of.try_emplace(path, static_cast<std::uint32_t>(place_of.size())).first->second);
    return out;
  };
  for (const SeriesFigure& m : figures) {
    Column column{m, places_of(m.parts), places_of(m.less), places_of(m.wholes), 0};
    if (m.kind == SeriesFigure::Kind::held) {
      column.held = held_.size();
      Held held{{}, m.gauge};
      // Of blocks, total_path() makes the kind: "gpu[1].l2[3]" is an "l2".
      for (const Component* c : platform_.backend().engine().components())
        if (total_path(c->name()) == m.block) held.blocks.push_back(c);
      held_.push_back(std::move(held));
    }
    columns_.push_back(std::move(column));
  }
  counted_ = place_of.size();
  PlaceFinder finder(place_of);
  platform_.visit(finder);
  places_ = finder.take(wanted_);
}

FigureSampler::Sample FigureSampler::sample(Cycle last) {
  Sample now;
  now.last = last;
  now.counted.resize(counted_);
  PlaceReader reader(wanted_, places_, now.counted);
  platform_.visit(reader);
  now.held.reserve(held_.size());
  for (const Held& held : held_) {
    GaugeSum sum(held.gauge);
    for (const Component* c : held.blocks) c->visit_gauges(sum);
    now.held.push_back(sum.sum());
  }
  return now;
}

void FigureSampler::forget() {
  waiting_.clear();
  before_ = sample(platform_.now());
}

void FigureSampler::grids_start(const std::vector<GridLaunch>& grids) {
  Engine& engine = platform_.backend().engine();
  // A host may have gone on after the last grids.
  if (measures_ && engine.now() > before_.last) close(engine.now());
  measures_ = !platform_.is_loose();
  ++launches_;
  kernel_.clear();
  for (const GridLaunch& g : grids) kernel_ += (kernel_.empty() ? "" : " + ") + g.kernel->info().name;
  before_.last = engine.now();
  waiting_.clear();
  engine.tell_spans(measures_ ? this : nullptr, next_end(before_.last));
}

void FigureSampler::grids_ended(const std::vector<GridRun>& /*runs*/, RunOutcome /*outcome*/) {
  if (measures_)
    close(platform_.now());
  else
    forget();
}

/// The end of the span after cycle `last`.
Cycle FigureSampler::next_end(Cycle last) const {
  return options_.every < kNever - last ? last + options_.every : kNever;
}

Cycle FigureSampler::span_ended(Cycle last) {
  waiting_.push_back(sample(last));
  // A grid that is not over ends later, and so does a launch in which something has moved since.
  if (platform_.running() || platform_.backend().engine().last_move() > last) write_waiting();
  return next_end(last);
}

Cycle FigureSampler::came_to_rest(Cycle now) {
  drop_after(now);
  const Cycle last = waiting_.empty() ? before_.last : waiting_.back().last;
  return next_end(last);
}

/// Forgets spans that end after cycle `last`, after which the platform was idle.
void FigureSampler::drop_after(Cycle last) {
  while (!waiting_.empty() && waiting_.back().last > last) waiting_.pop_back();
}

void FigureSampler::write_waiting() {
  for (const Sample& s : waiting_) write(s);
  waiting_.clear();
}

/// Ends the span under way, in cycle `now`, with all that was counted up to there.
void FigureSampler::close(Cycle now) {
  // A block may have counted something of its own after the last cycle in which anything moved.
  if (now > 0) drop_after(now - 1);
  write_waiting();
  Sample end = sample(now);
  if (end.last > before_.last || end.counted != before_.counted) write(end);
}

std::optional<double> FigureSampler::value_of(const Column& column, const Sample& sample,
                                              Cycle cycles) const {
  const auto counted = [&](const std::vector<std::size_t>& places) {
    std::uint64_t sum = 0;
    for (const std::size_t at : places) sum += sample.counted[at] - before_.counted[at];
    return sum;
  };
  const auto part = [&] { return static_cast<double>(counted(column.parts) - counted(column.less)); };
  double whole = 1;
  switch (column.figure.kind) {
    case SeriesFigure::Kind::counted: break;
    case SeriesFigure::Kind::rate: whole = static_cast<double>(cycles) * column.figure.scale; break;
    case SeriesFigure::Kind::ratio: whole = static_cast<double>(counted(column.wholes)); break;
    case SeriesFigure::Kind::held: return static_cast<double>(sample.held[column.held]);
  }
  if (whole == 0) return std::nullopt;
  return part() / whole;
}

void FigureSampler::write(const Sample& sample) {
  const Cycle first = before_.last + 1;
  const Cycle cycles = sample.last - before_.last;
  row_.clear();
  auto out = std::back_inserter(row_);
  if (!options_.series.empty())
    fmt::format_to(out, "{},{},{},{}", launches_, field(kernel_), first, sample.last);
  for (const Column& c : columns_) {
    const std::optional<double> value = value_of(c, sample, cycles);
    if (timeline_ != nullptr)
      timeline_->sampled(c.figure.name, c.figure.unit,
                         c.figure.kind == SeriesFigure::Kind::held ? sample.last : first, value.value_or(0));
    if (options_.series.empty()) continue;
    row_ += ',';
    if (c.figure.kind == SeriesFigure::Kind::counted)
      fmt::format_to(out, "{}", sample.counted[c.parts[0]] - before_.counted[c.parts[0]]);
    else if (c.figure.kind == SeriesFigure::Kind::held)
      fmt::format_to(out, "{}", sample.held[c.held]);
    else if (value)
      fmt::format_to(out, "{:.5g}", *value);
  }
  if (!options_.series.empty()) file_.write(row_ += '\n');
  before_ = sample;
}

std::string FigureSampler::finish() {
  if (measures_) close(platform_.now());
  measures_ = false;
  platform_.backend().engine().tell_spans(nullptr, 0);
  return options_.series.empty() ? std::string{} : file_.close();
}

}  // namespace warpline
