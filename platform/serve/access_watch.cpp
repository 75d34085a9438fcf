#include "platform/serve/access_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "rtl_models/base/text.h"

namespace warpline {

void AccessWatch::note(const BusAccess& access) {
  const bool again = access.kind == AccessKind::read && now_.reads != 0 && access.bar == now_.access.bar &&
                     access.offset == now_.access.offset && access.bytes == now_.access.bytes &&
                     access.value == now_.access.value;
  if (again) {
    ++now_.reads;
  } else {
    now_ = {access, access.kind == AccessKind::read ? 1ULL : 0ULL};
  }
  if (now_.reads > longest_.reads) longest_ = now_;
  if (access.outcome == AccessOutcome::done) return;
  const Where where{access.bar, access.offset, access.bytes, access.kind, access.outcome};
  const auto found = misses_.find(where);
  if (found != misses_.end()) {
    ++found->second;
  } else if (misses_.size() < kMostPlaces) {
    misses_.emplace(where, 1);
  } else {
    ++others_;
  }
}

std::vector<std::string> AccessWatch::findings() const {
  std::vector<std::pair<Where, std::uint64_t>> misses(misses_.begin(), misses_.end());
  std::stable_sort(misses.begin(), misses.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> out;
  for (const auto& [where, count] : misses) {
    const auto [bar, offset, bytes, kind, outcome] = where;
    BusAccess access;
    access.bar = static_cast<std::uint8_t>(bar);
    access.offset = offset;
    const std::string reg = name(access);
    out.push_back(fmt::format("{}: {} of {} at BAR {} {}{}: {}{}", device_, name_of(kind),
                              counted(bytes, "byte"), bar, hexadecimal(offset, 4),
                              reg.empty() ? "" : " " + reg, to_text(outcome),
                              count == 1 ? "" : fmt::format(", {} times", grouped(count))));
  }
  if (others_ != 0)
    out.push_back(fmt::format("{}: {} more at further places", device_, counted(others_, "such access")));
  if (longest_.reads >= kSpin) {
    const std::string reg = name(longest_.access);
    out.push_back(fmt::format(
        "{}: software read {} {} times in a row, and got {} each time", device_,
        reg.empty() ? fmt::format("BAR {} {}", longest_.access.bar, hexadecimal(longest_.access.offset, 4))
                    : reg,
        grouped(longest_.reads), hexadecimal(longest_.access.value)));
  }
  return out;
}

}  // namespace warpline
