#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <unordered_map>
#include <vector>

#include "platform/search/step_minimiser.h"
#include "rtl_models/base/random.h"

namespace warpline::search {

/// A candidate of a space: of each axis, which step.
using Candidate = std::vector<std::size_t>;

/// What there is to search: every combination of the steps of its axes.
struct Space {
  std::vector<std::size_t> steps;  ///< of each axis, how many, above 0; their product is below 2^63
  std::vector<bool> ordered;       ///< of each axis, whether steps beside each other are alike
};

/// What a candidate is worth.
struct Rating {
  enum class Kind : std::uint8_t {
    met,      ///< it has values, and meets every constraint
    missed,   ///< it has values, and misses a constraint
    failed,   ///< it was evaluated, and has no values
    nothing,  ///< there is no such candidate, which took no evaluation to see
  };
  Kind kind = Kind::nothing;
  double shortfall = 0;        ///< of missed: by how much, above 0
  std::vector<double> values;  ///< of met and missed: one for each objective, of which less is better
};

/// Looks for the least of one objective, or for the front of two, in a space of which an evaluation takes
/// long. Every candidate is evaluated at most once. What is asked for depends on the ratings, the budget and
/// the seed alone, not on how an evaluation is done.
///
/// First come the first candidate that there is and a Latin hypercube; then NLopt's DIRECT looks over the
/// whole space; from the best so far the search goes to neighbours until none is better, and begins again at
/// candidates drawn by the seed. For a front, it goes down by several weights of the objectives, and then
/// from each candidate of the front to its neighbours.
class SpaceSearch {
 public:
  struct Options {
    std::size_t objectives = 1;   ///< 1 or 2
    std::size_t evaluations = 1;  ///< at most, above 0
    std::uint64_t seed = 1;
  };
  /// Whether there is such a candidate: what is cheap to tell.
  using Exists = std::function<bool(const Candidate& candidate)>;
  /// Rates candidates that exist, which may be evaluated at the same time. What it throws ends the search,
  /// and comes out of run().
  using Evaluate = std::function<std::vector<Rating>(const std::vector<Candidate>& candidates)>;

  SpaceSearch(Space space, const Options& options, Exists exists, Evaluate evaluate);
  void run();

  /// Candidates that were evaluated, in that order.
  [[nodiscard]] const std::vector<Candidate>& evaluated() const { return evaluated_; }
  /// Pre: it was looked at.
  [[nodiscard]] const Rating& rating_of(const Candidate& candidate) const;
  /// Whether every candidate of the space has been looked at.
  [[nodiscard]] bool exhausted() const { return ratings_.size() == cells_; }
  /// Those of evaluated() that meet the constraints and that no other is better than: with one objective, the
  /// best, equal ones by the order of the space; with two, the front, the least of the first objective first.
  [[nodiscard]] std::vector<Candidate> best() const;
  /// Of one objective: whether a rating is better than another. What misses a constraint by less is better
  /// than what misses it by more.
  [[nodiscard]] static bool better(const Rating& a, const Rating& b);

 private:
  using Cell = std::uint64_t;  ///< number of a candidate
  /// A cost of ratings, of which less is better: for one objective, or a weight of two.
  using Cost = std::function<double(const Rating& rating)>;
  struct Spent {};

  [[nodiscard]] Cell cell_of(const Candidate& candidate) const;
  [[nodiscard]] Candidate candidate_of(Cell cell) const;
  void rate(const std::vector<Candidate>& candidates);
  const Rating& rated(const Candidate& candidate);
  [[nodiscard]] bool is_known(const Candidate& candidate) const;
  void search();
  void sample();
  void look_over(const Cost& cost);
  void descend(Candidate from, const Cost& cost);
  [[nodiscard]] std::vector<Candidate> around(const Candidate& at, std::size_t part) const;
  [[nodiscard]] std::vector<Candidate> across(const Candidate& at) const;
  [[nodiscard]] const Candidate* least(const Cost& cost) const;
  [[nodiscard]] Cost cost_of(double weight) const;
  void widen_front();
  [[nodiscard]] bool draw(Candidate& candidate);

  Space space_;
  Options options_;
  Exists exists_;
  Evaluate evaluate_;
  Random random_;
  Cell cells_ = 1;
  std::unordered_map<Cell, Rating> ratings_;
  std::vector<Candidate> evaluated_;
  std::size_t limit_ = 0;  ///< of evaluated_, for the stage that runs
};

}  // namespace warpline::search
