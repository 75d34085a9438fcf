#include "rtl_models/pcie/packets/endpoint_core.h"

#include <algorithm>

#include "rtl_models/base/contract.h"
#include "rtl_models/pcie/packets/tlp_rules.h"

namespace warpline {

namespace {

// Bits of the status register (ConfigSpace::report_status).
constexpr std::uint16_t kMasterDataParity = 1U << 8U, kSentAbort = 1U << 11U, kReceivedAbort = 1U << 12U,
                        kReceivedUnsupported = 1U << 13U, kDetectedParity = 1U << 15U;
/// Longest of any read (PCI Express, memory requests).
constexpr unsigned kLongestRead = 4096;

}  // namespace

EndpointCore::EndpointCore(TlpPool& pool, FunctionId id, const FunctionDescription& description,
                           const LinkParameters& parameters)
    : pool_(pool),
      id_(id),
      parameters_(parameters),
      config_(description),
      msix_(std::max(1U, description.vectors)),
      tags_(parameters, config_) {
  WARPLINE_EXPECT(parameters.problems("").empty(), "link parameters are checked before they are used");
}

unsigned EndpointCore::max_read_request() const {
  return std::min(parameters_.max_read_request, config_.max_read_request());
}

unsigned EndpointCore::max_payload() const {
  return std::min(parameters_.max_payload, config_.max_payload());
}

Tlp* EndpointCore::make_write(std::uint64_t address, std::uint32_t bytes) {
  Tlp* const tlp = pool_.allocate(TlpKind::memory_write, address, bytes);
  tlp->requester = id_;
  outgoing_.push_back(tlp);
  return tlp;
}

void EndpointCore::request(Tlp* tlp, Cycle now) {
  WARPLINE_EXPECT(may_read(), "a function asks when it may");
  WARPLINE_EXPECT(malformation(*tlp, max_payload(), max_read_request()).empty(),
                  "a request is one well-formed packet");
  const bool reads = tlp->kind == TlpKind::memory_read;
  tlp->requester = id_;
  if (reads) tlp->no_snoop = no_snoop();
  tags_.give(*tlp, now);
  config_.show_pending(true);
  outgoing_.push_back(tlp);
  ++(reads ? counters_.reads : counters_.atomics);
}

void EndpointCore::fetch_add(std::uint32_t cookie, std::uint64_t address, std::uint32_t bytes,
                             std::uint64_t operand, Cycle now) {
  WARPLINE_EXPECT(bytes == 4 || bytes == 8, "an atomic fetch-add is of 4 or 8 bytes");
  Tlp* const tlp = pool_.allocate(TlpKind::fetch_add, address, bytes);
  tlp->cookie = cookie;
  tlp->carry(operand);
  request(tlp, now);
}

void EndpointCore::write(std::uint64_t address, const std::uint8_t* data, std::uint32_t bytes,
                         bool relaxed_ordering) {
  WARPLINE_EXPECT(may_write(), "a function writes when it may");
  for (const ByteRun& part : split_request(address, bytes, max_payload())) {
    Tlp* const tlp = make_write(part.address, part.bytes);
    tlp->relaxed_ordering = relaxed_ordering && config_.relaxed_ordering_enabled();
    tlp->no_snoop = no_snoop();
    const std::uint8_t* from = data + (part.address - address);
    tlp->data.assign(from, from + part.bytes);
    ++counters_.writes;
  }
}

void EndpointCore::send_interrupts() {
  if (!has_msix() || !may_write()) return;
  InterruptMessage message;
  while (msix_.take(config_.msix_enabled(), config_.msix_masked(), message)) {
    Tlp* const tlp = make_write(message.address, 4);
    tlp->carry(message.data);
    tlp->interrupt = true;
    ++counters_.interrupts;
  }
}

void EndpointCore::expire(Cycle now) {
  while (TagTable::Entry* const request = tags_.expired(now)) {
    ++counters_.timeouts;
    config_.report(ConfigSpace::kNonFatal);
    end(*request, TlpOutcome::timeout, true);
  }
  tags_.take_back(now);
}

/// Reads under way end without a part, and interrupts that are pending without a message.
void EndpointCore::forget_requests() {
  tags_.give_up_all();
  parts_.clear();
  msix_.reset();
}

void EndpointCore::reset() {
  forget_requests();
  tags_.reset();
  config_.reset();
  static_cast<void>(config_.take_soft_reset());
  for (Tlp* tlp : outgoing_) pool_.release(tlp);
  outgoing_.clear();
}

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

/// What is answered is for the requester to report, so here it counts as correctable only.
void EndpointCore::refuse(Tlp* tlp) {
  ++counters_.unsupported;
  config_.report(ConfigSpace::kUnsupportedRequest);
  config_.report(tlp->posted() ? ConfigSpace::kNonFatal : ConfigSpace::kCorrectable);
  dismiss(tlp);
}

/// Nobody hears of a posted one.
void EndpointCore::dismiss(Tlp* tlp) {
  if (tlp->posted()) return pool_.release(tlp);
  complete(tlp, CompletionStatus::unsupported_request, nullptr);
}

/// PCI Express calls both an abort by the completer; nobody else hears of a posted one.
void EndpointCore::abort(Tlp* tlp) {
  if (!tlp->posted()) return complete(tlp, CompletionStatus::completer_abort, nullptr);
  config_.report_status(kSentAbort);
  drop(tlp, counters_.aborted, ConfigSpace::kNonFatal);
}

/// Whether a request came with damaged data; then it is dismissed.
bool EndpointCore::dismiss_poisoned(Tlp* tlp) {
  if (!tlp->poisoned || tlp->payload() == 0) return false;
  report_poison();
  dismiss(tlp);
  return true;
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
  if (dismiss_poisoned(tlp)) return false;
  request = {*hit, tlp};
  return true;
}

void EndpointCore::receive_configuration(Tlp* tlp) {
  if (tlp->completer != id_) return refuse(tlp);
  ++counters_.configurations;
  if (dismiss_poisoned(tlp)) return;
  const auto offset = static_cast<unsigned>(tlp->address), lane = offset % 4;
  if (tlp->kind == TlpKind::config_read) {
    tlp->carry(config_.read(offset - lane) >> 8 * lane);
  } else {
    const auto value = static_cast<std::uint32_t>(first_bytes(tlp->data) << 8 * lane);
    config_.write(offset - lane, value, ((1U << tlp->bytes) - 1) << lane);
    if (config_.was_softly_reset()) forget_requests();
  }
  complete(tlp, CompletionStatus::successful, tlp->data.data());
}

void EndpointCore::complete(Tlp* request, CompletionStatus status, const std::uint8_t* data) {
  WARPLINE_EXPECT(class_of(request->kind) == TlpClass::non_posted, "a request that wants an answer gets one");
  if (status == CompletionStatus::completer_abort) {
    ++counters_.aborted;
    config_.report_status(kSentAbort);
    config_.report(ConfigSpace::kCorrectable);
  }
  make_completions(pool_, *request, status, id_, data, max_payload(), parameters_.completion_boundary,
                   outgoing_);
  pool_.release(request);
}

void EndpointCore::receive_completion(Tlp* tlp) {
  using State = TagTable::Entry::State;
  TagTable::Entry* const request = tlp->requester == id_ ? tags_.find(tlp->tag) : nullptr;
  const bool successful = tlp->status == CompletionStatus::successful;
  // The next byte of the read, or the answer to a flush, and nothing else.
  const bool fits =
      request != nullptr && (!successful || (brings_next(*tlp, request->address, request->left) &&
                                             (tlp->bytes != 0 || request->left == 0)));
  if (!fits || request->state == State::given_up) {
    if (fits) accept(*request, *tlp);
    drop(tlp, counters_.unexpected, ConfigSpace::kCorrectable);
    return;
  }
  switch (outcome_of(*tlp)) {
    case TlpOutcome::unsupported_request: config_.report_status(kReceivedUnsupported); break;
    case TlpOutcome::completer_abort: config_.report_status(kReceivedAbort); break;
    case TlpOutcome::poisoned:
      report_poison();
      if (config_.parity_response()) config_.report_status(kMasterDataParity);
      break;
    case TlpOutcome::done:
    case TlpOutcome::timeout: break;
  }
  accept(*request, *tlp);
  pool_.release(tlp);
}

/// Takes a completion of the request that has the tag, which may have been given up.
void EndpointCore::accept(TagTable::Entry& request, const Tlp& tlp) {
  const TlpOutcome outcome = outcome_of(tlp);
  const bool last = tlp.status != CompletionStatus::successful || tlp.bytes == request.left;
  if (request.state == TagTable::Entry::State::given_up) {
    if (last) tags_.end(request, false);
  } else if (outcome != TlpOutcome::done) {
    end(request, outcome, !last);
  } else {
    parts_.push_back({request.cookie, request.address, tlp.data, outcome, last});
    if (last) end(request, outcome, false);
  }
  TagTable::advance(request, tlp.bytes);
}

/// The request is over; if not because all has come, a part says why. `may_come`: a completion of it may.
void EndpointCore::end(TagTable::Entry& request, TlpOutcome outcome, bool may_come) {
  if (outcome != TlpOutcome::done)
    parts_.push_back({request.cookie, request.address, {}, outcome, true, request.left});
  tags_.end(request, may_come);
  config_.show_pending(tags_.in_flight() != 0);
}

void EndpointCore::perform_outside(Tlp* tlp, LooseTlpTarget& root, Cycle& at) {
  root.perform(*tlp, at);
  if (tlp->posted()) return pool_.release(tlp);
  tlp->kind = TlpKind::completion;
  if (tlp->status != CompletionStatus::successful) tlp->data.clear();
  tlp->bytes = tlp->remaining = tlp->payload();
  BarRequest none;
  static_cast<void>(receive(tlp, none));
}

bool EndpointCore::receive_loosely(Tlp& tlp, BarRequest& request) {
  tlp.status = CompletionStatus::unsupported_request;
  Tlp* const copy = pool_.allocate();
  *copy = tlp;
  // What it has made itself may wait there: another device's access may come while it makes one.
  const std::size_t before = outgoing_.size();
  if (receive(copy, request)) return true;
  for (; outgoing_.size() > before; outgoing_.pop_back()) {
    tlp.status = outgoing_.back()->status;
    tlp.data.swap(outgoing_.back()->data);
    pool_.release(outgoing_.back());
  }
  return false;
}

}  // namespace warpline
