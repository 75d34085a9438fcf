#include "warpline/isa/sass_cctl_text.h"

#include "warpline/isa/sass_cctl_parser.h"

namespace warpline {
Result<Cctl> CctlParser::parse() {
  if (predicate() && mnemonic() && address() && controls() && end()) {
    const std::optional<CctlFault> broken = judge(c_);
    if (!broken) return c_;
    fail(place_of(*broken), rule_of(*broken), hint_for(*broken));
  }
  return *fault_;
}

bool CctlParser::predicate() {
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

bool CctlParser::mnemonic() {
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
bool CctlParser::modifier(std::string_view name, TextSpan where) {
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
  const std::string near =
      near_miss(name, {"E", "D", "U", "C", "I", "CRS", "PF1", "PF2", "WB", "WBALL", "IV", "IVALL", "RS"});
  return fail(where, "\"." + std::string(name) + "\" is neither a cache nor an operation",
              near.empty() ? "caches .D .U .C .I .CRS; operations .PF1 .PF2 .WB .WBALL .IV .IVALL .RS"
                           : "did you mean \"." + near + "\"?");
}

bool CctlParser::end() {
  take(';');
  skip();
  if (at_ == text_.size()) return true;
  return fail({at_, text_.size() - at_}, "nothing more can stand here");
}

TextSpan CctlParser::place_of(CctlFault fault) const {
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

std::string CctlParser::hint_for(CctlFault fault) const {
  if (fault == CctlFault::dispatch_wait) return "without a schedule it gets ?WAIT5";
  if (fault != CctlFault::operation_elsewhere) return {};
  std::string all;
  for (const CctlOperation o : kCctlOperations) {
    Cctl other = c_;
    other.operation = o;
    if (judge(other) != CctlFault::operation_elsewhere) all += std::string(" .") + name_of(o);
  }
  return std::string(c_.local ? "CCTLL" : "CCTL") +
         (c_.local && c_.cache == CctlCache::data ? "" : std::string(".") + name_of(c_.cache)) + " has" + all;
}

Result<Cctl> parse_cctl(std::string_view text, const TextPlace& place) {
  return CctlParser(text, place).parse();
}

}  // namespace warpline
