// Every atomic operation of the CUDA library that sm_80 has for 32- and 64-bit integers, and float and double
// addition, on global and on shared memory. Each result is the same whatever the order of the threads.

// i32: 4 words, u32: 7, u64: 8, f32 and f64: 1; every thread of every block works on all of them.
extern "C" __global__ void atomics_global(int* i32, unsigned* u32, unsigned long long* u64, float* f32, double* f64) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const int s = static_cast<int>(t * 2654435761u);
  const unsigned long long w = t * 0x9E3779B97F4A7C15ull;
  atomicAdd(&i32[0], s);
  atomicSub(&i32[1], s);
  atomicMin(&i32[2], s);
  atomicMax(&i32[3], s);
  atomicMin(&u32[0], t * 2654435761u);
  atomicMax(&u32[1], t * 2654435761u);
  atomicAnd(&u32[2], ~(1u << (t % 31)));
  atomicOr(&u32[3], 1u << (t % 29));
  atomicXor(&u32[4], t);
  atomicInc(&u32[5], 99);
  atomicDec(&u32[6], 99);
  atomicAdd(&u64[0], w);
  atomicMin(&u64[1], w);
  atomicMax(&u64[2], w);
  atomicAnd(&u64[3], ~(1ull << (t % 61)));
  atomicOr(&u64[4], 1ull << (t % 59));
  atomicXor(&u64[5], w);
  atomicMin(reinterpret_cast<long long*>(&u64[6]), static_cast<long long>(w));
  atomicMax(reinterpret_cast<long long*>(&u64[7]), static_cast<long long>(w));
  atomicAdd(&f32[0], static_cast<float>(t % 8));   // whole numbers: exact in any order
  atomicAdd(&f64[0], static_cast<double>(t % 16));
}

// Values that come back: tickets are a permutation, exchanged tokens are neither lost nor doubled, and a product is
// built by compare-and-swap. Odd threads take part alone, so that warps diverge.
extern "C" __global__ void atomics_returning(unsigned* next_ticket, unsigned* taken, unsigned* token,
                                             unsigned* token_sum, unsigned* product, unsigned long long* ticket64) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&taken[atomicAdd(next_ticket, 1u)], 1u);
  atomicAdd(token_sum, atomicExch(token, t + 1));
  atomicAdd(&taken[atomicAdd(ticket64, 1ull)], 1u);
  if (t % 2 == 1) {
    unsigned seen = *static_cast<volatile unsigned*>(product), assumed;
    do {
      assumed = seen;
      seen = atomicCAS(product, assumed, assumed * (2 * t + 1));
    } while (seen != assumed);
  }
}

// The same operations in shared memory, one block.
extern "C" __global__ void atomics_shared(unsigned* out) {
  __shared__ unsigned s[12];
  __shared__ unsigned long long s64[2];
  const unsigned t = threadIdx.x;
  if (t < 12) s[t] = t == 2 || t == 4 ? ~0u : 0;
  if (t < 2) s64[t] = 0;
  __syncthreads();
  atomicAdd(&s[0], t);
  atomicMax(&s[1], t * 2654435761u);
  atomicMin(&s[2], t * 2654435761u + 1);
  atomicOr(&s[3], 1u << (t % 29));
  atomicAnd(&s[4], ~(1u << (t % 31)));
  atomicXor(&s[5], t * 40503u);
  atomicInc(&s[6], 9);
  atomicDec(&s[7], 9);
  atomicAdd(&s[8], atomicExch(&s[9], t + 1));
  atomicMax(reinterpret_cast<int*>(&s[10]), static_cast<int>(t) - 100);
  unsigned seen = 0, assumed;
  do {
    assumed = seen;
    seen = atomicCAS(&s[11], assumed, assumed + 3);
  } while (seen != assumed);
  atomicAdd(&s64[0], t * 0x9E3779B97F4A7C15ull);
  atomicMax(&s64[1], t * 0x9E3779B97F4A7C15ull);
  __syncthreads();
  if (t == 0) s[8] += s[9];
  __syncthreads();
  if (t < 12 && t != 9) out[t] = s[t];
  if (t < 2) {
    out[12 + 2 * t] = static_cast<unsigned>(s64[t]);
    out[13 + 2 * t] = static_cast<unsigned>(s64[t] >> 32);
  }
}
