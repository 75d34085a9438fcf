#include "platform/vfio_user/dma_table.h"

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace warpline::vfio_user {

int DmaTable::map(const DmaMap& window, const Descriptor& file) {
  constexpr std::uint32_t kBoth = DmaMap::kReadable | DmaMap::kWritable;
  if (window.bytes == 0 || (window.flags & ~kBoth) != 0 || (window.flags & kBoth) == 0) return EINVAL;
  if (window.iova + (window.bytes - 1) < window.iova || window.offset + window.bytes < window.bytes)
    return EINVAL;
  if (windows_.size() >= kMostWindows) return ENOSPC;
  const auto after = windows_.lower_bound(window.iova);
  if (after != windows_.end() && after->first - window.iova < window.bytes) return EEXIST;
  if (after != windows_.begin()) {
    const auto before = std::prev(after);
    if (window.iova - before->first < before->second.bytes) return EEXIST;
  }
  Window made{window.bytes, window.flags, nullptr, window.offset};
  if (file) {
    // What is aligned among device addresses is so here.
    if ((window.iova ^ window.offset) % 4096 != 0) return EINVAL;
    const auto identity = MappedFile::identity(file);
    if (const int* const error = std::get_if<int>(&identity)) return *error;
    const auto known = files_.find(std::get<0>(identity));
    if (known != files_.end()) made.file = known->second.lock();
    const std::uint64_t end = window.offset + window.bytes;
    const bool writes = (window.flags & DmaMap::kWritable) != 0;
    // A file may have grown since, have been cut meanwhile, and be open for more than it was.
    if (!made.file || made.file->kept() < end || (writes && !made.file->is_writable())) {
      auto mapped = map_more(file);
      if (const int* const error = std::get_if<int>(&mapped)) return *error;
      made.file = std::get<0>(mapped);
      if (made.file->bytes() < end) return EINVAL;
      if (writes && !made.file->is_writable()) return EACCES;
      files_[std::get<0>(identity)] = made.file;
    }
  }
  windows_.emplace_hint(after, window.iova, std::move(made));
  return 0;
}

std::variant<std::shared_ptr<MappedFile>, int> DmaTable::map_more(const Descriptor& file) {
  std::uint64_t left = kMostMapped;
  for (auto at = mappings_.begin(); at != mappings_.end();) {
    if (const auto mapping = at->lock()) {
      left -= mapping->bytes();
      ++at;
    } else {
      at = mappings_.erase(at);
    }
  }
  if (mappings_.size() >= kMostMappings) return ENOSPC;
  auto mapped = MappedFile::map(file, left);
  if (const auto* const made = std::get_if<std::shared_ptr<MappedFile>>(&mapped)) mappings_.push_back(*made);
  return mapped;
}

bool DmaTable::Piece::is_lost() const {
  return file != nullptr && static_cast<std::uint64_t>(memory - file->memory()) + bytes > file->kept();
}

int DmaTable::unmap(const DmaUnmap& range) {
  if (range.flags == DmaUnmap::kAll) {
    if (range.iova != 0 || range.bytes != 0) return EINVAL;
    clear();
    return 0;
  }
  if (range.flags != 0 || range.bytes == 0 || range.iova + (range.bytes - 1) < range.iova) return EINVAL;
  const auto first = windows_.lower_bound(range.iova);
  auto end = first;
  while (end != windows_.end() && end->first - range.iova < range.bytes) ++end;
  if (first != windows_.begin()) {
    const auto before = std::prev(first);
    if (range.iova - before->first < before->second.bytes) return EINVAL;
  }
  if (first == end) return 0;  // as the kernel's own (VFIO_IOMMU_UNMAP_DMA)
  const auto last = std::prev(end);
  if (last->first - range.iova + last->second.bytes > range.bytes) return EINVAL;
  windows_.erase(first, end);
  for (auto at = files_.begin(); at != files_.end();)
    at = at->second.expired() ? files_.erase(at) : std::next(at);
  return 0;
}

std::optional<DmaTable::Piece> DmaTable::piece(std::uint64_t iova, std::uint64_t bytes, bool writes) const {
  auto at = windows_.upper_bound(iova);
  if (at == windows_.begin()) return std::nullopt;
  --at;
  const Window& window = at->second;
  const std::uint64_t within = iova - at->first;
  if (within >= window.bytes) return std::nullopt;
  if ((window.flags & (writes ? DmaMap::kWritable : DmaMap::kReadable)) == 0) return std::nullopt;
  std::uint8_t* const memory = window.file ? window.file->memory() + window.offset + within : nullptr;
  return Piece{memory, std::min(bytes, window.bytes - within), window.file.get()};
}

std::size_t DmaTable::files() const {
  return static_cast<std::size_t>(
      std::count_if(files_.begin(), files_.end(), [](const auto& file) { return !file.second.expired(); }));
}

}  // namespace warpline::vfio_user
