#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "platform/config/host_copy_parameters.h"
#include "platform/config/pcie_system_parameters.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/cache/read_only_cache_parameters.h"
#include "rtl_models/crossbar/crossbar_parameters.h"
#include "rtl_models/dram/dram_parameters.h"
#include "rtl_models/gpu_switch/gpu_switch_parameters.h"
#include "rtl_models/l1_lg/l1_lg_parameters.h"
#include "rtl_models/l2/l2_parameters.h"
#include "rtl_models/pcie/gpu_link/pcie_parameters.h"
#include "rtl_models/sim/channel_parameters.h"
#include "rtl_models/sm/sm_parameters.h"
#include "rtl_models/sm_network/sm_network_parameters.h"

namespace warpline {

/// Frequencies of the clock domains, MHz. The fastest counts cycles.
struct WARPLINE_PUBLIC ClockParameters {
  unsigned sm = 1000;
  unsigned l2 = 1000;  ///< crossbar and L2 slices
  unsigned dram = 1000;
  unsigned link = 1000;
  [[nodiscard]] unsigned fastest() const { return std::max({sm, l2, dram, link}); }
  [[nodiscard]] Problems problems(const std::string& path) const;
  template <class F>
  void visit(F&& f) {
    f("sm", sm, "SM, L1, texture, constant and instruction caches, MHz");
    f("l2", l2, "crossbar and L2 slices, MHz");
    f("dram", dram, "DRAM channels, MHz");
    f("link", link, "PCIe link, MHz");
  }
};

/// The channels between the blocks.
struct WARPLINE_PUBLIC HopsParameters {
  HopParameters sm_l1_lg, sm_texture, sm_constant, sm_instruction;
  HopParameters l1_lg_crossbar, texture_crossbar, constant_crossbar, instruction_crossbar;
  HopParameters crossbar_l2, l2_dram, l2_pcie, pcie_crossbar, sm_crossbar;
  HopParameters sm_network, network_sm;            ///< where GpuConfig::sm_network is present
  HopParameters crossbar_switch, switch_crossbar;  ///< where GpuConfig::gpu_switch has any
  [[nodiscard]] Problems problems(const std::string& path) const;
  template <class F>
  void visit(F&& f) {
    f("sm_l1_lg", sm_l1_lg, "SM and its L1 local/global cache");
    f("sm_texture", sm_texture, "SM and its texture cache");
    f("sm_constant", sm_constant, "SM and its constant cache");
    f("sm_instruction", sm_instruction, "SM and its instruction cache");
    f("l1_lg_crossbar", l1_lg_crossbar, "L1 and crossbar");
    f("texture_crossbar", texture_crossbar, "texture cache and crossbar");
    f("constant_crossbar", constant_crossbar, "constant cache and crossbar");
    f("instruction_crossbar", instruction_crossbar, "instruction cache and crossbar");
    f("sm_crossbar", sm_crossbar, "SM and crossbar, for bulk copies");
    f("crossbar_l2", crossbar_l2, "crossbar and one L2 slice");
    f("l2_dram", l2_dram, "L2 slice and DRAM channel");
    f("l2_pcie", l2_pcie, "L2 slice and PCIe link");
    f("pcie_crossbar", pcie_crossbar, "PCIe link and crossbar, for requests from outside to video memory");
    f("sm_network", sm_network, "SM and the network between SMs, for what it asks of others");
    f("network_sm", network_sm, "network between SMs and an SM's shared memory, for what others ask of it");
    f("crossbar_switch", crossbar_switch, "crossbar and a switch between GPUs, for multimem");
    f("switch_crossbar", switch_crossbar,
      "switch between GPUs and crossbar, for what multimem of all GPUs asks of this one's memory");
  }
};

/// GPUs of one platform at most.
inline constexpr unsigned kMaxGpus = 8;

/// Everything about a GPU that a preset says. Every field has a key of the same path in TOML and
/// in `--set`: `l2.slices`, `hops.sm_l1_lg.request.latency`.
struct WARPLINE_PUBLIC GpuConfig {
  std::string name = "mini";
  /// Ten times the compute capability: 70 of 7.0. 0: of no product, and fit for every module.
  unsigned compute_capability = 0;
  unsigned gpus = 1;
  unsigned sms = 2;
  unsigned gpcs = 1;         ///< graphics processing clusters: the CTAs of a cluster run on one
  unsigned sms_per_tpc = 1;  ///< SM n is in TPC n / sms_per_tpc, and TPC t in GPC t mod gpcs
  /// Which SMs the CTAs of a grid go to first: "tpc", one of each TPC, in turn over the GPCs; "gpc", all of a
  /// GPC, of the largest first.
  std::string cta_placement = "tpc";
  std::uint64_t vidmem_bytes = 1ULL << 30U;
  std::uint64_t sysmem_bytes = 1ULL << 30U;  ///< of the platform, whatever number of GPUs it has
  std::uint64_t peer_bytes = 1ULL << 24U;    ///< of the platform, too; 0: no device is plain memory
  /// Where programs of 32-bit addresses (`.wls`) have their global variables; 0: among the buffers.
  std::uint64_t wls_window = 0x1000'0000;
  ClockParameters clocks;
  SmParameters sm;
  SmNetworkParameters sm_network;
  GpuSwitchParameters gpu_switch;  ///< of the platform, whatever number of GPUs it has
  L1LgParameters l1_lg;
  ReadOnlyCacheParameters texture;
  ConstantCacheParameters constant;
  ReadOnlyCacheParameters instruction;
  CrossbarParameters crossbar;
  L2Parameters l2;
  DramParameters dram;
  PcieParameters pcie;
  /// Of the platform, whatever number of GPUs it has. With peers the GPUs are functions behind a root
  /// complex, and the `peer` aperture of their address space is its bus.
  PcieSystemParameters pcie_system = PcieSystemParameters::none();
  HostCopyParameters host_copy;
  HopsParameters hops;

  /// Every fault at once, each with its path.
  /// Whether there is a host's PCI Express: for devices behind it, or for the registers of GPUs.
  [[nodiscard]] bool has_root_complex() const { return pcie_system.functions() != 0 || pcie.registers; }
  /// The key that says so, one of several perhaps, and its value without: "pcie_system.nvme.count at 0".
  /// Pre: has_root_complex().
  [[nodiscard]] const char* without_root_complex() const {
    if (pcie_system.peers != 0) return "pcie_system.peers at 0";
    return pcie_system.functions() != 0 ? "pcie_system.nvme.count at 0" : "pcie.registers at false";
  }
  [[nodiscard]] Problems problems() const;
  /// Channels that cannot fill their wire, depth < latency + credit_latency: allowed, as an
  /// architect may ask what they cost, but worth a warning.
  [[nodiscard]] Problems shallow_channels() const;
  template <class F>
  void visit(F&& f) {
    f("name", name, "name of the preset");
    f("compute_capability", compute_capability,
      "ten times the compute capability, 70 of 7.0: modules for later GPUs are remarked, or refused with "
      "--strict-target; 0: of no product, and fit for all");
    f("gpus", gpus, "GPUs of this kind in the platform, which share system memory");
    f("sms", sms, "number of SMs");
    f("gpcs", gpcs,
      "graphics processing clusters, on one of which all CTAs of a cluster run; SM n is in GPC (n / "
      "sms_per_tpc) mod gpcs");
    f("sms_per_tpc", sms_per_tpc, "SMs of a texture processing cluster, which are in one GPC");
    f("cta_placement", cta_placement,
      "SMs that the CTAs of a grid go to first: \"tpc\", one of each TPC, in turn over the GPCs; \"gpc\", "
      "all of a "
      "GPC, TPC by TPC, of the largest GPC first");
    f("vidmem_bytes", vidmem_bytes, "video memory, bytes");
    f("sysmem_bytes", sysmem_bytes, "system memory within reach of the link, bytes");
    f("peer_bytes", peer_bytes,
      "plain memory of a peer within reach of the links, bytes; 0 where there are devices, and then so "
      "unless it is set");
    f("wls_window", wls_window,
      "address below 4 GiB from which on the global variables of .wls programs lie, so that addresses of "
      "32 bits reach them; 0: among the buffers, whose addresses have 47 bits");
    f("clocks", clocks, "clock domains");
    f("sm", sm, "streaming multiprocessor");
    f("sm_network", sm_network, "network between the SMs of a GPC");
    f("gpu_switch", gpu_switch, "switches between GPUs, for multimem");
    f("l1_lg", l1_lg, "L1 local/global cache");
    f("texture", texture, "texture/non-coherent cache");
    f("constant", constant, "constant cache");
    f("instruction", instruction, "instruction cache");
    f("crossbar", crossbar, "SM to L2 slice");
    f("l2", l2, "L2 slices");
    f("dram", dram, "DRAM channels");
    f("pcie", pcie, "link to system and peer memory");
    f("pcie_system", pcie_system, "host bridge, root complex and peer devices");
    f("host_copy", host_copy, "copies between host and GPU that programs of CUDA ask for");
    f("hops", hops, "channels between the blocks");
  }
};

}  // namespace warpline
