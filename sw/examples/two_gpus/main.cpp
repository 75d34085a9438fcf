// Two GPUs of different presets in one simulation, a copier between them, and a checkpoint of both that is
// taken half-way and gone back to.
//
//        +--------+
//        | copier |
//        +-+----+-+
//          |    |
//  +-------v-+ +v--------+
//  | small   | | large   |   memory subsystems: L2, DRAM and what belongs to them
//  | (mini)  | | (v100)  |
//  +---------+ +---------+
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "warpline/platform/machine/checkpoint.h"
#include "warpline/platform/systemc/memory_subsystem_module.h"
#include "warpline/rtl_models/tlm/idle_sockets.h"

namespace {

using Card = warpline::MemorySubsystemModule;
constexpr unsigned kPiece = 64;          // bytes: an access lies within a line of 128
constexpr std::uint64_t kBytes = 16384;  // that are copied in all

/// A card of its own preset; `device` is the socket past its L1 caches.
warpline::MemorySubsystemOptions card(const std::string& gpu) {
  warpline::MemorySubsystemOptions options;
  options.gpu = gpu;
  options.settings = {"sms=1"};
  options.devices = 1;
  return options;
}

/// Nothing comes back by calls, as all accesses are b_transport.
struct Idle final : tlm::tlm_bw_transport_if<> {
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
    return tlm::TLM_ACCEPTED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

/// Reads from one card and writes to the other, one access after the other.
class Copier final : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Copier);
  Copier(const sc_core::sc_module_name& name, std::function<void(Copier&)> work)
      : sc_module(name), work_(std::move(work)) {
    to_small.bind(idle_);
    to_large.bind(idle_);
    SC_THREAD(run);
  }
  void fill(std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t at = first; at < end; at += kPiece) {
      for (unsigned i = 0; i < kPiece; ++i) piece_[i] = static_cast<unsigned char>(at / kPiece * 7 + i);
      access(to_small, tlm::TLM_WRITE_COMMAND, at);
    }
  }
  void copy(std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t at = first; at < end; at += kPiece) {
      access(to_small, tlm::TLM_READ_COMMAND, at);
      access(to_large, tlm::TLM_WRITE_COMMAND, 2 * at);
    }
  }
  /// Bytes of the large card that are not as they were written to the small one.
  unsigned wrong(std::uint64_t end) {
    unsigned count = 0;
    for (std::uint64_t at = 0; at < end; at += kPiece) {
      access(to_large, tlm::TLM_READ_COMMAND, 2 * at);
      for (unsigned i = 0; i < kPiece; ++i)
        count += piece_[i] != static_cast<unsigned char>(at / kPiece * 7 + i);
    }
    return count;
  }
  unsigned refused = 0;
  tlm::tlm_initiator_socket<256> to_small{"to_small"}, to_large{"to_large"};

 private:
  void access(tlm::tlm_initiator_socket<256>& socket, tlm::tlm_command command, std::uint64_t address) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(piece_);
    payload.set_data_length(kPiece);
    payload.set_streaming_width(kPiece);
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    wait(delay);
    refused += !payload.is_response_ok();
  }
  void run() { work_(*this); }

  std::function<void(Copier&)> work_;
  Idle idle_;
  unsigned char piece_[kPiece] = {};
};

bool told(const char* what, const warpline::Diagnostics& faults) {
  for (const warpline::Diagnostic& d : faults) std::fprintf(stderr, "%s: %s\n", what, d.text().c_str());
  return faults.empty();
}

bool save(Card& card, const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  return told("save", card.save(out));
}

bool restore(Card& card, const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const auto checkpoint = warpline::Checkpoint::read(in, path);
  return checkpoint.ok() ? told("restore", card.restore(checkpoint.value()))
                         : told("restore", checkpoint.faults());
}

}  // namespace

int sc_main(int /*argc*/, char* /*argv*/[]) {
  Card small("small", card("mini")), large("large", card("v100"));
  bool good = false;
  Copier copier("copier", [&](Copier& me) {
    me.fill(0, kBytes);
    me.copy(0, kBytes / 2);
    good = save(small, "small.checkpoint") && save(large, "large.checkpoint");

    const auto second_half = [&] {
      const sc_core::sc_time begun = sc_core::sc_time_stamp();
      me.copy(kBytes / 2, kBytes);
      return sc_core::sc_time_stamp() - begun;
    };
    const sc_core::sc_time once = second_half();
    const auto counted_small = small.counters(), counted_large = large.counters();
    std::printf("the second half took %.0f ns, %u bytes wrong\n", once.to_seconds() * 1e9, me.wrong(kBytes));

    // Back to where they were. The simulation's time goes on, the cards' own is what it was.
    good = good && restore(small, "small.checkpoint") && restore(large, "large.checkpoint");
    const sc_core::sc_time again = second_half();
    // Where in a cycle of its clocks a card is gone back to is up to the simulation's time.
    const sc_core::sc_time cycle(1, sc_core::SC_NS);
    const bool same = once < again + cycle && again < once + cycle && counted_small == small.counters() &&
                      counted_large == large.counters();
    const unsigned wrong = me.wrong(kBytes);
    std::printf("restored, it took %.0f ns, %u bytes wrong: %s\n", again.to_seconds() * 1e9, wrong,
                same ? "the same time, the same counters" : "something differs");

    // A checkpoint of the one card is none of the other.
    good = good && same && wrong == 0 && me.refused == 0 && !restore(small, "large.checkpoint");
  });
  copier.to_small.bind(small.from_device(0));
  copier.to_large.bind(large.from_device(0));
  // In the place of shader cores: the sockets in front of the L1 caches want somebody.
  warpline::IdleInitiator beside_small("beside_small", small.from_sm(0)),
      beside_large("beside_large", large.from_sm(0));
  sc_core::sc_start();
  return good ? 0 : 1;
}
