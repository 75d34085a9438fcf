#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <utility>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"
#include "rtl_models/isa/cache_policy.h"
#include "rtl_models/isa/qualifiers.h"
#include "rtl_models/sm/input_error.h"

namespace warpline {
namespace {

using Mode = CachePolicy::Mode;

constexpr std::uint64_t kMostBytes = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMostNumber = std::numeric_limits<std::uint64_t>::max();

/// "evict_last", as `.L2::evict_last` says it.
std::string name_of(L2Eviction e) {
  constexpr std::size_t kLevel = std::string_view("L2::").size();
  const std::string_view word = word_of(e);
  return word.empty() ? "as without a policy" : std::string(word.substr(kLevel));
}

const std::vector<std::pair<std::string, L2Eviction>> kPriorities = [] {
  std::vector<std::pair<std::string, L2Eviction>> all;
  for (const L2Eviction e : {L2Eviction::last, L2Eviction::normal, L2Eviction::first, L2Eviction::unchanged})
    all.emplace_back(name_of(e), e);
  return all;
}();
const std::vector<std::pair<std::string, AccessProperty>> kProperties = {
    {"global", AccessProperty::global},
    {"normal", AccessProperty::normal},
    {"streaming", AccessProperty::streaming},
    {"persisting", AccessProperty::persisting}};

struct PolicyOptions {
  std::string priorities;
  std::string fraction = "1.0";
  std::string property;
  std::string address, primary_bytes, total_bytes;
  std::string value, applied_address;
};

[[noreturn]] void refuse(std::string message, std::string hint) {
  throw InputError(Diagnostic::about("warpline", std::move(message), std::move(hint)));
}

template <class T>
T among(const std::vector<std::pair<std::string, T>>& known, const std::string& word, const char* what) {
  std::vector<std::string> names;
  for (const auto& [name, value] : known) {
    if (name == word) return value;
    names.push_back(name);
  }
  const std::string near = did_you_mean(word, names);
  refuse("\"" + word + "\" is no " + what, near.empty() ? "one of " + joined(names) : near);
}

std::uint64_t number(const std::string& text, const char* what, std::uint64_t most) {
  const bool hex = text.rfind("0x", 0) == 0 || text.rfind("0X", 0) == 0;
  const char* const end = text.data() + text.size();
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);
  if (error == std::errc::result_out_of_range || (error == std::errc{} && stop == end && value > most))
    refuse(std::string(what) + " \"" + text + "\" is too large", fmt::format("at most {}", most));
  if (error != std::errc{} || stop != end)
    refuse(std::string(what) + " \"" + text + "\" is no number", "decimal, or hexadecimal after 0x");
  return value;
}

float fraction(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) refuse("fraction \"" + text + "\" is no number", "such as 0.5");
  const auto narrow = static_cast<float>(value);
  if (!(narrow > 0 && narrow <= 1))
    refuse("fraction " + text + " is out of range", "above 0, at most 1, in single precision");
  return narrow;
}

struct Pair {
  L2Eviction primary, secondary = L2Eviction::unchanged;
};

Pair priorities(const std::string& text) {
  const std::size_t comma = text.find(',');
  Pair pair{among(kPriorities, text.substr(0, comma), "priority")};
  if (comma == std::string::npos) return pair;
  pair.secondary = among(kPriorities, text.substr(comma + 1), "priority");
  if (pair.secondary != L2Eviction::first && pair.secondary != L2Eviction::unchanged)
    refuse(name_of(pair.secondary) + " cannot be the secondary priority", "evict_first or evict_unchanged");
  return pair;
}

/// Why decode_policy() refuses `descriptor`.
std::string why_malformed(std::uint64_t descriptor) {
  const std::uint64_t mode = descriptor >> 59U & 3U;
  if (descriptor >> 63U != 0) return "bit 63 is set";
  if (mode == 1) return "bits 60:59 hold mode 1, which does not exist";
  const char* const places = mode == 0   ? "58:0 (mode 0)"
                             : mode == 2 ? "51:0 (mode 2)"
                                         : "51 or 36:0 (mode 3)";
  return std::string("a bit is set among ") + places;
}

void field(std::string& out, const std::string& name, const std::string& value) {
  out += fmt::format("{:<11}{}\n", name + ":", value);
}

/// The descriptor, and a line for each field that its mode has.
std::string table(std::uint64_t descriptor) {
  std::string out = fmt::format("0x{:016X}\n", descriptor);
  const auto decoded = decode_policy(descriptor);
  if (!decoded) {
    field(out, "malformed", why_malformed(descriptor));
    return out;
  }
  const CachePolicy& p = *decoded;
  field(out, "mode",
        p.mode == Mode::implicit     ? "implicit"
        : p.mode == Mode::fractional ? "fractional"
                                     : "range");
  if (p.mode != Mode::implicit) {
    field(out, "primary", name_of(p.primary));
    field(out, "secondary", name_of(p.secondary));
  }
  if (p.mode == Mode::fractional) field(out, "fraction", fmt::format("{}/16 of the lines", p.sixteenths));
  if (p.mode == Mode::range) {
    field(out, "block", fmt::format("{} bytes", std::uint64_t{1} << p.block_shift));
    field(out, "start", fmt::format("{} (block, modulo 128)", p.start));
    field(out, "count", fmt::format("{} blocks", p.count));
  }
  field(out, "L1", p.skips_l1 ? "not allocated" : "as without a policy");
  field(out, "promotion", p.promotes ? "256 bytes" : "none");
  return out;
}

int make_fractional(const PolicyOptions& o) {
  const Pair pair = priorities(o.priorities);
  const float f = fraction(o.fraction);
  const std::uint64_t made = fractional_policy(pair.primary, pair.secondary, f);
  std::string out = table(made);
  CachePolicy other = *decode_policy(made);
  other.sixteenths = library_sixteenths(f);
  if (const std::uint64_t theirs = encode_policy(other); theirs != made)
    field(out, "note",
          fmt::format("CUDA's headers make 0x{:016X} of {}, {}/16; this is the assembler's", theirs,
                      o.fraction, other.sixteenths));
  print_result(out);
  return kDone;
}

int make_range(const PolicyOptions& o) {
  const Pair pair = priorities(o.priorities);
  const std::uint64_t address = number(o.address, "address", kMostNumber);
  const std::uint64_t primary = number(o.primary_bytes, "primary size", kMostBytes);
  const std::uint64_t total = number(o.total_bytes, "total size", kMostBytes);
  if (primary > total)
    refuse(fmt::format("the primary size {} is above the total size {}", primary, total),
           "the total counts the primary bytes too");
  print_result(table(range_policy(pair.primary, pair.secondary, address, static_cast<std::uint32_t>(primary),
                                  static_cast<std::uint32_t>(total))));
  return kDone;
}

int make_static(const PolicyOptions& o) {
  print_result(table(static_policy(among(kProperties, o.property, "access property"))));
  return kDone;
}

int take_apart(const PolicyOptions& o) {
  const std::uint64_t descriptor = number(o.value, "descriptor", kMostNumber);
  std::string out = table(descriptor);
  const auto p = decode_policy(descriptor);
  if (!o.applied_address.empty()) {
    const std::uint64_t at = number(o.applied_address, "address", kMostNumber);
    out += "applies: " + name_of(p ? p->applied_to(at) : L2Eviction::normal) + "\n";
  }
  print_result(out);
  return p ? kDone : kCheckFailed;
}

}  // namespace

void add_policy(CLI::App& app, int& status) {
  CLI::App& policy = *app.add_subcommand("policy", "Cache-policy descriptors: makes them, takes them apart");
  policy.require_subcommand(1);
  policy.footer("Example: warpline policy fractional evict_last,evict_first 0.5");
  const auto add = [&](const char* name, const char* meaning, const char* example,
                       int (*run)(const PolicyOptions&)) -> std::pair<CLI::App&, PolicyOptions&> {
    CLI::App& command = *policy.add_subcommand(name, meaning);
    command.footer(fmt::format("Example: warpline policy {} {}", name, example));
    return {command, options_of(command, status, run)};
  };
  const char* const priorities =
      "PRIMARY[,SECONDARY]: evict_last, evict_normal, evict_first or evict_unchanged; "
      "secondary evict_first or evict_unchanged (default)";
  const auto [fractional, f] = add("fractional", "A share of the lines is primary, the others secondary",
                                   "evict_last 0.25", make_fractional);
  fractional.add_option("PRIORITIES", f.priorities, priorities)->required();
  fractional.add_option("FRACTION", f.fraction, "above 0, at most 1")->capture_default_str();
  const auto [range, r] = add("range", "An address range is primary, what lies around it secondary",
                              "evict_last,evict_first 0x10000000 65536 1048576", make_range);
  range.add_option("PRIORITIES", r.priorities, priorities)->required();
  range.add_option("ADDRESS", r.address, "where the primary range begins")->required();
  range.add_option("PRIMARY_SIZE", r.primary_bytes, "bytes of the primary range")->required();
  range.add_option("TOTAL_SIZE", r.total_bytes, "bytes of both, at most 4294967295")->required();
  const auto [property, p] = add("static", "An access property of the CUDA APIs", "persisting", make_static);
  property.add_option("PROPERTY", p.property, "global, normal, streaming or persisting")->required();
  const auto [decode, d] = add("decode", "Takes a descriptor apart; exit status 1 if it is malformed",
                               "0x1570000000000000 --address 0x10000080", take_apart);
  decode.add_option("VALUE", d.value, "the 64 bits, decimal or hexadecimal after 0x")->required();
  decode.add_option("--address", d.applied_address, "says which priority an access there has");
}

}  // namespace warpline
