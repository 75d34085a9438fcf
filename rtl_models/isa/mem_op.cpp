#include "rtl_models/isa/mem_op.h"

#include <array>

#include "rtl_models/isa/qualifiers.h"

namespace warpline {
namespace {

constexpr std::array<std::string_view, 20> kKinds = {
    "ld",    "st",          "atom",          "red",     "prefetch", "prefetchu", "cp.async",
    "fence", "fence.proxy", "applypriority", "discard", "cctl",     "tex",       "suld",
    "sust",  "mbarrier",    "cp.async.bulk", "txq",     "st.async", "st.bulk"};
constexpr std::array<std::string_view, 9> kMbarrierOperations = {".init",        ".inval",     ".arrive",
                                                                 ".arrive_drop", ".expect_tx", ".complete_tx",
                                                                 ".test_wait",   ".try_wait",  ".arrive"};
constexpr std::array<std::string_view, 5> kMbarrierForms = {"", ".noComplete", ".expect_tx", ".parity",
                                                            ".noinc"};

/// The word of `value` behind a dot; nothing where it has none.
template <class E>
std::string dotted(E value) {
  const std::string_view word = word_of(value);
  return word.empty() ? std::string() : "." + std::string(word);
}

std::string order_of(const MemOp& op) {
  return (op.is_strong() ? dotted(op.semantics) : std::string()) + dotted(op.scope);
}

std::string mbarrier_to_ptx(const MemOp& op) {
  std::string s(op.mbarrier == MbarrierOperation::copies_arrive ? "cp.async.mbarrier" : "mbarrier");
  s += kMbarrierOperations.at(static_cast<std::size_t>(op.mbarrier));
  s += kMbarrierForms.at(static_cast<std::size_t>(op.mbarrier_form));
  return s + order_of(op) + dotted(op.space) + dotted(op.type);
}

const char* mode_of(TensorMode mode, bool reads) {
  switch (mode) {
    case TensorMode::tile: break;
    case TensorMode::rows: return reads ? ".tile::gather4" : ".tile::scatter4";
    case TensorMode::im2col: return reads ? ".im2col" : ".im2col_no_offs";
    case TensorMode::wide: return ".im2col::w";
    case TensorMode::wide_of_128: return ".im2col::w::128";
  }
  return ".tile";
}

std::string bulk_to_ptx(const MemOp& op) {
  if (op.bulk == BulkDirection::cancel)
    return std::string("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes") +
           (op.multicast ? ".multicast::cluster::all" : "") + ".b128";
  const bool combines = op.atomic != AtomicOperation::none;
  if (op.bulk == BulkDirection::to_cluster)
    return std::string(combines ? "cp.reduce.async.bulk" : "cp.async.bulk") +
           ".shared::cluster.shared::cta.mbarrier::complete_tx::bytes" + dotted(op.atomic) +
           (combines ? dotted(op.type) : std::string());
  const bool reads = op.bulk == BulkDirection::to_shared;
  std::string s(op.bulk == BulkDirection::reduce ? "cp.reduce.async.bulk" : "cp.async.bulk");
  if (op.bulk == BulkDirection::prefetch) s += ".prefetch";
  if (op.dimensions != 0) s += ".tensor." + std::to_string(op.dimensions) + "d";
  if (op.bulk == BulkDirection::prefetch) {
    s += ".L2.global";
  } else {
    s += reads ? ".shared::cluster.global" : ".global.shared::cta";
    if (op.dimensions != 0) s += mode_of(op.tensor_mode, reads);
    s += reads ? ".mbarrier::complete_tx::bytes" : ".bulk_group";
    if (op.multicast) s += ".multicast::cluster";
  }
  s += dotted(op.atomic);
  if (op.cache_hint) s += ".L2::cache_hint";
  return s + (op.bulk == BulkDirection::reduce && op.dimensions == 0 ? dotted(op.type) : std::string());
}

}  // namespace

unsigned MemOp::accessed_words() const {
  if (sink_lanes == 0) return 0xFF;
  unsigned words = 0;
  const unsigned size = size_of(type);
  for (unsigned byte = 0; byte < bytes_per_lane(); ++byte)
    if (has_element(byte / size)) words |= 1U << byte / 4;
  return words;
}

MemOp with_default_order(MemOp op) {
  const bool of_system = op.is_volatile || op.is_mmio;
  if (!op.is_strong() && (of_system || op.is_atomic())) op.semantics = Semantics::relaxed;
  if (of_system) op.scope = Scope::sys;
  if (op.is_atomic() && op.scope == Scope::none) op.scope = Scope::gpu;
  return op;
}

std::optional<std::string> refusal(const MemOp& op) {
  if (op.kind == MemKind::proxy_fence) {
    if (op.proxy == Proxy::alias || op.proxy == Proxy::async) return std::nullopt;
    return ".proxy" + dotted(op.proxy);
  }
  if (op.controls_lines() || op.kind == MemKind::cache_control) return std::nullopt;
  if (op.kind == MemKind::mbarrier || op.kind == MemKind::bulk_copy) return std::nullopt;
  if (op.is_atomic()) return std::nullopt;
  if (op.type == DataType::f16 || op.type == DataType::bf16 || op.type == DataType::f16x2 ||
      op.type == DataType::bf16x2)
    return dotted(op.type);
  return std::nullopt;
}

std::string to_ptx(const MemOp& op) {
  std::string s(kKinds.at(static_cast<std::size_t>(op.kind)));
  if (op.multimem) s = op.kind == MemKind::atomic ? "multimem.ld_reduce" : "multimem." + s;
  if (op.kind == MemKind::reduction && op.space == Space::surface) s = "sured";
  if (op.kind == MemKind::image_query && op.space == Space::surface) s = "suq";
  if (op.kind == MemKind::proxy_fence) return s + dotted(op.proxy);
  if (op.kind == MemKind::fence) return s + order_of(op);
  if (op.kind == MemKind::mbarrier) return mbarrier_to_ptx(op);
  if (op.kind == MemKind::bulk_copy) return bulk_to_ptx(op);
  if (op.kind == MemKind::cache_control) return s + "." + name_of(op.cache_operation);
  if (op.controls_lines()) {
    s += dotted(op.space);
    if (op.kind == MemKind::discard) return s + ".L2";
    return s + (op.l2_eviction != L2Eviction::none ? dotted(op.l2_eviction) : op.level == 2 ? ".L2" : ".L1");
  }
  if (op.kind == MemKind::fill) return s + (op.space == Space::generic ? ".weak" : ".weak.shared::cta");
  if (op.kind == MemKind::async_store) {
    if (op.atomic != AtomicOperation::none) s = "red.async";
    s += (op.is_strong() ? order_of(op) : ".weak") + dotted(op.space) + ".mbarrier::complete_tx::bytes" +
         dotted(op.atomic);
    return s + (op.vector > 1 ? ".v" + std::to_string(op.vector) : "") + dotted(op.type);
  }
  if (op.tile_passes != 0) return "wgmma.mma_async";
  if (op.matrices != 0) return s + "matrix.x" + std::to_string(op.matrices) + dotted(op.space) + ".b16";
  if (op.is_mmio) s += ".mmio";
  s += op.is_volatile ? ".volatile" : op.multimem && !op.is_strong() ? ".weak" : order_of(op);
  s += dotted(op.space) + dotted(op.atomic) + dotted(op.cache_operator);
  if (op.wide_sums) s += ".acc::f32";
  if (op.is_noncoherent) s += ".nc";
  s += dotted(op.l1_eviction) + dotted(op.l2_eviction);
  if (op.cache_hint) s += ".L2::cache_hint";
  if (op.prefetch_bytes != 0) s += ".L2::" + std::to_string(op.prefetch_bytes) + "B";
  if (op.vector > 1) s += ".v" + std::to_string(op.vector);
  return s + dotted(op.type);
}

}  // namespace warpline
