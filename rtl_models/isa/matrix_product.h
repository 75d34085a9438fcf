#pragma once

#include <cstdint>
#include <memory>

#include "rtl_models/isa/matrix_fragment.h"
#include "rtl_models/isa/small_float.h"

namespace warpline {

/// What a product of single bits does with a bit of A and one of B before it counts ones.
enum class BitProduct : std::uint8_t { exclusive_or, conjunction };

/// A product D = A B + C as an instruction asks for it.
struct MatrixForm {
  MatrixShape shape;
  MatrixType a = MatrixType::f16, b = MatrixType::f16, c = MatrixType::f32, d = MatrixType::f32;
  bool sparse = false;    ///< of A half is stored, and metadata says where it belongs
  bool saturate = false;  ///< of integers: `.satfinite`
  BitProduct bits = BitProduct::exclusive_or;
  Rounding rounding = Rounding::nearest;  ///< of f64
};

/// Matrix multiply and accumulate of one warp (PTX ISA, "Warp Level Matrix Multiply-Accumulate
/// Instructions").
///
/// Integers are exact: the sum wraps, or is cut off at the ends of s32 once, where it is complete.
/// f64: for each k in order one fused multiply-add, rounded as asked.
/// Other floating-point types: products are exact. The k are taken in order, in steps of 8 (f16, bf16), 4
/// (tf32, and f16 in m8n8k4) or 16 (8-bit types), of a sparse A so many that are stored. In a step the
/// products and the sum so far are aligned to the largest of their exponents (a product's is the sum of its
/// factors'), cut off 24 bits below its binary point, added exactly, and cut off to f32. That is what Fasi et
/// al., "Numerical behavior of NVIDIA tensor cores" (2021), and Khattak and Mikaitis, "Accurate Models of
/// NVIDIA Tensor Cores" (2025), found of the A100. Where D is f16, the last sum is rounded to nearest. A sum
/// of zero is +0, NaN are 0x7FFFFFFF (f16: 0x7FFF).
class MatrixProduct {
 public:
  /// Of whole matrices, in fragments that have these layouts. `quads`: as of mma.m8n8k4 of f16, four
  /// products.
  struct Layout {
    Fragment a, b, c, d;
    bool quads = false;
  };
  /// Pre: the layouts are of the form's shape and types.
  MatrixProduct(const MatrixForm& form, Layout layout);
  ~MatrixProduct();
  MatrixProduct(MatrixProduct&&) noexcept;

  [[nodiscard]] const MatrixForm& form() const;
  [[nodiscard]] const Layout& layout() const;
  /// Computes D of fragments, each as Fragment::at tells; `metadata`: of a sparse A the 32 lanes' words, with
  /// its selector. D may be C.
  void run(const void* a, const void* b, const void* c, void* d, const std::uint32_t* metadata = nullptr,
           unsigned selector = 0) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The product of `mma` or `mma.sp`. `a_column`, `b_column`: layouts of m8n8k4 of f16.
[[nodiscard]] MatrixProduct mma_product(const MatrixForm& form, bool a_column, bool b_column);
/// The product of `wmma`.
[[nodiscard]] MatrixProduct wmma_product(const MatrixForm& form, bool a_column, bool b_column);

/// A warp's part of the product of `wgmma`: 16 rows. A, or what is stored of a sparse one, lies in registers
/// as of `mma`, or else row after row; B column after column; without gaps. Metadata are as of `mma.sp` with
/// the same k.
[[nodiscard]] MatrixProduct warpgroup_product(const MatrixForm& form, bool a_in_registers);

/// Lanes' words that hold the metadata of a sparse A can be chosen in so many ways: selectors from 0 on.
[[nodiscard]] unsigned selectors_of(const MatrixForm& form);

}  // namespace warpline
