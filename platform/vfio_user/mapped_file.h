#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

#include "platform/vfio_user/descriptor.h"

namespace warpline::vfio_user {

/// A client's file, mapped as a whole into this process.
///
/// Its owner may make the file shorter at any time. An access to what is gone then finds zeros, or goes
/// nowhere, and kept() says so; without that it would end the process (SIGBUS). All from there to the end of
/// the mapping is lost then, for good, even if the file grows again.
class MappedFile {
 public:
  /// The mapping, or an errno: EINVAL where the descriptor is of no memory (a memfd, a file in /dev/shm, huge
  /// pages; a file elsewhere may keep an access waiting for ever), ENOMEM where it has more than `most`
  /// bytes.
  [[nodiscard]] static std::variant<std::shared_ptr<MappedFile>, int> map(const Descriptor& file,
                                                                          std::uint64_t most);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::uint8_t* memory() const { return memory_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] bool is_writable() const { return writable_; }
  /// How many bytes of it are the file's, as far as is known: all of them, until something was touched that
  /// the file no longer has.
  [[nodiscard]] std::uint64_t kept() const { return slot_->kept.load(std::memory_order_relaxed); }
  /// Which file it is, whoever opened it: device and inode.
  using Identity = std::pair<dev_t, ino_t>;
  /// Nothing (-1, and an errno) if there is no telling.
  [[nodiscard]] static std::variant<Identity, int> identity(const Descriptor& file);

  /// What the signal's handler knows of a mapping.
  struct Slot {
    std::atomic<std::uintptr_t> begin{0}, end{0};  ///< 0: nobody's
    std::atomic<std::size_t> page{0};
    std::atomic<std::uint64_t> kept{0};
  };

 private:
  MappedFile(std::uint8_t* memory, std::uint64_t bytes, bool writable, Slot& slot)
      : memory_(memory), bytes_(bytes), writable_(writable), slot_(&slot) {}

  std::uint8_t* memory_;
  std::uint64_t bytes_;
  bool writable_;
  Slot* slot_;
};

}  // namespace warpline::vfio_user
