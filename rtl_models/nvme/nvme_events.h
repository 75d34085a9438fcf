#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

namespace warpline {

/// Asynchronous events that wait to be told of. One of each kind waits at most; when one of a type has been
/// told, others of that type wait until the host has read its log page.
class NvmeEvents {
 public:
  enum Type : unsigned { kError = 0, kHealth = 1, kNotice = 2, kTypes = 3 };
  struct Event {
    unsigned type = 0, info = 0, log_page = 0;
    /// Dword 0 of the completion that tells of it.
    [[nodiscard]] std::uint32_t result() const { return type | info << 8U | log_page << 16U; }
    template <class Archive>
    void archive(Archive& a) {
      a.index(type, kTypes);
      a(info, log_page);
    }
  };
  void add(const Event& event) {
    for (const Event& e : waiting_)
      if (e.result() == event.result()) return;
    waiting_.push_back(event);
  }
  /// The next that may be told; it is told now.
  [[nodiscard]] std::optional<Event> take() {
    for (auto e = waiting_.begin(); e != waiting_.end(); ++e) {
      if ((told_ >> e->type & 1U) != 0) continue;
      const Event event = *e;
      waiting_.erase(e);
      told_ |= 1U << event.type;
      return event;
    }
    return std::nullopt;
  }
  /// Whether take() would give one.
  [[nodiscard]] bool has_one() const {
    for (const Event& e : waiting_)
      if ((told_ >> e.type & 1U) == 0) return true;
    return false;
  }
  /// The host has read the log page of a type.
  void hear_again(unsigned type) { told_ &= ~(1U << type); }
  /// What waits of a type is no news any more.
  void drop(unsigned type) {
    const auto is_its = [type](const Event& e) { return e.type == type; };
    waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), is_its), waiting_.end());
  }
  void forget() { *this = NvmeEvents{}; }
  template <class Archive>
  void archive(Archive& a) {
    a(waiting_, told_);
  }

 private:
  std::deque<Event> waiting_;
  std::uint32_t told_ = 0;  ///< types, a bit each
};

}  // namespace warpline
