#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "platform/vfio_user/mapped_file.h"
#include "platform/vfio_user/messages.h"

namespace warpline::vfio_user {

/// Which device addresses are memory of the client's, and how that is reached.
///
/// With a virtual IOMMU a client maps page by page, each with a descriptor of its own of the same file: all
/// windows of a file share one mapping of it.
class DmaTable {
 public:
  /// Windows at a time; what a client may assume unless it is told less (vfio-user specification,
  /// "max_dma_maps").
  static constexpr std::size_t kMostWindows = 65535;
  /// Bytes of files that are mapped at a time, and mappings of them: of 128 TiB of addresses and 1024
  /// mappings that the process has for all its clients.
  static constexpr std::uint64_t kMostMapped = std::uint64_t{1} << 40U;
  static constexpr std::size_t kMostMappings = 64;

  /// Adds a window. `file`: what it lies in; none: it is reached by messages. An errno: EEXIST where it
  /// overlaps another, EINVAL where the file does not have it, or has it at another place of a page, EACCES
  /// where the file may not be written, ENOMEM or ENOSPC where more would be mapped than may be.
  [[nodiscard]] int map(const DmaMap& window, const Descriptor& file);
  /// Takes away the windows that lie in the range, if any. An errno: EINVAL where one lies in it partly.
  [[nodiscard]] int unmap(const DmaUnmap& range);
  void clear() {
    windows_.clear();
    files_.clear();
  }

  /// Memory side by side.
  struct Piece {
    std::uint8_t* memory = nullptr;  ///< null: to be reached by messages
    std::uint64_t bytes = 0;
    const MappedFile* file = nullptr;  ///< that it lies in
    /// Whether some of it is known to be no longer in the file.
    [[nodiscard]] bool is_lost() const;
  };
  /// The first piece of a range, which ends with its window. Nothing if that address is not mapped, or not
  /// for this. Pre: bytes > 0.
  [[nodiscard]] std::optional<Piece> piece(std::uint64_t iova, std::uint64_t bytes, bool writes) const;
  [[nodiscard]] std::size_t windows() const { return windows_.size(); }
  [[nodiscard]] std::size_t files() const;

 private:
  struct Window {
    std::uint64_t bytes = 0;
    std::uint32_t flags = 0;
    std::shared_ptr<MappedFile> file;  ///< null: by messages
    std::uint64_t offset = 0;
  };

  [[nodiscard]] std::variant<std::shared_ptr<MappedFile>, int> map_more(const Descriptor& file);

  std::map<std::uint64_t, Window> windows_;  ///< by the address at which they begin
  /// The last mapping of each file that windows have, by identity.
  std::map<MappedFile::Identity, std::weak_ptr<MappedFile>> files_;
  std::vector<std::weak_ptr<MappedFile>> mappings_;  ///< of windows, or of none any more
};

}  // namespace warpline::vfio_user
