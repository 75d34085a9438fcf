#include "rtl_models/nvme/nvme_pages.h"

#include <cstring>
#include <string>

#include "rtl_models/base/random.h"
#include "rtl_models/base/text.h"

namespace warpline {
namespace {

/// Text of so many characters, padded with spaces.
void put_text(std::uint8_t* at, std::size_t bytes, const std::string& text) {
  std::memset(at, ' ', bytes);
  std::memcpy(at, text.data(), text.size() < bytes ? text.size() : bytes);
}

/// The last hexadecimal digits of a number.
std::string digits(std::uint64_t number, unsigned count) {
  const std::string all = hexadecimal(number, 16);
  return all.substr(all.size() - count);
}
/// A random one, version 4, as text.
std::string uuid(std::uint64_t first, std::uint64_t second) {
  return digits(first >> 32U, 8) + "-" + digits(first >> 16U, 4) + "-4" + digits(first, 3) + "-8" +
         digits(second >> 48U, 3) + "-" + digits(second, 12);
}

unsigned log2_of(std::uint64_t power) {
  unsigned n = 0;
  while (power >> (n + 1) != 0) ++n;
  return n;
}

// What the specification numbers as it likes.
constexpr unsigned kNamespaceNotices = 1U << 8U;               // OAES
constexpr unsigned kFormat = 1U << 1U;                         // OACS
constexpr unsigned kCompare = 1U << 0U, kDatasets = 1U << 2U,  // ONCS
    kWriteZeroes = 1U << 3U, kSelect = 1U << 4U, kTimestamp = 1U << 6U, kVerify = 1U << 7U;

}  // namespace

std::vector<std::uint8_t> NvmePages::controller() const {
  std::vector<std::uint8_t> page(kBytes);
  const auto put = [&](unsigned at, unsigned bytes, std::uint64_t value) {
    put_number(&page[at], bytes, value);
  };
  put(0, 2, vendor_);                                           // VID
  put(2, 2, vendor_);                                           // SSVID
  put_text(&page[4], 20, "WL" + digits(identifier(0, 0), 16));  // SN
  put_text(&page[24], 40, "Warpline NVMe controller");          // MN
  put_text(&page[64], 8, "1");                                  // FR
  put(77, 1, log2_of(parameters_.max_transfer / 4096));         // MDTS, of pages of CAP.MPSMIN
  put(78, 2, controller_);                                      // CNTLID
  put(80, 4, 0x0001'0400);                                      // VER
  put(92, 4, kNamespaceNotices);                                // OAES
  put(111, 1, 1);                                               // CNTRLTYPE: I/O controller
  put(256, 2, kFormat);                                         // OACS
  put(258, 1, kAborts - 1);                                     // ACL
  put(259, 1, kEventRequests - 1);                              // AERL
  put(260, 1, 0x3);                                             // FRMW: one slot, read-only
  put(261, 1, 0x6);                                             // LPA: commands supported, offsets
  put(262, 1, kErrors - 1);                                     // ELPE
  put(266, 2, 343);                                             // WCTEMP, kelvin
  put(268, 2, 353);                                             // CCTEMP
  put(512, 1, 0x66);                                            // SQES
  put(513, 1, 0x44);                                            // CQES
  put(516, 4, parameters_.namespaces);                          // NN
  put(520, 2, kCompare | kDatasets | kWriteZeroes | kSelect | kTimestamp | kVerify);  // ONCS
  // VWC: there is a cache, or none; a flush may name all namespaces.
  put(525, 1, 0x6U | (parameters_.write_cache ? 1U : 0U));
  put(536, 4, 0x1);  // SGLS: without alignment
  const std::string name = "nqn.2014-08.org.nvmexpress:uuid:" + uuid(identifier(0, 1), identifier(0, 2));
  std::memcpy(&page[768], name.data(), name.size());  // SUBNQN
  return page;
}

std::uint64_t NvmePages::identifier(std::uint32_t nsid, unsigned part) const {
  return splitmix64(parameters_.seed ^
                    splitmix64(std::uint64_t{controller_} << 40U | std::uint64_t{nsid} << 8U | part));
}

std::vector<std::uint8_t> NvmePages::name_space(NvmeNamespace* space, std::uint32_t nsid) const {
  std::vector<std::uint8_t> page(kBytes);
  if (space == nullptr) return page;
  const auto put = [&](unsigned at, unsigned bytes, std::uint64_t value) {
    put_number(&page[at], bytes, value);
  };
  put(0, 8, space->blocks());               // NSZE
  put(8, 8, space->blocks());               // NCAP
  put(16, 8, space->blocks());              // NUSE
  put(25, 1, NvmeNamespace::kFormats - 1);  // NLBAF
  put(26, 1, space->format());              // FLBAS
  put(33, 1, 0x9);                          // DLFEAT: what is deallocated reads 0, by Write Zeroes, too
  put(104, 8, identifier(nsid, 0));         // NGUID
  put(112, 8, identifier(nsid, 1));
  put(120, 8, identifier(nsid, 2));  // EUI64
  for (unsigned format = 0; format < NvmeNamespace::kFormats; ++format)
    put(128 + 4 * format, 4, NvmeNamespace::shift_of(format) << 16U);  // LBAF
  return page;
}

std::vector<std::uint8_t> NvmePages::descriptors(std::uint32_t nsid) const {
  std::vector<std::uint8_t> page(kBytes);
  unsigned at = 0;
  const auto add = [&](unsigned type, std::uint64_t first, std::uint64_t second, unsigned bytes) {
    page[at] = static_cast<std::uint8_t>(type);
    page[at + 1] = static_cast<std::uint8_t>(bytes);
    put_number(&page[at + 4], 8, first);
    if (bytes > 8) put_number(&page[at + 12], 8, second);
    at += 4 + bytes;
  };
  add(1, identifier(nsid, 2), 0, 8);                     // EUI64
  add(2, identifier(nsid, 0), identifier(nsid, 1), 16);  // NGUID
  add(3, identifier(nsid, 3), identifier(nsid, 4), 16);  // UUID: random, version 4
  std::uint8_t* const uuid = &page[at - 16];
  uuid[6] = static_cast<std::uint8_t>((uuid[6] & 0xFU) | 0x40U);
  uuid[8] = static_cast<std::uint8_t>((uuid[8] & 0x3FU) | 0x80U);
  return page;
}

std::vector<std::uint8_t> NvmePages::active(const std::vector<NvmeNamespace>& spaces, std::uint32_t after) {
  std::vector<std::uint8_t> page(kBytes);
  unsigned at = 0;
  for (std::uint32_t nsid = 1; nsid <= spaces.size(); ++nsid) {
    if (nsid <= after || !spaces[nsid - 1].active()) continue;
    put_number(&page[at], 4, nsid);
    at += 4;
  }
  return page;
}

}  // namespace warpline
