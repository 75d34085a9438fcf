#pragma once

#include <cstdint>
#include <vector>

#include "platform/launch/launch_file.h"
#include "platform/programs/module.h"
#include "rtl_models/base/problem.h"

namespace warpline {

/// The parameter block of a launch, laid out as the entry's signature says (PTX ISA, ".param state space":
/// each parameter at a multiple of its alignment). `addresses` are those of the file's buffers,
/// `handles` those of its images, `places` those of its addresses.
/// Arguments that do not fit the signature, in number or size, are faults that name both.
[[nodiscard]] Result<std::vector<std::uint8_t>> pack_parameters(
    const LaunchFile& file, const Launch& launch, const programs::Entry& entry,
    const std::vector<std::uint64_t>& addresses, const std::vector<std::uint64_t>& handles = {},
    const std::vector<std::uint64_t>& places = {});

}  // namespace warpline
