#include "platform/programs/sass_trace/instruction_line.h"

#include "rtl_models/base/bits.h"

namespace warpline::sass {
namespace {

/// Versions of the format (see read_addresses and parse): the block and warp stood on every line before the
/// third, immediates came with the fourth.
constexpr unsigned kFirstWithoutPosition = 3;
constexpr unsigned kFirstWithImmediate = 4;

bool is_contiguous(LaneMask mask) {
  const LaneMask shifted = mask >> first_lane(mask);
  return (shifted & (shifted + 1)) == 0;
}

unsigned read_registers(LineCursor& line, const char* count_name, const char* name,
                        std::array<std::uint8_t, Operands::kMaxListed>& out) {
  const auto n = static_cast<unsigned>(line.decimal(count_name, Operands::kMaxListed));
  for (unsigned i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(line.register_number(name));
  return n;
}

[[noreturn]] void fail_illegal(const LineCursor& line, const Program::Entry& entry, const std::string& why,
                               const std::string& hint) {
  const std::string unused;
  LineCursor words(unused, 0, entry.text);
  for (std::uint64_t n = words.decimal("a destination count", Operands::kMaxListed); n != 0; --n)
    words.word("a destination register");
  line.fail_line("illegal instruction " + std::string(words.word("an opcode")) + ": " + why, hint);
}

bool names_an_address(LaneMask mask, const Addresses& a) {
  if (a.form == AddressForm::strided) return mask != 0 && (a.base != 0 || a.stride != 0);
  bool any = false;
  for_each_lane(mask, [&](unsigned lane) { any |= a.lane[lane] != 0; });
  return any;
}

}  // namespace

void InstructionLineParser::check_position(LineCursor& line, const WarpPosition& position) const {
  const char* const what[] = {"the block's x", "the block's y", "the block's z", "the warp"};
  const std::uint32_t want[] = {position.cta.x, position.cta.y, position.cta.z, position.warp};
  for (unsigned i = 0; i < 4; ++i)
    if (line.decimal(what[i], UINT32_MAX) != want[i])
      line.fail(std::string(what[i]) + " differs from the heading above, which says " +
                std::to_string(want[i]));
}

void InstructionLineParser::read_addresses(LineCursor& line, LaneMask mask, Addresses& a) {
  const std::uint64_t mode = line.decimal("an address mode", UINT64_MAX);
  switch (mode) {
    case 0:
      a.form = AddressForm::per_lane;
      for_each_lane(mask, [&](unsigned lane) { a.lane[lane] = line.hex("an address", UINT64_MAX); });
      return;
    case 1: {
      if (mask != 0 && !is_contiguous(mask)) line.fail("address mode 1 wants contiguous active lanes");
      const std::uint64_t base = line.hex("a base address", UINT64_MAX);
      a.form = AddressForm::strided;
      a.stride = line.signed_decimal("a stride");
      if (a.stride < -kMaxStride || a.stride > kMaxStride) line.fail("the stride is out of range");
      a.base = mask == 0 ? base : base - first_lane(mask) * static_cast<std::uint64_t>(a.stride);
      return;
    }
    case 2: {
      std::uint64_t address = line.hex("a base address", UINT64_MAX);
      a.form = AddressForm::per_lane;
      for (LaneMask m = mask; m != 0; m &= m - 1) {
        // Each difference is to the lane before among the active ones.
        if (m != mask) address += static_cast<std::uint64_t>(line.signed_decimal("an address difference"));
        a.lane[first_lane(m)] = address;
      }
      return;
    }
    default: line.fail("address modes are 0, 1 and 2");
  }
}

Operands read_operands(LineCursor& line, std::uint32_t pc, std::string_view& text) {
  Operands operands;
  operands.pc = pc;
  const std::size_t from = line.position();
  operands.destination_count =
      read_registers(line, "a destination count", "a destination register", operands.destinations);
  operands.opcode = line.word("an opcode");
  const char initial = operands.opcode.front();
  if (initial < 'A' || initial > 'Z') line.fail("expected an opcode");
  operands.source_count = read_registers(line, "a source count", "a source register", operands.sources);
  operands.width = static_cast<unsigned>(line.decimal("a width", 32));
  if (operands.width != 0 && !is_power_of_two(operands.width))
    line.fail("a width is 0, 1, 2, 4, 8, 16 or 32 bytes");
  text = line.between(from, line.end_of_last());
  return operands;
}

Program::Entry& InstructionLineParser::read_entry(LineCursor& line, std::uint32_t pc) {
  // Most instructions follow the one that followed last time: then their text need not be taken apart again.
  if (expected_ < program_.size()) {
    Program::Entry& likely = program_.at(expected_);
    if (likely.pc == pc && line.take(likely.text)) return likely;
  }
  std::string_view text;
  const Operands operands = read_operands(line, pc, text);
  if (program_.full()) line.fail_line("the kernel has more than 2 million different instructions");
  return program_.entry(text, operands);
}

void InstructionLineParser::read_head(LineCursor& line, const WarpPosition& position, Head& head) {
  if (header_.version < kFirstWithoutPosition) check_position(line, position);
  if (header_.has_lines) line.decimal("a source line", UINT32_MAX);
  const auto pc = static_cast<std::uint32_t>(line.hex("a program counter", UINT32_MAX));
  head.mask = static_cast<LaneMask>(line.hex("an active mask", UINT32_MAX));
  if ((head.mask & ~position.lanes) != 0) line.fail("the mask names lanes that this warp does not have");
  head.entry = &read_entry(line, pc);
  if (head.entry->is_illegal())
    fail_illegal(line, *head.entry, head.entry->special->illegal, head.entry->special->hint);
}

void InstructionLineParser::keep_behind(Head& head, LineCursor line, std::size_t addresses_at,
                                        const Addresses& addresses, std::int64_t immediate) {
  line.go_to(addresses_at);
  line.word("an address mode");
  const std::size_t base = line.position() + 2;
  line.word("a base address");
  const std::string_view prefix = line.between(base - 2, std::min(base, line.end_of_last()));
  if (prefix != "0x") return;
  head.before = line.between(0, base);
  head.behind = line.rest();
  head.stride = addresses.stride;
  head.immediate = immediate;
}

void InstructionLineParser::parse(LineCursor line, const WarpPosition& position, PackedWarp& warp) {
  Head& likely = heads_[expected_ % kHeads];
  const Program::Entry* found = likely.entry;
  LaneMask mask = likely.mask;
  const bool known = found != nullptr && (mask & ~position.lanes) == 0 && line.take(likely.text);
  if (!known) {
    const std::size_t from = line.position();
    Head head;
    read_head(line, position, head);
    found = head.entry;
    mask = head.mask;
    if (found->number == expected_ && header_.version >= kFirstWithoutPosition) {
      likely.entry = found;
      likely.mask = mask;
      likely.text = line.between(from, line.end_of_last());
      likely.before.clear();
    }
  }
  const Program::Entry& entry = *found;
  const std::size_t addresses_at = line.position();
  expected_ = entry.number + 1;
  Addresses addresses;
  if (entry.width != 0) {
    read_addresses(line, mask, addresses);
    if (entry.acts_on_all && names_an_address(mask, addresses))
      fail_illegal(line, entry, rule_of(CctlFault::immediate_of_all), {});
  } else if (mask != 0 && entry.addressed) {
    line.fail("a memory instruction with active lanes needs addresses");
  }
  const std::int64_t immediate =
      header_.version >= kFirstWithImmediate ? line.signed_decimal("an immediate") : 0;
  line.expect_end();

  const bool is_barrier = entry.action == Action::barrier_sync || entry.action == Action::barrier_arrive;
  if (is_barrier && (immediate < 0 || immediate > 1024))
    line.fail("a barrier is numbered 0 to 15, or counts up to 1024 threads");
  const bool has_addresses = mask != 0 && entry.width != 0;
  if (known && likely.before.empty() && has_addresses && addresses.form == AddressForm::strided &&
      !entry.acts_on_all && !is_barrier)
    keep_behind(likely, line, addresses_at, addresses, immediate);
  warp.append(entry.number, mask, immediate, has_addresses ? &addresses : nullptr);
}

}  // namespace warpline::sass
