#include "platform/programs/ptx/memory_handlers.h"

#include <algorithm>

namespace warpline::ptx {
namespace {

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
  copy_lanes(kAllLanes, 16, f.issue->access->data, MemoryAccess::kMaxLaneBytes, f.at(op.r[0]), 16);
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
  copy_lanes(f.active, 16, f.file + op.r[0], 16, f.loaded->data, MemoryAccess::kMaxLaneBytes);
}

template <class T>
Handler load_into(unsigned register_bytes) {
  return for_storage(register_bytes, [](auto r) -> Handler { return &finish_load<T, decltype(r)>; });
}

}  // namespace

void issue_load(const Op& op, Frame& f) {
  fill_addresses(op, f);
}

void issue_atomic(const Op& op, Frame& f) {
  fill_addresses(op, f);
  MemoryAccess& access = *f.issue->access;
  const std::size_t bytes = op.data_bytes;
  copy_lanes(kAllLanes, bytes, access.data, MemoryAccess::kMaxLaneBytes, f.at(op.r[1]), bytes);
  if (op.r[Op::kSecond] == kNoRef) return;
  const std::byte* c = f.at(op.r[Op::kSecond]);
  if (bytes > sizeof access.second[0]) {
    copy_lanes(kAllLanes, bytes, access.data + bytes, MemoryAccess::kMaxLaneBytes, c, bytes);
    return;
  }
  std::fill_n(access.second, kWarpLanes, 0);
  copy_lanes(kAllLanes, bytes, access.second, sizeof access.second[0], c, bytes);
}

void issue_vector_atomic(const Op& op, Frame& f) {
  fill_addresses(op, f);
  const std::size_t bytes = op.data_bytes;
  const std::byte* list = f.at(op.r[Op::kSecond]);
  for (std::size_t e = 0; e < op.count; ++e) {
    Ref ref = kNoRef;
    std::memcpy(&ref, list + e * sizeof ref, sizeof ref);
    copy_lanes(kAllLanes, bytes, f.issue->access->data + e * bytes, MemoryAccess::kMaxLaneBytes, f.at(ref),
               bytes);
  }
}

Handler store_handler(unsigned data_bytes, unsigned register_bytes) {
  if (data_bytes > 8) return &issue_store_wide;
  return for_storage(data_bytes, [&](auto t) {
    return for_storage(register_bytes,
                       [](auto r) -> Handler { return &issue_store<decltype(t), decltype(r)>; });
  });
}

Handler load_handler(DataType type, unsigned register_bytes) {
  if (size_of(type) > 8) return &finish_load_wide;
  return for_storage(size_of(type), [&](auto t) {
    using T = decltype(t);
    // A register is no wider than 64 bits: there is nothing to extend them to.
    if constexpr (sizeof(T) < 8)
      if (is_signed(type)) return load_into<std::make_signed_t<T>>(register_bytes);
    return load_into<T>(register_bytes);
  });
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
      if (op.data_bytes < 8 && op.mode == 1)
        value[0] = static_cast<std::uint64_t>(sign_extended(value[0], 8U * op.data_bytes));
      std::memcpy(f.file + op.r[e] + std::size_t{i} * op.register_bytes, value.data(), op.register_bytes);
    }
  }
}

void write_parameter(const Op& op, Frame& f) {
  std::byte* block = f.file + op.r[Op::kAddress] + op.immediate;
  for (std::size_t e = 0; e < op.count; ++e)
    copy_lanes(f.active, op.data_bytes, block + e * op.data_bytes, op.target, f.at(op.r[e]),
               op.register_bytes);
}

}  // namespace warpline::ptx
