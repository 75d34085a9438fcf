#include "platform/cuda/device_properties.h"

#include <algorithm>
#include <limits>

namespace warpline::cuda {
namespace {

constexpr unsigned kSectorBits = 256;

/// Transfers of a data pin in a cycle of the DRAM clock; properties tell a clock of two.
unsigned dram_transfers(const DramParameters& p) {
  return p.bus_bits == 0 ? 2 : std::max(1U, kSectorBits / (p.sector_cycles * p.bus_bits));
}

/// Of the product that the configuration stands for; of none, the newest that is modelled.
int capability(const GpuConfig& c) {
  return c.compute_capability == 0 ? 90 : static_cast<int>(c.compute_capability);
}

/// Shared memory that one block may ask for: 1 KiB less than an SM has, from Ampere on.
int most_shared(const GpuConfig& c) {
  const int all = static_cast<int>(c.sm.shared_bytes);
  return capability(c) >= 80 && all > 1024 ? all - 1024 : all;
}

int l2_bytes(const GpuConfig& c) {
  return static_cast<int>(c.l2.slices * c.l2.geometry.sets * c.l2.geometry.ways * kLineBytes);
}

}  // namespace

std::optional<int> device_attribute(const GpuConfig& c, int attribute) {
  const int sms = static_cast<int>(c.sms);
  switch (attribute) {
    case 1: return 1024;  // threads per block
    case 2:
    case 3: return 1024;                             // block x, y
    case 4: return 64;                               // block z
    case 5: return std::numeric_limits<int>::max();  // grid x
    case 6:
    case 7: return 65535;  // grid y, z
    case 8: return std::min<int>(kSharedPerBlock, static_cast<int>(c.sm.shared_bytes));
    case 9: return 64 << 10;                          // constant memory
    case 10: return 32;                               // lanes of a warp
    case 11: return std::numeric_limits<int>::max();  // pitch
    case 12: return static_cast<int>(c.sm.registers);
    case 13: return static_cast<int>(c.clocks.sm) * 1000;  // kHz
    case 14: return 256;                                   // alignment of textures: that of allocations
    case 15: return 1;                                     // copies overlap kernels
    case 16: return sms;
    case 17:
    case 18: return 0;       // no time limit; not integrated
    case 19: return 1;       // maps host memory
    case 20: return 0;       // compute mode: default
    case 21: return 131072;  // textures and surfaces
    case 22: return 131072;
    case 23: return 65536;
    case 24:
    case 25:
    case 26: return 16384;
    case 27:
    case 28: return 32768;
    case 29: return 2048;
    case 30: return 512;
    case 31: return 1;  // kernels of several streams
    case 32: return 0;  // ECC
    case 33: return 1;  // PCI bus
    case 34:
    case 35: return 0;
    case 36: return static_cast<int>(std::uint64_t{c.clocks.dram} * 500 * dram_transfers(c.dram));  // kHz
    case 37:
      return static_cast<int>(c.dram.channels * kSectorBits / c.dram.sector_cycles / dram_transfers(c.dram));
    case 38: return l2_bytes(c);
    case 39: return static_cast<int>(c.sm.warp_slots * kWarpLanes);
    case 40: return 2;  // copy engines
    case 41: return 1;  // unified addresses
    case 42: return 32768;
    case 43: return 2048;
    case 44: return 1;  // gathers of four texels
    case 45:
    case 46: return 32768;
    case 47:
    case 48: return 8192;
    case 49: return 32768;
    case 50: return 0;   // PCI domain
    case 51: return 32;  // alignment of pitches
    case 52:
    case 53: return 32768;
    case 54: return 2046;
    case 55: return 32768;
    case 56: return 131072;
    case 57: return 65536;
    case 58:
    case 59:
    case 60: return 16384;
    case 61: return 32768;
    case 62: return 2048;
    case 63:
    case 64: return 32768;
    case 65: return 2048;
    case 66:
    case 67: return 32768;
    case 68: return 2046;
    case 69: return 1 << 28;
    case 70: return 131072;
    case 71: return 65000;
    case 72: return 2097120;
    case 73:
    case 74:
    case 77: return 32768;
    case 75: return capability(c) / 10;
    case 76: return capability(c) % 10;
    case 78: return 1;  // priorities of streams
    case 79:
    case 80: return 1;  // L1 caches global and local memory
    case 81: return static_cast<int>(c.sm.shared_bytes);
    case 82: return static_cast<int>(c.sm.registers);
    case 83: return 1;  // managed memory
    case 84:
    case 85:
    case 86: return 0;
    case 87: return capability(c) % 10 == 0 ? 2 : 32;  // FP32 to FP64
    case 88: return 0;                                 // pageable memory
    case 89: return 1;                                 // host and kernels use managed memory at once
    case 90:
    case 91: return 1;
    case 92:
    case 93:
    case 94: return 1;  // streams write values and wait for some, of 64 bits, too
    case 95: return 1;  // cooperative grids
    case 97: return most_shared(c);
    case 98: return 0;
    case 99: return 1;  // registers host memory
    case 100:
    case 101: return 0;
    case 102: return 1;  // programs map memory
    case 106: return static_cast<int>(c.sm.cta_slots);
    case 107: return capability(c) >= 80 ? 1 : 0;  // compressed memory, which is taken as any other
    case 108:
    case 109: return l2_bytes(c) / 2;
    case 111: return static_cast<int>(c.sm.shared_bytes) - most_shared(c);
    case 115: return 1;                             // memory pools
    case 120: return c.sm_network.present ? 1 : 0;  // clusters
    case 122:
    case 123: return 1;                            // as 93; values by which bits are 0
    case 126: return capability(c) >= 90 ? 4 : 1;  // domains of fences
    case 127: return capability(c) >= 90 ? 1 : 0;  // tensor maps
    default: break;
  }
  constexpr int kLast = 148;
  return attribute > 0 && attribute < kLast ? std::optional(0) : std::nullopt;
}

std::optional<int> device_attribute(const GpuConfig& c, unsigned ordinal, int attribute) {
  constexpr int kPciBus = 33;
  const std::optional<int> of_any = device_attribute(c, attribute);
  return attribute == kPciBus && of_any ? *of_any + static_cast<int>(ordinal) : of_any;
}

}  // namespace warpline::cuda
