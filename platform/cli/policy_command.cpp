#include "platform/cli/policy_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "platform/cli/command_line.h"
#include "platform/cli/console.h"
#include "rtl_models/document/document.h"
#include "rtl_models/isa/cache_policy.h"
#include "rtl_models/isa/qualifiers.h"

namespace warpline {
namespace {

using Mode = CachePolicy::Mode;

constexpr std::uint64_t kMostBytes = std::numeric_limits<std::uint32_t>::max();

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

/// A mistake of the user.
struct Mistake {
  std::string message, hint;
};

template <class T>
T among(const std::vector<std::pair<std::string, T>>& known, const std::string& word, const char* what) {
  std::vector<std::string> names;
  std::string all;
  for (const auto& [name, value] : known) {
    if (name == word) return value;
    names.push_back(name);
    all += (all.empty() ? "" : ", ") + name;
  }
  const std::string near = did_you_mean(word, names);
  throw Mistake{"\"" + word + "\" is no " + what, near.empty() ? "one of " + all : near};
}

std::uint64_t number(const std::string& text, const char* what, std::uint64_t most) {
  const bool hex = text.rfind("0x", 0) == 0 || text.rfind("0X", 0) == 0;
  const char* const end = text.data() + text.size();
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);
  if (error == std::errc::result_out_of_range || (error == std::errc{} && stop == end && value > most))
    throw Mistake{std::string(what) + " \"" + text + "\" is too large", fmt::format("at most {}", most)};
  if (error != std::errc{} || stop != end)
    throw Mistake{std::string(what) + " \"" + text + "\" is no number", "decimal, or hexadecimal after 0x"};
  return value;
}

float fraction(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end)
    throw Mistake{"fraction \"" + text + "\" is no number", "such as 0.5"};
  const auto narrow = static_cast<float>(value);
  if (!(narrow > 0 && narrow <= 1))
    throw Mistake{"fraction " + text + " is out of range", "above 0, at most 1, in single precision"};
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
    throw Mistake{name_of(pair.secondary) + " cannot be the secondary priority",
                  "evict_first or evict_unchanged"};
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

int print_fractional(const std::string& words, const std::string& text) {
  const Pair pair = priorities(words);
  const float f = fraction(text);
  const std::uint64_t made = fractional_policy(pair.primary, pair.secondary, f);
  std::string out = table(made);
  CachePolicy other = *decode_policy(made);
  other.sixteenths = library_sixteenths(f);
  if (const std::uint64_t theirs = encode_policy(other); theirs != made)
    field(out, "note",
          fmt::format("CUDA's headers make 0x{:016X} of {}, {}/16; this is the assembler's", theirs, text,
                      other.sixteenths));
  print_result(out);
  return kDone;
}

int print_decoded(const std::string& value, const std::string& address) {
  const std::uint64_t descriptor = number(value, "descriptor", ~std::uint64_t{0});
  std::string out = table(descriptor);
  const auto p = decode_policy(descriptor);
  if (!address.empty()) {
    const std::uint64_t at = number(address, "address", ~std::uint64_t{0});
    out += "applies: " + name_of(p ? p->applied_to(at) : L2Eviction::normal) + "\n";
  }
  print_result(out);
  return p ? kDone : kCheckFailed;
}

}  // namespace

PolicyCommand::PolicyCommand(CLI::App& app) {
  const char* const kPairText =
      "PRIMARY[,SECONDARY]: evict_last, evict_normal, evict_first or evict_unchanged; "
      "secondary evict_first or evict_unchanged (default)";
  CLI::App* policy = app.add_subcommand("policy", "Cache-policy descriptors: makes them, takes them apart");
  policy->require_subcommand(1);
  policy->footer("Example: warpline policy fractional evict_last,evict_first 0.5");
  fractional_ = policy->add_subcommand("fractional", "A share of the lines is primary, the others secondary");
  fractional_->add_option("PRIORITIES", priorities_, kPairText)->required();
  fractional_->add_option("FRACTION", fraction_, "above 0, at most 1")->capture_default_str();
  fractional_->footer("Example: warpline policy fractional evict_last 0.25");
  range_ = policy->add_subcommand("range", "An address range is primary, what lies around it secondary");
  range_->add_option("PRIORITIES", priorities_, kPairText)->required();
  range_->add_option("ADDRESS", address_, "where the primary range begins")->required();
  range_->add_option("PRIMARY_SIZE", primary_bytes_, "bytes of the primary range")->required();
  range_->add_option("TOTAL_SIZE", total_bytes_, "bytes of both, at most 4294967295")->required();
  range_->footer("Example: warpline policy range evict_last,evict_first 0x10000000 65536 1048576");
  static_ = policy->add_subcommand("static", "An access property of the CUDA APIs");
  static_->add_option("PROPERTY", property_, "global, normal, streaming or persisting")->required();
  static_->footer("Example: warpline policy static persisting");
  decode_ = policy->add_subcommand("decode", "Takes a descriptor apart; exit status 1 if it is malformed");
  decode_->add_option("VALUE", value_, "the 64 bits, decimal or hexadecimal after 0x")->required();
  decode_->add_option("--address", applied_address_, "says which priority an access there has");
  decode_->footer("Example: warpline policy decode 0x1570000000000000 --address 0x10000080");
}

bool PolicyCommand::parsed() const {
  const auto all = apps();
  return std::any_of(all.begin(), all.end(), [](const CLI::App* a) { return a->parsed(); });
}

std::vector<const CLI::App*> PolicyCommand::apps() const {
  return {fractional_, range_, static_, decode_};
}

const std::vector<std::string>& PolicyCommand::names() {
  static const std::vector<std::string> kNames = {"fractional", "range", "static", "decode"};
  return kNames;
}

int PolicyCommand::run() const {
  try {
    if (fractional_->parsed()) return print_fractional(priorities_, fraction_);
    if (decode_->parsed()) return print_decoded(value_, applied_address_);
    if (static_->parsed()) {
      print_result(table(static_policy(among(kProperties, property_, "access property"))));
      return kDone;
    }
    const Pair pair = priorities(priorities_);
    const std::uint64_t address = number(address_, "address", ~std::uint64_t{0});
    const std::uint64_t primary = number(primary_bytes_, "primary size", kMostBytes);
    const std::uint64_t total = number(total_bytes_, "total size", kMostBytes);
    if (primary > total)
      throw Mistake{fmt::format("the primary size {} is above the total size {}", primary, total),
                    "the total counts the primary bytes too"};
    print_result(table(range_policy(pair.primary, pair.secondary, address,
                                    static_cast<std::uint32_t>(primary), static_cast<std::uint32_t>(total))));
    return kDone;
  } catch (const Mistake& m) {
    print_error(m.message, m.hint);
    return kBadInput;
  }
}

}  // namespace warpline
