// Target: sm_75
// A round trip between two blocks of a warp each: the first writes `words` words and then signals, the second sees the
// signal, reads the words, judges each unit of them and answers. Three ways to signal: `embedded`, the last unit of
// the words itself is waited for, without any fence; `counter`, a fence and an addition to a flag; `release`, a store
// that releases, for a load that acquires. A word has the number of the trip in its upper 24 bits, and its own place
// below. UNIT: words that one access moves.
typedef unsigned long long u64;
enum Way { kEmbedded, kCounter, kRelease };

__device__ __forceinline__ unsigned word_of(unsigned trip, unsigned place) { return trip << 8 | (place & 255); }

template <int UNIT>
__device__ __forceinline__ void put(unsigned* data, unsigned unit, unsigned trip) {
  unsigned* const to = data + unit * UNIT;
  const unsigned place = unit * UNIT;
  if (UNIT == 1)
    asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(word_of(trip, place)) : "memory");
  else
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(word_of(trip, place)),
                 "r"(word_of(trip, place + 1)), "r"(word_of(trip, place + 2)), "r"(word_of(trip, place + 3))
                 : "memory");
}
template <int UNIT>
__device__ __forceinline__ void get(const unsigned* from, unsigned* words) {
  if (UNIT == 1)
    asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(words[0]) : "l"(from) : "memory");
  else
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "l"(from)
                 : "memory");
}
__device__ __forceinline__ unsigned get_one(const unsigned* from) {
  unsigned v;
  get<1>(from, &v);
  return v;
}
// Units that were of the trip, before it, of both, or of neither.
struct Verdicts {
  u64 right = 0, late = 0, torn = 0, wrong = 0;
};
template <int UNIT>
__device__ __forceinline__ void judge(const unsigned* words, unsigned unit, unsigned trip, Verdicts& to) {
  bool now = false, before = false, neither = false;
#pragma unroll
  for (int n = 0; n < UNIT; ++n) {
    if (words[n] == 0) before = true;
    else if (words[n] >> 8 > trip || ((words[n] ^ (unit * UNIT + n)) & 255) != 0) neither = true;
    else if (words[n] >> 8 == trip) now = true;
    else before = true;
  }
  if (neither) ++to.wrong;
  else if (now && before) ++to.torn;
  else if (before) ++to.late;
  else ++to.right;
}
__device__ __forceinline__ void put_release(unsigned* to, unsigned v) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(v) : "memory");
}
__device__ __forceinline__ unsigned get_acquire(const unsigned* from) {
  unsigned v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(from) : "memory");
  return v;
}

// control: words 32 apart: the flag, the answer, and what either side would stop for.
template <Way WAY, int UNIT>
__device__ __forceinline__ void round_trips(unsigned* data, unsigned words, unsigned* control, unsigned trips,
                                            u64* result) {
  const unsigned lane = threadIdx.x, units = words / UNIT, bulk = WAY == kEmbedded ? units - 1 : units;
  unsigned *const flag = control, *const answer = control + 32, *const stop = control + 64 + 32 * blockIdx.x;
  Verdicts verdicts;
  const u64 begin = clock64();
  for (unsigned t = 1; t <= trips; ++t) {
    if (blockIdx.x == 0) {
      for (unsigned u = lane; u < bulk; u += 32) put<UNIT>(data, u, t);
      __syncwarp();
      if (WAY == kEmbedded) {
        if (lane == 0) put<UNIT>(data, bulk, t);
      } else if (WAY == kCounter) {
        __threadfence();
        if (lane == 0) atomicAdd(flag, 1u);
      } else if (lane == 0) {
        put_release(flag, t);
      }
      if (lane == 0) {
        while (get_acquire(answer) < t) {
        }
      }
      __syncwarp();
      if (get_one(stop) != 0) break;
    } else {
      unsigned last[UNIT], other[UNIT];
      if (lane == 0) {
        if (WAY == kEmbedded) {
          do get<UNIT>(data + bulk * UNIT, last);
          while (last[UNIT - 1] != word_of(t, words - 1));
        } else if (WAY == kCounter) {
          while (get_one(flag) < t) {
          }
        } else {
          while (get_acquire(flag) < t) {
          }
        }
      }
      __syncwarp();
      if (get_one(stop) != 0) break;
      for (unsigned u = lane; u < bulk; u += 32) {
        get<UNIT>(data + u * UNIT, other);
        judge<UNIT>(other, u, t, verdicts);
      }
      if (WAY == kEmbedded && lane == 0) judge<UNIT>(last, bulk, t, verdicts);
      __syncwarp();
      if (lane == 0) put_release(answer, t);
    }
  }
  if (blockIdx.x == 0) {
    if (lane == 0) result[0] = clock64() - begin;
  } else {
    atomicAdd(result + 1, verdicts.right);
    atomicAdd(result + 2, verdicts.late);
    atomicAdd(result + 3, verdicts.torn);
    atomicAdd(result + 4, verdicts.wrong);
  }
}

#define SIGNAL(name, way, unit)                                                                                     \
  extern "C" __global__ void name(unsigned* data, unsigned words, unsigned* control, unsigned trips, u64* result) { \
    round_trips<way, unit>(data, words, control, trips, result);                                                    \
  }
SIGNAL(signal_embedded_1, kEmbedded, 1)
SIGNAL(signal_embedded_4, kEmbedded, 4)
SIGNAL(signal_counter_1, kCounter, 1)
SIGNAL(signal_counter_4, kCounter, 4)
SIGNAL(signal_release_1, kRelease, 1)
SIGNAL(signal_release_4, kRelease, 4)
