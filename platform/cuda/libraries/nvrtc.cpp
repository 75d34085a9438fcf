// Programs that compile at run time may ask the compiler for machine code. They get PTX, which is what runs
// here: these two names stand before those of NVIDIA's libnvrtc, which does all the rest itself.
#include <dlfcn.h>

#include <cstddef>

namespace {

// nvrtcResult (NVRTC, "Error Handling").
enum Result : int { kSuccess = 0, kInvalidInput = 3 };

/// A function of the program's own libnvrtc; null: it has none.
template <class F>
F* own(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}
using SizeFunction = int(void* program, std::size_t* bytes);
using TextFunction = int(void* program, char* text);

}  // namespace

extern "C" {

/// Zero where the program asked for no machine code, as NVIDIA's says.
__attribute__((visibility("default"))) int nvrtcGetCUBINSize(void* program, std::size_t* bytes) {
  auto* const size = own<SizeFunction>("nvrtcGetCUBINSize");
  auto* const text_size = own<SizeFunction>("nvrtcGetPTXSize");
  if (size == nullptr || text_size == nullptr) return kInvalidInput;
  const int status = size(program, bytes);
  return status != kSuccess || *bytes == 0 ? status : text_size(program, bytes);
}

__attribute__((visibility("default"))) int nvrtcGetCUBIN(void* program, char* code) {
  auto* const text = own<TextFunction>("nvrtcGetPTX");
  return text == nullptr ? static_cast<int>(kInvalidInput) : text(program, code);
}
}
