#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rtl_models/base/types.h"
#include "rtl_models/sm/instruction.h"
#include "rtl_models/sm/memory_access.h"

namespace warpline {

/// What a guest did wrong with memory.
enum class FaultKind : std::uint8_t {
  misaligned,        ///< address not a multiple of the access size
  unmapped,          ///< no such global address
  shared_range,      ///< beyond the CTA's shared memory
  local_range,       ///< beyond the thread's local memory
  constant_range,    ///< beyond the constant banks
  atomic_local,      ///< an atomic or reduction on local memory (PTX ISA, "atom": global or shared only)
  no_texture,        ///< a texture load whose handle names no texture
  no_surface,        ///< a surface access whose handle names no surface
  texel_type,        ///< a texture load of floating-point values from integers, or the other way round
  surface_range,     ///< beyond the edge of a surface, with `.trap`
  surface_format,    ///< a formatted reduction on a surface whose elements have another size
  image_shape,       ///< a texture or surface of another shape than the instruction names
  texel_offset,      ///< an offset of a texture load that is none of -8 to 7
  not_global,        ///< a generic address outside global memory, where a qualifier wants one inside
  cluster_rank,      ///< shared memory of a CTA that the cluster has not
  cta_ended,         ///< shared memory of a CTA of the cluster that has ended
  bus_error,         ///< the memory system answered with an error
  no_code,           ///< an instruction whose fetch was answered with an error; its place is the address
  not_shared,        ///< an address outside the CTA's own shared memory, of an mbarrier or a matrix
  no_mbarrier,       ///< no mbarrier object there: none was initialised, or it has been invalidated
  no_tensor_map,     ///< no tensor map there
  other_tensor_map,  ///< one of another number of dimensions, mode or type than the instruction goes with
  bulk_size,         ///< a bulk copy of so many bytes that they are no multiple of 16
  mbarrier_count,    ///< a count of an mbarrier would leave its range, or complete a phase it may not
  not_in_cluster,    ///< an address outside the cluster's shared memory, of an asynchronous store
  mbarrier_apart,    ///< an mbarrier that is in another CTA's shared memory than the data that it is told of
  fill_size,         ///< a fill of so many bytes that they are no multiple of 8
  multicast,         ///< memory of several GPUs at once, which `multimem` alone accesses
  not_multicast,     ///< memory of one GPU or of none, accessed by `multimem`
};

[[nodiscard]] constexpr std::string_view name_of(FaultKind kind) {
  constexpr std::array<std::string_view, 29> kNames = {"misaligned address",
                                                       "unmapped address",
                                                       "address beyond shared memory",
                                                       "address beyond local memory",
                                                       "address beyond the constant banks",
                                                       "atomic operation on local memory",
                                                       "handle of no texture",
                                                       "handle of no surface",
                                                       "texture of another type",
                                                       "coordinates beyond the surface",
                                                       "surface of another format",
                                                       "image of another shape",
                                                       "texel offset beyond -8 to 7",
                                                       "address outside global memory",
                                                       "address in no CTA of the cluster",
                                                       "address in the shared memory of a CTA that has ended",
                                                       "bus error",
                                                       "bus error on an instruction fetch",
                                                       "address outside the CTA's own shared memory",
                                                       "no mbarrier at this address",
                                                       "no tensor map at this address",
                                                       "tensor map of another kind",
                                                       "size of a bulk copy that is no multiple of 16",
                                                       "count of an mbarrier out of range",
                                                       "address outside the cluster's shared memory",
                                                       "mbarrier in another CTA than the data",
                                                       "size of a fill that is no multiple of 8",
                                                       "multicast address without multimem",
                                                       "address of no multicast object"};
  static_assert(kNames.size() == static_cast<std::size_t>(FaultKind::not_multicast) + 1, "a name each");
  return kNames[static_cast<std::size_t>(kind)];
}

/// A fault as it is recorded where it happens.
struct Fault {
  FaultKind kind = FaultKind::unmapped;
  Cycle cycle = 0;
  unsigned slot = 0;  ///< warp slot
  unsigned lane = 0;
  std::uint64_t address = 0;  ///< as the program wrote it
  const Instruction* instruction = nullptr;
  bool has_address = true;  ///< false: of the program itself, such as `trap`
  /// That the address is of: generic, or an offset in the space; of textures and surfaces it is a handle.
  Space space = Space::generic;
  unsigned bytes = 0;  ///< that the lane accesses there; 0: a line, or the image says how many
  std::optional<ImageCoordinates> coordinates = std::nullopt;  ///< of an access to an image that there is
  template <class Archive>
  void archive(Archive& a) {
    // Whose instruction it was is no longer known.
    a(kind, cycle, slot, lane, address, has_address, space, bytes, coordinates);
    if (!a.saves()) instruction = nullptr;
  }
};

/// A fault with everything that is known where it happens.
struct FaultReport {
  std::string kind;
  Fault fault;
  Dim3 cta;
  Dim3 thread;  ///< of the CTA
  std::string where;
  std::optional<MemOp> access;  ///< of an instruction that accesses memory
  /// Bytes of the memory that the address is of: the CTA's shared, the thread's local memory; of constant
  /// memory, those of the kernel's parameters.
  std::uint64_t limit = 0;
  template <class Archive>
  void archive(Archive& a) {
    a(kind, fault, cta, thread, where, access, limit);
  }
};

}  // namespace warpline
