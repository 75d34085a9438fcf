#include "platform/programs/sass_trace/instruction_line.h"

#include "rtl_models/base/bits.h"

namespace warpline::sass {
namespace {

/// Versions of the format (see read_addresses and parse): the block and warp stood on every line before the
/// third, immediates came with the fourth.
constexpr unsigned kFirstWithoutPosition = 3;
constexpr unsigned kFirstWithImmediate = 4;
/// Strides that the address arithmetic of 32 lanes keeps within 64 bits.
constexpr std::int64_t kMaxStride = std::int64_t{1} << 56U;

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

[[noreturn]] void fail_illegal(const LineCursor& line, const Operands& operands, const std::string& why,
                               const std::string& hint) {
  line.fail_line("illegal instruction " + std::string(operands.opcode) + ": " + why, hint);
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

void InstructionLineParser::read_addresses(LineCursor& line, LaneMask mask, Addresses& a) const {
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

unsigned InstructionLineParser::choose(Program::Entry& entry, LaneMask mask, std::int64_t immediate,
                                       bool all_global, WarpPosition& position) {
  if (mask == 0) return entry.idle != Program::kNone ? entry.idle : entry.op;
  if (all_global && entry.as_global != Program::kNone) return entry.as_global;
  switch (entry.action) {
    case Action::async_copy: return program_.copy_of(entry, position.groups, position.copies++);
    case Action::async_commit:
      ++position.groups;
      position.copies = 0;
      return entry.op;
    case Action::async_wait:
      // Until at most `immediate` groups are under way. Without groups the instruction waits for
      // hardware scoreboards, which replay by registers has covered.
      if (immediate < 0 || immediate >= std::int64_t{position.groups}) return entry.op;
      return program_.wait_for(entry, position.groups - 1 - static_cast<unsigned>(immediate));
    default: return entry.op;
  }
}

void InstructionLineParser::parse(LineCursor line, WarpPosition& position, PackedWarp& warp) {
  if (header_.version < kFirstWithoutPosition) check_position(line, position);
  if (header_.has_lines) line.decimal("a source line", UINT32_MAX);
  Operands operands;
  operands.pc = static_cast<std::uint32_t>(line.hex("a program counter", UINT32_MAX));
  const auto mask = static_cast<LaneMask>(line.hex("an active mask", UINT32_MAX));
  if ((mask & ~header_.lanes_of(position.warp)) != 0)
    line.fail("the mask names lanes that this warp does not have");

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
  const std::string_view text = line.between(from, line.end_of_last());

  if (program_.full()) line.fail_line("the kernel has more than 2 million different instructions");
  Program::Entry& entry = program_.entry(text, operands);
  if (!entry.illegal.empty()) fail_illegal(line, operands, entry.illegal, entry.hint);
  const Instruction& instruction = program_.op(entry.op).instruction;
  const bool is_memory = instruction.kind == InstructionKind::memory;
  const bool names_lines =
      instruction.mem.kind != MemKind::cache_control || instruction.mem.cache_target == CctlTarget::data_line;
  Addresses addresses;
  bool all_global = false;
  if (operands.width != 0) {
    read_addresses(line, mask, addresses);
    if (entry.acts_on_all && names_an_address(mask, addresses))
      fail_illegal(line, operands, rule_of(CctlFault::immediate_of_all), {});
    if (is_memory && mask != 0) all_global = translation_.apply(instruction.mem.space, mask, addresses);
  } else if (is_memory && names_lines && mask != 0) {
    line.fail("a memory instruction with active lanes needs addresses");
  }
  const std::int64_t immediate =
      header_.version >= kFirstWithImmediate ? line.signed_decimal("an immediate") : 0;
  line.expect_end();

  const bool is_barrier = entry.action == Action::barrier_sync || entry.action == Action::barrier_arrive;
  if (is_barrier && (immediate < 0 || immediate > 1024))
    line.fail("a barrier is numbered 0 to 15, or counts up to 1024 threads");
  program_.count(entry);
  const std::int64_t operand = is_barrier || entry.action == Action::sleep ? immediate : 0;
  const unsigned op = choose(entry, mask, immediate, all_global, position);
  warp.append(op, mask, operand, is_memory && mask != 0 && operands.width != 0 ? &addresses : nullptr);
}

}  // namespace warpline::sass
