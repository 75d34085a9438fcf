#include "platform/config/gpu_config.h"

#include "rtl_models/base/types.h"

namespace warpline {
namespace {

constexpr unsigned kMaxSms = 1024;
constexpr unsigned kMaxMegahertz = 100'000;
/// Tags of a netlist's caches are allocated when it is built; beyond this the host runs out.
constexpr std::uint64_t kMaxLines = std::uint64_t{1} << 24U;
constexpr std::uint64_t kMinMemory = std::uint64_t{1} << 20U;
constexpr std::uint64_t kMaxMemory = std::uint64_t{1} << 40U;

bool memory_size_holds(std::uint64_t bytes) {
  return bytes >= kMinMemory && bytes <= kMaxMemory && bytes % kLineBytes == 0;
}

/// Whether `count` caches of this shape stay under kMaxLines. Neither product can overflow 64 bits:
/// each factor has at most 32.
bool lines_hold(std::uint64_t count, const CacheGeometry& g) {
  const std::uint64_t sets_and_ways = std::uint64_t{g.sets} * g.ways;
  return sets_and_ways <= kMaxLines && count <= kMaxLines && sets_and_ways * count <= kMaxLines;
}

}  // namespace

Problems ClockParameters::problems(const std::string& path) const {
  Rules rules(path);
  ClockParameters copy = *this;
  copy.visit([&](const char* name, unsigned& megahertz, const char*) {
    rules.need(megahertz >= 1 && megahertz <= kMaxMegahertz, name, "must be 1 to 100000 MHz");
  });
  return rules.take();
}

Problems HopsParameters::problems(const std::string& path) const {
  Rules rules(path);
  rules.add_tables(*this);
  return rules.take();
}

Problems GpuConfig::problems() const {
  Rules rules("gpu");
  rules.need(!name.empty(), "name", "must not be empty");
  rules.need(compute_capability == 0 || (compute_capability >= 10 && compute_capability <= 999),
             "compute_capability", "must be 10 to 999, ten times the compute capability, or 0");
  rules.need(gpus >= 1 && gpus <= kMaxGpus, "gpus", "must be 1 to 8");
  rules.need(sms >= 1 && sms <= kMaxSms, "sms", "must be 1 to 1024");
  rules.need(gpcs >= 1 && gpcs <= kMaxSms, "gpcs", "must be 1 to 1024");
  rules.need(sms_per_tpc >= 1 && sms_per_tpc <= kMaxSms, "sms_per_tpc", "must be 1 to 1024");
  rules.need(cta_placement == "tpc" || cta_placement == "gpc", "cta_placement", "must be \"tpc\" or \"gpc\"");
  const char* memory_rule = "must be a multiple of 128 from 1048576 (1 MiB) to 1099511627776 (1 TiB)";
  rules.need(memory_size_holds(vidmem_bytes), "vidmem_bytes", memory_rule);
  rules.need(memory_size_holds(sysmem_bytes), "sysmem_bytes", memory_rule);
  rules.need(peer_bytes == 0 || memory_size_holds(peer_bytes), "peer_bytes",
             "must be 0, or a multiple of 128 from 1048576 (1 MiB) to 1099511627776 (1 TiB)");
  constexpr std::uint64_t kPage = 4096;
  rules.need(wls_window % kPage == 0 && wls_window >> 32U == 0, "wls_window",
             "must be 0, or a multiple of 4096 below 4294967296 (4 GiB)");
  rules.add_tables(*this);
  rules.need(!has_root_complex() || peer_bytes == 0, "peer_bytes",
             "must be 0 where there are devices (pcie_system.peers, pcie_system.nvme.count, pcie.registers), "
             "which take the place of the plain memory (--set peer_bytes=0)");
  const NetworkParameters& network = crossbar.network;
  const std::uint64_t wanted = std::uint64_t{gpcs} * network.groups;
  rules.need(network.gpc_distance.empty() || network.gpc_distance.size() == wanted,
             "crossbar.network.gpc_distance",
             "must be empty (--set crossbar.network.gpc_distance=[]), or one number for each of gpcs x "
             "crossbar.network.groups: " +
                 std::to_string(wanted) + ", and not " + std::to_string(network.gpc_distance.size()));
  const char* lines_rule =
      "all instances together must have at most 16777216 lines (sets x ways x instances)";
  const std::uint64_t all_sms = std::uint64_t{gpus} * sms;
  rules.need(lines_hold(all_sms, l1_lg.geometry), "l1_lg.sets", lines_rule);
  rules.need(lines_hold(all_sms, texture.geometry), "texture.sets", lines_rule);
  rules.need(lines_hold(all_sms, constant.geometry), "constant.sets", lines_rule);
  rules.need(lines_hold(all_sms, instruction.geometry), "instruction.sets", lines_rule);
  rules.need(lines_hold(std::uint64_t{gpus} * l2.slices, l2.geometry), "l2.sets", lines_rule);
  return rules.take();
}

Problems GpuConfig::shallow_channels() const {
  Rules rules("gpu.hops");
  HopsParameters copy = hops;
  copy.visit([&](const char* hop_name, HopParameters& hop, const char*) {
    hop.visit([&](const char* direction, ChannelParameters& c, const char*) {
      const std::uint64_t wanted = std::uint64_t{c.latency} + c.credit_latency;
      rules.need(c.depth >= wanted, std::string(hop_name) + "." + direction + ".depth",
                 std::to_string(c.depth) + " messages cannot fill the wire: latency " +
                     std::to_string(c.latency) + " and credit latency " + std::to_string(c.credit_latency) +
                     " need " + std::to_string(wanted));
    });
  });
  return rules.take();
}

}  // namespace warpline
