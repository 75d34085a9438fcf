#include "rtl_models/isa/sass_cctl.h"

#include <tuple>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/text.h"

namespace warpline {
namespace {

using Op = CctlOperation;

constexpr std::array<const char*, 7> kOperationNames = {"PF1", "PF2", "WB", "WBALL", "IV", "IVALL", "RS"};
constexpr std::array<const char*, 5> kCacheNames = {"D", "U", "C", "I", "CRS"};

constexpr std::uint8_t set_of(std::initializer_list<Op> operations) {
  std::uint8_t set = 0;
  for (const Op o : operations) set = static_cast<std::uint8_t>(set | 1U << static_cast<unsigned>(o));
  return set;
}

/// The operations that each cache has: a row per cache.
constexpr std::uint8_t kDataOperations =
    set_of({Op::prefetch_l1, Op::prefetch_l2, Op::write_back, Op::invalidate, Op::invalidate_all, Op::reset});
constexpr std::array<std::uint8_t, 5> kOperationsOfCache = {
    kDataOperations, kDataOperations, set_of({Op::invalidate_all}), set_of({Op::invalidate_all}),
    set_of({Op::write_back_all})};

constexpr std::array<const char*, 13> kRules = {
    "this cache has no such operation",
    "CCTLL names no cache but .CRS",
    ".CRS is valid in CCTLL.CRS.WBALL only",
    "CCTLL takes no .E",
    ".IVALL and .WBALL cannot be used with .E",
    ".IVALL and .WBALL require Ra to be RZ",
    ".IVALL and .WBALL require the immediate to be 0",
    "the immediate of CCTLL has 24 bits",
    "CCTL.C.IVALL and CCTL.I.IVALL take no &rd: they execute in dispatch and read no operand",
    "CCTL.C.IVALL, CCTL.I.IVALL and CCTLL.CRS.WBALL require ?WAIT5 or more",
    "predicates are P0 to P6 and PT",
    "there are six scoreboards, 0 to 5",
    "schedules are ?WAIT1 to ?WAIT15",
};

auto fields(const Cctl& c) {
  return std::tie(c.predicate, c.unless, c.local, c.extended, c.cache, c.operation, c.address_register,
                  c.immediate, c.required, c.read_scoreboard, c.wait);
}

std::int64_t signed_immediate(const Cctl& c) {
  return sign_extended(c.immediate, c.local ? Cctl::kLocalImmediateBits : 32);
}

template <class T, std::size_t kCount>
std::optional<T> among(const std::array<T, kCount>& all, std::string_view name) {
  for (const T value : all)
    if (name == name_of(value)) return value;
  return std::nullopt;
}

std::string address_text(const Cctl& c) {
  if (c.address_register == Cctl::kNoRegister) return " [" + hexadecimal(c.immediate) + "]";
  std::string out = " [R" + std::to_string(c.address_register);
  const std::int64_t offset = signed_immediate(c);
  if (offset > 0) out += " + " + std::to_string(offset);
  if (offset < 0) out += " - " + std::to_string(-offset);
  return out + "]";
}

}  // namespace

bool Cctl::operator==(const Cctl& other) const {
  return fields(*this) == fields(other);
}

std::optional<CctlFault> judge(const Cctl& c) {
  const bool crs = c.cache == CctlCache::call_return_stack;
  if (c.local && !crs && c.cache != CctlCache::data) return CctlFault::cache_of_local;
  if (!c.local && crs) return CctlFault::crs_of_generic;
  if ((kOperationsOfCache.at(static_cast<std::size_t>(c.cache)) >> static_cast<unsigned>(c.operation) & 1U) ==
      0)
    return CctlFault::operation_elsewhere;
  if (c.local && c.extended) return CctlFault::extended_local;
  if (c.acts_on_all()) {
    if (c.extended) return CctlFault::extended_all;
    if (c.address_register != Cctl::kNoRegister) return CctlFault::register_of_all;
    if (c.immediate != 0) return CctlFault::immediate_of_all;
  }
  if (c.local && c.immediate >> Cctl::kLocalImmediateBits != 0) return CctlFault::immediate_too_wide;
  if (c.predicate > Cctl::kAlways) return CctlFault::no_predicate;
  if (c.required >> Cctl::kScoreboards != 0) return CctlFault::no_scoreboard;
  if (c.read_scoreboard >= Cctl::kScoreboards && c.read_scoreboard != Cctl::kNoScoreboard)
    return CctlFault::no_scoreboard;
  if (c.in_dispatch() && c.read_scoreboard != Cctl::kNoScoreboard) return CctlFault::dispatch_scoreboard;
  if (c.wait == 0 || c.wait > Cctl::kLongestWait) return CctlFault::no_wait;
  if (c.wants_dispatch_wait() && c.wait < Cctl::kDispatchWait) return CctlFault::dispatch_wait;
  return std::nullopt;
}

const char* rule_of(CctlFault fault) {
  return kRules.at(static_cast<std::size_t>(fault));
}

CctlTarget target_of(const Cctl& c) {
  if (c.operation == Op::write_back_all) return CctlTarget::call_return_stack;
  if (c.operation != Op::invalidate_all) return CctlTarget::data_line;
  switch (c.cache) {
    case CctlCache::uniform: return CctlTarget::indexed_constants;
    case CctlCache::constant: return CctlTarget::constants;
    case CctlCache::instruction: return CctlTarget::instructions;
    case CctlCache::call_return_stack:
    case CctlCache::data: break;
  }
  return c.local ? CctlTarget::local_lines : CctlTarget::global_lines;
}

std::uint64_t effective_address(const Cctl& c, std::uint32_t low, std::uint32_t high, unsigned registers) {
  if (c.address_register == Cctl::kNoRegister || c.address_register >= registers) return c.immediate;
  const auto offset = static_cast<std::uint64_t>(signed_immediate(c));
  if (c.extended) return (std::uint64_t{high} << 32U | low) + offset;
  return static_cast<std::uint32_t>(low + offset);
}

const char* name_of(CctlOperation operation) {
  return kOperationNames.at(static_cast<std::size_t>(operation));
}

const char* name_of(CctlCache cache) {
  return kCacheNames.at(static_cast<std::size_t>(cache));
}

std::optional<CctlOperation> cctl_operation_named(std::string_view name) {
  return among(kCctlOperations, name);
}

std::optional<CctlCache> cctl_cache_named(std::string_view name) {
  return among(kCctlCaches, name);
}

std::string to_text(const Cctl& c) {
  std::string out;
  if (c.predicate != Cctl::kAlways || c.unless) {
    out += c.unless ? "@!P" : "@P";
    out += c.predicate == Cctl::kAlways ? "T" : std::to_string(c.predicate);
    out += ' ';
  }
  out += c.local ? "CCTLL" : "CCTL";
  if (c.extended) out += ".E";
  if (!c.local || c.cache != CctlCache::data) out += std::string(".") + name_of(c.cache);
  out += std::string(".") + name_of(c.operation);
  if (!c.acts_on_all()) out += address_text(c);
  if (c.required != 0) out += " &req=" + hexadecimal(c.required, 2);
  if (c.read_scoreboard != Cctl::kNoScoreboard) out += " &rd=" + std::to_string(c.read_scoreboard);
  if (c.wait != (c.wants_dispatch_wait() ? Cctl::kDispatchWait : 1)) out += " ?WAIT" + std::to_string(c.wait);
  return out + ";";
}

}  // namespace warpline
