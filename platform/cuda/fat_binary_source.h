#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/cuda/fat_binary.h"
#include "platform/cuda/module_on_device.h"
#include "rtl_models/base/problem.h"

namespace warpline::cuda {

/// The PTX that a program has registered, for a GPU of this compute capability (80 is 8.0; 0: for the newest
/// that there is): one text, or those of all objects that are to be linked (`-rdc=true`). `name` is what
/// messages call it. Faults: there is none, with the flag of nvcc that makes some; it is damaged.
[[nodiscard]] Result<std::vector<PtxText>> texts_of(const FatBinaryWrapper& wrapper,
                                                    unsigned compute_capability, const std::string& name);
/// The same of what a program loads at run time: PTX as a text that ends with a zero, a fat binary, or a
/// wrapper around one.
[[nodiscard]] Result<std::vector<PtxText>> texts_of_image(const void* image, unsigned compute_capability,
                                                          const std::string& name);
/// The same of what has a known length, such as a file; a text needs no zero at its end.
[[nodiscard]] Result<std::vector<PtxText>> texts_of_bytes(std::string_view bytes, unsigned compute_capability,
                                                          const std::string& name);

/// The same of what a program links at run time, where object files of the host and archives of them may
/// come, too. Code without PTX that is built in here is left out: that of CUDA's library of launches from the
/// device.
[[nodiscard]] Result<std::vector<PtxText>> texts_to_link(std::string_view bytes, unsigned compute_capability,
                                                         const std::string& name);

}  // namespace warpline::cuda
