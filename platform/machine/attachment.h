#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/sim/run_outcome.h"

namespace warpline {

class InstructionSource;
class Kernel;

/// A grid to run: a kernel, and the GPU it runs on.
struct WARPLINE_PUBLIC GridLaunch {
  Kernel* kernel = nullptr;
  unsigned gpu = 0;
  /// The global lines of L1 and the texture caches of that GPU are invalidated first, by its registers.
  bool invalidate_l1 = true;
  /// It depends on the grid before it in the list, on the same GPU, and may begin when all blocks of that
  /// have said so or ended (PTX ISA, "griddepcontrol").
  bool dependent = false;
};

/// When a grid ran: from cycle `first` to cycle `last`.
struct WARPLINE_PUBLIC GridRun {
  GridLaunch grid;
  Cycle first = 0;
  Cycle last = 0;
};

/// Something that is attached to a platform and hears what happens on it (GpuPlatform::attach): waves,
/// timelines, records. The platform knows nothing else of it, and does the same without it.
class WARPLINE_PUBLIC Attachment {
 public:
  virtual ~Attachment() = default;
  /// Whether it hears of things in the order in which they happen, so that the hardware keeps to one thread.
  [[nodiscard]] virtual bool needs_order() const { return true; }
  /// Grids start now. Memory is as they find it.
  virtual void grids_start(const std::vector<GridLaunch>& /*grids*/) {}
  /// `source`, the program that an SM of GPU `gpu` with `slots` warp slots is to run, or one that wraps it.
  [[nodiscard]] virtual std::unique_ptr<InstructionSource> watched(std::unique_ptr<InstructionSource> source,
                                                                   unsigned gpu, unsigned sm, unsigned slots);
  /// The netlist is at rest, and its time goes on from Engine::now().
  virtual void at_rest() {}
  /// All grids that started have ended, or the run was cut short.
  virtual void grids_ended(const std::vector<GridRun>& /*runs*/, RunOutcome /*outcome*/) {}
  /// A host did `what` from cycle `first` until `last`, as line `where` of its program says.
  virtual void host_did(const std::string& /*what*/, const std::string& /*where*/, Cycle /*first*/,
                        Cycle /*last*/) {}
};

}  // namespace warpline
