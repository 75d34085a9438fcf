#pragma once

#include <cstdint>
#include <vector>

#include "platform/launch/launch_file.h"
#include "platform/programs/module.h"
#include "rtl_models/base/problem.h"

namespace warpline {

/// Arguments of a launch that do not fit the entry's signature, in number or size, as faults that name both.
[[nodiscard]] Diagnostics misfits(const LaunchFile& file, const Launch& launch, const programs::Entry& entry);

/// The parameter block of a launch, laid out as the entry's signature says (PTX ISA, ".param state space":
/// each parameter at a multiple of its alignment). Pre: there are no misfits.
[[nodiscard]] std::vector<std::uint8_t> pack_parameters(const PlacedFile& placed, const Launch& launch,
                                                        const programs::Entry& entry);

}  // namespace warpline
