#include "platform/study/network_quantity.h"

#include <algorithm>
#include <array>

#include "rtl_models/base/random.h"

namespace warpline::study {
namespace {

constexpr unsigned kSmsPerTpc = 2;

std::uint64_t number_of(const QuantityArguments& a, const char* key, std::uint64_t otherwise) {
  const auto found = a.numbers.find(key);
  return found == a.numbers.end() ? otherwise : static_cast<std::uint64_t>(found->second);
}

std::string word_of(const QuantityArguments& a, const char* key, const char* otherwise) {
  const auto found = a.words.find(key);
  return found == a.words.end() ? otherwise : found->second;
}

/// The SMs of a GPC.
std::vector<unsigned> sms_of_gpc(const DeviceShape& shape, std::uint64_t gpc, std::uint64_t gpcs) {
  std::vector<unsigned> sms;
  for (unsigned sm = 0; sm < shape.sms; ++sm)
    if (sm / kSmsPerTpc % gpcs == gpc) sms.push_back(sm);
  if (sms.empty()) throw BenchError{"there is no SM in GPC " + std::to_string(gpc)};
  return sms;
}

/// A launch of one block to an SM: so much shared memory that there is no room for a second.
KernelCall one_to_each(const char* kernel, const DeviceShape& shape, unsigned threads) {
  return {kernel, shape.sms, threads, static_cast<unsigned>(shape.shared_bytes / 2 / 256 * 256 + 256)};
}

/// Cycles of a load of a line in L2, over all SMs of a GPC and lines all over a buffer: the mean, or by how
/// much the slowest line of an SM is slower than the fastest of one.
double network_latency(BenchDevice& device, const QuantityArguments& arguments) {
  const DeviceShape& shape = device.shape();
  constexpr unsigned kLines = 256, kStep = 4;
  constexpr std::uint64_t kBytes = std::uint64_t{2} << 20U;
  const std::uint64_t at = device.allocate(kBytes), list = device.allocate(kLines * 4),
                      result = device.allocate(kLines * 4);
  std::vector<std::uint32_t> offsets(kLines);
  Random random(kLines);
  for (unsigned n = 0; n < kLines; ++n) {
    offsets[n] =
        static_cast<std::uint32_t>((n * (kBytes / kLines) + random.below(kBytes / kLines)) / 128 * 128);
    const std::uint64_t self = at + offsets[n];
    device.write(self, &self, sizeof self);
  }
  device.write(list, offsets.data(), kLines * 4);
  double sum = 0, fastest = 1e9, slowest = 0, count = 0;
  for (const unsigned sm :
       sms_of_gpc(shape, number_of(arguments, "gpc", 0), number_of(arguments, "gpcs", 1))) {
    KernelCall call = one_to_each("network_latency", shape, 32);
    device.run(call.pointer(at).pointer(list).word(kLines).word(sm).pointer(result));
    std::vector<std::uint32_t> cycles(kLines);
    device.read(result, cycles.data(), kLines * 4);
    for (const std::uint32_t c : cycles) {
      const double one = static_cast<double>(c) / kStep;
      sum += one;
      fastest = std::min(fastest, one);
      slowest = std::max(slowest, one);
    }
    count += kLines;
  }
  return word_of(arguments, "statistic", "mean") == "spread" ? slowest - fastest : sum / count;
}

/// Cycles that the slowest of some SMs takes, as their blocks told.
double slowest_of(BenchDevice& device, const std::vector<unsigned>& sms, std::uint64_t cycles) {
  std::vector<std::uint64_t> told(device.shape().sms);
  device.read(cycles, told.data(), told.size() * 8);
  std::uint64_t most = 0;
  for (const unsigned sm : sms) most = std::max(most, told[sm]);
  if (most == 0) throw BenchError{"no block has run on the SMs that were chosen"};
  return static_cast<double>(most);
}

/// Where it is told which SMs are chosen.
std::uint64_t chosen(BenchDevice& device, const std::vector<unsigned>& sms) {
  std::vector<std::uint8_t> on(device.shape().sms, 0);
  for (const unsigned sm : sms) {
    if (sm >= on.size()) throw BenchError{"the device has no SM " + std::to_string(sm)};
    on[sm] = 1;
  }
  const std::uint64_t at = device.allocate(on.size());
  device.write(at, on.data(), on.size());
  return at;
}

/// Bytes per cycle that some SMs read, or write, of a buffer that L2 holds.
double bandwidth(BenchDevice& device, const std::vector<unsigned>& sms, bool writes) {
  const DeviceShape& shape = device.shape();
  constexpr std::uint64_t kBytes = std::uint64_t{1} << 20U;
  constexpr unsigned kThreads = 1024, kRounds = 16;
  const std::uint64_t at = device.allocate(kBytes), cycles = device.allocate(shape.sms * 8ULL),
                      out = device.allocate(256), on = chosen(device, sms);
  KernelCall fill{"stream_write16", 64, 1024};
  device.run(fill.pointer(at).word(kBytes / 16));
  const auto run = [&](unsigned rounds) {
    KernelCall call = one_to_each(writes ? "network_write" : "network_read", shape, kThreads);
    call.pointer(at).word(kBytes / 16).pointer(on).word(rounds).pointer(cycles);
    if (!writes) call.pointer(out);
    device.run(call);
    return slowest_of(device, sms, cycles);
  };
  run(1);
  const double few = run(kRounds), many = run(3 * kRounds);
  return 2.0 * kRounds * 4 * 16 * kThreads * static_cast<double>(sms.size()) / (many - few);
}

/// How many times the bandwidth of one SM a group of them has; with `of`, per cent of so many times.
double network_speedup(BenchDevice& device, const QuantityArguments& arguments) {
  const std::string group = word_of(arguments, "group", "tpc");
  std::vector<unsigned> sms = {0, 1};
  if (group != "tpc") {
    sms = sms_of_gpc(device.shape(), 0, number_of(arguments, "gpcs", 1));
    if (group == "tpcs_of_gpc")
      sms.erase(std::remove_if(sms.begin(), sms.end(), [](unsigned sm) { return sm % kSmsPerTpc != 0; }),
                sms.end());
  }
  const bool writes = word_of(arguments, "access", "read") == "write";
  const double one = bandwidth(device, {sms.front()}, writes);
  const double times = bandwidth(device, sms, writes) / one;
  const std::uint64_t of = number_of(arguments, "of", 0);
  return of == 0 ? times : 100 * times / static_cast<double>(of);
}

/// Bytes a second that one SM reads of one slice. Lines of one slice of V100 are those whose offsets in a
/// page of 2 MiB have the same parities with five masks.
double slice_bandwidth(BenchDevice& device, const QuantityArguments& /*arguments*/) {
  constexpr std::array<unsigned, 5> kMasks = {0x02A, 0x044, 0x081, 0x10A, 0x208};
  constexpr std::uint64_t kPage = std::uint64_t{2} << 20U;
  constexpr unsigned kBlocks = 32, kThreads = 1024, kRounds = 64;
  const DeviceShape& shape = device.shape();
  const std::uint64_t whole = device.allocate(2 * kPage), page = (whole + kPage - 1) / kPage * kPage;
  std::vector<std::uint32_t> offsets;
  for (std::uint32_t block = 0; block < 1024 && offsets.size() < kBlocks; ++block) {
    bool same = true;
    for (const unsigned mask : kMasks) same = same && __builtin_parity(block & mask) == 0;
    if (same) offsets.push_back(block << 10U);
  }
  const std::uint64_t list = device.allocate(kBlocks * 4), cycles = device.allocate(shape.sms * 8ULL),
                      out = device.allocate(256), on = chosen(device, {0});
  device.write(list, offsets.data(), kBlocks * 4);
  const auto run = [&](unsigned rounds) {
    KernelCall call = one_to_each("network_read_lines", shape, kThreads);
    device.run(
        call.pointer(page).pointer(list).word(kBlocks).pointer(on).word(rounds).pointer(cycles).pointer(out));
    return slowest_of(device, {0}, cycles);
  };
  run(1);
  const double few = run(kRounds), many = run(2 * kRounds);
  return 4.0 * 4 * kThreads * kRounds / (many - few) * shape.sm_mhz * 1e6;
}

}  // namespace

std::vector<Quantity> network_quantities() {
  using D = Dimension;
  return {
      {"network_latency",
       "SM cycles of a load from L2, over the SMs of a GPC",
       D::cycles,
       {{"gpc", false, 0, 1023}, {"gpcs", false, 1, 1024}},
       {{"statistic", {"mean", "spread"}}},
       network_latency},
      {"network_speedup",
       "bandwidth of some SMs to L2 over that of one, or per cent of `of` times it",
       D::count,
       {{"gpcs", false, 1, 1024}, {"of", false, 1, 1024}},
       {{"group", {"tpc", "tpcs_of_gpc", "gpc"}}, {"access", {"read", "write"}}},
       network_speedup},
      {"slice_bandwidth",
       "bytes a second that one SM reads of one slice of V100",
       D::bytes_per_second,
       {},
       {},
       slice_bandwidth},
  };
}

}  // namespace warpline::study
