#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "platform/observe/reuse_distance.h"
#include "rtl_models/document/output_file.h"
#include "rtl_models/sim/recorder.h"

namespace warpline {

/// Finds out how buffers were used: what of them was touched, how soon again, by how many SMs, and what was
/// fetched in vain. It hears of requests that SMs send to L1 and texture caches, and of those that reach L2
/// and DRAM; code, constants and maintenance are none of it.
class ReuseWriter final : public Observer {
 public:
  /// The file is open, and outlives it. `json`: it is JSON, not tables. `buffers`: names of regions, from 1
  /// on, asked for at the end. `other`: what is no declared buffer, and lies at a line as a GPU sees it;
  /// empty: it has no name.
  ReuseWriter(OutputFile& file, bool json, std::function<std::vector<std::string>()> buffers,
              std::function<std::string(std::uint64_t gpu, PhysicalAddress line)> other)
      : file_(file), json_(json), buffers_(std::move(buffers)), other_(std::move(other)) {}

  /// Requests that arrive by this port from a block. Pre: before start().
  void add_hop(const PortBase& request, const Component& sender);

  void start(Cycle first, const std::vector<Signal>& /*signals*/,
             const std::vector<std::uint64_t>& /*values*/) override {
    first_ = first;
  }
  void change(Cycle /*cycle*/, std::uint32_t /*signal*/, std::uint64_t /*value*/) override {}
  void message(const MessageEvent& event) override;
  void finish(Cycle last) override;

 private:
  enum class Level : std::uint8_t { sm, l2, dram };
  struct Hop {
    Level level = Level::sm;
    std::uint64_t gpu = 0;  ///< of the block that it leads to
  };
  /// Cycles of the windows in which a working set is counted; the finest that the file has few enough of
  /// counts.
  static constexpr std::array<Cycle, 5> kWindows{1'000, 10'000, 100'000, 1'000'000, 10'000'000};
  static constexpr std::size_t kMostWindows = 200;
  static constexpr std::size_t kClasses = 48;  ///< of distances: class n ends at 2^n - 1 lines
  using Classes = std::array<std::uint64_t, kClasses>;

  /// Of a declared buffer its region; kOthers on: memory that has another name; 0: that has none.
  using RowNumber = std::uint32_t;
  static constexpr RowNumber kOthers = 0x10000;

  struct Line {
    RowNumber region = 0;
    SectorMask asked = 0, fetched = 0;
    std::uint32_t sms = 0;                                ///< that asked for it
    std::array<std::uint32_t, kWindows.size()> window{};  ///< 1 more than the last in which it was touched
    std::vector<std::uint64_t> by;                        ///< those SMs, a bit each
  };
  struct Reuse {
    Classes within{};         ///< accesses by their distance
    std::uint64_t first = 0;  ///< to lines that were not accessed before
  };
  struct Region {
    std::uint64_t read_requests = 0, write_requests = 0, atomic_requests = 0;
    std::uint64_t read_sectors = 0, written_sectors = 0;
    std::uint64_t fetched = 0, fetched_again = 0;  ///< sectors read from DRAM; of these, those read before
    Reuse by_sm, at_l2;
    std::array<std::vector<std::uint32_t>, kWindows.size()> working_set;  ///< lines by window
    // Of its lines, at the end.
    std::uint64_t lines = 0, sectors = 0, in_vain = 0;
    std::map<unsigned, std::uint64_t> shared;  ///< lines by the number of SMs that asked for them
  };

  void asked(const Hop& hop, const MessageEvent& e);
  void reached_l2(const Hop& hop, const MessageEvent& e);
  void fetched(const Hop& hop, const MessageEvent& e);
  Line& line_of(const Hop& hop, const MessageEvent& e);
  void touch(Line& line, Region& region, Cycle cycle);
  static void count(Reuse& reuse, ReuseDistance& distances, std::uint64_t line);
  void settle_lines();
  [[nodiscard]] RowNumber row_of(const Hop& hop, const MessageEvent& e);
  [[nodiscard]] std::string name_of_region(RowNumber region) const;
  [[nodiscard]] std::size_t scale() const;
  [[nodiscard]] std::string as_tables() const;
  [[nodiscard]] std::string as_json() const;

  OutputFile& file_;
  bool json_;
  Cycle first_ = 0;  ///< that is watched
  std::function<std::vector<std::string>()> buffers_;
  std::function<std::string(std::uint64_t gpu, PhysicalAddress line)> other_;
  std::vector<std::string> names_;   ///< of regions, from 1 on
  std::vector<std::string> others_;  ///< names of rows from kOthers on
  std::unordered_map<const PortBase*, Hop> hops_;
  std::unordered_map<std::uint64_t, Line> lines_;  ///< by address and GPU
  std::map<RowNumber, Region> regions_;
  std::unordered_map<const void*, unsigned> sms_;  ///< numbers of those that have asked for something
  std::vector<ReuseDistance> of_sm_;               ///< by these
  std::map<std::uint64_t, ReuseDistance> of_l2_;   ///< by GPU
};

}  // namespace warpline
