#include "platform/cli/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/cli/console.h"
#include "rtl_models/base/text.h"

namespace warpline {
namespace {

constexpr int kBarColumns = 24;
constexpr auto kInterval = std::chrono::milliseconds(100);

std::string rate_text(double per_second, const char* unit) {
  if (per_second >= 1e6) return fmt::format("{:.1f} M{}/s", per_second / 1e6, unit);
  if (per_second >= 1e3) return fmt::format("{:.1f} k{}/s", per_second / 1e3, unit);
  return fmt::format("{:.0f} {}/s", per_second, unit);
}

std::string left_text(double done, double seconds) {
  if (done <= 0.001) return "";
  const double left = seconds / done - seconds;
  if (left >= 3600) return fmt::format(", {:.1f} h left", left / 3600);
  if (left >= 90) return fmt::format(", {:.0f} min left", left / 60);
  return fmt::format(", {:.0f} s left", left);
}

}  // namespace

std::string progress_text(double done, Cycle cycles, double seconds, const std::string& what,
                          const char* unit) {
  const double share = std::clamp(done, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(share * kBarColumns);
  std::string out = fmt::format("[{}{}] {:5.1f}%", std::string(full, '#'),
                                std::string(kBarColumns - full, '.'), 100 * share);
  if (seconds > 0)
    out += "  " + rate_text(static_cast<double>(cycles) / seconds, unit) + left_text(share, seconds);
  out += "  " + what;
  if (out.size() > 78) out.resize(78);
  return out;
}

void ProgressBar::launch(std::size_t number, const std::string& kernel) {
  number_ = number;
  kernel_ = launches_ > 1 ? fmt::format("{}/{} {}", number + 1, launches_, kernel) : kernel;
}

void ProgressBar::update(double fraction, Cycle now) {
  if (!enabled_ || Clock::now() - last_ < kInterval) return;
  last_ = Clock::now();
  const double done =
      (static_cast<double>(number_) + fraction) / static_cast<double>(std::max<std::size_t>(launches_, 1));
  const std::chrono::duration<double> seconds = last_ - start_;
  print_control("\r\033[K" + printable(progress_text(done, now, seconds.count(), kernel_, unit_)));
  drawn_ = true;
}

void ProgressBar::clear() {
  if (drawn_) print_control("\r\033[K");
  drawn_ = false;
}

}  // namespace warpline
