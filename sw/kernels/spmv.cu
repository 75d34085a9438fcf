// y = A x for a sparse matrix in compressed rows, one thread per row: neighbouring threads run different numbers of
// steps, and gather from x at random.

// Row pointers of a matrix whose row r has r % 32 entries: 0, 1, ... 31, 496 per group of 32 rows.
extern "C" __global__ void row_pointers(unsigned* row_begin, unsigned count) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned group = row / 32, rest = row % 32;
  if (row < count) row_begin[row] = group * 496 + rest * (rest - 1) / 2;
}

extern "C" __global__ void spmv(const unsigned* __restrict__ row_begin, const unsigned short* __restrict__ column,
                                const float* __restrict__ value, const float* __restrict__ x, float* __restrict__ y,
                                unsigned rows) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (unsigned k = row_begin[row]; k < row_begin[row + 1]; ++k) sum = fmaf(value[k], x[column[k]], sum);
  y[row] = sum;
}
