// What programs advise of managed memory, and where they want it: it stays where it is, which both sides
// reach, and what was advised is kept to be asked for.
#include <algorithm>
#include <cstring>

#include "platform/cuda/abi/runtime_calls.h"

namespace warpline::cuda::runtime {
namespace {

/// A place as programs name it; nothing: it is none, or of no such GPU.
Status location_of(const Machine& m, MemoryLocation given, Location& location) {
  enum Type : int { kGpu = kOfDevice, kHost = 2, kHostNode = 3, kHostNearest = 4 };
  switch (given.type) {
    case kGpu:
      if (given.id < 0 || static_cast<unsigned>(given.id) >= m.devices()) return Status::invalid_device;
      location = {Location::Kind::device, given.id};
      return Status::success;
    case kHost: location = {Location::Kind::host, 0}; return Status::success;
    case kHostNode: location = {Location::Kind::host_node, given.id}; return Status::success;
    case kHostNearest: location = {Location::Kind::host_node, 0}; return Status::success;
    default: return Status::invalid_value;
  }
}

int cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, MemoryLocation given, unsigned flags,
                         void* stream) {
  return with_stream(stream, [&](Machine& m, Stream&) {
    Location location;
    if (flags != 0) return Status::invalid_value;
    if (const Status s = location_of(m, given, location); s != Status::success) return s;
    return m.advise(address_of(pointer), bytes, [&](MemoryAdvice::Of& of) { of.prefetched = location; });
  });
}

/// What is discarded has no value any more, and keeps the one that it had.
Status check_discarded(Machine& m, void* const* pointers, const std::size_t* sizes, std::size_t count) {
  if (pointers == nullptr || sizes == nullptr || count == 0) return Status::invalid_value;
  MemoryAdvice::Of of;
  for (std::size_t n = 0; n < count; ++n)
    if (const Status s = m.advice_of(address_of(pointers[n]), sizes[n], of); s != Status::success) return s;
  return Status::success;
}

int cudaMemDiscardBatchAsync(void* const* pointers, const std::size_t* sizes, std::size_t count,
                             unsigned long long flags, void* stream) {
  return with_stream(stream, [&](Machine& m, Stream&) {
    return flags != 0 ? Status::invalid_value : check_discarded(m, pointers, sizes, count);
  });
}

int cudaMemPrefetchBatchAsync(void* const* pointers, const std::size_t* sizes, std::size_t count,
                              const MemoryLocation* locations, const std::size_t* first_of,
                              std::size_t location_count, unsigned long long flags, void* stream) {
  return with_stream(stream, [&](Machine& m, Stream&) {
    if (const Status s = check_discarded(m, pointers, sizes, count); s != Status::success) return s;
    if (locations == nullptr || first_of == nullptr || location_count == 0 || location_count > count ||
        first_of[0] != 0 || flags != 0)
      return Status::invalid_value;
    std::vector<Location> all(location_count);
    for (std::size_t n = 0; n < location_count; ++n) {
      if ((n != 0 && first_of[n] <= first_of[n - 1]) || first_of[n] >= count) return Status::invalid_value;
      if (const Status s = location_of(m, locations[n], all[n]); s != Status::success) return s;
    }
    for (std::size_t n = 0, at = 0; n < count; ++n) {
      if (at + 1 < location_count && first_of[at + 1] == n) ++at;
      const auto prefetch = [&](MemoryAdvice::Of& of) { of.prefetched = all[at]; };
      if (const Status s = m.advise(address_of(pointers[n]), sizes[n], prefetch); s != Status::success)
        return s;
    }
    return Status::success;
  });
}

int cudaMemAdvise(const void* pointer, std::size_t bytes, int advice, MemoryLocation given) {
  enum Advice : int { kReadMostly = 1, kNotReadMostly, kPrefer, kDoNotPrefer, kAccessedBy, kNotAccessedBy };
  return with_machine([&](Machine& m) {
    Location location;
    if (advice < kReadMostly || advice > kNotAccessedBy) return Status::invalid_value;
    if (advice == kPrefer || advice == kAccessedBy || advice == kNotAccessedBy)
      if (const Status s = location_of(m, given, location); s != Status::success) return s;
    if (location.kind == Location::Kind::host_node && advice != kPrefer) return Status::invalid_value;
    const int who = location.kind == Location::Kind::device ? location.id : MemoryAdvice::kHost;
    return m.advise(address_of(pointer), bytes, [&](MemoryAdvice::Of& of) {
      switch (advice) {
        case kReadMostly: of.read_mostly = true; break;
        case kNotReadMostly: of.read_mostly = false; break;
        case kPrefer: of.preferred = location; break;
        case kDoNotPrefer: of.preferred = {}; break;
        case kAccessedBy: of.accessed_by.insert(who); break;
        default: of.accessed_by.erase(who);
      }
    });
  });
}

constexpr std::int32_t kNowhere = -2;  // cudaInvalidDeviceId

/// As one number: a GPU, or the host.
std::int32_t id_of(const Location& l) {
  switch (l.kind) {
    case Location::Kind::device: return l.id;
    case Location::Kind::host: return MemoryAdvice::kHost;
    default: return kNowhere;
  }
}

Status write_attribute(const MemoryAdvice::Of& of, int attribute, void* data, std::size_t bytes) {
  enum Attribute : int {
    kIsReadMostly = 1,
    kPreferred,
    kWhoAccesses,
    kPrefetched,
    kPreferredType,
    kPreferredId,
    kPrefetchedType,
    kPrefetchedId
  };
  if (data == nullptr) return Status::invalid_value;
  if (attribute == kWhoAccesses) {
    if (bytes == 0 || bytes % 4 != 0) return Status::invalid_value;
    std::vector<std::int32_t> who(of.accessed_by.begin(), of.accessed_by.end());
    who.resize(bytes / 4, kNowhere);
    std::memcpy(data, who.data(), bytes);
    return Status::success;
  }
  std::int32_t value = 0;
  switch (attribute) {
    case kIsReadMostly: value = of.read_mostly ? 1 : 0; break;
    case kPreferred: value = id_of(of.preferred); break;
    case kPrefetched: value = id_of(of.prefetched); break;
    case kPreferredType: value = static_cast<std::int32_t>(of.preferred.kind); break;
    case kPreferredId: value = of.preferred.id; break;
    case kPrefetchedType: value = static_cast<std::int32_t>(of.prefetched.kind); break;
    case kPrefetchedId: value = of.prefetched.id; break;
    default: return Status::invalid_value;
  }
  if (bytes != sizeof value) return Status::invalid_value;
  std::memcpy(data, &value, sizeof value);
  return Status::success;
}

int cudaMemRangeGetAttributes(void** data, const std::size_t* sizes, const int* attributes, std::size_t count,
                              const void* pointer, std::size_t bytes) {
  return with_machine([&](Machine& m) {
    if (data == nullptr || sizes == nullptr || attributes == nullptr || count == 0)
      return Status::invalid_value;
    MemoryAdvice::Of of;
    if (const Status s = m.advice_of(address_of(pointer), bytes, of); s != Status::success) return s;
    for (std::size_t n = 0; n < count; ++n)
      if (const Status s = write_attribute(of, attributes[n], data[n], sizes[n]); s != Status::success)
        return s;
    return Status::success;
  });
}

int cudaMemRangeGetAttribute(void* data, std::size_t size, int attribute, const void* pointer,
                             std::size_t bytes) {
  return cudaMemRangeGetAttributes(&data, &size, &attribute, 1, pointer, bytes);
}

}  // namespace

void add_managed(Functions& f) {
  WARPLINE_ADD(f, cudaMemPrefetchAsync);
  WARPLINE_ADD(f, cudaMemPrefetchBatchAsync);
  WARPLINE_ADD(f, cudaMemDiscardBatchAsync);
  f.add("cudaMemDiscardAndPrefetchBatchAsync", &cudaMemPrefetchBatchAsync);
  WARPLINE_ADD(f, cudaMemAdvise);
  WARPLINE_ADD(f, cudaMemRangeGetAttribute);
  WARPLINE_ADD(f, cudaMemRangeGetAttributes);
}

}  // namespace warpline::cuda::runtime
