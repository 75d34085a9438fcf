// A 7-point stencil in double precision that marches along z: coefficients in constant memory, the centre plane in
// shared memory, the planes before and behind in registers.
__constant__ double weights[4] = {0.5, 0.125, 0.0625, 0.03125};  // centre, x, y, z
constexpr int kSide = 8;

extern "C" __global__ void stencil3d(const double* __restrict__ in, double* __restrict__ out, int nx, int ny, int nz) {
  __shared__ double plane[kSide + 2][kSide + 2];
  const int x = blockIdx.x * kSide + threadIdx.x, y = blockIdx.y * kSide + threadIdx.y;
  const bool inside = x > 0 && y > 0 && x < nx - 1 && y < ny - 1;
  const bool present = x < nx && y < ny;
  const long long column = static_cast<long long>(y) * nx + x, step = static_cast<long long>(nx) * ny;
  double below = 0.0, here = present ? in[column] : 0.0, above = present ? in[column + step] : 0.0;
  for (int z = 1; z < nz - 1; ++z) {
    below = here;
    here = above;
    if (present) above = in[column + (z + 1) * step];
    __syncthreads();
    const int i = threadIdx.x + 1, j = threadIdx.y + 1;
    plane[j][i] = here;
    if (inside) {
      if (threadIdx.x == 0) plane[j][0] = in[column + z * step - 1];
      if (threadIdx.x == kSide - 1 || x == nx - 2) plane[j][i + 1] = in[column + z * step + 1];
      if (threadIdx.y == 0) plane[0][i] = in[column + z * step - nx];
      if (threadIdx.y == kSide - 1 || y == ny - 2) plane[j + 1][i] = in[column + z * step + nx];
    }
    __syncthreads();
    if (!inside) continue;
    double sum = weights[0] * here;
    sum = fma(weights[1], plane[j][i - 1] + plane[j][i + 1], sum);
    sum = fma(weights[2], plane[j - 1][i] + plane[j + 1][i], sum);
    sum = fma(weights[3], below + above, sum);
    out[column + z * step] = sum;
  }
}
