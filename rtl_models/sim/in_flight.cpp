#include "rtl_models/sim/in_flight.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "rtl_models/base/text.h"
#include "rtl_models/sim/cluster_address.h"

namespace warpline {
namespace {

std::string where(const Request& r) {
  if (ClusterAddress::is(r.line)) {
    const ClusterAddress at = ClusterAddress::of(r.line);
    const std::string who =
        "CTA " + std::to_string(at.rank) + " of a cluster, on SM " + std::to_string(at.sm);
    if (at.signal != ClusterAddress::Signal::none) return "the barrier of " + who;
    return "shared memory " + hexadecimal(at.offset) + " of " + who;
  }
  const std::string offset = hexadecimal(offset_in_aperture(r.line));
  switch (aperture_of(r.line)) {
    case Aperture::vidmem: return "vidmem " + offset;
    case Aperture::sysmem: return "sysmem " + offset;
    case Aperture::peer: return "peer " + offset;
    case Aperture::multicast: return "multicast " + offset;
  }
  return "unmapped " + hexadecimal(r.line.value);
}

const char* name_of(LineControl control) {
  constexpr std::array<const char*, 8> kNames = {
      "control", "prefetch into L1", "prefetch into L2", "change of priority",
      "discard", "write-back",       "invalidation",     "reset"};
  static_assert(kNames.size() == static_cast<std::size_t>(LineControl::reset) + 1, "a name each");
  return kNames[static_cast<std::size_t>(control)];
}

std::string command(const Request& r) {
  switch (r.command) {
    case Command::read:
      if (r.sectors == 0) return "prefetch of " + where(r);
      return "read of " + counted(sector_count(r.sectors), "sector") + " at " + where(r);
    case Command::write: return "write of " + counted(sector_count(r.sectors), "sector") + " at " + where(r);
    case Command::atomic:
    case Command::reduce: {
      const std::string name = r.command == Command::atomic ? "atomic" : "reduction";
      return name + (r.atomics != nullptr ? " of " + counted(r.atomics->count, "lane") : "") + " at " +
             where(r);
    }
    case Command::control: return std::string(name_of(r.control)) + " of " + where(r);
    case Command::maintain: break;
  }
  static constexpr std::array<std::pair<std::uint8_t, std::string_view>, 7> kParts = {{
      {maintenance::kDrain, "drain"},
      {maintenance::kDrainSurfaces, "drain of surface stores"},
      {maintenance::kWriteBackSysmem, "write-back of sysmem"},
      {maintenance::kDiscardSysmem, "discard of sysmem"},
      {maintenance::kInvalidate, "invalidation"},
      {maintenance::kInvalidateSurfaces, "invalidation of surface lines"},
      {maintenance::kInvalidateLocal, "invalidation of local lines"},
  }};
  std::vector<std::string_view> parts;
  for (const auto& [bit, name] : kParts)
    if ((r.maintenance & bit) != 0) parts.push_back(name);
  return parts.empty() ? "maintenance" : joined(parts);
}

/// Names those who have requests that a wait is for; leaves it as it is if nobody has.
class Holders {
 public:
  explicit Holders(const std::vector<InFlight>& rows) {
    for (const InFlight& row : rows) rows_[row.request->maker].push_back(&row);
  }
  void name(Wait& wait) const {
    const auto found = rows_.find(wait.answers.maker);
    if (wait.answers.maker == nullptr || found == rows_.end()) return;
    std::vector<std::string> names;
    for (const InFlight* row : found->second) {
      if (wait.answers.covers(*row->request) && row->holder != wait.who &&
          std::find(names.begin(), names.end(), row->holder) == names.end())
        names.push_back(row->holder);
    }
    if (!names.empty()) wait.on = std::move(names);
  }

 private:
  std::unordered_map<const void*, std::vector<const InFlight*>> rows_;
};

}  // namespace

bool Awaited::covers(const Request& r) const {
  return maker == r.maker && (token == kAny || token == r.token) && (warp == kAny || warp == r.warp) &&
         (!writes || r.command == Command::write || r.command == Command::reduce ||
          (r.command == Command::control && r.control == LineControl::discard));
}

std::string describe(const Request& r) {
  std::string out = command(r);
  if (!made_by_sm(r.id)) return out;
  out += r.gpu == 0 ? ", " : ", GPU " + std::to_string(r.gpu) + " ";
  return out + "SM " + std::to_string(r.sm) + " warp " + std::to_string(r.warp);
}

InFlight::InFlight(const Request& r, std::string who, std::string place, std::string why,
                   std::vector<std::string> on, Awaited answers)
    : request(&r),
      id(r.id),
      made(made_by_sm(r.id) ? cycle_of_id(r.id) : kNever),
      what(describe(r)),
      holder(std::move(who)),
      at(std::move(place)),
      wait{holder, std::move(why), std::move(on), answers} {}

void settle(Standstill& standstill) {
  const Holders holders(standstill.in_flight);
  for (InFlight& row : standstill.in_flight) holders.name(row.wait);
  for (Wait& w : standstill.waits) holders.name(w);
  std::stable_sort(
      standstill.in_flight.begin(), standstill.in_flight.end(),
      [](const InFlight& a, const InFlight& b) { return a.made != b.made ? a.made < b.made : a.id < b.id; });
}

void list_all(std::vector<InFlight>& rows, const RequestList& requests, const std::string& holder,
              const std::string& at, const std::string& why, const std::vector<std::string>& on,
              const Awaited& answers) {
  requests.for_each([&](const Request& r) { rows.emplace_back(r, holder, at, why, on, answers); });
}

}  // namespace warpline
