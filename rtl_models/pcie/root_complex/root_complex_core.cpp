#include "rtl_models/pcie/root_complex/root_complex_core.h"

#include <cstring>

#include "rtl_models/base/contract.h"
#include "rtl_models/pcie/packets/tlp_rules.h"

namespace warpline {
namespace {

/// Largest packets that the host's side makes and takes, bytes.
constexpr unsigned kHostPacket = 4096;

}  // namespace

RootComplexCore::RootComplexCore(TlpPool& pool, const RootComplexParameters& parameters, MemoryImage& sysmem,
                                 const std::vector<LinkParameters>& links)
    : pool_(pool), parameters_(parameters), sysmem_(sysmem) {
  WARPLINE_EXPECT(parameters.problems("").empty(),
                  "root complex parameters are checked before they are used");
  WARPLINE_EXPECT(sysmem.size() <= kInterruptWindow, "system memory lies below the interrupt window");
  for (const LinkParameters& link : links) ports_.push_back({link});
}

bool RootComplexCore::set_window(unsigned i, Window window, std::uint64_t base, std::uint64_t bytes) {
  constexpr std::uint64_t kNarrow = std::uint64_t{1} << 32U;
  const BusRange asked{base, bytes};
  BusRange& range = ports_[i].windows[static_cast<unsigned>(window)];
  const std::uint64_t end = window == Window::narrow ? kNarrow : ~std::uint64_t{0};
  if (bytes != 0) {
    if (base % Iommu::kPage != 0 || bytes % Iommu::kPage != 0) return false;
    if (base > end || bytes > end - base || base < sysmem_.size()) return false;
    if (asked.overlaps(kInterrupts)) return false;
    for (const Port& port : ports_)
      for (const BusRange& other : port.windows)
        if (&other != &range && asked.overlaps(other)) return false;
  }
  range = asked;
  return true;
}

TlpRoute RootComplexCore::route_by_bus(FunctionId id) const {
  const unsigned bus = id.value >> 8U;
  if (bus == 0) return {TlpRoute::To::port, kHost};
  if (bus > ports() || !ports_[bus - 1].up) return {};
  return {TlpRoute::To::port, bus - 1};
}

TlpRoute RootComplexCore::route_by_address(unsigned from, const Tlp& tlp) const {
  if (BusRange{0, sysmem_.size()}.holds(tlp.address, tlp.bytes)) return {TlpRoute::To::memory, 0};
  if (kInterrupts.holds(tlp.address, tlp.bytes))
    return tlp.posted() && tlp.bytes == 4 ? TlpRoute{TlpRoute::To::interrupts, 0} : TlpRoute{};
  for (unsigned p = 0; p < ports(); ++p) {
    const auto claims = [&](const BusRange& r) { return r.holds(tlp.address, tlp.bytes); };
    if (!claims(ports_[p].windows[0]) && !claims(ports_[p].windows[1])) continue;
    const bool reaches = ports_[p].up && p != from && (from == kHost || parameters_.peer_to_peer);
    return reaches ? TlpRoute{TlpRoute::To::port, p} : TlpRoute{};
  }
  return {};
}

TlpRoute RootComplexCore::route_request(unsigned from, Tlp& tlp, Cycle now) {
  const LinkParameters* link = from == kHost ? nullptr : &ports_[from].link;
  const unsigned most_payload = link != nullptr ? link->max_payload : kHostPacket;
  const unsigned most_read = link != nullptr ? link->max_read_request : kHostPacket;
  if (!malformation(tlp, most_payload, most_read).empty()) return {TlpRoute::To::dropped, 0};
  if (tlp.kind == TlpKind::config_read || tlp.kind == TlpKind::config_write)
    return from == kHost && tlp.completer.value >> 8U != 0 ? route_by_bus(tlp.completer) : TlpRoute{};
  const bool interrupt = kInterrupts.holds(tlp.address, tlp.bytes);
  // The window of interrupts is a place here, and none of a machine outside: what that has there is its own.
  if (from != kHost && outside_ != nullptr && !tlp.interrupt) return route_outside(from, tlp);
  if (from != kHost && iommu_.enabled() && !interrupt) {
    const auto physical =
        iommu_.translate(tlp.requester, tlp.address, tlp.bytes, tlp.kind != TlpKind::memory_read, now);
    if (!physical) return {TlpRoute::To::refused, 0};
    tlp.address = *physical;
  }
  return route_by_address(from, tlp);
}

TlpRoute RootComplexCore::route_outside(unsigned from, Tlp& tlp) const {
  const OutsideMemory::Place place = outside_->find(tlp);
  if (place.in == OutsideMemory::Place::In::memory) {
    tlp.epoch = downs(from);
    return {TlpRoute::To::memory, 0};
  }
  if (place.in == OutsideMemory::Place::In::nobody) return {};
  tlp.address = place.address;
  const TlpRoute route = route_by_address(from, tlp);
  return route.to == TlpRoute::To::port ? route : TlpRoute{};
}

TlpRoute RootComplexCore::route(unsigned from, Tlp& tlp, Cycle now) {
  TlpRoute route;
  if (tlp.kind == TlpKind::completion) {
    route = route_by_bus(tlp.requester);
    if (route.to == TlpRoute::To::unsupported || tlp.epoch != epoch_between(from, route.port))
      route.to = TlpRoute::To::dropped;
  } else {
    route = route_request(from, tlp, now);
    if (route.to == TlpRoute::To::port) tlp.epoch = epoch_between(from, route.port);
  }
  note_refusal(from, tlp, route, now);
  switch (route.to) {
    case TlpRoute::To::memory:
      counters_.no_snoop += tlp.no_snoop;
      ++(tlp.kind == TlpKind::memory_read ? counters_.memory_reads
         : tlp.posted()                   ? counters_.memory_writes
                                          : counters_.memory_atomics);
      break;
    case TlpRoute::To::interrupts: ++counters_.interrupts; break;
    case TlpRoute::To::port:
      ++(route.port == kHost ? counters_.to_host : counters_.to_devices);
      counters_.peer_to_peer += route.port != kHost && from != kHost && tlp.kind != TlpKind::completion;
      break;
    case TlpRoute::To::unsupported: ++counters_.unsupported; break;
    case TlpRoute::To::refused: ++counters_.refused; break;
    case TlpRoute::To::dropped: ++counters_.dropped; break;
  }
  return route;
}

void RootComplexCore::note_refusal(unsigned from, const Tlp& tlp, const TlpRoute& route, Cycle now) {
  RefusedAccess access;
  access.cycle = now;
  access.requester = tlp.requester;
  access.address = tlp.address;
  if (tlp.kind == TlpKind::completion) {
    const bool refuses = tlp.status != CompletionStatus::successful;
    if (!refuses || route.to != TlpRoute::To::port || route.port == kHost) return;
    access.completer = tlp.completer;
    access.why = tlp.status == CompletionStatus::completer_abort ? RefusedAccess::Why::aborted
                                                                 : RefusedAccess::Why::device;
    return note(access);
  }
  const bool forbidden = route.to == TlpRoute::To::refused;
  if (from == kHost || (!forbidden && route.to != TlpRoute::To::unsupported)) return;
  access.why = forbidden ? RefusedAccess::Why::forbidden : RefusedAccess::Why::nobody;
  access.known = true;
  access.kind = tlp.kind;
  access.bytes = tlp.bytes;
  note(access);
}

void RootComplexCore::note_outside(const Tlp& tlp, CompletionStatus status, Cycle now) {
  if (status == CompletionStatus::successful) return;
  const bool nobody = status == CompletionStatus::unsupported_request;
  note({now,
        nobody ? RefusedAccess::Why::nobody : RefusedAccess::Why::outside,
        tlp.requester,
        {},
        true,
        tlp.kind,
        tlp.bytes,
        tlp.address});
}

void RootComplexCore::note_loose_refusal(unsigned from, unsigned to, const Tlp& tlp, Cycle now) {
  if (from == kHost || tlp.posted() || tlp.status == CompletionStatus::successful) return;
  note({now,
        tlp.status == CompletionStatus::completer_abort ? RefusedAccess::Why::aborted
                                                        : RefusedAccess::Why::device,
        tlp.requester, id_of(to), true, tlp.kind, tlp.bytes, tlp.address});
}

std::optional<CompletionStatus> RootComplexCore::perform(Tlp& tlp, bool may_wait, Cycle now) {
  if (outside_ != nullptr && tlp.requester.value >> 8U != 0) {
    const auto status = outside_->perform(tlp, may_wait);
    if (status) note_outside(tlp, *status, now);
    return status;
  }
  std::uint8_t* const memory = sysmem_.at(tlp.address);
  switch (tlp.kind) {
    case TlpKind::memory_read:
      tlp.data.assign(memory, memory + tlp.bytes);
      return CompletionStatus::successful;
    case TlpKind::memory_write:
      if (!tlp.poisoned && tlp.bytes != 0) std::memcpy(memory, tlp.data.data(), tlp.bytes);
      return CompletionStatus::successful;
    case TlpKind::fetch_add:
    case TlpKind::swap:
    case TlpKind::compare_and_swap:
      if (tlp.poisoned) return CompletionStatus::unsupported_request;
      perform_atomic(tlp, memory);
      return CompletionStatus::successful;
    case TlpKind::config_read:
    case TlpKind::config_write:
    case TlpKind::completion: break;
  }
  WARPLINE_EXPECT(false, "memory requests alone reach memory");
  return CompletionStatus::unsupported_request;
}

void RootComplexCore::complete(unsigned from, Tlp* request, CompletionStatus status,
                               std::vector<Tlp*>& completions) {
  if (request->posted()) return pool_.release(request);
  const bool host = from == kHost;
  const unsigned most = host ? kHostPacket : ports_[from].link.max_payload;
  const unsigned boundary = host ? kHostPacket : ports_[from].link.completion_boundary;
  make_completions(pool_, *request, status, function_id(0, 0, 0), request->data.data(), most, boundary,
                   completions);
  pool_.release(request);
}

}  // namespace warpline
