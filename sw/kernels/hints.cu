// Every hint that CUDA C++ gives an access, on data whose values no hint may change.

// out[i] = 1 in[i] + 2 in[i^1] + 3 in[i^2] + 4 in[i^4] + 5 in[i^8] + 6 in[i^16], each read with another cache operator.
extern "C" __global__ void load_operators(const unsigned* in, unsigned* out, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  out[i] = __ldca(in + i) + 2 * __ldcg(in + (i ^ 1)) + 3 * __ldcs(in + (i ^ 2)) + 4 * __ldlu(in + (i ^ 4)) +
           5 * __ldcv(in + (i ^ 8)) + 6 * __ldg(in + (i ^ 16));
}

// A quarter of the output by each operator of stores, each read back at once by the thread that wrote it.
extern "C" __global__ void store_operators(double* out, double* back, unsigned quarter) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quarter) return;
  const double value = 0.25 * i;
  back[i] = __ldca(out + i);  // the line is in L1 before it is written
  __stwb(out + i, value + 1);
  __stcg(out + quarter + i, value + 2);
  __stcs(out + 2 * quarter + i, value + 3);
  __stwt(out + 3 * quarter + i, value + 4);
  back[i] += __ldca(out + i);
  back[quarter + i] = __ldcs(out + quarter + i);
  back[2 * quarter + i] = __ldcv(out + 2 * quarter + i);
  back[3 * quarter + i] = __ldcg(out + 3 * quarter + i);
}

__device__ uint4 add(uint4 a, uint4 b) { return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }

// out[i] = 6 in[i], read in six ways by four words, and written in two.
extern "C" __global__ void priorities(const uint4* in, uint4* out, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  uint4 v, sum = make_uint4(0, 0, 0, 0);
#define READ(form)                                                                                              \
  asm volatile("ld.global" form ".v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) \
               : "l"(in + i));                                                                                  \
  sum = add(sum, v)
  READ(".L1::evict_first.L2::128B");
  READ(".L1::evict_last.L2::64B");
  READ(".L1::evict_unchanged");
  READ(".nc.L1::no_allocate.L2::256B");
  READ(".nc.L1::evict_last");
  READ(".L1::evict_normal");
  if (i % 2 == 0) {
    asm volatile("st.global.L1::no_allocate.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(out + i), "r"(sum.x), "r"(sum.y),
                 "r"(sum.z), "r"(sum.w));
  } else {
    asm volatile("st.global.L1::evict_first.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(out + i), "r"(sum.x), "r"(sum.y),
                 "r"(sum.z), "r"(sum.w));
  }
}

// Policies by share, by range and as a number: out[i] = 3 in[i] + 1, and total = the number of threads.
extern "C" __global__ void policies(const unsigned* in, unsigned* out, unsigned* total, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ unsigned tile[128];
  if (i >= count) return;
  unsigned long long share, range, cut;
  asm volatile("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %0, 0.5;" : "=l"(share));
  asm volatile("createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %0, [%1], %2, %3;"
               : "=l"(range)
               : "l"(in), "r"(count * 2), "r"(count * 4));
  asm volatile("createpolicy.cvt.L2.b64 %0, %1;" : "=l"(cut) : "l"(0x12F0000000000000ull));
  unsigned a, b;
  asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(a) : "l"(in + i), "l"(share));
  asm volatile("ld.global.nc.L1::evict_last.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(b) : "l"(in + i), "l"(range));
  asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 4, %2;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x))),
               "l"(in + i), "l"(cut));
  asm volatile("cp.async.wait_all;" ::: "memory");
  asm volatile("st.global.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(out + i), "r"(a + b + tile[threadIdx.x] + 1),
               "l"(cut));
  asm volatile("red.global.add.L2::cache_hint.u32 [%0], 1, %1;" ::"l"(total), "l"(share));
}

// Lines fetched ahead, kept, let go and given up before they are written again: out[i] = in[i] + 5. One
// thread rings a doorbell as often as there are blocks, by exact accesses.
extern "C" __global__ void lines(const unsigned* in, unsigned* out, unsigned* doorbell, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  if (i % 32 == 0) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(in + i));
    asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(in + (i ^ 32)));
    asm volatile("prefetch.global.L1 [%0];" ::"l"(in + i));
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(out + i) : "memory");
  }
  __syncwarp();
  out[i] = in[i] + 5;
  if (i % 32 == 0) asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(in + (i ^ 32)));
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    unsigned rung;
    for (unsigned n = 0; n < gridDim.x; ++n) {
      asm volatile("ld.mmio.relaxed.sys.global.u32 %0, [%1];" : "=r"(rung) : "l"(doorbell) : "memory");
      asm volatile("st.mmio.relaxed.sys.global.u32 [%0], %1;" ::"l"(doorbell), "r"(rung + 1) : "memory");
    }
  }
}

// Forms that are rarer: words of 16 bits, orders and scopes written out, sleep. out[i] = i / 7 + 70000 (i % 7).
extern "C" __global__ void rarities(unsigned* out, unsigned* counters, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const auto narrow = static_cast<unsigned short>(i);
  unsigned wide;
  asm volatile("mul.wide.u16 %0, %1, %2;" : "=r"(wide) : "h"(static_cast<unsigned short>(narrow % 7)), "h"((short)10000));
  out[i] = narrow / 7 + 7 * wide;
  __nanosleep(20);
  unsigned old;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(old) : "l"(counters) : "memory");
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
  asm volatile("red.release.sys.global.add.u32 [%0], %1;" ::"l"(counters + 1), "r"(old) : "memory");
  asm volatile("red.relaxed.cta.global.max.u32 [%0], %1;" ::"l"(counters + 2), "r"(i) : "memory");
  asm volatile("fence.sc.gpu;" ::: "memory");
  atomicAdd_system(counters + 3, 2u);
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(counters + 4), "r"(9) : "memory");
}
