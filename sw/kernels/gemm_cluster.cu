// Target: sm_90a
// The product of gemm_tma.cu by clusters of 2 x 2 blocks. Blocks side by side need the same rows of A, and blocks one above
// the other the same columns of B: each copies half of either and multicasts it to both, so that L2 is asked once. A stage
// is empty when the warps of all three blocks that a block copies to have said so, by arrivals at its barrier over the
// network between SMs. m, n and k are multiples of 128, 256 and 64.
#include <cuda.h>
#include <cuda_fp16.h>

constexpr int kRows = 64, kColumns = 128, kDepth = 64, kStages = 3;

struct Stage {
  half a[kRows][kDepth], b[kColumns][kDepth];  // rows of 128 bytes, whose 16-byte pieces the copy has swizzled
};

__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
/// Arrives at the barrier at the same place in the block of that rank.
__device__ void arrive(unsigned barrier, unsigned rank) {
  asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
               "r"(rank)
               : "memory");
}

/// A tile of `map` at (column, row), to the same place in all blocks that `ranks` names, each of which counts its bytes at its
/// own `full`.
__device__ void copy_tile(void* to, const CUtensorMap& map, int column, int row, unsigned full, unsigned ranks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], "
      "[%4], %5;" ::"r"(shared_address(to)),
      "l"(&map), "r"(column), "r"(row), "r"(full), "h"(static_cast<unsigned short>(ranks))
      : "memory");
}

/// What wgmma knows a tile by: where it begins, 1024 bytes from eight rows to the next eight, swizzled in 128 bytes.
__device__ unsigned long long descriptor(const void* tile) {
  return (shared_address(tile) & 0x3FFFF) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}


__device__ void multiply_add(float (&d)[64], unsigned long long a, unsigned long long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,"
      "%61,%62,%63}, %64, %65, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]),
        "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]),
        "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
        "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]),
        "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]),
        "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]),
        "+f"(d[63])
      : "l"(a), "l"(b));
}

extern "C" __global__ void __launch_bounds__(256, 1) __cluster_dims__(2, 2, 1)
    gemm_cluster(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* __restrict__ c, int n, int k) {
  extern __shared__ __align__(1024) unsigned char dynamic[];
  Stage* const stages = reinterpret_cast<Stage*>(dynamic);
  __shared__ alignas(8) unsigned long long full[kStages], empty[kStages];
  const int row = blockIdx.y * kRows, column = blockIdx.x * kColumns;
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const unsigned x = rank % 2, y = rank / 2, beside = rank ^ 1, above = rank ^ 2;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full[s])) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 12;" ::"r"(shared_address(&empty[s])) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  // Nobody copies to a block whose barriers are not there, nor to one that has ended.
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  if (threadIdx.x >= 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    for (int t = 0; threadIdx.x == 128 && t < k / kDepth; ++t) {
      const int s = t % kStages;
      const unsigned f = shared_address(&full[s]);
      if (t >= kStages) wait(shared_address(&empty[s]), (t / kStages - 1) & 1);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(f), "r"(static_cast<unsigned>(sizeof(Stage))) : "memory");
      copy_tile(stages[s].a[x * kRows / 2], a, t * kDepth, row + x * kRows / 2, f, 1u << rank | 1u << beside);
      copy_tile(stages[s].b[y * kColumns / 2], b, t * kDepth, column + y * kColumns / 2, f, 1u << rank | 1u << above);
    }
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  float sums[64] = {};
  for (int t = 0; t < k / kDepth; ++t) {
    const int s = t % kStages;
    wait(shared_address(&full[s]), t / kStages & 1);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int part = 0; part < kDepth / 16; ++part)  // 32 bytes further in each row
      multiply_add(sums, descriptor(stages[s].a) + 2 * part, descriptor(stages[s].b) + 2 * part);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncwarp();
    if (threadIdx.x % 32 == 0)
      for (const unsigned other : {rank, beside, above}) arrive(shared_address(&empty[s]), other);
  }
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  const int lane = threadIdx.x % 32, top = row + threadIdx.x / 32 * 16 + lane / 4;
  for (int i = 0; i < kColumns / 8; ++i)
    for (int r = 0; r < 2; ++r)
      *reinterpret_cast<float2*>(c + static_cast<size_t>(top + 8 * r) * n + column + i * 8 + lane % 4 * 2) =
          make_float2(sums[4 * i + 2 * r], sums[4 * i + 2 * r + 1]);
}
