#include <algorithm>
#include <cstring>

#include "warpline/programs/ptx/decoder.h"
#include "warpline/programs/ptx/opcodes.h"
#include "warpline/programs/ptx/special_registers.h"

namespace warpline::ptx {
namespace {

enum class Family : std::uint8_t { bits, integer, real, predicate };

Family family_of(DataType t) {
  if (t == DataType::pred) return Family::predicate;
  if (t >= DataType::b8 && t <= DataType::b128) return Family::bits;
  return is_float(t) ? Family::real : Family::integer;
}

bool is_half(DataType t) {
  return t >= DataType::f16 && t <= DataType::bf16x2;
}

}  // namespace

void Decoder::fail(Place place, const std::string& message, std::string hint) {
  faults_.add(place, message, std::move(hint));
  throw DecodeError{};
}

void Decoder::fail(const std::string& message, std::string hint) {
  fail(statement_->opcode.place(), message, std::move(hint));
}

void Decoder::need_operands(std::size_t low, std::size_t high) {
  const std::size_t n = operand_count();
  if (n >= low && n <= std::max(low, high)) return;
  const std::string range =
      high > low ? std::to_string(low) + " to " + std::to_string(high) : std::to_string(low);
  fail(quoted(statement_->opcode.text) + " takes " + range + " operands, not " + std::to_string(n));
}

std::vector<std::string> Decoder::register_names() const {
  std::vector<std::string> names = special_register_names();
  for (const BlockScope& s : function_->scopes) {
    for (const auto& [name, r] : s.registers) names.push_back(name);
    for (const auto& [name, r] : s.families) names.push_back(name + "0");
  }
  return names;
}

const Register* Decoder::find_register(const Operand& o) {
  if (o.kind != Operand::Kind::name || o.name.empty()) return nullptr;
  for (int scope = statement_ != nullptr ? statement_->scope : 0; scope >= 0;) {
    const BlockScope& s = function_->scopes[static_cast<std::size_t>(scope)];
    const auto key = std::make_pair(scope, o.name);
    if (const auto known = registers_.find(key); known != registers_.end()) return &known->second;
    if (const auto r = s.registers.find(o.name); r != s.registers.end() && r->second.vector == 1)
      return &(registers_[key] = allocate(r->second.type, true));
    const std::size_t dot = o.name.size() > 2 ? o.name.size() - 2 : 0;
    if (dot != 0 && o.name[dot] == '.') {
      const auto r = s.registers.find(o.name.substr(0, dot));
      const std::size_t letter = std::string_view("xyzwrgba").find(o.name.back());
      if (r != s.registers.end() && r->second.vector > 1 && letter != std::string_view::npos &&
          letter % 4 < r->second.vector)
        return &(registers_[key] = allocate(r->second.type, true));
    }
    const std::size_t digits = o.name.find_last_not_of("0123456789") + 1;
    const std::size_t count = o.name.size() - digits;
    if (count > 0 && count < 8 && (count == 1 || o.name[digits] != '0')) {
      const auto f = s.families.find(std::string_view(o.name).substr(0, digits));
      if (f != s.families.end() && std::stoul(o.name.substr(digits)) < f->second.count)
        return &(registers_[key] = allocate(f->second.type, true));
    }
    scope = s.parent;
  }
  return nullptr;
}

Register Decoder::need_register(const Operand& o, const char* what) {
  if (o.kind != Operand::Kind::name) fail(o.token.place(), std::string("expected ") + what);
  const Register* r = find_register(o);
  if (r == nullptr)
    fail(o.token.place(), quoted(o.name) + " is not a register that is declared here",
         suggestion(o.name, register_names()));
  if (o.offset != 0) fail(o.token.place(), "an offset belongs into an address: write [" + o.name + "+n]");
  return *r;
}

std::uint32_t Decoder::take_file(std::uint32_t bytes, std::uint32_t alignment) {
  const std::uint64_t at = align_up(program_.file_bytes, alignment);
  if (at + bytes > (64U << 20)) fail(function_->place, "this function needs too many registers");
  program_.file_bytes = static_cast<std::uint32_t>(at + bytes);
  return static_cast<std::uint32_t>(at);
}

Register Decoder::allocate(DataType type, bool owned_by_function) {
  Register r;
  const unsigned bytes = size_of(type);
  if (program_.registers == 0xFFFF) fail(function_->place, "a kernel has at most 65535 registers in use");
  r.number = static_cast<std::uint16_t>(program_.registers++);
  r.type = type;
  const std::uint32_t all = type == DataType::pred ? 4 : bytes * kWarpLanes;
  r.ref = static_cast<Ref>(take_file(all, type == DataType::pred ? 4 : 32));
  if (owned_by_function)
    program_.functions[image_].registers.emplace_back(r.ref, static_cast<std::uint8_t>(bytes));
  return r;
}

Register Decoder::hidden_register(DataType type) {
  return allocate(type, true);
}

Register Decoder::carry_register() {
  const auto [known, fresh] = registers_.emplace(std::make_pair(-1, std::string("carry")), Register{});
  if (fresh) known->second = allocate(DataType::pred, true);
  return known->second;
}

void Decoder::reads(const Register& r) {
  read_.push_back(r.number);
}
void Decoder::writes(const Register& r) {
  written_.push_back(r.number);
}

void Decoder::check_type(const Operand& o, const Register& r, DataType type, bool may_be_wider) {
  const Family want = family_of(type);
  const Family have = family_of(r.type);
  const bool predicate_clash = (want == Family::predicate) != (have == Family::predicate);
  // A half-precision value lives in a register of bits; two of them in 32 bits.
  const bool kind_clash = want != Family::bits && have != Family::bits && want != have &&
                          !(is_half(type) && !is_half(r.type)) && want != Family::predicate;
  const bool size_clash = may_be_wider ? size_of(r.type) < size_of(type) : size_of(r.type) != size_of(type);
  if (predicate_clash || kind_clash || size_clash)
    fail(o.token.place(), "register " + quoted(o.name) + " is ." + std::string(name_of(r.type)) +
                              ", the instruction wants ." + std::string(name_of(type)));
}

Ref Decoder::constant(std::uint64_t bits, unsigned bytes) {
  if (bytes < 8) bits &= (std::uint64_t{1} << (8 * bytes)) - 1;
  const auto [known, fresh] = constants_.emplace(std::make_pair(bits, bytes), kNoRef);
  if (fresh) {
    const std::size_t at = align_up(program_.pool.size(), 64);
    program_.pool.resize(at + std::size_t{bytes} * kWarpLanes);
    const std::array<std::uint64_t, 2> value = {bits, 0};
    for (unsigned i = 0; i < kWarpLanes; ++i)
      std::memcpy(&program_.pool[at + std::size_t{i} * bytes], value.data(), bytes);
    known->second = static_cast<Ref>(static_cast<std::uint32_t>(at) | kPoolBit);
  }
  return known->second;
}

Ref Decoder::list(const std::vector<Ref>& refs) {
  const std::size_t at = align_up(program_.pool.size(), 64);
  program_.pool.resize(at + refs.size() * sizeof(Ref));
  std::memcpy(&program_.pool[at], refs.data(), refs.size() * sizeof(Ref));
  return static_cast<Ref>(static_cast<std::uint32_t>(at) | kPoolBit);
}

Ref Decoder::literal(const Operand& o, DataType type) {
  if (o.kind == Operand::Kind::integer) {
    if (is_float(type) && size_of(type) > 2)
      fail(o.token.place(), "expected a floating-point literal for ." + std::string(name_of(type)));
    return constant(o.bits, size_of(type));
  }
  if (size_of(type) == 8) {
    if (!o.single || !is_float(type)) return constant(o.bits, 8);
    const auto widened = static_cast<double>(bits_to<float>(static_cast<std::uint32_t>(o.bits)));
    return constant(bits_to<std::uint64_t>(widened), 8);
  }
  if (size_of(type) != 4) fail(o.token.place(), "a floating-point literal has 32 or 64 bits");
  if (o.single) return constant(o.bits, 4);
  return constant(bits_to<std::uint32_t>(static_cast<float>(bits_to<double>(o.bits))), 4);
}

Ref Decoder::special(const Operand& o, DataType type) {
  if (clock_register(o.name)) fail(o.token.place(), quoted(o.name) + " can only be read by 'mov'");
  const auto id = special_register(o.name);
  if (!id) return kNoRef;
  const unsigned bytes = size_of(type);
  const auto [known, fresh] = specials_.emplace(std::make_pair(static_cast<unsigned>(*id), bytes), kNoRef);
  if (fresh) {
    known->second = static_cast<Ref>(take_file(bytes * kWarpLanes, 32));
    program_.specials.push_back(
        {static_cast<std::uint8_t>(*id), static_cast<std::uint8_t>(bytes), known->second});
  }
  return known->second;
}

Ref Decoder::source(const Operand& o, DataType type) {
  std::uint8_t bytes = 0;
  if (const Register* r = find_register(o)) {
    check_type(o, *r, type, false);
    if (o.negated) fail(o.token.place(), "only a predicate can be negated here");
  }
  return wide_source(o, type, bytes);
}

Ref Decoder::wide_source(const Operand& o, DataType type, std::uint8_t& register_bytes) {
  register_bytes = static_cast<std::uint8_t>(size_of(type));
  if (o.kind == Operand::Kind::integer || o.kind == Operand::Kind::real) return literal(o, type);
  if (o.kind == Operand::Kind::name && find_register(o) == nullptr && o.name[0] == '%') {
    const Ref ref = special(o, type);
    if (ref != kNoRef) return ref;
  }
  const Register r = need_register(o, "a register or a constant");
  check_type(o, r, type, true);
  reads(r);
  register_bytes = static_cast<std::uint8_t>(size_of(r.type));
  return r.ref;
}

Ref Decoder::destination(const Operand& o, DataType type) {
  const Register r = need_register(o, "a destination register");
  check_type(o, r, type, false);
  writes(r);
  return r.ref;
}

Ref Decoder::wide_destination(const Operand& o, DataType type, std::uint8_t& register_bytes) {
  const Register r = need_register(o, "a destination register");
  check_type(o, r, type, true);
  writes(r);
  register_bytes = static_cast<std::uint8_t>(size_of(r.type));
  return r.ref;
}

Ref Decoder::predicate_source(const Operand& o) {
  if (o.kind == Operand::Kind::integer) return constant(o.bits != 0 ? ~std::uint64_t{0} : 0, 4);
  const Register r = need_register(o, "a predicate register");
  check_type(o, r, DataType::pred, false);
  reads(r);
  return r.ref;
}

Ref Decoder::predicate_destination(const Operand& o) {
  if (o.kind == Operand::Kind::sink) return kNoRef;
  const Register r = need_register(o, "a predicate register");
  check_type(o, r, DataType::pred, false);
  writes(r);
  return r.ref;
}

}  // namespace warpline::ptx
