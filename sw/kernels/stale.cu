// Two blocks on two SMs. L1 caches are not coherent: what one SM has cached it goes on reading after another SM has
// stored, until a load asks L2 (.cg) or the driver invalidates L1 between dependent grids.

// Block `who` notes what it reads at every cache level, and past L1.
extern "C" __global__ void look(const unsigned* x, unsigned who, unsigned* seen, unsigned* seen_in_l2) {
  if (blockIdx.x != who) return;
  *seen = __ldca(x);
  *seen_in_l2 = __ldcg(x);
}

// Block `who` stores.
extern "C" __global__ void set(unsigned* x, unsigned who, unsigned value) {
  if (blockIdx.x == who) *x = value;
}
