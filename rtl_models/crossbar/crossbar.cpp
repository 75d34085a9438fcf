#include "rtl_models/crossbar/crossbar.h"

#include <algorithm>

#include "rtl_models/base/text.h"
#include "rtl_models/crossbar/crossbar_mutations.h"
#include "rtl_models/sim/gauge_visitor.h"

namespace warpline {
Crossbar::Crossbar(Engine& engine, std::string name, ClockDomain domain, const CrossbarParameters& parameters,
                   unsigned clients, unsigned slices, CrossbarWidths widths, unsigned switches,
                   const std::vector<NetworkPlace>& places)
    : Component(engine, std::move(name), domain),
      core_(parameters, slices, switches),
      widths_(widths),
      slices_(slices),
      outputs_(slices + switches),
      client_arrivals_(clients),
      slice_arrivals_(outputs_),
      down_(outputs_, clients),
      up_(clients, outputs_ + 1),
      resting_(clients, outputs_),
      entering_(clients),
      replying_(outputs_),
      postponed_(clients, false),
      copying_(clients),
      finished_of_(clients) {
  WARPLINE_EXPECT(clients >= 1 && clients <= 65536 && outputs_ <= 65536,
                  "a crossbar has 1 to 65536 ports a side");
  WARPLINE_EXPECT(places.empty() || places.size() == clients, "each client has a place in the network");
  if (parameters.has_way() && !places.empty())
    network_ = std::make_unique<CrossbarNetwork>(parameters.network, parameters.translation, places, slices,
                                                 outputs_);
  if (network_ != nullptr && network_->walks() != nullptr) {
    WARPLINE_EXPECT(clients < kNoClient, "walks have a port number of their own");
    walks_client_ = network_->walks_client();
  }
  for (unsigned i = 0; i < clients; ++i) {
    from_client_.push_back(std::make_unique<In<RequestMessage>>(*this, indexed("from_client", i)));
    to_client_.push_back(std::make_unique<Out<ResponseMessage>>(*this, indexed("to_client", i)));
    from_client_.back()->attach(client_arrivals_, i);
    if (network_ != nullptr) {
      from_client_.back()->perform_by(entrances_.emplace_back(*this, i));
    } else {
      from_client_.back()->perform_by(*this);
    }
  }
  for (unsigned i = 0; i < outputs_; ++i) {
    const bool slice = i < slices;
    to_l2_.push_back(std::make_unique<Out<RequestMessage>>(
        *this, slice ? indexed("to_l2", i) : indexed("to_switch", i - slices)));
    from_l2_.push_back(std::make_unique<In<ResponseMessage>>(
        *this, slice ? indexed("from_l2", i) : indexed("from_switch", i - slices)));
    from_l2_.back()->attach(slice_arrivals_, i);
  }
}

Cycle Crossbar::tick(Cycle now) {
  if (network_ != nullptr) return tick_network(now);
  client_arrivals_.collect(now, [this, now](unsigned client) { enter_request(now, client); });
  slice_arrivals_.collect(now, [this, now](unsigned slice) { enter_response(now, slice); });
  down_.for_each_asked([this, now](unsigned slice) { grant_request(now, slice); });
  up_.for_each_asked([this, now](unsigned client) { grant_response(now, client); });
  if (resting_.drawn()) return advance_resting(now);
  // Heads that could not go wait for an output, whose failed ready() wakes us, or for their turn
  // behind a message of this cycle, and then grant_*() asked that output too.
  return kNever;
}

void Crossbar::enter_request(Cycle now, unsigned client) {
  Request* r = from_client_[client]->front().request;
  if (r->command == Command::maintain) {
    postponed_[client] = resting_.of_client(client) != 0;
    if (!postponed_[client]) begin_maintenance(client);
    return;
  }
  const unsigned slice = route_of(*r);
  if (!resting_.drawn()) {
    down_.ask(slice, client);
    return;
  }
  from_client_[client]->pop(now);
  resting_.add(now, domain(), r, client, slice);
}

Cycle Crossbar::tick_network(Cycle now) {
  const std::uint64_t edge = domain().edge_at_or_after(now);
  // What is due now goes before what enters now, which may be due at once: none overtakes another of its
  // pair.
  network_->advance(edge);
  // Those of one cycle enter in the order of their ports, which no carrier changes.
  client_arrivals_.collect(now, [this](unsigned client) { entering_.insert(client); });
  slice_arrivals_.collect(now, [this](unsigned output) { replying_.insert(output); });
  entering_.for_each([&](unsigned client) {
    if (may_enter(client)) enter_network(now, edge, client);
  });
  replying_.for_each([&](unsigned output) { reply_network(now, edge, output); });
  Cycle next = resting_.drawn() ? resting_.advance(now, domain(), down_) : kNever;
  down_.for_each_asked([&](unsigned output) {
    while (down_.asking(output) != 0) {
      const unsigned client = down_.choose(output);
      down_.grant(output, client);
      count_entry(client, network_->enter_request(edge, resting_.take(client, output), client, output));
    }
  });
  if (walks_read()) next = std::min(next, advance_walks(edge));
  network_->for_each_output([this, now](unsigned output) { send_request(now, output); });
  network_->for_each_client([this, now](unsigned client) { send_reply(now, client); });
  // What has left may make room.
  bool more = false;
  entering_.for_each([&](unsigned client) { more = more || may_enter(client); });
  replying_.for_each([&](unsigned output) { more = more || network_->has_room_for_reply(output); });
  if (more) next = domain().after(now, 1);
  if (network_->next() != ~std::uint64_t{0}) next = std::min(next, domain().cycle_of(network_->next()));
  return next;
}

/// Whether the first request of a client may be taken from its port.
bool Crossbar::may_enter(unsigned client) const {
  if (from_client_[client]->front().request->command == Command::maintain)
    return network_->requests_of(client) == 0 && resting_.of_client(client) == 0;
  return resting_.drawn() || network_->has_room_for_request(client);
}

void Crossbar::enter_network(Cycle now, std::uint64_t edge, unsigned client) {
  entering_.erase(client);
  Request* r = from_client_[client]->pop(now).request;
  if (r->command == Command::maintain) {
    copying_[client] = {slices_, core_.begin_maintenance(r)};
    for (unsigned slice = 0; slice < slices_; ++slice)
      network_->pass_request(copy_for_slice(client), client, slice);
    return;
  }
  const unsigned output = route_of(*r);
  if (resting_.drawn()) {
    resting_.add(now, domain(), r, client, output);
  } else {
    count_entry(client, network_->enter_request(edge, r, client, output));
  }
}

void Crossbar::reply_network(Cycle now, std::uint64_t edge, unsigned output) {
  Request* r = from_l2_[output]->front().request;
  if (r->command == Command::maintain) {
    replying_.erase(output);
    from_l2_[output]->pop(now);
    const unsigned client = r->route;
    Request* original = core_.end_child(*r);
    pool().release(r);
    if (original != nullptr) network_->pass_reply(original, client);
    return;
  }
  if (r->route == walks_client_) {
    replying_.erase(output);
    from_l2_[output]->pop(now);
    network_->answer_walk(edge, r->token);
    pool().release(r);
    return;
  }
  if (!network_->has_room_for_reply(output)) return;
  replying_.erase(output);
  from_l2_[output]->pop(now);
  if (network_->inside(r->route)) ++counters_.network_replies;
  counters_.network_waits += network_->enter_reply(edge, r, r->route, output);
}

/// Sends what walks read now, and returns when there is more to be done for them.
Cycle Crossbar::advance_walks(std::uint64_t edge) {
  PageWalks& walks = *network_->walks();
  walks.advance(edge, [&](const PageWalks::Read& read) {
    Request* r = make_read(read.page, read.level, read.on_behalf);
    r->token = static_cast<std::uint16_t>(read.walker);
    network_->pass_request(r, walks_client_, core_.slice_of(r->line));
  });
  return walks.next() == ~std::uint64_t{0} ? kNever : domain().cycle_of(walks.next());
}

Request* Crossbar::make_read(std::uint64_t page, unsigned level, const RequestHead& on_behalf) {
  const PhysicalAddress entry = network_->translation()->read_entry(page, level);
  Request* r = pool().allocate();
  r->maker = network_.get();
  r->id = on_behalf.id;
  r->gpu = on_behalf.gpu;
  r->sm = on_behalf.sm;
  r->warp = on_behalf.warp;
  r->line = line_of(entry);
  r->sectors = static_cast<SectorMask>(1U << offset_in_line(entry) / kSectorBytes);
  return r;
}

void Crossbar::send_request(Cycle now, unsigned output) {
  Out<RequestMessage>& out = *to_l2_[output];
  if (!out.ready(now)) return;
  const CrossbarNetwork::Entry& e = network_->take_request(output);
  counters_.conflicts += network_->waiting_at_output(output);
  e.request->route = e.client;
  e.client == walks_client_ ? count_walk(*e.request) : count_request(*e.request);
  out.send(now, {e.request});
  if (network_->waiting_at_output(output) != 0) static_cast<void>(out.ready(now));
}

void Crossbar::send_reply(Cycle now, unsigned client) {
  Out<ResponseMessage>& out = *to_client_[client];
  if (!out.ready(now)) return;
  Request* r = network_->take_reply(client).request;
  counters_.conflicts += network_->waiting_for_client(client);
  count_response(*r);
  out.send(now, {r});
  if (network_->waiting_for_client(client) != 0) static_cast<void>(out.ready(now));
}

/// The output that a request leaves by.
unsigned Crossbar::route_of(const Request& r) const {
  if (aperture_of(r.line) == Aperture::peer && mutated(CrossbarMutation::peer_lines_spread))
    return static_cast<unsigned>(line_number(r.line) % slices_);
  return core_.output_of(r.line);
}

/// Returns when there is more to be done for requests that rest, or for maintenance that waits for them.
Cycle Crossbar::advance_resting(Cycle now) {
  Cycle next = resting_.advance(now, domain(), down_);
  for (unsigned client = 0; client < postponed_.size(); ++client) {
    if (!postponed_[client] || resting_.of_client(client) != 0) continue;
    postponed_[client] = false;
    begin_maintenance(client);
    next = domain().after(now, 1);
  }
  return next;
}

void Crossbar::grant_request(Cycle now, unsigned slice) {
  Out<RequestMessage>& out = *to_l2_[slice];
  if (!out.ready(now)) return;
  const unsigned client = down_.choose(slice);
  In<RequestMessage>& in = *from_client_[client];
  down_.grant(slice, client);
  counters_.conflicts += down_.asking(slice);
  Request* r = resting_.take(client, slice);
  if (r == nullptr) {
    r = in.front().request;
    if (r->command == Command::maintain) {
      r = copy_for_slice(client);
      if (copying_[client].left == 0) in.pop(now);
    } else {
      in.pop(now);
    }
  }
  r->route = static_cast<std::uint16_t>(client);
  count_request(*r);
  out.send(now, {r});
  if (down_.asking(slice) != 0) static_cast<void>(out.ready(now));  // not yet: asks for the wake
}

/// A message goes to a slice. Copies of a maintenance request are messages of their own to the slices, and
/// one request of a client's.
void Crossbar::count_request(const Request& r) {
  counters_.beats += RequestMessage{const_cast<Request*>(&r)}.beats(widths_.request);
  switch (r.command) {
    case Command::write: counters_.request_sectors += sector_count(r.sectors); break;
    case Command::read: counters_.read_sectors_requested += sector_count(r.sectors); break;
    case Command::maintain: ++counters_.maintenance_copies; return;
    case Command::atomic:
    case Command::reduce:
    case Command::control: break;
  }
  ++counters_.request_messages;
}

/// A read of a walk goes to a slice.
void Crossbar::count_walk(const Request& r) {
  counters_.beats += RequestMessage{const_cast<Request*>(&r)}.beats(widths_.request);
  counters_.read_sectors_requested += sector_count(r.sectors);
}

/// A message goes to a client.
void Crossbar::count_response(const Request& r) {
  const unsigned beats = ResponseMessage{const_cast<Request*>(&r)}.beats(widths_.response);
  counters_.beats += beats;
  counters_.reply_beats += beats;
  ++counters_.response_messages;
  if (r.command == Command::read) counters_.response_sectors += sector_count(r.sectors);
}

Request* Crossbar::copy_for_slice(unsigned client) {
  Copying& copying = copying_[client];
  Request* copy = core_.make_child(copying.number, pool(), this);
  if (--copying.left == 0) {
    ++counters_.request_messages;
    ++counters_.maintenance_requests;
  }
  return copy;
}

void Crossbar::enter_response(Cycle now, unsigned slice) {
  Request* r = from_l2_[slice]->front().request;
  if (r->command != Command::maintain) {
    up_.ask(r->route, slice);
    return;
  }
  from_l2_[slice]->pop(now);
  const unsigned client = r->route;
  Request* original = core_.end_child(*r);
  pool().release(r);
  if (original == nullptr) return;
  if (finished_of_[client].empty()) up_.ask(client, outputs_);
  finished_of_[client].push(original);
  ++finished_;
}

void Crossbar::grant_response(Cycle now, unsigned client) {
  Out<ResponseMessage>& out = *to_client_[client];
  if (!out.ready(now)) return;
  const unsigned input = up_.choose(client);
  up_.grant(client, input);
  counters_.conflicts += up_.asking(client);
  Request* r = nullptr;
  if (input == outputs_) {
    r = finished_of_[client].pop();
    --finished_;
    if (!finished_of_[client].empty()) up_.ask(client, outputs_);
  } else {
    r = from_l2_[input]->pop(now).request;
  }
  count_response(*r);
  out.send(now, {r});
  if (up_.asking(client) != 0) static_cast<void>(out.ready(now));
}

void Crossbar::perform_maintenance(Request& r, Cycle& at) {
  const std::uint16_t number = core_.begin_maintenance(&r);
  ++counters_.request_messages;
  ++counters_.maintenance_requests;
  const Cycle sent = at;
  for (unsigned slice = 0; slice < slices_; ++slice) {
    Request* copy = core_.make_child(number, pool(), this);
    count_request(*copy);
    at = std::max(at, perform_through(*to_l2_[slice], *from_l2_[slice], *copy, sent));
    static_cast<void>(core_.end_child(*copy));
    pool().release(copy);
  }
  count_response(r);
}

void Crossbar::perform(Request& r, Cycle& at) {
  if (r.command == Command::maintain) {
    perform_maintenance(r, at);
    return;
  }
  count_request(r);
  const unsigned slice = core_.output_of(r.line);
  at = perform_through(*to_l2_[slice], *from_l2_[slice], r, at);
  count_response(r);
}

void Crossbar::perform_from(unsigned client, Request& r, Cycle& at) {
  if (r.command != Command::maintain && network_->inside(client)) {
    ++counters_.network_requests;
    unsigned cycles = 0;
    bool walked = false;
    if (walks_read())
      walked = network_->translate_loosely(client, r, cycles);
    else
      cycles = network_->translate(client, r);
    const Cycle translated = domain().after(at, cycles);
    at = domain().after(translated, network_->distance(client, core_.output_of(r.line)));
    ++counters_.network_replies;
    perform(r, at);
    if (!walked) return;
    // Behind it: what is waited for below would let later requests of the client go before it.
    Cycle walk = translated;
    perform_walk(r, walk);
    at += walk - translated;
    return;
  }
  perform(r, at);
}

/// What the walk for the page of `r` reads.
void Crossbar::perform_walk(const Request& r, Cycle& at) {
  const Translation& translation = *network_->translation();
  const std::uint64_t page = translation.page_of(r);
  for (unsigned level = translation.levels(); level-- > 0;) {
    Request* read = make_read(page, level, r);
    const unsigned slice = core_.slice_of(read->line);
    read->route = static_cast<std::uint16_t>(walks_client_);
    count_walk(*read);
    at = perform_through(*to_l2_[slice], *from_l2_[slice], *read, at);
    pool().release(read);
  }
}

void Crossbar::visit_gauges(GaugeVisitor& visitor) const {
  unsigned down = 0, up = 0;
  for (unsigned slice = 0; slice < outputs_; ++slice) down += down_.asking(slice);
  for (unsigned client = 0; client < to_client_.size(); ++client) up += up_.asking(client);
  if (network_ != nullptr) {
    network_->for_each_output([&](unsigned output) { down += network_->waiting_at_output(output); });
    network_->for_each_client([&](unsigned client) { up += network_->waiting_for_client(client); });
    visitor.gauge("requests_waiting", down, kUnlimitedGauge, "requests to be sent to slices");
    visitor.gauge("responses_waiting", up, kUnlimitedGauge, "responses to be sent to clients");
    visitor.gauge("network", network_->held() - down - up - network_->untranslated(), kUnlimitedGauge,
                  "messages on their way through TPCs and GPCs");
    if (const PageWalks* const walks = network_->walks(); walks != nullptr) {
      visitor.gauge("untranslated", network_->untranslated(), kUnlimitedGauge,
                    "requests that wait for a walk through page tables, or behind one that does");
      visitor.gauge("walkers", walks->walking(), walks->walkers(), "walks that read page tables");
      visitor.gauge("walks_waiting", walks->waiting(), kUnlimitedGauge, "walks that wait for a walker");
    }
    visitor.gauge("maintenance", core_.maintenance_under_way(), kUnlimitedGauge,
                  "maintenance requests to be answered by every slice");
    return;
  }
  visitor.gauge("requests_waiting", down, std::uint64_t{outputs_} * to_client_.size(),
                "pairs of a client's first request and a slice it is for, to be sent");
  visitor.gauge("responses_waiting", up, outputs_ + to_client_.size(), "slices' first responses to be sent");
  visitor.gauge("maintenance", core_.maintenance_under_way(), kUnlimitedGauge,
                "maintenance requests to be answered by every slice");
}

void Crossbar::explain(std::vector<Wait>& waits) const {
  down_.for_each_asked([&](unsigned slice) {
    to_l2_[slice]->explain_room(waits, std::to_string(down_.asking(slice)) + " requests");
  });
  up_.for_each_asked([&](unsigned client) {
    to_client_[client]->explain_room(waits, std::to_string(up_.asking(client)) + " answers");
  });
  if (network_ != nullptr) {
    network_->for_each_output([&](unsigned output) {
      to_l2_[output]->explain_room(waits, std::to_string(network_->waiting_at_output(output)) + " requests");
    });
    network_->for_each_client([&](unsigned client) {
      to_client_[client]->explain_room(waits,
                                       std::to_string(network_->waiting_for_client(client)) + " answers");
    });
  }
  if (network_ != nullptr && network_->untranslated() != 0)
    waits.push_back({name(),
                     counted(network_->walks()->walking() + network_->walks()->waiting(), "walk") +
                         " through page tables, for " + counted(network_->untranslated(), "request"),
                     {},
                     {network_.get()}});
  resting_.for_each_queue([&](unsigned slice, const auto& entries) {
    waits.push_back({name(),
                     "the turn of " + std::to_string(entries.size()) + " requests in a queue",
                     {to_l2_[slice]->other_side()}});
  });
  if (core_.maintenance_under_way() != 0)
    waits.push_back({name(),
                     std::to_string(core_.maintenance_under_way()) +
                         " maintenance requests to be answered by every slice",
                     {},
                     {this}});
}

void Crossbar::in_flight(std::vector<InFlight>& rows) const {
  std::vector<bool> at_port(65536, false);  // it is listed there until its last copy has left
  for (const Copying& c : copying_)
    if (c.left != 0) at_port[c.number] = true;
  core_.for_each_maintenance([&](std::uint16_t number, const Request& r) {
    if (at_port[number]) return;
    rows.emplace_back(r, name(), name() + " maintenance", "every slice to answer its copy",
                      std::vector<std::string>{}, Awaited{this, number});
  });
  resting_.for_each_queue([&](unsigned, const auto& entries) {
    for (const RestingRequests::Entry& e : entries)
      rows.emplace_back(
          *e.request, name(), name() + " queue",
          e.until == kNever ? "a hold to end" : "cycle " + std::to_string(e.until) + ", and its turn",
          std::vector<std::string>{});
  });
  if (walks_read()) list_untranslated(rows);
  if (network_ != nullptr)
    network_->for_each([&](const CrossbarNetwork::Entry& e, bool queued) {
      if (!queued) {
        const Cycle until = domain().cycle_of(e.due);
        rows.emplace_back(*e.request, name(), name() + " network", "cycle " + std::to_string(until));
      } else if (e.reply) {
        const Out<ResponseMessage>& out = *to_client_[e.client];
        rows.emplace_back(*e.request, name(), out.path(), out.room(),
                          std::vector<std::string>{out.other_side()});
      } else {
        const Out<RequestMessage>& out = *to_l2_[e.port];
        rows.emplace_back(*e.request, name(), out.path(), out.room(),
                          std::vector<std::string>{out.other_side()});
      }
    });
  for (unsigned client = 0; client < finished_of_.size(); ++client)
    to_client_[client]->list_waiting(rows, finished_of_[client]);
}

void Crossbar::list_untranslated(std::vector<InFlight>& rows) const {
  const PageWalks& walks = *network_->walks();
  network_->for_each_untranslated([&](const CrossbarNetwork::Entry& e) {
    const bool ended = e.walk == PageWalks::kNone || walks.ended(e.walk);
    const unsigned walker = ended ? PageWalks::kNone : walks.walker_of(e.walk);
    const char* const why = ended                        ? "the requests before it to be translated"
                            : walker == PageWalks::kNone ? "a walker"
                                                         : "the walk for its page to end";
    rows.emplace_back(*e.request, name(), name() + " translation", why, std::vector<std::string>{},
                      walker == PageWalks::kNone ? Awaited{network_.get()} : Awaited{network_.get(), walker});
  });
}

}  // namespace warpline
