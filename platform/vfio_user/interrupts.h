#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "platform/vfio_user/descriptor.h"
#include "platform/vfio_user/event_signal.h"
#include "platform/vfio_user/function.h"
#include "platform/vfio_user/messages.h"

namespace warpline::vfio_user {

/// A client's event descriptors, and what SET_IRQS says of them (linux/vfio.h, VFIO_DEVICE_SET_IRQS).
class Interrupts {
 public:
  /// `function` outlives it, and says how many vectors there are.
  explicit Interrupts(const Function& function) : function_(function) {}

  [[nodiscard]] IrqInfo info(std::uint32_t index) const;
  /// An errno, or 0. `descriptors`: that came with it.
  [[nodiscard]] int set(const SetIrqs& request, std::vector<Descriptor> descriptors);
  /// Whether somebody heard it.
  bool raise(IrqKind kind, unsigned vector);

 private:
  struct Line {
    Descriptor event;
    bool masked = false;
    bool pending = false;  ///< raised while masked
  };
  void unmask(IrqKind kind, Line& line);

  const Function& function_;
  EventSignal signal_;
  std::array<std::vector<Line>, kIrqKinds> lines_;
};

}  // namespace warpline::vfio_user
