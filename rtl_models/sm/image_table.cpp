#include "rtl_models/sm/image_table.h"

#include <tuple>

namespace warpline {

std::uint64_t ImageTable::add(const Image& image) {
  const auto key = [](const Image& i) {
    return std::make_tuple(i.is_surface, i.address, i.width, i.height, i.format.type, i.format.components);
  };
  std::size_t n = 0;
  while (n < images_.size() && key(images_[n]) != key(image)) ++n;
  if (n == images_.size()) images_.push_back(image);
  return kFirstHandle + n * kHandleStep;
}

}  // namespace warpline
