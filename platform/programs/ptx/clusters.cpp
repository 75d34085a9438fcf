// mapa, getctarank, barrier.cluster.
#include "platform/programs/ptx/families.h"
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

std::vector<Opcode> cluster_opcodes() {
  return {{"mapa", &decode_mapa}, {"getctarank", &decode_getctarank}};
}

}  // namespace warpline::ptx
