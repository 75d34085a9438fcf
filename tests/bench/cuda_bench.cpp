// What calls of CUDA cost under `warpline exec`: 10,000 launches of a small kernel, and a copy of 1 GiB to
// the GPU beside one in the host's memory. cuda_bench [LAUNCHES [MIB]]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "platform/cuda/abi/driver.h"
#include "platform/cuda/status.h"

namespace warpline::cuda {
namespace {

constexpr const char* kText = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %d<4>;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %d1, [out];
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d3, %d1, %d2;
  ld.global.u32 %r2, [%d3];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%d3], %r2;
  ret;
}
)";

template <class... P>
void call(const char* name, P... parameters) {
  const auto function = reinterpret_cast<int (*)(P...)>(driver_function(name));
  const int status = function == nullptr ? -1 : function(parameters...);
  if (status == 0) return;
  std::fprintf(stderr, "cuda_bench: %s failed: error %d\n", name, status);
  std::exit(1);
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void launches(unsigned count) {
  void *module = nullptr, *kernel = nullptr;
  std::uint64_t out = 0;
  call("cuModuleLoadData", &module, static_cast<const void*>(kText));
  call("cuModuleGetFunction", &kernel, module, "add");
  call("cuMemAlloc_v2", &out, std::size_t{128});
  call("cuMemsetD8_v2", out, static_cast<unsigned char>(0), std::size_t{128});
  void* arguments[] = {&out};
  const double begin = seconds();
  for (unsigned n = 0; n < count; ++n)
    call("cuLaunchKernel", kernel, 1U, 1U, 1U, 32U, 1U, 1U, 0U, static_cast<void*>(nullptr),
         static_cast<void**>(arguments), static_cast<void**>(nullptr));
  call("cuCtxSynchronize");
  const double taken = seconds() - begin;
  unsigned found = 0;
  call("cuMemcpyDtoH_v2", static_cast<void*>(&found), out, sizeof found);
  std::printf("%u launches of a small kernel: %.2f s, %.0f a second%s\n", count, taken, count / taken,
              found == count ? "" : "; its result is wrong");
}

void copies(std::size_t mib) {
  const std::size_t bytes = mib << 20U;
  std::vector<char> from(bytes, 1), to(bytes, 2);
  double begin = seconds();
  std::memcpy(to.data(), from.data(), bytes);
  const double plain = seconds() - begin;
  std::uint64_t there = 0;
  call("cuMemAlloc_v2", &there, bytes);
  std::printf("%zu MiB: memcpy of the host %.2f s", mib, plain);
  for (int n = 0; n < 2; ++n) {
    begin = seconds();
    call("cuMemcpyHtoD_v2", there, static_cast<const void*>(from.data()), bytes);
    std::printf(", %s to the GPU %.2f s", n == 0 ? "first" : "again", seconds() - begin);
  }
  begin = seconds();
  call("cuMemcpyDtoH_v2", static_cast<void*>(to.data()), there, bytes);
  std::printf(", to the host %.2f s%s\n", seconds() - begin,
              to[bytes / 2] == 1 ? "" : "; what came is wrong");
}

}  // namespace
}  // namespace warpline::cuda

int main(int argc, char** argv) {
  using namespace warpline::cuda;
  void* context = nullptr;
  call("cuInit", 0U);
  call("cuDevicePrimaryCtxRetain", &context, 0);
  call("cuCtxSetCurrent", context);
  launches(argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 10000);
  copies(argc > 2 ? static_cast<std::size_t>(std::atoi(argv[2])) : 1024);
}
