#pragma once

#include <string>

#include "rtl_models/document/document.h"
#include "rtl_models/sm/image_table.h"

namespace warpline {

/// Reads what the braces of `texture = { ... }` or `surface = { ... }` say of the image itself: sizes, format
/// and how it is sampled. What CUDA's texture and surface objects cannot be is a fault (CUDA runtime API,
/// cudaCreateTextureObject). The image is well formed, with or without faults.
[[nodiscard]] Image read_image_shape(TableReader& reader, bool is_surface);

/// "45 x 21 elements", "8 x 8 x 4 elements in 2 layers and 3 levels".
[[nodiscard]] std::string size_text(const Image& image);

}  // namespace warpline
