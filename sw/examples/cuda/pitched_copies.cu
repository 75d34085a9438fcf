// exec: --gpu mini | nvcc: -arch=sm_80
// Copies of rows and slices: every pair of host memory, pitched memory and arrays, whole and in part; and
// what is filled in three dimensions.
#include <cstring>
#include <vector>

#include "check.h"

namespace {

constexpr size_t kWidth = 10, kHeight = 7, kDepth = 5;

int at(size_t x, size_t y, size_t z) {
  return int(10000 * z + 100 * y + x);
}

std::vector<int> volume() {
  std::vector<int> v(kWidth * kHeight * kDepth);
  for (size_t z = 0, i = 0; z < kDepth; ++z)
    for (size_t y = 0; y < kHeight; ++y)
      for (size_t x = 0; x < kWidth; ++x) v[i++] = at(x, y, z);
  return v;
}

cudaPitchedPtr of(std::vector<int>& v) {
  return make_cudaPitchedPtr(v.data(), kWidth * sizeof(int), kWidth, kHeight);
}

cudaArray_t new_array() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array = nullptr;
  CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(kWidth, kHeight, kDepth)));
  return array;
}

/// Host to pitched memory to array to array to pitched memory to host.
void whole() {
  std::vector<int> from = volume(), to(from.size(), -1);
  cudaPitchedPtr first{}, second{};
  const cudaExtent bytes = make_cudaExtent(kWidth * sizeof(int), kHeight, kDepth),
                   elements = make_cudaExtent(kWidth, kHeight, kDepth);
  CHECK(cudaMalloc3D(&first, bytes));
  CHECK(cudaMalloc3D(&second, bytes));
  EXPECT(first.pitch >= bytes.width && first.xsize == bytes.width && first.ysize == kHeight, "pitch %zu",
         first.pitch);
  cudaArray_t a = new_array(), b = new_array();
  cudaMemcpy3DParms copy{};
  copy.srcPtr = of(from);
  copy.dstPtr = first;
  copy.extent = bytes;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  copy = {};
  copy.srcPtr = first;
  copy.dstArray = a;
  copy.extent = elements;
  copy.kind = cudaMemcpyDeviceToDevice;
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMemcpy3DAsync(&copy, stream));
  copy = {};
  copy.srcArray = a;
  copy.dstArray = b;
  copy.extent = elements;
  copy.kind = cudaMemcpyDefault;
  CHECK(cudaMemcpy3DAsync(&copy, stream));
  CHECK(cudaStreamSynchronize(stream));
  copy = {};
  copy.srcArray = b;
  copy.dstPtr = second;
  copy.extent = elements;
  copy.kind = cudaMemcpyDeviceToDevice;
  CHECK(cudaMemcpy3D(&copy));
  copy = {};
  copy.srcPtr = second;
  copy.dstPtr = of(to);
  copy.extent = bytes;
  copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  EXPECT(from == to, "not everything came back");
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(first.ptr));
  CHECK(cudaFree(second.ptr));
  CHECK(cudaFreeArray(a));
  CHECK(cudaFreeArray(b));
}

/// A box of the volume, to another place in another one.
void part() {
  std::vector<int> from = volume(), to(from.size(), -1);
  cudaArray_t a = new_array(), b = new_array();
  cudaMemcpy3DParms copy{};
  copy.srcPtr = of(from);
  copy.dstArray = a;
  copy.extent = make_cudaExtent(kWidth, kHeight, kDepth);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  copy.srcPtr = of(to);
  copy.dstArray = b;
  CHECK(cudaMemcpy3D(&copy));
  const cudaPos source = make_cudaPos(2, 1, 3), target = make_cudaPos(5, 3, 0);
  const cudaExtent box = make_cudaExtent(4, 4, 2);
  copy = {};
  copy.srcArray = a;
  copy.srcPos = source;
  copy.dstArray = b;
  copy.dstPos = target;
  copy.extent = box;
  copy.kind = cudaMemcpyDeviceToDevice;
  CHECK(cudaMemcpy3D(&copy));
  copy = {};
  copy.srcArray = b;
  copy.dstPtr = of(to);
  copy.extent = make_cudaExtent(kWidth, kHeight, kDepth);
  copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  for (size_t z = 0, i = 0; z < kDepth; ++z)
    for (size_t y = 0; y < kHeight; ++y)
      for (size_t x = 0; x < kWidth; ++x, ++i) {
        const size_t dx = x - target.x, dy = y - target.y, dz = z - target.z;
        const bool inside = dx < box.width && dy < box.height && dz < box.depth;
        const int expected = inside ? at(source.x + dx, source.y + dy, source.z + dz) : -1;
        EXPECT(to[i] == expected, "the box at (%zu, %zu, %zu): %d, not %d", x, y, z, to[i], expected);
      }
  copy.extent.width = kWidth + 1;
  EXPECT(cudaMemcpy3D(&copy) == cudaErrorInvalidValue, "wider than the array");
  copy.extent.width = kWidth;
  copy.srcPos.z = 1;
  EXPECT(cudaMemcpy3D(&copy) == cudaErrorInvalidValue, "deeper than the array");
  copy.srcPos.z = 0;
  copy.srcPtr = of(from);
  EXPECT(cudaMemcpy3D(&copy) == cudaErrorInvalidValue, "two sources");
  copy.srcPtr = {};
  copy.kind = cudaMemcpyKind(9);
  EXPECT(cudaMemcpy3D(&copy) == cudaErrorInvalidMemcpyDirection, "no direction");
  (void)cudaGetLastError();
  CHECK(cudaFreeArray(a));
  CHECK(cudaFreeArray(b));
}

/// Rows, and bytes that go on from row to row.
void rows() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t a = nullptr, b = nullptr;
  CHECK(cudaMallocArray(&a, &format, kWidth, kHeight));
  CHECK(cudaMallocArray(&b, &format, kWidth + 3, kHeight));
  std::vector<int> v(kWidth * kHeight), w(kWidth * kHeight, -1);
  for (size_t i = 0; i < v.size(); ++i) v[i] = int(i);
  const size_t row = kWidth * sizeof(int);
  CHECK(cudaMemcpy2DToArray(a, 0, 0, v.data(), row, row, kHeight, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2DFromArray(w.data(), row, a, 0, 0, row, kHeight, cudaMemcpyDeviceToHost));
  EXPECT(v == w, "rows");
  // From element 4 of row 2 on, 25 elements.
  std::vector<int> some(25);
  CHECK(cudaMemcpyFromArray(some.data(), a, 16, 2, 100, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 25; ++i) EXPECT(some[i] == 24 + i, "from row to row %d: %d", i, some[i]);
  for (int& n : some) n += 1000;
  CHECK(cudaMemcpyToArray(a, 16, 2, some.data(), 100, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2DFromArray(w.data(), row, a, 0, 0, row, kHeight, cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < v.size(); ++i)
    EXPECT(w[i] == int(i) + (i >= 24 && i < 49 ? 1000 : 0), "to row %zu: %d", i / kWidth, w[i]);
  // Between arrays whose rows differ.
  CHECK(cudaMemcpyArrayToArray(b, 8, 1, a, 4, 0, 100, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpyFromArray(some.data(), b, 8, 1, 100, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 25; ++i)
    EXPECT(some[i] == w[1 + i], "array to array %d: %d, not %d", i, some[i], w[1 + i]);
  CHECK(cudaMemcpy2DArrayToArray(b, 12, 2, a, 8, 3, 20, 4, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy2DFromArray(some.data(), 20, b, 12, 2, 20, 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 20; ++i)
    EXPECT(some[i] == w[(3 + i / 5) * kWidth + 2 + i % 5], "rows of arrays %d: %d", i, some[i]);
  EXPECT(cudaMemcpyToArray(a, 16, 6, v.data(), 28, cudaMemcpyHostToDevice) == cudaErrorInvalidValue,
         "beyond");
  EXPECT(cudaMemcpy2DToArray(a, 4, 0, v.data(), row, row, 1, cudaMemcpyHostToDevice) == cudaErrorInvalidValue,
         "wider than a row");
  EXPECT(cudaMemcpy2DToArray(a, 0, 0, v.data(), row - 4, row, 2, cudaMemcpyHostToDevice) ==
             cudaErrorInvalidPitchValue,
         "rows that overlap");
  (void)cudaGetLastError();
  CHECK(cudaFreeArray(a));
  CHECK(cudaFreeArray(b));
}

/// Many copies by one call, of memory and of slices.
void batches() {
  int *device = nullptr, *host = nullptr;
  CHECK(cudaMalloc(&device, 4 * sizeof(int)));
  CHECK(cudaMallocHost(&host, 8 * sizeof(int)));
  for (int i = 0; i < 8; ++i) host[i] = i + 1;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  void* to[] = {device, device + 2};
  const void* from[] = {host + 2, host};
  std::size_t sizes[] = {8, 8}, first[] = {0, 1};
  cudaMemcpyAttributes attributes[2] = {};
  attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  CHECK(cudaMemcpyBatchAsync(to, from, sizes, 2, attributes, first, 2, stream));
  CHECK(cudaMemcpyAsync(host + 4, device, 16, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(host[4] == 3 && host[5] == 4 && host[6] == 1 && host[7] == 2, "a batch");
  first[1] = 0;
  EXPECT(cudaMemcpyBatchAsync(to, from, sizes, 2, attributes, first, 2, stream) == cudaErrorInvalidValue, "attributes in no order");
  first[1] = 1;
  attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
  EXPECT(cudaMemcpyBatchAsync(to, from, sizes, 2, attributes, first, 2, stream) == cudaErrorInvalidValue, "no order of sources");
  (void)cudaGetLastError();

  std::vector<int> volume_of_host = volume(), back(4 * 3 * 2, -1);
  cudaArray_t array = new_array();
  cudaMemcpy3DBatchOp op[2] = {};
  op[0].src.type = cudaMemcpyOperandTypePointer;
  op[0].src.op.ptr.ptr = volume_of_host.data();
  op[0].dst.type = cudaMemcpyOperandTypeArray;
  op[0].dst.op.array.array = array;
  op[0].extent = make_cudaExtent(kWidth, kHeight, kDepth);
  op[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  CHECK(cudaMemcpy3DBatchAsync(1, op, 0, stream));
  op[0].src = {};
  op[0].src.type = cudaMemcpyOperandTypeArray;
  op[0].src.op.array.array = array;
  op[0].src.op.array.offset = {2, 1, 3};
  op[0].dst = {};
  op[0].dst.type = cudaMemcpyOperandTypePointer;
  op[0].dst.op.ptr.ptr = back.data();
  op[0].dst.op.ptr.rowLength = 4;  // of which three are written
  op[0].dst.op.ptr.layerHeight = 3;
  op[0].extent = make_cudaExtent(3, 2, 2);
  CHECK(cudaMemcpy3DBatchAsync(1, op, 0, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (int i = 0; i < 24; ++i) {
    const int x = i % 4, y = i / 4 % 3, z = i / 12;
    EXPECT(back[i] == (x < 3 && y < 2 ? at(2 + x, 1 + y, 3 + z) : -1), "of a batch (%d, %d, %d): %d", x, y, z, back[i]);
  }
  op[0].dst.op.ptr.rowLength = 2;
  EXPECT(cudaMemcpy3DBatchAsync(1, op, 0, stream) == cudaErrorInvalidValue, "rows that are too short");
  (void)cudaGetLastError();
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFreeArray(array));
  CHECK(cudaFreeHost(host));
  CHECK(cudaFree(device));
}

void filled() {
  cudaPitchedPtr memory{};
  const cudaExtent bytes = make_cudaExtent(kWidth * sizeof(int), kHeight, kDepth);
  CHECK(cudaMalloc3D(&memory, bytes));
  CHECK(cudaMemset3D(memory, 0x11, bytes));
  CHECK(cudaMemset3DAsync(memory, 0x22, make_cudaExtent(8, 3, 2), nullptr));
  std::vector<int> got(kWidth * kHeight * kDepth);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = memory;
  copy.dstPtr = of(got);
  copy.extent = bytes;
  copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  for (size_t z = 0, i = 0; z < kDepth; ++z)
    for (size_t y = 0; y < kHeight; ++y)
      for (size_t x = 0; x < kWidth; ++x, ++i)
        EXPECT(got[i] == (x < 2 && y < 3 && z < 2 ? 0x22222222 : 0x11111111), "filled (%zu, %zu, %zu): %x", x,
               y, z, unsigned(got[i]));
  CHECK(cudaFree(memory.ptr));
}

void between_devices() {
  int* memory = nullptr;
  CHECK(cudaMalloc(&memory, 64));
  const int words[] = {1, 2, 3, 4};
  int got[4] = {};
  CHECK(cudaMemcpy(memory, words, 16, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyPeer(memory + 8, 0, memory, 0, 16));
  CHECK(cudaMemcpyPeerAsync(memory + 12, 0, memory + 8, 0, 16, nullptr));
  CHECK(cudaMemcpy(got, memory + 12, 16, cudaMemcpyDefault));
  EXPECT(std::memcmp(got, words, 16) == 0, "from a device to itself");
  EXPECT(cudaMemcpyPeer(memory, 99, memory, 0, 16) == cudaErrorInvalidDevice, "there are fewer devices");
  (void)cudaGetLastError();
  CHECK(cudaFree(memory));
}

}  // namespace

int main() {
  whole();
  part();
  rows();
  batches();
  filled();
  between_devices();
  return verdict();
}
