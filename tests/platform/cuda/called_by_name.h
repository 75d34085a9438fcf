#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>

#include "platform/cuda/abi/runtime.h"
#include "platform/cuda/abi/runtime_types.h"
#include "platform/cuda/fat_binary.h"
#include "tests/support/fat_binary_writer.h"

namespace warpline::cuda {

/// A function of CUDA's runtime as programs get at it: by its name. `F`: its type.
template <class F>
F* named(const char* name) {
  const Address address = runtime_function(name);
  EXPECT_NE(address, nullptr) << name;
  return reinterpret_cast<F*>(address);
}

/// A module in PTX that a program has registered, on the smallest GPU.
class RegisteredModule {
 public:
  explicit RegisteredModule(const std::string& ptx) {
    setenv("WARPLINE_GPU", "mini", 1);
    FatBinaryWriter writer;
    writer.add_ptx(80, ptx);
    bytes_ = writer.bytes();
    wrapper_ = {FatBinaryWrapper::kMagic, 1, bytes_.data(), nullptr};
    handle_ = named<void**(const void*)>("__cudaRegisterFatBinary")(&wrapper_);
  }
  ~RegisteredModule() { named<void(void**)>("__cudaUnregisterFatBinary")(handle_); }
  RegisteredModule(const RegisteredModule&) = delete;
  RegisteredModule& operator=(const RegisteredModule&) = delete;

  /// Launches a kernel on one block of so many threads, and waits. Returns the error.
  template <class... Arguments>
  int run(const char* kernel, AbiDim3 block, Arguments... arguments) {
    stubs_.push_back(std::make_unique<std::string>(kernel));
    const void* const stub = stubs_.back().get();
    named<void(void**, const void*, char*, const char*, int, void*, void*, void*, void*, int*)>(
        "__cudaRegisterFunction")(handle_, stub, nullptr, stubs_.back()->c_str(), -1, nullptr, nullptr,
                                  nullptr, nullptr, nullptr);
    std::array<void*, sizeof...(arguments)> addresses = {&arguments...};
    const int launched = named<int(const void*, AbiDim3, AbiDim3, void**, std::size_t, void*)>(
        "cudaLaunchKernel")(stub, AbiDim3{}, block, addresses.data(), 0, nullptr);
    return launched != 0 ? launched : named<int()>("cudaDeviceSynchronize")();
  }

 private:
  std::string bytes_;
  FatBinaryWrapper wrapper_;
  void** handle_ = nullptr;
  std::vector<std::unique_ptr<std::string>> stubs_;
};

}  // namespace warpline::cuda
