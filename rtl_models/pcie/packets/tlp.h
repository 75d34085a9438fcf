#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/pcie/packets/link_parameters.h"

namespace warpline {

/// Bus (bits 15:8), device (7:3) and function number (2:0): who made a request, or is to answer it.
using FunctionId = Strong<struct FunctionIdTag, std::uint16_t>;
constexpr FunctionId function_id(unsigned bus, unsigned device, unsigned function) {
  return FunctionId{static_cast<std::uint16_t>(bus << 8U | device << 3U | function)};
}

/// Base address registers of a function.
inline constexpr unsigned kBars = 6;

/// Messages of interrupts are writes from here on: each root port has a page of its own.
inline constexpr std::uint64_t kInterruptWindow = std::uint64_t{1} << 40U;

/// Addresses are mapped in pages of so many bytes, and no memory request crosses from one to the next.
inline constexpr std::uint64_t kBusPage = 4096;

/// The kinds of transaction-layer packets that the model has (PCI Express base specification, transaction
/// layer).
enum class TlpKind : std::uint8_t {
  memory_read,
  memory_write,
  fetch_add,
  swap,
  compare_and_swap,
  config_read,
  config_write,
  completion,  ///< with data or without
};

/// What flow control and ordering tell packets apart by.
enum class TlpClass : std::uint8_t { posted, non_posted, completion };
inline constexpr unsigned kTlpClasses = 3;
constexpr TlpClass class_of(TlpKind kind) {
  if (kind == TlpKind::memory_write) return TlpClass::posted;
  return kind == TlpKind::completion ? TlpClass::completion : TlpClass::non_posted;
}

/// How a completer answers.
enum class CompletionStatus : std::uint8_t {
  successful,
  unsupported_request,  ///< nobody has that address, or it may not be reached
  completer_abort,      ///< the completer has it, and refuses
};

/// How a request that is to be answered ended, for whoever made it.
enum class TlpOutcome : std::uint8_t { done, unsupported_request, completer_abort, poisoned, timeout };

/// A transaction-layer packet. Addresses and lengths are in bytes, as byte enables are free for bytes that
/// lie side by side; what does not is several packets.
struct WARPLINE_PUBLIC Tlp {
  TlpKind kind = TlpKind::memory_read;
  CompletionStatus status = CompletionStatus::successful;  ///< of a completion
  bool relaxed_ordering = false;
  bool no_snoop = false;
  bool poisoned = false;   ///< its payload is known to be damaged
  bool interrupt = false;  ///< a write that the function's table of messages made; not told over wires
  FunctionId requester;    ///< of a completion: whom it is for
  FunctionId completer;    ///< of a completion: who answers; of a configuration request: who is to
  std::uint16_t tag = 0;   ///< with the requester: which request a completion belongs to
  std::uint64_t address =
      0;                    ///< of memory; of a register in configuration space; of a completion: of its data
  std::uint32_t bytes = 0;  ///< that a read asks for, or that the payload has; 0: a flush, or no data
  std::uint32_t remaining = 0;  ///< of a completion of a read: bytes not yet delivered, its own included
  std::uint32_t cookie = 0;     ///< the requester's own: names the request in its answers
  std::uint64_t sequence = 0;   ///< the link's own: number of the packet among those of its direction
  unsigned route = 0;           ///< the root complex's own: the port that it leaves by
  std::uint64_t epoch = 0;      ///< the root complex's own: when its links were last down (RootComplexCore)
  std::vector<std::uint8_t> data;  ///< the payload: `bytes` of them, of a compare-and-swap twice as many

  [[nodiscard]] bool posted() const { return kind == TlpKind::memory_write; }
  /// The bytes that travel after the header.
  [[nodiscard]] unsigned payload() const { return static_cast<unsigned>(data.size()); }
  /// Makes the payload `bytes` bytes, the first of which are that number, little-endian; the others are 0.
  void carry(std::uint64_t number) {
    data.resize(bytes);
    put_number(data.data(), bytes, number);
  }
};

/// What a completion says of a request whose completions before it, if there were any, said `earlier`.
[[nodiscard]] inline TlpOutcome outcome_of(const Tlp& completion, TlpOutcome earlier = TlpOutcome::done) {
  switch (completion.status) {
    case CompletionStatus::successful: break;
    case CompletionStatus::unsupported_request: return TlpOutcome::unsupported_request;
    case CompletionStatus::completer_abort: return TlpOutcome::completer_abort;
  }
  const bool damaged = completion.poisoned && completion.payload() != 0;
  return damaged ? TlpOutcome::poisoned : earlier;
}

/// The number that the first bytes of a payload are, up to 8, little-endian.
[[nodiscard]] inline std::uint64_t first_bytes(const std::vector<std::uint8_t>& data) {
  return number_at(data.data(), data.size() < 8 ? data.size() : 8);
}

/// A packet on its way over one direction of a link. The receiver owns it.
struct WARPLINE_PUBLIC TlpMessage {
  Tlp* tlp = nullptr;
  /// Beats on lanes that carry `width` bytes per cycle.
  [[nodiscard]] unsigned beats(unsigned width) const {
    return (kTlpOverhead + tlp->payload() + width - 1) / width;
  }
};

/// What is to happen to a packet as it leaves for a device, or for the host: what a bad link,
/// a careless switch or a worn memory does now and then.
enum class Injection : std::uint8_t {
  none,
  lose,    ///< it never arrives
  damage,  ///< its payload, if it has one, is marked as damaged
  refuse,  ///< a completion: it says unsupported request. Anything else is left as it is
};

/// Recycles packets, so that a run allocates nothing once it is warm.
class WARPLINE_PUBLIC TlpPool {
 public:
  /// A packet in its initial state.
  [[nodiscard]] Tlp* allocate() {
    if (free_.empty()) return all_.emplace_back(std::make_unique<Tlp>()).get();
    Tlp* const tlp = free_.back();
    free_.pop_back();
    return tlp;
  }
  /// One that is otherwise as at first.
  [[nodiscard]] Tlp* allocate(TlpKind kind, std::uint64_t address, std::uint32_t bytes) {
    Tlp* const tlp = allocate();
    tlp->kind = kind;
    tlp->address = address;
    tlp->bytes = bytes;
    return tlp;
  }
  void release(Tlp* tlp) {
    WARPLINE_EXPECT(in_use() > 0, "a packet that was handed out is released");
    std::vector<std::uint8_t> room = std::move(tlp->data);
    room.clear();
    *tlp = Tlp{};
    tlp->data = std::move(room);
    free_.push_back(tlp);
  }
  /// Packets handed out and not yet released.
  [[nodiscard]] std::size_t in_use() const { return all_.size() - free_.size(); }

 private:
  std::vector<std::unique_ptr<Tlp>> all_;
  std::vector<Tlp*> free_;
};

}  // namespace warpline
