#include "rtl_models/registers/bus_access.h"

#include <array>
#include <cstdio>

#include "rtl_models/base/text.h"

namespace warpline {
namespace {

/// snprintf into a string; no format here gives more than 127 characters.
template <class... Arguments>
std::string print(const char* format, Arguments... arguments) {
  std::array<char, 128> text{};
  const int length = std::snprintf(text.data(), text.size(), format, arguments...);
  return {text.data(), static_cast<std::size_t>(length)};
}

std::string requester(std::uint16_t id) {
  return print("%02x:%02x.%x", id >> 8U, (id >> 3U) & 0x1FU, id & 7U);
}

}  // namespace

const char* name_of(AccessKind kind) {
  constexpr std::array<const char*, 4> kNames = {"read", "write", "atomic", "flush"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string register_name(const BusAccess& access, const RegisterMap* map) {
  const auto at = map == nullptr ? std::nullopt : register_at(*map, access.offset);
  if (!at) return {};
  const RegisterDescription& r = map->registers[at->index];
  std::string name = name_of(*map, *at);
  const std::uint64_t inside = access.offset - r.offset - std::uint64_t{at->element} * r.stride;
  if (inside != 0) name += "+" + std::to_string(inside);
  return name;
}

std::string to_text(const BusAccess& access, const RegisterMap* map) {
  const unsigned digits = access.bytes >= 8 ? 16 : access.bytes * 2;
  std::string line =
      print("%10llu  bar %u  %-6s %4u byte%s  ", static_cast<unsigned long long>(access.cycle),
            unsigned{access.bar}, name_of(access.kind), access.bytes, access.bytes == 1 ? " " : "s") +
      hexadecimal(access.offset, 4);
  const std::string name = register_name(access, map);
  if (!name.empty()) line += " " + name;
  if (access.bytes != 0) line += "  " + hexadecimal(access.value, digits);
  line += "  from " + requester(access.requester);
  if (access.outcome != AccessOutcome::done) line += std::string("  ") + to_text(access.outcome);
  return line;
}

std::string to_json(const BusAccess& access, const RegisterMap* map) {
  std::string object =
      print(R"({"cycle": %llu, "bar": %u, "kind": "%s", "offset": %llu, "bytes": %u, )",
            static_cast<unsigned long long>(access.cycle), unsigned{access.bar}, name_of(access.kind),
            static_cast<unsigned long long>(access.offset), access.bytes);
  const std::string name = register_name(access, map);
  if (!name.empty()) object += "\"register\": \"" + name + "\", ";
  // A string: readers that take every number for a double would round it.
  object += "\"value\": \"" + hexadecimal(access.value) + "\", \"requester\": \"" +
            requester(access.requester) + "\", \"outcome\": \"" + to_text(access.outcome) + "\"}";
  return object;
}

}  // namespace warpline
