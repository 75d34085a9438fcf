#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace warpline::search {

/// A search by NLopt over whole steps of several axes.
struct StepMinimiser {
  /// The methods that suit what is known by its values alone.
  enum class Method : std::uint8_t { direct, crs, bobyqa, cobyla, subplex };

  Method method = Method::direct;
  std::vector<std::int64_t> last;   ///< of each axis, above 0; the first step is 0
  std::vector<std::int64_t> begin;  ///< where local methods begin
  std::uint64_t seed = 1;           ///< of crs
  double tolerance = 0;             ///< local methods end where the cost falls by less of itself; 0: never
  std::size_t most_calls = 1000;    ///< of the cost

  /// Asks for costs until the method is content or has asked most_calls times; whoever answers remembers what
  /// was best. What `cost` throws ends it, and comes out of here.
  void run(const std::function<double(const std::vector<std::int64_t>&)>& cost) const;
};

}  // namespace warpline::search
