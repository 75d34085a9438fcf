#include "platform/programs/ptx/memory_handlers.h"

namespace warpline::ptx {
namespace {

/// Sign- or zero-extends the low `from` bytes of `value`.
std::uint64_t extended(std::uint64_t value, unsigned from, bool with_sign) {
  if (!with_sign || from >= 8) return value;
  const std::uint64_t sign = std::uint64_t{1} << (8 * from - 1);
  return (value ^ sign) - sign;
}

void fill_addresses(const Op& op, Frame& f) {
  MemoryAccess& access = *f.issue->access;
  access.active = f.active;
  access.form = AddressForm::per_lane;
  if (op.has_policy)
    std::memcpy(access.policy, f.in<std::uint64_t>(op.r[Op::kPolicy]), sizeof(std::uint64_t) * kWarpLanes);
  const auto offset = static_cast<std::uint64_t>(op.immediate);
  if (op.wide_address) {
    const auto* base = f.in<std::uint64_t>(op.r[Op::kAddress]);
    for (unsigned i = 0; i < kWarpLanes; ++i) access.address[i] = base[i] + offset;
    return;
  }
  const auto* base = f.in<std::uint32_t>(op.r[Op::kAddress]);
  for (unsigned i = 0; i < kWarpLanes; ++i) access.address[i] = static_cast<std::uint32_t>(base[i] + offset);
}

template <class T, class R>
void issue_store(const Op& op, Frame& f) {
  fill_addresses(op, f);
  MemoryAccess& access = *f.issue->access;
  for (unsigned e = 0; e < op.count; ++e) {
    if (op.r[e] == kNoRef) continue;
    const R* from = f.in<R>(op.r[e]);
    std::uint8_t* to = access.data + e * sizeof(T);
    for (unsigned i = 0; i < kWarpLanes; ++i) {
      const T value = static_cast<T>(from[i]);
      std::memcpy(to + std::size_t{i} * MemoryAccess::kMaxLaneBytes, &value, sizeof value);
    }
  }
}

void issue_store_wide(const Op& op, Frame& f) {
  fill_addresses(op, f);
  for (unsigned i = 0; i < kWarpLanes; ++i)
    std::memcpy(f.issue->access->lane_data(i), f.at(op.r[0]) + std::size_t{16} * i, 16);
}

/// T: the element in memory, signed where it extends with its sign. R: the register.
template <class T, class R>
void finish_load(const Op& op, Frame& f) {
  const MemoryAccess& access = *f.loaded;
  for (unsigned e = 0; e < op.count; ++e) {
    if (op.r[e] == kNoRef) continue;
    const std::uint8_t* from = access.data + e * sizeof(T);
    R t[kWarpLanes];
    for (unsigned i = 0; i < kWarpLanes; ++i) {
      T value;
      std::memcpy(&value, from + std::size_t{i} * MemoryAccess::kMaxLaneBytes, sizeof value);
      // NOLINTNEXTLINE(bugprone-signed-char-misuse): a signed element extends with its sign
      t[i] = static_cast<R>(value);
    }
    f.write(op.r[e], t);
  }
}

void finish_load_wide(const Op& op, Frame& f) {
  for (unsigned i = 0; i < kWarpLanes; ++i)
    if ((f.active & kLaneBit[i]) != 0)
      std::memcpy(f.file + op.r[0] + std::size_t{16} * i, f.loaded->lane_data(i), 16);
}

template <class T>
Handler load_into(unsigned register_bytes) {
  switch (register_bytes) {
    case 1: return &finish_load<T, std::uint8_t>;
    case 2: return &finish_load<T, std::uint16_t>;
    case 4: return &finish_load<T, std::uint32_t>;
    default: return &finish_load<T, std::uint64_t>;
  }
}

template <class T>
Handler store_from(unsigned register_bytes) {
  switch (register_bytes) {
    case 1: return &issue_store<T, std::uint8_t>;
    case 2: return &issue_store<T, std::uint16_t>;
    case 4: return &issue_store<T, std::uint32_t>;
    default: return &issue_store<T, std::uint64_t>;
  }
}

}  // namespace

void issue_load(const Op& op, Frame& f) {
  fill_addresses(op, f);
}

void issue_atomic(const Op& op, Frame& f) {
  fill_addresses(op, f);
  MemoryAccess& access = *f.issue->access;
  const std::byte* b = f.at(op.r[1]);
  for (unsigned i = 0; i < kWarpLanes; ++i)
    std::memcpy(access.lane_data(i), b + std::size_t{i} * op.data_bytes, op.data_bytes);
  if (op.r[Op::kSecond] == kNoRef) return;
  const std::byte* c = f.at(op.r[Op::kSecond]);
  if (op.data_bytes > sizeof access.second[0]) {
    for (unsigned i = 0; i < kWarpLanes; ++i)
      std::memcpy(access.lane_data(i) + op.data_bytes, c + std::size_t{i} * op.data_bytes, op.data_bytes);
    return;
  }
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    access.second[i] = 0;
    std::memcpy(&access.second[i], c + std::size_t{i} * op.data_bytes, op.data_bytes);
  }
}

void issue_vector_atomic(const Op& op, Frame& f) {
  fill_addresses(op, f);
  MemoryAccess& access = *f.issue->access;
  const std::byte* list = f.at(op.r[Op::kSecond]);
  for (unsigned e = 0; e < op.count; ++e) {
    Ref ref = kNoRef;
    std::memcpy(&ref, list + e * sizeof ref, sizeof ref);
    const std::byte* b = f.at(ref);
    for (unsigned i = 0; i < kWarpLanes; ++i)
      std::memcpy(access.lane_data(i) + std::size_t{e} * op.data_bytes, b + std::size_t{i} * op.data_bytes,
                  op.data_bytes);
  }
}

Handler store_handler(unsigned data_bytes, unsigned register_bytes) {
  switch (data_bytes) {
    case 1: return store_from<std::uint8_t>(register_bytes);
    case 2: return store_from<std::uint16_t>(register_bytes);
    case 4: return store_from<std::uint32_t>(register_bytes);
    case 8: return store_from<std::uint64_t>(register_bytes);
    default: return &issue_store_wide;
  }
}

Handler load_handler(DataType type, unsigned register_bytes) {
  const bool with_sign = is_signed(type);
  switch (size_of(type)) {
    case 1:
      return with_sign ? load_into<std::int8_t>(register_bytes) : load_into<std::uint8_t>(register_bytes);
    case 2:
      return with_sign ? load_into<std::int16_t>(register_bytes) : load_into<std::uint16_t>(register_bytes);
    case 4:
      return with_sign ? load_into<std::int32_t>(register_bytes) : load_into<std::uint32_t>(register_bytes);
    case 8: return load_into<std::uint64_t>(register_bytes);
    default: return &finish_load_wide;
  }
}

void read_parameter(const Op& op, Frame& f) {
  const std::byte* block = f.file + op.r[Op::kAddress] + op.immediate;
  for (unsigned e = 0; e < op.count; ++e) {
    if (op.r[e] == kNoRef) continue;
    for (unsigned i = 0; i < kWarpLanes; ++i) {
      if ((f.active & kLaneBit[i]) == 0) continue;
      std::array<std::uint64_t, 2> value{};
      std::memcpy(value.data(), block + std::size_t{i} * op.target + std::size_t{e} * op.data_bytes,
                  op.data_bytes);
      if (op.data_bytes < 8) value[0] = extended(value[0], op.data_bytes, op.mode == 1);
      std::memcpy(f.file + op.r[e] + std::size_t{i} * op.register_bytes, value.data(), op.register_bytes);
    }
  }
}

void write_parameter(const Op& op, Frame& f) {
  std::byte* block = f.file + op.r[Op::kAddress] + op.immediate;
  for (unsigned e = 0; e < op.count; ++e) {
    const std::byte* from = f.at(op.r[e]);
    for (unsigned i = 0; i < kWarpLanes; ++i)
      if ((f.active & kLaneBit[i]) != 0)
        std::memcpy(block + std::size_t{i} * op.target + std::size_t{e} * op.data_bytes,
                    from + std::size_t{i} * op.register_bytes, op.data_bytes);
  }
}

}  // namespace warpline::ptx
