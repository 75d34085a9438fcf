#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warpline::vfio_user {

/// What a message asks for (vfio-user specification, commands; numbers as QEMU 10.1 and later have them).
enum class Command : std::uint16_t {
  version = 1,
  dma_map = 2,
  dma_unmap = 3,
  device_info = 4,
  region_info = 5,
  region_io_fds = 6,
  irq_info = 7,
  set_irqs = 8,
  region_read = 9,
  region_write = 10,
  dma_read = 11,   ///< of the server, of memory that it cannot map
  dma_write = 12,  ///< likewise
  reset = 13,
  region_write_multi = 15,
};

/// What stands before every message. All numbers are little-endian.
struct Header {
  static constexpr std::size_t kBytes = 16;
  static constexpr std::uint32_t kTypes = 0xf, kCommand = 0, kReply = 1;  ///< of flags
  static constexpr std::uint32_t kNoReply = 0x10, kError = 0x20;

  std::uint16_t id = 0;  ///< the sender's own; a reply has that of its command
  std::uint16_t command = 0;
  std::uint32_t bytes = 0;  ///< of the message, header included
  std::uint32_t flags = 0;
  std::uint32_t error = 0;  ///< of a reply that has kError: an errno

  [[nodiscard]] bool is_reply() const { return (flags & kTypes) == kReply; }
  [[nodiscard]] bool wants_reply() const { return (flags & kNoReply) == 0; }
  [[nodiscard]] static Header of(const std::uint8_t* bytes);
  void put(std::uint8_t* bytes) const;
};

/// Bytes that a region access, or a DMA by message, moves at most.
inline constexpr std::uint32_t kMostData = 1U << 20U;
/// The longest message: a DMA's data behind its address and count.
inline constexpr std::uint32_t kMostMessage = Header::kBytes + 16 + kMostData;
/// File descriptors that come with a message at most.
inline constexpr unsigned kMostDescriptors = 8;

/// Regions of a PCI function: its BARs, its ROM, its configuration space (linux/vfio.h).
inline constexpr unsigned kRomRegion = 6, kConfigRegion = 7, kVgaRegion = 8, kRegions = 9;

/// Kinds of interrupts of a PCI function (linux/vfio.h).
enum class IrqKind : std::uint8_t { intx, msi, msix, error, request };
inline constexpr unsigned kIrqKinds = 5;

/// Takes numbers off a message's payload, in its order. Reading past the end gives zeros, and is remembered.
class Reader {
 public:
  Reader(const std::uint8_t* data, std::size_t bytes) : at_(data), left_(bytes) {}
  explicit Reader(const std::vector<std::uint8_t>& payload) : Reader(payload.data(), payload.size()) {}
  [[nodiscard]] std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  [[nodiscard]] std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  [[nodiscard]] std::uint64_t u64() { return number(8); }
  /// The next `bytes` bytes; null if there are not so many.
  [[nodiscard]] const std::uint8_t* take(std::size_t bytes);
  [[nodiscard]] std::size_t left() const { return left_; }
  /// Whether all that was asked for was there, and nothing is left.
  [[nodiscard]] bool ended_well() const { return !failed_ && left_ == 0; }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  [[nodiscard]] std::uint64_t number(std::size_t bytes);

  const std::uint8_t* at_;
  std::size_t left_;
  bool failed_ = false;
};

/// Puts a payload together.
class Writer {
 public:
  Writer& u16(std::uint16_t value) { return number(value, 2); }
  Writer& u32(std::uint32_t value) { return number(value, 4); }
  Writer& u64(std::uint64_t value) { return number(value, 8); }
  Writer& data(const void* bytes, std::size_t count);
  [[nodiscard]] std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  Writer& number(std::uint64_t value, std::size_t count);

  std::vector<std::uint8_t> bytes_;
};

/// DMA_MAP: from now on device addresses [iova, iova + bytes) are memory of the client.
struct DmaMap {
  static constexpr std::uint32_t kReadable = 1, kWritable = 2;
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;  ///< in the file of the descriptor that comes with it, if one does
  std::uint64_t iova = 0;
  std::uint64_t bytes = 0;
  [[nodiscard]] static std::optional<DmaMap> of(const std::vector<std::uint8_t>& payload);
  [[nodiscard]] std::vector<std::uint8_t> payload() const;
};

/// DMA_UNMAP: these addresses are nobody's any more.
struct DmaUnmap {
  static constexpr std::uint32_t kAll = 2;  ///< whatever is mapped; the others must be 0
  std::uint32_t flags = 0;
  std::uint64_t iova = 0;
  std::uint64_t bytes = 0;
  [[nodiscard]] static std::optional<DmaUnmap> of(const std::vector<std::uint8_t>& payload);
  [[nodiscard]] std::vector<std::uint8_t> payload() const;
};

/// A reply to DEVICE_GET_INFO.
struct DeviceInfo {
  static constexpr std::uint32_t kReset = 1, kPci = 2;
  std::uint32_t flags = kReset | kPci;
  std::uint32_t regions = kRegions;
  std::uint32_t irqs = kIrqKinds;
  [[nodiscard]] std::vector<std::uint8_t> payload() const;
};

/// What REGION_INFO asks for and tells.
struct RegionInfo {
  static constexpr std::uint32_t kReadable = 1, kWritable = 2, kMappable = 4;
  std::uint32_t flags = 0;
  std::uint32_t index = 0;
  std::uint64_t bytes = 0;   ///< 0: there is none
  std::uint64_t offset = 0;  ///< in the file of the descriptor that comes with it
  [[nodiscard]] static std::optional<RegionInfo> of(const std::vector<std::uint8_t>& payload);
  [[nodiscard]] std::vector<std::uint8_t> payload() const;
};

/// What IRQ_INFO asks for and tells.
struct IrqInfo {
  static constexpr std::uint32_t kEventfd = 1, kMaskable = 2, kAutomasked = 4, kNoResize = 8;
  std::uint32_t flags = 0;
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  [[nodiscard]] static std::optional<IrqInfo> of(const std::vector<std::uint8_t>& payload);
  [[nodiscard]] std::vector<std::uint8_t> payload() const;
};

/// SET_IRQS: what becomes of `count` interrupts from `start` on.
struct SetIrqs {
  static constexpr std::uint32_t kNoData = 1, kBools = 2, kEventfds = 4;      ///< of flags, one of them
  static constexpr std::uint32_t kMask = 8, kUnmask = 0x10, kTrigger = 0x20;  ///< likewise
  std::uint32_t flags = 0;
  std::uint32_t index = 0;
  std::uint32_t start = 0;
  std::uint32_t count = 0;
  std::vector<std::uint8_t> bools;  ///< `count` of them, with kBools
  [[nodiscard]] std::uint32_t data() const { return flags & 7U; }
  [[nodiscard]] std::uint32_t action() const { return flags & 0x38U; }
  [[nodiscard]] static std::optional<SetIrqs> of(const std::vector<std::uint8_t>& payload);
  [[nodiscard]] std::vector<std::uint8_t> payload() const;
};

/// REGION_READ and REGION_WRITE; a read's reply and a write have `count` bytes of data behind it.
struct RegionAccess {
  static constexpr std::size_t kBytes = 16;
  std::uint64_t offset = 0;
  std::uint32_t region = 0;
  std::uint32_t count = 0;
  [[nodiscard]] static RegionAccess of(Reader& reader);
  void put(Writer& writer) const { writer.u64(offset).u32(region).u32(count); }
};

/// A write of REGION_WRITE_MULTI: 1 to 8 bytes, in a field of 8.
struct SmallWrite {
  RegionAccess where;
  std::array<std::uint8_t, 8> data{};
};
/// Nothing if the payload is not what it says.
[[nodiscard]] std::optional<std::vector<SmallWrite>> writes_of(const std::vector<std::uint8_t>& payload);

/// DMA_READ and DMA_WRITE; a read's reply and a write have `count` bytes of data behind it.
struct DmaAccess {
  static constexpr std::size_t kBytes = 16;
  std::uint64_t address = 0;
  std::uint64_t count = 0;
  [[nodiscard]] static DmaAccess of(Reader& reader);
  void put(Writer& writer) const { writer.u64(address).u64(count); }
};

/// What both sides say of themselves in VERSION.
struct Version {
  static constexpr std::uint16_t kMajor = 0, kMinor = 0;
  std::uint16_t major = kMajor;
  std::uint16_t minor = kMinor;
  /// As the specification has them where nothing is said.
  std::uint64_t most_descriptors = 1;   ///< "max_msg_fds"
  std::uint64_t most_data = kMostData;  ///< "max_data_xfer_size", in bytes
  bool multiple_writes = false;         ///< "write_multiple"
  /// Nothing if it is not JSON that says so, with a sentence in `why`.
  [[nodiscard]] static std::optional<Version> of(const std::vector<std::uint8_t>& payload, std::string& why);
  [[nodiscard]] std::vector<std::uint8_t> payload() const;
};

}  // namespace warpline::vfio_user
