#include "warpline/tlp/endpoint_core.h"

#include <algorithm>
#include <array>

#include "warpline/base/contract.h"
#include "warpline/tlp/tlp_rules.h"

namespace warpline {

EndpointCore::EndpointCore(TlpPool& pool, FunctionId id, const FunctionDescription& description,
                           const LinkParameters& parameters)
    : pool_(pool),
      id_(id),
      parameters_(parameters),
      config_(description),
      description_vectors_(description.vectors),
      msix_(std::max(1U, description.vectors)),
      outstanding_(parameters.tags) {
  WARPLINE_EXPECT(parameters.problems("").empty(), "link parameters are checked before they are used");
  for (unsigned tag = 0; tag < parameters.tags; ++tag) free_tags_.push_back(static_cast<std::uint16_t>(tag));
}

unsigned EndpointCore::max_read_request() const {
  return std::min(parameters_.max_read_request, config_.max_read_request());
}

unsigned EndpointCore::max_payload() const {
  return std::min(parameters_.max_payload, config_.max_payload());
}

bool EndpointCore::has_tag() const {
  return std::any_of(free_tags_.begin(), free_tags_.end(), [this](std::uint16_t tag) { return usable(tag); });
}

bool EndpointCore::may_read() const {
  return may_write() && has_tag();
}

unsigned EndpointCore::tags_given_up() const {
  return static_cast<unsigned>(outstanding_.size() - free_tags_.size()) - in_flight_;
}

Tlp* EndpointCore::make(TlpKind kind, std::uint64_t address, std::uint32_t bytes) {
  Tlp* tlp = pool_.allocate();
  tlp->kind = kind;
  tlp->requester = id_;
  tlp->address = address;
  tlp->bytes = bytes;
  outgoing_.push_back(tlp);
  return tlp;
}

void EndpointCore::take_tag(Tlp* tlp, std::uint32_t cookie, Cycle now) {
  const auto at =
      std::find_if(free_tags_.begin(), free_tags_.end(), [this](std::uint16_t t) { return usable(t); });
  tlp->tag = *at;
  free_tags_.erase(at);
  outstanding_[tlp->tag] = {Outstanding::State::under_way, cookie, tlp->address, tlp->bytes, now, made_++};
  ++in_flight_;
  config_.show_pending(true);
  take_back(now);
}

void EndpointCore::sent(const Tlp& tlp, Cycle now) {
  Outstanding& o = outstanding_[tlp.tag];
  if (o.state == Outstanding::State::free) return;
  o.sent = std::max(o.sent, now);
  if (o.state == Outstanding::State::under_way) by_age_.push_back({tlp.tag, o.number});
}

void EndpointCore::read(std::uint32_t cookie, std::uint64_t address, std::uint32_t bytes, Cycle now) {
  WARPLINE_EXPECT(may_read(), "a function reads when it may");
  Tlp* tlp = make(TlpKind::memory_read, address, bytes);
  tlp->no_snoop = no_snoop();
  WARPLINE_EXPECT(malformation(*tlp, 0, max_read_request()).empty(), "a read is one well-formed packet");
  take_tag(tlp, cookie, now);
  ++counters_.reads;
}

void EndpointCore::atomic(std::uint32_t cookie, TlpKind kind, std::uint64_t address, std::uint32_t bytes,
                          const std::uint8_t* operands, Cycle now) {
  WARPLINE_EXPECT(may_read(), "a function makes atomics when it may read");
  Tlp* tlp = make(kind, address, bytes);
  tlp->data.assign(operands, operands + (kind == TlpKind::compare_and_swap ? 2 : 1) * bytes);
  WARPLINE_EXPECT(malformation(*tlp, max_payload(), 0).empty(), "an atomic is one well-formed packet");
  take_tag(tlp, cookie, now);
  ++counters_.atomics;
}

void EndpointCore::fetch_add(std::uint32_t cookie, std::uint64_t address, std::uint32_t bytes,
                             std::uint64_t operand, Cycle now) {
  WARPLINE_EXPECT(bytes == 4 || bytes == 8, "an atomic fetch-add is of 4 or 8 bytes");
  std::array<std::uint8_t, 8> operands{};
  for (unsigned i = 0; i < bytes; ++i) operands[i] = static_cast<std::uint8_t>(operand >> 8 * i);
  atomic(cookie, TlpKind::fetch_add, address, bytes, operands.data(), now);
}

void EndpointCore::write(std::uint64_t address, const std::uint8_t* data, std::uint32_t bytes,
                         bool relaxed_ordering) {
  WARPLINE_EXPECT(may_write(), "a function writes when it may");
  for (const TlpPart& part : split_request(address, bytes, max_payload())) {
    Tlp* tlp = make(TlpKind::memory_write, part.address, part.bytes);
    tlp->relaxed_ordering = relaxed_ordering && config_.relaxed_ordering_enabled();
    tlp->no_snoop = no_snoop();
    const std::uint8_t* from = data + (part.address - address);
    tlp->data.assign(from, from + part.bytes);
    ++counters_.writes;
  }
}

void EndpointCore::send_interrupts() {
  if (description_vectors_ == 0 || !may_write()) return;
  InterruptMessage message;
  while (msix_.take(config_.msix_enabled(), config_.msix_masked(), message)) {
    Tlp* tlp = make(TlpKind::memory_write, message.address, 4);
    for (unsigned i = 0; i < 4; ++i) tlp->data.push_back(static_cast<std::uint8_t>(message.data >> 8 * i));
    ++counters_.interrupts;
  }
}

Cycle EndpointCore::timeout() const {
  return Cycle{parameters_.completion_timeout} * config_.completion_timeout_scale();
}

/// Of the tags that are given up, the one whose request was made first, if there is no other to be had.
std::optional<std::uint16_t> EndpointCore::first_lost() const {
  std::optional<std::uint16_t> first;
  if (tags_given_up() == 0 || timeout() == 0 || has_tag()) return first;
  for (std::uint16_t tag = 0; tag < outstanding_.size(); ++tag) {
    if (outstanding_[tag].state != Outstanding::State::given_up || !usable(tag)) continue;
    if (!first || outstanding_[tag].number < outstanding_[*first].number) first = tag;
  }
  return first;
}

void EndpointCore::take_back(Cycle now) {
  const std::optional<std::uint16_t> tag = first_lost();
  if (!tag || lost_at(outstanding_[*tag]) > now) return;
  outstanding_[*tag].state = Outstanding::State::free;
  free_tags_.push_back(*tag);
}

Cycle EndpointCore::next_expiry() const {
  Cycle next = kNever;
  if (!by_age_.empty() && timeout() != 0) next = outstanding_[by_age_.front().tag].sent + timeout();
  if (const auto tag = first_lost()) next = std::min(next, lost_at(outstanding_[*tag]));
  return next;
}

void EndpointCore::expire(Cycle now) {
  while (!by_age_.empty() && timeout() != 0 && outstanding_[by_age_.front().tag].sent + timeout() <= now) {
    ++counters_.timeouts;
    config_.report(ConfigSpace::kNonFatal);
    end(outstanding_[by_age_.front().tag], ReadEnd::timeout, false);
  }
  take_back(now);
}

/// Reads under way end without a part, and interrupts that are pending without a message.
void EndpointCore::forget_requests() {
  for (Outstanding& o : outstanding_)
    if (o.state == Outstanding::State::under_way) o.state = Outstanding::State::given_up;
  by_age_.clear();
  in_flight_ = 0;
  parts_.clear();
  msix_.reset();
}

void EndpointCore::reset() {
  forget_requests();
  config_.reset();
  static_cast<void>(config_.take_soft_reset());
  for (Tlp* tlp : outgoing_) pool_.release(tlp);
  outgoing_.clear();
  free_tags_.clear();
  for (unsigned tag = 0; tag < outstanding_.size(); ++tag) {
    outstanding_[tag].state = Outstanding::State::free;
    free_tags_.push_back(static_cast<std::uint16_t>(tag));
  }
}

}  // namespace warpline
