// exec: | nvcc: -x c++ -lcuda -lnvrtc
// A kernel that the program compiles itself: it asks for machine code, as for a GPU that it knows, or for PTX.
#include <nvrtc.h>

#include <string>
#include <vector>

#include "driver_check.h"

static const char* const kSource = R"(
extern "C" __global__ void square(float* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= values[i];
}
)";

static void check_compiler(nvrtcResult result, int line) {
  if (result == NVRTC_SUCCESS) return;
  std::printf("line %d: %s\nFAILED\n", line, nvrtcGetErrorString(result));
  std::exit(1);
}
#define CHECK_COMPILER(call) check_compiler(call, __LINE__)

int main() {
  first_context();
  int major = 0, minor = 0;
  CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
  for (const bool machine_code : {true, false}) {
    const std::string architecture = std::string("--gpu-architecture=") + (machine_code ? "sm_" : "compute_") +
                                     std::to_string(major) + std::to_string(minor);
    const char* options[] = {architecture.c_str()};
    nvrtcProgram program;
    CHECK_COMPILER(nvrtcCreateProgram(&program, kSource, "square.cu", 0, nullptr, nullptr));
    CHECK_COMPILER(nvrtcCompileProgram(program, 1, options));
    size_t bytes = 0;
    CHECK_COMPILER(nvrtcGetCUBINSize(program, &bytes));
    EXPECT((bytes != 0) == machine_code);
    if (!machine_code) CHECK_COMPILER(nvrtcGetPTXSize(program, &bytes));
    std::vector<char> image(bytes);
    CHECK_COMPILER(machine_code ? nvrtcGetCUBIN(program, image.data()) : nvrtcGetPTX(program, image.data()));
    CHECK_COMPILER(nvrtcDestroyProgram(&program));

    CUmodule module;
    CUfunction square;
    CHECK(cuModuleLoadData(&module, image.data()));
    CHECK(cuModuleGetFunction(&square, module, "square"));
    int count = 1000;
    std::vector<float> values(count);
    for (int i = 0; i < count; ++i) values[i] = float(i);
    CUdeviceptr address;
    CHECK(cuMemAlloc(&address, count * sizeof(float)));
    CHECK(cuMemcpyHtoD(address, values.data(), count * sizeof(float)));
    void* parameters[] = {&address, &count};
    CHECK(cuLaunchKernel(square, 8, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr));
    CHECK(cuMemcpyDtoH(values.data(), address, count * sizeof(float)));
    for (int i = 0; i < count; ++i) EXPECT(values[i] == float(i) * float(i));
    CHECK(cuMemFree(address));
    CHECK(cuModuleUnload(module));
  }
  std::puts("PASSED");
}
