#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpline::litmus {

/// A set of events. Those of the first 128, as many as tests have, are kept without a place of their own.
class EventSet {
 public:
  void add(unsigned e) {
    if (e < kNear) {
      near_[e / 64] |= bit(e);
    } else {
      const std::size_t n = (e - kNear) / 64;
      if (n >= far_.size()) far_.resize(n + 1);
      far_[n] |= bit(e);
    }
  }
  void remove(unsigned e) {
    if (e < kNear) {
      near_[e / 64] &= ~bit(e);
    } else if (const std::size_t n = (e - kNear) / 64; n < far_.size()) {
      far_[n] &= ~bit(e);
    }
  }
  [[nodiscard]] bool has(unsigned e) const {
    if (e < kNear) return (near_[e / 64] & bit(e)) != 0;
    const std::size_t n = (e - kNear) / 64;
    return n < far_.size() && (far_[n] & bit(e)) != 0;
  }
  [[nodiscard]] bool empty() const {
    if ((near_[0] | near_[1]) != 0) return false;
    for (const std::uint64_t word : far_)
      if (word != 0) return false;
    return true;
  }
  EventSet& operator|=(const EventSet& o) {
    near_[0] |= o.near_[0];
    near_[1] |= o.near_[1];
    if (far_.size() < o.far_.size()) far_.resize(o.far_.size());
    for (std::size_t n = 0; n < o.far_.size(); ++n) far_[n] |= o.far_[n];
    return *this;
  }
  EventSet& operator&=(const EventSet& o) {
    near_[0] &= o.near_[0];
    near_[1] &= o.near_[1];
    if (far_.size() > o.far_.size()) far_.resize(o.far_.size());
    for (std::size_t n = 0; n < far_.size(); ++n) far_[n] &= o.far_[n];
    return *this;
  }
  /// Takes out what is in `o`.
  EventSet& operator-=(const EventSet& o) {
    near_[0] &= ~o.near_[0];
    near_[1] &= ~o.near_[1];
    for (std::size_t n = 0; n < far_.size() && n < o.far_.size(); ++n) far_[n] &= ~o.far_[n];
    return *this;
  }
  friend EventSet operator|(EventSet a, const EventSet& b) { return a |= b; }
  friend EventSet operator&(EventSet a, const EventSet& b) { return a &= b; }
  /// Calls `f` with each event, in their order.
  template <class F>
  void each(F&& f) const {
    for (unsigned w = 0; w < 2; ++w) each_of(near_[w], w * 64, f);
    for (std::size_t n = 0; n < far_.size(); ++n) each_of(far_[n], kNear + static_cast<unsigned>(n) * 64, f);
  }

 private:
  static constexpr unsigned kNear = 128;
  static std::uint64_t bit(unsigned e) { return std::uint64_t{1} << (e % 64); }
  template <class F>
  static void each_of(std::uint64_t bits, unsigned first, F& f) {
    for (; bits != 0; bits &= bits - 1) f(first + static_cast<unsigned>(__builtin_ctzll(bits)));
  }
  std::array<std::uint64_t, 2> near_{};
  std::vector<std::uint64_t> far_;
};

/// A binary relation over the events 0 to size() - 1.
class Relation {
 public:
  explicit Relation(unsigned size = 0) : size_(size), rows_(size) {}
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
  std::vector<EventSet> rows_;
};

}  // namespace warpline::litmus
