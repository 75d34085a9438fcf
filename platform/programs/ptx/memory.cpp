#include <cstring>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/memory_handlers.h"
#include "platform/programs/ptx/memory_operands.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {

MemOp take_qualifiers(Decoder& d, MemKind kind) {
  MemOp m;
  m.kind = kind;
  d.take_where([&m](std::string_view word) {
    const Qualifier* const q = find_qualifier(word);
    return q != nullptr && q->slot != Slot::type && apply(*q, m);
  });
  return with_default_order(m);
}

void refuse_unmodelled(Decoder& d, const MemOp& m) {
  const auto refused = refusal(m);
  if (!refused) return;
  for (const Token& q : d.statement().qualifiers)
    if (q.text == *refused)
      d.fail(q.place(), "qualifier " + quoted(q.text) + " is not modelled in this version");
  d.fail(quoted(*refused) + " is not modelled in this version");
}

void take_address(Decoder& d, const Operand& o, Op& op, MemOp& m) {
  if (o.kind != Operand::Kind::address) d.fail(o.token.place(), "expected an address in brackets");
  if (!o.index.empty())
    d.fail(o.token.place(), "a register as index is not modelled in this version",
           "add it to the address in a register");
  if (!o.elements.empty()) d.fail(o.elements[0].token.place(), "this instruction takes no coordinates");
  if (o.unified.length != 0) d.fail(o.unified, "'.unified' is not modelled in this version");
  op.immediate = o.offset;
  op.wide_address = true;
  if (o.name.empty()) {
    op.r[Op::kAddress] = d.constant(0, 8);
    return;
  }
  Operand base = o;
  base.kind = Operand::Kind::name;
  base.offset = 0;
  if (const Register* r = d.find_register(base)) {
    const unsigned bytes = size_of(r->type);
    if (bytes != 4 && bytes != 8) d.fail(o.token.place(), "an address register has 32 or 64 bits");
    // Of 32 bits, as the assembler takes them here, a global address lies below 4 GiB, and a generic one in
    // shared memory, the lower half of whose window's address is 0.
    const bool shared_only = m.kind == MemKind::mbarrier || m.matrices != 0;
    if (bytes == 4 && m.space == Space::generic && shared_only) m.space = Space::shared;
    if (bytes == 4 &&
        (m.space == Space::generic || (m.space == Space::global && m.kind != MemKind::async_copy)))
      d.fail(o.token.place(), "a global or generic address has 64 bits");
    op.wide_address = bytes == 8;
    op.r[Op::kAddress] = d.reads(*r);
    return;
  }
  const auto symbol = d.find_symbol(o.name);
  if (!symbol) {
    static_cast<void>(d.need_register(base, "an address"));  // reports the name
    return;
  }
  const Space space = symbol->declaration->space;
  if (m.space != Space::generic && m.space != space &&
      !(m.space == Space::shared_cluster && space == Space::shared))
    d.fail(o.token.place(), quoted(o.name) + " is not in the state space that the instruction names");
  const Register* frame = d.local_frame();
  if (space == Space::local && frame != nullptr && !symbol->of_module) {
    m.space = Space::local;
    op.r[Op::kAddress] = d.reads(*frame);
    op.immediate += d.local_offset(*symbol);
    return;
  }
  if (symbol->of_kernel && m.space == Space::param) {
    const std::uint64_t bytes = symbol->declaration->bytes;
    const auto first = static_cast<std::uint64_t>(o.offset);
    if (first > bytes || m.bytes_per_lane() > bytes - first)
      d.fail(o.token.place(), "this access lies outside parameter " + quoted(o.name) + ", which has " +
                                  std::to_string(bytes) + " bytes");
  }
  op.r[Op::kAddress] = d.symbol_address(*symbol, 0, 8, m.space == Space::generic && space != Space::global);
}

void take_elements(Decoder& d, const Operand& o, Op& op, MemOp& m, bool writes) {
  const bool vector = o.kind == Operand::Kind::vector;
  const std::size_t n = vector ? o.elements.size() : 1;
  if (n != m.vector)
    d.fail(o.token.place(),
           "the instruction moves " + std::to_string(m.vector) + " elements, not " + std::to_string(n));
  op.count = static_cast<std::uint8_t>(n);
  op.data_bytes = static_cast<std::uint8_t>(size_of(m.type));
  const DataType type =
      m.type == DataType::b8 || !is_float(m.type) || size_of(m.type) > 2 ? m.type : DataType::b16;
  std::uint8_t first_bytes = 0;
  for (std::size_t e = 0; e < n; ++e) {
    const Operand& part = vector ? o.elements[e] : o;
    std::uint8_t bytes = op.data_bytes;
    if (part.kind == Operand::Kind::sink && vector) {
      if (!writes && m.bytes_per_lane() != 32)
        d.fail(part.token.place(), "a store takes the sink '_' in vectors of 32 bytes only");
      op.r.at(e) = kNoRef;
      m.sink_lanes = static_cast<std::uint8_t>(m.sink_lanes | (1U << e));
      continue;
    }
    op.r.at(e) = writes ? d.wide_destination(part, type, bytes) : d.wide_source(part, type, bytes);
    if (is_float(type) && bytes != size_of(type))
      d.fail(part.token.place(), "a floating-point value needs a register of its size");
    if (bytes == 16 && op.data_bytes != 16) d.fail(part.token.place(), "a 128-bit register takes .b128 only");
    if (first_bytes != 0 && bytes != first_bytes)
      d.fail(part.token.place(), "the elements of a vector have one size");
    first_bytes = bytes;
  }
  if (first_bytes == 0) d.fail(o.token.place(), "a vector has a register among its elements");
  op.register_bytes = first_bytes;
}

namespace {

// Operands of Op of what tells an mbarrier, beside elements and the address.
constexpr unsigned kTold = Op::kSecond, kToldOffset = Op::kPolicy;

/// The own CTA's shared memory is part of the cluster's, in which more is checked of an access.
void use_cluster_space(MemOp& m) {
  if (m.space == Space::shared) m.space = Space::shared_cluster;
}

/// The elements are operands 0 and up. Op::mode: the mbarrier's address has 64 bits.
void issue_told(const Op& op, Frame& f) {
  issue_load(op, f);
  MemoryAccess& access = *f.issue->access;
  for (unsigned e = 0; e < op.count; ++e)
    copy_lanes(kAllLanes, op.data_bytes, access.data + std::size_t{e} * op.data_bytes,
               MemoryAccess::kMaxLaneBytes, f.at(op.r[e]), op.register_bytes);
  const std::uint64_t* const offset = f.in<std::uint64_t>(op.r[kToldOffset]);
  for (unsigned i = 0; i < kWarpLanes; ++i)
    access.second[i] = op.mode != 0
                           ? f.in<std::uint64_t>(op.r[kTold])[i] + offset[i]
                           : static_cast<std::uint32_t>(f.in<std::uint32_t>(op.r[kTold])[i] + offset[i]);
}

}  // namespace

void decode_told_store(Decoder& d) {
  d.take(".mbarrier::complete_tx::bytes");
  MemOp m = take_qualifiers(d, MemKind::async_store);
  use_cluster_space(m);
  m.type = take_memory_type(d);
  d.need_operands(3);
  Op op;
  Op told;
  MemOp object = m;
  object.vector = 1;
  take_address(d, d.operand(2), told, object);
  op.r[kTold] = told.r[Op::kAddress];
  op.r[kToldOffset] = d.constant(static_cast<std::uint64_t>(told.immediate), 8);
  op.mode = told.wide_address ? 1 : 0;
  take_elements(d, d.operand(1), op, m, false);
  take_address(d, d.operand(0), op, m);
  op.run = &issue_told;
  d.emit(op, InstructionKind::memory, 4, &m);
}

namespace {

/// ld.param and st.param on the parameters of device functions and of calls: no memory access.
bool decode_parameter(Decoder& d, const MemOp& m) {
  const bool load = m.kind == MemKind::load;
  const Operand& address = d.operand(load ? 1 : 0);
  if (m.space != Space::param || address.kind != Operand::Kind::address || address.name.empty() ||
      !address.index.empty())
    return false;
  const auto symbol = d.find_symbol(address.name);
  if (!symbol || symbol->of_kernel || symbol->declaration->space != Space::param) return false;
  const ParameterBlock block = d.parameter_block(*symbol);
  MemOp copy = m;
  Op op;
  take_elements(d, d.operand(load ? 0 : 1), op, copy, load);
  const auto first = static_cast<std::uint64_t>(address.offset);
  if (first > block.bytes || m.bytes_per_lane() > block.bytes - first)
    d.fail(address.token.place(), "this access lies outside parameter " + quoted(address.name) +
                                      ", which has " + std::to_string(block.bytes) + " bytes");
  op.r[Op::kAddress] = block.ref;
  op.target = block.bytes;
  op.immediate = address.offset;
  op.mode = is_signed(m.type) ? 1 : 0;
  op.run = load ? &read_parameter : &write_parameter;
  op.effect = Effect::parameter;
  d.emit(op, latency::kSimple);
  return true;
}

constexpr unsigned kBytes = 0;  ///< operand of `st.bulk`: how many

void issue_fill(const Op& op, Frame& f) {
  issue_load(op, f);
  std::memcpy(f.issue->access->second, f.in<std::uint64_t>(op.r[kBytes]), sizeof(std::uint64_t) * kWarpLanes);
}

/// `st.bulk [address], bytes, 0`.
void decode_fill(Decoder& d) {
  d.take(".bulk");
  MemOp m = take_qualifiers(d, MemKind::fill);
  use_cluster_space(m);
  m.type = DataType::b64;
  d.need_operands(3);
  const Operand& value = d.operand(2);
  if (value.kind != Operand::Kind::integer || value.bits != 0)
    d.fail(value.token.place(), "'st.bulk' writes zeros: its last operand is 0");
  Op op;
  op.r[kBytes] = d.source(1, DataType::u64);
  take_address(d, d.operand(0), op, m);
  op.run = &issue_fill;
  d.emit(op, InstructionKind::memory, 4, &m);
}

void decode_access(Decoder& d, MemKind kind, bool uniform) {
  const bool load = kind == MemKind::load;
  if (d.has(".bulk")) return decode_fill(d);
  if (d.take(".async") && d.has(".mbarrier::complete_tx::bytes")) return decode_told_store(d);
  MemOp m = take_qualifiers(d, kind);
  m.type = take_memory_type(d);
  d.take(".unified");
  d.need_operands(m.cache_hint ? 3 : 2);
  if (uniform && m.space != Space::generic && m.space != Space::global) d.fail("'ldu' reads global memory");
  refuse_unmodelled(d, m);
  if (decode_parameter(d, m)) return;
  if (!load && m.space == Space::param) d.fail("kernel parameters cannot be written");
  Op op;
  take_elements(d, d.operand(load ? 0 : 1), op, m, load);
  take_address(d, d.operand(load ? 1 : 0), op, m);
  take_policy(d, 2, op, m);
  refuse_unmodelled(d, m);
  op.run = load ? &issue_load : store_handler(op.data_bytes, op.register_bytes);
  op.finish = load ? load_handler(m.type, op.register_bytes) : nullptr;
  op.spins = load && m.is_strong();
  d.emit(op, InstructionKind::memory, 4, &m);
}

void emit_fence(Decoder& d, const MemOp& m) {
  d.need_operands(0);
  d.emit(Op{}, InstructionKind::fence, 4, &m);
}

void decode_fence(Decoder& d) {
  // That of an mbarrier's initialisation is a release of all that went before.
  d.take(".mbarrier_init");
  if (decode_proxy_fence(d)) return;
  // A fence of all memory orders what one that is restricted to shared memory does.
  d.take_one_of({".sync_restrict::shared::cta", ".sync_restrict::shared::cluster"});
  MemOp m = take_qualifiers(d, MemKind::fence);
  if (!m.is_strong()) m.semantics = Semantics::acq_rel;
  if (m.scope == Scope::none) d.fail("'fence' needs a scope such as '.gpu'");
  emit_fence(d, m);
}

void decode_membar(Decoder& d) {
  if (decode_proxy_fence(d)) return;
  MemOp m;
  m.kind = MemKind::fence;
  m.semantics = Semantics::sc;
  d.take_where([&m](std::string_view word) {
    const auto scope = membar_scope(word);
    m.scope = scope.value_or(m.scope);
    return scope.has_value();
  });
  if (m.scope == Scope::none) d.fail("'membar' needs '.cta', '.gl' or '.sys'");
  emit_fence(d, m);
}

}  // namespace

DataType take_memory_type(Decoder& d) {
  const DataType type = d.take_type();
  if (size_of(type) == 0) d.fail("type " + type_text(type) + " cannot be in memory");
  return type;
}

std::vector<Opcode> memory_opcodes() {
  return {{"ld", [](Decoder& d) { decode_access(d, MemKind::load, false); }},
          {"ldu", [](Decoder& d) { decode_access(d, MemKind::load, true); }},
          {"st", [](Decoder& d) { decode_access(d, MemKind::store, false); }},
          {"fence", &decode_fence},
          {"membar", &decode_membar}};
}

}  // namespace warpline::ptx
