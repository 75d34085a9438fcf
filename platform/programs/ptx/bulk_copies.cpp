// cp.async.bulk and its kin: copies, reductions and prefetches of bytes in a row and of tensors (PTX ISA,
// "Data Movement and Conversion Instructions: asynchronous bulk copy", "Tensor copy").
#include <algorithm>

#include "platform/programs/latencies.h"
#include "platform/programs/ptx/memory_handlers.h"
#include "platform/programs/ptx/memory_operands.h"
#include "platform/programs/ptx/opcodes.h"
#include "rtl_models/isa/atomic.h"
#include "rtl_models/sm/address_windows.h"
#include "rtl_models/sm/bulk_order.h"
#include "rtl_models/sm/copy_groups.h"

namespace warpline::ptx {
namespace {

// Operands of Op beside those that memory operations have.
constexpr unsigned kShared = 0, kMbarrier = 2;  ///< and the offset of each behind it
constexpr unsigned kSize = 4;
constexpr unsigned kCoordinates = 5;  ///< a list of Op::count
constexpr unsigned kOffsets = 6;      ///< a list of Op::data_bytes
constexpr unsigned kCtas = 7;         ///< of `.multicast::cluster`, a bit for each rank
/// Bits of Op::mode: the address is a 64-bit register; and such are generic.
constexpr std::uint8_t kWideShared = 1, kWideMbarrier = 2, kGeneric = 4;
/// Stands for a generic address that is in no shared memory: in that of no CTA.
constexpr std::uint32_t kNowhere = 0xFFFF'FF00;

/// `elsewhere`: becomes a generic address that is in no shared memory, unless it is one already.
std::uint32_t address_of(const Op& op, const Frame& f, unsigned operand, std::uint8_t wide, unsigned lane,
                         std::uint64_t& elsewhere) {
  const Ref base = op.r[operand], offset = op.r[operand + 1];
  if (base == kNoRef) return 0;
  const bool is_wide = (op.mode & wide) != 0;
  const std::uint64_t address =
      (is_wide ? f.in<std::uint64_t>(base)[lane] : f.in<std::uint32_t>(base)[lane]) +
      f.in<std::uint64_t>(offset)[lane];
  if (is_wide && (op.mode & kGeneric) != 0) {
    const Space space = AddressWindows::space_of(address);
    if (space != Space::shared && space != Space::shared_cluster) {
      if (elsewhere == kNowhere) elsewhere = address;
      return kNowhere;
    }
  }
  return static_cast<std::uint32_t>(address);
}

Ref in_list(const Frame& f, Ref list, unsigned n) {
  Ref ref = kNoRef;
  std::memcpy(&ref, f.at(list) + std::size_t{n} * sizeof ref, sizeof ref);
  return ref;
}

void issue_bulk_copy(const Op& op, Frame& f) {
  issue_load(op, f);
  MemoryAccess& access = *f.issue->access;
  if ((op.mode & kGeneric) != 0) access.form = AddressForm::per_lane;
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    BulkOperands o;
    std::uint64_t elsewhere = kNowhere;
    o.shared = address_of(op, f, kShared, kWideShared, i, elsewhere);
    o.mbarrier = address_of(op, f, kMbarrier, kWideMbarrier, i, elsewhere);
    if ((op.mode & kGeneric) != 0) access.address[i] = elsewhere;
    if (op.r[kSize] != kNoRef) o.bytes = f.in<std::uint32_t>(op.r[kSize])[i];
    for (unsigned n = 0; n < op.count; ++n)
      o.coordinates[n] = static_cast<std::int32_t>(f.in<std::uint32_t>(in_list(f, op.r[kCoordinates], n))[i]);
    BulkSecond second;
    for (unsigned n = 0; n < op.data_bytes; ++n)
      second.offsets.at(n) = f.in<std::uint16_t>(in_list(f, op.r[kOffsets], n))[i];
    if (op.r[kCtas] != kNoRef) second.ctas = f.in<std::uint16_t>(op.r[kCtas])[i];
    access.second[i] = second.packed();
    std::memcpy(access.lane_data(i), &o, sizeof o);
  }
}

/// One bulk instruction while its statement is decoded.
class BulkDecoder {
 public:
  explicit BulkDecoder(Decoder& d) : d_(d) {
    op_.r.fill(kNoRef);
    op_.count = 0;
    op_.data_bytes = 0;
    op_.run = &issue_bulk_copy;
  }

  void decode_try_cancel() {
    d_.take(".async");
    d_.take(".mbarrier::complete_tx::bytes");
    const bool multicast = d_.take(".multicast::cluster::all");
    if (!d_.has(".shared::cta")) op_.mode |= kGeneric;
    m_ = take_qualifiers(d_, MemKind::bulk_copy);
    d_.take(".b128");
    m_.space = Space::shared;
    m_.bulk = BulkDirection::cancel;
    m_.multicast = multicast;
    d_.need_operands(2);
    take_place(d_.operand(0), kShared, kWideShared);
    take_place(d_.operand(1), kMbarrier, kWideMbarrier);
    op_.r[kSize] = d_.constant(16, 4);
    op_.r[Op::kAddress] = d_.constant(0, 8);
    op_.wide_address = true;
    d_.emit(op_, InstructionKind::memory, 4, &m_);
  }

  void decode() {
    take_direction();
    refuse();
    take_tensor();
    if (m_.atomic != AtomicOperation::none) take_operation();
    std::size_t next = take_operands();
    take_policy(d_, next, op_, m_);
    if (m_.cache_hint) ++next;
    d_.need_operands(next);
    d_.emit(op_, InstructionKind::memory, 4, &m_);
  }

 private:
  void take_direction() {
    d_.take(".async");
    d_.take(".bulk");
    const bool reduces = d_.take(".reduce");
    const bool prefetches = d_.take(".prefetch");
    tensor_ = d_.take(".tensor");
    from_shared_ = d_.take(".bulk_group");
    d_.take(".mbarrier::complete_tx::bytes");
    const bool within_cluster = !prefetches && !from_shared_ && !d_.has(".global");
    const bool multicast = d_.take(".multicast::cluster");
    m_ = take_qualifiers(d_, MemKind::bulk_copy);
    m_.space = within_cluster ? Space::shared : Space::global;
    m_.multicast = multicast;
    m_.bulk = prefetches       ? BulkDirection::prefetch
              : within_cluster ? BulkDirection::to_cluster
              : reduces        ? BulkDirection::reduce
              : from_shared_   ? BulkDirection::to_global
                               : BulkDirection::to_shared;
    // The second of two spaces, and the cache of a prefetch.
    d_.take(".global");
    d_.take(".shared::cta");
    d_.take(".shared::cluster");
    d_.take(".L2");
    m_.level = prefetches ? 2 : 0;
  }

  void refuse() {
    for (const Token& q : d_.statement().qualifiers)
      for (const char* word : {".cp_mask", ".ignore_oob", ".cta_group::1", ".cta_group::2"})
        if (q.text == word)
          d_.fail(q.place(), "qualifier " + quoted(q.text) + " is not modelled in this version");
  }

  void take_tensor() {
    if (!tensor_) return;
    for (unsigned n = 1; n <= 5; ++n)
      if (d_.take("." + std::to_string(n) + "d")) m_.dimensions = static_cast<std::uint8_t>(n);
    const auto mode = d_.take_one_of({".tile", ".tile::gather4", ".tile::scatter4", ".im2col_no_offs",
                                      ".im2col", ".im2col::w", ".im2col::w::128"});
    constexpr TensorMode kModes[] = {TensorMode::tile,       TensorMode::rows,   TensorMode::rows,
                                     TensorMode::im2col,     TensorMode::im2col, TensorMode::wide,
                                     TensorMode::wide_of_128};
    m_.tensor_mode = kModes[mode.value_or(0)];
    offsets_ = is_of_images(m_.tensor_mode) && !d_.has(".im2col_no_offs");
  }

  void take_operation() {
    d_.take(".noftz");
    m_.semantics = Semantics::weak;
    m_.scope = Scope::none;
    if (m_.dimensions != 0) return;  // the tensor map says of what type
    m_.type = d_.take_type();
    if (!is_atomic_legal(m_.atomic, m_.type))
      d_.fail("this reduction is not modelled on type " + type_text(m_.type));
  }

  /// Returns how many there are, less the policy.
  std::size_t take_operands() {
    const bool prefetches = m_.bulk == BulkDirection::prefetch;
    const std::size_t global = from_shared_ || prefetches ? 0 : 1;
    std::size_t next = 0;
    if (m_.dimensions != 0) {
      take_map(d_.operand(global));
    } else {
      take_address(d_, d_.operand(global), op_, m_);
    }
    if (!prefetches) take_place(d_.operand(from_shared_ ? 1 : 0), kShared, kWideShared);
    next = prefetches ? 1 : 2;
    if (m_.dimensions == 0) op_.r[kSize] = d_.source(next++, DataType::u32);
    if (lands_in_shared(m_.bulk)) take_place(d_.operand(next++), kMbarrier, kWideMbarrier);
    if (offsets_ && m_.bulk != BulkDirection::to_global) take_offsets(d_.operand(next++));
    if (m_.multicast) op_.r[kCtas] = d_.source(next++, DataType::u16);
    return next;
  }

  /// An address in shared memory.
  void take_place(const Operand& o, unsigned base, std::uint8_t wide) {
    Op part;
    MemOp shared;
    shared.space = Space::shared;
    take_address(d_, o, part, shared);
    op_.r[base] = part.r[Op::kAddress];
    op_.r[base + 1] = d_.constant(static_cast<std::uint64_t>(part.immediate), 8);
    if (part.wide_address) op_.mode |= wide;
  }

  /// `[map, {coordinates}]`: a generic address.
  void take_map(const Operand& o) {
    Operand map = o;
    map.elements.clear();
    MemOp generic = m_;
    generic.space = Space::generic;
    take_address(d_, map, op_, generic);
    if (o.elements.size() != 1) d_.fail(o.token.place(), "expected [tensor map, {coordinates}]");
    const std::vector<Ref> refs = sources(o.elements[0], DataType::s32);
    const std::size_t wanted = m_.tensor_mode == TensorMode::rows ? 5 : m_.dimensions;
    if (refs.size() != wanted)
      d_.fail(o.elements[0].token.place(),
              "expected " + std::to_string(wanted) + " coordinates, not " + std::to_string(refs.size()));
    op_.count = static_cast<std::uint8_t>(wanted);
    op_.r[kCoordinates] = d_.list(refs);
  }

  void take_offsets(const Operand& o) {
    const std::vector<Ref> refs = sources(o, DataType::u16);
    const std::size_t wanted = is_wide(m_.tensor_mode) ? 2 : m_.dimensions - 2U;
    if (refs.size() != wanted)
      d_.fail(o.token.place(),
              "expected " + std::to_string(wanted) + " offsets, not " + std::to_string(refs.size()));
    op_.data_bytes = static_cast<std::uint8_t>(refs.size());
    op_.r[kOffsets] = d_.list(refs);
  }

  std::vector<Ref> sources(const Operand& o, DataType type) {
    if (o.kind != Operand::Kind::vector) return {d_.source(o, type)};
    std::vector<Ref> refs;
    for (const Operand& e : o.elements) refs.push_back(d_.source(e, type));
    return refs;
  }

  Decoder& d_;
  Op op_;
  MemOp m_;
  bool tensor_ = false, from_shared_ = false, offsets_ = false;
};

void decode_wait(Decoder& d) {
  const bool reads = d.take(".read");
  d.need_operands(1);
  const Operand& n = d.operand(0);
  if (n.kind != Operand::Kind::integer) d.fail(n.token.place(), "expected the number of groups as a number");
  d.emit(Op{}, reads ? InstructionKind::wait_bulk_reads : InstructionKind::wait_bulk, latency::kControl);
  d.emitted().groups_left =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(n.bits, CopyGroups::kWaitForAll - 1));
}

}  // namespace

void decode_bulk_copy(Decoder& d) {
  if (!d.has(".commit_group") && !d.has(".wait_group")) return BulkDecoder(d).decode();
  d.take(".async");
  d.take(".bulk");
  if (d.take(".wait_group")) return decode_wait(d);
  d.take(".commit_group");
  d.need_operands(0);
  d.emit(Op{}, InstructionKind::commit_bulk, latency::kControl);
}

void decode_try_cancel(Decoder& d) {
  BulkDecoder(d).decode_try_cancel();
}

void decode_prefetch_tensor_map(Decoder& d) {
  MemOp m = take_qualifiers(d, MemKind::bulk_copy);
  if (m.space != Space::generic)
    d.fail("'prefetch.tensormap' of a state space is not modelled in this version",
           "give it a generic address");
  m.bulk = BulkDirection::prefetch;
  m.level = 0;
  d.need_operands(1);
  Op op;
  op.r.fill(kNoRef);
  op.count = op.data_bytes = 0;
  op.run = &issue_bulk_copy;
  take_address(d, d.operand(0), op, m);
  d.emit(op, InstructionKind::memory, 4, &m);
}

}  // namespace warpline::ptx
