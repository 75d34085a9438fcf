#pragma once

#include <cstdint>
#include <optional>

#include "rtl_models/base/random.h"
#include "rtl_models/sim/arbiter.h"
#include "rtl_models/sim/cluster_address.h"
#include "rtl_models/sim/request.h"
#include "rtl_models/sm_network/sm_network_parameters.h"

namespace warpline {

/// What passed through the network. At quiescence requests equals responses.
struct SmNetworkCounters {
  std::uint64_t requests = 0, responses = 0, signals = 0, refused = 0;
  std::uint64_t beats = 0, conflicts = 0;

  template <class F>
  void visit(F&& f) const {
    f("requests", requests, "requests", "taken from SMs");
    f("signals", signals, "requests", "of them, of the barriers of clusters");
    f("refused", refused, "requests", "of them, for an SM of another GPC or none: answered with an error");
    f("responses", responses, "responses", "given to SMs");
    f("beats", beats, "beats", "sent to shared memories and back");
    f("conflicts", conflicts, "turns", "that a waiting message lost to another for the same output");
  }
};

/// What the network between SMs does, without time: where the first request of each SM goes, whose turn it is
/// at each SM's shared memory and at each SM that waits for answers, and what is counted. An input asks for
/// one output at a time; turns pass round robin, on grants only.
class SmNetworkCore {
 public:
  SmNetworkCore(unsigned sms, const GpcShape& shape, SmNetworkWidths widths)
      : sms_(sms), shape_(shape), widths_(widths), requests_(sms, sms), responses_(sms, sms + 1) {}

  /// Where the answers wait that the network makes itself, beside those of the SMs' shared memories.
  [[nodiscard]] unsigned refusals() const { return sms_; }
  /// The SM whose shared memory, or barrier, `r` of SM `from` is for; nothing: it is none, or lies in another
  /// GPC.
  [[nodiscard]] std::optional<unsigned> destination(const Request& r, unsigned from) const {
    const unsigned sm = ClusterAddress::of(r.line).sm;
    if (sm >= sms_ || shape_.gpc_of(sm) != shape_.gpc_of(from)) return std::nullopt;
    return sm;
  }
  /// Outputs: shared memories; inputs: SMs that access them.
  [[nodiscard]] Arbiter& requests() { return requests_; }
  [[nodiscard]] const Arbiter& requests() const { return requests_; }
  /// Outputs: SMs that wait for answers; inputs: shared memories, and last refusals().
  [[nodiscard]] Arbiter& responses() { return responses_; }
  [[nodiscard]] const Arbiter& responses() const { return responses_; }

  /// The request whose turn it is for the shared memory of `sm` goes there. Returns whose it was. Pre: one
  /// asks.
  [[nodiscard]] unsigned grant_request(unsigned sm) { return grant(requests_, sm); }
  /// The same of answers to `sm`.
  [[nodiscard]] unsigned grant_response(unsigned sm) { return grant(responses_, sm); }
  /// A request has been taken from its SM.
  void count_request(Request& r) {
    ++counters_.requests;
    counters_.signals += ClusterAddress::of(r.line).signal != ClusterAddress::Signal::none;
    counters_.beats += RequestMessage{&r}.beats(widths_.request);
  }
  void count_refusal(Request& r) {
    ++counters_.requests;
    ++counters_.refused;
    counters_.signals += ClusterAddress::of(r.line).signal != ClusterAddress::Signal::none;
  }
  /// An answer has been given to its SM.
  void count_response(Request& r) {
    ++counters_.responses;
    counters_.beats += ResponseMessage{&r}.beats(widths_.response);
  }
  [[nodiscard]] const SmNetworkCounters& counters() const { return counters_; }

  void restart() {
    requests_.restart();
    responses_.restart();
  }
  void draw_turns(Random& random) {
    requests_.draw_turns(random);
    responses_.draw_turns(random);
  }
  template <class Archive>
  void archive(Archive& a) {
    // Pre: nobody asks.
    a(requests_, responses_, counters_);
  }

 private:
  [[nodiscard]] unsigned grant(Arbiter& arbiter, unsigned output) {
    const unsigned input = arbiter.choose(output);
    arbiter.grant(output, input);
    counters_.conflicts += arbiter.asking(output);
    return input;
  }

  unsigned sms_;
  GpcShape shape_;
  SmNetworkWidths widths_;
  Arbiter requests_, responses_;
  SmNetworkCounters counters_;
};

}  // namespace warpline
