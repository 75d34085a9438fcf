// y = A x for a sparse matrix in compressed rows, one thread per row: neighbouring threads run different numbers of
// steps, and gather from x at random. Product and sum are rounded one by one, as the C expression would be.
extern "C" __global__ void spmv(const unsigned* __restrict__ row_begin, const unsigned short* __restrict__ column,
                                const float* __restrict__ value, const float* __restrict__ x, float* __restrict__ y,
                                unsigned rows) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (unsigned k = row_begin[row]; k < row_begin[row + 1]; ++k)
    sum = __fadd_rn(sum, __fmul_rn(value[k], x[column[k]]));
  y[row] = sum;
}
