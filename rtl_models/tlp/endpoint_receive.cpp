// What a function does with packets that arrive.
#include <algorithm>

#include "warpline/base/contract.h"
#include "warpline/tlp/endpoint_core.h"
#include "warpline/tlp/tlp_rules.h"

namespace warpline {
namespace {

// Bits of the status register (ConfigSpace::report_status).
constexpr std::uint16_t kMasterDataParity = 1U << 8U, kSentAbort = 1U << 11U, kReceivedAbort = 1U << 12U,
                        kReceivedUnsupported = 1U << 13U, kDetectedParity = 1U << 15U;
/// Longest of any read (PCI Express, memory requests).
constexpr unsigned kLongestRead = 4096;

}  // namespace

bool EndpointCore::receive(Tlp* tlp, BarRequest& request) {
  // Loosely timed, what was read comes in one piece, whatever the link allows.
  const unsigned most = tlp->kind == TlpKind::completion ? kLongestRead : parameters_.max_payload;
  if (!malformation(*tlp, most, kLongestRead).empty()) {
    drop(tlp, counters_.malformed, ConfigSpace::kFatal);
    return false;
  }
  switch (tlp->kind) {
    case TlpKind::completion: receive_completion(tlp); return false;
    case TlpKind::config_read:
    case TlpKind::config_write: receive_configuration(tlp); return false;
    case TlpKind::memory_read:
    case TlpKind::memory_write:
    case TlpKind::fetch_add:
    case TlpKind::swap:
    case TlpKind::compare_and_swap: return receive_request(tlp, request);
  }
  return false;
}

void EndpointCore::drop(Tlp* tlp, std::uint64_t& counter, std::uint16_t error_bits) {
  ++counter;
  config_.report(error_bits);
  pool_.release(tlp);
}

/// What is answered is for the requester to report, so here it counts as correctable only.
void EndpointCore::refuse(Tlp* tlp) {
  constexpr std::uint16_t kUnsupported = ConfigSpace::kUnsupportedRequest;
  if (tlp->posted()) {
    drop(tlp, counters_.unsupported, kUnsupported | ConfigSpace::kNonFatal);
    return;
  }
  ++counters_.unsupported;
  config_.report(kUnsupported | ConfigSpace::kCorrectable);
  complete(tlp, CompletionStatus::unsupported_request, nullptr);
}

/// PCI Express calls both an abort by the completer; nobody else hears of a posted one.
void EndpointCore::abort(Tlp* tlp) {
  if (!tlp->posted()) return complete(tlp, CompletionStatus::completer_abort, nullptr);
  config_.report_status(kSentAbort);
  drop(tlp, counters_.aborted, ConfigSpace::kNonFatal);
}

void EndpointCore::report_poison() {
  ++counters_.poisoned;
  config_.report(ConfigSpace::kNonFatal);
  config_.report_status(kDetectedParity);
}

bool EndpointCore::receive_request(Tlp* tlp, BarRequest& request) {
  const auto hit = config_.decode(tlp->address, tlp->bytes);
  if (!hit) {
    refuse(tlp);
    return false;
  }
  ++counters_.requests;
  if (tlp->poisoned && tlp->payload() != 0) {
    report_poison();
    if (tlp->posted()) {
      pool_.release(tlp);
    } else {
      complete(tlp, CompletionStatus::unsupported_request, nullptr);
    }
    return false;
  }
  request = {*hit, tlp};
  return true;
}

void EndpointCore::receive_configuration(Tlp* tlp) {
  if (tlp->completer != id_) {
    refuse(tlp);
    return;
  }
  ++counters_.configurations;
  if (tlp->poisoned && tlp->payload() != 0) {
    report_poison();
    complete(tlp, CompletionStatus::unsupported_request, nullptr);
    return;
  }
  access_configuration(tlp);
}

void EndpointCore::access_configuration(Tlp* tlp) {
  const auto offset = static_cast<unsigned>(tlp->address), lane = offset % 4;
  std::array<std::uint8_t, 4> bytes{};
  if (tlp->kind == TlpKind::config_read) {
    const std::uint32_t value = config_.read(offset - lane);
    for (unsigned i = 0; i < tlp->bytes; ++i) bytes[i] = static_cast<std::uint8_t>(value >> 8 * (lane + i));
  } else {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < tlp->bytes; ++i) value |= std::uint32_t{tlp->data[i]} << 8 * (lane + i);
    const bool asleep = config_.power_state() == PowerState::d3hot;
    config_.write(offset - lane, value, ((1U << tlp->bytes) - 1) << lane);
    if (asleep && config_.power_state() == PowerState::d0) forget_requests();
  }
  complete(tlp, CompletionStatus::successful, bytes.data());
}

void EndpointCore::complete(Tlp* request, CompletionStatus status, const std::uint8_t* data) {
  WARPLINE_EXPECT(class_of(request->kind) == TlpClass::non_posted, "a request that wants an answer gets one");
  const bool answers = status == CompletionStatus::successful && request->kind != TlpKind::config_write;
  const std::uint32_t bytes = answers ? request->bytes : 0;
  if (status == CompletionStatus::completer_abort) {
    ++counters_.aborted;
    config_.report_status(kSentAbort);
    config_.report(ConfigSpace::kCorrectable);
  }
  std::uint32_t remaining = status == CompletionStatus::successful ? bytes : request->bytes;
  for (const TlpPart& part :
       split_completion(request->address, bytes, max_payload(), parameters_.completion_boundary)) {
    Tlp* tlp = make(TlpKind::completion, part.address, part.bytes);
    tlp->status = status;
    tlp->relaxed_ordering = request->relaxed_ordering;
    tlp->no_snoop = request->no_snoop;
    tlp->requester = request->requester;
    tlp->completer = id_;
    tlp->tag = request->tag;
    tlp->epoch = request->epoch;
    tlp->remaining = remaining;
    if (part.bytes != 0) {
      const std::uint8_t* from = data + (part.address - request->address);
      tlp->data.assign(from, from + part.bytes);
    }
    remaining -= part.bytes;
  }
  pool_.release(request);
}

void EndpointCore::receive_completion(Tlp* tlp) {
  using State = Outstanding::State;
  const bool known =
      tlp->requester == id_ && tlp->tag < outstanding_.size() && outstanding_[tlp->tag].state != State::free;
  const bool successful = tlp->status == CompletionStatus::successful;
  Outstanding* const o = known ? &outstanding_[tlp->tag] : nullptr;
  // The next byte of the read, or the answer to a flush, and nothing else.
  const bool fits =
      known && (!successful || (brings_next(*tlp, o->address, o->left) && (tlp->bytes != 0 || o->left == 0)));
  if (!fits || o->state == State::given_up) {
    if (fits) accept(*o, *tlp);
    drop(tlp, counters_.unexpected, ConfigSpace::kCorrectable);
    return;
  }
  if (tlp->status == CompletionStatus::unsupported_request) {
    config_.report_status(kReceivedUnsupported);
  } else if (tlp->status == CompletionStatus::completer_abort) {
    config_.report_status(kReceivedAbort);
  } else if (tlp->poisoned && tlp->payload() != 0) {
    report_poison();
    if (config_.parity_response()) config_.report_status(kMasterDataParity);
  }
  accept(*o, *tlp);
  pool_.release(tlp);
}

/// Takes a completion of the request that has the tag, which may have been given up.
void EndpointCore::accept(Outstanding& o, const Tlp& tlp) {
  const bool last = tlp.status != CompletionStatus::successful || tlp.bytes == o.left;
  if (o.state == Outstanding::State::given_up) {
    if (last) {
      o.state = Outstanding::State::free;
      free_tags_.push_back(tlp.tag);
    }
  } else if (tlp.status == CompletionStatus::unsupported_request) {
    end(o, ReadEnd::unsupported_request, true);
  } else if (tlp.status == CompletionStatus::completer_abort) {
    end(o, ReadEnd::completer_abort, true);
  } else if (tlp.poisoned && tlp.payload() != 0) {
    end(o, ReadEnd::poisoned, last);
  } else {
    parts_.push_back({o.cookie, o.address, tlp.data, ReadEnd::done, last});
    if (last) end(o, ReadEnd::done, true);
  }
  o.address += tlp.bytes;
  o.left -= tlp.bytes;
}

/// The request is over; if not because all has come, a part says why. `tag_free`: no completion of it can
/// come any more.
void EndpointCore::end(Outstanding& o, ReadEnd outcome, bool tag_free) {
  if (outcome != ReadEnd::done) parts_.push_back({o.cookie, o.address, {}, outcome, true});
  o.state = tag_free ? Outstanding::State::free : Outstanding::State::given_up;
  if (tag_free) free_tags_.push_back(static_cast<std::uint16_t>(&o - outstanding_.data()));
  --in_flight_;
  config_.show_pending(in_flight_ != 0);
  // Only one under way may be first, as it says when the next is given up.
  while (!by_age_.empty()) {
    const Outstanding& first = outstanding_[by_age_.front().tag];
    if (first.state == Outstanding::State::under_way && first.number == by_age_.front().number) break;
    by_age_.pop_front();
  }
}

}  // namespace warpline
