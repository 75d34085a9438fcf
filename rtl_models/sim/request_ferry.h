#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rtl_models/sim/exchange.h"
#include "rtl_models/sim/request.h"
#include "rtl_models/sim/request_pool.h"

namespace warpline {

/// Appends plain values to a message between ranks, which are of one build.
template <class T>
void put_value(std::string& to, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>, "plain values go between ranks");
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}
/// Takes the next one. Throws ExchangeError where there is none.
template <class T>
T take_value(std::string_view& from) {
  static_assert(std::is_trivially_copyable_v<T>, "plain values go between ranks");
  if (from.size() < sizeof(T)) throw ExchangeError("a message between ranks is cut off");
  T value;
  std::memcpy(static_cast<void*>(&value), from.data(), sizeof value);
  from.remove_prefix(sizeof value);
  return value;
}

/// Takes requests to other ranks and back. A request that leaves stays where it is, lent; the other rank
/// makes a copy of all that it is, and when that comes back, the one that was lent is made what has become of
/// it: as if it had been there itself.
class RequestFerry {
 public:
  explicit RequestFerry(unsigned rank) : rank_(rank) {}

  /// Writes a request that leaves, or a copy that goes back, which is released into `pool`.
  void put(std::string& to, const RequestMessage& message, RequestPool& pool);
  void put(std::string& to, const ResponseMessage& message, RequestPool& pool);
  /// Reads what rank `from` has put: a copy, which is allocated in `pool`, or one that was lent.
  void take(std::string_view& from, unsigned rank, RequestMessage& message, RequestPool& pool);
  void take(std::string_view& from, unsigned rank, ResponseMessage& message, RequestPool& pool);

  /// The same of a request that is only looked at: the copy is kept until forget_shown().
  void put_shown(std::string& to, const Request& request) const { put_body(to, request); }
  [[nodiscard]] const Request& take_shown(std::string_view& from);
  void forget_shown() {
    shown_.clear();
    shown_blocks_.clear();
  }
  /// Who made a request, as it is known to every rank.
  struct Maker {
    std::uint64_t rank = 0;
    std::uint64_t address = 0;  ///< there
    bool operator<(const Maker& other) const {
      return rank != other.rank ? rank < other.rank : address < other.address;
    }
  };
  [[nodiscard]] Maker name_of(const void* maker) const;
  /// As this rank knows it: of another rank's, an address that nothing else has.
  [[nodiscard]] const void* maker_of(const Maker& maker);

  /// Requests of this rank that are at others, and copies of others' that are here.
  [[nodiscard]] std::size_t lent() const { return lent_.size() - free_.size(); }
  [[nodiscard]] std::size_t borrowed() const { return borrowed_; }

 private:
  struct Body {
    Maker maker;
    bool has_block = false;  ///< its atomic block follows
  };
  void put_body(std::string& to, const Request& request) const;
  /// Makes `request` what was put, but for what is its own: where it is linked, its maker, its block.
  static Body take_body(std::string_view& from, Request& request);
  static void take_block_into(std::string_view& from, Request& request, RequestPool& pool);

  unsigned rank_;
  std::vector<Request*> lent_;       ///< by number; null: free
  std::vector<std::uint32_t> free_;  ///< numbers
  std::size_t borrowed_ = 0;
  std::map<Maker, std::unique_ptr<char>> stand_ins_;
  std::unordered_map<const void*, Maker> names_;  ///< of those
  std::deque<Request> shown_;
  std::deque<AtomicBlock> shown_blocks_;
};

}  // namespace warpline
