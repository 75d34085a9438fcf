// A hot set that is read again and again, and a stream that passes between: which of them does L2 keep?
// One block; `stream_count` floats pass between two reads of a hot float. L1 keeps neither.

__device__ float load(const float* address) {
  float value;
  asm volatile("ld.global.L1::no_allocate.f32 %0, [%1];" : "=f"(value) : "l"(address));
  return value;
}

__device__ float load(const float* address, unsigned long long policy) {
  float value;
  asm volatile("ld.global.L1::no_allocate.L2::cache_hint.f32 %0, [%1], %2;"
               : "=f"(value)
               : "l"(address), "l"(policy));
  return value;
}

// The hot set is read as the stream is. sum: of what each thread has read.
extern "C" __global__ void hot_set_plain(const float* hot, unsigned hot_count, const float* stream,
                                         unsigned stream_count, unsigned rounds, float* sum) {
  float total = 0;
  for (unsigned r = 0; r < rounds; ++r) {
    for (unsigned i = threadIdx.x; i < hot_count; i += blockDim.x) total += load(hot + i);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < stream_count; i += blockDim.x) total += load(stream + i);
    __syncthreads();
  }
  sum[threadIdx.x] = total;
}

// `fraction` of the hot set's lines is evict_last, the rest evict_first.
extern "C" __global__ void hot_set_kept(const float* hot, unsigned hot_count, const float* stream,
                                        unsigned stream_count, unsigned rounds, float fraction, float* sum) {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %0, %1;" : "=l"(policy) : "f"(fraction));
  float total = 0;
  for (unsigned r = 0; r < rounds; ++r) {
    for (unsigned i = threadIdx.x; i < hot_count; i += blockDim.x) total += load(hot + i, policy);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < stream_count; i += blockDim.x) total += load(stream + i);
    __syncthreads();
  }
  sum[threadIdx.x] = total;
}
