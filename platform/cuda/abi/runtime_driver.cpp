#include "platform/cuda/abi/driver.h"
#include "platform/cuda/abi/runtime_calls.h"

namespace warpline::cuda::runtime {
namespace {

int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version, std::uint64_t,
                                     int* told) {
  if (name == nullptr || function == nullptr) return noted(Status::invalid_value);
  machine();  // a program that has this needs no cuInit
  Address found = nullptr;
  const EntryPoint entry = driver_entry_point(name, static_cast<int>(version), found);
  *function = reinterpret_cast<void*>(found);
  if (told != nullptr) *told = static_cast<int>(entry);
  if (entry == EntryPoint::found || told != nullptr) return noted(Status::success);
  return noted(Status::symbol_not_found);
}

int cudaGetDriverEntryPoint(const char* name, void** function, std::uint64_t flags, int* told) {
  constexpr unsigned kNewest = 13000;
  return cudaGetDriverEntryPointByVersion(name, function, kNewest, flags, told);
}

}  // namespace

void add_driver(Functions& f) {
  WARPLINE_ADD(f, cudaGetDriverEntryPoint);
  WARPLINE_ADD(f, cudaGetDriverEntryPointByVersion);
}

}  // namespace warpline::cuda::runtime
