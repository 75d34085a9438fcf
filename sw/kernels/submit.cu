// A kernel that has the peer device work, without the host: it builds commands in a submission ring in host memory,
// makes sure that the device will see them, rings the doorbell, and waits for each completion to appear in memory.
// Two variants leave out what makes it right. One thread. Rings, commands and doorbells are those of the device's manual
// (sw/regs/peer.toml).

struct Rings {
  uint4* submissions;     // 4 to a command, 2^order commands
  const uint4* completions;
  unsigned* doorbells;    // SQ_TAIL_DOORBELL and CQ_HEAD_DOORBELL of the queue
  unsigned order;
};

enum Poll { acquire, cached };

__device__ void store_mmio(unsigned* address, unsigned value) {
  asm volatile("st.mmio.relaxed.sys.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

// The word with COMPLETION.PHASE in its upper half.
template <Poll how>
__device__ unsigned phase_word(const uint4* completion) {
  unsigned value;
  if (how == acquire) {
    asm volatile("ld.acquire.sys.global.u32 %0, [%1+12];" : "=r"(value) : "l"(completion) : "memory");
  } else {
    asm volatile("ld.global.ca.u32 %0, [%1+12];" : "=r"(value) : "l"(completion) : "memory");
  }
  return value;
}

// Fills 8 to 64 bytes with the number n of the command, for every n below `count`, one command after the other, each 64
// bytes behind the one before it. seen[n]: the third word of its completion (status and identifier), all ones where none is
// seen after `patience` looks.
template <bool fences, Poll how>
__device__ void submit(Rings rings, unsigned long long destination, unsigned count, unsigned patience, unsigned* seen) {
  const unsigned entries = 1u << rings.order;
  for (unsigned n = 0; n < count; ++n) {
    const unsigned slot = n % entries;
    const unsigned long long to = destination + 64ull * n;
    uint4* command = rings.submissions + 4 * slot;
    command[0] = make_uint4(2u | (n + 1) << 16, 0, 8 * (n % 8 + 1), 0);  // FILL, identifier n + 1
    command[1] = make_uint4(0, 0, (unsigned)to, (unsigned)(to >> 32));
    command[2] = make_uint4(n, 0, 0, 0);
    command[3] = make_uint4(0, 0, 0, 0);
    if (fences) __threadfence_system();
    store_mmio(rings.doorbells, (n + 1) % entries);
    const uint4* completion = rings.completions + slot;
    const unsigned round = 1 - n / entries % 2;
    unsigned looks = 0;
    while ((phase_word<how>(completion) >> 16) != round && looks < patience) ++looks;
    seen[n] = looks < patience ? *(const volatile unsigned*)&completion->z : ~0u;
    store_mmio(rings.doorbells + 1, (n + 1) % entries);
  }
}

extern "C" __global__ void submit_right(uint4* submissions, const uint4* completions, unsigned* doorbells,
                                        unsigned order, unsigned long long destination, unsigned count, unsigned patience, unsigned* seen) {
  submit<true, acquire>({submissions, completions, doorbells, order}, destination, count, patience, seen);
}

// The doorbell without the fence: it may arrive before the command has left the GPU's caches.
extern "C" __global__ void submit_without_fence(uint4* submissions, const uint4* completions, unsigned* doorbells,
                                                unsigned order, unsigned long long destination, unsigned count, unsigned patience, unsigned* seen) {
  submit<false, acquire>({submissions, completions, doorbells, order}, destination, count, patience, seen);
}

// Polling with a load that L1 answers: it has the line as it was at the first look.
extern "C" __global__ void submit_and_look_in_cache(uint4* submissions, const uint4* completions, unsigned* doorbells,
                                                    unsigned order, unsigned long long destination, unsigned count, unsigned patience, unsigned* seen) {
  submit<true, cached>({submissions, completions, doorbells, order}, destination, count, patience, seen);
}
