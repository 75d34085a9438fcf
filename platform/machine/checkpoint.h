#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

struct CheckpointFile;

/// A checkpoint that GpuPlatform::save() wrote, read and found whole. It restores any number of platforms.
class WARPLINE_PUBLIC Checkpoint {
 public:
  /// Reads one to the end of `in`. `name` is what faults call it. Faults: it is none, was saved by another
  /// version of Warpline, is cut off, or damaged: any bit that differs from what was saved is found.
  [[nodiscard]] static Result<Checkpoint> read(std::istream& in, const std::string& name = "checkpoint");

  /// What GpuPlatform::save() was given beside the platform.
  [[nodiscard]] const std::string& note() const;
  [[nodiscard]] const std::string& name() const;
  /// For the platform.
  [[nodiscard]] const CheckpointFile& file() const { return *file_; }

 private:
  explicit Checkpoint(std::shared_ptr<const CheckpointFile> file) : file_(std::move(file)) {}
  std::shared_ptr<const CheckpointFile> file_;
};

}  // namespace warpline
