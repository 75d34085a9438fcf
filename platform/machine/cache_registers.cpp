#include "platform/machine/cache_registers.h"

#include <algorithm>

namespace warpline {
namespace {

const CacheRegisters::Register* find(std::uint32_t offset) {
  const auto& all = CacheRegisters::all();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& r) { return r.offset == offset; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

const std::vector<CacheRegisters::Register>& CacheRegisters::all() {
  static const std::vector<Register> kAll = {
      {kIdentity, "IDENTITY", true, false, "0x574C0001"},
      {kStatus, "STATUS", true, true, "bit 0: busy; bit 1: an invalidation was refused, write 1 to clear"},
      {kInvalidate, "INVALIDATE", false, true,
       "bit 0: global lines of L1; bit 1: texture caches; bit 2: constant caches; "
       "bit 3: instruction buffers and caches"},
      {kInvalidations, "INVALIDATIONS", true, false, "how many took effect, modulo 2^32"}};
  return kAll;
}

CacheRegisters::Outcome CacheRegisters::read(std::uint32_t offset, std::uint32_t& value) const {
  const Register* r = find(offset);
  if (r == nullptr) return Outcome::no_register;
  if (!r->readable) return Outcome::write_only;
  switch (r->offset) {
    case kIdentity: value = kIdentityValue; break;
    case kStatus: value = (hardware_.busy() ? kBusy : 0U) | (refused_ ? kRefused : 0U); break;
    case kInvalidations: value = invalidations_; break;
    case kInvalidate: break;
  }
  return Outcome::done;
}

CacheRegisters::Outcome CacheRegisters::write(std::uint32_t offset, std::uint32_t value) {
  const Register* r = find(offset);
  if (r == nullptr) return Outcome::no_register;
  if (!r->writable) return Outcome::read_only;
  if (r->offset == kStatus) {
    if ((value & kRefused) != 0) refused_ = false;
    return Outcome::done;
  }
  if ((value & ~hardware_.caches) != 0 || hardware_.busy()) {
    refused_ = true;
  } else if (value != 0) {
    invalidate(value);
  }
  return Outcome::done;
}

}  // namespace warpline
