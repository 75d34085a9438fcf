#include "platform/study/geometry_quantities.h"

#include <algorithm>
#include <numeric>

#include "platform/study/measuring.h"
#include "rtl_models/base/bits.h"

namespace warpline::study {
namespace {

/// A level of caches, and chases through it of which each step is timed.
class TimedChases {
 public:
  TimedChases(BenchDevice& device, const Given& given)
      : device_(device),
        space_(given.word("cache", "l1")),
        constant_(space_ == "constant" || space_ == "constant_second"),
        result_(device.allocate(kMost * 4)) {
    if (!constant_) return;
    device_.run(KernelCall{"constant_base", 1, 1}.pointer(result_));
    device_.read(result_, &base_, sizeof base_);
  }
  [[nodiscard]] bool is_l2() const { return space_ == "l2"; }
  [[nodiscard]] bool is_constant() const { return constant_; }
  [[nodiscard]] const std::string& cache() const { return space_; }

  /// A footprint that the cache holds, and the one before it, if any, does not.
  [[nodiscard]] std::uint64_t least() const {
    return is_l2()                       ? device_.shape().l2_bytes / 8
           : space_ == "constant"        ? 512
           : space_ == "constant_second" ? 8192
                                         : 4096;
  }
  /// The largest footprint that is looked at.
  [[nodiscard]] std::uint64_t most() const {
    return is_l2() ? 4 * device_.shape().l2_bytes : constant_ ? kConstantBytes : std::uint64_t{4} << 20U;
  }

  /// From now on nodes lie in memory that nobody has read, of `bytes` bytes.
  void begin(std::uint64_t bytes) {
    bytes = align_up(bytes, std::uint64_t{4096});
    if (constant_) {
      // Parts of the one variable that there is.
      first_ = constant_used_;
      constant_used_ += align_up(bytes, std::uint64_t{256});
    } else {
      base_ = device_.allocate(bytes);
      if (space_ == "texture") texture_ = device_.texture(base_, bytes / 4);
    }
  }
  /// Cycles of each of `steps` steps, at most kMost, around a ring of nodes in their order, `stride` bytes
  /// apart; one is left out behind every `skip`. `warm`: once all nodes have been read. Of more nodes than
  /// steps, some of the first ones are visited: those that a cache which lets the oldest go has lost.
  std::vector<unsigned> times(std::uint64_t stride, std::uint64_t nodes, unsigned steps, bool warm,
                              std::uint64_t skip = kNone) {
    lay(stride, skip, nodes, steps);
    if (!warm) device_.forget();
    KernelCall call{"timed_" + kernel(), 1, warm && is_l2() ? 1024U : 1U, kMost * 4};
    call.carveout = 0;
    const std::uint64_t at = base_ + first_;
    call.pointer(space_ == "texture" ? texture_ : at).word(stride).word(skip).word(warm ? nodes : 0);
    call.pointer(space_ == "texture" ? 0 : at).word(steps).pointer(result_);
    device_.run(call);
    std::vector<unsigned> out(steps);
    device_.read(result_, out.data(), out.size() * 4);
    return out;
  }

  static constexpr unsigned kMost = 1024;  ///< steps of a chase
  static constexpr std::uint64_t kConstantBytes = 65536;
  static constexpr std::uint64_t kNone = 0xFFFFFFFF;

 private:
  [[nodiscard]] std::string kernel() const {
    return is_l2() ? "cg" : constant_ ? "constant" : space_ == "l1" ? "ca" : space_;
  }
  /// Each node has the place of the next one; the last one that of the first, or of one more.
  void lay(std::uint64_t stride, std::uint64_t skip, std::uint64_t nodes, unsigned steps) {
    // Of all sets of a large cache, as its oldest lines are in the first part of every footprint.
    const std::uint64_t every = std::max<std::uint64_t>(nodes / 32 / steps, 1),
                        visited = std::min<std::uint64_t>(nodes, steps);
    const auto place = [&](std::uint64_t n) { return (n * every + n * every / skip) * stride; };
    const unsigned width = space_ == "texture" ? 4 : 8;
    std::vector<std::uint8_t> bytes(place(visited - 1) + width);
    for (std::uint64_t n = 0; n < visited; ++n) {
      const std::uint64_t next = place(n + 1 == nodes ? 0 : n + 1);
      const std::uint64_t said = space_ == "texture" ? next / 4 : base_ + first_ + next;
      for (unsigned b = 0; b < width; ++b) bytes[place(n) + b] = static_cast<std::uint8_t>(said >> (8 * b));
    }
    if (!constant_) return device_.write(base_, bytes.data(), bytes.size());
    // The whole variable is written: what lies before is not looked at any more.
    bytes.insert(bytes.begin(), first_, 0);
    bytes.resize(std::min<std::uint64_t>(bytes.size(), kConstantBytes));
    device_.write_constant("chain", bytes.data(), bytes.size());
  }

  BenchDevice& device_;
  std::string space_;
  bool constant_;
  std::uint64_t result_, base_ = 0, first_ = 0, texture_ = 0, constant_used_ = 0;
};

/// Tells a hit in the cache from what takes longer.
class Hits {
 public:
  Hits(TimedChases& chases, std::uint64_t node) : chases_(chases), node_(node) {
    hit_ = median_of(walk(chases.least(), node));
  }
  /// The share of steps beyond the cache, of a warm chase over a footprint.
  [[nodiscard]] double missing(std::uint64_t bytes, std::uint64_t stride,
                               std::uint64_t skip = TimedChases::kNone) {
    const std::vector<unsigned> times = walk(bytes, stride, skip);
    const auto slow = std::count_if(times.begin(), times.end(),
                                    [&](unsigned t) { return t > kRise * static_cast<double>(hit_); });
    return static_cast<double>(slow) / static_cast<double>(times.size());
  }
  /// The least footprint found of which the latency has begun to rise; 0: there is none.
  [[nodiscard]] std::uint64_t size() {
    constexpr double kBegun = 0.05;
    const std::uint64_t most = chases_.most();
    const auto fits = [&](std::uint64_t bytes) { return missing(bytes, node_) < kBegun; };
    std::uint64_t low = chases_.least(), high = 2 * low;
    if (!fits(low)) throw BenchError{"a footprint of " + std::to_string(low) + " bytes is no hit"};
    while (high <= most && fits(high)) {
      low = high;
      high *= 2;
    }
    if (high > most) return 0;
    const std::uint64_t precise = std::max(node_, low / (chases_.is_l2() ? 32 : 128) / node_ * node_);
    while (high - low > precise) {
      const std::uint64_t between = low + align_up((high - low) / 2, node_);
      (fits(between) ? low : high) = between;
    }
    return high;
  }

 private:
  std::vector<unsigned> walk(std::uint64_t bytes, std::uint64_t stride,
                             std::uint64_t skip = TimedChases::kNone) {
    const std::uint64_t places = bytes / stride, nodes = places - places / (skip + 1);
    const auto steps = static_cast<unsigned>(std::min<std::uint64_t>(nodes, TimedChases::kMost));
    return chases_.times(stride, nodes, steps, true, skip);
  }
  static constexpr double kRise = 1.3;  ///< farther slices of L2 are no misses

  TimedChases& chases_;
  std::uint64_t node_;
  unsigned hit_ = 0;
};

std::uint64_t node_of(const TimedChases& chases) {
  return chases.is_constant() ? 64 : 128;
}

double cache_size(BenchDevice& device, const QuantityArguments& arguments) {
  TimedChases chases(device, Given(arguments));
  chases.begin(chases.most());
  const std::uint64_t found = Hits(chases, node_of(chases)).size();
  return static_cast<double>(found == 0 ? chases.most() + 1 : found);
}

/// Of a footprint that is a little too large, the rest fits where every k-th line is left out. Where units
/// smaller than a line are left out, no line is. Several k, as sets whose number is a multiple of k are not
/// used evenly.
double line_size(BenchDevice& device, const QuantityArguments& arguments) {
  TimedChases chases(device, Given(arguments));
  chases.begin(2 * chases.most());
  const std::uint64_t node = node_of(chases);
  Hits hits(chases, node);
  const std::uint64_t size = hits.size();
  if (size == 0) throw BenchError{"the cache holds every footprint that there is"};
  for (std::uint64_t unit = 32; unit <= 1024; unit *= 2)
    for (const std::uint64_t k : {3U, 5U, 7U}) {
      // The misses of a step tell those of a line, as long as every step is in another one.
      const std::uint64_t bytes = size + size / (2 * k);
      const double of_all =
          hits.missing(bytes, node) / static_cast<double>(std::max(node / unit, std::uint64_t{1}));
      if (hits.missing(bytes, unit, k - 1) < 0.5 * of_all) return static_cast<double>(unit);
    }
  throw BenchError{"no line of up to 1024 bytes was found"};
}

/// Of nodes that have never been read, each is a miss once none lies in what the one before has fetched.
double fetch_size(BenchDevice& device, const QuantityArguments& arguments) {
  TimedChases chases(device, Given(arguments));
  const bool second = chases.cache() == "constant_second";
  const unsigned nodes = second ? 48 : chases.is_constant() ? 16 : 64;
  for (std::uint64_t stride = second ? 64 : 8; stride <= 512; stride *= 2) {
    chases.begin(nodes * stride);
    const std::vector<unsigned> times = chases.times(stride, nodes, 2 * nodes, false);
    unsigned saved = 0;
    for (unsigned n = 1; n < nodes; ++n) saved += times[n] < 1.15 * times[nodes + n] ? 1U : 0U;
    if (saved <= nodes / 10) return static_cast<double>(stride);
  }
  throw BenchError{"misses fetch more than 512 bytes"};
}

/// What of a step's time is not the load's: the mean of steps that are timed less that of those that are not.
double timing_cost(BenchDevice& device, TimedChases& chases) {
  const unsigned nodes = TimedChases::kMost;
  const std::vector<unsigned> times = chases.times(128, nodes, nodes, true);
  QuantityArguments plain;
  plain.numbers["bytes"] = 128.0 * nodes;
  plain.words["operator"] = "cg";
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / nodes;
  return mean - find_quantity("chase")->measure(device, plain);
}

/// The time that so many per cent of all hits in L2 do not take longer than.
double l2_hit(BenchDevice& device, const QuantityArguments& arguments) {
  QuantityArguments of_l2 = arguments;
  of_l2.words["cache"] = "l2";
  const Given given(of_l2);
  const std::uint64_t nodes = given.number("bytes", 0) / 128;
  if (nodes == 0) throw BenchError{"a footprint has at least a line, 128 bytes"};
  if (nodes * 128 > device.shape().l2_bytes) throw BenchError{"L2 does not hold the footprint"};
  TimedChases chases(device, given);
  chases.begin(std::max<std::uint64_t>(nodes, TimedChases::kMost) * 128);
  std::vector<unsigned> times = chases.times(
      128, nodes, static_cast<unsigned>(std::min<std::uint64_t>(nodes, TimedChases::kMost)), true);
  std::sort(times.begin(), times.end());
  const std::uint64_t at = times.size() * given.number("percentile", 50) / 100;
  return times[std::min<std::uint64_t>(at, times.size() - 1)] - timing_cost(device, chases);
}

}  // namespace

std::vector<Quantity> geometry_quantities() {
  using D = Dimension;
  const std::vector<const char*> sectors = {"l1", "nc", "texture", "l2", "constant", "constant_second"};
  return {
      {"cache_size",
       "the least footprint, bytes, of which the latency has begun to rise",
       D::count,
       {},
       {{"cache", sectors}},
       cache_size},
      {"line_size",
       "bytes that a tag of a cache is for",
       D::count,
       {},
       {{"cache", {"l1", "nc", "texture", "l2", "constant"}}},
       line_size},
      {"fetch_size", "bytes that a miss of a cache fetches", D::count, {}, {{"cache", sectors}}, fetch_size},
      {"l2_hit",
       "SM cycles of the farther hits in L2",
       D::cycles,
       {{"bytes", true}, {"percentile", false, 1, 99}},
       {},
       l2_hit}};
}

}  // namespace warpline::study
