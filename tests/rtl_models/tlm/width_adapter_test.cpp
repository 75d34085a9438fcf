// What one of two sockets of different widths is asked, told and answered, the other is, and nothing else.
#include "rtl_models/tlm/width_adapter.h"

#include <gtest/gtest.h>

#include <memory>

#include "rtl_models/base/random.h"
#include "tests/rtl_models/tlm/foreign_netlists.h"

namespace warpline::test {
namespace width_adapter_test {

using Payload = tlm::tlm_generic_payload;

/// A call as it is made, or arrives.
struct Call {
  std::string function;
  const Payload* payload = nullptr;
  unsigned phase = 0;
  sc_core::sc_time delay{};
  std::uint64_t first = 0, last = 0;
  bool operator==(const Call& o) const {
    return function == o.function && payload == o.payload && phase == o.phase && delay == o.delay &&
           first == o.first && last == o.last;
  }
};
std::ostream& operator<<(std::ostream& to, const Call& c) {
  return to << c.function << " phase " << c.phase << " delay " << c.delay << " of " << c.payload;
}

/// One of the base protocol's phases.
tlm::tlm_phase any_phase(Random& random) {
  return static_cast<tlm::tlm_phase_enum>(1 + random.below(4));
}

/// What the called side does: it notes the call, and changes all that it may.
struct Answerer {
  std::vector<Call> heard;
  tlm::tlm_sync_enum status = tlm::TLM_ACCEPTED;
  tlm::tlm_phase phase;
  sc_core::sc_time delay;
  tlm::tlm_dmi dmi;
  bool granted = false;
  unsigned bytes = 0;

  tlm::tlm_sync_enum nb(const char* function, Payload& p, tlm::tlm_phase& its_phase,
                        sc_core::sc_time& its_delay) {
    heard.push_back({function, &p, its_phase, its_delay});
    its_phase = phase;
    its_delay = delay;
    return status;
  }
};

template <unsigned kWidth>
struct Initiator final : sc_core::sc_module, Answerer, private tlm::tlm_bw_transport_if<> {
  explicit Initiator(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  }
  tlm::tlm_initiator_socket<kWidth> socket{"socket"};

 private:
  tlm::tlm_sync_enum nb_transport_bw(Payload& p, tlm::tlm_phase& its, sc_core::sc_time& t) override {
    return nb("nb_transport_bw", p, its, t);
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
    heard.push_back({"invalidate", nullptr, 0, {}, first, last});
  }
};

template <unsigned kWidth>
struct Target final : sc_core::sc_module, Answerer, private tlm::tlm_fw_transport_if<> {
  explicit Target(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  }
  tlm::tlm_target_socket<kWidth> socket{"socket"};

 private:
  tlm::tlm_sync_enum nb_transport_fw(Payload& p, tlm::tlm_phase& its, sc_core::sc_time& t) override {
    return nb("nb_transport_fw", p, its, t);
  }
  void b_transport(Payload& p, sc_core::sc_time& t) override {
    heard.push_back({"b_transport", &p, 0, t});
    t = delay;
    p.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  }
  unsigned transport_dbg(Payload& p) override {
    heard.push_back({"transport_dbg", &p});
    return bytes;
  }
  bool get_direct_mem_ptr(Payload& p, tlm::tlm_dmi& its) override {
    heard.push_back({"get_direct_mem_ptr", &p});
    its = dmi;
    return granted;
  }
};

/// Draws what may be drawn, makes every call, and compares.
template <unsigned kFrom, unsigned kTo>
struct Joined {
  Joined() {
    initiator.socket.bind(adapter.from_initiator);
    adapter.to_target.bind(target.socket);
  }
  void draw(Answerer& a, Random& random) {
    a.status = static_cast<tlm::tlm_sync_enum>(random.below(3));
    a.phase = any_phase(random);
    a.delay = sc_core::sc_time(static_cast<double>(random.below(1000)), sc_core::SC_PS);
    a.granted = random.below(2) == 0;
    a.bytes = static_cast<unsigned>(random.below(100));
    a.dmi.set_start_address(random.next());
    a.dmi.set_end_address(random.next());
    a.dmi.set_dmi_ptr(&byte);
    a.dmi.allow_read_write();
    a.dmi.set_read_latency(a.delay);
  }
  void expect_heard(const Answerer& a, const Call& call) {
    ++calls;
    ASSERT_EQ(heard(), calls);  // this call, once, on this side
    EXPECT_EQ(a.heard.back(), call);
  }
  [[nodiscard]] std::size_t heard() const { return initiator.heard.size() + target.heard.size(); }

  void run(Random& random) {
    for (unsigned n = 0; n < 200; ++n) {
      Payload payload;
      draw(target, random);
      draw(initiator, random);
      tlm::tlm_phase phase = any_phase(random);
      auto delay = sc_core::sc_time(static_cast<double>(random.below(1000)), sc_core::SC_PS);
      Call call{{}, &payload, phase, delay};
      switch (random.below(6)) {
        case 0:
        case 1: {
          const bool forward = random.below(2) == 0;
          call.function = forward ? "nb_transport_fw" : "nb_transport_bw";
          Answerer& called = forward ? static_cast<Answerer&>(target) : initiator;
          const auto status = forward ? initiator.socket->nb_transport_fw(payload, phase, delay)
                                      : target.socket->nb_transport_bw(payload, phase, delay);
          expect_heard(called, call);
          EXPECT_EQ(status, called.status);
          EXPECT_EQ(phase, called.phase);
          EXPECT_EQ(delay, called.delay);
          break;
        }
        case 2:
          call.function = "b_transport";
          call.phase = 0;
          initiator.socket->b_transport(payload, delay);
          expect_heard(target, call);
          EXPECT_EQ(delay, target.delay);
          EXPECT_EQ(payload.get_response_status(), tlm::TLM_BURST_ERROR_RESPONSE);
          break;
        case 3:
          EXPECT_EQ(initiator.socket->transport_dbg(payload), target.bytes);
          expect_heard(target, {"transport_dbg", &payload});
          break;
        case 4: {
          tlm::tlm_dmi dmi;
          EXPECT_EQ(initiator.socket->get_direct_mem_ptr(payload, dmi), target.granted);
          expect_heard(target, {"get_direct_mem_ptr", &payload});
          EXPECT_EQ(dmi.get_start_address(), target.dmi.get_start_address());
          EXPECT_EQ(dmi.get_end_address(), target.dmi.get_end_address());
          EXPECT_EQ(dmi.get_dmi_ptr(), &byte);
          EXPECT_TRUE(dmi.is_read_write_allowed());
          EXPECT_EQ(dmi.get_read_latency(), target.delay);
          break;
        }
        default: {
          const std::uint64_t first = random.next(), last = random.next();
          target.socket->invalidate_direct_mem_ptr(first, last);
          expect_heard(initiator, {"invalidate", nullptr, 0, {}, first, last});
        }
      }
    }
  }
  Initiator<kFrom> initiator{sc_core::sc_gen_unique_name("initiator")};
  WidthAdapter<kFrom, kTo> adapter{sc_core::sc_gen_unique_name("adapter")};
  Target<kTo> target{sc_core::sc_gen_unique_name("target")};
  std::size_t calls = 0;
  unsigned char byte = 0;
};

TEST(WidthAdapter, EveryCallAndAnswerPassesAsItIs) {
  Joined<32, 256> widens;
  Joined<256, 32> narrows;
  Joined<64, 128> between;
  Joined<128, 64> back;
  Joined<256, 512> beyond;
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  Random random(5);
  widens.run(random);
  narrows.run(random);
  between.run(random);
  back.run(random);
  beyond.run(random);
}

/// The same accesses to the same L2, over 32 bits and at once: each is answered alike, in the same time.
TEST(WidthAdapter, AddsNoTimeAndChangesNoByte) {
  struct Way {
    Way(const std::string& name, bool narrow)
        : engine(text(name, "_engine").c_str(), 987),
          initiator(text(name, "_initiator").c_str(), legal_accesses(), {}),
          l2(text(name, "_l2").c_str(), engine, {}, L2Parameters{1, {16, 4}, 8}, &vidmem, 1),
          dram(text(name, "_dram").c_str(), engine, {}, {}, 1),
          pcie(text(name, "_pcie").c_str(), engine, {}, {}, &sysmem, 1) {
      if (narrow) {
        in = std::make_unique<WidthAdapter<256, 32>>(text(name, "_in").c_str());
        out = std::make_unique<WidthAdapter<32, 256>>(text(name, "_out").c_str());
        initiator.socket.bind(in->from_initiator);
        in->to_target.bind(out->from_initiator);
        bind_checked(out->to_target, l2.from_crossbar);
      } else {
        bind_checked(initiator.socket, l2.from_crossbar);
      }
      l2.to_dram[0].bind(dram.from_l2[0]);
      l2.to_pcie.bind(pcie.from_l2[0]);
    }
    MemoryImage vidmem{kMemory}, sysmem{kMemory};
    EngineProcess engine;
    ForeignInitiator initiator;
    L2SliceModule l2;
    DramModule dram;
    PcieModule pcie;
    std::unique_ptr<WidthAdapter<256, 32>> in;
    std::unique_ptr<WidthAdapter<32, 256>> out;
  };
  Way wide("wide", false), narrow("narrow", true);
  std::size_t steps = 0;
  const std::size_t all = wide.initiator.accesses.size();
  while (wide.initiator.freed < all || narrow.initiator.freed < all) {
    ASSERT_EQ(wide.initiator.freed, narrow.initiator.freed) << sc_core::sc_time_stamp();
    ASSERT_LT(++steps, 100'000U);
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_NS));
  }
  EXPECT_EQ(wide.initiator.freed, narrow.initiator.freed);
  for (std::size_t i = 0; i < all; ++i) {
    EXPECT_EQ(narrow.initiator.accesses[i].status, tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(narrow.initiator.accesses[i].data, wide.initiator.accesses[i].data);
  }
}

}  // namespace width_adapter_test
}  // namespace warpline::test
