#include "platform/vfio_user/interrupts.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

namespace warpline::vfio_user {
namespace {

/// Whether a descriptor is an eventfd: nothing else of a client's is written into.
bool is_event(const Descriptor& d) {
  std::array<char, 64> target{};
  const std::string link = "/proc/self/fd/" + std::to_string(d.number());
  const ssize_t length = readlink(link.c_str(), target.data(), target.size());
  return length > 0 &&
         std::string_view(target.data(), static_cast<std::size_t>(length)) == "anon_inode:[eventfd]";
}

}  // namespace

IrqInfo Interrupts::info(std::uint32_t index) const {
  IrqInfo i;
  i.index = index;
  i.count = function_.vectors(static_cast<IrqKind>(index));
  if (i.count == 0) return i;
  const bool wire = static_cast<IrqKind>(index) == IrqKind::intx;
  i.flags = IrqInfo::kEventfd | (wire ? IrqInfo::kMaskable | IrqInfo::kAutomasked : IrqInfo::kNoResize);
  return i;
}

int Interrupts::set(const SetIrqs& request, std::vector<Descriptor> descriptors) {
  if (request.index >= kIrqKinds) return EINVAL;
  const unsigned vectors = function_.vectors(static_cast<IrqKind>(request.index));
  if (request.start > vectors || request.count > vectors - request.start) return EINVAL;
  const std::uint32_t data = request.data(), action = request.action();
  const bool one_kind = data == SetIrqs::kNoData || data == SetIrqs::kBools || data == SetIrqs::kEventfds;
  const bool one_action =
      action == SetIrqs::kMask || action == SetIrqs::kUnmask || action == SetIrqs::kTrigger;
  if (!one_kind || !one_action || request.flags != (data | action)) return EINVAL;
  if (data == SetIrqs::kEventfds && action != SetIrqs::kTrigger) return ENOTSUP;  // events that mask
  if (data == SetIrqs::kEventfds ? descriptors.size() > request.count : !descriptors.empty()) return EINVAL;
  std::vector<Line>& lines = lines_[request.index];
  if (request.count == 0) {  // all of this kind are off
    if (request.flags != (SetIrqs::kNoData | SetIrqs::kTrigger) || request.start != 0) return EINVAL;
    lines.clear();
    return 0;
  }
  for (const Descriptor& d : descriptors)
    if (!is_event(d)) return EINVAL;
  if (lines.size() < vectors) lines.resize(vectors);
  for (std::uint32_t i = 0; i < request.count; ++i) {
    Line& line = lines[request.start + i];
    const bool chosen = data != SetIrqs::kBools || request.bools[i] != 0;
    if (data == SetIrqs::kEventfds) {
      line = Line{};  // those without an event are off
      if (i < descriptors.size()) line.event = std::move(descriptors[i]);
    } else if (!chosen) {
      continue;
    } else if (action == SetIrqs::kMask) {
      line.masked = true;
    } else if (action == SetIrqs::kUnmask) {
      unmask(static_cast<IrqKind>(request.index), line);
    } else {
      raise(static_cast<IrqKind>(request.index), request.start + i);
    }
  }
  return 0;
}

void Interrupts::unmask(IrqKind kind, Line& line) {
  line.masked = false;
  if (!std::exchange(line.pending, false)) return;
  line.masked = kind == IrqKind::intx;  // a wire masks itself again
  signal_.add(line.event);
}

bool Interrupts::raise(IrqKind kind, unsigned vector) {
  std::vector<Line>& lines = lines_[static_cast<std::size_t>(kind)];
  if (vector >= lines.size() || !lines[vector].event) return false;
  Line& line = lines[vector];
  if (line.masked) {
    line.pending = true;
    return false;
  }
  if (kind == IrqKind::intx) line.masked = true;
  return signal_.add(line.event);
}

}  // namespace warpline::vfio_user
