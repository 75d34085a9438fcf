// What stands behind the opcode of a CCTL: its address, scoreboards and schedule.
#include <charconv>
#include <limits>

#include "warpline/isa/sass_cctl_parser.h"

namespace warpline {

bool CctlParser::number(std::uint64_t& value, const char* what) {
  skip();
  const std::size_t from = at_;
  const std::string_view digits = word();
  const bool hex = digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  const char* const first = digits.data() + (hex ? 2 : 0);
  const char* const last = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(first, last, value, hex ? 16 : 10);
  if (error == std::errc{} && stop == last) return true;
  if (error == std::errc::result_out_of_range) {
    value = std::numeric_limits<std::uint64_t>::max();
    return true;
  }
  return fail(since(from), std::string(what) + " is wanted here", "decimal, or hexadecimal after 0x");
}

bool CctlParser::address_register() {
  const std::size_t from = at_;
  const std::string_view name = word();
  register_ = since(from);
  if (name == "RZ") return true;
  unsigned n = 0;
  const auto [stop, error] = std::from_chars(name.data() + 1, name.data() + name.size(), n);
  if (error != std::errc{} || stop != name.data() + name.size() || n > Cctl::kNoRegister)
    return fail(register_, "\"" + std::string(name) + "\" is no register", "R0 to R254, or RZ");
  c_.address_register = static_cast<std::uint8_t>(n);
  return true;
}

/// What stands before the closing bracket: `+ imm`, `- imm`, `+ -imm` after a register, else `imm`.
bool CctlParser::offset(bool after_register) {
  skip();
  const std::size_t from = at_;
  bool negative = false;
  if (after_register) {
    if (take('-')) {
      negative = true;
    } else if (!take('+')) {
      return true;
    } else {
      negative = take('-');
    }
  } else if (take('-')) {
    return fail(since(from), "an absolute address is unsigned");
  }
  std::uint64_t value = 0;
  if (!number(value, after_register ? "an offset" : "a register or an address")) return false;
  immediate_ = since(from);
  const unsigned bits = c_.local ? Cctl::kLocalImmediateBits : 32;
  const std::uint64_t most =
      after_register ? (std::uint64_t{1} << (bits - 1)) - (negative ? 0 : 1) : (std::uint64_t{1} << bits) - 1;
  if (value > most)
    return fail(immediate_,
                std::string(after_register ? "the offset" : "the address") + " does not fit its " +
                    std::to_string(bits) + (after_register ? " signed bits" : " bits"),
                c_.local ? "CCTLL has 24 bits for it" : "");
  const auto field = static_cast<std::uint32_t>(negative ? 0 - value : value);
  c_.immediate = c_.local ? field & ((1U << Cctl::kLocalImmediateBits) - 1) : field;
  return true;
}

bool CctlParser::address() {
  const std::size_t from = at_;
  if (!take('[')) {
    if (c_.acts_on_all()) return true;
    return fail({opcode_.at, from - opcode_.at}, "an address is missing", "[Ra + immediate] or [immediate]");
  }
  skip();
  const bool has_register = at_ < text_.size() && text_[at_] == 'R';
  if (has_register && !address_register()) return false;
  if (!offset(has_register)) return false;
  if (!take(']')) return fail(here(), "\"]\" is wanted here");
  return true;
}

/// `&req=0xNN &rd=N ?WAITn`, each once at most, in this order. `rank`: of the last one seen.
bool CctlParser::control(bool& seen, unsigned& rank) {
  skip();
  const std::size_t from = at_;
  seen = at_ < text_.size() && (text_[at_] == '&' || text_[at_] == '?');
  if (!seen) return true;
  const bool schedule = text_[at_++] == '?';
  const std::string_view name = word();
  unsigned mine = 0;
  if (schedule) {
    unsigned cycles = 0;
    const char* const last = name.data() + name.size();
    const bool known = name.substr(0, 4) == "WAIT";
    const auto [stop, error] = std::from_chars(known ? name.data() + 4 : last, last, cycles);
    wait_ = since(from);
    if (error != std::errc{} || stop != last || cycles == 0 || cycles > Cctl::kLongestWait)
      return fail(wait_, "\"" + std::string(text_.substr(from, at_ - from)) + "\" is no schedule",
                  rule_of(CctlFault::no_wait));
    c_.wait = static_cast<std::uint8_t>(cycles);
    has_wait_ = true;
    mine = 3;
  } else if (name == "req" || name == "rd") {
    if (!take('=')) return fail(here(), "\"=\" is wanted here", "&req=0x01, &rd=0");
    std::uint64_t value = 0;
    if (!number(value, "a number")) return false;
    const bool request = name == "req";
    (request ? required_ : scoreboard_) = since(from);
    if (value >= (request ? 1U << Cctl::kScoreboards : Cctl::kScoreboards))
      return fail(since(from), rule_of(CctlFault::no_scoreboard),
                  request ? "&req has a bit for each, up to 0x3f" : "&rd=0 to &rd=5");
    (request ? c_.required : c_.read_scoreboard) = static_cast<std::uint8_t>(value);
    mine = request ? 1 : 2;
  } else {
    return fail(since(from), "\"&" + std::string(name) + "\" is no scoreboard operand", "&req=0xNN or &rd=N");
  }
  if (mine <= rank) return fail(since(from), "&req, &rd and ?WAIT come in this order, each once");
  rank = mine;
  return true;
}

bool CctlParser::controls() {
  unsigned rank = 0;
  for (bool seen = true; seen;)
    if (!control(seen, rank)) return false;
  if (!has_wait_ && c_.wants_dispatch_wait()) c_.wait = Cctl::kDispatchWait;
  return true;
}

}  // namespace warpline
