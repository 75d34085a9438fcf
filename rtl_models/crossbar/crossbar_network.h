#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "rtl_models/crossbar/crossbar_parameters.h"
#include "rtl_models/sim/request.h"
#include "rtl_models/translation/translation.h"

namespace warpline {

/// Numbers below a limit, of which each is in or not.
class PortSet {
 public:
  explicit PortSet(unsigned limit) : words_((limit + 63) / 64) {}
  void insert(unsigned n) { words_[n / 64] |= std::uint64_t{1} << (n % 64); }
  void erase(unsigned n) { words_[n / 64] &= ~(std::uint64_t{1} << (n % 64)); }
  /// Calls visit(n) for each, in order. It may erase that one.
  template <class F>
  void for_each(F&& visit) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (std::uint64_t bits = words_[w]; bits != 0; bits &= bits - 1)
        visit(static_cast<unsigned>(w * 64 + static_cast<std::size_t>(__builtin_ctzll(bits))));
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// The messages between a crossbar's ports, with what they share on their way: see NetworkParameters. Time is
/// counted in edges of the crossbar's clock.
///
/// A message enters when it is taken from its port. Each level that it passes (its TPC's port, its GPC's, and
/// of a reply its slice's way to the SM and its group's to the GPC) carries the messages that come to it one
/// after the other, at the level's bandwidth; the message has passed when it has got through the last of
/// them, and the distance lies behind that. Levels are passed side by side, so that one that is held up at
/// the first leaves no gap at the next. Then it is first in, first out: in the queue of its output, or of its
/// client. Messages of one client to one slice keep their order, and so do replies.
///
/// Where walks read page tables, a request whose page is walked for is untranslated until the walk has ended,
/// and then goes over the distance; so is what comes behind it, of its client to its output. The reads have
/// a client's number of their own, walks_client(), and go by the shortest way.
class CrossbarNetwork {
 public:
  /// A message in it.
  struct Entry {
    Request* request = nullptr;
    std::uint64_t due = 0;  ///< edge at which it is in its queue
    std::uint32_t next = 0;
    std::uint16_t client = 0;
    std::uint16_t port = 0;  ///< output that a request is for, or that a reply came from
    bool reply = false;
    bool counted = true;                        ///< among those of its client, or of its slice
    PageWalks::Number walk = PageWalks::kNone;  ///< that an untranslated request waits for
  };

  /// Pre: the parameters have no problems, and present(); a place for each client.
  CrossbarNetwork(const NetworkParameters& parameters, const TranslationParameters& translation,
                  const std::vector<NetworkPlace>& places, unsigned slices, unsigned outputs);

  /// Whether a request of `client`, or a reply by `output`, may enter.
  [[nodiscard]] bool has_room_for_request(unsigned client) const { return of_client_[client] < queue_; }
  [[nodiscard]] bool has_room_for_reply(unsigned output) const { return of_output_[output] < queue_; }
  /// Messages of `client` on the way to outputs.
  [[nodiscard]] unsigned requests_of(unsigned client) const { return of_client_[client]; }

  /// A message enters at `edge`, no earlier than any before. Returns whether it has to wait for a level.
  bool enter_request(std::uint64_t edge, Request* r, unsigned client, unsigned output);
  bool enter_reply(std::uint64_t edge, Request* r, unsigned client, unsigned output);
  /// Puts a request into the queue of `output`, or a reply into that of `client`, past the network.
  void pass_request(Request* r, unsigned client, unsigned output);
  void pass_reply(Request* r, unsigned client);
  /// Whether a client is in it, and not beside it.
  [[nodiscard]] bool inside(unsigned client) const { return clients_[client].inside; }
  /// Edges that a request takes longer than by the shortest way.
  [[nodiscard]] unsigned distance(unsigned client, unsigned output) const {
    const Client& c = clients_[client];
    return output < slices_ && c.inside ? c.distance + distances_[c.row + output] : 0;
  }

  /// Edges that it takes to translate a request's address. Pre: walks read nothing.
  unsigned translate(unsigned client, const Request& r) {
    return translation_ && clients_[client].inside ? translation_->delay(clients_[client].tpc, r) : 0;
  }
  /// See Translation::begin_loosely. Pre: the client is inside.
  bool translate_loosely(unsigned client, const Request& r, unsigned& cycles) {
    return translation_->begin_loosely(clients_[client].tpc, r, cycles);
  }
  /// Null: translation takes no time.
  [[nodiscard]] const Translation* translation() const { return translation_ ? &*translation_ : nullptr; }
  [[nodiscard]] Translation* translation() { return translation_ ? &*translation_ : nullptr; }
  /// Null: walks read nothing.
  [[nodiscard]] const PageWalks* walks() const { return translation_ ? translation_->walks() : nullptr; }
  [[nodiscard]] PageWalks* walks() { return translation_ ? translation_->walks() : nullptr; }
  /// The number by which requests of walks enter: that behind the last client.
  [[nodiscard]] unsigned walks_client() const { return static_cast<unsigned>(clients_.size()); }
  /// What `walker` read is there at `edge`: those whose walk it ends go on.
  void answer_walk(std::uint64_t edge, unsigned walker) {
    walks()->answer(edge, walker, [&](std::uint32_t pair) { go_on(edge, pair); });
  }
  /// Requests that wait for a walk, or behind one that does.
  [[nodiscard]] std::size_t untranslated() const { return untranslated_; }
  /// Calls visit(entry) for each, first come first of a client and an output.
  template <class F>
  void for_each_untranslated(F&& visit) const {
    for (const Queue& one : pending_) for_list(one.first, visit);
  }

  /// Puts what is due up to `edge` into the queues.
  void advance(std::uint64_t edge);
  /// The next edge at which advance() may have something to do; ~0: there is nothing on its way.
  [[nodiscard]] std::uint64_t next() const { return next_; }

  /// Calls visit(port) for every output with requests in its queue, or client with replies. It may take one.
  template <class F>
  void for_each_output(F&& visit) const {
    outputs_.asked.for_each(visit);
  }
  template <class F>
  void for_each_client(F&& visit) const {
    replies_.asked.for_each(visit);
  }
  /// Takes the first out of a queue; what it was can be read until another message enters. Pre: there is one.
  const Entry& take_request(unsigned output) {
    const Entry& e = take(outputs_, output);
    --of_client_[e.client];
    return e;
  }
  const Entry& take_reply(unsigned client) {
    const Entry& e = take(replies_, client);
    if (e.counted) --of_output_[e.port];
    return e;
  }
  [[nodiscard]] unsigned waiting_at_output(unsigned output) const { return outputs_.queues[output].size; }
  [[nodiscard]] unsigned waiting_for_client(unsigned client) const { return replies_.queues[client].size; }

  /// Messages in it, in queues and untranslated ones too.
  [[nodiscard]] std::size_t held() const { return held_; }
  /// Calls visit(entry, queued) for each of those but the untranslated ones, in no order.
  template <class F>
  void for_each(F&& visit) const {
    for (const Slot& s : ring_) for_list(s.first, [&](const Entry& e) { visit(e, false); });
    for (const Queues* q : {&outputs_, &replies_})
      for (const Queue& one : q->queues) for_list(one.first, [&](const Entry& e) { visit(e, true); });
  }
  /// Nothing has passed the levels, and no page was translated. Pre: nothing is held.
  void restart() {
    if (translation_) translation_->clear();
    for (std::vector<std::uint64_t>* level :
         {&tpc_request_, &tpc_reply_, &gpc_request_, &gpc_reply_, &pair_, &group_})
      std::fill(level->begin(), level->end(), 0);
    std::fill(shared_.begin(), shared_.end(), Shared{});
    std::fill(late_.begin(), late_.end(), 0);
    std::fill(late_of_pair_.begin(), late_of_pair_.end(), 0);
  }
  template <class Archive>
  void archive(Archive& a) {
    // Pre: nothing is held.
    for (Shared& s : shared_) a(s.line, s.until);
    a.fixed(late_).fixed(late_of_pair_);
    if (translation_) a(*translation_);
    a.fixed(tpc_request_).fixed(tpc_reply_).fixed(gpc_request_).fixed(gpc_reply_).fixed(pair_).fixed(group_);
  }

 private:
  static constexpr std::uint32_t kNone = ~0U;
  static constexpr unsigned kSlots = 1024;
  static constexpr unsigned kFraction = 16;  ///< bits of a time behind the edge's number
  struct Client {
    bool inside = false;
    unsigned tpc = 0, gpc = 0;
    unsigned pairs = 0;     ///< its SM's first number in pair_
    unsigned row = 0;       ///< its GPC's first in distances_
    unsigned groups = 0;    ///< likewise in group_
    unsigned distance = 0;  ///< its TPC's part
  };
  struct Slot {
    std::uint32_t first = kNone, last = kNone;
  };
  struct Queue {
    std::uint32_t first = kNone, last = kNone;
    unsigned size = 0;
  };
  /// A line that has passed a GPC's port, and until when others of it count as the same.
  struct Shared {
    std::uint64_t line = 0;  ///< its number and 1; 0: none
    std::uint64_t until = 0;
  };
  static constexpr std::size_t kShared = 1024;  ///< of each GPC
  [[nodiscard]] bool is_shared(const Client& c, const Request& r, std::uint64_t edge);
  struct Queues {
    explicit Queues(unsigned count) : queues(count), asked(count) {}
    std::vector<Queue> queues;
    PortSet asked;
  };
  /// Has a level carry so many bytes more, and says from when on it does. Costs are of a byte, in
  /// 2^-kFraction edges.
  static std::uint64_t carry(std::uint64_t& free, std::uint64_t now, std::uint64_t bytes, unsigned cost) {
    const std::uint64_t start = std::max(free, now);
    free = start + bytes * cost;
    return start;
  }
  static unsigned cost_of(unsigned bandwidth) {
    return bandwidth == 0 ? 0 : ((1U << kFraction) + bandwidth / 2) / bandwidth;
  }
  static std::uint64_t edge_of(std::uint64_t time) {
    return (time + (std::uint64_t{1} << kFraction) - 1) >> kFraction;
  }
  /// A message enters: its number in entries_.
  [[nodiscard]] std::uint32_t make(Request* r, unsigned client, unsigned port, bool reply) {
    std::uint32_t n = free_;
    if (n == kNone) {
      n = static_cast<std::uint32_t>(entries_.size());
      entries_.emplace_back();
    } else {
      free_ = entries_[n].next;
    }
    ++held_;
    Entry& e = entries_[n];
    e.request = r;
    e.client = static_cast<std::uint16_t>(client);
    e.port = static_cast<std::uint16_t>(port);
    e.reply = reply;
    e.counted = true;
    e.walk = PageWalks::kNone;
    return n;
  }
  [[gnu::always_inline]] inline void depart(std::uint64_t edge, std::uint64_t due, std::uint32_t n);
  /// Has request `n` wait for a walk, if any, and for those before it of its pair.
  void wait(std::uint64_t due, std::uint32_t n, PageWalks::Number walk);
  /// Those of a pair go on that wait for nothing any more.
  void go_on(std::uint64_t edge, std::uint32_t pair);
  /// None of a pair goes before the last one whose translation took time.
  std::uint64_t behind_late(std::uint64_t due, unsigned client, unsigned output) {
    std::uint64_t& last = late_of_pair_[pair_of(client, output)];
    due = last = std::max(last, due);
    late_[client] = std::max(late_[client], due);
    return due;
  }
  [[nodiscard]] std::uint32_t pair_of(unsigned client, unsigned output) const {
    return static_cast<std::uint32_t>(client * of_output_.size() + output);
  }
  [[gnu::always_inline]] inline void put_in_ring(std::uint32_t n);
  void put_in_queue(std::uint32_t n);
  /// Returns whether it is the only one.
  bool append(Queue& q, std::uint32_t n);
  const Entry& take(Queues& of, unsigned port);
  void find_next(std::uint64_t edge);
  template <class F>
  void for_list(std::uint32_t n, F&& visit) const {
    for (; n != kNone; n = entries_[n].next) visit(entries_[n]);
  }

  unsigned slices_;
  unsigned queue_;
  unsigned header_;
  unsigned tpc_request_cost_, tpc_reply_cost_, gpc_request_cost_, gpc_reply_cost_, pair_cost_, group_cost_;
  std::vector<Client> clients_;
  std::vector<std::uint16_t> distances_;  ///< of each GPC, for each slice
  // From when on each level is free.
  std::vector<std::uint64_t> tpc_request_, tpc_reply_, gpc_request_, gpc_reply_;
  std::vector<std::uint64_t> pair_;      ///< of each SM and slice; empty: without limit
  std::vector<std::uint64_t> group_;     ///< of each GPC and group
  std::vector<std::uint16_t> group_of_;  ///< of each slice
  unsigned share_window_;
  std::vector<Shared> shared_;  ///< kShared of each GPC; empty: none share
  std::optional<Translation> translation_;
  // Requests whose translation took time are not overtaken by others of their client to the same output.
  std::vector<std::uint64_t> late_;          ///< of each client: when the last of those is due
  std::vector<std::uint64_t> late_of_pair_;  ///< of each client and output
  std::vector<Queue> pending_;               ///< likewise: untranslated requests; empty: there are no walks
  std::size_t untranslated_ = 0;
  std::vector<unsigned> of_client_, of_output_;

  std::vector<Entry> entries_;
  std::uint32_t free_ = kNone;
  std::size_t held_ = 0;
  std::size_t on_the_way_ = 0;  ///< in the ring
  std::array<Slot, kSlots> ring_;
  std::array<std::uint64_t, kSlots / 64> occupied_{};
  std::uint64_t next_ = ~std::uint64_t{0};
  Queues outputs_, replies_;
};

}  // namespace warpline
