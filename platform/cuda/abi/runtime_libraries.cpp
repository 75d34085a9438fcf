// Libraries: modules that belong to no GPU. They are the driver API's, by the runtime's names.
#include "platform/cuda/abi/driver.h"
#include "platform/cuda/abi/runtime_calls.h"

namespace warpline::cuda::runtime {
namespace {

/// Calls the driver API's function of that name, and notes its error.
template <class... P>
int of_driver(const char* name, P... parameters) {
  return with_machine([&](Machine&) {
    return static_cast<Status>(reinterpret_cast<int (*)(P...)>(driver_function(name))(parameters...));
  });
}

int cudaLibraryLoadData(void** library, const void* image, const int* options, void** values, unsigned count,
                        const int* library_options, void** library_values, unsigned library_count) {
  return of_driver("cuLibraryLoadData", library, image, options, values, count, library_options,
                   library_values, library_count);
}

int cudaLibraryLoadFromFile(void** library, const char* path, const int* options, void** values,
                            unsigned count, const int* library_options, void** library_values,
                            unsigned library_count) {
  return of_driver("cuLibraryLoadFromFile", library, path, options, values, count, library_options,
                   library_values, library_count);
}

int cudaLibraryUnload(void* library) {
  return of_driver("cuLibraryUnload", library);
}

int cudaLibraryGetKernel(void** kernel, void* library, const char* name) {
  return of_driver("cuLibraryGetKernel", kernel, library, name);
}

int cudaLibraryGetGlobal(std::uint64_t* address, std::size_t* bytes, void* library, const char* name) {
  return of_driver("cuLibraryGetGlobal", address, bytes, library, name);
}

int cudaLibraryGetManaged(std::uint64_t* address, std::size_t* bytes, void* library, const char* name) {
  return of_driver("cuLibraryGetManaged", address, bytes, library, name);
}

int cudaLibraryGetUnifiedFunction(void** function, void* library, const char* name) {
  return of_driver("cuLibraryGetUnifiedFunction", function, library, name);
}

int cudaLibraryGetKernelCount(unsigned* count, void* library) {
  return of_driver("cuLibraryGetKernelCount", count, library);
}

int cudaLibraryEnumerateKernels(void** kernels, unsigned count, void* library) {
  return of_driver("cuLibraryEnumerateKernels", kernels, count, library);
}

int cudaKernelSetAttributeForDevice(void* kernel, int attribute, int value, int device) {
  return of_driver("cuKernelSetAttribute", attribute, value, kernel, device);
}

}  // namespace

void add_libraries(Functions& f) {
  WARPLINE_ADD(f, cudaLibraryLoadData);
  WARPLINE_ADD(f, cudaLibraryLoadFromFile);
  WARPLINE_ADD(f, cudaLibraryUnload);
  WARPLINE_ADD(f, cudaLibraryGetKernel);
  WARPLINE_ADD(f, cudaLibraryGetGlobal);
  WARPLINE_ADD(f, cudaLibraryGetManaged);
  WARPLINE_ADD(f, cudaLibraryGetUnifiedFunction);
  WARPLINE_ADD(f, cudaLibraryGetKernelCount);
  WARPLINE_ADD(f, cudaLibraryEnumerateKernels);
  WARPLINE_ADD(f, cudaKernelSetAttributeForDevice);
}

}  // namespace warpline::cuda::runtime
