#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "rtl_models/isa/mem_op.h"
#include "rtl_models/sm/fault.h"
#include "rtl_models/sm/image_table.h"
#include "rtl_models/sm/memory_access.h"

namespace warpline {

/// The texels that one lane's texture load reads, and what becomes of them: the CUDA C++ Programming Guide's
/// "Texture Fetching" as arithmetic. Point sampling reads one, a linear filter two of each dimension, on one
/// level of a mipmap or on two.
struct TexelPlan {
  static constexpr unsigned kMostTexels = 16;
  static constexpr std::uint64_t kBorder = ~std::uint64_t{0};
  static constexpr std::uint32_t kOne = 256;  ///< of weights in a dimension: 8 bits of fraction

  unsigned count = 0;
  unsigned finer = 0;       ///< so many, the first, are of the finer level
  std::uint32_t blend = 0;  ///< 256ths of the coarser level in the mean of two
  /// From the image's address; kBorder: the border colour stands for it, and nothing is read.
  std::array<std::uint64_t, kMostTexels> offset;
  std::array<std::uint32_t, kMostTexels> weight;  ///< those of one level sum up to a power of 256
};

/// Finds the texels of one lane, or what is wrong: the image is of another type or shape than the
/// instruction, or a texel offset is none of -8 to 7. Coordinates count from the outer edge of the first
/// texel; no number is 0, and so is an infinite one where the image repeats. Weights and the mean of two
/// levels are rounded to the nearest 256th (assumed; the guide says 8 bits of fraction).
[[nodiscard]] std::optional<FaultKind> plan_texels(const MemOp& op, const Image& image,
                                                   const ImageCoordinates& at, const SampleOperands& operands,
                                                   TexelPlan& plan);

/// The bytes of the texels of one lane, in the order of its plan.
using TexelBytes = std::array<std::array<std::uint8_t, 16>, TexelPlan::kMostTexels>;

/// Writes to `out` what the load returns: four values of 32 bits, or of 16 for `.f16` and `.f16x2`. Means are
/// computed in double precision, x before y before z, the finer level before the coarser one, and rounded
/// once. Pre: `plan` is that of plan_texels().
void combine_texels(const MemOp& op, const Image& image, const TexelPlan& plan, const TexelBytes& bytes,
                    float reference, std::uint8_t* out);

/// Where a surface access goes in its image, bytes from its start; a fault; or nowhere, as beyond the edge of
/// a surface with `.zero`. `bytes`: that are accessed.
struct ElementPlace {
  std::optional<FaultKind> fault;
  bool nowhere = false;
  std::uint64_t offset = 0;
};
[[nodiscard]] ElementPlace place_element(const MemOp& op, const Image& image, const ImageCoordinates& at,
                                         unsigned bytes);

/// What a query of an image that there is answers (PTX ISA, "txq", "suq"; numbers of types and orders as in
/// OpenCL, which PTX names as their source). `level`: of `txq.level`, 0 without.
[[nodiscard]] std::uint32_t answer_query(ImageQuery query, const Image& image, std::uint32_t level);

/// The shape in which the instruction takes `image` does not fit it.
[[nodiscard]] bool is_of_shape(Geometry geometry, const Image& image);

}  // namespace warpline
