// On wires every beat can be seen: the naive model predicts which beat of which message is taken in which
// cycle, and when `ready` is high again, on every hop of random machines all of whose hops are pins.
#include <gtest/gtest.h>

#include "rtl_models/tlm/pins/pins.h"
#include "tests/equivalence/differences.h"
#include "tests/equivalence/mesh.h"
#include "tests/equivalence/naive_mesh.h"
#include "tests/rtl_models/tlm/pins/pin_hardware.h"
#include "tests/rtl_models/tlm/pins/pin_log.h"

namespace warpline::test {
namespace pin_naive_test {

/// Makes hops of wires and watches them.
class PinnedHops final : public HopMaker {
 public:
  explicit PinnedHops(EngineProcess& engine) : engine_(engine) {}
  void hop(Out<RequestMessage>& request_out, In<RequestMessage>& request_in, const ChannelParameters& request,
           Out<ResponseMessage>& response_out, In<ResponseMessage>& response_in,
           const ChannelParameters& response) override {
    const char* name = sc_core::sc_gen_unique_name("pins");
    const PinHop::Ports ports{request_out, request_in, response_out, response_in, {request, response}};
    Hop& h = hops_.emplace_back();
    h.pins = std::make_unique<PinHop>(name, engine_, name, ports);
    h.down = std::make_unique<PinLog>(sc_core::sc_gen_unique_name("down"), engine_, h.pins->near().request);
    h.up = std::make_unique<PinLog>(sc_core::sc_gen_unique_name("up"), engine_, h.pins->near().response);
    h.requester = request_out.owner().domain();
    h.responder = response_out.owner().domain();
  }

  [[nodiscard]] std::vector<std::string> seen() const {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < hops_.size(); ++i) {
      describe(i, "down", hops_[i].down->entries, lines);
      describe(i, "up", hops_[i].up->entries, lines);
    }
    return lines;
  }
  [[nodiscard]] std::vector<std::string> predicted(const NaiveMesh& naive) const {
    std::vector<std::string> lines;
    for (unsigned i = 0; i < hops_.size(); ++i) {
      describe(i, "down", naive.logs(i).down, hops_[i].requester, lines);
      describe(i, "up", naive.logs(i).up, hops_[i].responder, lines);
    }
    return lines;
  }

 private:
  struct Hop {
    std::unique_ptr<PinHop> pins;
    std::unique_ptr<PinLog> down, up;
    ClockDomain requester, responder;
  };
  static std::string beat(std::size_t hop, const char* way, std::uint64_t message, std::size_t number,
                          Cycle at) {
    return "hop " + std::to_string(hop) + " " + way + ": beat " + std::to_string(number) + " of message " +
           std::to_string(message) + " at " + std::to_string(at);
  }
  static std::string free(std::size_t hop, const char* way, Cycle at) {
    return "hop " + std::to_string(hop) + " " + way + ": ready for a next message at " + std::to_string(at);
  }
  /// What the wires said at each edge. When a channel is ready again after its last message of all is left
  /// out: the clock may stand by then.
  static void describe(std::size_t hop, const char* way, const std::vector<PinLog::Entry>& entries,
                       std::vector<std::string>& lines) {
    std::string ready;  // not yet followed by a message
    bool awaited = false;
    for (const PinLog::Entry& e : entries) {
      if (awaited && e.ready) {
        ready = free(hop, way, e.cycle);
        awaited = false;
      }
      if (!e.valid || !e.ready) continue;
      if (!ready.empty()) lines.push_back(ready);
      ready.clear();
      lines.push_back(beat(hop, way, e.origin, e.beat, e.cycle));
      awaited = e.last;
    }
  }
  static void describe(std::size_t hop, const char* way, const ChannelLog& log, const ClockDomain& sender,
                       std::vector<std::string>& lines) {
    for (std::size_t i = 0; i < log.size(); ++i) {
      for (std::size_t n = 0; n < log[i].beats.size(); ++n)
        lines.push_back(beat(hop, way, log[i].id, n, log[i].beats[n]));
      if (i + 1 < log.size()) lines.push_back(free(hop, way, sender.align(log[i].end)));
    }
  }
  EngineProcess& engine_;
  std::vector<Hop> hops_;
};

/// One machine in SystemC.
struct Pinned {
  Pinned(const MeshShape& shape, TickMode mode, std::uint64_t seed)
      : module(sc_core::sc_gen_unique_name("engine"), 1000, HopTransport::direct, mode, seed),
        hops(module),
        mesh(shape, module.engine(), hops, parts) {}
  EngineProcess module;
  MeshParts parts;
  PinnedHops hops;
  Mesh mesh;
};

TEST(PinNaive, EveryBeatIsOnTheWiresInItsCycle) {
  constexpr std::uint64_t kSeeds = 60;
  constexpr TickMode kModes[] = {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled};
  const auto mode = [&kModes](std::uint64_t seed) { return kModes[seed % std::size(kModes)]; };
  std::vector<std::unique_ptr<Pinned>> runs;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed)
    runs.push_back(std::make_unique<Pinned>(MeshShape(seed, MeshShape::Form::crossbar), mode(seed), seed));
  sc_core::sc_start();
  std::size_t beats = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const MeshShape shape(seed, MeshShape::Form::crossbar);
    NaiveMesh naive(shape);
    naive.run(2000000);
    const Pinned& run = *runs[seed];
    EXPECT_EQ(runs[seed]->module.outcome(), RunOutcome::quiescent);
    const std::vector<std::string> seen = run.hops.seen();
    beats += seen.size();
    EXPECT_EQ(differences(run.hops.predicted(naive), seen), std::vector<std::string>{});
    EXPECT_EQ(differences(naive.answers(), run.mesh.answers()), std::vector<std::string>{});
  }
  EXPECT_GT(beats, 40000U) << "beats and ready compared";
}

}  // namespace pin_naive_test
}  // namespace warpline::test
