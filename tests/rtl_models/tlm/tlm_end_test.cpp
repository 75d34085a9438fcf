// An END exactly at a tick: it counts for the next cycle, whether it is heard before or after that tick.
#include <gtest/gtest.h>

#include <set>

#include "rtl_models/sim/receiving_port.h"
#include "rtl_models/tlm/engine_process.h"
#include "rtl_models/tlm/sockets.h"
#include "tests/support/checked_binding.h"

namespace warpline::test {
namespace tlm_end_test {

/// Sends `count` requests, each as early as it may, and notes its ticks: one in every cycle until then.
class Sender final : public Component {
 public:
  Sender(Engine& engine, std::string name, unsigned count)
      : Component(engine, std::move(name)), count_(count) {
    wake(0);
  }
  Cycle tick(Cycle now) override {
    ticks.push_back(now);
    while (in.ready(now)) engine().pool().release(in.pop(now).request);
    if (sent.size() == count_) return kNever;
    if (!out.ready(now)) return now + 1;
    Request* r = engine().pool().allocate();
    r->command = Command::read;
    r->line = PhysicalAddress{0};
    r->sectors = 1;
    out.send(now, {r});
    sent.push_back(now);
    return now + 1;
  }
  [[nodiscard]] bool busy() const override { return sent.size() != count_; }
  void explain(std::vector<Wait>& waits) const override { waits.push_back({name(), "its channel"}); }
  Out<RequestMessage> out{*this, "out"};
  In<ResponseMessage> in{*this, "in"};
  std::vector<Cycle> sent, ticks;

 private:
  unsigned count_;
};

/// A target that ends each request exactly at the tick three cycles later, and answers it a microsecond
/// later.
class EndsAtTicks final : public sc_core::sc_module, private tlm::tlm_fw_transport_if<> {
 public:
  enum class How { announced, delta_after };
  EndsAtTicks(const sc_core::sc_module_name& name, How how) : sc_module(name), how_(how) {
    socket.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
    SC_HAS_PROCESS(EndsAtTicks);
    SC_THREAD(end);
    SC_THREAD(answer);
  }
  tlm::tlm_target_socket<256> socket{"socket"};

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;
    waiting_.push_back(&p);
    answer_.notify(sc_core::sc_time(1, sc_core::SC_US));
    const sc_core::sc_time later(3, sc_core::SC_NS);
    if (how_ == How::announced) {
      delay += later;
      phase = tlm::END_REQ;
      return tlm::TLM_UPDATED;
    }
    unended_ = &p;
    end_.notify(later);
    return tlm::TLM_ACCEPTED;
  }
  void end() {
    for (;;) {
      wait(end_);
      for (unsigned delta = 0; delta < 5; ++delta) wait(sc_core::SC_ZERO_TIME);  // the engine has ticked
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_core::sc_time delay;
      static_cast<void>(socket->nb_transport_bw(*unended_, phase, delay));
    }
  }
  void answer() {
    for (;;) {
      wait(answer_);
      for (; !waiting_.empty(); waiting_.erase(waiting_.begin())) {
        waiting_.front()->set_response_status(tlm::TLM_OK_RESPONSE);
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay;
        static_cast<void>(socket->nb_transport_bw(*waiting_.front(), phase, delay));
        wait(sc_core::sc_time(100, sc_core::SC_NS));
      }
    }
  }
  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override {}
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }

  How how_;
  tlm::tlm_generic_payload* unended_ = nullptr;
  std::vector<tlm::tlm_generic_payload*> waiting_;
  sc_core::sc_event end_, answer_;
};

struct Bench final : sc_core::sc_module {
  Bench(const sc_core::sc_module_name& name, EndsAtTicks::How how)
      : sc_module(name),
        engine("engine", 1000),
        sender(engine.engine(), "sender", 5),
        socket("socket", engine, sender.out, sender.in),
        target("target", how) {
    bind_checked(socket, target.socket);
  }
  EngineProcess engine;
  Sender sender;
  InitiatorSocket socket;
  EndsAtTicks target;
};

TEST(SocketEnds, AtATickCountForTheNextCycleInEitherOrder) {
  Bench before("before", EndsAtTicks::How::announced), after("after", EndsAtTicks::How::delta_after);
  sc_core::sc_start();
  const std::vector<Cycle> expected = {0, 4, 8, 12, 16};
  for (const Bench* b : {&before, &after}) {
    SCOPED_TRACE(b->name());
    EXPECT_EQ(b->sender.sent, expected);
    const std::set<Cycle> different(b->sender.ticks.begin(), b->sender.ticks.end());
    EXPECT_EQ(different.size(), b->sender.ticks.size()) << "a component ticked twice in a cycle";
  }
}

}  // namespace tlm_end_test
}  // namespace warpline::test
