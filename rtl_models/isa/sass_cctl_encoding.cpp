#include "rtl_models/isa/sass_cctl_encoding.h"

#include <array>
#include <cstddef>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/contract.h"

namespace warpline {
namespace {

using Op = CctlOperation;

constexpr std::uint64_t kCctl = 0x98f;
constexpr std::uint64_t kCctll = 0x990;
/// Operations by their number.
constexpr std::array<Op, 7> kOperationOfCode = {Op::prefetch_l1,   Op::prefetch_l2,    Op::write_back,
                                                Op::invalidate,    Op::invalidate_all, Op::reset,
                                                Op::write_back_all};
constexpr std::uint64_t kCaches = 5;

// Each lies in one half of the word.
constexpr BitField kOpcode{0, 12}, kPredicate{12, 3}, kUnless{15, 1}, kRegister{24, 8}, kImmediate{32, 32};
constexpr BitField kExtended{8, 1}, kCache{12, 3}, kOperation{23, 5}, kWait{41, 4}, kRead{49, 3},
    kRequired{52, 6};
constexpr std::uint64_t kLowFields =
    kOpcode.mask() | kPredicate.mask() | kUnless.mask() | kRegister.mask() | kImmediate.mask();
constexpr std::uint64_t kHighFields =
    kExtended.mask() | kCache.mask() | kOperation.mask() | kWait.mask() | kRead.mask() | kRequired.mask();

std::uint64_t number_of(Op operation) {
  std::size_t n = 0;
  while (kOperationOfCode.at(n) != operation) ++n;
  return n;
}

}  // namespace

InstructionWord encode(const Cctl& c) {
  WARPLINE_EXPECT(!judge(c), "only lawful instructions have an encoding");
  InstructionWord w;
  w.low = kOpcode.of(c.local ? kCctll : kCctl) | kPredicate.of(c.predicate) | kUnless.of(c.unless ? 1 : 0) |
          kRegister.of(c.address_register) | kImmediate.of(c.immediate);
  w.high = kExtended.of(c.extended ? 1 : 0) | kCache.of(static_cast<std::uint64_t>(c.cache)) |
           kOperation.of(number_of(c.operation)) | kWait.of(c.wait) | kRead.of(c.read_scoreboard) |
           kRequired.of(c.required);
  return w;
}

DecodedCctl decode_cctl(InstructionWord word) {
  const auto illegal = [](std::string why) { return DecodedCctl{{}, std::move(why)}; };
  const std::uint64_t opcode = kOpcode.in(word.low);
  if (opcode != kCctl && opcode != kCctll) return illegal("the opcode is neither CCTL's nor CCTLL's");
  if ((word.low & ~kLowFields) != 0 || (word.high & ~kHighFields) != 0)
    return illegal("a bit is set that belongs to no field");
  if (kOperation.in(word.high) >= kOperationOfCode.size()) return illegal("there is no such operation");
  if (kCache.in(word.high) >= kCaches) return illegal("there is no such cache");
  Cctl c;
  c.local = opcode == kCctll;
  c.predicate = static_cast<std::uint8_t>(kPredicate.in(word.low));
  c.unless = kUnless.in(word.low) != 0;
  c.address_register = static_cast<std::uint8_t>(kRegister.in(word.low));
  c.immediate = static_cast<std::uint32_t>(kImmediate.in(word.low));
  c.extended = kExtended.in(word.high) != 0;
  c.cache = static_cast<CctlCache>(kCache.in(word.high));
  c.operation = kOperationOfCode.at(kOperation.in(word.high));
  c.wait = static_cast<std::uint8_t>(kWait.in(word.high));
  c.read_scoreboard = static_cast<std::uint8_t>(kRead.in(word.high));
  c.required = static_cast<std::uint8_t>(kRequired.in(word.high));
  if (const std::optional<CctlFault> broken = judge(c)) return illegal(rule_of(*broken));
  return {c, {}};
}

}  // namespace warpline
