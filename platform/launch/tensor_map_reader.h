#pragma once

#include <vector>

#include "platform/launch/launch_file.h"
#include "rtl_models/document/document.h"

namespace warpline {

/// What stands in the braces of `tensor_map = { ... }` but the buffer: shape, strides, box and the like. Its
/// element type and what follows from that come by resolve_tensor_map().
[[nodiscard]] TensorMap read_tensor_map(const Document& document, TableReader& reader, Diagnostics& faults);

/// Gives the map the type of its buffer's elements, and strides where it has none; faults name the key.
void resolve_tensor_map(const Document& document, const Buffer& buffer, LaunchTensorMap& map,
                        Diagnostics& faults);

}  // namespace warpline
