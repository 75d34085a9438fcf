#include "rtl_models/l1_lg/l1_lg.h"

#include <algorithm>

#include "rtl_models/l1_lg/l1_lg_mutations.h"
#include "rtl_models/sim/gauge_visitor.h"

namespace warpline {
namespace {

/// Requests leave in their order (R5).
bool overtakes(const Request& r) {
  return (r.command == Command::read && mutated(L1LgMutation::read_overtakes)) ||
         (r.command == Command::write && mutated(L1LgMutation::write_overtakes));
}

}  // namespace

L1Lg::L1Lg(Engine& engine, std::string name, ClockDomain domain, const L1LgParameters& parameters,
           bool with_data, unsigned ports)
    : Component(engine, std::move(name), domain),
      core_(parameters, with_data),
      with_data_(with_data),
      out_capacity_(parameters.outgoing),
      ports_(ports) {
  sides_.push_back({&from_sm, &to_sm, {}});
  for (unsigned n = 1; n < ports; ++n) {
    Port& port = more_.emplace_back(*this, n);
    sides_.push_back({&port.from_sm, &port.to_sm, {}});
  }
  for (const Side& side : sides_) side.from->perform_by(*this);
}

void L1Lg::queue_out(Request* r) {
  if (overtakes(*r)) {
    outgoing_.push_front(r);
  } else {
    outgoing_.push(r);
  }
}

/// Queues the fetch that a miss of `r` asks for.
Request& L1Lg::fetch(const Request& r, const ReadOutcome& out) {
  Request* f = child_of(r, Command::read);
  f->sectors = out.fetch;
  f->token = out.entry;
  queue_out(f);
  ++fetches_;
  return *f;
}

void L1Lg::write_back(const Evicted& evicted, const Request& cause) {
  if (!evicted.dirty.any()) return;
  Request* w = child_of(cause, Command::write);
  w->line = evicted.home;
  w->virtual_line = VirtualAddress{0};
  w->local = true;
  w->surface = false;
  w->scope = Scope::none;
  w->cache_operator = CacheOperator::none;
  w->last_use = false;
  w->l2_priority = EvictionPriority::none;
  w->prefetch = 0;
  w->region = 0;
  w->bytes = evicted.dirty;
  w->sectors = evicted.dirty.sectors();
  if (evicted.data != nullptr) __builtin_memcpy(w->data.data(), evicted.data, kLineBytes);
  w->token = writes_.sent();
  posted_.sent(*w);
  queue_out(w);
}

bool L1Lg::has_room_to_prefetch(const Request& r) const {
  // A fetch, its prefetch, and the write-back of what its fill replaces.
  constexpr unsigned kPlaces = 3;
  return r.prefetch >> kOtherLineShift == 0 || out_capacity_ < kPlaces ||
         outgoing_.size() + fetches_ + kPlaces <= out_capacity_;
}

void L1Lg::prefetch_other_line(Request& r) {
  // A hint takes no place that a write-back may need: the shortest queue has none for it.
  if (outgoing_.size() + fetches_ < out_capacity_) {
    if (Request* p = pool().allocate_prefetch(r, this); p != nullptr) {
      queue_out(p);
      core_.count_prefetch();
    }
  }
  r.prefetch = r.prefetch & kAllSectors;
}

L1Lg::Accepted L1Lg::accept_read(Request& r) {
  if (r.prefetch != 0 && !has_room_to_prefetch(r)) return Accepted::no;
  if (!core_.serves(r)) {
    queue_out(&r);
    if (r.prefetch != 0) prefetch_other_line(r);
    return Accepted::yes;
  }
  const ReadOutcome out = core_.read(r);
  switch (out.kind) {
    case ReadOutcome::Kind::stall: return Accepted::no;
    case ReadOutcome::Kind::hit: return Accepted::answer;
    case ReadOutcome::Kind::wait: break;
  }
  if (out.fetch == 0) return Accepted::yes;
  fetch(r, out).prefetch = static_cast<SectorMask>(r.prefetch & kAllSectors & ~r.sectors);
  if (r.prefetch != 0) prefetch_other_line(r);
  return Accepted::yes;
}

void L1Lg::accept_write(Request& r) {
  if (r.command == Command::write && r.local) {
    write_back(core_.store_local(r), r);
  } else {
    if (r.command != Command::write) {
      core_.pass_atomic(r);
    } else {
      core_.store_global(r);
    }
    Request* w = child_of(r, r.command);
    if (r.command == Command::write) {
      w->bytes = r.bytes;
      w->exact = r.exact;
    } else {
      w->atomics = r.atomics;
      r.atomics = nullptr;
    }
    if (with_data_ && r.command == Command::write) copy_sectors(w->data.data(), r.data.data(), r.sectors);
    const bool unacknowledged =
        r.command == Command::reduce && mutated(L1LgMutation::reduction_unacknowledged);
    if (unacknowledged) w->surface = true;
    w->token = (r.surface || unacknowledged ? surface_writes_ : writes_).sent();
    posted_.sent(*w);
    queue_out(w);
  }
}

L1Lg::Accepted L1Lg::accept(Request& r) {
  switch (r.command) {
    case Command::read: return accept_read(r);
    case Command::write:
    case Command::reduce: accept_write(r); return Accepted::answer;
    case Command::atomic:
      core_.pass_atomic(r);
      r.epoch = writes_.sent();
      queue_out(&r);
      return Accepted::yes;
    case Command::control: accept_control(r); return Accepted::answer;
    case Command::maintain:
      if ((r.maintenance & maintenance::kDrain) != 0) {
        writes_.drain(&r, half_drained_);
      } else {
        half_drained_.push(&r);
      }
      advance_drained();
      return Accepted::yes;
  }
  return Accepted::yes;
}

void L1Lg::handle_response(Request& r) {
  if (r.maker != this) {
    if (r.command == Command::maintain) {
      finish_maintenance(r);
      return;
    }
    if (r.command == Command::atomic) writes_.acknowledged(r.epoch, half_drained_);
    r.came_from(AnsweredBy::l2);
    answers_of(r).push(&r);
  } else if (r.command == Command::read && r.sectors == 0) {
    pool().release(&r);  // a prefetch: nothing comes of it here
  } else if (r.command == Command::read) {
    --fetches_;
    RequestList now_served;
    write_back(core_.fill(r, now_served), r);
    RequestQueue& served = answers_of(r);  // all of one line
    while (!now_served.empty()) served.push(now_served.pop());
    pool().release(&r);
  } else {
    posted_.performed(r);
    // Of control requests a discard only is a write.
    if (r.surface) {
      surface_writes_.acknowledged(r.token, drained_);
    } else if (r.command != Command::control || r.control == LineControl::discard) {
      writes_.acknowledged(r.token, half_drained_);
    }
    pool().release(&r);
  }
  if (!half_drained_.empty() || !drained_.empty()) advance_drained();
}

bool L1Lg::take(Cycle now, Side& side) {
  if (!flushing_.empty() || side.served.size() >= kHitLimit ||
      outgoing_.size() + fetches_ + 2 > out_capacity_)
    return false;
  Request* r = side.from->front().request;
  const Accepted accepted = r->command == Command::read ? accept_read(*r) : accept(*r);
  if (accepted == Accepted::no) return false;
  side.from->pop(now);
  if (accepted != Accepted::answer) return true;
  if (side.served.empty() && side.to->ready(now)) {
    send_answer(now, side, r);
  } else {
    side.served.push(r);
  }
  return true;
}

bool L1Lg::answer(Cycle now, Side& side) {
  if (!side.to->ready(now)) return false;
  send_answer(now, side, side.served.pop());
  return true;
}

Cycle L1Lg::tick(Cycle now) {
  bool moved = false, fill_waits = from_crossbar.ready(now);
  const auto fill_may_come = [&] { return answers_of(*from_crossbar.front().request).size() < kFillLimit; };
  if (fill_waits && fill_may_come()) {
    handle_response(*from_crossbar.pop(now).request);
    fill_patience_.taken();
    moved = true;
    fill_waits = from_crossbar.ready(now);
  }
  if (!flushing_.empty() && outgoing_.size() + fetches_ < out_capacity_) {
    flush_one();
    moved = true;
  }
  fill_patience_.note(fill_waits && !fill_may_come());
  // A request may put two messages in the outgoing queue. Each fetch under way may put one there, too: the
  // write-back of the line that its fill replaces.
  const bool takes = !fill_patience_.exhausted();
  // What has not arrived yet will wake us; what has and could not be taken is asked again.
  bool waits = fill_waits;
  for (Side& side : sides_) {
    if (side.from->ready(now)) {
      const bool taken = takes && take(now, side);
      moved = moved || taken;
      waits = waits || !taken || side.from->ready(now);
    }
    if (side.served.empty()) continue;
    moved = answer(now, side) || moved;
    waits = waits || !side.served.empty();
  }
  if (!outgoing_.empty() && to_crossbar.ready(now)) {
    to_crossbar.send(now, {outgoing_.pop()});
    moved = true;
  }
  const bool more = waits || !outgoing_.empty() || !flushing_.empty();
  return moved && more ? domain().after(now, 1) : kNever;
}

void L1Lg::perform(Request& r, Cycle& at) {
  Accepted accepted = accept(r);
  for (; accepted == Accepted::no; accepted = accept(r)) at = std::max(at, engine().wait_below());
  if (accepted == Accepted::answer && outgoing_.empty()) return;  // answered at once: the usual case, a hit
  r.settled = false;
  if (accepted == Accepted::answer) answers_of(r).push(&r);
  flush();
  perform_outgoing(at);
  at = wait_until_settled(r, at, engine());
}

/// Loosely timed: performs what is queued for the crossbar, sent in cycle `sent`, until nothing is.
void L1Lg::perform_outgoing(Cycle sent) {
  settle_all(sent);
  while (!outgoing_.empty()) {
    Request* out = outgoing_.pop();
    const Cycle back = perform_through(to_crossbar, from_crossbar, *out, sent);
    handle_response(*out);
    flush();
    settle_all(back);
    engine().wake_waiters();
  }
}

void L1Lg::accept_control(const Request& r) {
  if (r.control >= LineControl::write_back) {
    write_back(core_.control_line(r), r);
    return;
  }
  if (r.control != LineControl::prefetch_l1) {
    core_.pass_control(r);
    Request* c = child_of(r, Command::control);
    c->control = r.control;
    if (r.control == LineControl::discard) c->token = writes_.sent();
    queue_out(c);
    return;
  }
  if (const ReadOutcome out = core_.prefetch(r); out.fetch != 0) fetch(r, out);
}

void L1Lg::finish_maintenance(Request& r) {
  if ((r.maintenance & maintenance::kInvalidate) != 0) core_.invalidate_global();
  if ((r.maintenance & maintenance::kInvalidateSurfaces) != 0) core_.invalidate_surfaces();
  if ((r.maintenance & maintenance::kInvalidateLocal) != 0) {
    flushing_.push(&r);
  } else {
    sides_.front().served.push(&r);
  }
}

/// Writes one dirty local line back, or finds that there is none left and drops them all.
void L1Lg::flush_one() {
  const Evicted evicted = core_.clean_next_local(flushed_);
  if (evicted.happened) return write_back(evicted, *flushing_.front());
  core_.invalidate_local();
  flushed_ = 0;
  sides_.front().served.push(flushing_.pop());
}

/// Loosely timed: all of it at once, whatever room there is.
void L1Lg::flush() {
  while (!flushing_.empty()) flush_one();
}

void L1Lg::advance_drained() {
  while (!half_drained_.empty()) {
    Request* r = half_drained_.pop();
    if ((r->maintenance & maintenance::kDrainSurfaces) != 0) {
      surface_writes_.drain(r, drained_);
    } else {
      drained_.push(r);
    }
  }
  while (!drained_.empty()) {
    Request* r = drained_.pop();
    if ((r->maintenance & (maintenance::kWriteBackSysmem | maintenance::kDiscardSysmem)) != 0) {
      queue_out(r);
    } else {
      finish_maintenance(*r);
    }
  }
}

void L1Lg::visit_gauges(GaugeVisitor& visitor) const {
  visitor.gauge("miss_registers", core_.misses().in_use(), core_.misses().capacity(), "lines being fetched");
  visitor.gauge("outgoing", outgoing_.size(), out_capacity_, "requests that wait for to_crossbar");
  visitor.gauge("answers", answers(), kUnlimitedGauge, "responses that wait for to_sm");
  visitor.gauge("writes", outstanding_writes(), kUnlimitedGauge, "writes that L2 has not acknowledged");
}

void L1Lg::explain(std::vector<Wait>& waits) const {
  const std::string below = to_crossbar.other_side();
  core_.misses().explain(waits, this, name(), {below});
  if (outstanding_writes() != 0)
    waits.push_back({name(),
                     std::to_string(outstanding_writes()) + " writes to be performed at L2",
                     {below},
                     all_writes()});
  if (!flushing_.empty())
    waits.push_back({name(), to_crossbar.room() + ", to write dirty local lines back", {below}});
  if (!outgoing_.empty()) to_crossbar.explain_room(waits, std::to_string(outgoing_.size()) + " requests");
  for (const Side& s : sides_)
    if (!s.served.empty()) s.to->explain_room(waits, std::to_string(s.served.size()) + " answers");
}

void L1Lg::in_flight(std::vector<InFlight>& rows) const {
  const std::string below = to_crossbar.other_side();
  core_.misses().in_flight(rows, this, name(), {below});
  for (const Side& s : sides_) s.to->list_waiting(rows, s.served.list());
  list_all(rows, flushing_, name(), name() + " flush", "dirty local lines to be written back", {below});
  to_crossbar.list_waiting(rows, outgoing_.list());
  for (const WriteTracker* tracker : {&writes_, &surface_writes_})
    tracker->for_each_drain([&](const Request& r) {
      rows.emplace_back(r, name(), name() + " drain", "the writes before it to be performed at L2",
                        std::vector<std::string>{below}, all_writes());
    });
}

}  // namespace warpline
