#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace warpline::ptx::test {

/// One form of an opcode, and what it must compute. Values are the low bits of 64-bit words.
struct Form {
  std::string text;                  ///< "add.s32", or a template with $d $a $b $c and $p for a predicate
  std::string result;                ///< type of the result register: "s32"; "pred"
  std::vector<std::string> sources;  ///< types of the source registers
  std::function<std::uint64_t(std::uint64_t, std::uint64_t, std::uint64_t)> oracle;
};

/// Runs every form on edge values and on random ones, several per lane, and compares each result
/// to the bit. Any NaN equals any NaN where `result` is a floating-point type.
void check_forms(const std::vector<Form>& forms, std::uint64_t seed,
                 const std::string& language = ".version 8.0\n.target sm_90\n");

/// The low `bits` bits of `x`, and those bits as a signed number.
[[nodiscard]] inline std::uint64_t low(std::uint64_t x, unsigned bits) {
  return bits >= 64 ? x : x & ((std::uint64_t{1} << bits) - 1);
}
[[nodiscard]] inline std::int64_t signed_low(std::uint64_t x, unsigned bits) {
  return static_cast<std::int64_t>(x << (64 - bits)) >> (64 - bits);
}

}  // namespace warpline::ptx::test
