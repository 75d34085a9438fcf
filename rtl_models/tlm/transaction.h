#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <tlm>
#include <vector>

#include "rtl_models/sim/memory_image.h"
#include "rtl_models/sim/request_pool.h"
#include "rtl_models/tlm/payload.h"

namespace warpline {

/// A request on a socket: what its `carried` points to while it is between the two ends of a hop.
/// Requests pass several hops at once, so each remembers the one before.
struct SocketHop {
  Request* request = nullptr;
  void* outer = nullptr;  ///< `carried` of the hop the request came by
  bool returned = false;  ///< the target's end, if it is ours, has sent the response
  bool taken = false;     ///< the target's end is ours, and works on `request` itself

  void enter(Request& r) {
    returned = taken = false;
    request = &r;
    outer = r.carried;
    r.carried = this;
  }
  void leave() { request->carried = outer; }
};

/// What the pointers of a Warpline payload point to; written only where bytes are carried.
struct PayloadBytes {
  std::array<std::uint8_t, kLineBytes> data{};
  std::array<std::uint8_t, kLineBytes> enables{};
};

/// A Warpline payload, with all it points to. It belongs to the initiator's end of one hop from
/// BEGIN_REQ until its END_RESP takes effect.
///
/// A request may be under way for long, and by the time of its response the host's caches have lost it. So
/// what a response needs lies side by side: the hop with the front of the payload, where the response status
/// is, and the payload's count of references with what follows it.
struct alignas(64) Transaction : SocketHop {
  enum class State : std::uint8_t {
    asked,
    answered,  ///< its response has begun
    entered,   ///< that is in the initiator's port: the payload stands for nothing any more
  };
  State state = State::asked;
  /// Modules of other people's may know the payload. One that only sockets of one engine do has no need to
  /// carry its request in the extension, too; nor `request_end`: its END_REQ never comes after its response.
  bool shown = true;
  std::uint32_t owner = 0;  ///< the initiator's end, by its number; 0: nobody
  tlm::tlm_generic_payload payload;
  /// When the request began; of one that was given back, when it may be used again.
  Cycle at = 0;
  std::uint64_t address = 0;
  PayloadBytes& bytes;
  tlm::tlm_command command = tlm::TLM_IGNORE_COMMAND;
  /// What the payload says, but for the address, is a read of these whole sectors; 0: it is something else,
  /// or others may have changed it.
  SectorMask reads = 0;
  RequestExtension extension;

  Transaction(tlm::tlm_mm_interface& memory, PayloadBytes& holds) : payload(&memory), bytes(holds) {
    extension.transaction = this;
    payload.set_extension(&extension);
  }
  ~Transaction() { payload.clear_extension<RequestExtension>(); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  /// Says in TLM's terms what `r` asks for; `with_data`: the bytes of a write too.
  void describe(const Request& r, bool with_data) {
    if (reads != 0 && r.sectors == reads && r.command == Command::read && !r.exact) {
      payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
      address = r.line.value + first_byte(reads);
      payload.set_address(address);
      return;
    }
    describe_anew(r, with_data);
  }
  /// Whether nobody on the way has changed what the payload asks for.
  [[nodiscard]] bool is_as_described() const {
    return payload.get_address() == address && payload.get_command() == command;
  }

 private:
  [[nodiscard]] static unsigned first_byte(SectorMask sectors) {
    return static_cast<unsigned>(__builtin_ctz(sectors)) * kSectorBytes;
  }
  void describe_anew(const Request& r, bool with_data);
};

/// Recycles transactions, none before its time.
class TransactionPool final : private tlm::tlm_mm_interface {
 public:
  /// A number for one more initiator's end.
  [[nodiscard]] std::uint32_t add_owner() { return ++owners_; }
  /// One that is free in cycle `now`.
  [[nodiscard]] Transaction& take(Cycle now);
  /// Hands one back for use from cycle `from` on; 0: at once. Whoever else holds a reference keeps it longer.
  void give_back(Transaction& transaction, Cycle from);
  /// All that was handed back may be used again: time has been set, and the cycles from which it might mean
  /// nothing any more. Pre: nobody has a use for it.
  void ripen();
  /// The transaction in flight that a payload belongs to, of any pool; null for a foreign payload.
  [[nodiscard]] Transaction* find(tlm::tlm_generic_payload& payload) const {
    if (reinterpret_cast<std::uintptr_t>(&payload) - first_payload_ < bytes_made_) {
      Transaction* t = transaction_of(payload);
      return t->request != nullptr ? t : nullptr;
    }
    return find_by_extension(payload);
  }
  [[nodiscard]] std::size_t in_use() const { return made_ - ripening_.size() - free_.size(); }
  TransactionPool() = default;
  TransactionPool(const TransactionPool&) = delete;
  TransactionPool& operator=(const TransactionPool&) = delete;
  ~TransactionPool() override;
  /// Calls visit(const Transaction&) for each of `owner`.
  template <class F>
  void for_each_of(std::uint32_t owner, F&& visit) const {
    const auto one = [&](const Transaction& t) {
      if (t.owner == owner) visit(t);
    };
    for (std::size_t i = 0; i < std::min(made_, kSideBySide); ++i) one(*side_by_side(i));
    for (const Other& o : others_) one(o.transaction);
  }

 private:
  /// Transactions side by side, so that an address tells that a payload is one: a look at its
  /// extensions would cost a miss in the host's caches. More than these live anywhere.
  static constexpr std::size_t kSideBySide = std::size_t{1} << 17U;
  struct Other {
    explicit Other(tlm::tlm_mm_interface& memory) : transaction(memory, bytes) {}
    PayloadBytes bytes;
    Transaction transaction;
  };
  struct Ripening {
    Cycle from;
    Transaction* transaction;
  };
  void free(tlm::tlm_generic_payload* payload) override;
  [[nodiscard]] Transaction& make();
  [[nodiscard]] static Transaction* find_by_extension(tlm::tlm_generic_payload& payload);
  /// Pre: it is one's payload.
  [[nodiscard]] Transaction* transaction_of(tlm::tlm_generic_payload& payload) const {
    return static_cast<Transaction*>(static_cast<void*>(reinterpret_cast<char*>(&payload) - payload_offset_));
  }
  [[nodiscard]] Transaction* side_by_side(std::size_t i) const {
    return static_cast<Transaction*>(static_cast<void*>(arena_->at(i * sizeof(Transaction))));
  }
  std::uint32_t owners_ = 0;
  std::unique_ptr<MemoryImage> arena_;  ///< of kSideBySide transactions, reserved when first needed
  std::unique_ptr<MemoryImage> bytes_;  ///< theirs
  std::deque<Other> others_;
  std::size_t made_ = 0;
  std::ptrdiff_t payload_offset_ = 0;  ///< in a transaction
  std::uintptr_t first_payload_ = 0;   ///< where that of the first one side by side is
  std::size_t bytes_made_ = 0;         ///< of those side by side
  std::deque<Ripening> ripening_;      ///< given back, in the order in which they were
  std::vector<Transaction*> free_;     ///< of those, whose time has come: the last one is used first
};

}  // namespace warpline
