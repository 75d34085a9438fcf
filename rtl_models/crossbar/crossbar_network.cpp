#include "rtl_models/crossbar/crossbar_network.h"

#include <map>
#include <set>

#include "rtl_models/base/contract.h"

namespace warpline {

CrossbarNetwork::CrossbarNetwork(const NetworkParameters& p, const TranslationParameters& translation,
                                 const std::vector<NetworkPlace>& places, unsigned slices, unsigned outputs)
    : slices_(slices),
      queue_(p.queue),
      header_(p.header),
      tpc_request_cost_(cost_of(p.tpc_request)),
      tpc_reply_cost_(cost_of(p.tpc_reply)),
      gpc_request_cost_(cost_of(p.gpc_request)),
      gpc_reply_cost_(cost_of(p.gpc_reply)),
      pair_cost_(cost_of(p.slice_reply)),
      group_cost_(cost_of(p.group_reply)),
      clients_(places.size()),
      share_window_(p.share_window),
      of_client_(places.size() + 1, 0),
      of_output_(outputs, 0),
      outputs_(outputs),
      replies_(static_cast<unsigned>(places.size())) {
  unsigned sms = 0, tpcs = 0, gpcs = 0;
  std::map<unsigned, std::set<unsigned>> tpcs_of;  // each GPC's, in order
  for (const NetworkPlace& place : places) {
    if (place.sm == NetworkPlace::kOutside) continue;
    sms = std::max(sms, place.sm + 1);
    tpcs = std::max(tpcs, place.tpc + 1);
    gpcs = std::max(gpcs, place.gpc + 1);
    tpcs_of[place.gpc].insert(place.tpc);
  }
  if (translation.present()) {
    translation_.emplace(translation, tpcs);
    late_.assign(places.size(), 0);
    late_of_pair_.assign(places.size() * outputs, 0);
    if (translation.reads()) pending_.resize(places.size() * outputs);
  }
  tpc_request_.assign(tpcs, 0);
  tpc_reply_.assign(tpcs, 0);
  gpc_request_.assign(gpcs, 0);
  gpc_reply_.assign(gpcs, 0);
  if (pair_cost_ != 0) pair_.assign(std::size_t{sms} * slices, 0);
  WARPLINE_EXPECT(p.gpc_distance.empty() || p.gpc_distance.size() >= std::size_t{gpcs} * p.groups,
                  "each GPC and group has a distance");
  group_.assign(std::size_t{gpcs} * p.groups, 0);
  if (share_window_ != 0) shared_.resize(gpcs * kShared);
  std::vector<std::size_t> in_group(p.groups, 0);  // slices so far
  std::vector<std::uint64_t> own;                  // each slice's part of its distance
  for (std::uint64_t s = 0; s < slices; ++s) {
    group_of_.push_back(static_cast<std::uint16_t>(s * p.groups / slices));
    const std::size_t number = in_group[group_of_.back()]++;
    own.push_back(p.slice_distance.empty() ? 0 : p.slice_distance[number % p.slice_distance.size()]);
  }
  for (unsigned gpc = 0; gpc < gpcs; ++gpc)
    for (unsigned s = 0; s < slices; ++s) {
      const std::uint64_t way =
          p.gpc_distance.empty() ? 0 : p.gpc_distance[std::size_t{gpc} * p.groups + group_of_[s]];
      distances_.push_back(static_cast<std::uint16_t>(way + own[s]));
    }
  for (std::size_t i = 0; i < places.size(); ++i) {
    const NetworkPlace& place = places[i];
    if (place.sm == NetworkPlace::kOutside) continue;
    Client& c = clients_[i];
    c = {true, place.tpc, place.gpc, place.sm * slices, place.gpc * slices, place.gpc * p.groups, 0};
    const std::set<unsigned>& beside = tpcs_of[place.gpc];
    const auto number = static_cast<std::size_t>(std::distance(beside.begin(), beside.find(place.tpc)));
    if (!p.tpc_distance.empty())
      c.distance = static_cast<unsigned>(p.tpc_distance[number % p.tpc_distance.size()]);
  }
}

void CrossbarNetwork::put_in_ring(std::uint32_t n) {
  const auto slot = static_cast<std::size_t>(entries_[n].due % kSlots);
  Slot& s = ring_[slot];
  entries_[n].next = kNone;
  if (s.first == kNone) {
    s.first = n;
    occupied_[slot / 64] |= std::uint64_t{1} << (slot % 64);
  } else {
    entries_[s.last].next = n;
  }
  s.last = n;
  ++on_the_way_;
}

void CrossbarNetwork::put_in_queue(std::uint32_t n) {
  Entry& e = entries_[n];
  Queues& queues = e.reply ? replies_ : outputs_;
  const unsigned port = e.reply ? e.client : e.port;
  e.next = kNone;
  if (append(queues.queues[port], n)) queues.asked.insert(port);
}

bool CrossbarNetwork::append(Queue& q, std::uint32_t n) {
  const bool first = q.size++ == 0;
  if (first) {
    q.first = n;
  } else {
    entries_[q.last].next = n;
  }
  q.last = n;
  return first;
}

const CrossbarNetwork::Entry& CrossbarNetwork::take(Queues& of, unsigned port) {
  Queue& q = of.queues[port];
  const std::uint32_t n = q.first;
  Entry& e = entries_[n];
  q.first = e.next;
  if (--q.size == 0) of.asked.erase(port);
  e.next = free_;
  free_ = n;
  --held_;
  return e;
}

/// It goes at once where nothing is in its way.
void CrossbarNetwork::depart(std::uint64_t edge, std::uint64_t due, std::uint32_t n) {
  entries_[n].due = due;
  if (due <= edge) return put_in_queue(n);
  put_in_ring(n);
  next_ = std::min(next_, due);
}

bool CrossbarNetwork::enter_request(std::uint64_t edge, Request* r, unsigned client, unsigned output) {
  ++of_client_[client];
  const std::uint32_t n = make(r, client, output, false);
  const Client& c = clients_[client];
  std::uint64_t passed = edge;
  if (c.inside) {
    const std::uint64_t now = edge << kFraction, bytes = RequestMessage{r}.data_bytes() + header_;
    std::uint64_t time = carry(tpc_request_[c.tpc], now, bytes, tpc_request_cost_);
    time = std::max(time, carry(gpc_request_[c.gpc], now, bytes, gpc_request_cost_));
    passed = edge_of(time);
  }
  std::uint64_t due = passed + distance(client, output);
  unsigned translated = 0;
  if (!pending_.empty() && c.inside) {
    const Translation::Step step = translation_->begin(c.tpc, *r, passed);
    translated = step.cycles;
    if (step.walk != PageWalks::kNone ||
        (untranslated_ != 0 && pending_[pair_of(client, output)].size != 0)) {
      wait(due + translated, n, step.walk);
      return passed != edge;
    }
  } else {
    translated = translate(client, *r);
  }
  due += translated;
  if (translated != 0 || (!late_.empty() && late_[client] > due)) due = behind_late(due, client, output);
  depart(edge, due, n);
  return passed != edge;
}

void CrossbarNetwork::wait(std::uint64_t due, std::uint32_t n, PageWalks::Number walk) {
  Entry& e = entries_[n];
  const std::uint32_t pair = pair_of(e.client, e.port);
  e.due = due;
  e.walk = walk;
  e.next = kNone;
  if (walk != PageWalks::kNone) walks()->wait(walk, pair);
  append(pending_[pair], n);
  ++untranslated_;
}

void CrossbarNetwork::go_on(std::uint64_t edge, std::uint32_t pair) {
  Queue& q = pending_[pair];
  while (q.size != 0) {
    const std::uint32_t n = q.first;
    const Entry& e = entries_[n];
    if (e.walk != PageWalks::kNone) {
      if (!walks()->ended(e.walk)) return;
      walks()->leave(e.walk);
    }
    q.first = e.next;
    --q.size;
    --untranslated_;
    depart(edge, behind_late(std::max(e.due, edge + distance(e.client, e.port)), e.client, e.port), n);
  }
}

bool CrossbarNetwork::enter_reply(std::uint64_t edge, Request* r, unsigned client, unsigned output) {
  ++of_output_[output];
  const Client& c = clients_[client];
  std::uint64_t passed = edge;
  if (c.inside) {
    const std::uint64_t now = edge << kFraction, bytes = ResponseMessage{r}.data_bytes() + header_;
    std::uint64_t time = carry(tpc_reply_[c.tpc], now, bytes, tpc_reply_cost_);
    if (shared_.empty() || !is_shared(c, *r, edge))
      time = std::max(time, carry(gpc_reply_[c.gpc], now, bytes, gpc_reply_cost_));
    if (output < slices_) {
      if (pair_cost_ != 0) time = std::max(time, carry(pair_[c.pairs + output], now, bytes, pair_cost_));
      time = std::max(time, carry(group_[c.groups + group_of_[output]], now, bytes, group_cost_));
    }
    passed = edge_of(time);
  }
  depart(edge, passed, make(r, client, output, true));
  return passed != edge;
}

/// Whether a reply with the same line has passed the client's GPC a moment ago; if not, others will be told
/// so of this one.
bool CrossbarNetwork::is_shared(const Client& c, const Request& r, std::uint64_t edge) {
  if (r.command != Command::read) return false;
  const std::uint64_t number = line_number(r.line);
  Shared& s = shared_[c.gpc * kShared + number % kShared];
  if (s.line == number + 1 && edge <= s.until) return true;
  s = {number + 1, edge + share_window_};
  return false;
}

void CrossbarNetwork::pass_request(Request* r, unsigned client, unsigned output) {
  ++of_client_[client];
  put_in_queue(make(r, client, output, false));
}

void CrossbarNetwork::pass_reply(Request* r, unsigned client) {
  const std::uint32_t n = make(r, client, 0, true);
  entries_[n].counted = false;
  put_in_queue(n);
}

void CrossbarNetwork::advance(std::uint64_t edge) {
  while (next_ <= edge) {
    const std::uint64_t at = next_;
    const auto slot = static_cast<std::size_t>(at % kSlots);
    std::uint32_t n = ring_[slot].first;
    ring_[slot] = {};
    occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    while (n != kNone) {
      const std::uint32_t next = entries_[n].next;
      --on_the_way_;
      if (entries_[n].due <= at) {
        put_in_queue(n);
      } else {
        put_in_ring(n);  // of a later round
      }
      n = next;
    }
    find_next(at);
  }
}

/// When the ring's next list behind that of `edge` has its turn.
void CrossbarNetwork::find_next(std::uint64_t edge) {
  next_ = ~std::uint64_t{0};
  if (on_the_way_ == 0) return;
  const std::uint64_t first = edge + 1;
  const auto start = static_cast<unsigned>(first % kSlots);
  constexpr unsigned kWords = kSlots / 64;
  // The word in which it starts is visited twice: its upper part first, its lower part last.
  for (unsigned i = 0; i <= kWords; ++i) {
    const unsigned word = (start / 64 + i) % kWords;
    const std::uint64_t from_start = ~std::uint64_t{0} << (start % 64);
    std::uint64_t bits = occupied_[word];
    if (i == 0) bits &= from_start;
    if (i == kWords) bits &= ~from_start;
    if (bits == 0) continue;
    const unsigned slot = word * 64 + static_cast<unsigned>(__builtin_ctzll(bits));
    next_ = first + (slot + kSlots - start) % kSlots;
    return;
  }
}

}  // namespace warpline
