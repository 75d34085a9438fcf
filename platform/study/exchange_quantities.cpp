#include "platform/study/exchange_quantities.h"

#include <algorithm>

#include "platform/study/measuring.h"

namespace warpline::study {
namespace {

/// Cycles of a round trip between two blocks.
double signal_round_trip(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  const std::uint64_t words = std::max<std::uint64_t>(given.number("bytes", 4) / 4, 1);
  const bool wide = words % 4 == 0;
  const std::uint64_t data = device.allocate(words * 4), control = device.allocate(1024),
                      result = device.allocate(256);
  constexpr unsigned kTrips = 16;
  const auto run = [&](unsigned trips) {
    const std::vector<std::uint8_t> zeros(std::max<std::uint64_t>(words * 4, 1024));
    device.write(data, zeros.data(), words * 4);
    device.write(control, zeros.data(), 1024);
    device.write(result, zeros.data(), 64);
    KernelCall call{"signal_" + given.word("way", "embedded") + (wide ? "_4" : "_1"), 2, 32};
    const double cycles =
        told_cycles(device, call.pointer(data).word(words).pointer(control).word(trips), result);
    std::uint64_t judged[5];  // right, late, torn and wrong units, behind the cycles
    device.read(result, &judged, sizeof judged);
    if (judged[1] + judged[2] + judged[3] + judged[4] != std::uint64_t{trips} * words / (wide ? 4 : 1) ||
        judged[4] != 0)
      throw BenchError{"the second block has not read what the first one wrote"};
    return cycles;
  };
  return of_rounds(run, kTrips) / kTrips;
}

/// Cycles of a load from the shared memory of another block of the cluster, over all pairs of blocks.
double chase_cluster(BenchDevice& device, const QuantityArguments& arguments) {
  const auto blocks = static_cast<unsigned>(Given(arguments).number("blocks", 2));
  constexpr unsigned kSteps = 128;
  const std::uint64_t result = device.allocate(256);
  double sum = 0;
  for (unsigned reader = 0; reader < blocks; ++reader)
    for (unsigned owner = 0; owner < blocks; ++owner) {
      if (owner == reader) continue;
      KernelCall call{"chase_cluster_" + std::to_string(blocks), blocks, 32};
      sum += told_cycles(device, call.word(reader).word(owner).word(kSteps), result) / kSteps;
    }
  return sum / (blocks * (blocks - 1));
}

/// Bytes a second that all SMs read of the shared memory of the next block of their cluster: as many as there
/// are times what the median block reads, as GPCs may have SMs over that no cluster fills.
double cluster_bandwidth(BenchDevice& device, const QuantityArguments& arguments) {
  const auto blocks = static_cast<unsigned>(Given(arguments).number("blocks", 2));
  const DeviceShape& shape = device.shape();
  const unsigned all = shape.sms / blocks * blocks;
  constexpr unsigned kRounds = 8;
  const std::uint64_t result = device.allocate(all * 8);
  // One block to an SM.
  KernelCall call{"read_cluster_" + std::to_string(blocks), all, 1024,
                  static_cast<unsigned>(shape.shared_bytes / 2)};
  device.run(call.word(kRounds).pointer(result));
  std::vector<std::uint64_t> cycles(all);
  device.read(result, cycles.data(), cycles.size() * 8);
  const double per_cycle = 8.0 * 4 * 1024 * kRounds / static_cast<double>(median_of(std::move(cycles)));
  return per_cycle * shape.sms * shape.sm_mhz * 1e6;
}

}  // namespace

std::vector<Quantity> exchange_quantities() {
  using D = Dimension;
  const NumberArgument of_cluster{"blocks", false, 2, 4};
  return {{"signal_round_trip",
           "SM cycles of words that one block sends another, and of its answer",
           D::cycles,
           {{"bytes", false, 4, 1U << 20U}},
           {{"way", {"embedded", "counter", "release"}}},
           signal_round_trip},
          {"chase_cluster",
           "SM cycles of a load from the shared memory of another block of a cluster",
           D::cycles,
           {of_cluster},
           {},
           chase_cluster},
          {"cluster_bandwidth",
           "bytes a second that all SMs read of each other's shared memory",
           D::bytes_per_second,
           {of_cluster},
           {},
           cluster_bandwidth}};
}

}  // namespace warpline::study
