#include "warpline/pcie/gpu_function.h"

#include <algorithm>

namespace warpline {

FunctionDescription GpuFunction::description(std::uint64_t bar_bytes) {
  FunctionDescription d;
  d.device = 0x0002;
  d.class_code = 0x030200;  // a 3D controller
  d.bars[kMemoryBar] = {bar_bytes, bar_bytes != 0, bar_bytes != 0};
  return d;
}

GpuFunction::GpuFunction(Component& link, TlpPool& pool, FunctionId id, const LinkParameters& parameters,
                         const Memory& memory)
    : endpoint_(pool, id, description(memory.bar_bytes), parameters),
      port_(link, "root", parameters),
      pool_(pool),
      memory_(memory) {
  port_.on_request([this](const Tlp& tlp, Cycle now) { endpoint_.sent(tlp, now); });
}

void GpuFunction::read(std::uint32_t transfer, std::uint8_t part, std::uint64_t address, unsigned bytes) {
  waiting_.push_back({TlpKind::memory_read, transfer, part, address, bytes, {}, false});
}

void GpuFunction::write(std::uint64_t address, const std::uint8_t* data, unsigned bytes) {
  waiting_.push_back({TlpKind::memory_write, 0, 0, address, bytes, {}, false});
  std::copy_n(data, bytes, waiting_.back().data.begin());
}

void GpuFunction::atomic(std::uint32_t transfer, std::uint8_t part, TlpKind kind, std::uint64_t address,
                         unsigned bytes, const std::uint8_t* operands) {
  waiting_.push_back({kind, transfer, part, address, bytes, {}, false});
  std::copy_n(operands, kind == TlpKind::compare_and_swap ? 2 * bytes : bytes, waiting_.back().data.begin());
}

void GpuFunction::issue(Cycle now) {
  for (; !waiting_.empty(); waiting_.pop_front()) {
    const Wanted& w = waiting_.front();
    if (!endpoint_.may_write()) {
      refuse(w, 0);
      continue;
    }
    if (w.kind == TlpKind::memory_write) {
      endpoint_.write(w.address, w.data.data(), w.bytes, false);
      continue;
    }
    if (!endpoint_.may_read()) return;
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(under_way_.size()));
      under_way_.emplace_back();
    }
    const std::uint32_t cookie = free_.back();
    free_.pop_back();
    under_way_[cookie] = w;
    under_way_[cookie].under_way = true;
    if (w.kind == TlpKind::memory_read) {
      endpoint_.read(cookie, w.address, w.bytes, now);
    } else {
      endpoint_.atomic(cookie, w.kind, w.address, w.bytes, w.data.data(), now);
    }
  }
}

/// All ones for the bytes from `first` on.
void GpuFunction::refuse(const Wanted& w, unsigned first) {
  ++counters_.refused;
  if (w.kind == TlpKind::memory_write) return;
  Piece piece{w.transfer, w.part, first, w.bytes - first, {}, true, true};
  piece.data.fill(0xFF);
  pieces_.push_back(piece);
}

void GpuFunction::collect() {
  for (auto& parts = endpoint_.parts(); !parts.empty(); parts.pop_front()) {
    const ReadPart& part = parts.front();
    Wanted& w = under_way_[part.cookie];
    const auto first = static_cast<unsigned>(part.address - w.address);
    if (part.outcome != ReadEnd::done) {
      refuse(w, first);
    } else {
      Piece piece{w.transfer, w.part, first, static_cast<unsigned>(part.data.size()), {}, false, part.last};
      std::copy(part.data.begin(), part.data.end(), piece.data.begin());
      pieces_.push_back(piece);
    }
    if (!part.last) continue;
    w.under_way = false;
    free_.push_back(part.cookie);
  }
}

/// What the endpoint has forgotten, nobody answers any more.
void GpuFunction::forget() {
  for (std::uint32_t cookie = 0; cookie < under_way_.size(); ++cookie) {
    Wanted& w = under_way_[cookie];
    if (!w.under_way) continue;
    refuse(w, 0);
    w.under_way = false;
    free_.push_back(cookie);
  }
}

bool GpuFunction::lies_in_memory(const EndpointCore::BarRequest& request) const {
  // A flush of no byte has an address like any other read.
  return request.where.offset < memory_.bytes && request.tlp->bytes <= memory_.bytes - request.where.offset;
}

void GpuFunction::claim(const EndpointCore::BarRequest& request, Room& room) {
  if (!lies_in_memory(request)) return endpoint_.refuse(request.tlp);
  --(request.tlp->posted() ? room.posted : room.non_posted);
  claimed_.push_back({request.tlp, request.where.offset});
}

void GpuFunction::complete(Tlp* request) {
  if (request->status != CompletionStatus::successful) return endpoint_.abort(request);
  if (request->posted()) return pool_.release(request);
  endpoint_.complete(request, CompletionStatus::successful, request->data.data());
}

void GpuFunction::exchange(Cycle now, Room room) {
  const auto fits = [&](const Tlp& tlp) {
    const bool configures = tlp.kind == TlpKind::config_read || tlp.kind == TlpKind::config_write;
    if (memory_.bar_bytes == 0 || tlp.kind == TlpKind::completion || configures) return true;
    return (tlp.posted() ? room.posted : room.non_posted) != 0;
  };
  while (Tlp* const tlp = port_.next(now, fits)) {
    port_.take(now, tlp);
    EndpointCore::BarRequest request;
    if (endpoint_.receive(tlp, request)) claim(request, room);
    collect();
    if (endpoint_.config().take_soft_reset()) forget();
  }
  endpoint_.expire(now);
  issue(now);
  for (auto& packets = endpoint_.outgoing(); !packets.empty(); packets.pop_front())
    port_.send(packets.front());
  collect();
}

Cycle GpuFunction::transmit(Cycle now) {
  const Cycle more = port_.transmit(now);
  return std::min(more, endpoint_.next_expiry());
}

void GpuFunction::exchange_loosely(Cycle& at) {
  WARPLINE_EXPECT(root_ != nullptr, "somebody performs what is loosely timed");
  const Cycle made = at;
  while (!waiting_.empty()) {
    issue(made);
    for (auto& packets = endpoint_.outgoing(); !packets.empty();) {
      Tlp* const tlp = packets.front();
      packets.pop_front();
      // Packets of one access follow each other closely: the last answer to come is when all have.
      Cycle answered = made + port_.parameters().cycles_of(tlp->payload());
      endpoint_.perform_outside(tlp, *root_, answered);
      at = std::max(at, answered);
    }
  }
  collect();
}

void GpuFunction::perform(Tlp& tlp, Cycle& at) {
  EndpointCore::BarRequest request;
  const bool claimed = endpoint_.receive_loosely(tlp, request);
  if (endpoint_.config().take_soft_reset()) forget();
  if (!claimed) return;
  if (lies_in_memory(request)) {
    WARPLINE_EXPECT(loose_memory_ != nullptr, "somebody performs what is loosely timed");
    loose_memory_->perform_inbound(*request.tlp, request.where.offset, at);
    tlp.status = request.tlp->status;
    if (tlp.status == CompletionStatus::successful) {
      tlp.data.swap(request.tlp->data);
      return pool_.release(request.tlp);
    }
  }
  auto& packets = endpoint_.outgoing();
  const std::size_t before = packets.size();
  if (tlp.status == CompletionStatus::completer_abort) {
    endpoint_.abort(request.tlp);
  } else {
    endpoint_.refuse(request.tlp);
  }
  // The answer is `tlp` itself.
  for (; packets.size() > before; packets.pop_back()) pool_.release(packets.back());
}

void GpuFunction::explain(std::vector<Wait>& waits) const {
  port_.explain(waits);
}

}  // namespace warpline
