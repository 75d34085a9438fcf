#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rtl_models/base/types.h"
#include "rtl_models/sm/instruction.h"

namespace warpline {

/// What a guest did wrong with memory.
enum class FaultKind : std::uint8_t {
  misaligned,      ///< address not a multiple of the access size
  unmapped,        ///< no such global address
  shared_range,    ///< beyond the CTA's shared memory
  local_range,     ///< beyond the thread's local memory
  constant_range,  ///< beyond the constant banks
  atomic_local,    ///< an atomic or reduction on local memory (PTX ISA, "atom": global or shared only)
  no_texture,      ///< a texture load whose handle names no texture
  no_surface,      ///< a surface access whose handle names no surface
  texel_type,      ///< a texture load of floating-point values from integers, or the other way round
  surface_range,   ///< beyond the edge of a surface, with `.trap`
  not_global,      ///< a generic address outside global memory, where a qualifier wants one inside
  bus_error,       ///< the memory system answered with an error
  no_code,         ///< an instruction whose fetch was answered with an error; its place is the address
};

[[nodiscard]] constexpr std::string_view name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::misaligned: return "misaligned address";
    case FaultKind::unmapped: return "unmapped address";
    case FaultKind::shared_range: return "address beyond shared memory";
    case FaultKind::local_range: return "address beyond local memory";
    case FaultKind::constant_range: return "address beyond the constant banks";
    case FaultKind::atomic_local: return "atomic operation on local memory";
    case FaultKind::no_texture: return "handle of no texture";
    case FaultKind::no_surface: return "handle of no surface";
    case FaultKind::texel_type: return "texture of another type";
    case FaultKind::surface_range: return "coordinates beyond the surface";
    case FaultKind::not_global: return "address outside global memory";
    case FaultKind::bus_error: return "bus error";
    case FaultKind::no_code: return "bus error on an instruction fetch";
  }
  return "";
}

/// A fault as it is recorded where it happens.
struct Fault {
  FaultKind kind = FaultKind::unmapped;
  Cycle cycle = 0;
  unsigned slot = 0;  ///< warp slot
  unsigned lane = 0;
  std::uint64_t address = 0;  ///< as the program wrote it
  const Instruction* instruction = nullptr;
};

/// A fault with everything that is known where it happens.
struct FaultReport {
  std::string kind;
  Fault fault;
  Dim3 cta;
  std::string where;
};

}  // namespace warpline
