#include "rtl_models/sim/zeroed_bytes.h"

namespace warpline {
namespace {

/// From so many on they are mapped: a guess, some pages. Not where sanitizers are built in, which know where
/// an array of the heap ends, and not where a part of a mapping does.
#ifdef WARPLINE_SANITIZE
constexpr std::size_t kMany = SIZE_MAX;
#else
constexpr std::size_t kMany = 16384;
#endif

}  // namespace

ZeroedBytes::ZeroedBytes(std::size_t size) : size_(size) {
  if (size >= kMany) {
    image_ = std::make_unique<MemoryImage>(size);
    base_ = image_->at(0);
  } else {
    few_.resize(size);
    base_ = few_.data();
  }
}

}  // namespace warpline
