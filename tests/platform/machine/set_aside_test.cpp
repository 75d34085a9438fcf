// The set-aside for evict_last on the presets' own L2, its slices and sets picked as in a run: a hot set as
// large as the set-aside stays while a stream passes, one that outgrows it falls, and a policy for a fraction
// restores what fits (CUDA C++ Best Practices Guide, "Tuning the Access Window Hit-Ratio").
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "platform/config/load_gpu.h"
#include "rtl_models/cache/tag_array.h"
#include "rtl_models/crossbar/crossbar_core.h"
#include "rtl_models/isa/cache_policy.h"

namespace warpline::test {
namespace set_aside_test {

/// The tags of all slices of an L2.
class Tags {
 public:
  explicit Tags(const GpuConfig& c)
      : route_(c.crossbar, c.l2.slices),
        slices_(c.l2.slices, TagArray(c.l2.geometry)),
        set_aside_(std::uint64_t{c.l2.slices} * c.l2.geometry.last_lines()) {}
  /// Of all slices, in lines.
  [[nodiscard]] std::uint64_t set_aside() const { return set_aside_; }
  [[nodiscard]] std::uint64_t lines() const {
    return std::uint64_t{slices_.front().lines()} * slices_.size();
  }

  /// Reads `hot` lines from `first` on, again and again, a stream of half as many lines again as L2 has
  /// passing between; `sixteenths` of them are evict_last, the others evict_first. The hit rate when it has
  /// settled.
  double hit_rate(std::uint64_t first, std::uint64_t hot, unsigned sixteenths = 16) {
    constexpr unsigned kRounds = 4, kCounted = 2;
    CachePolicy policy;
    policy.mode = CachePolicy::Mode::fractional;
    policy.primary = L2Eviction::last;
    policy.secondary = L2Eviction::first;
    policy.sixteenths = sixteenths;
    std::uint64_t hits = 0;
    for (unsigned round = 0; round < kRounds; ++round) {
      for (std::uint64_t n = first; n < first + hot; ++n) {
        const bool last = policy.applied_to(n * kLineBytes) == L2Eviction::last;
        const bool hit = access(n, last ? EvictionPriority::last : EvictionPriority::first);
        hits += round >= kRounds - kCounted && hit;
      }
      for (std::uint64_t n = 0; n < lines() + lines() / 2; ++n) access(kStream + n, EvictionPriority::none);
    }
    return static_cast<double>(hits) / static_cast<double>(hot * kCounted);
  }

 private:
  static constexpr std::uint64_t kStream = std::uint64_t{1} << 24U;
  bool access(std::uint64_t number, EvictionPriority priority) {
    TagArray& tags = slices_[route_.slice_of(PhysicalAddress{number * kLineBytes})];
    const std::uint64_t key = number / slices_.size();
    if (const std::uint32_t found = tags.find(number, key); found != TagArray::kAbsent) {
      tags.use(found, priority);
      return true;
    }
    const EvictionClass eviction = tags.admit(key, priority);
    tags.install(tags.victim(key), number, eviction);
    return false;
  }
  CrossbarCore route_;
  std::vector<TagArray> slices_;
  std::uint64_t set_aside_;
};

class SetAside : public testing::TestWithParam<const char*> {};

TEST_P(SetAside, KeepsWhatFitsLosesWhatDoesNotAndIsRestoredByAFraction) {
  const GpuConfig config = load_gpu(GetParam(), {}).value();
  Tags tags(config);
  const std::uint64_t fits = tags.set_aside();
  EXPECT_GT(tags.hit_rate(4096, fits / 2), 0.99);
  // Each of these finds the lines of the one before it.
  EXPECT_GT(tags.hit_rate(std::uint64_t{1} << 20U, fits * 9 / 10), 0.95);
  EXPECT_GT(tags.hit_rate(std::uint64_t{2} << 20U, fits), 0.95);
  const double too_large = tags.hit_rate(std::uint64_t{3} << 20U, 2 * fits);
  EXPECT_LT(too_large, 0.1);
  EXPECT_GT(tags.hit_rate(std::uint64_t{4} << 20U, 2 * fits, 8), 0.45) << "half of it was asked to stay";
}

INSTANTIATE_TEST_SUITE_P(Presets, SetAside, testing::Values("a100", "v100", "mini"),
                         [](const auto& preset) { return std::string(preset.param); });

}  // namespace set_aside_test
}  // namespace warpline::test
