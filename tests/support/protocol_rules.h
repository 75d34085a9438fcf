#pragma once

#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>
#include <unordered_map>
#include <vector>

#include "tests/support/payload_snapshot.h"

namespace warpline::test {

/// The base protocol of TLM-2.0 (IEEE 1666-2011, clauses 11, 14 and 15) on one hop: is told what is sent, and
/// collects what breaks a rule. ProtocolChecker lists the rules.
class ProtocolRules {
 public:
  using Payload = tlm::tlm_generic_payload;
  enum class Way : std::uint8_t { forward, backward };
  enum class Stage : std::uint8_t { request, waiting, response, finished };
  /// Something that was sent: a phase, or a return value without one.
  struct Event {
    const Payload& payload;
    tlm::tlm_phase phase;
    sc_core::sc_time at;          ///< effective time
    const char* value = nullptr;  ///< TLM_ACCEPTED or TLM_COMPLETED; null: the phase
  };
  /// Which use of a payload is the latest, and how far it is.
  struct Progress {
    std::uint64_t number = 0;  ///< counts BEGIN_REQs from 1; 0: never used
    Stage stage = Stage::finished;
  };
  /// What was seen. Phases count once, sent by a call or returned.
  struct Counts {
    std::uint64_t begin_req = 0;
    std::uint64_t end_req = 0;  ///< explicit ones
    std::uint64_t begin_resp = 0;
    std::uint64_t end_resp = 0;   ///< explicit ones
    std::uint64_t completed = 0;  ///< transactions finished by TLM_COMPLETED
  };

  /// `name`: begins each sentence.
  explicit ProtocolRules(std::string name) : name_(std::move(name)) {}

  /// An interconnect below may overwrite the address on the way to the target (clause 14.7): until the
  /// response begins, that is no violation.
  void let_address_change() { address_may_change_ = true; }
  /// A phase, by a call or returned with TLM_UPDATED.
  void sent(const Event& e, Way way, bool returned);
  /// TLM_ACCEPTED. `untouched`: phase and delay.
  void accepted(const Event& e, bool untouched);
  /// TLM_COMPLETED. `way`: of the call that was answered.
  void completed(const Event& e, Way way);
  /// A transaction in flight needs a reference beside the `own` ones of whoever looks.
  void check_reference(const Event& e, int own);
  /// Transactions in flight become violations, oldest first.
  void finish();

  [[nodiscard]] Progress progress(const Payload& payload) const;
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  [[nodiscard]] std::uint64_t violation_count() const { return violation_count_; }
  void report(const Event& e, const std::string& what);

  static constexpr std::size_t kMostViolations = 100;

 private:
  struct Transaction {
    Progress progress;
    sc_core::sc_time last;                                           ///< when its latest phase took effect
    tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;  ///< from the response on
    PayloadSnapshot snapshot;
  };
  /// One of the two phases that the transactions of a socket have one after the other.
  struct Channel {
    explicit Channel(const char* n) : name(n) {}
    const char* name;
    const Transaction* open = nullptr;  ///< nobody knows yet when it ends
    sc_core::sc_time begun;             ///< the latest BEGIN
    sc_core::sc_time free;              ///< when the last known end takes effect
  };

  void begin_request(const Event& e);
  void check_fresh(const Event& e);
  void follow(const Event& e, PayloadSnapshot::Depth depth);
  void begin_response(const Event& e, Transaction& t);
  void check_answered(const Event& e);
  void begin(Channel& channel, const Event& e, const Transaction& t);
  void end(Channel& channel, const Transaction& t, const sc_core::sc_time& at);
  void retire(Transaction& t, const sc_core::sc_time& at);
  void check_time(const Event& e, Transaction& t);
  void check_unchanged(const Event& e, Transaction& t, PayloadSnapshot::Depth depth);
  [[nodiscard]] Transaction* find(const Payload& payload);
  [[nodiscard]] static std::string describe(const Transaction& t);
  void report(const std::string& sentence);

  std::string name_;
  bool address_may_change_ = false;
  std::unordered_map<const Payload*, Transaction> transactions_;
  Channel request_{"request"}, response_{"response"};
  Counts counts_;
  std::vector<std::string> violations_;
  std::uint64_t violation_count_ = 0;
};

}  // namespace warpline::test
