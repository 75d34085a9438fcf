#pragma once

#include "platform/programs/ptx/decoder.h"
#include "rtl_models/isa/mem_op.h"

namespace warpline::ptx {

/// Reads every qualifier of a memory instruction that MemOp has a place for, but its type. The statement has
/// been judged: which of them go together is not asked again.
[[nodiscard]] MemOp take_qualifiers(Decoder& d, MemKind kind);
/// Decodes a `fence` or `membar` between proxies. Returns whether the statement is one.
bool decode_proxy_fence(Decoder& d);
/// Fails, with the qualifier, where PTX allows `m` and this version does not run it.
void refuse_unmodelled(Decoder& d, const MemOp& m);
/// Reads the address `o` of an access `m`: sets base register, width and offset in `op`. A generic access to
/// a local variable on a stack becomes a local one.
void take_address(Decoder& d, const Operand& o, Op& op, MemOp& m);
/// Reads the data `o` of an access `m`, a register or a vector of them, into operands 0 and up of `op`.
/// `writes`: the registers are written.
void take_elements(Decoder& d, const Operand& o, Op& op, MemOp& m, bool writes);
/// Decodes `cp.async.mbarrier.arrive`; the words up to `.mbarrier` are taken.
void decode_copies_arrive(Decoder& d);
/// Decodes `cp.async.bulk` and its kin: copies, their groups, and `prefetch.tensormap`, whose word is taken.
void decode_bulk_copy(Decoder& d);
void decode_prefetch_tensor_map(Decoder& d);
/// Decodes `clusterlaunchcontrol.try_cancel`, whose word is taken.
void decode_try_cancel(Decoder& d);
/// Takes the type qualifier of something that lies in memory.
[[nodiscard]] DataType take_memory_type(Decoder& d);
/// Reads the cache policy, operand `index`, of an access `m` that has `.L2::cache_hint`; does nothing for
/// others.
void take_policy(Decoder& d, std::size_t index, Op& op, const MemOp& m);

/// Decodes a store or a reduction that tells an mbarrier, `st.async` or `red.async`; `.async` is taken.
void decode_told_store(Decoder& d);

}  // namespace warpline::ptx
