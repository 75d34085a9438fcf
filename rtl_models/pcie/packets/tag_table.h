#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "rtl_models/pcie/packets/config_space.h"
#include "rtl_models/pcie/packets/link_parameters.h"
#include "rtl_models/pcie/packets/tlp.h"

namespace warpline {

/// The tags of a function: those that are free, and what is still to come for those that are not.
///
/// The tag of a request that was given up is not used again before its last completion has come, or a reset:
/// a late one can not be taken for another request's. But a completion may have been lost. When there is no
/// other tag, the one that was given up longest ago is used again, no earlier than kLostAfter times the
/// completion timeout after its request was sent.
class TagTable {
 public:
  static constexpr unsigned kLostAfter = 4;

  /// A tag, and the request that it was last given to.
  struct Entry {
    enum class State : std::uint8_t { free, under_way, given_up };
    State state = State::free;
    std::uint32_t cookie = 0;
    std::uint64_t address = 0;  ///< of the next byte to come
    std::uint32_t left = 0;     ///< bytes to come
    Cycle sent = 0;             ///< when it went on the wire; until then, when it was made
    std::uint64_t number = 0;   ///< of the request among all that were given a tag
  };

  /// The configuration space, in which software sets the timeout and how many tags may be used, outlives it.
  TagTable(const LinkParameters& parameters, const ConfigSpace& config);

  /// Whether another request may have a tag.
  [[nodiscard]] bool has_free() const;
  /// Gives a tag to a request made in cycle `now`. Pre: has_free().
  void give(Tlp& request, Cycle now);
  /// A request goes on the wire: its completion timeout begins. One that nobody says this of is never given
  /// up.
  void sent(const Tlp& request, Cycle now);
  /// The request whose answer may come with that tag; null: none.
  [[nodiscard]] Entry* find(std::uint16_t tag) {
    const bool known = tag < entries_.size() && entries_[tag].state != Entry::State::free;
    return known ? &entries_[tag] : nullptr;
  }
  /// Its next bytes have come.
  static void advance(Entry& entry, std::uint32_t bytes) {
    entry.address += bytes;
    entry.left -= bytes;
  }
  /// A request is over. `may_come`: a completion of it may still come.
  void end(Entry& entry, bool may_come);
  /// A request that was sent `completion_timeout` cycles or longer before `now`; null: there is none.
  [[nodiscard]] Entry* expired(Cycle now) {
    if (by_age_.empty() || timeout() == 0) return nullptr;
    Entry& oldest = entries_[by_age_.front().tag];
    return oldest.sent + timeout() <= now ? &oldest : nullptr;
  }
  /// Takes back a tag that is lost, if there is no other.
  void take_back(Cycle now) {
    const std::optional<std::uint16_t> tag = first_lost();
    if (tag && lost_at(entries_[*tag]) <= now) free(*tag);
  }
  /// When there is the next to give up, or to take back; kNever: there is none.
  [[nodiscard]] Cycle next_expiry() const;
  /// All that are under way are given up.
  void give_up_all();
  /// All tags are free.
  void reset() {
    give_up_all();
    free_.clear();
    for (std::size_t tag = 0; tag < entries_.size(); ++tag) free(static_cast<std::uint16_t>(tag));
  }

  /// Of requests under way.
  [[nodiscard]] unsigned in_flight() const { return in_flight_; }
  /// Of requests that are over, and whose completions may still come.
  [[nodiscard]] unsigned given_up() const {
    return static_cast<unsigned>(entries_.size() - free_.size()) - in_flight_;
  }
  template <class Archive>
  void archive(Archive& a) {
    a.same(entries_.size(), "tags");
    for (Entry& e : entries_) {
      a(e.state);
      // What a free tag was last given to means nothing any more.
      if (e.state == Entry::State::free) {
        if (!a.saves()) e = {};
      } else {
        a(e.cookie, e.address, e.left, e.sent, e.number);
      }
    }
    a(free_, in_flight_, made_);
    std::size_t count = a.count(by_age_.size());
    by_age_.resize(count);
    for (Sent& s : by_age_) {
      a.index(s.tag, entries_.size());
      a(s.number);
    }
    if (in_flight_ != 0) a.misfit("has requests under way");
    for (const std::uint16_t tag : free_)
      if (tag >= entries_.size()) a.misfit("names a tag that is not there");
  }

 private:
  struct Sent {
    std::uint16_t tag = 0;
    std::uint64_t number = 0;
  };
  [[nodiscard]] bool usable(std::uint16_t tag) const { return tag < 32 || config_.extended_tags(); }
  [[nodiscard]] Cycle timeout() const { return Cycle{timeout_} * config_.completion_timeout_scale(); }
  [[nodiscard]] Cycle lost_at(const Entry& entry) const { return entry.sent + kLostAfter * timeout(); }
  [[nodiscard]] std::optional<std::uint16_t> first_lost() const;
  void free(std::uint16_t tag) {
    entries_[tag].state = Entry::State::free;
    free_.push_back(tag);
  }

  const ConfigSpace& config_;
  unsigned timeout_;
  std::vector<Entry> entries_;      ///< by tag
  std::deque<std::uint16_t> free_;  ///< the one that has been free for longest first
  std::deque<Sent> by_age_;         ///< oldest first; the first is under way, later ones may be over
  unsigned in_flight_ = 0;
  std::uint64_t made_ = 0;
};

}  // namespace warpline
