#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/base/divider.h"
#include "rtl_models/base/types.h"
#include "rtl_models/cache/line_hash.h"
#include "rtl_models/crossbar/crossbar_parameters.h"
#include "rtl_models/sim/request.h"
#include "rtl_models/sim/request_pool.h"

namespace warpline {

/// What a crossbar does, without time: which slice a line belongs to, and what becomes of a
/// maintenance request that concerns all of them.
class CrossbarCore {
 public:
  /// `switches`: between GPUs, that it has a way to. Pre: slices > 0, at most 16 masks.
  CrossbarCore(const CrossbarParameters& parameters, unsigned slices, unsigned switches = 0);

  /// The slice of the line at `line`: (line number / 2^slice_shift XOR hash) mod slices, with the aperture
  /// bits part of the line number. All of a peer's lines have slice 0, so that what one SM asks of its
  /// registers gets there in order (`.mmio`).
  [[nodiscard]] unsigned slice_of(PhysicalAddress line) const {
    return aperture_of(line) == Aperture::peer ? 0 : hashed(line);
  }
  /// The output that a request for the line at `line` leaves by: its slice, or behind all slices a switch, of
  /// which those of the memory of several GPUs take turns line by line.
  [[nodiscard]] unsigned output_of(PhysicalAddress line) const {
    if (aperture_of(line) == Aperture::vidmem) return hashed(line);
    if (aperture_of(line) != Aperture::multicast || switches_ == 0) return slice_of(line);
    return static_cast<unsigned>(slices_.divisor() + line_number(line) % switches_);
  }

  /// Notes that `original` goes to every slice. Returns the number its children carry in `token`.
  /// Pre: fewer than 65536 are under way.
  [[nodiscard]] std::uint16_t begin_maintenance(Request* original);
  /// The part of maintenance `number` for one slice, which `maker` sends: the header of the original, its id
  /// included.
  [[nodiscard]] Request* make_child(std::uint16_t number, RequestPool& pool, const void* maker) const;
  /// A child has come back. Returns the original once all have, with the worst status; else null.
  [[nodiscard]] Request* end_child(const Request& child);
  /// Calls visit(number, const Request&) for every original with children not yet back.
  template <class F>
  void for_each_maintenance(F&& visit) const {
    for (std::size_t i = 0; i < maintenance_.size(); ++i)
      if (maintenance_[i].awaited != 0) visit(static_cast<std::uint16_t>(i), *maintenance_[i].original);
  }
  /// Maintenance requests with children not yet back.
  [[nodiscard]] std::size_t maintenance_under_way() const { return maintenance_.size() - free_.size(); }

 private:
  [[nodiscard]] unsigned hashed(PhysicalAddress line) const {
    const std::uint64_t number = line_number(line);
    return static_cast<unsigned>(slices_.remainder(number >> shift_ ^ hash_.of(number)));
  }
  struct Maintenance {
    Request* original = nullptr;
    unsigned awaited = 0;
  };
  Divider slices_;
  unsigned shift_;
  unsigned switches_;
  LineHash hash_;
  std::vector<Maintenance> maintenance_;
  std::vector<std::uint16_t> free_;
};

}  // namespace warpline
