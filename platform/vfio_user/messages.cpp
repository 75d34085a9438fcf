#include "platform/vfio_user/messages.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "rtl_models/base/bits.h"

namespace warpline::vfio_user {
namespace {

/// Structures of linux/vfio.h begin with the bytes that they have, as their sender knows them: more than we
/// know is fine.
constexpr std::uint32_t kInfoBytes = 16, kRegionInfoBytes = 32, kSetIrqsBytes = 20, kMapBytes = 32,
                        kUnmapBytes = 24, kMultiBytes = 24;

}  // namespace

Header Header::of(const std::uint8_t* bytes) {
  Header h;
  h.id = static_cast<std::uint16_t>(number_at(bytes, 2));
  h.command = static_cast<std::uint16_t>(number_at(bytes + 2, 2));
  h.bytes = static_cast<std::uint32_t>(number_at(bytes + 4, 4));
  h.flags = static_cast<std::uint32_t>(number_at(bytes + 8, 4));
  h.error = static_cast<std::uint32_t>(number_at(bytes + 12, 4));
  return h;
}

void Header::put(std::uint8_t* to) const {
  put_number(to, 2, id);
  put_number(to + 2, 2, command);
  put_number(to + 4, 4, bytes);
  put_number(to + 8, 4, flags);
  put_number(to + 12, 4, error);
}

std::uint64_t Reader::number(std::size_t bytes) {
  const std::uint8_t* const at = take(bytes);
  return at == nullptr ? 0 : number_at(at, bytes);
}

const std::uint8_t* Reader::take(std::size_t bytes) {
  if (bytes > left_) {
    failed_ = true;
    left_ = 0;
    return nullptr;
  }
  const std::uint8_t* const at = at_;
  at_ += bytes;
  left_ -= bytes;
  return at;
}

Writer& Writer::number(std::uint64_t value, std::size_t count) {
  bytes_.resize(bytes_.size() + count);
  put_number(bytes_.data() + bytes_.size() - count, count, value);
  return *this;
}

Writer& Writer::data(const void* bytes, std::size_t count) {
  const auto* const from = static_cast<const std::uint8_t*>(bytes);
  bytes_.insert(bytes_.end(), from, from + count);
  return *this;
}

std::optional<DmaMap> DmaMap::of(const std::vector<std::uint8_t>& payload) {
  Reader r(payload);
  DmaMap m;
  const std::uint32_t size = r.u32();
  m.flags = r.u32();
  m.offset = r.u64();
  m.iova = r.u64();
  m.bytes = r.u64();
  if (!r.ended_well() || size < kMapBytes) return std::nullopt;
  return m;
}

std::vector<std::uint8_t> DmaMap::payload() const {
  return Writer().u32(kMapBytes).u32(flags).u64(offset).u64(iova).u64(bytes).take();
}

std::optional<DmaUnmap> DmaUnmap::of(const std::vector<std::uint8_t>& payload) {
  Reader r(payload);
  DmaUnmap m;
  const std::uint32_t size = r.u32();
  m.flags = r.u32();
  m.iova = r.u64();
  m.bytes = r.u64();
  if (!r.ended_well() || size < kUnmapBytes) return std::nullopt;
  return m;
}

std::vector<std::uint8_t> DmaUnmap::payload() const {
  return Writer().u32(kUnmapBytes).u32(flags).u64(iova).u64(bytes).take();
}

std::vector<std::uint8_t> DeviceInfo::payload() const {
  return Writer().u32(kInfoBytes).u32(flags).u32(regions).u32(irqs).take();
}

std::optional<RegionInfo> RegionInfo::of(const std::vector<std::uint8_t>& payload) {
  Reader r(payload);
  RegionInfo i;
  const std::uint32_t size = r.u32();
  i.flags = r.u32();
  i.index = r.u32();
  static_cast<void>(r.u32());  // where capabilities are: there are none
  i.bytes = r.u64();
  i.offset = r.u64();
  if (r.failed() || size < kRegionInfoBytes) return std::nullopt;
  return i;
}

std::vector<std::uint8_t> RegionInfo::payload() const {
  return Writer().u32(kRegionInfoBytes).u32(flags).u32(index).u32(0).u64(bytes).u64(offset).take();
}

std::optional<IrqInfo> IrqInfo::of(const std::vector<std::uint8_t>& payload) {
  Reader r(payload);
  IrqInfo i;
  const std::uint32_t size = r.u32();
  i.flags = r.u32();
  i.index = r.u32();
  i.count = r.u32();
  if (!r.ended_well() || size < kInfoBytes) return std::nullopt;
  return i;
}

std::vector<std::uint8_t> IrqInfo::payload() const {
  return Writer().u32(kInfoBytes).u32(flags).u32(index).u32(count).take();
}

std::optional<SetIrqs> SetIrqs::of(const std::vector<std::uint8_t>& payload) {
  Reader r(payload);
  SetIrqs s;
  const std::uint32_t size = r.u32();
  s.flags = r.u32();
  s.index = r.u32();
  s.start = r.u32();
  s.count = r.u32();
  if (r.failed() || size < kSetIrqsBytes) return std::nullopt;
  if (s.data() == kBools) {
    const std::uint8_t* const bools = r.take(s.count);
    if (bools != nullptr) s.bools.assign(bools, bools + s.count);
  }
  if (!r.ended_well()) return std::nullopt;
  return s;
}

std::vector<std::uint8_t> SetIrqs::payload() const {
  Writer w;
  w.u32(static_cast<std::uint32_t>(kSetIrqsBytes + bools.size())).u32(flags).u32(index).u32(start).u32(count);
  return w.data(bools.data(), bools.size()).take();
}

RegionAccess RegionAccess::of(Reader& reader) {
  RegionAccess a;
  a.offset = reader.u64();
  a.region = reader.u32();
  a.count = reader.u32();
  return a;
}

std::optional<std::vector<SmallWrite>> writes_of(const std::vector<std::uint8_t>& payload) {
  Reader r(payload);
  const std::uint64_t count = r.u64();
  if (r.failed() || r.left() % kMultiBytes != 0 || count != r.left() / kMultiBytes) return std::nullopt;
  std::vector<SmallWrite> writes(count);
  for (SmallWrite& w : writes) {
    w.where = RegionAccess::of(r);
    std::copy_n(r.take(w.data.size()), w.data.size(), w.data.begin());
    if (w.where.count == 0 || w.where.count > w.data.size()) return std::nullopt;
  }
  return writes;
}

DmaAccess DmaAccess::of(Reader& reader) {
  DmaAccess a;
  a.address = reader.u64();
  a.count = reader.u64();
  return a;
}

std::optional<Version> Version::of(const std::vector<std::uint8_t>& payload, std::string& why) {
  Reader r(payload);
  Version v;
  v.major = r.u16();
  v.minor = r.u16();
  if (r.failed()) {
    why = "it is shorter than the numbers of a version";
    return std::nullopt;
  }
  std::string text(r.left(), '\0');
  if (!text.empty()) std::copy_n(r.take(text.size()), text.size(), text.begin());
  if (const std::size_t end = text.find('\0'); end != std::string::npos) text.resize(end);
  if (text.empty()) return v;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) {
    why = "what follows the version is no JSON object";
    return std::nullopt;
  }
  const auto capabilities = json.find("capabilities");
  if (capabilities == json.end()) return v;
  if (!capabilities->is_object()) {
    why = "its capabilities are no JSON object";
    return std::nullopt;
  }
  const auto number = [&](const char* name, std::uint64_t& value) {
    const auto at = capabilities->find(name);
    if (at == capabilities->end()) return;
    if (at->is_number_unsigned()) {
      value = at->get<std::uint64_t>();
    } else {
      why = std::string("capability \"") + name + "\" is no number";
    }
  };
  number("max_msg_fds", v.most_descriptors);
  number("max_data_xfer_size", v.most_data);
  if (const auto at = capabilities->find("write_multiple"); at != capabilities->end()) {
    if (at->is_boolean()) {
      v.multiple_writes = at->get<bool>();
    } else {
      why = "capability \"write_multiple\" is neither true nor false";
    }
  }
  if (!why.empty()) return std::nullopt;
  return v;
}

std::vector<std::uint8_t> Version::payload() const {
  nlohmann::json capabilities = {{"max_msg_fds", most_descriptors}, {"max_data_xfer_size", most_data}};
  if (multiple_writes) capabilities["write_multiple"] = true;
  const std::string text = nlohmann::json{{"capabilities", capabilities}}.dump();
  return Writer().u16(major).u16(minor).data(text.c_str(), text.size() + 1).take();
}

}  // namespace warpline::vfio_user
