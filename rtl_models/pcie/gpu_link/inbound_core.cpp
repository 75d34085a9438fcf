#include "rtl_models/pcie/gpu_link/inbound_core.h"

#include <algorithm>
#include <cstring>

#include "rtl_models/base/contract.h"
#include "rtl_models/pcie/gpu_link/pcie_mutations.h"
#include "rtl_models/sim/atomics.h"

namespace warpline {
namespace {

/// For a request that no SM made.
constexpr std::uint16_t kNobody = 0xFFFF;

}  // namespace

void InboundCore::accept(Tlp* tlp, std::uint64_t offset) {
  const bool posted = tlp->posted();
  tlp->status = CompletionStatus::successful;
  const std::uint64_t end = offset + tlp->bytes;
  if (free_.empty()) {
    WARPLINE_EXPECT(entries_.size() < kNobody, "a token names every packet that is held");
    free_.push_back(static_cast<std::uint16_t>(entries_.size()));
    entries_.emplace_back();
  }
  const std::uint16_t token = free_.back();
  free_.pop_back();
  const std::uint64_t lines = tlp->bytes == 0 ? 0 : (end + kLineBytes - 1) / kLineBytes - offset / kLineBytes;
  entries_[token] = {tlp, offset, static_cast<unsigned>(lines)};
  entries_[token].writes_before = counters_.writes;
  if (posted) {
    ++counters_.writes;
    counters_.bytes_written += tlp->bytes;
    counters_.held_writes += !tlp->relaxed_ordering && held(TlpClass::posted) != 0;
  } else if (tlp->kind == TlpKind::memory_read) {
    ++counters_.reads;
    counters_.flushes += tlp->bytes == 0;
    counters_.bytes_read += tlp->bytes;
    tlp->data.resize(tlp->bytes);
  } else {
    ++counters_.atomics;
  }
  order_.push_back(token);
  ++held_[static_cast<unsigned>(class_of(tlp->kind))];
  finish_flushes();
}

/// Which entry, by its place in order_, has the next request.
std::size_t InboundCore::find_next() const {
  // Of the writes before a place: the only line that they write, if they have been sent and it is one.
  bool writes = false, one_line = false;
  std::uint64_t line = 0;
  for (std::size_t place = 0; place < order_.size(); ++place) {
    const Entry& e = entries_[order_[place]];
    const bool posted = e.tlp->posted();
    const std::uint64_t first = e.offset / kLineBytes;
    if (e.sent != e.lines) {
      const auto own_before = [&] {
        return std::any_of(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(place),
                           [&](std::uint16_t t) {
                             const Tlp& earlier = *entries_[t].tlp;
                             return earlier.posted() && earlier.requester == e.tlp->requester;
                           });
      };
      const bool follows = !writes || (posted && one_line && e.lines == 1 && line == first);
      const bool goes = e.sent != 0 || follows ||
                        (posted ? e.tlp->relaxed_ordering || mutated(PcieMutation::inbound_write_overtakes) ||
                                      (mutated(PcieMutation::inbound_order_per_requester) && !own_before())
                                : mutated(PcieMutation::inbound_read_overtakes));
      if (goes) return place;
    }
    if (!posted) continue;
    one_line = e.lines == 1 && e.sent == 1 && (!writes || (one_line && line == first));
    line = first;
    writes = true;
  }
  return kNone;
}

Request* InboundCore::next() {
  const std::size_t place = find_next();
  if (place == kNone) return nullptr;
  const std::uint16_t token = order_[place];
  Entry& e = entries_[token];
  const std::uint64_t line = (e.offset / kLineBytes + e.sent) * kLineBytes;
  const Span span = span_in(e, line);
  Request* const r = pool_.allocate();
  r->id = std::uint64_t{gpu_} << 40U | ++made_;
  r->token = token;
  r->sm = r->warp = kNobody;
  r->gpu = gpu_ & 15U;
  r->line = physical(Aperture::vidmem, line);
  r->virtual_line = VirtualAddress{line};
  r->scope = Scope::sys;
  r->bytes = ByteMask{};
  r->bytes.set(span.in_line, span.bytes);
  r->sectors = r->bytes.sectors();
  fill(*e.tlp, *r, span);
  ++e.sent;
  return r;
}

/// What of a packet lies in a line.
InboundCore::Span InboundCore::span_in(const Entry& e, std::uint64_t line) {
  const std::uint64_t first = std::max(line, e.offset);
  const std::uint64_t end = std::min(line + kLineBytes, e.offset + e.tlp->bytes);
  return {static_cast<unsigned>(first - line), static_cast<unsigned>(first - e.offset),
          static_cast<unsigned>(end - first)};
}

/// Makes `r` do what the packet does to its line.
void InboundCore::fill(const Tlp& tlp, Request& r, const Span& span) {
  const unsigned sectors = sector_count(r.sectors);
  if (tlp.kind == TlpKind::memory_read) {
    r.command = Command::read;
    counters_.read_sectors += sectors;
  } else if (tlp.posted()) {
    r.command = Command::write;
    std::memcpy(&r.data[span.in_line], &tlp.data[span.in_packet], span.bytes);
    counters_.written_sectors += sectors;
  } else {
    make_atomic(tlp, r, span.in_line);
    counters_.atomic_sectors += sectors;
  }
}

void InboundCore::make_atomic(const Tlp& tlp, Request& r, unsigned offset) {
  r.command = Command::atomic;
  r.atomics = pool_.allocate_atomics();
  AtomicBlock& block = *r.atomics;
  const bool adds = tlp.kind == TlpKind::fetch_add;
  block.operation = adds                        ? AtomicOperation::add
                    : tlp.kind == TlpKind::swap ? AtomicOperation::exchange
                                                : AtomicOperation::compare_and_swap;
  block.type = tlp.bytes == 4   ? adds ? DataType::u32 : DataType::b32
               : tlp.bytes == 8 ? adds ? DataType::u64 : DataType::b64
                                : DataType::b128;
  block.count = 1;
  LaneAtomic& low = block.lanes[0];
  LaneAtomicHigh& high = block.high[0];
  low = {};
  high = {};
  low.offset = static_cast<std::uint8_t>(offset);
  spread_value(tlp.data.data(), low.operand, high.operand, tlp.bytes);
  if (tlp.kind == TlpKind::compare_and_swap)
    spread_value(tlp.data.data() + tlp.bytes, low.second, high.second, tlp.bytes);
}

void InboundCore::answered(Request* r) {
  Entry& e = entries_[r->token];
  Tlp& tlp = *e.tlp;
  if (r->status != Status::ok) {
    tlp.status = CompletionStatus::completer_abort;
  } else if (r->command == Command::read) {
    const Span span = span_in(e, offset_in_aperture(r->line));
    std::memcpy(&tlp.data[span.in_packet], &r->data[span.in_line], span.bytes);
  } else if (r->command == Command::atomic) {
    const AtomicBlock& block = *r->atomics;
    tlp.data.resize(tlp.bytes);
    gather_value(tlp.data.data(), block.lanes[0].old_value, block.high[0].old_value, tlp.bytes);
  }
  const std::uint16_t token = r->token;
  pool_.release(r);
  if (++e.answered != e.lines) return;
  finish(static_cast<std::size_t>(std::find(order_.begin(), order_.end(), token) - order_.begin()));
  finish_flushes();
}

/// Those that no write is before any more.
void InboundCore::finish_flushes() {
  for (std::size_t place = 0; place < order_.size();) {
    const Entry& e = entries_[order_[place]];
    if (e.lines == 0) {
      finish(place);
    } else if (e.tlp->posted()) {
      return;
    } else {
      ++place;
    }
  }
}

void InboundCore::finish(std::size_t place) {
  const std::uint16_t token = order_[place];
  order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(place));
  free_.push_back(token);
  Tlp* const tlp = entries_[token].tlp;
  --held_[static_cast<unsigned>(class_of(tlp->kind))];
  finished_.push_back(tlp);
}

}  // namespace warpline
