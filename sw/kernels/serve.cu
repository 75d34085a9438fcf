// A kernel that serves the host while both run: for every request it sums the numbers that the host has put into
// memory, and answers. Flags in system memory go both ways. One thread.

__device__ unsigned load_acquire(const unsigned* address) {
  unsigned value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

__device__ void store_release(unsigned* address, unsigned value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

// Request r of 1 to `rounds` has been made when *request is r, and sums[r - 1] is its answer when *reply is.
extern "C" __global__ void serve(const unsigned* numbers, unsigned count, const unsigned* request, unsigned* reply,
                                 unsigned* sums, unsigned rounds) {
  for (unsigned r = 1; r <= rounds; ++r) {
    while (load_acquire(request) < r) {
    }
    unsigned sum = 0;
    for (unsigned i = 0; i < count; ++i) sum += numbers[i];
    sums[r - 1] = sum;
    store_release(reply, r);
  }
}
