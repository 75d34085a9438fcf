#pragma once

#include <vector>

#include "rtl_models/pcie/packets/endpoint_core.h"
#include "tests/rtl_models/pcie/packets/packets.h"

namespace warpline::test {

/// A function with two BARs and MSI-X, placed and enabled, whose link a test holds in its hands.
struct EndpointBench {
  static constexpr std::uint64_t kBar = 0xE000'0000, kWideBar = 0x20'0000'0000;
  static constexpr FunctionId kSelf = function_id(3, 0, 0), kHost = function_id(0, 0, 0);
  static constexpr unsigned kCommand = 0x04, kMemory = 2, kMaster = 4;

  static FunctionDescription description() {
    FunctionDescription d;
    d.bars[0] = {0x1000, false, false};
    d.bars[2] = {0x10'0000, true, true};
    d.vectors = 4;
    d.msix_bar = 0;
    return d;
  }
  explicit EndpointBench(const LinkParameters& p = {}) : core(pool, kSelf, description(), p) { place(); }
  void place() {
    core.config().write(0x10, kBar);
    core.config().write(0x1C, kWideBar >> 32U);
    core.config().write(kCommand, kMemory | kMaster, 3);
  }
  unsigned control() const { return core.config().express_capability() + 8; }
  unsigned device_status() const { return core.config().read(control()) >> 16U; }
  unsigned status() const { return core.config().read(kCommand) >> 16U & ~0x10U; }
  unsigned power() const { return core.config().power_capability() + 4; }

  /// Hands a packet over. Returns whether it is for the device, which then holds it in `request`.
  bool receive(Tlp tlp) {
    Tlp* own = pool.allocate();
    *own = std::move(tlp);
    return core.receive(own, request);
  }
  Tlp request_for(TlpKind kind, std::uint64_t address, std::uint32_t bytes) const {
    Tlp tlp = packet(kind, address, bytes);
    tlp.requester = kHost;
    tlp.completer = kSelf;
    tlp.tag = 0x2A;
    return tlp;
  }
  /// What a completer answers to `read` by its bytes from `offset` on.
  static Tlp completion(const Tlp& read, std::uint32_t offset, std::uint32_t bytes) {
    Tlp tlp = packet(TlpKind::completion, read.address + offset, bytes);
    tlp.requester = read.requester;
    tlp.tag = read.tag;
    tlp.remaining = read.bytes - offset;
    return tlp;
  }
  static Tlp refusal(const Tlp& read, CompletionStatus status) {
    Tlp tlp = completion(read, 0, 0);
    tlp.status = status;
    return tlp;
  }
  /// Takes what the function has made, and puts it on the wire: at once, or in cycle `now` if that is later.
  std::vector<Tlp> sent(Cycle now = 0) {
    std::vector<Tlp> all;
    for (Tlp* tlp : core.outgoing()) {
      all.push_back(*tlp);
      if (class_of(tlp->kind) == TlpClass::non_posted) core.sent(*tlp, now);
      pool.release(tlp);
    }
    core.outgoing().clear();
    return all;
  }
  std::vector<ReadPart> parts() {
    std::vector<ReadPart> all(core.parts().begin(), core.parts().end());
    core.parts().clear();
    return all;
  }

  TlpPool pool;
  EndpointCore core;
  EndpointCore::BarRequest request;
};

}  // namespace warpline::test
