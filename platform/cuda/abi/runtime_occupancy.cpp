#include <algorithm>

#include "platform/cuda/abi/runtime_calls.h"
#include "platform/cuda/occupancy.h"

namespace warpline::cuda::runtime {
namespace {

/// Calls `f` with the machine and a kernel's signature and registers on the current GPU.
template <class F>
int with_kernel(const void* kernel, F&& f) {
  return with_machine([&](Machine& m) {
    Function* const function = Process::instance().function_of(kernel);
    if (function == nullptr) return Status::invalid_device_function;
    const programs::Entry* entry = nullptr;
    const Status s = m.entry_of(*function, this_thread().device, entry);
    return s == Status::success ? f(m, *entry, m.registers_of(*function)) : s;
  });
}

BlockNeeds needs_of(const programs::Entry& entry, unsigned registers, unsigned threads,
                    std::size_t dynamic_shared) {
  BlockNeeds needs;
  needs.threads = threads;
  needs.shared_bytes = entry.static_shared_bytes + dynamic_shared;
  needs.registers = registers;
  return needs;
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel, int threads,
                                                           std::size_t dynamic_shared, unsigned flags) {
  return with_kernel(kernel, [&](Machine& m, const programs::Entry& entry, unsigned registers) {
    if (blocks == nullptr || threads <= 0 || flags > 1) return Status::invalid_value;
    *blocks = static_cast<int>(blocks_per_sm(
        m.config(), needs_of(entry, registers, static_cast<unsigned>(threads), dynamic_shared)));
    return Status::success;
  });
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int threads,
                                                  std::size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads, dynamic_shared, 0);
}

int cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* kernel, int blocks,
                                              int threads) {
  return with_kernel(kernel, [&](Machine& m, const programs::Entry& entry, unsigned) {
    if (bytes == nullptr || threads <= 0 || blocks <= 0) return Status::invalid_value;
    const std::uint64_t each = shared_per_block(m.config(), static_cast<unsigned>(blocks));
    *bytes = each - std::min<std::uint64_t>(each, entry.static_shared_bytes);
    return Status::success;
  });
}

constexpr unsigned kPortableCluster = 8;  // blocks that every GPU with clusters takes

int cudaOccupancyMaxPotentialClusterSize(int* size, const void* kernel, const LaunchConfiguration* c) {
  return with_kernel(kernel, [&](Machine& m, const programs::Entry&, unsigned) {
    if (size == nullptr || c == nullptr) return Status::invalid_value;
    if (!m.config().sm_network.present) return Status::not_supported;
    *size = kPortableCluster;
    return Status::success;
  });
}

int cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel, const LaunchConfiguration* c) {
  constexpr int kCluster = 4;
  return with_kernel(kernel, [&](Machine& m, const programs::Entry& entry, unsigned registers) {
    if (clusters == nullptr || c == nullptr) return Status::invalid_value;
    if (!m.config().sm_network.present) return Status::not_supported;
    std::uint64_t ctas = entry.required_cluster ? entry.required_cluster->count() : 1;
    for (std::uint32_t n = 0; n < c->attribute_count; ++n)
      if (c->attributes[n].id == kCluster) {
        std::uint32_t sides[3];
        std::memcpy(sides, c->attributes[n].value, sizeof sides);
        ctas = std::uint64_t{sides[0]} * sides[1] * sides[2];
      }
    if (ctas == 0) return Status::invalid_value;
    // A cluster lies on the SMs of one GPC.
    const GpuConfig& config = m.config();
    const unsigned gpcs = std::max(1U, config.gpcs);
    const std::uint64_t each = blocks_per_sm(
        config, needs_of(entry, registers, static_cast<unsigned>(c->block.dim3().count()), c->shared_bytes));
    *clusters = static_cast<int>(config.sms / gpcs * each / ctas * gpcs);
    return Status::success;
  });
}

}  // namespace

void add_occupancy(Functions& f) {
  WARPLINE_ADD(f, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags);
  WARPLINE_ADD(f, cudaOccupancyMaxActiveBlocksPerMultiprocessor);
  WARPLINE_ADD(f, cudaOccupancyAvailableDynamicSMemPerBlock);
  WARPLINE_ADD(f, cudaOccupancyMaxPotentialClusterSize);
  WARPLINE_ADD(f, cudaOccupancyMaxActiveClusters);
}

}  // namespace warpline::cuda::runtime
