// Target: sm_90
// The mean of what all GPUs have of an array, left on all of them, by multimem instructions. Each GPU takes a
// share of the array: it loads the sums of all replicas, which the switches between the GPUs add up, and stores
// them to all. Then the GPUs meet at a counter that each has a replica of, and every GPU divides its own sums.
//
// `all` and `all_arrived` are the addresses of multicast objects; `own` and `arrived` this GPU's replicas.
__device__ float4 load_sums(const float4* all) {
  float4 v;
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(all)
               : "memory");
  return v;
}

__device__ void store_to_all(float4* all, float4 v) {
  asm volatile("multimem.st.relaxed.sys.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(all), "f"(v.x), "f"(v.y),
               "f"(v.z), "f"(v.w)
               : "memory");
}

/// All blocks of all GPUs have come here, and what they stored is seen.
__device__ void meet(unsigned* all_arrived, const unsigned* arrived, unsigned blocks) {
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("multimem.red.release.sys.global.add.u32 [%0], %1;" ::"l"(all_arrived), "r"(1) : "memory");
    unsigned seen;
    do {
      asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
    } while (seen != blocks);
    // The replica has another address than the object through which it was written.
    asm volatile("fence.proxy.alias;" ::: "memory");
  }
  __syncthreads();
}

extern "C" __global__ void all_reduce(float4* all, float4* own, unsigned* all_arrived, unsigned* arrived,
                                      unsigned count, unsigned gpu, unsigned gpus) {
  const unsigned share = count / gpus, threads = gridDim.x * blockDim.x;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = gpu * share + thread; i < (gpu + 1) * share; i += threads)
    store_to_all(&all[i], load_sums(&all[i]));
  meet(all_arrived, arrived, gridDim.x * gpus);
  const float part = 1.0f / static_cast<float>(gpus);
  for (unsigned i = thread; i < count; i += threads) {
    float4 v = own[i];
    own[i] = make_float4(v.x * part, v.y * part, v.z * part, v.w * part);
  }
}
