#pragma once

#include <array>
#include <string>
#include <vector>

#include "rtl_models/base/random.h"
#include "rtl_models/pcie/packets/byte_run.h"
#include "tests/sw/driver/bench_of_driver.h"

namespace warpline::test {

/// Random commands to one queue, each in an area of memory of its own, and what they must leave there.
class CommandTraffic {
 public:
  static constexpr std::uint32_t kBytes = 3000;  ///< that a command moves at most

  /// `areas`: commands under way at most. The device's buffer is shared among queues by `part`.
  CommandTraffic(DriverBench& bench, unsigned queue, unsigned areas, std::uint64_t seed, unsigned part = 0)
      : bench_(bench), queue_(queue), random_(seed), part_(part), areas_(areas) {
    for (Area& a : areas_) {
      a.memory = bench.share(kAreaBytes);
      a.before.resize(kAreaBytes);
      for (std::uint8_t& b : a.before) b = static_cast<std::uint8_t>(random_.next());
      bench_.put(a.memory, 0, a.before.data(), kAreaBytes);
    }
  }
  /// Submits a command, if an area and an entry of the ring are free.
  bool submit() {
    for (unsigned i = 0; i < areas_.size(); ++i) {
      if (areas_[i].busy) continue;
      const wl_peer_command command = draw(i);
      if (wl_peer_submit(&bench_.peer, queue_, &command) != WL_OK) return false;
      areas_[i].busy = true;
      ++under_way;
      return true;
    }
    return false;
  }
  /// What is wrong about a completion, or nothing.
  std::string take(const wl_peer_completion& completion) {
    if (completion.cookie >= areas_.size() || !areas_[completion.cookie].busy)
      return "of no command under way";
    Area& a = areas_[completion.cookie];
    a.busy = false;
    --under_way;
    ++completed;
    const bool done = completion.status == WL_PEER_STATUS_CODE_OK;
    if (done && checks_bytes && completion.result != a.result) return "with another result";
    if (!checks_bytes) return "";
    now_.resize(kAreaBytes);
    bench_.get(a.memory, now_.data(), kAreaBytes);
    for (unsigned i = 0; i < kAreaBytes; ++i) {
      const bool right = now_[i] == a.expected[i] || (!done && now_[i] == a.before[i]);
      if (!right)
        return "with a wrong byte at " + std::to_string(i) + " of opcode " + std::to_string(a.opcode);
    }
    return "";
  }
  /// Forgets what is under way, as after a removal.
  void forget() {
    for (Area& a : areas_) a.busy = false;
    under_way = 0;
  }
  unsigned under_way = 0;
  bool checks_bytes = true;  ///< whether take() looks at memory
  std::uint64_t completed = 0;

 private:
  static constexpr unsigned kDestination = 4096, kLists = 8192, kAreaBytes = 12288;
  struct Area {
    DriverBench::Shared memory;
    std::vector<std::uint8_t> before, expected;
    std::uint64_t result = 0;
    unsigned opcode = 0;
    bool busy = false;
  };
  /// Cuts `length` bytes from `start` of an area on into random pieces, in random order, and returns the
  /// offset in the area of each byte of the stream. `list`: where the entries go; 0 entries: there is no
  /// list.
  std::vector<unsigned> scatter(Area& a, unsigned start, unsigned length, unsigned list,
                                std::uint16_t& entries) {
    std::vector<ByteRun> pieces;
    for (unsigned at = 0; at < length;) {
      const unsigned bytes = pieces.size() == 60
                                 ? length - at
                                 : std::min(length - at, 1 + static_cast<unsigned>(random_.below(300)));
      pieces.push_back({start + at, bytes});
      at += bytes;
    }
    for (std::size_t i = pieces.size(); i > 1; --i) std::swap(pieces[i - 1], pieces[random_.below(i)]);
    std::vector<unsigned> stream;
    entries = static_cast<std::uint16_t>(pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      for (unsigned b = 0; b < pieces[i].bytes; ++b)
        stream.push_back(static_cast<unsigned>(pieces[i].address) + b);
      const std::uint64_t bus = a.memory.bus + pieces[i].address;
      std::array<std::uint8_t, WL_PEER_SCATTER_BYTES> entry{};
      std::memcpy(&entry[WL_PEER_SCATTER_ADDRESS_OFFSET], &bus, 8);
      std::memcpy(&entry[WL_PEER_SCATTER_LENGTH_OFFSET], &pieces[i].bytes, 4);
      bench_.put(a.memory, list + entry.size() * i, entry.data(), entry.size());
    }
    return stream;
  }
  /// One side of a command: where its stream of bytes lies in the area.
  std::vector<unsigned> side(Area& a, unsigned start, unsigned list, const wl_peer_command& c,
                             std::uint64_t& address, std::uint16_t& entries) {
    const auto skipped = static_cast<unsigned>(random_.below(900));
    if (random_.below(3) == 0) {
      address = a.memory.bus + list;
      return scatter(a, start + skipped, c.length, list, entries);
    }
    address = a.memory.bus + start + skipped;
    std::vector<unsigned> stream(c.length);
    for (unsigned i = 0; i < c.length; ++i) stream[i] = start + skipped + i;
    return stream;
  }
  wl_peer_command draw(unsigned number) {
    Area& a = areas_[number];
    wl_peer_command c{};
    c.cookie = number;
    c.opcode = static_cast<std::uint8_t>(random_.below(6));
    c.length = 1 + static_cast<std::uint32_t>(random_.below(random_.below(2) == 0 ? 40 : kBytes));
    c.operand = random_.next();
    a.opcode = c.opcode;
    a.result = 0;
    const std::uint64_t in_buffer = kBytes * (number + std::uint64_t{part_} * 64);
    EndpointMemory& buffer = bench_.device.core().buffer();
    std::vector<unsigned> from, to;
    switch (c.opcode) {
      case WL_PEER_OPCODE_COPY:
        from = side(a, 0, kLists, c, c.source, c.source_entries);
        to = side(a, kDestination, kLists + 2048, c, c.destination, c.destination_entries);
        break;
      case WL_PEER_OPCODE_FILL:
        to = side(a, kDestination, kLists, c, c.destination, c.destination_entries);
        break;
      case WL_PEER_OPCODE_READ:
        from = side(a, 0, kLists, c, c.source, c.source_entries);
        c.destination = in_buffer;
        break;
      case WL_PEER_OPCODE_WRITE:
        to = side(a, kDestination, kLists, c, c.destination, c.destination_entries);
        c.source = in_buffer;
        break;
      case WL_PEER_OPCODE_FETCH_ADD:
        c.length = random_.below(2) == 0 ? 4 : 8;
        c.destination = a.memory.bus + kDestination + 8 * random_.below(100);
        break;
      default: break;
    }
    bench_.get(a.memory, a.before.data(), kAreaBytes);
    a.expected = a.before;
    for (unsigned i = 0; i < c.length && !to.empty(); ++i)
      a.expected[to[i]] = c.opcode == WL_PEER_OPCODE_COPY ? a.before[from[i]]
                          : c.opcode == WL_PEER_OPCODE_FILL
                              ? static_cast<std::uint8_t>(c.operand >> 8 * (i % 8))
                              : buffer[in_buffer + i];
    if (c.opcode == WL_PEER_OPCODE_FETCH_ADD) {
      const std::size_t at = c.destination - a.memory.bus;
      std::memcpy(&a.result, a.before.data() + at, c.length);
      const std::uint64_t sum = a.result + c.operand;
      std::memcpy(a.expected.data() + at, &sum, c.length);
    }
    return c;
  }

  DriverBench& bench_;
  unsigned queue_;
  Random random_;
  unsigned part_;
  std::vector<Area> areas_;
  std::vector<std::uint8_t> now_;
};

}  // namespace warpline::test
