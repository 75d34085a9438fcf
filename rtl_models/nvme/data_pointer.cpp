#include "rtl_models/nvme/data_pointer.h"

#include <algorithm>
#include <array>

namespace warpline {
namespace {

using namespace regs::nvme;

constexpr unsigned kDataBlock = 0, kSegment = 2, kLastSegment = 3;
constexpr std::uint32_t kEntry = 8;  ///< bytes of a PRP entry
/// Of a segment, read at once.
constexpr std::uint32_t kPart = 256 * kSglBytes;

}  // namespace

NvmeStatus DataPointer::begin(const NvmeCommand& command, std::uint32_t bytes, std::uint32_t page) {
  *this = DataPointer{};
  page_ = page;
  left_ = bytes;
  sgl_ = command.psdt() != 0;
  if (!sgl_) return begin_prps(command.data1, command.data2);
  std::array<std::uint8_t, kSglBytes> descriptor{};
  put_number(descriptor.data(), 8, command.data1);
  put_number(descriptor.data() + 8, 8, command.data2);
  // The descriptor of the command is a segment of its own.
  last_ = false;
  const unsigned type = descriptor[kSglIdentifier] >> 4U;
  if (type == kDataBlock) last_ = true;
  return take_descriptors(descriptor.data(), 1);
}

NvmeStatus DataPointer::begin_pages(std::uint64_t list, std::uint32_t bytes, std::uint32_t page) {
  *this = DataPointer{};
  page_ = page;
  left_ = bytes;
  return list % page == 0 ? want_list(list) : refusal(kStatusCodeInvalidPrpOffset);
}

NvmeStatus DataPointer::begin_prps(std::uint64_t first, std::uint64_t second) {
  if (first % 4 != 0) return refusal(kStatusCodeInvalidPrpOffset);
  const auto offset = static_cast<std::uint32_t>(first % page_);
  add(first, static_cast<std::uint32_t>(std::min<std::uint64_t>(left_, page_ - offset)));
  if (left_ == 0) return {};
  if (left_ > page_) return want_list(second);
  if (second % page_ != 0) return refusal(kStatusCodeInvalidPrpOffset);
  add(second, static_cast<std::uint32_t>(left_));
  return {};
}

NvmeStatus DataPointer::want_list(std::uint64_t address) {
  if (address % kEntry != 0) return refusal(kStatusCodeInvalidPrpOffset);
  const std::uint64_t pages = (left_ + page_ - 1) / page_;
  const std::uint64_t fits = (page_ - address % page_) / kEntry;
  wants_ = {address, static_cast<std::uint32_t>(std::min(pages, fits)) * kEntry};
  return {};
}

NvmeStatus DataPointer::take(const std::uint8_t* list) {
  return sgl_ ? take_descriptors(list, wants_.bytes / kSglBytes) : take_prps(list);
}

NvmeStatus DataPointer::take_prps(const std::uint8_t* list) {
  const std::uint32_t count = wants_.bytes / kEntry;
  const bool at_end = (wants_.address + wants_.bytes) % page_ == 0;
  wants_ = {};
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t entry = number_at(list + std::size_t{kEntry} * i, kEntry);
    if (entry % page_ != 0) return refusal(kStatusCodeInvalidPrpOffset);
    // The last entry of a page that does not end the data is the page of the rest of the list.
    if (at_end && i + 1 == count && left_ > page_) return want_list(entry);
    add(entry, static_cast<std::uint32_t>(std::min<std::uint64_t>(left_, page_)));
  }
  return {};
}

NvmeStatus DataPointer::take_descriptors(const std::uint8_t* list, unsigned count) {
  const bool ends = segment_bytes_ == wants_.bytes;  // of what is read, which is all at first
  if (wants_.bytes != 0) {
    segment_ += wants_.bytes;
    segment_bytes_ -= wants_.bytes;
  }
  wants_ = {};
  for (unsigned i = 0; i < count; ++i, list += kSglBytes) {
    if (++descriptors_ > kMostDescriptors) return refusal(kStatusCodeInvalidSglCount);
    const unsigned type = list[kSglIdentifier] >> 4U, subtype = list[kSglIdentifier] & 0xFU;
    const bool is_last = ends && i + 1 == count;
    if ((type != kDataBlock && type != kSegment && type != kLastSegment) || subtype != 0)
      return refusal(kStatusCodeInvalidSglType);
    if (type != kDataBlock)
      return is_last && !last_ ? want_segment(list, type == kLastSegment)
                               : refusal(kStatusCodeInvalidSglSegment);
    if (is_last && !last_) return refusal(kStatusCodeInvalidSglSegment);
    const auto bytes = static_cast<std::uint32_t>(number_at(list + kSglLength, 4));
    const std::uint64_t address = number_at(list + kSglAddress, 8);
    if (bytes > left_ || (bytes != 0 && bytes - 1 > ~std::uint64_t{0} - address))
      return refusal(kStatusCodeInvalidSglLength);
    if (bytes != 0) add(address, bytes);
  }
  if (!ends) {
    want_part();
    return {};
  }
  return left_ == 0 ? NvmeStatus{} : refusal(kStatusCodeInvalidSglLength);
}

NvmeStatus DataPointer::want_segment(const std::uint8_t* descriptor, bool last) {
  segment_ = number_at(descriptor + kSglAddress, 8);
  segment_bytes_ = static_cast<std::uint32_t>(number_at(descriptor + kSglLength, 4));
  if (segment_bytes_ == 0 || segment_bytes_ % kSglBytes != 0 ||
      segment_bytes_ - 1 > ~std::uint64_t{0} - segment_)
    return refusal(kStatusCodeInvalidSglSegment);
  last_ = last;
  want_part();
  return {};
}

void DataPointer::want_part() {
  wants_ = {segment_, std::min(segment_bytes_, kPart)};
}

void DataPointer::add(std::uint64_t address, std::uint32_t bytes) {
  runs_.push_back({address, bytes});
  left_ -= bytes;
}

}  // namespace warpline
