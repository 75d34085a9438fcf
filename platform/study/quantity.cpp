#include "platform/study/quantity.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rtl_models/base/random.h"

namespace warpline::study {
namespace {

/// A row's arguments, each with what it is where the row does not say.
class Given {
 public:
  explicit Given(const QuantityArguments& a) : arguments_(a) {}
  [[nodiscard]] std::uint64_t number(const char* key, std::uint64_t otherwise) const {
    const auto found = arguments_.numbers.find(key);
    return found == arguments_.numbers.end() ? otherwise : static_cast<std::uint64_t>(found->second);
  }
  [[nodiscard]] std::string word(const char* key, const char* otherwise) const {
    const auto found = arguments_.words.find(key);
    return found == arguments_.words.end() ? otherwise : found->second;
  }

 private:
  const QuantityArguments& arguments_;
};

/// Cycles that a kernel told in result[0].
double told_cycles(BenchDevice& device, KernelCall call, std::uint64_t result) {
  device.run(call.pointer(result));
  std::uint64_t cycles = 0;
  device.read(result, &cycles, sizeof cycles);
  return static_cast<double>(cycles);
}

/// By how much run(2 * rounds) takes longer than run(rounds), once the code is in the caches: what a launch
/// costs is left out.
template <class Run>
double of_rounds(const Run& run, unsigned rounds) {
  run(rounds);
  const double few = run(rounds);
  return run(2 * rounds) - few;
}

/// The numbers 0 to count - 1 in an order without pattern.
std::vector<std::uint32_t> shuffled(std::uint64_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  Random random(count);
  for (std::uint64_t n = count; n > 1; --n) std::swap(order[n - 1], order[random.below(n)]);
  return order;
}

/// A ring through a footprint, and how it is to be followed.
struct Ring {
  std::vector<std::uint32_t> nodes;  ///< that are visited, in order
  unsigned warm = 0;                 ///< steps before those that count
  unsigned steps = 0;
};

/// `most`: steps that count at most. A footprint far beyond every cache is followed cold, in a part without
/// any node twice: each step misses as it would in a whole ring.
Ring ring_of(std::uint64_t nodes, std::uint64_t node_bytes, const DeviceShape& shape, unsigned most = 8192) {
  Ring ring;
  ring.nodes = shuffled(nodes);
  const bool beyond_caches = nodes * node_bytes > 3 * shape.l2_bytes && nodes > 2ULL * most;
  if (beyond_caches) {
    ring.nodes.resize(most + 64);
    ring.warm = 32;
    ring.steps = most;
    return ring;
  }
  ring.warm = static_cast<unsigned>(nodes);
  ring.steps =
      static_cast<unsigned>(std::min<std::uint64_t>(std::max<std::uint64_t>(nodes, 4096), most)) / 8 * 8;
  return ring;
}

/// Cycles of a load in a chain of addresses.
double chase(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  const std::uint64_t node = given.number("node", 128);
  const std::uint64_t count = std::max<std::uint64_t>(given.number("bytes", 0) / node, 1);
  const std::uint64_t at = device.allocate(count * node), result = device.allocate(256);
  const Ring ring = ring_of(count, node, device.shape());
  for (std::size_t n = 0; n < ring.nodes.size(); ++n) {
    const std::uint64_t next = at + ring.nodes[(n + 1) % ring.nodes.size()] * node;
    device.write(at + ring.nodes[n] * node, &next, sizeof next);
  }
  KernelCall call{"chase_" + given.word("operator", "ca"), 1,
                  static_cast<unsigned>(given.number("threads", 1))};
  if (ring.warm < ring.nodes.size()) device.forget();
  if (arguments.numbers.count("carveout") != 0)
    call.carveout = static_cast<unsigned>(given.number("carveout", 0));
  call.pointer(at + ring.nodes[0] * node).word(ring.warm).word(ring.steps);
  return told_cycles(device, call, result) / ring.steps;
}

/// Words of 32 bits that hold the index of the next node, in units of `unit` bytes.
std::vector<std::uint32_t> index_ring(const Ring& ring, std::uint64_t step, std::uint64_t words,
                                      unsigned unit) {
  std::vector<std::uint32_t> out(words);
  for (std::size_t n = 0; n < ring.nodes.size(); ++n)
    out[ring.nodes[n] * step / 4] =
        static_cast<std::uint32_t>(ring.nodes[(n + 1) % ring.nodes.size()] * step / unit);
  return out;
}

double chase_index(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  const std::uint64_t node = given.number("node", 128);
  const std::uint64_t count = std::max<std::uint64_t>(given.number("bytes", 0) / node, 1);
  const std::uint64_t at = device.allocate(count * node), result = device.allocate(256);
  const Ring ring = ring_of(count, node, device.shape());
  for (std::size_t n = 0; n < ring.nodes.size(); ++n) {
    const auto next = static_cast<std::uint32_t>(ring.nodes[(n + 1) % ring.nodes.size()] * node / 4);
    device.write(at + ring.nodes[n] * node, &next, sizeof next);
  }
  if (ring.warm < ring.nodes.size()) device.forget();
  KernelCall call{"chase_index", 1, 1};
  call.pointer(at).word(ring.nodes[0] * node / 4).word(ring.warm).word(ring.steps);
  return told_cycles(device, call, result) / ring.steps;
}

double chase_constant(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  const std::uint64_t node = given.number("node", 64);
  const std::uint64_t count = std::max<std::uint64_t>(given.number("bytes", 0) / node, 1);
  const Ring ring = ring_of(count, node, device.shape());
  const std::uint64_t result = device.allocate(256);
  KernelCall where{"constant_base", 1, 1};
  device.run(where.pointer(result));
  std::uint64_t base = 0;
  device.read(result, &base, sizeof base);
  std::vector<std::uint64_t> words(count * node / 8);
  for (std::size_t n = 0; n < ring.nodes.size(); ++n)
    words[ring.nodes[n] * node / 8] = base + ring.nodes[(n + 1) % ring.nodes.size()] * node;
  device.write_constant("chain", words.data(), words.size() * 8);
  KernelCall call{"chase_constant", 1, 1};
  call.pointer(base + ring.nodes[0] * node).word(ring.warm).word(ring.steps);
  return told_cycles(device, call, result) / ring.steps;
}

double chase_texture(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  const std::uint64_t node = given.number("node", 128),
                      count = std::max<std::uint64_t>(given.number("bytes", 0) / node, 1);
  const Ring ring = ring_of(count, node, device.shape());
  const auto words = index_ring(ring, node, count * node / 4, 4);
  const std::uint64_t at = device.allocate(words.size() * 4);
  device.write(at, words.data(), words.size() * 4);
  KernelCall call{"chase_texture", 1, 1};
  call.pointer(device.texture(at, words.size()))
      .word(ring.nodes[0] * node / 4)
      .word(ring.warm)
      .word(ring.steps);
  return told_cycles(device, call, device.allocate(256)) / ring.steps;
}

/// Cycles by which a load of a chain over `far_bytes` takes longer than of one over `bytes`.
double miss_penalty(BenchDevice& device, const QuantityArguments& arguments) {
  QuantityArguments far = arguments;
  far.numbers["bytes"] = arguments.numbers.at("far_bytes");
  const auto measure = Given(arguments).word("operator", "ca") == "texture" ? chase_texture : chase;
  const double near = measure(device, arguments);
  device.clear();
  return measure(device, far) - near;
}

/// A ring in shared memory for each lane of a warp, `ways` of which meet in a bank; without, for one thread.
double chase_shared(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  const auto ways = static_cast<unsigned>(given.number("ways", 0));
  constexpr unsigned kSteps = 512;
  // The lane's ring begins `apart` bytes behind the one before: `ways` words to a bank.
  const unsigned apart = ways == 0 ? 0 : 4 * ways;
  const unsigned stride = ways == 0 ? 128 : 32 * apart;
  const unsigned bytes = std::min<unsigned>(stride * 8, 32 * 1024 / stride * stride);
  KernelCall call{"chase_shared", 1, ways == 0 ? 1U : 32U, bytes};
  call.word(bytes).word(stride).word(apart).word(16).word(kSteps);
  return told_cycles(device, call, device.allocate(256)) / kSteps;
}

/// The dynamic shared memory with which an SM has `blocks` blocks and no more.
unsigned shared_for(const DeviceShape& shape, std::uint64_t blocks) {
  const std::uint64_t most = shape.shared_bytes / blocks, least = shape.shared_bytes / (blocks + 1) + 1;
  return static_cast<unsigned>((most + least) / 2 / 256 * 256);
}

/// Bytes a second of a stream through DRAM, one element to a thread. What a launch costs is left out: the
/// same is run over half of it.
double stream(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  const std::string kind = given.word("kind", "read");
  const auto block = static_cast<unsigned>(given.number("block", 1024));
  const std::uint64_t per_sm = given.number("blocks_per_sm", 2);
  const DeviceShape& shape = device.shape();
  const bool reads = kind != "write", two = kind == "triad", writes = kind != "read";
  const double arrays = (reads ? 1 : 0) + (writes ? 1 : 0) + (two ? 1 : 0);
  // So many bytes that many rounds of blocks run; and before, as many as fill L2 with what a stream leaves
  // there.
  const std::uint64_t resident = std::uint64_t{shape.sms} * per_sm * block * 8;
  const std::uint64_t part = std::max<std::uint64_t>(resident * 12, std::uint64_t{2} << 20U);
  const std::uint64_t fill =
      writes ? static_cast<std::uint64_t>(static_cast<double>(shape.l2_bytes) * 1.25 / arrays) / 4096 * 4096
             : 0;
  std::vector<std::uint64_t> buffers;
  for (int n = 0; n < 3; ++n) buffers.push_back(device.allocate(std::max(fill, resident) + 3 * part));
  const std::uint64_t out = device.allocate(256);
  // Of memory that has not been touched before.
  const auto run = [&](std::uint64_t first, std::uint64_t bytes, unsigned threads) {
    const std::uint64_t n = bytes / 8;
    KernelCall call{"stream_" + kind, static_cast<unsigned>((n + threads - 1) / threads), threads,
                    shared_for(shape, per_sm)};
    if (writes) call.pointer(buffers[0] + first);
    if (reads) call.pointer(buffers[1] + first);
    if (two) call.pointer(buffers[2] + first);
    if (!writes) call.pointer(out);
    return device.run(call.word(n));
  };
  run(0, std::max(fill, resident), 512);  // which brings the code into the caches, too
  const std::uint64_t from = std::max(fill, resident);
  const double half = run(from, part, block), whole = run(from + part, 2 * part, block);
  return static_cast<double>(part) * arrays / (whole - half);
}

/// Bytes a second that all SMs read of one buffer, a block of 1,024 threads each. Of a buffer that no L1
/// holds, parts are as good as the whole, once L2 has what it can.
double read_same(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  const DeviceShape& shape = device.shape();
  constexpr std::uint64_t kUnit = 1024 * 8, kPart = std::uint64_t{128} << 10U;
  const std::uint64_t bytes = std::max<std::uint64_t>(given.number("bytes", 0) / kUnit, 1) * kUnit;
  const std::uint64_t at = device.allocate(bytes), out = device.allocate(256);
  const auto run = [&](std::uint64_t from, std::uint64_t length, unsigned rounds) {
    KernelCall call{"read_same", shape.sms, 1024};
    return device.run(call.pointer(at + from).word(length / 8).word(rounds).pointer(out));
  };
  if (bytes < 4 * kPart) {
    const auto rounds = static_cast<unsigned>(std::clamp<std::uint64_t>(2 * kPart / bytes, 1, 64));
    const auto repeat = [&](unsigned times) { return run(0, bytes, times); };
    return static_cast<double>(bytes * rounds) * shape.sms / of_rounds(repeat, rounds);
  }
  run(0, kUnit, 1);
  if (bytes <= shape.l2_bytes) {
    KernelCall call{"stream_read16", shape.sms, 1024};
    device.run(call.pointer(at).pointer(out).word(bytes / 16));
  }
  const double few = run(0, kPart, 1), many = run(kPart, 2 * kPart, 1);
  return static_cast<double>(kPart) * shape.sms / (many - few);
}

/// Bytes a second that blocks of 1,024 threads read of windows of 512 KiB each, `bytes` in all.
double read_windows(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  constexpr std::uint64_t kWindow = 512 * 1024;
  const DeviceShape& shape = device.shape();
  const std::uint64_t windows = std::max<std::uint64_t>(given.number("bytes", 0) / kWindow, 1);
  const std::uint64_t at = device.allocate(std::min(windows * kWindow, shape.memory_bytes / 2)),
                      out = device.allocate(256);
  const auto run = [&](unsigned blocks) {
    KernelCall call{"read_windows", blocks, 1024};
    return device.run(call.pointer(at).word(windows).pointer(out));
  };
  const unsigned resident = 2 * shape.sms;
  if (windows <= 2 * shape.l2_bytes / kWindow) run(static_cast<unsigned>(windows));
  const double few = run(resident);
  const double many = run(2 * resident);
  return static_cast<double>(kWindow) * resident / (many - few);
}

/// Cycles of a warp's load that hits in L1 with lanes `stride` elements apart.
double strided(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  const bool is_double = given.word("type", "float") == "double";
  const std::uint64_t stride = given.number("stride", 1), threads = 1024, element = is_double ? 8 : 4;
  const std::uint64_t n = std::min<std::uint64_t>(16 * 1024 / element, 4096);
  const std::uint64_t at = device.allocate(n * element), result = device.allocate(256);
  const auto run = [&](unsigned rounds) {
    KernelCall call{is_double ? "strided_double" : "strided_float", 1, static_cast<unsigned>(threads)};
    call.pointer(at).word(stride).word(n).word(rounds);
    return told_cycles(device, call, result);
  };
  constexpr unsigned kRounds = 4;
  return of_rounds(run, kRounds) / (kRounds * 16.0 * static_cast<double>(threads) / 32.0);
}

/// Bytes per cycle that one SM reads of its own memory.
double own_bandwidth(BenchDevice& device, const QuantityArguments& arguments, bool shared) {
  const Given given(arguments);
  const bool is_double = given.word("type", "float") == "double";
  const auto warps = static_cast<unsigned>(given.number("warps", 32));
  const std::uint64_t element = is_double ? 8 : 4, result = device.allocate(256);
  const std::string name = std::string(shared ? "shared_" : "cached_") + (is_double ? "double" : "float");
  const std::uint64_t at = shared ? 0 : device.allocate(8 * element * warps * 32);
  const auto run = [&](unsigned rounds) {
    KernelCall call{name, 1, warps * 32, shared ? static_cast<unsigned>(element * warps * 32) : 0U};
    if (!shared) call.pointer(at);
    return told_cycles(device, call.word(rounds), result);
  };
  constexpr unsigned kRounds = 32;
  return 8.0 * static_cast<double>(element) * warps * 32 * kRounds / of_rounds(run, kRounds);
}
double shared_bandwidth(BenchDevice& d, const QuantityArguments& a) {
  return own_bandwidth(d, a, true);
}
double l1_bandwidth(BenchDevice& d, const QuantityArguments& a) {
  return own_bandwidth(d, a, false);
}

double atomic_latency(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  const std::string where = given.word("space", "global");
  const auto lanes = static_cast<unsigned>(given.number("contention", 1));
  constexpr unsigned kSteps = 128;
  const std::uint64_t result = device.allocate(256);
  if (where == "global") {
    const std::uint64_t words = device.allocate(4096);
    const std::vector<std::uint8_t> zeros(4096);
    device.write(words, zeros.data(), zeros.size());
    KernelCall call{"atomic_global_add", 1, 32};
    return told_cycles(device, call.pointer(words).word(lanes).word(kSteps), result) / kSteps;
  }
  KernelCall call{"atomic_shared_" + given.word("operation", "add"), 1, 32};
  if (given.word("operation", "add") == "add") call.word(lanes);
  return told_cycles(device, call.word(kSteps), result) / kSteps;
}

/// Additions per cycle of all threads to `words` words; to one, combined by warps, as compilers have it.
double atomic_rate(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  const std::uint64_t words = given.number("words", 1);
  const DeviceShape& shape = device.shape();
  const std::uint64_t at = device.allocate(std::max<std::uint64_t>(words * 4, 256));
  const auto run = [&](unsigned rounds) {
    KernelCall call{words == 1 ? "atomic_one" : "atomic_spread", shape.sms, 1024};
    call.pointer(at);
    if (words != 1) call.word(words);
    return device.run(call.word(rounds));
  };
  constexpr unsigned kRounds = 2;
  return 1024.0 * shape.sms * kRounds / (of_rounds(run, kRounds) * shape.sm_mhz * 1e6);
}

double barrier_block(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  constexpr unsigned kSteps = 64;
  KernelCall call{"barrier_block", static_cast<unsigned>(given.number("blocks", 1)),
                  static_cast<unsigned>(given.number("warps", 1)) * 32};
  return told_cycles(device, call.word(kSteps), device.allocate(256)) / kSteps;
}

double barrier_grid(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  constexpr unsigned kSteps = 8;
  const std::uint64_t counter = device.allocate(256), zero = 0;
  device.write(counter, &zero, sizeof zero);
  KernelCall call{"barrier_grid", static_cast<unsigned>(given.number("blocks", 2)),
                  static_cast<unsigned>(given.number("threads", 256))};
  return told_cycles(device, call.pointer(counter).word(kSteps), device.allocate(256)) / kSteps;
}

/// What the device says of itself.
double property(BenchDevice& device, const QuantityArguments& arguments) {
  const std::string what = Given(arguments).word("of", "");
  const DeviceShape& s = device.shape();
  if (what == "sms") return s.sms;
  if (what == "sm_mhz") return s.sm_mhz;
  return static_cast<double>(s.l2_bytes);
}

}  // namespace

const std::vector<Quantity>& quantities() {
  using D = Dimension;
  constexpr std::uint64_t kConstantBytes = 65536;
  static const NumberArgument kBytes{"bytes", true}, kNode{"node", false, 8, 1U << 20U};
  static const std::vector<Quantity> kAll = {
      {"chase",
       "SM cycles of a load in a chain of addresses",
       D::cycles,
       {kBytes, kNode, {"threads", false, 1, 1024}, {"carveout", false, 0, 100}},
       {{"operator", {"ca", "cg", "cv", "nc"}}},
       chase},
      {"chase_index",
       "SM cycles of a step of a chain of indices",
       D::cycles,
       {kBytes, kNode},
       {},
       chase_index},
      {"chase_constant",
       "SM cycles of a step of a chain in constant memory",
       D::cycles,
       {{"bytes", true, 8, kConstantBytes}, kNode},
       {},
       chase_constant},
      {"chase_texture",
       "SM cycles of a step of a chain in a texture",
       D::cycles,
       {{"bytes", true, 8, 1U << 27U}, kNode},
       {},
       chase_texture},
      {"miss_penalty",
       "SM cycles that a load of a chain takes longer than of a smaller one",
       D::cycles,
       {kBytes, {"far_bytes", true}, kNode},
       {{"operator", {"ca", "cg", "cv", "nc", "texture"}}},
       miss_penalty},
      {"chase_shared",
       "SM cycles of a load in a chain in shared memory",
       D::cycles,
       {{"ways", false, 1, 32}},
       {},
       chase_shared},
      {"stream",
       "bytes a second through DRAM",
       D::bytes_per_second,
       {{"block", false, 32, 1024}, {"blocks_per_sm", false, 1, 16}},
       {{"kind", {"read", "write", "scale", "triad"}}},
       stream},
      {"read_same",
       "bytes a second that all SMs read of one buffer",
       D::bytes_per_second,
       {kBytes},
       {},
       read_same},
      {"read_windows",
       "bytes a second that all SMs read of windows",
       D::bytes_per_second,
       {kBytes},
       {},
       read_windows},
      {"strided",
       "SM cycles of a warp's load that hits in L1",
       D::cycles,
       {{"stride", true, 1, 1024}},
       {{"type", {"float", "double"}}},
       strided},
      {"shared_bandwidth",
       "bytes per SM cycle of shared memory",
       D::bytes_per_cycle,
       {{"warps", false, 1, 32}},
       {{"type", {"float", "double"}}},
       shared_bandwidth},
      {"l1_bandwidth",
       "bytes per SM cycle of hits in L1",
       D::bytes_per_cycle,
       {{"warps", false, 1, 32}},
       {{"type", {"float", "double"}}},
       l1_bandwidth},
      {"atomic_latency",
       "SM cycles of a chain of atomics",
       D::cycles,
       {{"contention", false, 1, 32}},
       {{"space", {"global", "shared"}}, {"operation", {"add", "cas"}}},
       atomic_latency},
      {"atomic_rate",
       "atomics per SM cycle of all SMs",
       D::operations_per_cycle,
       {{"words", false, 1, 1U << 28U}},
       {},
       atomic_rate},
      {"barrier_block",
       "SM cycles of a barrier of a block",
       D::cycles,
       {{"warps", false, 1, 32}, {"blocks", false, 1, 65535}},
       {},
       barrier_block},
      {"barrier_grid",
       "SM cycles of a barrier of a grid",
       D::cycles,
       {{"blocks", false, 2, 4096}, {"threads", false, 32, 1024}},
       {},
       barrier_grid},
      {"property",
       "what the device says of itself",
       D::count,
       {},
       {{"of", {"sms", "sm_mhz", "l2_bytes"}}},
       property},
  };
  return kAll;
}

const Quantity* find_quantity(const std::string& name) {
  for (const Quantity& q : quantities())
    if (name == q.name) return &q;
  return nullptr;
}

}  // namespace warpline::study
