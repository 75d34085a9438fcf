// mapa, getctarank, barrier.cluster, clusterlaunchcontrol.
#include <array>
#include <cstring>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/memory_operands.h"
#include "platform/programs/ptx/opcodes.h"
#include "platform/programs/ptx/warp.h"
#include "platform/programs/ptx_syntax/special_registers.h"
#include "rtl_models/sm/address_windows.h"

namespace warpline::ptx {
namespace {

using Windows = AddressWindows;

template <class T>
T map_shared(T address, std::uint32_t rank) {
  return static_cast<T>(Windows::map_to_rank(address, rank));
}
std::uint64_t map_generic(std::uint64_t address, std::uint32_t rank) {
  return Windows::kSharedBase + Windows::map_to_rank(address - Windows::kSharedBase, rank);
}

std::uint32_t rank_of(std::uint64_t offset, std::uint32_t own) {
  const std::uint64_t code = Windows::rank_code(offset) % Windows::kRankCodes;
  return code == 0 ? own : static_cast<std::uint32_t>(code - 1);
}
template <class T>
std::uint32_t rank_of_shared(T address, std::uint32_t own) {
  return rank_of(address, own);
}
std::uint32_t rank_of_generic(std::uint64_t address, std::uint32_t own) {
  return rank_of(address - Windows::kSharedBase, own);
}

/// An address operand: a register, or a shared variable and perhaps an offset from it.
Ref address_operand(Decoder& d, const Operand& o, DataType type, bool generic) {
  const auto symbol =
      o.kind == Operand::Kind::name && d.find_register(o) == nullptr ? d.find_symbol(o.name) : std::nullopt;
  if (!symbol) return d.source(o, type);
  if (symbol->declaration->space != Space::shared)
    d.fail(o.token.place(), quoted(o.name) + " is not in shared memory");
  return d.symbol_address(*symbol, static_cast<std::uint64_t>(o.offset), size_of(type), generic);
}

struct AddressForm {
  DataType type = DataType::u64;
  bool generic = true;
};
AddressForm take_form(Decoder& d) {
  const bool generic = !d.take(".shared::cluster");
  const DataType type = d.take_type({DataType::u32, DataType::u64, DataType::s32, DataType::s64});
  // The lower half of a generic address in shared memory is the offset there.
  static_assert(AddressWindows::kSharedBase % (std::uint64_t{1} << 32U) == 0);
  const bool whole = size_of(type) == 8;
  return {whole ? DataType::b64 : DataType::b32, generic && whole};
}

void decode_mapa(Decoder& d) {
  const AddressForm form = take_form(d);
  d.need_operands(3);
  Op op;
  op.r[1] = address_operand(d, d.operand(1), form.type, form.generic);
  op.r[2] = d.source(2, DataType::b32);
  op.r[0] = d.destination(0, form.type);
  op.run = form.generic                 ? &run_lanes<&map_generic>
           : form.type == DataType::b32 ? &run_lanes<&map_shared<std::uint32_t>>
                                        : &run_lanes<&map_shared<std::uint64_t>>;
  d.emit(op, latency::kSimple);
}

void decode_getctarank(Decoder& d) {
  const AddressForm form = take_form(d);
  d.need_operands(2);
  Op op;
  op.r[1] = address_operand(d, d.operand(1), form.type, form.generic);
  op.r[2] = d.special(*special_register("%cluster_ctarank"), 4);
  op.r[0] = d.destination(0, DataType::b32);
  op.run = form.generic                 ? &run_lanes<&rank_of_generic>
           : form.type == DataType::b32 ? &run_lanes<&rank_of_shared<std::uint32_t>>
                                        : &run_lanes<&rank_of_shared<std::uint64_t>>;
  d.emit(op, latency::kSimple);
}

/// The order of a barrier at cluster scope: a fence before the arrival, or behind the wait.
void emit_order(Decoder& d, Semantics semantics) {
  MemOp fence;
  fence.kind = MemKind::fence;
  fence.semantics = semantics;
  fence.scope = Scope::cluster;
  d.emit(Op{}, InstructionKind::fence, latency::kSimple, &fence);
}

}  // namespace

bool decode_cluster_barrier(Decoder& d) {
  if (!d.take(".cluster")) return false;
  const bool waits = d.need_one_of({".arrive", ".wait"}, "'barrier.cluster' needs '.arrive' or '.wait'") == 1;
  bool relaxed = false;
  if (waits) {
    d.take(".acquire");
  } else {
    relaxed = d.take(".relaxed");
    if (!relaxed) d.take(".release");
  }
  d.take(".aligned");
  d.need_operands(0);
  if (!waits && !relaxed) emit_order(d, Semantics::release);
  Op op;
  op.count = 0;
  if (waits) {
    op.flow = Flow::barrier;
    op.mode = kClusterWait;
  }
  d.emit(op, waits ? InstructionKind::cluster_wait : InstructionKind::cluster_arrive, latency::kControl);
  if (waits) emit_order(d, Semantics::acquire);
  return true;
}

namespace {

/// Word `n` of the answer of a lane to `clusterlaunchcontrol.try_cancel`: the CTA's x, y and z, and whether
/// one was cancelled.
std::uint32_t word_of_answer(const Op& op, const Frame& f, unsigned lane, unsigned n) {
  std::uint32_t word = 0;
  std::memcpy(&word, f.at(op.r[4]) + std::size_t{lane} * 16 + std::size_t{n} * sizeof word, sizeof word);
  return word;
}

void ask_cancelled(const Op& op, Frame& f) {
  LaneMask cancelled = 0;
  for (unsigned i = 0; i < kWarpLanes; ++i)
    if (word_of_answer(op, f, i, 3) != 0) cancelled |= kLaneBit[i];
  f.set_predicate(op.r[0], cancelled);
}

/// Register n gets word n, from that of number Op::mode on.
void ask_first_cta(const Op& op, Frame& f) {
  std::array<std::array<std::uint32_t, kWarpLanes>, 4> words{};
  for (unsigned n = 0; n < op.count; ++n)
    for (unsigned i = 0; i < kWarpLanes; ++i)
      words.at(n).at(i) = n == 3 ? 0 : word_of_answer(op, f, i, op.mode + n);
  for (unsigned n = 0; n < op.count; ++n)
    if (op.r.at(n) != kNoRef) f.write(op.r.at(n), words.at(n).data());
}

void decode_query_cancel(Decoder& d) {
  Op op;
  d.need_operands(2);
  if (d.take(".is_canceled")) {
    d.take(".pred");
    d.take(".b128");
    op.r[4] = d.source(1, DataType::b128);
    op.r[0] = d.predicate_destination(d.operand(0));
    op.run = &ask_cancelled;
    d.emit(op, latency::kSimple);
    return;
  }
  const auto one = d.take_one_of({".get_first_ctaid::x", ".get_first_ctaid::y", ".get_first_ctaid::z"});
  if (!one && !d.take(".get_first_ctaid"))
    d.fail("'query_cancel' needs what is asked, such as '.is_canceled'");
  d.take(".v4");
  d.take(".b32");
  d.take(".b128");
  op.r[4] = d.source(1, DataType::b128);
  const Operand& to = d.operand(0);
  if (one) {
    op.mode = static_cast<std::uint8_t>(*one);
    op.count = 1;
    op.r[0] = d.destination(to, DataType::b32);
  } else {
    if (to.elements.size() != 4) d.fail(to.token.place(), "expected 4 registers in braces");
    op.count = 4;
    for (unsigned n = 0; n < 4; ++n)
      op.r.at(n) =
          to.elements[n].kind == Operand::Kind::sink ? kNoRef : d.destination(to.elements[n], DataType::b32);
  }
  op.run = &ask_first_cta;
  d.emit(op, latency::kSimple);
}

void decode_launch_control(Decoder& d) {
  if (d.take(".try_cancel")) return decode_try_cancel(d);
  if (!d.take(".query_cancel")) d.fail("'clusterlaunchcontrol' needs '.try_cancel' or '.query_cancel'");
  decode_query_cancel(d);
}

}  // namespace

std::vector<Opcode> cluster_opcodes() {
  return {{"mapa", &decode_mapa},
          {"getctarank", &decode_getctarank},
          {"clusterlaunchcontrol", &decode_launch_control}};
}

}  // namespace warpline::ptx
