#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "rtl_models/base/visibility.h"
#include "rtl_models/isa/data_type.h"
#include "rtl_models/isa/sass_cctl.h"

namespace warpline {

/// What a memory instruction does (PTX ISA, "Data Movement", "Parallel Synchronization").
enum class MemKind : std::uint8_t {
  load,
  store,
  atomic,
  reduction,
  prefetch,
  prefetch_uniform,
  async_copy,
  fence,
  proxy_fence,
  apply_priority,
  discard,
  cache_control,
  texture_load,
  surface_load,
  surface_store,
  mbarrier,     ///< MemOp::mbarrier says what; on an object in shared memory
  bulk_copy,    ///< `cp.async.bulk` and its kin: MemOp::bulk says which way
  image_query,  ///< `txq`, `suq`, `istypep`: asks the unit for what it knows of a texture or surface
  /// `st.async`, `red.async`: ordered by nothing but the mbarrier that is told of the bytes that have come.
  /// Its address is MemoryAccess::second; a reduction has MemOp::atomic.
  async_store,
  fill,  ///< `st.bulk`: zeros to as many bytes of shared memory as MemoryAccess::second says
};

/// The state space named by the instruction.
enum class Space : std::uint8_t {
  generic,
  global,
  shared,
  shared_cluster,
  local,
  constant,
  param,
  texture,
  surface,
};

/// PTX ISA, "Operation types". `volatile` and `mmio` are relaxed accesses with a flag of their own.
enum class Semantics : std::uint8_t { weak, relaxed, acquire, release, acq_rel, sc };

/// Ordered by inclusion. `none` is for weak accesses.
enum class Scope : std::uint8_t { none, cta, cluster, gpu, sys };

/// PTX ISA, "Cache Operators". The first group is for loads, the second for stores.
enum class CacheOperator : std::uint8_t { none, ca, cg, cs, lu, cv, wb, wt };

enum class L1Eviction : std::uint8_t { none, normal, unchanged, first, last, no_allocate };
enum class L2Eviction : std::uint8_t { none, normal, first, last, unchanged };

/// The path by which memory is reached (PTX ISA, "Proxies").
enum class Proxy : std::uint8_t {
  generic,
  noncoherent,
  texture,
  surface,
  constant,
  alias,
  async,
  tensormap,
};

enum class AtomicOperation : std::uint8_t {
  none,
  add,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
  exchange,
  compare_and_swap,
  increment,
  decrement,
};

/// What an instruction does to an mbarrier object (PTX ISA, "mbarrier").
enum class MbarrierOperation : std::uint8_t {
  init,
  inval,
  arrive,
  arrive_drop,
  expect_tx,
  complete_tx,
  test_wait,
  try_wait,
  copies_arrive,  ///< `cp.async.mbarrier.arrive`: an arrival when the thread's asynchronous copies are done
};

/// What goes with it: of arrivals `.noComplete` and `.expect_tx`, of waits `.parity`, of `copies_arrive`
/// `.noinc`.
enum class MbarrierForm : std::uint8_t { plain, no_complete, expect_tx, parity, no_increment };

/// Which way a bulk copy goes (PTX ISA, "Data Movement: asynchronous bulk copy").
enum class BulkDirection : std::uint8_t {
  to_shared,  ///< from global memory; completes on an mbarrier
  to_global,  ///< from shared memory; completes in a group
  reduce,     ///< the same, combining by MemOp::atomic
  prefetch,   ///< of global memory into L2
  /// From the own shared memory to that of any CTA of the cluster, or combining there by MemOp::atomic;
  /// completes on an mbarrier of that CTA.
  to_cluster,
  /// `clusterlaunchcontrol.try_cancel`: what the work distributor answers goes to shared memory; completes on
  /// an mbarrier.
  cancel,
};

/// What of a tensor a bulk copy moves (PTX ISA, "Tensor access modes").
enum class TensorMode : std::uint8_t {
  tile,        ///< a box
  rows,        ///< four rows of a matrix: `.tile::gather4`, `.tile::scatter4`
  im2col,      ///< pixels of a box in images
  wide,        ///< pixels of one line of each image: `.im2col::w`
  wide_of_128  ///< 128 of them: `.im2col::w::128`
};
constexpr bool is_of_images(TensorMode m) {
  return m >= TensorMode::im2col;
}
constexpr bool is_wide(TensorMode m) {
  return m >= TensorMode::wide;
}

/// What a surface access does beyond the edge (PTX ISA, "suld", `.clampm`): end the warp, access the nearest
/// element, or read zeros and write nothing.
enum class BeyondEdge : std::uint8_t { trap, clamp, zero };

/// The shape of a texture or surface as an instruction names it: `.1d` to `.acube`. `any`: it takes that of
/// the image, with two coordinates.
enum class Geometry : std::uint8_t { any, d1, d2, d3, a1d, a2d, cube, acube };
/// How a texture load finds the level of a mipmap and its texels (PTX ISA, "tex", "tld4").
enum class Sampling : std::uint8_t {
  base,       ///< level 0
  level,      ///< a level of detail is given
  gradients,  ///< follows from how far the coordinates move from pixel to pixel
  gather,     ///< one component of the four texels between which a linear filter would take a mean
};
/// What `txq`, `suq` and `istypep` ask for.
enum class ImageQuery : std::uint8_t {
  width,
  height,
  depth,
  channel_data_type,
  channel_order,
  normalized_coords,
  array_size,
  num_mipmap_levels,
  num_samples,
  memory_layout,
  force_unnormalized_coords,
  filter_mode,
  addr_mode_0,
  addr_mode_1,
  addr_mode_2,
  is_texture,
  is_surface,
  is_sampler,
};

/// What an instruction on textures and surfaces says beside what others say. Of queries: of textures where
/// the space is Space::texture.
struct WARPLINE_PUBLIC ImageForm {
  Geometry geometry = Geometry::any;
  Sampling sampling = Sampling::base;
  ImageQuery query = ImageQuery::width;
  std::uint8_t component = 0;      ///< of a gather: 0 red to 3 alpha
  bool float_coordinates = false;  ///< otherwise integers, which count texels
  bool compares = false;           ///< results are 1 where a reference is at most the texel, else 0
  bool formatted = false;          ///< `.p`: of a surface's elements, not of bytes
  template <class Archive>
  void archive(Archive& a) {
    a(geometry, sampling, query, component, float_coordinates, compares, formatted);
  }
};

/// Everything a memory instruction may say, whether or not the model acts on it yet
/// (`refusal` tells). One value per static instruction; addresses, data and policy values that
/// sit in registers belong to its executions.
struct WARPLINE_PUBLIC MemOp {
  MemKind kind = MemKind::load;
  Space space = Space::generic;
  Semantics semantics = Semantics::weak;
  Scope scope = Scope::none;
  CacheOperator cache_operator = CacheOperator::none;
  L1Eviction l1_eviction = L1Eviction::none;
  L2Eviction l2_eviction = L2Eviction::none;
  bool cache_hint = false;           ///< `.L2::cache_hint`; the descriptor is MemoryAccess::policy
  bool is_volatile = false;          ///< `.volatile`: relaxed.sys, instruction count preserved
  bool is_mmio = false;              ///< `.mmio`: one bus transaction per lane
  bool is_noncoherent = false;       ///< `ld.global.nc`
  bool bypass_l1 = false;            ///< SASS `.BYPASS`, `cp.async.cg`: not looked up, not allocated in L1
  bool fills = false;                ///< `cp.async` with a source size: CopyTarget::bytes counts
  std::uint16_t prefetch_bytes = 0;  ///< `.L2::64B/128B/256B`; 0 without
  std::uint8_t vector = 1;           ///< elements per lane: 1, 2, 4 or 8
  std::uint8_t level = 0;            ///< of a prefetch: 1 or 2, the cache that it names
  std::uint8_t sink_lanes = 0;       ///< bit e: vector element e is the sink `_` and is not accessed
  DataType type = DataType::none;
  AtomicOperation atomic = AtomicOperation::none;
  Proxy proxy = Proxy::generic;
  std::uint8_t matrices =
      0;  ///< of `ldmatrix` and `stmatrix`: that it moves; each lane accesses a row of one
  /// Of `wgmma.mma_async`: that its tiles in shared memory take over the banks; its lanes' addresses are
  /// those of the first and the last 16 bytes.
  std::uint8_t tile_passes = 0;
  BeyondEdge beyond_edge = BeyondEdge::trap;                  ///< of surface loads and stores
  ImageForm image;                                            ///< of accesses to textures and surfaces
  CctlOperation cache_operation = CctlOperation::invalidate;  ///< of SASS's cache control
  CctlTarget cache_target = CctlTarget::data_line;            ///< of SASS's cache control: what it acts on
  MbarrierOperation mbarrier = MbarrierOperation::init;
  MbarrierForm mbarrier_form = MbarrierForm::plain;
  BulkDirection bulk = BulkDirection::to_shared;
  std::uint8_t dimensions = 0;                ///< of a bulk copy: 0: bytes in a row; 1 to 5: of a tensor
  TensorMode tensor_mode = TensorMode::tile;  ///< of a bulk copy of a tensor
  bool multicast = false;      ///< `.multicast::cluster`: to several CTAs of the cluster, at the same place
  bool may_be_remote = false;  ///< of an mbarrier: it may be another CTA's of the cluster
  /// `multimem`: of a multicast object, all replicas of which it accesses. A store, a reduction, or an
  /// atomic, which is `.ld_reduce`: it reads, and combines by MemOp::atomic.
  bool multimem = false;
  bool wide_sums = false;  ///< `.acc::f32`
  template <class Archive>
  void archive(Archive& a) {
    a(kind, space, semantics, scope, cache_operator, l1_eviction, l2_eviction, cache_hint, is_volatile,
      is_mmio, is_noncoherent, bypass_l1, fills, prefetch_bytes, vector, level, sink_lanes, type, atomic,
      proxy, beyond_edge, image, cache_operation, cache_target, mbarrier, mbarrier_form, bulk, dimensions,
      tensor_mode, matrices, tile_passes, multicast, may_be_remote, multimem, wide_sums);
  }

  /// Bytes that one lane accesses, sinks included: 1 to 32. 0: it controls the line of its address.
  [[nodiscard]] unsigned bytes_per_lane() const { return size_of(type) * vector; }
  /// Whether vector element `e` is accessed.
  [[nodiscard]] bool has_element(unsigned e) const { return (sink_lanes >> e & 1U) == 0; }
  /// Bytes of a lane's access up to the last that is no sink's.
  [[nodiscard]] unsigned end_of_access() const {
    unsigned elements = vector;
    while (elements > 1 && !has_element(elements - 1)) --elements;
    return size_of(type) * elements;
  }
  /// Bit w: the 4-byte word w of a lane's access is not all sinks.
  [[nodiscard]] unsigned accessed_words() const;
  /// Whether it acts on the lines of its addresses and moves no data: `prefetch`, `prefetchu`,
  /// `applypriority`, `discard`, CCTL of a line.
  [[nodiscard]] bool controls_lines() const {
    return kind == MemKind::prefetch || kind == MemKind::prefetch_uniform ||
           kind == MemKind::apply_priority || kind == MemKind::discard ||
           (kind == MemKind::cache_control && cache_target == CctlTarget::data_line);
  }
  /// Whether a qualifier of it means nothing outside global memory (PTX ISA: a generic address there is
  /// undefined behaviour): hints of L2, `.mmio`, vectors of 32 bytes, and vectors of atomics.
  [[nodiscard]] bool wants_global() const {
    constexpr unsigned kWideVector = 32;
    return multimem || cache_hint || l2_eviction != L2Eviction::none || prefetch_bytes != 0 || is_mmio ||
           bytes_per_lane() == kWideVector || (is_atomic() && vector > 1);
  }
  /// Whether it waits for a phase of an mbarrier, or asks for one.
  [[nodiscard]] bool waits_for_phase() const {
    return kind == MemKind::mbarrier &&
           (mbarrier == MbarrierOperation::test_wait || mbarrier == MbarrierOperation::try_wait);
  }
  /// Whether it reads, computes and writes as one.
  [[nodiscard]] bool is_atomic() const { return kind == MemKind::atomic || kind == MemKind::reduction; }
  /// Whether it is a weak load of global memory that asks for its data and nothing else, whatever its size.
  [[nodiscard]] bool is_plain_load() const {
    // As one comparison: it is asked of every access.
    constexpr std::uint8_t kPlain[] = {static_cast<std::uint8_t>(MemKind::load),
                                       static_cast<std::uint8_t>(Space::global),
                                       0,
                                       0,
                                       0,
                                       0,
                                       0,
                                       0,
                                       0,
                                       0,
                                       0,
                                       0};
    static_assert(offsetof(MemOp, space) == 1 && offsetof(MemOp, bypass_l1) == sizeof kPlain - 1,
                  "all that a load may ask for beside its data lies between them, but for `prefetch_bytes`");
    return __builtin_memcmp(this, kPlain, sizeof kPlain) == 0 && prefetch_bytes == 0;
  }
  [[nodiscard]] bool is_strong() const { return semantics != Semantics::weak; }
  /// Whether it accesses a texture or surface, whose handle is the address.
  [[nodiscard]] bool of_image() const { return space == Space::texture || space == Space::surface; }
  /// A strong access whose scope reaches beyond the SM, so that L1 must not serve it.
  [[nodiscard]] bool beyond_cta() const { return is_strong() && scope > Scope::cta; }
  [[nodiscard]] bool acquires() const {
    return semantics == Semantics::acquire || semantics == Semantics::acq_rel || semantics == Semantics::sc;
  }
  [[nodiscard]] bool releases() const {
    return semantics == Semantics::release || semantics == Semantics::acq_rel || semantics == Semantics::sc;
  }
  [[nodiscard]] bool reads() const {
    return kind == MemKind::load || kind == MemKind::atomic || kind == MemKind::texture_load ||
           kind == MemKind::surface_load || kind == MemKind::mbarrier;
  }
  [[nodiscard]] bool writes() const {
    return kind == MemKind::store || is_atomic() || kind == MemKind::surface_store ||
           kind == MemKind::async_store || kind == MemKind::fill;
  }
};

/// `op` with the order that PTX means where none is written (PTX ISA, "Operation types", "atom"): volatile
/// and mmio accesses are relaxed at the scope of the system, atomics and reductions relaxed at that of the
/// GPU.
WARPLINE_PUBLIC [[nodiscard]] MemOp with_default_order(MemOp op);

/// The first qualifier of `op` that this version does not model, as it is written in PTX
/// (".L2::cache_hint"), or nothing. Programs are refused with it before they run.
WARPLINE_PUBLIC [[nodiscard]] std::optional<std::string> refusal(const MemOp& op);

/// `op` in PTX's spelling, qualifiers in the order of the PTX ISA's syntax lines.
WARPLINE_PUBLIC [[nodiscard]] std::string to_ptx(const MemOp& op);

}  // namespace warpline
