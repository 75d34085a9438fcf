#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rtl_models/crossbar/crossbar_module.h"
#include "rtl_models/dram/dram_module.h"
#include "rtl_models/l1_lg/l1_lg_module.h"
#include "rtl_models/l2/l2_slice_module.h"
#include "rtl_models/pcie/gpu_link/pcie_module.h"
#include "rtl_models/sim/memory_image.h"
#include "rtl_models/tlm/engine_process.h"
#include "tests/rtl_models/tlm/foreign_bridge.h"
#include "tests/rtl_models/tlm/foreign_modules.h"
#include "tests/support/checked_binding.h"
#include "tests/support/mock_components.h"

namespace warpline::test {

inline constexpr std::uint64_t kMemory = 1 << 16;
inline const std::uint64_t kSysmem = physical(Aperture::sysmem, 0).value;

template <class... A>
std::string text(A... parts) {
  return (std::string{} + ... + parts);
}

/// L2 with memory behind; an L1 and a crossbar above if wanted; a foreign initiator on top.
struct FromForeign {
  /// `within`: checkers between our blocks, too, which are direct otherwise.
  FromForeign(const std::string& name, std::vector<Access> accesses, const ForeignInitiator::Habits& habits,
              bool l1, TickMode mode, ChannelParameters channel, bool within = false)
      : engine(text(name, "_engine").c_str(), 987, HopTransport::direct, mode),
        initiator(text(name, "_initiator").c_str(), std::move(accesses), habits),
        checker(text(name, "_checker").c_str()),
        l2(text(name, "_l2").c_str(), engine, {}, L2Parameters{1, {16, 4}, 8}, &vidmem, 1),
        dram(text(name, "_dram").c_str(), engine, {}, {}, 1),
        pcie(text(name, "_pcie").c_str(), engine, {}, {}, &sysmem, 1) {
    const auto join = [within](InitiatorSocket& from, TargetSocket& to) {
      if (within) {
        bind_checked(from, to);
      } else {
        from.bind(to);
      }
    };
    initiator.socket.bind(checker.from_initiator);
    if (l1) {
      l1_lg = std::make_unique<L1LgModule>(text(name, "_l1").c_str(), engine, ClockDomain{}, L1LgParameters{},
                                           true);
      crossbar = std::make_unique<CrossbarModule>(text(name, "_crossbar").c_str(), engine, ClockDomain{},
                                                  CrossbarParameters{}, 1, 1, CrossbarWidths{}, true);
      l1_lg->from_sm.set_channel(channel, {});
      checker.to_target.bind(l1_lg->from_sm);
      join(l1_lg->to_crossbar, crossbar->from_client[0]);
      join(crossbar->to_l2[0], l2.from_crossbar);
    } else {
      l2.from_crossbar.set_channel(channel, {});
      checker.to_target.bind(l2.from_crossbar);
    }
    join(l2.to_dram[0], dram.from_l2[0]);
    join(l2.to_pcie, pcie.from_l2[0]);
  }
  MemoryImage vidmem{kMemory}, sysmem{kMemory};
  EngineProcess engine;
  ForeignInitiator initiator;
  ProtocolChecker checker;
  L2SliceModule l2;
  DramModule dram;
  PcieModule pcie;
  std::unique_ptr<L1LgModule> l1_lg;
  std::unique_ptr<CrossbarModule> crossbar;
};

inline Access access(tlm::tlm_command command, std::uint64_t address, std::size_t length,
                     std::uint8_t value = 0) {
  Access a;
  a.command = command;
  a.address = address;
  for (std::size_t i = 0; i < length; ++i) a.data.push_back(static_cast<std::uint8_t>(value + i));
  return a;
}

/// Legal ones: a write of every size and offset in steps, each read back; every other one with byte enables.
inline std::vector<Access> legal_accesses() {
  std::vector<Access> all;
  std::uint8_t value = 1;
  for (const std::uint64_t base : {std::uint64_t{0x400}, kSysmem + 0x800})
    for (unsigned offset = 0; offset < kLineBytes; offset += 5)
      for (unsigned length = 1; offset + length <= kLineBytes; length += 9) {
        Access w = access(tlm::TLM_WRITE_COMMAND, base + offset, length, value += 7);
        if (length % 2 == 0) w.enables = {TLM_BYTE_ENABLED, TLM_BYTE_DISABLED, TLM_BYTE_ENABLED};
        Access r = access(tlm::TLM_READ_COMMAND, base + offset, length, 0xA5);
        if (offset % 2 == 1) r.enables = {TLM_BYTE_DISABLED, TLM_BYTE_ENABLED};
        all.push_back(w);
        all.push_back(r);
      }
  return all;
}

struct Refused {
  Access access;
  tlm::tlm_response_status status;
};
inline std::vector<Refused> refused_accesses() {
  Access streaming = access(tlm::TLM_READ_COMMAND, 0, 8);
  streaming.streaming = 4;
  Access none = access(tlm::TLM_READ_COMMAND, 0x480, 16);
  none.enables = {TLM_BYTE_DISABLED};
  Access no_write = none;
  no_write.command = tlm::TLM_WRITE_COMMAND;
  return {{streaming, tlm::TLM_BURST_ERROR_RESPONSE},
          {access(tlm::TLM_READ_COMMAND, 120, 9), tlm::TLM_BURST_ERROR_RESPONSE},
          {access(tlm::TLM_WRITE_COMMAND, 0, 0), tlm::TLM_GENERIC_ERROR_RESPONSE},
          {access(tlm::TLM_IGNORE_COMMAND, 0, 4), tlm::TLM_COMMAND_ERROR_RESPONSE},
          {none, tlm::TLM_OK_RESPONSE},
          {no_write, tlm::TLM_OK_RESPONSE},
          {access(tlm::TLM_READ_COMMAND, kSysmem + kMemory, 32), tlm::TLM_ADDRESS_ERROR_RESPONSE},
          {access(tlm::TLM_READ_COMMAND, kMemory, 32), tlm::TLM_ADDRESS_ERROR_RESPONSE},
          {access(tlm::TLM_READ_COMMAND, std::uint64_t{1} << 59, 32), tlm::TLM_ADDRESS_ERROR_RESPONSE}};
}

/// The initiator's end of a hop.
struct OurSocket final : sc_core::sc_module {
  OurSocket(const sc_core::sc_module_name& name, EngineProcess& engine, Requester& requester)
      : sc_module(name), socket("socket", engine, requester.out, requester.in) {}
  InitiatorSocket socket;
};

/// Components of ours that ask a foreign target.
struct ToForeign {
  ToForeign(const std::string& name, Way way, ChannelParameters response, bool bridged = false)
      : engine(text(name, "_engine").c_str(), 1234),
        requester(engine.engine(), name, {}, items(way)),
        ours(name.c_str(), engine, requester),
        initiator(ours.socket),
        checker(text(name, "_checker").c_str()),
        target(text(name, "_target").c_str(), way, sc_core::sc_time(3300, sc_core::SC_PS)) {
    initiator.set_channel(response, {});
    initiator.bind(checker.from_initiator);
    if (bridged) {
      bridge = std::make_unique<ForeignBridge>(text(name, "_bridge").c_str(), 0x10000);
      checker.to_target.bind(bridge->from);
      bridge->to.bind(target.socket);
    } else {
      checker.to_target.bind(target.socket);
    }
  }
  static std::vector<Item> items(Way way) {
    std::vector<Item> all;
    const unsigned pairs = way < Way::silent ? 20 : 2;
    for (unsigned i = 0; i < pairs; ++i) {
      ByteMask bytes;
      bytes.set(i, 40);
      all.push_back(
          write_item(i / 3 * 7, PhysicalAddress{i * kLineBytes}, bytes, static_cast<std::uint8_t>(i + 1)));
      all.push_back(read_item(0, PhysicalAddress{i * kLineBytes}, i % 2 != 0 ? 0x5 : 0xF));
    }
    return all;
  }
  EngineProcess engine;
  Requester requester;
  OurSocket ours;
  InitiatorSocket& initiator;
  ProtocolChecker checker;
  ForeignTarget target;
  std::unique_ptr<ForeignBridge> bridge;
};

/// Our requests, copied by a bridge on their way to an L2 of ours.
struct Bridged {
  explicit Bridged(const std::string& name)
      : engine(text(name, "_engine").c_str(), 1000),
        requester(engine.engine(), name, {}, items()),
        ours(name.c_str(), engine, requester),
        initiator(ours.socket),
        bridge(text(name, "_bridge").c_str(), 0x1000),
        l2(text(name, "_l2").c_str(), engine, {}, L2Parameters{1, {16, 4}, 8}, &vidmem, 1),
        dram(text(name, "_dram").c_str(), engine, {}, {}, 1),
        pcie(text(name, "_pcie").c_str(), engine, {}, {}, nullptr, 1) {
    bind_checked(initiator, bridge.from);
    bind_checked(bridge.to, l2.from_crossbar);
    bind_checked(l2.to_dram[0], dram.from_l2[0]);
    bind_checked(l2.to_pcie, pcie.from_l2[0]);
  }
  static std::vector<Item> items() {
    AtomicBlock add;
    add.operation = AtomicOperation::add;
    add.type = DataType::u32;
    add.count = 1;
    add.lanes[0].offset = 4;
    add.lanes[0].operand = 5;
    ByteMask bytes;
    bytes.set(0, 8);
    return {write_item(0, PhysicalAddress{0}, bytes, 1), atomic_item(0, PhysicalAddress{0}, add),
            atomic_item(300, PhysicalAddress{kMemory}, add), read_item(600, PhysicalAddress{0}, 1)};
  }
  MemoryImage vidmem{kMemory};
  EngineProcess engine;
  Requester requester;
  OurSocket ours;
  InitiatorSocket& initiator;
  ForeignBridge bridge;
  L2SliceModule l2;
  DramModule dram;
  PcieModule pcie;
};

}  // namespace warpline::test
