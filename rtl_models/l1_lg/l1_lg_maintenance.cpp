// What L1 does with single lines and with all of a kind, in time.
#include "warpline/l1_lg/l1_lg.h"

namespace warpline {

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
  const ReadOutcome out = core_.prefetch(r);
  if (out.fetch == 0) return;
  Request* f = child_of(r, Command::read);
  f->sectors = out.fetch;
  f->token = out.entry;
  queue_out(f);
  ++fetches_;
}

void L1Lg::finish_maintenance(Request& r) {
  if ((r.maintenance & maintenance::kInvalidate) != 0) core_.invalidate_global();
  if ((r.maintenance & maintenance::kInvalidateSurfaces) != 0) core_.invalidate_surfaces();
  if ((r.maintenance & maintenance::kInvalidateLocal) != 0) {
    flushing_.push(&r);
  } else {
    serve(&r);
  }
}

/// Writes one dirty local line back, or finds that there is none left and drops them all. False: there is no
/// place for a write-back now.
bool L1Lg::flush_step() {
  if (out_count_ + fetches_ >= out_capacity_) return false;
  const Evicted evicted = core_.clean_next_local(flushed_);
  if (evicted.happened) {
    write_back(evicted, *flushing_.front());
    return true;
  }
  core_.invalidate_local();
  flushed_ = 0;
  serve(flushing_.pop());
  return true;
}

/// Loosely timed: all of it at once, whatever room there is.
void L1Lg::flush() {
  while (!flushing_.empty()) {
    for (Evicted e = core_.clean_next_local(flushed_); e.happened; e = core_.clean_next_local(flushed_))
      write_back(e, *flushing_.front());
    core_.invalidate_local();
    flushed_ = 0;
    serve(flushing_.pop());
  }
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

}  // namespace warpline
