#include "tests/support/protocol_rules.h"

#include <algorithm>

namespace warpline::test {
namespace {
using Depth = PayloadSnapshot::Depth;
}  // namespace

void ProtocolRules::sent(const Event& e, Way way, bool returned) {
  const bool forward_phase = e.phase == tlm::BEGIN_REQ || e.phase == tlm::END_RESP;
  if (e.phase > tlm::END_RESP) return;  // ignorable
  if (e.phase == tlm::UNINITIALIZED_PHASE) {
    report(e, "is no phase to be sent");
  } else if (forward_phase != (way == Way::forward)) {
    report(e, forward_phase ? "was sent by the target" : "was sent by the initiator");
  } else if (e.phase != tlm::BEGIN_REQ) {
    // What an initiator returns may end the life of the payload, and its buffers with it.
    follow(e, forward_phase && returned ? Depth::attributes : Depth::contents);
  } else if (returned) {
    report(e, "was returned; a transaction begins with a call");
  } else {
    begin_request(e);
  }
}

void ProtocolRules::begin_request(const Event& e) {
  ++counts_.begin_req;
  Transaction& t = transactions_[&e.payload];
  if (t.progress.stage != Stage::finished) {
    report(e, "the payload is in flight already");
    retire(t, e.at);
  } else if (t.progress.number != 0 && sc_core::sc_time_stamp() < t.last) {
    report(e, "the payload is used again before the end of its last transaction takes effect at " +
                  t.last.to_string());
  }
  t.progress.number = counts_.begin_req;
  t.progress.stage = Stage::request;
  t.last = e.at;
  t.snapshot.take(e.payload);
  check_fresh(e);
  begin(request_, e, t);
}

void ProtocolRules::check_fresh(const Event& e) {
  const Payload& p = e.payload;
  if (!p.has_mm()) report(e, "the payload has no memory manager");
  if (p.get_data_ptr() == nullptr) report(e, "the data pointer is null");
  if (p.get_data_length() == 0) report(e, "the data length is 0");
  if (p.get_streaming_width() == 0) report(e, "the streaming width is 0");
  if (p.get_byte_enable_ptr() != nullptr && p.get_byte_enable_length() == 0)
    report(e, "there are byte enables, of length 0");
  if (p.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE)
    report(e, "the response status is " + p.get_response_string());
}

/// END_REQ, BEGIN_RESP, END_RESP.
void ProtocolRules::follow(const Event& e, Depth depth) {
  Transaction* t = find(e.payload);
  if (t == nullptr || t->progress.stage == Stage::finished) {
    report(e, t == nullptr ? "there was no BEGIN_REQ" : "the transaction has finished");
    return;
  }
  const bool before_response = t->progress.stage == Stage::request || t->progress.stage == Stage::waiting;
  if (e.phase == tlm::END_REQ) {
    if (t->progress.stage != Stage::request) return report(e, "the request has ended already");
    ++counts_.end_req;
    t->progress.stage = Stage::waiting;
    end(request_, *t, e.at);
  } else if (e.phase == tlm::BEGIN_RESP) {
    if (!before_response) return report(e, "the response has begun already");
    ++counts_.begin_resp;
  } else {
    if (before_response) return report(e, "the response has not begun");
    ++counts_.end_resp;
  }
  check_time(e, *t);
  check_unchanged(e, *t, depth);
  if (e.phase == tlm::BEGIN_RESP) begin_response(e, *t);
  if (e.phase == tlm::END_RESP) retire(*t, e.at);
}

void ProtocolRules::begin_response(const Event& e, Transaction& t) {
  end(request_, t, e.at);
  begin(response_, e, t);
  t.progress.stage = Stage::response;
  t.status = e.payload.get_response_status();
  check_answered(e);
  if (t.snapshot.is_read()) t.snapshot.take_data(e.payload);
}

void ProtocolRules::check_answered(const Event& e) {
  if (e.payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE)
    report(e, "the response status is still TLM_INCOMPLETE_RESPONSE");
}

void ProtocolRules::accepted(const Event& e, bool untouched) {
  if (!untouched) report(e, "the phase or the delay was changed");
  Transaction* t = find(e.payload);
  if (t == nullptr || t->progress.stage == Stage::finished) return;
  check_unchanged(e, *t, Depth::contents);
  if (e.phase == tlm::BEGIN_REQ && t->progress.stage == Stage::request &&
      e.payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE)
    report(e, "the response status was set");
}

void ProtocolRules::completed(const Event& e, Way way) {
  Transaction* t = find(e.payload);
  if (t == nullptr) return;  // has been reported
  check_time(e, *t);
  if (t->progress.stage == Stage::finished) return;
  ++counts_.completed;
  if (way == Way::backward) {
    if (t->progress.stage != Stage::response)
      report(e, "the initiator completed a transaction that has no response");
    check_unchanged(e, *t, Depth::attributes);
  } else {
    if (t->progress.stage == Stage::response)
      report(e, "the target completed a transaction after BEGIN_RESP");
    check_answered(e);
    check_unchanged(e, *t, Depth::contents);
  }
  retire(*t, e.at);
}

void ProtocolRules::begin(Channel& channel, const Event& e, const Transaction& t) {
  const std::string another = std::string("another ") + channel.name;
  if (channel.open != nullptr) {
    report(e, another + " has not ended");
  } else if (e.at < channel.begun) {
    report(e, another + " was begun for a later time, " + channel.begun.to_string());
  } else if (e.at < channel.free) {
    report(e, another + " ends later, at " + channel.free.to_string());
  }
  channel.open = &t;
  channel.begun = e.at;
}

void ProtocolRules::end(Channel& channel, const Transaction& t, const sc_core::sc_time& at) {
  if (channel.open != &t) return;
  channel.open = nullptr;
  channel.free = at;
}

void ProtocolRules::retire(Transaction& t, const sc_core::sc_time& at) {
  end(request_, t, at);
  end(response_, t, at);
  t.progress.stage = Stage::finished;
}

void ProtocolRules::check_time(const Event& e, Transaction& t) {
  if (e.at < t.last)
    report(e, "the transaction's phase before it takes effect later, at " + t.last.to_string());
  t.last = e.at;
}

void ProtocolRules::check_unchanged(const Event& e, Transaction& t, Depth depth) {
  if (address_may_change_ && t.progress.stage != Stage::response) t.snapshot.take_address(e.payload);
  const std::string changed = t.snapshot.difference(e.payload, depth);
  if (!changed.empty()) {
    report(e, "changed in flight: " + changed);
    t.snapshot.take(e.payload);  // said once
  }
  if (t.progress.stage == Stage::response && e.payload.get_response_status() != t.status) {
    report(e, "the response status was changed after BEGIN_RESP");
    t.status = e.payload.get_response_status();
  }
}

void ProtocolRules::check_reference(const Event& e, int own) {
  if (e.payload.has_mm() && e.payload.get_ref_count() <= own)
    report(e, "nobody holds a reference to the payload");
}

ProtocolRules::Progress ProtocolRules::progress(const Payload& payload) const {
  const auto found = transactions_.find(&payload);
  return found != transactions_.end() ? found->second.progress : Progress{};
}

ProtocolRules::Transaction* ProtocolRules::find(const Payload& payload) {
  const auto found = transactions_.find(&payload);
  return found != transactions_.end() ? &found->second : nullptr;
}

void ProtocolRules::finish() {
  std::vector<const Transaction*> left;
  for (const auto& [payload, t] : transactions_)
    if (t.progress.stage != Stage::finished) left.push_back(&t);
  std::sort(left.begin(), left.end(),
            [](const auto* a, const auto* b) { return a->progress.number < b->progress.number; });
  for (const Transaction* t : left) {
    const char* phase = t->progress.stage == Stage::request   ? "BEGIN_REQ"
                        : t->progress.stage == Stage::waiting ? "END_REQ"
                                                              : "BEGIN_RESP";
    report(name_ + ": transaction " + std::to_string(t->progress.number) + " (" + t->snapshot.describe() +
           ") was never finished: nothing came after its " + phase + " at " + t->last.to_string());
  }
}

std::string ProtocolRules::describe(const Transaction& t) {
  return "transaction " + std::to_string(t.progress.number) + " (" + t.snapshot.describe() + ")";
}

void ProtocolRules::report(const Event& e, const std::string& what) {
  std::string event = e.phase.get_name();
  if (e.value != nullptr) event = e.value + (" to " + event);
  const Transaction* t = find(e.payload);
  std::string whose = "an unknown payload";
  if (t != nullptr) whose = describe(*t);
  report(name_ + ": " + event + " of " + whose + " at " + e.at.to_string() + ": " + what);
}

void ProtocolRules::report(const std::string& sentence) {
  ++violation_count_;
  if (violations_.size() < kMostViolations) violations_.push_back(sentence);
}

}  // namespace warpline::test
