// A chain of dependent loads: each address is the value of the load before it, so that the time per hop is the
// latency of the memory level that holds the footprint.

// Links nodes 0 .. n-1 into one cycle. n is a power of two, so a multiplier of the form 4k+1 and an odd increment
// give a generator of full period: no node is left out.
extern "C" __global__ void link_nodes(unsigned* next, unsigned n, unsigned multiplier, unsigned increment) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) next[i] = (i * multiplier + increment) & (n - 1);
}

// Follows the chain through every cache level. last: the node reached; sum: of all the nodes visited.
extern "C" __global__ void chase(const unsigned* next, unsigned start, unsigned hops, unsigned* last, unsigned* sum) {
  unsigned node = start, total = 0;
  for (unsigned h = 0; h < hops; ++h) {
    node = __ldca(next + node);
    total += node;
  }
  *last = node;
  *sum = total;
}

// The same, past L1: every hop is an L2 access.
extern "C" __global__ void chase_l2(const unsigned* next, unsigned start, unsigned hops, unsigned* last,
                                    unsigned* sum) {
  unsigned node = start, total = 0;
  for (unsigned h = 0; h < hops; ++h) {
    node = __ldcg(next + node);
    total += node;
  }
  *last = node;
  *sum = total;
}
