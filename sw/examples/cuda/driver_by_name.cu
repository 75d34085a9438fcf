// exec: | nvcc: -x c++ -ldl
// The driver API as programs have it that load it themselves: by dlopen, dlsym and cuGetProcAddress.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

static int fail(const char* what) {
  std::printf("%s\nFAILED\n", what);
  return 1;
}

int main() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return fail(dlerror());
  const auto find = reinterpret_cast<decltype(&cuGetProcAddress)>(dlsym(library, "cuGetProcAddress_v2"));
  const auto init = reinterpret_cast<decltype(&cuInit)>(dlsym(library, "cuInit"));
  if (find == nullptr || init == nullptr) return fail("names are missing");
  int count = 0;
  const auto get_count = reinterpret_cast<decltype(&cuDeviceGetCount)>(dlsym(library, "cuDeviceGetCount"));
  if (get_count(&count) != CUDA_ERROR_NOT_INITIALIZED) return fail("it works without cuInit");
  if (init(0) != CUDA_SUCCESS || get_count(&count) != CUDA_SUCCESS || count < 1) return fail("no GPU");

  CUdriverProcAddressQueryResult result;
  void *allocate = nullptr, *none = nullptr;
  if (find("cuMemAlloc", &allocate, 12000, 0, &result) != CUDA_SUCCESS ||
      result != CU_GET_PROC_ADDRESS_SUCCESS || allocate == nullptr)
    return fail("cuMemAlloc is not found");
  if (find("cuNothing", &none, 12000, 0, &result) != CUDA_ERROR_NOT_FOUND ||
      result != CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND || none != nullptr)
    return fail("cuNothing is found");
  if (find("cuMemAlloc", &none, 1000, 0, &result) == CUDA_SUCCESS ||
      result != CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT)
    return fail("cuMemAlloc is older than CUDA");

  const auto retain =
      reinterpret_cast<decltype(&cuDevicePrimaryCtxRetain)>(dlsym(library, "cuDevicePrimaryCtxRetain"));
  const auto set = reinterpret_cast<decltype(&cuCtxSetCurrent)>(dlsym(library, "cuCtxSetCurrent"));
  const auto write = reinterpret_cast<decltype(&cuMemcpyHtoD)>(dlsym(library, "cuMemcpyHtoD_v2"));
  const auto read = reinterpret_cast<decltype(&cuMemcpyDtoH)>(dlsym(library, "cuMemcpyDtoH_v2"));
  CUcontext context;
  CUdeviceptr address;
  char text[8] = "warp", back[8] = "";
  if (retain(&context, 0) != CUDA_SUCCESS || set(context) != CUDA_SUCCESS ||
      reinterpret_cast<CUresult (*)(CUdeviceptr*, size_t)>(allocate)(&address, 8) != CUDA_SUCCESS ||
      write(address, text, 8) != CUDA_SUCCESS || read(back, address, 8) != CUDA_SUCCESS ||
      std::strcmp(text, back) != 0)
    return fail("memory is not kept");
  std::puts("PASSED");
}
