#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <tlm>
#include <vector>

#include "warpline/fabric/memory_image.h"
#include "warpline/fabric/request.h"

namespace warpline {

/// Bits of a TLM socket's bus: 32 bytes.
inline constexpr unsigned kBusBits = 256;

struct Transaction;

/// What a payload says beyond TLM's own attributes: an ignorable extension. A target of ours works
/// on the request itself; for everybody else the payload's address, command, data and byte enables
/// say the same. Commands that TLM lacks (atomics, maintenance) travel as TLM_IGNORE_COMMAND and
/// need a target that sets `accepted`.
class RequestExtension final : public tlm::tlm_extension<RequestExtension> {
 public:
  Request* request = nullptr;
  /// Set by the target that has taken `request` itself: answer, data and status are in it.
  bool accepted = false;
  /// From which cycle on the request channel is free again, where a response begins before that.
  Cycle request_end = kNever;

  RequestExtension() = default;
  RequestExtension(const RequestExtension& other) { assign(other); }
  RequestExtension& operator=(const RequestExtension&) = delete;
  /// A copy owns a copy of the request: the original will be used again.
  [[nodiscard]] tlm_extension_base* clone() const override { return new RequestExtension(*this); }
  void copy_from(const tlm_extension_base& other) override {
    assign(static_cast<const RequestExtension&>(other));
  }
  /// What it is part of; null in a copy.
  Transaction* transaction = nullptr;

 private:
  void assign(const RequestExtension& other);
  std::unique_ptr<Request> own_;
  std::unique_ptr<AtomicBlock> own_atomics_;
};

/// A request on a socket: what its `carried` points to while it is between the two ends of a hop.
/// Requests pass several hops at once, so each remembers the one before.
struct SocketHop {
  tlm::tlm_generic_payload* payload = nullptr;
  Request* request = nullptr;
  void* outer = nullptr;  ///< `carried` of the hop the request came by
  bool returned = false;  ///< the target's end, if it is ours, has sent the response

  void enter(Request& r) {
    returned = false;
    request = &r;
    outer = r.carried;
    r.carried = this;
  }
  void leave() { request->carried = outer; }
};

/// A payload of ours, with all it points to. It belongs to the initiator's end of one hop from
/// BEGIN_REQ until its END_RESP takes effect.
struct alignas(64) Transaction {
  // What every phase reads comes first; bytes and enables are touched where they are carried.
  SocketHop hop;
  const void* owner = nullptr;  ///< the initiator's end
  std::uint64_t address = 0;
  Cycle begun = 0;
  Cycle free_from = 0;  ///< when it may be used again
  tlm::tlm_command command = tlm::TLM_IGNORE_COMMAND;
  bool answered = false;  ///< its response has begun
  tlm::tlm_generic_payload payload;
  RequestExtension extension;
  std::array<std::uint8_t, kLineBytes> data{};
  std::array<std::uint8_t, kLineBytes> enables{};

  explicit Transaction(tlm::tlm_mm_interface& memory) : payload(&memory) {
    hop.payload = &payload;
    extension.transaction = this;
    payload.set_extension(&extension);
  }
  ~Transaction() { payload.clear_extension<RequestExtension>(); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  /// Says in TLM's terms what `r` asks for; `with_data`: the bytes of a write too.
  void describe(const Request& r, bool with_data);
  /// Whether nobody on the way has changed what the payload asks for.
  [[nodiscard]] bool is_as_described() const {
    return payload.get_address() == address && payload.get_command() == command;
  }
};

/// Recycles transactions, none before its time.
class TransactionPool final : private tlm::tlm_mm_interface {
 public:
  /// One that is free in cycle `now`.
  [[nodiscard]] Transaction& take(Cycle now);
  /// Hands one back for use from cycle `from` on. Whoever else holds a reference keeps it longer.
  void give_back(Transaction& transaction, Cycle from);
  /// The transaction in flight that a payload belongs to, of whatever pool; null if it is none of ours.
  [[nodiscard]] Transaction* find(tlm::tlm_generic_payload& payload) const;
  [[nodiscard]] std::size_t in_use() const { return made_ - ripening_.size() - free_.size(); }
  TransactionPool() = default;
  TransactionPool(const TransactionPool&) = delete;
  TransactionPool& operator=(const TransactionPool&) = delete;
  ~TransactionPool() override;
  /// Calls visit(const Transaction&) for each of `owner`.
  template <class F>
  void for_each_of(const void* owner, F&& visit) const {
    const auto one = [&](const Transaction& t) {
      if (t.owner == owner) visit(t);
    };
    for (std::size_t i = 0; i < std::min(made_, kSideBySide); ++i)
      one(*reinterpret_cast<const Transaction*>(arena_->at(i * sizeof(Transaction))));
    for (const Transaction& t : others_) one(t);
  }

 private:
  /// Transactions side by side, so that an address tells that a payload is one: a look at its
  /// extensions would cost a miss in the host's caches. More than these live anywhere.
  static constexpr std::size_t kSideBySide = std::size_t{1} << 17U;
  void free(tlm::tlm_generic_payload* payload) override;
  [[nodiscard]] Transaction& make();
  std::unique_ptr<MemoryImage> arena_;  ///< of kSideBySide transactions, reserved when first needed
  std::deque<Transaction> others_;
  std::size_t made_ = 0;
  std::deque<Transaction*> ripening_;  ///< given back, in the order in which they were
  std::vector<Transaction*> free_;     ///< of those, whose time has come: the last one is used first
};

}  // namespace warpline
