#include "platform/study/quantity.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "platform/study/exchange_quantities.h"
#include "platform/study/geometry_quantities.h"
#include "platform/study/measuring.h"
#include "platform/study/network_quantity.h"
#include "rtl_models/base/bits.h"
#include "rtl_models/base/random.h"

namespace warpline::study {
namespace {

constexpr std::uint64_t kPage = 1U << 21U;  ///< bytes, as drivers map large allocations

/// The numbers 0 to count - 1 in an order without pattern.
std::vector<std::uint32_t> shuffled(std::uint64_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  Random random(count);
  for (std::uint64_t n = count; n > 1; --n) std::swap(order[n - 1], order[random.below(n)]);
  return order;
}

/// The mean of times that a kernel has left, one a step; the first ones wait for its code, too.
double mean_of_steps(BenchDevice& device, std::uint64_t result, std::uint64_t steps) {
  constexpr std::uint64_t kFirst = 4;
  std::vector<std::uint32_t> times(steps);
  device.read(result, times.data(), steps * 4);
  return std::accumulate(times.begin() + kFirst, times.end(), 0.0) / static_cast<double>(steps - kFirst);
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
    // The pages come first, so that TLBs have those that they can hold.
    const std::uint64_t per_page = std::max<std::uint64_t>(kPage / node_bytes, 1), pages = nodes / per_page;
    std::vector<bool> visited(nodes);
    std::vector<std::uint32_t> part;
    const auto visit = [&](std::uint64_t node) {
      if (!visited[node]) part.push_back(static_cast<std::uint32_t>(node));
      visited[node] = true;
    };
    for (std::uint64_t page = 0; page < pages; ++page) visit(page * per_page + ring.nodes[page] % per_page);
    for (std::size_t n = 0; part.size() < 32; ++n) visit(ring.nodes[n]);
    ring.warm = static_cast<unsigned>(part.size());
    for (std::size_t n = 0; part.size() < ring.warm + most + 64; ++n) visit(ring.nodes[n]);
    ring.nodes = std::move(part);
    ring.steps = most;
    return ring;
  }
  ring.warm = static_cast<unsigned>(nodes);
  ring.steps =
      static_cast<unsigned>(std::min<std::uint64_t>(std::max<std::uint64_t>(nodes, 4096), most)) / 8 * 8;
  return ring;
}

/// Cycles of a step of a chain through global memory, of addresses or (`by_index`) of places of 4 bytes.
double follow(BenchDevice& device, const QuantityArguments& arguments, const std::string& kernel,
              bool by_index) {
  const Given given(arguments);
  const std::uint64_t node = given.number("node", 128);
  const std::uint64_t count = std::max<std::uint64_t>(given.number("bytes", 0) / node, 1);
  const std::uint64_t at = device.allocate(count * node), result = device.allocate(256);
  Ring ring = ring_of(count, node, device.shape());
  if (given.word("order", "random") == "forward") std::iota(ring.nodes.begin(), ring.nodes.end(), 0U);
  const auto place = [&](std::size_t n) {
    const std::uint64_t of_node = ring.nodes[n % ring.nodes.size()] * node;
    return by_index ? of_node / 4 : at + of_node;
  };
  const std::size_t word = by_index ? 4 : 8;
  std::vector<std::uint8_t> whole(ring.nodes.size() == count ? count * node : 0);
  for (std::size_t n = 0; n < ring.nodes.size(); ++n) {
    const std::uint64_t next = place(n + 1), of_node = ring.nodes[n] * node;  // little-endian, as the GPU
    if (whole.empty())
      device.write(at + of_node, &next, word);
    else
      std::memcpy(whole.data() + of_node, &next, word);
  }
  if (!whole.empty()) device.write(at, whole.data(), whole.size());
  if (ring.warm < ring.nodes.size()) device.forget();
  KernelCall call{kernel, 1, static_cast<unsigned>(given.number("threads", 1))};
  if (arguments.numbers.count("carveout") != 0)
    call.carveout = static_cast<unsigned>(given.number("carveout", 0));
  if (by_index)
    call.pointer(at).word(place(0));
  else
    call.pointer(place(0));
  return told_cycles(device, call.word(ring.warm).word(ring.steps), result) / ring.steps;
}
/// Cycles of a load that hits in L2, one line in each page of 2 MiB.
double chase_pages(BenchDevice& device, const QuantityArguments& arguments) {
  constexpr std::uint64_t kNode = 128;
  const std::uint64_t pages = std::max<std::uint64_t>(Given(arguments).number("bytes", 0) / kPage, 1);
  const std::uint64_t at = device.allocate(pages * kPage), result = device.allocate(256);
  const std::vector<std::uint32_t> order = shuffled(pages);
  Random random(pages);
  std::vector<std::uint64_t> nodes;
  for (const std::uint32_t page : order)
    nodes.push_back(at + page * kPage + random.below(kPage / kNode) * kNode);
  for (std::size_t n = 0; n < nodes.size(); ++n) device.write(nodes[n], &nodes[(n + 1) % nodes.size()], 8);
  const auto steps =
      static_cast<unsigned>(std::min<std::uint64_t>(std::max<std::uint64_t>(pages, 1024), 8192));
  KernelCall call{"chase_cg", 1, 1};
  call.pointer(nodes.front()).word(2 * pages).word(steps);
  return told_cycles(device, call, result) / steps;
}
/// Steps that a compiler knows the number of, and does several of in a turn of a loop; of others a turn is
/// one.
constexpr std::uint64_t kTimedSteps = 256, kTimedTurns = kTimedSteps - 1;

/// Cycles of a step of a chain of indices, one node after the other, of which each step is timed by itself:
/// with `waited`, behind a store that waits for the load. The nodes are read once before; those of a
/// footprint far beyond L2 are not there any more.
double timed_steps(BenchDevice& device, const QuantityArguments& arguments, bool waited,
                   std::uint64_t steps = kTimedSteps) {
  const Given given(arguments);
  const std::uint64_t node = given.number("node", 128),
                      count = std::max<std::uint64_t>(given.number("bytes", 0) / node, 2);
  const bool gone = count * node > 3 * device.shape().l2_bytes;
  const std::uint64_t nodes = gone ? steps + 1 : count;
  const std::uint64_t at = device.allocate(nodes * node), result = device.allocate(4 * steps + 256);
  std::vector<std::uint32_t> words(nodes * node / 4);
  for (std::uint64_t n = 0; n < nodes; ++n)
    words[n * node / 4] = static_cast<std::uint32_t>((n + 1) % nodes * node / 4);
  device.write(at, words.data(), words.size() * 4);
  if (gone) device.forget();
  KernelCall call{"steps_" + given.word("operator", "ca") + (waited ? "_waited" : ""), 1, 1,
                  static_cast<unsigned>(8 * steps)};
  device.run(call.pointer(at).word(gone ? 0 : nodes).with(steps, 8).pointer(result));
  return mean_of_steps(device, result, steps);
}

double chase(BenchDevice& device, const QuantityArguments& arguments) {
  const std::string timed = Given(arguments).word("timed", "whole"),
                    kind = Given(arguments).word("operator", "ca");
  if (timed == "whole") return follow(device, arguments, "chase_" + kind, false);
  const bool waited = timed == "waited_steps";
  if (kind == "cv" || (waited && kind != "ca"))
    throw BenchError{"steps are timed of ca, cg and nc, and waited for of ca"};
  for (const char* of_whole : {"threads", "carveout"})
    if (arguments.numbers.count(of_whole) != 0)
      throw BenchError{of_whole + std::string(" is of whole chases, not of steps")};
  if (Given(arguments).word("order", "forward") != "forward")
    throw BenchError{"steps go from one node to the next: order is forward"};
  return timed_steps(device, arguments, waited);
}
double chase_index(BenchDevice& device, const QuantityArguments& arguments) {
  return follow(device, arguments, "chase_index", true);
}
double chase_bulk(BenchDevice& device, const QuantityArguments& arguments) {
  return follow(device, arguments, "chase_bulk", false);
}

/// Cycles of a load that hits in L2, from the SM that a share of all SMs are no farther than.
double chase_of_sms(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  constexpr std::uint64_t kNode = 128;
  constexpr unsigned kSteps = 256;
  const std::uint64_t count = std::max<std::uint64_t>(given.number("bytes", 0) / kNode, kSteps);
  const std::uint64_t at = device.allocate(count * kNode), result = device.allocate(256);
  // A ring through some of its lines, which each SM follows twice.
  std::vector<std::uint32_t> order = shuffled(count);
  order.resize(kSteps);
  for (std::size_t n = 0; n < order.size(); ++n) {
    const std::uint64_t next = at + order[(n + 1) % order.size()] * kNode;
    device.write(at + order[n] * kNode, &next, sizeof next);
  }
  const unsigned sms = device.shape().sms;
  std::vector<double> cycles;
  for (unsigned sm = 0; sm < sms; ++sm) {
    KernelCall call{"chase_from", sms, 1};
    call.pointer(at + order[0] * kNode).word(sm).word(kSteps).word(kSteps);
    cycles.push_back(told_cycles(device, call, result) / kSteps);
  }
  std::sort(cycles.begin(), cycles.end());
  const std::string which = given.word("which", "least");
  return which == "least" ? cycles.front() : which == "most" ? cycles.back() : cycles[cycles.size() / 2];
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
  // Lanes that have places of their own begin evenly apart.
  const auto lanes = static_cast<unsigned>(given.number("lanes", 1));
  KernelCall call{"chase_constant", 1, lanes};
  call.pointer(lanes == 1 ? base + ring.nodes[0] * node : base).word(count / lanes * node);
  call.word(ring.warm).word(ring.steps);
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

/// Cycles by which a load of a chain over `far_bytes` takes longer than of one over `bytes`; by their steps,
/// what is far is not waited for, and hits in L1 are.
double miss_penalty(BenchDevice& device, const QuantityArguments& arguments) {
  QuantityArguments near = arguments, far = arguments;
  far.numbers["bytes"] = arguments.numbers.at("far_bytes");
  const std::string kind = Given(arguments).word("operator", "ca");
  if (Given(arguments).word("timed", "whole") == "steps") {
    if (kind == "cv" || kind == "texture") throw BenchError{"steps are timed of ca, cg and nc"};
    near.words["timed"] = kind == "ca" ? "waited_steps" : kind == "cg" ? "steps" : "whole";
    const double less = chase(device, near);
    device.clear();
    return timed_steps(device, far, false, kTimedTurns) - less;
  }
  const auto measure = kind == "texture" ? chase_texture : chase;
  const double less = measure(device, near);
  device.clear();
  return measure(device, far) - less;
}

/// A ring in shared memory for each lane of a warp, `ways` of which meet in a bank; without, for one thread.
double chase_shared(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  const auto ways = static_cast<unsigned>(given.number("ways", 0));
  constexpr unsigned kSteps = 512;
  if (given.word("timed", "whole") == "waited_steps") {
    if (ways != 0) throw BenchError{"steps are timed of one thread, without conflicts"};
    const std::uint64_t result = device.allocate(4 * kTimedSteps + 256);
    KernelCall call{"steps_shared_waited", 1, 1, 2 * 4 * kTimedSteps};
    device.run(call.with(kTimedSteps, 8).pointer(result));
    return mean_of_steps(device, result, kTimedSteps);
  }
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

/// Has the TLB that all SMs share know the pages of a buffer, as it knows those that a benchmark goes over
/// again and again: reads a word of each. Writes there, too.
void touch_pages(BenchDevice& device, std::uint64_t at, std::uint64_t bytes, std::uint64_t result) {
  std::vector<std::uint64_t> nodes = {at};
  for (std::uint64_t page = (at / kPage + 1) * kPage; page < at + bytes; page += kPage) nodes.push_back(page);
  for (std::size_t n = 0; n < nodes.size(); ++n) device.write(nodes[n], &nodes[(n + 1) % nodes.size()], 8);
  KernelCall call{"chase_cg", 1, 1};
  call.pointer(nodes.front()).word(nodes.size()).word(1);
  static_cast<void>(told_cycles(device, call, result));
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
  // So many bytes that many rounds of blocks run, beyond those of one round, which have the costs of a launch
  // and of its end; and before, as many as fill L2 with what a stream leaves there.
  const std::uint64_t resident = std::uint64_t{shape.sms} * per_sm * block * 8;
  const std::uint64_t part = std::max<std::uint64_t>(resident * 12, std::uint64_t{2} << 20U);
  const std::uint64_t fill =
      writes ? static_cast<std::uint64_t>(static_cast<double>(shape.l2_bytes) * 1.25 / arrays) / 4096 * 4096
             : 0;
  const std::uint64_t all = std::max(fill, resident) + 2 * (resident + part);
  std::vector<std::uint64_t> buffers;
  for (int n = 0; n < 3; ++n) buffers.push_back(device.allocate(all));
  const std::uint64_t out = device.allocate(256);
  for (const std::uint64_t buffer : buffers) touch_pages(device, buffer, all, out);
  // Of lines that have not been touched before, on pages that have.
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
  const double round = run(from, resident, block), whole = run(from + resident, resident + 2 * part, block);
  return 2 * static_cast<double>(part) * arrays / (whole - round);
}

/// Bytes a second that all SMs read of one buffer, a block of 256 threads each with 32 loads under way. Of a
/// buffer that no L1 holds, parts are as good as the whole, once L2 has what it can.
double read_same(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  const DeviceShape& shape = device.shape();
  constexpr std::uint64_t kUnit = 1024 * 8, kPart = std::uint64_t{128} << 10U;
  const std::uint64_t bytes = std::max<std::uint64_t>(given.number("bytes", 0) / kUnit, 1) * kUnit;
  const std::uint64_t at = device.allocate(bytes), out = device.allocate(256);
  const auto run = [&](std::uint64_t from, std::uint64_t length, unsigned rounds) {
    KernelCall call{"read_same", shape.sms, 256};
    return device.run(call.pointer(at + from).word(length / 8).word(rounds).pointer(out));
  };
  if (bytes < 4 * kPart) {
    const auto rounds = static_cast<unsigned>(std::clamp<std::uint64_t>(8 * kPart / bytes, 1, 64));
    const auto repeat = [&](unsigned times) { return run(0, bytes, times); };
    return static_cast<double>(bytes * rounds) * shape.sms / of_rounds(repeat, rounds);
  }
  const auto pass = [&](std::uint64_t from, std::uint64_t length) {
    KernelCall call{"read_same_by_eight", shape.sms, 1024};
    return device.run(call.pointer(at + from).word(length / 8).pointer(out));
  };
  pass(0, 8 * kUnit);
  if (bytes <= shape.l2_bytes) {
    KernelCall call{"stream_read16", shape.sms, 1024};
    device.run(call.pointer(at).pointer(out).word(bytes / 16));
  }
  const double few = pass(0, kPart), many = pass(kPart, 2 * kPart);
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
  touch_pages(device, at, std::min<std::uint64_t>(windows, 2 * resident) * kWindow, out);
  if (windows <= 2 * shape.l2_bytes / kWindow) run(static_cast<unsigned>(windows));
  const double few = run(resident);
  const double many = run(2 * resident);
  return static_cast<double>(kWindow) * resident / (many - few);
}

/// Bytes a second of a buffer that all SMs read again and again, eight blocks of 256 threads each. It counts
/// once a round, though its threads read parts of it more often where they are more than its words.
double read_round(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  const std::uint64_t bytes = given.number("bytes", 0);
  if (!is_power_of_two(bytes)) throw BenchError{"bytes must be a power of two"};
  const std::uint64_t at = device.allocate(bytes), out = device.allocate(256);
  const auto run = [&](unsigned rounds) {
    KernelCall call{"read_round_" + given.word("operator", "ca"), 8 * device.shape().sms, 256};
    return device.run(call.pointer(at).word(bytes / 16).word(rounds).pointer(out));
  };
  constexpr unsigned kRounds = 2;
  return static_cast<double>(bytes) * kRounds / of_rounds(run, kRounds);
}

/// Bytes a second, read and written, of a copy by volatile words of 32 bits, to and fro.
double copy_volatile(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  const std::uint64_t bytes = given.number("bytes", 0), a = device.allocate(bytes),
                      b = device.allocate(bytes);
  const auto run = [&](unsigned rounds) {
    KernelCall call{"copy_volatile", static_cast<unsigned>(given.number("blocks", 160)),
                    static_cast<unsigned>(given.number("threads", 1024))};
    return device.run(call.pointer(a).pointer(b).word(bytes / 4).word(rounds));
  };
  return 2.0 * static_cast<double>(bytes) / of_rounds(run, 1);
}

/// Cycles of a warp's load that hits in L1 with lanes `stride` elements apart.
double strided(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  const bool is_double = given.word("type", "float") == "double";
  const std::uint64_t stride = given.number("stride", 1), threads = 1024, element = is_double ? 8 : 4;
  const std::uint64_t at = device.allocate((64 * stride + 32) * element), result = device.allocate(256);
  const auto run = [&](unsigned rounds) {
    KernelCall call{is_double ? "strided_double" : "strided_float", 1, static_cast<unsigned>(threads)};
    call.pointer(at).word(stride).word(0).word(rounds);
    return told_cycles(device, call, result);
  };
  constexpr unsigned kRounds = 8;
  return of_rounds(run, kRounds) / (kRounds * 8.0 * static_cast<double>(threads) / 32.0);
}

/// Bytes per cycle that one SM reads of its own memory.
double own_bandwidth(BenchDevice& device, const QuantityArguments& arguments, bool shared) {
  const Given given(arguments);
  const std::string type = given.word("type", "float");
  const auto warps = static_cast<unsigned>(given.number("warps", 32));
  const std::uint64_t element = type == "float4" ? 16 : type == "double" ? 8 : 4;
  const std::uint64_t result = device.allocate(256);
  const std::string name = std::string(shared ? "shared_" : "cached_") + type;
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

/// Cycles from one addition of a warp in shared memory to the next, where neither waits for the other.
double shared_atomic_interval(BenchDevice& device, const QuantityArguments& arguments) {
  const std::uint64_t result = device.allocate(256);
  const auto run = [&](unsigned steps) {
    KernelCall call{"atomic_shared_next", 1, 32};
    return told_cycles(device, call.word(Given(arguments).number("contention", 1)).word(steps), result);
  };
  constexpr unsigned kSteps = 128;
  return of_rounds(run, kSteps) / kSteps;
}

/// Cycles by which a reduction to a word makes an atomic to it wait.
double reduction_interval(BenchDevice& device, const QuantityArguments& arguments) {
  constexpr unsigned kTrips = 4, kReductions = 32, kBytes = 64 * 128;
  const std::uint64_t words = device.allocate(kBytes), result = device.allocate(256);
  const std::vector<std::uint8_t> zeros(kBytes);
  device.write(words, zeros.data(), kBytes);
  const auto trip = [&](unsigned reductions) {
    const auto run = [&](unsigned trips) {
      KernelCall call{"atomic_global_trips", 1, 32};
      call.pointer(words).word(Given(arguments).number("contention", 1)).word(reductions).word(trips);
      return told_cycles(device, call, result);
    };
    return of_rounds(run, kTrips) / kTrips;
  };
  return (trip(kReductions) - trip(0)) / kReductions;
}

/// Warps' additions per cycle to words of their own in shared memory, of one SM.
double shared_atomic_rate(BenchDevice& device, const QuantityArguments& arguments) {
  const auto warps = static_cast<unsigned>(Given(arguments).number("warps", 4));
  const std::uint64_t result = device.allocate(256);
  const auto run = [&](unsigned rounds) {
    KernelCall call{"atomic_shared_rate", 1, 32 * warps};
    return told_cycles(device, call.word(rounds), result);
  };
  constexpr unsigned kRounds = 16;
  return 8.0 * kRounds * warps / of_rounds(run, kRounds);
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

/// Whether each barrier is timed by itself.
std::string by_clock(const Given& given) {
  return given.word("by", "slope") == "clock" ? "_direct" : "";
}

double barrier_block(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  constexpr unsigned kSteps = 64;
  KernelCall call{"barrier_block" + by_clock(given), static_cast<unsigned>(given.number("blocks", 1)),
                  static_cast<unsigned>(given.number("warps", 1)) * 32};
  return told_cycles(device, call.word(kSteps), device.allocate(256)) / kSteps;
}

double barrier_grid(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  constexpr unsigned kSteps = 8;
  const std::uint64_t counter = device.allocate(256), zero = 0;
  device.write(counter, &zero, sizeof zero);
  KernelCall call{"barrier_grid" + by_clock(given), static_cast<unsigned>(given.number("blocks", 2)),
                  static_cast<unsigned>(given.number("threads", 256))};
  return told_cycles(device, call.pointer(counter).word(kSteps), device.allocate(256)) / kSteps;
}

double copy_seconds(BenchDevice& device, const QuantityArguments& arguments) {
  const Given given(arguments);
  return device.host_copy(given.number("bytes", 0), given.word("to", "device") == "device",
                          given.word("memory", "page_locked") == "page_locked",
                          given.word("timed_by", "events") == "host");
}
double host_copy_time(BenchDevice& device, const QuantityArguments& arguments) {
  return copy_seconds(device, arguments) * device.shape().sm_mhz * 1e6;
}
double host_copy(BenchDevice& device, const QuantityArguments& arguments) {
  return static_cast<double>(Given(arguments).number("bytes", 0)) / copy_seconds(device, arguments);
}

/// What the device says of itself.
double property(BenchDevice& device, const QuantityArguments& arguments) {
  const std::string what = Given(arguments).word("of", "");
  const DeviceShape& s = device.shape();
  if (what == "sms") return s.sms;
  if (what == "sm_mhz") return s.sm_mhz;
  if (what == "bus_bits") return s.bus_bits;
  if (what == "persist_bytes") return static_cast<double>(s.persist_bytes);
  return static_cast<double>(s.l2_bytes);
}

/// These, and those of other files.
std::vector<Quantity> all_of(std::vector<Quantity> out) {
  for (const std::vector<Quantity>& part :
       {geometry_quantities(), exchange_quantities(), network_quantities()})
    out.insert(out.end(), part.begin(), part.end());
  return out;
}

}  // namespace

const std::vector<Quantity>& quantities() {
  using D = Dimension;
  constexpr std::uint64_t kConstantBytes = 65536;
  static const NumberArgument kBytes{"bytes", true}, kNode{"node", false, 8, 1U << 20U};
  static const WordArgument kOrder{"order", {"random", "forward"}}, kBy{"by", {"slope", "clock"}},
      kType{"type", {"float", "double", "float4"}};
  static const std::vector<Quantity> kAll = all_of({
      {"chase",
       "SM cycles of a load in a chain of addresses",
       D::cycles,
       {kBytes, kNode, {"threads", false, 1, 1024}, {"carveout", false, 0, 100}},
       {{"operator", {"ca", "cg", "cv", "nc"}}, kOrder, {"timed", {"whole", "steps", "waited_steps"}}},
       chase},
      {"chase_index",
       "SM cycles of a step of a chain of indices",
       D::cycles,
       {kBytes, kNode},
       {kOrder},
       chase_index},
      {"chase_pages",
       "SM cycles of a load in a chain in L2 with one line in each page of 2 MiB",
       D::cycles,
       {{"bytes", true, 1U << 21U}},
       {},
       chase_pages},
      {"chase_bulk",
       "SM cycles of a bulk copy in a chain of addresses",
       D::cycles,
       {kBytes, {"node", false, 16, 1U << 20U}, {"threads", false, 1, 1024}},
       {},
       chase_bulk},
      {"chase_of_sms",
       "SM cycles of a load in a chain in L2, by the SM that it is nearest to",
       D::cycles,
       {kBytes},
       {{"which", {"least", "median", "most"}}},
       chase_of_sms},
      {"chase_constant",
       "SM cycles of a step of a chain in constant memory",
       D::cycles,
       {{"bytes", true, 8, kConstantBytes}, kNode, {"lanes", false, 1, 32}},
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
       {{"operator", {"ca", "cg", "cv", "nc", "texture"}}, {"timed", {"whole", "steps"}}},
       miss_penalty},
      {"chase_shared",
       "SM cycles of a load in a chain in shared memory",
       D::cycles,
       {{"ways", false, 1, 32}},
       {{"timed", {"whole", "waited_steps"}}},
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
      {"read_round",
       "bytes a second of a buffer that all SMs read round by round",
       D::bytes_per_second,
       {kBytes},
       {{"operator", {"ca", "cg"}}},
       read_round},
      {"copy_volatile",
       "bytes a second read and written of a copy by volatile words",
       D::bytes_per_second,
       {kBytes, {"blocks", false, 1, 65535}, {"threads", false, 1, 1024}},
       {},
       copy_volatile},
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
       {kType},
       shared_bandwidth},
      {"l1_bandwidth",
       "bytes per SM cycle of hits in L1",
       D::bytes_per_cycle,
       {{"warps", false, 1, 32}},
       {kType},
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
      {"reduction_interval",
       "SM cycles that a warp's reduction holds up what comes behind it at its word",
       D::cycles,
       {{"contention", false, 1, 32}},
       {},
       reduction_interval},
      {"shared_atomic_interval",
       "SM cycles between a warp's atomics in shared memory that wait for nothing",
       D::cycles,
       {{"contention", false, 1, 32}},
       {},
       shared_atomic_interval},
      {"shared_atomic_rate",
       "warps' atomics per SM cycle in shared memory",
       D::operations_per_cycle,
       {{"warps", false, 1, 32}},
       {},
       shared_atomic_rate},
      {"barrier_block",
       "SM cycles of a barrier of a block",
       D::cycles,
       {{"warps", false, 1, 32}, {"blocks", false, 1, 65535}},
       {kBy},
       barrier_block},
      {"barrier_grid",
       "SM cycles of a barrier of a grid",
       D::cycles,
       {{"blocks", false, 2, 4096}, {"threads", false, 32, 1024}},
       {kBy},
       barrier_grid},
      {"host_copy",
       "bytes a second of a copy between host and device",
       D::bytes_per_second,
       {{"bytes", true, 1, 1U << 30U}},
       {{"to", {"device", "host"}},
        {"memory", {"page_locked", "pageable"}},
        {"timed_by", {"events", "host"}}},
       host_copy},
      {"host_copy_time",
       "SM cycles of a copy between host and device",
       D::cycles,
       {{"bytes", true, 1, 1U << 30U}},
       {{"to", {"device", "host"}},
        {"memory", {"page_locked", "pageable"}},
        {"timed_by", {"events", "host"}}},
       host_copy_time},
      {"property",
       "what the device says of itself",
       D::count,
       {},
       {{"of", {"sms", "sm_mhz", "l2_bytes", "bus_bits", "persist_bytes"}}},
       property},
  });
  return kAll;
}

const Quantity* find_quantity(const std::string& name) {
  for (const Quantity& q : quantities())
    if (name == q.name) return &q;
  return nullptr;
}

}  // namespace warpline::study
