#pragma once

#include <array>
#include <cstdint>

namespace warpline::litmus {

/// Events of one execution, at most.
constexpr unsigned kMostEvents = 128;

/// A set of events.
class EventSet {
 public:
  void add(unsigned e) { words_[e / 64] |= std::uint64_t{1} << (e % 64); }
  void remove(unsigned e) { words_[e / 64] &= ~(std::uint64_t{1} << (e % 64)); }
  [[nodiscard]] bool has(unsigned e) const { return (words_[e / 64] >> (e % 64) & 1U) != 0; }
  [[nodiscard]] bool empty() const { return (words_[0] | words_[1]) == 0; }
  EventSet& operator|=(const EventSet& o) {
    words_[0] |= o.words_[0];
    words_[1] |= o.words_[1];
    return *this;
  }
  EventSet& operator&=(const EventSet& o) {
    words_[0] &= o.words_[0];
    words_[1] &= o.words_[1];
    return *this;
  }
  friend EventSet operator|(EventSet a, const EventSet& b) { return a |= b; }
  friend EventSet operator&(EventSet a, const EventSet& b) { return a &= b; }
  friend bool operator==(const EventSet& a, const EventSet& b) { return a.words_ == b.words_; }
  /// Calls `f` with each event, in their order.
  template <class F>
  void each(F&& f) const {
    for (unsigned w = 0; w < 2; ++w)
      for (std::uint64_t bits = words_[w]; bits != 0; bits &= bits - 1)
        f(w * 64 + static_cast<unsigned>(__builtin_ctzll(bits)));
  }

 private:
  std::array<std::uint64_t, 2> words_{};
};

/// A binary relation over the events 0 to size() - 1.
class Relation {
 public:
  explicit Relation(unsigned size = 0) : size_(size) {}
  [[nodiscard]] unsigned size() const { return size_; }
  void add(unsigned a, unsigned b) { rows_[a].add(b); }
  [[nodiscard]] bool has(unsigned a, unsigned b) const { return rows_[a].has(b); }
  /// The events that `a` is related to.
  [[nodiscard]] const EventSet& row(unsigned a) const { return rows_[a]; }
  EventSet& row(unsigned a) { return rows_[a]; }
  [[nodiscard]] bool empty() const;
  [[nodiscard]] bool irreflexive() const;

  Relation& operator|=(const Relation& o);
  Relation& operator&=(const Relation& o);
  friend Relation operator|(Relation a, const Relation& b) { return a |= b; }
  friend Relation operator&(Relation a, const Relation& b) { return a &= b; }
  /// Those pairs of `a` that `b` has not.
  friend Relation operator-(Relation a, const Relation& b);
  /// a then b.
  [[nodiscard]] Relation then(const Relation& b) const;
  [[nodiscard]] Relation inverse() const;
  /// The transitive closure.
  [[nodiscard]] Relation closure() const;
  /// Adds (a, b) to a transitive relation, which stays transitive.
  void extend(unsigned a, unsigned b);
  /// Only pairs that end in `to`.
  [[nodiscard]] Relation into(const EventSet& to) const;
  /// Only pairs that begin in `from` and end in `to`.
  [[nodiscard]] Relation between(const EventSet& from, const EventSet& to) const;

 private:
  unsigned size_;
  std::array<EventSet, kMostEvents> rows_{};
};

}  // namespace warpline::litmus
