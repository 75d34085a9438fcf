#pragma once

namespace warpline::bench {

/// A loop of integer and binary32 arithmetic, 16 instructions an iteration.
inline constexpr const char* kArithmetic = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry arithmetic(.param .u64 out, .param .u32 n)
{
  .reg .b32 %r<12>;
  .reg .f32 %f<6>;
  .reg .b64 %d<4>;
  .reg .pred %p<2>;
  ld.param.u64 %d1, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, 0;
  cvt.rn.f32.u32 %f1, %r2;
  mov.f32 %f2, 0f3F800000;
L:
  mad.lo.u32 %r5, %r2, 1664525, %r3;
  shr.u32 %r6, %r5, 3;
  xor.b32 %r3, %r3, %r6;
  and.b32 %r7, %r5, %r3;
  shl.b32 %r8, %r4, 2;
  or.b32 %r7, %r7, %r8;
  add.u32 %r2, %r5, %r7;
  sub.u32 %r9, %r2, %r4;
  min.u32 %r3, %r3, %r9;
  fma.rn.f32 %f3, %f1, 0f3F000000, %f2;
  mul.f32 %f1, %f3, 0f3F400000;
  add.f32 %f2, %f2, 0f3F800000;
  sub.f32 %f1, %f1, %f3;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, %r1;
  @%p1 bra L;
  cvt.rzi.u32.f32 %r10, %f2;
  add.u32 %r2, %r2, %r10;
  st.global.u32 [%d1], %r2;
  ret;
}
)";

}  // namespace warpline::bench
