#pragma once

#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/document/random_access_file.h"
#include "rtl_models/nvme/nvme_parameters.h"

namespace warpline {

/// Opens a file that is to be a namespace: plain, writable, of blocks of 4096 bytes, one at least, and nobody
/// else's. Why it cannot be, a sentence; empty: it is open.
[[nodiscard]] std::string open_namespace_file(const std::string& path, RandomAccessFile& file);

/// What is wrong with the files that `parameters` name, under "PATH.files".
[[nodiscard]] Problems nvme_file_problems(const NvmeParameters& parameters, const std::string& path);

}  // namespace warpline
