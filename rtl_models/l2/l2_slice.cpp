#include "rtl_models/l2/l2_slice.h"

#include <algorithm>

#include "rtl_models/l2/atomics_time.h"
#include "rtl_models/l2/l2_mutations.h"
#include "rtl_models/sim/gauge_visitor.h"

namespace warpline {

L2Slice::L2Slice(Engine& engine, std::string name, ClockDomain domain, const L2Parameters& parameters,
                 MemoryImage* vidmem, unsigned dram_ports)
    : Component(engine, std::move(name), domain),
      core_(parameters, parameters.slices, vidmem),
      parameters_(parameters),
      answers_late_(parameters.partitions.count > 1 || parameters.atomics.takes_time() ||
                    parameters.merge_cycles != 0),
      slices_(parameters.slices),
      dram_out_(dram_ports) {
  for (unsigned i = 0; i < dram_ports; ++i) {
    to_dram.emplace_back(*this, "to_dram[" + std::to_string(i) + "]");
    from_dram.emplace_back(*this, "from_dram[" + std::to_string(i) + "]");
  }
  from_crossbar.perform_by(*this);
}

void L2Slice::write_back(const WriteBack& w) {
  Request* r = pool().allocate();
  r->command = Command::write;
  r->line = w.line;
  r->bytes = w.bytes;
  r->sectors = w.bytes.sectors();
  r->maker = this;
  if (w.data != nullptr) __builtin_memcpy(r->data.data(), w.data, kLineBytes);
  if (aperture_of(w.line) == Aperture::vidmem) {
    if (write_back_bytes_)
      __builtin_memcpy(r->data.data(), core_.vidmem()->at(offset_in_aperture(w.line)), kLineBytes);
    posted_.sent(*r);
    queue(towards(w.line), r);
    return;
  }
  r->token = sysmem_writes_.sent();
  pass_on(r);
}

/// Sends it over the link.
void L2Slice::pass_on(Request* r) {
  if (r->command == Command::write) note_posted(*r);
  posted_.sent(*r);
  queue(pcie_out_, r);
}

/// A posted write is on its way, or about to be. It goes before every flush that is sent from now on.
void L2Slice::note_posted(const Request& r) {
  if (mutated(L2Mutation::sys_release_flushes_last_only)) written_.clear();
  if (const auto forgotten = written_.note(r.line)) flush(r, *forgotten);
}

/// Sends a read of no byte behind what was written to a destination; releases wait for it.
void L2Slice::flush(const Request& r, PhysicalAddress line) {
  Request* f = pool().allocate_child(r, this);
  f->command = Command::read;
  f->line = line;
  f->virtual_line = VirtualAddress{0};
  f->sectors = 0;
  f->prefetch = 0;
  f->token = sysmem_writes_.sent();
  queue(pcie_out_, f);
}

void L2Slice::fetch(const Request& r, const L2Outcome& out) {
  Request* f = pool().allocate_child(r, this);
  f->command = Command::read;
  f->sectors = out.fetch;
  f->prefetch = 0;
  f->token = out.entry;
  queue(towards(r.line), f);
}

void L2Slice::maintain(Request& r) {
  if ((r.maintenance & (maintenance::kWriteBackSysmem | maintenance::kDiscardSysmem)) != 0)
    core_.maintain_sysmem((r.maintenance & maintenance::kDiscardSysmem) != 0, *this);
  if ((r.maintenance & maintenance::kWriteBackSysmem) != 0 && !mutated(L2Mutation::sys_release_skips_flush))
    written_.drain([&](PhysicalAddress line) { flush(r, line); });
  if (mutated(L2Mutation::sys_release_ignores_write_back)) return served_.push(&r);
  sysmem_writes_.drain(&r, maintained_);
  while (!maintained_.empty()) served_.push(maintained_.pop());
}

bool L2Slice::accept(Request& r) {
  if (r.command < Command::maintain) return follow(r, core_.access(r, *this));
  if (r.command == Command::control) return follow(r, core_.control(r));
  maintain(r);
  return true;
}

/// Takes a request that was not here before.
bool L2Slice::accept_new(Request& r) {
  if (!accept(r)) return false;
  if (observer_ != nullptr) observer_->taken(r);
  return true;
}

/// Does what the core's outcome asks for. Returns whether the request is taken.
bool L2Slice::follow(Request& r, const L2Outcome& out) {
  if (out.fetch != 0) fetch(r, out);
  switch (out.kind) {
    case L2Outcome::Kind::done:
      if (observer_ != nullptr && r.command == Command::write) observer_->performed(r);
      answer(&r);
      return true;
    case L2Outcome::Kind::wait: return true;
    case L2Outcome::Kind::pass_on:
      pass_on(&r);
      if (observer_ != nullptr && r.command == Command::write) observer_->performed(r);
      return true;
    case L2Outcome::Kind::stall: return false;
  }
  return false;
}

void L2Slice::handle_response(Request& r) {
  refused_ = nullptr;
  posted_.performed(r);
  if (r.maker != this) {
    // Of an atomic that ends in a posted write, the write leaves a round trip after the atomic: a flush that
    // was sent in between has passed it.
    const bool atomic = r.command == Command::atomic || r.command == Command::reduce;
    if (atomic && posted_atomics_ && aperture_of(r.line) != Aperture::vidmem) note_posted(r);
    r.came_from(AnsweredBy::link);
    served_.push(&r);
    return;
  }
  if (r.command == Command::read && r.sectors != 0) {
    RequestList served, again;
    core_.fill(r, served, again, *this);
    while (!served.empty()) answer(served.pop());
    // They were looked at before whatever still waits to be, possibly of the same line (R5).
    again_.push_front(again);
  } else if (aperture_of(r.line) != Aperture::vidmem) {
    sysmem_writes_.acknowledged(r.token, maintained_);
    while (!maintained_.empty()) served_.push(maintained_.pop());
  }
  pool().release(&r);
}

namespace {

bool is_atomic(const Request& r) {
  return (r.command == Command::atomic || r.command == Command::reduce) &&
         aperture_of(r.line) == Aperture::vidmem && r.status == Status::ok;
}
/// Sectors that it writes a part of, where that has to be merged: copies of system memory have a mask of
/// bytes.
unsigned partial_sectors(const Request& r) {
  if (r.command != Command::write || aperture_of(r.line) != Aperture::vidmem || r.status != Status::ok)
    return 0;
  return sector_count(static_cast<SectorMask>(r.bytes.sectors() & ~r.bytes.full_sectors()));
}
/// What it takes of the way to the line's home, or a read of the way back, bytes.
std::uint64_t bytes_to_home(const Request& r) {
  return is_atomic(r) ? std::uint64_t{r.atomics->count} * r.atomics->lane_bytes()
                      : std::uint64_t{kSectorBytes} * sector_count(r.sectors);
}

/// How long its answer takes over an idle way.
std::uint64_t far_cycles(const Request& r, const L2PartitionParameters& partitions) {
  const unsigned per_cycle = partitions.link_bytes_per_cycle;
  const std::uint64_t sent = per_cycle == 0 ? 0 : (bytes_to_home(r) + per_cycle - 1) / per_cycle;
  return std::max<std::uint64_t>(partitions.far_latency + sent, 1);
}

}  // namespace

/// Answers a request that has been performed, when its time has come.
void L2Slice::answer_late(Request* r) {
  if (loose_) return answer_loosely(r);
  if (is_atomic(*r) && parameters_.atomics.takes_time()) {
    atomics_free_ = std::max(atomics_free_, edge_ * kAtomicParts) +
                    atomics_time(*r->atomics, parameters_.atomics, r->line == atomics_line_);
    atomics_line_ = r->line;
    const std::uint64_t done = (atomics_free_ + kAtomicParts - 1) / kAtomicParts;
    add_late(atomics_, {domain().cycle_of(later(done + parameters_.atomics.latency)), r, {}});
  } else if (const unsigned cycles = partial_sectors(*r) * parameters_.merge_cycles; cycles != 0) {
    merged_ = std::max(merged_, edge_) + cycles;
    add_late(merging_, {domain().cycle_of(later(merged_)), r, {}});
  } else {
    pass_answer(r);
  }
}

void L2Slice::send_far(Request* r) {
  const L2PartitionParameters& partitions = parameters_.partitions;
  const auto due = [&](std::uint64_t sent) {
    return domain().cycle_of(later(sent + partitions.far_latency));
  };
  const NearCopies::Transfer transfer = core_.send_far(*r);
  if (r->command != Command::read) {
    const std::uint64_t sent = from_far_.send(edge_, bytes_to_home(*r), partitions.link_bytes_per_cycle);
    add_late(far_writes_, {due(sent), r, {}});
  } else if (transfer.sectors != 0) {
    const std::uint64_t sent = to_far_.send(
        edge_, std::uint64_t{kSectorBytes} * sector_count(transfer.sectors), partitions.link_bytes_per_cycle);
    add_late(far_reads_, {due(sent), transfer.entry == MissTable::kNone ? r : nullptr, transfer});
  }
}

void L2Slice::arrive_far(const NearCopies::Transfer& transfer) {
  RequestList served;
  core_.arrive(transfer, served);
  while (!served.empty()) {
    served.front()->far = false;
    served_.push(served.pop());
  }
}

/// Answers what is due. Returns whether anything was.
bool L2Slice::release_late(Cycle now) {
  bool moved = false;
  const auto release = [&](std::deque<Late>& late, auto&& next) {
    for (; !late.empty() && late.front().due <= now; late.pop_front(), --late_, moved = true)
      next(late.front());
  };
  const auto serve = [this](Request* r) {
    r->far = false;
    served_.push(r);
  };
  release(far_reads_,
          [&](const Late& l) { l.request == nullptr ? arrive_far(l.transfer) : serve(l.request); });
  release(far_writes_, [&](const Late& l) { serve(l.request); });
  release(merging_, [&](const Late& l) { pass_answer(l.request); });
  release(atomics_, [&](const Late& l) { pass_answer(l.request); });
  return moved;
}

/// Loosely timed, what comes late is answered at once, and settle_answers() adds up its time.
void L2Slice::answer_loosely(Request* r) {
  if (!r->far || r->command != Command::read) return served_.push(r);
  const NearCopies::Transfer transfer = core_.send_far(*r);
  if (transfer.entry == MissTable::kNone) return served_.push(r);
  RequestList served;
  core_.arrive(transfer, served);
  while (!served.empty()) served_.push(served.pop());
}

/// Loosely timed: marks all that is served in cycle `at` as answered, each in its time.
void L2Slice::settle_answers(Cycle at) {
  if (!answers_late_) return settle(served_, at);
  while (!served_.empty()) {
    Request* r = served_.pop();
    std::uint64_t edges = r->far ? far_cycles(*r, parameters_.partitions) : 0;
    edges += partial_sectors(*r) * parameters_.merge_cycles;
    if (is_atomic(*r) && parameters_.atomics.takes_time()) {
      const std::uint64_t parts = atomics_time(*r->atomics, parameters_.atomics, r->line == atomics_line_);
      atomics_line_ = r->line;
      edges +=
          std::max<std::uint64_t>(parameters_.atomics.latency + (parts + kAtomicParts - 1) / kAtomicParts, 1);
    }
    r->far = false;
    r->settled = true;
    r->settled_at = edges == 0 ? at : domain().cycle_of(domain().edge_at_or_after(at) + edges);
  }
}

/// Loosely timed: performs what is queued for the memories, sent in cycle `sent`, until nothing is. Returns
/// when all of it is answered.
Cycle L2Slice::perform_outgoing(Cycle sent) {
  Cycle done = sent;
  const auto perform_one = [&](RequestQueue& out, Out<RequestMessage>& to, In<ResponseMessage>& from) {
    Request* q = take(out);
    const bool writes = q->command == Command::write || q->sectors == 0;
    const Cycle back = perform_through(to, from, *q, sent);
    done = std::max(done, back);
    handle_response(*q);
    // Maintenance waits for the last of all writes.
    settle_answers(writes ? done : back);
    engine().wake_waiters();
  };
  while (out_count_ != 0) {
    for (std::size_t i = 0; i < dram_out_.size(); ++i)
      while (!dram_out_[i].empty()) perform_one(dram_out_[i], to_dram[i], from_dram[i]);
    while (!pcie_out_.empty()) perform_one(pcie_out_, to_pcie, from_pcie);
  }
  return done;
}

void L2Slice::perform(Request& r, Cycle& at) {
  r.settled = false;
  loose_ = true;
  refused_ = nullptr;
  while (!accept_new(r)) at = std::max(at, engine().wait_below());
  Cycle sent = at;
  settle_answers(sent);
  for (;;) {
    sent = perform_outgoing(sent);
    if (again_.empty()) break;
    Request* again = again_.pop();
    if (!accept(*again)) {
      again_.push_front(again);  // the access that holds the miss registers takes it up when done
      break;
    }
    settle_answers(sent);
    engine().wake_waiters();
  }
  at = wait_until_settled(r, at, engine());
}

/// Looks the next request up, unless it was refused and nothing has changed since. Returns whether it was
/// taken.
bool L2Slice::look_up_next(Cycle now) {
  const bool new_one = from_crossbar.ready(now);
  const bool again = !again_.empty() && !(mutated(L2Mutation::waiting_request_overtaken) && new_one);
  if (!again && (!new_one || merges())) return false;
  Request* r = again ? again_.front() : from_crossbar.front().request;
  if (r == refused_) return false;
  if (again) again_.pop();
  if (!(again ? accept(*r) : accept_new(*r))) {
    if (again) again_.push_front(r);
    refused_ = r;
    return false;
  }
  refused_ = nullptr;
  if (!again) from_crossbar.pop(now);
  return true;
}

Cycle L2Slice::tick(Cycle now) {
  bool moved = false;
  if (answers_late_) {
    loose_ = false;
    edge_ = domain().edge_at_or_after(now);
    moved = late_ != 0 && release_late(now);
    if (moved) refused_ = nullptr;
  }
  bool waiting = false, fill_waits = false;
  const auto take_fill = [&](In<ResponseMessage>& port) {
    bool waits = port.ready(now);
    if (waits && served_.size() < kFillLimit) {
      handle_response(*port.pop(now).request);
      fill_patience_.taken();
      moved = true;
      waits = port.ready(now);
    }
    fill_waits = fill_waits || (waits && served_.size() >= kFillLimit);
    waiting = waiting || waits;
  };
  for (In<ResponseMessage>& port : from_dram) take_fill(port);
  take_fill(from_pcie);
  fill_patience_.note(fill_waits);
  if (!fill_patience_.exhausted() && served_.size() < kServedLimit && out_count_ < kOutgoingLimit)
    moved = look_up_next(now) || moved;
  if (!served_.empty() && to_crossbar.ready(now)) {
    to_crossbar.send(now, {served_.pop()});
    fill_patience_.sent();
    moved = true;
  }
  if (out_count_ != 0) {
    for (std::size_t i = 0; i < dram_out_.size(); ++i) moved = send(dram_out_[i], to_dram[i], now) || moved;
    moved = send(pcie_out_, to_pcie, now) || moved;
  }
  waiting = waiting || !served_.empty() || out_count_ != 0 ||
            (refused_ == nullptr && (!again_.empty() || from_crossbar.ready(now)));
  const Cycle next = moved && waiting ? domain().after(now, 1) : kNever;
  return late_ != 0 ? std::min(next, next_due()) : next;
}

Cycle L2Slice::next_due() const {
  Cycle next = kNever;
  for (const std::deque<Late>* late : {&atomics_, &merging_, &far_reads_, &far_writes_})
    if (!late->empty()) next = std::min(next, late->front().due);
  return next;
}

void L2Slice::visit_gauges(GaugeVisitor& visitor) const {
  visitor.gauge("miss_registers", core_.misses().in_use(), core_.misses().capacity(), "lines being fetched");
  visitor.gauge("outgoing", out_count_, kUnlimitedGauge, "requests that wait for to_dram or to_pcie");
  visitor.gauge("answers", served_.size(), kUnlimitedGauge, "responses that wait for to_crossbar");
  visitor.gauge("write_backs", sysmem_writes_.outstanding(), kUnlimitedGauge,
                "of system memory, and flushes, that the link has not answered");
  visitor.gauge("atomics", atomics_.size(), kUnlimitedGauge, "requests that the atomics unit has to do with");
  visitor.gauge("merging", merging_.size(), kUnlimitedGauge,
                "writes of parts of sectors that are not merged yet");
  visitor.gauge("far", far_reads_.size() + far_writes_.size(), kUnlimitedGauge,
                "transfers and answers on their way to the other partition");
}

void L2Slice::explain(std::vector<Wait>& waits) const {
  core_.misses().explain(waits, this, name(), {});
  const auto room = [&](const PortBase& port, unsigned count, const char* what) {
    if (count != 0) port.explain_room(waits, std::to_string(count) + what);
  };
  for (std::size_t i = 0; i < dram_out_.size(); ++i) room(to_dram[i], dram_out_[i].size(), " requests");
  room(to_pcie, pcie_out_.size(), " requests");
  room(to_crossbar, served_.size(), " answers");
  if (!sysmem_writes_.idle())
    waits.push_back(
        {name(),
         std::to_string(sysmem_writes_.outstanding()) + " write-backs and flushes to be answered by the link",
         {to_pcie.other_side()},
         all_writes()});
}

void L2Slice::in_flight(std::vector<InFlight>& rows) const {
  core_.misses().in_flight(rows, this, name(), {});
  for (std::size_t i = 0; i < dram_out_.size(); ++i) to_dram[i].list_waiting(rows, dram_out_[i].list());
  to_pcie.list_waiting(rows, pcie_out_.list());
  to_crossbar.list_waiting(rows, served_.list());
  list_all(rows, again_, name(), name() + " waiting line", "its turn after the fill of its line", {});
  const auto list_late = [&](const std::deque<Late>& late, const char* why) {
    for (const Late& l : late)
      if (l.request != nullptr)
        rows.emplace_back(*l.request, name(), name(), why, std::vector<std::string>{}, Awaited{});
  };
  list_late(atomics_, "the atomics unit");
  list_late(merging_, "the rest of the sectors that it writes parts of");
  list_late(far_reads_, "the way to the other partition");
  list_late(far_writes_, "the way to the other partition");
  if (const NearCopies* near = core_.near(); near != nullptr)
    near->transfers().for_each([&](unsigned, const MissTable::Entry& e) {
      list_all(rows, e.waiters, name(), name(), "the way to the other partition", {});
    });
  sysmem_writes_.for_each_drain([&](const Request& r) {
    rows.emplace_back(r, name(), name() + " drain",
                      "the write-backs and flushes before it to be answered by the link",
                      std::vector<std::string>{to_pcie.other_side()}, all_writes());
  });
}

}  // namespace warpline
