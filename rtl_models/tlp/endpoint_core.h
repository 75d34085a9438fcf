#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "warpline/tlp/config_space.h"
#include "warpline/tlp/link_parameters.h"
#include "warpline/tlp/loose_tlp.h"
#include "warpline/tlp/msix.h"
#include "warpline/tlp/tlp.h"

namespace warpline {

/// How a read that a function made ended.
enum class ReadEnd : std::uint8_t { done, unsupported_request, completer_abort, poisoned, timeout };

/// Bytes that came back for a read, or how it ended without them.
struct ReadPart {
  std::uint32_t cookie = 0;   ///< whose read it is: what read() was given
  std::uint64_t address = 0;  ///< of the first byte
  std::vector<std::uint8_t> data;
  ReadEnd outcome = ReadEnd::done;
  bool last = false;  ///< the read is over
};

/// The transaction layer of one function, without time: configuration space, MSI-X, which requests it takes
/// and which it may make, tags, and what becomes of completions.
///
/// Towards its device it shows BAR accesses and parts of what was read. Requests for what it does not claim
/// are answered as unsupported, and posted ones dropped; malformed and poisoned packets are reported in its
/// status registers. A completion that belongs to no request, or to one that was given up, is dropped and
/// counted. (PCI Express base specification, transaction layer and error signalling.)
///
/// A read ends with the first part that is not `done`. Its tag is not used again before its last completion
/// has come, or a reset: a late one can not be taken for another read's. But a completion may have been lost.
/// When there is no other tag, the one that was given up longest ago is used again, no earlier than
/// kLostAfter times the completion timeout after its request was sent. A completion is under way that long
/// only if the timeout is set far too short for the machine; even then it is taken for another's only if it
/// has the same place in its page and the same number of bytes is missing.
///
/// Going from D3hot to D0 resets the function: reads under way and interrupts pending are forgotten at once,
/// and the device learns it from config().take_soft_reset().
class EndpointCore {
 public:
  static constexpr unsigned kLostAfter = 4;

  /// Pre: neither has problems. The pool outlives it.
  EndpointCore(TlpPool& pool, FunctionId id, const FunctionDescription& description,
               const LinkParameters& parameters);

  /// A memory request that one of its BARs claims.
  struct BarRequest {
    BarHit where;
    Tlp* tlp = nullptr;  ///< the device's from now on, to be answered by complete() or released
  };
  /// Takes a packet, which is its own from now on. Returns true if it is a request for the device.
  [[nodiscard]] bool receive(Tlp* tlp, BarRequest& request);

  /// Answers a request that is not posted: `data` of as many bytes as it asks for, in as many packets as it
  /// takes; or another status than successful, without data. Releases the request.
  void complete(Tlp* request, CompletionStatus status, const std::uint8_t* data);

  /// Refuses a request as unsupported: one that is not posted is answered so, a posted one dropped, and
  /// either reported. It is released.
  void refuse(Tlp* request);

  /// Gives up a request that its device could not carry out: one that is not posted is answered as aborted, a
  /// posted one dropped, and either reported. It is released.
  void abort(Tlp* request);

  /// Whether another read or atomic may be made now: there is a tag, and it is a bus master in D0.
  [[nodiscard]] bool may_read() const;
  [[nodiscard]] bool may_write() const {
    return config_.bus_master() && config_.power_state() == PowerState::d0;
  }
  /// Reads at most max_read_request() bytes, not across 4 KiB; answered by parts with this cookie. Pre:
  /// may_read().
  void read(std::uint32_t cookie, std::uint64_t address, std::uint32_t bytes, Cycle now);
  /// An atomic, answered likewise by the old value. `operands`: as many bytes, of a compare-and-swap twice as
  /// many: what it compares with, then what it swaps in. Pre: may_read(); the packet is well formed
  /// (malformation()).
  void atomic(std::uint32_t cookie, TlpKind kind, std::uint64_t address, std::uint32_t bytes,
              const std::uint8_t* operands, Cycle now);
  /// An atomic fetch-add. Pre: may_read(); `bytes` 4 or 8, aligned.
  void fetch_add(std::uint32_t cookie, std::uint64_t address, std::uint32_t bytes, std::uint64_t operand,
                 Cycle now);
  /// Writes, in as many packets as it takes. Pre: may_write().
  void write(std::uint64_t address, const std::uint8_t* data, std::uint32_t bytes, bool relaxed_ordering);
  /// Whether its reads and writes say that caches need not be asked, where software lets it (device control).
  /// An attribute that is carried along: system memory here has no caches beside it.
  void request_no_snoop(bool on) { no_snoop_ = on; }
  /// Sends the interrupt messages that may go.
  void send_interrupts();

  /// Parts that have come back, oldest first.
  [[nodiscard]] std::deque<ReadPart>& parts() { return parts_; }
  /// Packets that it has made, to be put on the link, oldest first.
  [[nodiscard]] std::deque<Tlp*>& outgoing() { return outgoing_; }
  /// Has a packet of outgoing() performed, loosely timed, by whoever `root` is, from cycle `at` on, and takes
  /// the answer. `at`: when that comes. It is no longer outgoing().
  void perform_outside(Tlp* tlp, LooseTlpTarget& root, Cycle& at);
  /// Takes a loosely timed packet. Returns true if it is a request for the device, which has a packet of its
  /// own then, whose data goes back into `tlp`; otherwise `tlp` is answered.
  [[nodiscard]] bool receive_loosely(Tlp& tlp, BarRequest& request);
  /// A read or atomic of outgoing() goes on the wire: its completion timeout begins. One that nobody says
  /// this of is never given up.
  void sent(const Tlp& tlp, Cycle now);
  /// Gives up reads that were sent `completion_timeout` cycles or longer before `now`, and takes back a tag
  /// that is lost, if there is no other.
  void expire(Cycle now);
  /// When there is the next to give up, or to take back; kNever: there is none.
  [[nodiscard]] Cycle next_expiry() const;
  /// Reads and atomics under way.
  [[nodiscard]] unsigned reads_in_flight() const { return in_flight_; }
  /// Hot reset: back to what it was built as. What was under way is forgotten, without a part.
  void reset();

  [[nodiscard]] ConfigSpace& config() { return config_; }
  [[nodiscard]] const ConfigSpace& config() const { return config_; }
  [[nodiscard]] MsixTable* msix() { return description_vectors_ != 0 ? &msix_ : nullptr; }
  [[nodiscard]] const MsixTable* msix() const { return description_vectors_ != 0 ? &msix_ : nullptr; }
  [[nodiscard]] FunctionId id() const { return id_; }
  /// Tags of requests that are over, and whose completions may still come.
  [[nodiscard]] unsigned tags_given_up() const;
  /// No read it makes is longer, bytes.
  [[nodiscard]] unsigned max_read_request() const;
  /// No packet it makes carries more, bytes. It takes what the link allows.
  [[nodiscard]] unsigned max_payload() const;

  struct Counters {
    std::uint64_t reads = 0, writes = 0, atomics = 0, interrupts = 0;
    std::uint64_t requests = 0, configurations = 0;
    std::uint64_t unsupported = 0, aborted = 0, malformed = 0, poisoned = 0, timeouts = 0, unexpected = 0;
    template <class F>
    void visit(F&& f) const {
      f("reads", reads, "packets", "reads that it made");
      f("writes", writes, "packets", "writes that it made");
      f("atomics", atomics, "packets", "atomics that it made");
      f("interrupts", interrupts, "packets", "interrupt messages that it sent");
      f("requests", requests, "packets", "for its BARs");
      f("configurations", configurations, "packets", "for its configuration space");
      f("unsupported", unsupported, "packets", "that it did not claim, dropped or refused");
      f("aborted", aborted, "packets", "for its BARs, that it could not carry out");
      f("malformed", malformed, "packets", "dropped");
      f("poisoned", poisoned, "packets", "that came with damaged data");
      f("timeouts", timeouts, "requests", "that were given up");
      f("unexpected", unexpected, "packets", "completions of no request under way");
    }
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  /// A tag, and the request that it was last given to.
  struct Outstanding {
    enum class State : std::uint8_t { free, under_way, given_up };
    State state = State::free;
    std::uint32_t cookie = 0;
    std::uint64_t address = 0;  ///< of the next byte to come
    std::uint32_t left = 0;
    Cycle sent = 0;            ///< or made, before that
    std::uint64_t number = 0;  ///< of the request, among all that were made
  };
  struct Made {
    std::uint16_t tag = 0;
    std::uint64_t number = 0;
  };
  bool receive_request(Tlp* tlp, BarRequest& request);
  void receive_completion(Tlp* tlp);
  void receive_configuration(Tlp* tlp);
  void access_configuration(Tlp* tlp);
  void drop(Tlp* tlp, std::uint64_t& counter, std::uint16_t error_bits);
  void report_poison();
  void accept(Outstanding& o, const Tlp& tlp);
  void end(Outstanding& o, ReadEnd outcome, bool tag_free);
  void forget_requests();
  [[nodiscard]] bool usable(std::uint16_t tag) const { return tag < 32 || config_.extended_tags(); }
  [[nodiscard]] Cycle timeout() const;
  [[nodiscard]] bool has_tag() const;
  [[nodiscard]] std::optional<std::uint16_t> first_lost() const;
  [[nodiscard]] Cycle lost_at(const Outstanding& o) const { return o.sent + kLostAfter * timeout(); }
  void take_back(Cycle now);
  Tlp* make(TlpKind kind, std::uint64_t address, std::uint32_t bytes);
  [[nodiscard]] bool no_snoop() const { return no_snoop_ && config_.no_snoop_enabled(); }
  void take_tag(Tlp* tlp, std::uint32_t cookie, Cycle now);

  TlpPool& pool_;
  FunctionId id_;
  LinkParameters parameters_;
  ConfigSpace config_;
  unsigned description_vectors_;
  MsixTable msix_;
  std::vector<Outstanding> outstanding_;  ///< by tag
  std::deque<std::uint16_t> free_tags_;   ///< the one that has been free for longest first
  std::deque<Made> by_age_;               ///< sent, the oldest first, which is under way; others may be over
  unsigned in_flight_ = 0;
  bool no_snoop_ = false;
  std::uint64_t made_ = 0;
  std::deque<ReadPart> parts_;
  std::deque<Tlp*> outgoing_;
  Counters counters_;
};

}  // namespace warpline
