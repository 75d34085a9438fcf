#include "platform/sweep_report/stacked_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "platform/sweep_report/html.h"
#include "rtl_models/sm/stall_reason.h"

namespace warpline::sweep {
namespace {

constexpr double kWidth = 900, kRowHeight = 46, kBarHeight = 20, kLetter = 6.6, kTotal = 150;
/// Narrower parts have no text.
constexpr double kLeastText = 34;

struct Group {
  const char* name;
  std::vector<StallReason> reasons;
};

/// In the order of the parts; each has a colour of its own (report.css).
const std::vector<Group>& groups() {
  using R = StallReason;
  static const std::vector<Group> kGroups = {
      {"issues", {R::selected}},
      {"not selected", {R::not_selected}},
      {"arithmetic", {R::arithmetic, R::pipe, R::tensor_pipe}},
      {"first caches, shared memory", {R::l1, R::texture, R::constant, R::shared, R::cluster_shared}},
      {"L2", {R::l2}},
      {"DRAM", {R::dram}},
      {"links", {R::link}},
      {"queue of loads and stores", {R::memory_queue}},
      {"synchronisation, copies", {R::barrier, R::mbarrier, R::copies, R::ordering, R::grid}},
      {"code, dispatch", {R::no_instruction, R::dispatch}},
      {"other", {R::sleep, R::call_stack, R::registers, R::exit, R::cut_off}}};
  return kGroups;
}

std::uint64_t cycles_of(const StallBar& bar, const Group& group) {
  std::uint64_t sum = 0;
  for (const StallReason r : group.reasons) {
    const auto found = bar.stalls.find(name_of(r));
    if (found != bar.stalls.end()) sum += found->second;
  }
  return sum;
}

}  // namespace

std::string stall_bars_svg(const std::string& title, const std::string& description,
                           const std::vector<StallBar>& bars) {
  std::vector<bool> shown(groups().size(), false);
  std::string rows;
  const double width = kWidth - kTotal;
  for (std::size_t b = 0; b < bars.size(); ++b) {
    const double y = kRowHeight * static_cast<double>(b);
    double all = 0, x = 0;
    for (const auto& [reason, cycles] : bars[b].stalls) all += static_cast<double>(cycles);
    rows +=
        fmt::format("<text class=\"label\" x=\"0\" y=\"{:.0f}\">{}</text>\n", y + 14, escaped(bars[b].label));
    for (std::size_t g = 0; g < groups().size(); ++g) {
      const auto cycles = static_cast<double>(cycles_of(bars[b], groups()[g]));
      if (cycles == 0) continue;
      shown[g] = true;
      const double length = width * cycles / all;
      rows += fmt::format(
          "<g><title>{}, {}: {} of {} warp-cycles, {}</title><rect class=\"t{}\" x=\"{:.1f}\" y=\"{:.0f}\" "
          "width=\"{:.1f}\" height=\"{:.0f}\"/>",
          escaped(bars[b].label), groups()[g].name, number_text(cycles), number_text(all),
          percent_text(cycles / all), g, x, y + 20, length, kBarHeight);
      if (length >= kLeastText)
        rows += fmt::format("<text class=\"x on{}\" x=\"{:.1f}\" y=\"{:.0f}\">{}</text>", g, x + length / 2,
                            y + 34, percent_text(cycles / all));
      rows += "</g>\n";
      x += length;
    }
    rows += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">{} warp-cycles</text>\n", width + 8, y + 34,
                        number_text(all));
  }
  double x = 0, y = kRowHeight * static_cast<double>(bars.size()) + 10;
  for (std::size_t g = 0; g < groups().size(); ++g) {
    if (!shown[g]) continue;
    const double own = 38 + kLetter * static_cast<double>(std::string(groups()[g].name).size());
    if (x > 0 && x + own > kWidth) {
      x = 0;
      y += 18;
    }
    rows += fmt::format(
        "<rect class=\"t{}\" x=\"{:.1f}\" y=\"{:.0f}\" width=\"12\" height=\"12\"/><text class=\"legend\" "
        "x=\"{:.1f}\" y=\"{:.0f}\">{}</text>\n",
        g, x, y, x + 17, y + 10, groups()[g].name);
    x += own;
  }
  return fmt::format(
             "<svg class=\"plot stalls\" viewBox=\"0 0 {:.0f} {:.0f}\" "
             "role=\"img\"><title>{}</title><desc>{}</desc>\n",
             kWidth, y + 20, escaped(title), escaped(description)) +
         rows + "</svg>\n";
}

}  // namespace warpline::sweep
