#pragma once

#include <systemc>
// The keeper leaves the inclusion of SystemC to its users.
#include <tlm_utils/tlm_quantumkeeper.h>

#include <map>
#include <string>
#include <vector>

#include "rtl_models/base/random.h"
#include "tests/rtl_models/tlm/loose_netlists.h"

namespace warpline::test {

/// Random traffic of one initiator against a map of bytes.
class Traffic {
 public:
  Traffic(std::uint64_t seed, unsigned count) : random_(splitmix64(seed)), count_(count) {}
  void run(LooseInitiator& i) {
    tlm_utils::tlm_quantumkeeper keeper;
    keeper.reset();
    for (unsigned n = 0; n < count_; ++n) {
      sc_core::sc_time delay = keeper.get_local_time();
      const sc_core::sc_time begun = sc_core::sc_time_stamp() + delay;
      step(i, delay);
      took.push_back(sc_core::sc_time_stamp() + delay - begun);
      keeper.set(delay);
      if (keeper.need_sync()) keeper.sync();
    }
  }
  std::vector<sc_core::sc_time> took;
  std::vector<std::string> wrong;

 private:
  static constexpr std::uint64_t kLocal = 0x8000;  ///< from here on, lines of local memory
  void step(LooseInitiator& i, sc_core::sc_time& delay) {
    const std::uint64_t kind = random_.below(40);
    Request model;
    model.data.fill(0);
    if (kind == 0) {
      model.command = Command::maintain;
      model.maintenance = static_cast<std::uint8_t>(1 + random_.below(15));
      Access a = access(tlm::TLM_IGNORE_COMMAND, 0, 4);
      i.call(a, delay, &model);
      expect(a.status == tlm::TLM_OK_RESPONSE, "maintenance");
    } else if (kind < 4) {
      add(i, delay, model);
    } else {
      move(i, delay, model);
    }
  }
  std::uint64_t line() {
    const std::uint64_t space = random_.below(3);
    return (space == 0 ? 0 : space == 1 ? kSysmem : kLocal) + random_.below(48) * kLineBytes;
  }
  void qualify(Request& model, std::uint64_t at) {
    model.line = PhysicalAddress{at};
    model.virtual_line = VirtualAddress{at};
    model.local = at >= kLocal && at < kSysmem;
    if (model.local) return;
    model.no_l1 = random_.below(4) == 0;
    if (random_.below(4) == 0) model.scope = random_.below(2) == 0 ? Scope::gpu : Scope::sys;
    model.l1_priority = static_cast<EvictionPriority>(random_.below(6));
  }
  void move(LooseInitiator& i, sc_core::sc_time& delay, Request& model) {
    const std::uint64_t at = line();
    qualify(model, at);
    const auto offset = static_cast<unsigned>(random_.below(kLineBytes));
    const auto length = 1 + static_cast<unsigned>(random_.below(kLineBytes - offset));
    const bool write = random_.below(2) == 0;
    Access a = access(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, at + offset, length,
                      static_cast<std::uint8_t>(random_.below(256)));
    const std::vector<std::uint8_t> before = a.data;
    if (random_.below(3) == 0)
      for (std::uint64_t n = 1 + random_.below(5); n != 0; --n)
        a.enables.push_back(random_.below(2) == 0 ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED);
    model.command = write ? Command::write : Command::read;
    const bool plain = !model.local && random_.below(2) == 0;
    i.call(a, delay, plain ? nullptr : &model);
    expect(a.status == tlm::TLM_OK_RESPONSE, text("status of ", std::to_string(at)));
    for (unsigned n = 0; n < length; ++n) {
      const bool enabled = a.enables.empty() || a.enables[n % a.enables.size()] == TLM_BYTE_ENABLED;
      std::uint8_t& byte = bytes_[a.address + n];
      if (write && enabled) byte = a.data[n];
      if (!write)
        expect(a.data[n] == (enabled ? byte : before[n]), text("byte ", std::to_string(a.address + n)));
    }
  }
  void add(LooseInitiator& i, sc_core::sc_time& delay, Request& model) {
    const std::uint64_t at = (random_.below(2) == 0 ? 0 : kSysmem) + random_.below(48) * kLineBytes;
    AtomicBlock block;
    block.operation = AtomicOperation::add;
    block.type = DataType::u32;
    block.count = 1;
    block.lanes[0].offset = static_cast<std::uint8_t>(4 * random_.below(32));
    block.lanes[0].operand = random_.below(1000);
    model.line = PhysicalAddress{at};
    model.virtual_line = VirtualAddress{at};
    model.command = random_.below(3) == 0 ? Command::reduce : Command::atomic;
    model.sectors = static_cast<SectorMask>(1U << (block.lanes[0].offset / kSectorBytes));
    model.atomics = &block;
    Access a = access(tlm::TLM_IGNORE_COMMAND, at, 4);
    i.call(a, delay, &model);
    std::uint32_t value = 0;
    for (unsigned n = 0; n < 4; ++n)
      value |= std::uint32_t{bytes_[at + block.lanes[0].offset + n]} << (8 * n);
    expect(a.status == tlm::TLM_OK_RESPONSE, "status of an atomic");
    if (model.command == Command::atomic) expect(block.lanes[0].old_value == value, "old value");
    value += static_cast<std::uint32_t>(block.lanes[0].operand);
    for (unsigned n = 0; n < 4; ++n)
      bytes_[at + block.lanes[0].offset + n] = static_cast<std::uint8_t>(value >> (8 * n));
  }
  void expect(bool right, const std::string& what) {
    if (!right) wrong.push_back(what);
  }
  Random random_;
  unsigned count_;
  std::map<std::uint64_t, std::uint8_t> bytes_;
};

}  // namespace warpline::test
