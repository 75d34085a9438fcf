#include "rtl_models/isa/sass_cctl_text.h"

#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "rtl_models/base/text.h"

namespace warpline {
namespace {

/// A stretch of the text.
struct TextSpan {
  std::size_t at = 0;
  std::size_t length = 1;
};

/// Reads one CCTL or CCTLL; see parse_cctl().
class CctlParser {
 public:
  CctlParser(std::string_view text, const TextPlace& place) : text_(text), place_(place) {}

  [[nodiscard]] Result<Cctl> parse() {
    if (predicate() && mnemonic() && address() && controls() && end()) {
      const std::optional<CctlFault> broken = judge(c_);
      if (!broken) return c_;
      fail(place_of(*broken), rule_of(*broken), hint_for(*broken));
    }
    return *fault_;
  }

 private:
  static bool is_word(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || is_digit(c) || c == '_';
  }
  bool fail(TextSpan where, std::string message, std::string hint = {}) {
    fault_ = Diagnostic{place_.file,
                        place_.line,
                        place_.column + static_cast<unsigned>(where.at),
                        place_.source.empty() ? std::string(text_) : place_.source,
                        std::move(message),
                        std::move(hint),
                        static_cast<unsigned>(where.length)};
    return false;
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  /// Letters, digits and underscores from here on; may be empty.
  std::string_view word() {
    const std::size_t from = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(from, at_ - from);
  }
  TextSpan here() const { return {at_, 1}; }
  TextSpan since(std::size_t from) const { return {from, at_ > from ? at_ - from : 1}; }

  bool predicate() {
    if (!take('@')) return true;
    c_.unless = take('!');
    skip();
    const std::size_t from = at_;
    const std::string_view name = word();
    if (name == "PT") return true;
    if (name.size() == 2 && name[0] == 'P' && name[1] >= '0' && name[1] <= '6') {
      c_.predicate = static_cast<std::uint8_t>(name[1] - '0');
      return true;
    }
    return fail(since(from), "\"" + std::string(name) + "\" is no predicate", "P0 to P6, or PT");
  }

  bool mnemonic() {
    skip();
    opcode_.at = at_;
    const std::string_view name = word();
    opcode_ = since(opcode_.at);
    if (name != "CCTL" && name != "CCTLL")
      return fail(opcode_,
                  name.empty() ? "an instruction is missing"
                               : "\"" + std::string(name) + "\" is no cache control instruction",
                  "CCTL or CCTLL");
    c_.local = name == "CCTLL";
    while (at_ < text_.size() && text_[at_] == '.') {
      const std::size_t from = at_++;
      const std::string_view m = word();
      if (!modifier(m, since(from))) return false;
    }
    if (has_operation_) return true;
    return fail(opcode_, "an operation is missing",
                ".PF1, .PF2, .WB, .IV, .IVALL, .RS, or .CRS.WBALL of CCTLL");
  }

  /// One modifier, in the order of the grammar: `.E`, the cache, the operation.
  bool modifier(std::string_view name, TextSpan where) {
    if (has_operation_) return fail(where, "the operation comes last", "CCTL{.E}{.cache}.cop");
    if (name == "E") {
      if (c_.extended || has_cache_) return fail(where, ".E comes first, and once", "CCTL{.E}{.cache}.cop");
      c_.extended = true;
      extended_ = where;
      return true;
    }
    if (const auto cache = cctl_cache_named(name)) {
      if (has_cache_) return fail(where, "one cache can be named", "CCTL{.E}{.cache}.cop");
      has_cache_ = true;
      c_.cache = *cache;
      cache_ = where;
      if (!c_.local || *cache == CctlCache::call_return_stack) return true;
      return fail(where, rule_of(CctlFault::cache_of_local), "its addresses are local ones");
    }
    if (const auto operation = cctl_operation_named(name)) {
      has_operation_ = true;
      c_.operation = *operation;
      operation_ = where;
      return true;
    }
    if (name == "QRY1") return fail(where, ".QRY1 is not implemented: an illegal instruction encoding");
    for (const auto& [lowered, ptx] : {std::pair{"DML2", "applypriority"}, std::pair{"RML2", "discard"}})
      if (name == lowered)
        return fail(
            where, std::string(".") + lowered + " is what " + ptx + " of PTX becomes, and no cache control",
            std::string("in traces it acts as that does; warpline explain says how ") + ptx + " acts");
    const std::string near =
        near_miss(name, {"E", "D", "U", "C", "I", "CRS", "PF1", "PF2", "WB", "WBALL", "IV", "IVALL", "RS"});
    return fail(where, "\"." + std::string(name) + "\" is neither a cache nor an operation",
                near.empty() ? "caches .D .U .C .I .CRS; operations .PF1 .PF2 .WB .WBALL .IV .IVALL .RS"
                             : "did you mean \"." + near + "\"?");
  }

  bool address() {
    const std::size_t from = at_;
    if (!take('[')) {
      if (c_.acts_on_all()) return true;
      return fail({opcode_.at, from - opcode_.at}, "an address is missing",
                  "[Ra + immediate] or [immediate]");
    }
    skip();
    const bool has_register = at_ < text_.size() && text_[at_] == 'R';
    if (has_register && !address_register()) return false;
    if (!offset(has_register)) return false;
    if (!take(']')) return fail(here(), "\"]\" is wanted here");
    return true;
  }

  bool address_register() {
    const std::size_t from = at_;
    const std::string_view name = word();
    register_ = since(from);
    if (name == "RZ") return true;
    const auto number = number_from<std::uint8_t>(name.substr(1));
    if (!number) return fail(register_, "\"" + std::string(name) + "\" is no register", "R0 to R254, or RZ");
    c_.address_register = *number;
    return true;
  }

  /// What stands before the closing bracket: `+ imm`, `- imm`, `+ -imm` after a register, else `imm`.
  bool offset(bool after_register) {
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
    const std::uint64_t most = after_register ? (std::uint64_t{1} << (bits - 1)) - (negative ? 0 : 1)
                                              : (std::uint64_t{1} << bits) - 1;
    if (value > most)
      return fail(immediate_,
                  std::string(after_register ? "the offset" : "the address") + " does not fit its " +
                      std::to_string(bits) + (after_register ? " signed bits" : " bits"),
                  c_.local ? "CCTLL has 24 bits for it" : "");
    const auto field = static_cast<std::uint32_t>(negative ? 0 - value : value);
    c_.immediate = c_.local ? field & ((1U << Cctl::kLocalImmediateBits) - 1) : field;
    return true;
  }

  bool number(std::uint64_t& value, const char* what) {
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

  bool controls() {
    unsigned rank = 0;
    for (bool seen = true; seen;)
      if (!control(seen, rank)) return false;
    if (!has_wait_ && c_.wants_dispatch_wait()) c_.wait = Cctl::kDispatchWait;
    return true;
  }

  /// `&req=0xNN &rd=N ?WAITn`, each once at most, in this order. `rank`: of the last one seen.
  bool control(bool& seen, unsigned& rank) {
    skip();
    const std::size_t from = at_;
    seen = at_ < text_.size() && (text_[at_] == '&' || text_[at_] == '?');
    if (!seen) return true;
    const bool schedule = text_[at_++] == '?';
    const std::string_view name = word();
    unsigned mine = 0;
    if (schedule) {
      const bool known = name.substr(0, 4) == "WAIT";
      const unsigned cycles = known ? number_from<unsigned>(name.substr(4)).value_or(0) : 0;
      wait_ = since(from);
      if (cycles == 0 || cycles > Cctl::kLongestWait)
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
      return fail(since(from), "\"&" + std::string(name) + "\" is no scoreboard operand",
                  "&req=0xNN or &rd=N");
    }
    if (mine <= rank) return fail(since(from), "&req, &rd and ?WAIT come in this order, each once");
    rank = mine;
    return true;
  }

  bool end() {
    take(';');
    skip();
    if (at_ == text_.size()) return true;
    return fail({at_, text_.size() - at_}, "nothing more can stand here");
  }

  TextSpan place_of(CctlFault fault) const {
    switch (fault) {
      case CctlFault::operation_elsewhere: return operation_;
      case CctlFault::cache_of_local:
      case CctlFault::crs_of_generic: return cache_;
      case CctlFault::extended_local:
      case CctlFault::extended_all: return extended_;
      case CctlFault::register_of_all: return register_;
      case CctlFault::immediate_of_all:
      case CctlFault::immediate_too_wide: return immediate_;
      case CctlFault::dispatch_scoreboard: return scoreboard_;
      case CctlFault::dispatch_wait:
      case CctlFault::no_wait: return wait_;
      case CctlFault::no_predicate:
      case CctlFault::no_scoreboard: break;
    }
    return opcode_;
  }

  std::string hint_for(CctlFault fault) const {
    if (fault == CctlFault::dispatch_wait) return "without a schedule it gets ?WAIT5";
    if (fault != CctlFault::operation_elsewhere) return {};
    std::string all;
    for (const CctlOperation o : kCctlOperations) {
      Cctl other = c_;
      other.operation = o;
      if (judge(other) != CctlFault::operation_elsewhere) all += std::string(" .") + name_of(o);
    }
    return std::string(c_.local ? "CCTLL" : "CCTL") +
           (c_.local && c_.cache == CctlCache::data ? "" : std::string(".") + name_of(c_.cache)) + " has" +
           all;
  }

  std::string_view text_;
  const TextPlace& place_;
  std::size_t at_ = 0;
  Cctl c_;
  bool has_cache_ = false, has_operation_ = false, has_wait_ = false;
  TextSpan opcode_, extended_, cache_, operation_, register_, immediate_, required_, scoreboard_, wait_;
  std::optional<Diagnostic> fault_;
};

}  // namespace

Result<Cctl> parse_cctl(std::string_view text, const TextPlace& place) {
  return CctlParser(text, place).parse();
}

}  // namespace warpline
