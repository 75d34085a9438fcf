#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "rtl_models/pcie/packets/config_space.h"
#include "rtl_models/pcie/packets/link_parameters.h"
#include "rtl_models/pcie/packets/loose_tlp_target.h"
#include "rtl_models/pcie/packets/msix_table.h"
#include "rtl_models/pcie/packets/tag_table.h"

namespace warpline {

/// Bytes that came back for a read or an atomic, or how it ended without them.
struct ReadPart {
  std::uint32_t cookie = 0;   ///< of the request: what read() was given
  std::uint64_t address = 0;  ///< of the first byte
  std::vector<std::uint8_t> data;
  TlpOutcome outcome = TlpOutcome::done;
  bool last = false;          ///< the request is over
  std::uint32_t missing = 0;  ///< bytes that were asked for and never come; the part is the last then
};

/// The transaction layer of one function, without time: configuration space, MSI-X, which requests it takes
/// and which it may make, tags, and what becomes of completions.
///
/// Towards its device it shows BAR accesses and parts of what was read. Requests for what it does not claim
/// are answered as unsupported, and posted ones dropped; malformed and poisoned packets are reported in its
/// status registers. A completion that belongs to no request, or to one that was given up, is dropped and
/// counted. (PCI Express base specification, transaction layer and error signalling.)
///
/// A read ends with the first part that is not `done`. TagTable says which tag it has, and when the tag is
/// used again. A completion that takes longer than TagTable::kLostAfter times the timeout, which happens only
/// if the timeout is set far too short for the machine, may find its tag given to another request. It is
/// taken for an answer to that one only if its offset in the page and the number of missing bytes are what
/// that one expects.
///
/// A Function Level Reset, and going from D3hot to D0, reset the function: reads under way and interrupts
/// pending are forgotten at once, MSI-X is as it was built, and the device learns it from
/// config().take_soft_reset().
class EndpointCore {
 public:
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
  [[nodiscard]] bool may_read() const { return may_write() && tags_.has_free(); }
  [[nodiscard]] bool may_write() const {
    return config_.bus_master() && config_.power_state() == PowerState::d0;
  }
  /// Makes a request of a packet with kind, address, bytes, data and cookie, which is its own from now on: a
  /// read of at most max_read_request() bytes, not across a page, which is answered by parts with the cookie;
  /// or an atomic, answered likewise by the old value. Pre: may_read(); the packet is well formed
  /// (malformation()).
  void request(Tlp* tlp, Cycle now);
  /// The same, by a packet that it makes.
  void read(std::uint32_t cookie, std::uint64_t address, std::uint32_t bytes, Cycle now) {
    Tlp* const tlp = pool_.allocate(TlpKind::memory_read, address, bytes);
    tlp->cookie = cookie;
    request(tlp, now);
  }
  /// An atomic fetch-add. `bytes` 4 or 8, aligned.
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
  /// A read or atomic of outgoing() goes on the wire (TagTable::sent).
  void sent(const Tlp& tlp, Cycle now) { tags_.sent(tlp, now); }
  /// Gives up reads that were sent `completion_timeout` cycles or longer before `now`, and takes back a tag
  /// that is lost, if there is no other.
  void expire(Cycle now);
  /// When there is the next to give up, or to take back; kNever: there is none.
  [[nodiscard]] Cycle next_expiry() const { return tags_.next_expiry(); }
  /// Reads and atomics under way.
  [[nodiscard]] unsigned reads_in_flight() const { return tags_.in_flight(); }
  /// Hot reset: back to what it was built as. What was under way is forgotten, without a part.
  void reset();

  [[nodiscard]] ConfigSpace& config() { return config_; }
  [[nodiscard]] const ConfigSpace& config() const { return config_; }
  [[nodiscard]] MsixTable* msix() { return has_msix() ? &msix_ : nullptr; }
  [[nodiscard]] const MsixTable* msix() const { return has_msix() ? &msix_ : nullptr; }
  [[nodiscard]] FunctionId id() const { return id_; }
  /// Tags of requests that are over, and whose completions may still come.
  [[nodiscard]] unsigned tags_given_up() const { return tags_.given_up(); }
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

  template <class Archive>
  void archive(Archive& a) {
    // Pre: nothing has come back, and nothing is to go out.
    a(config_, msix_, tags_, no_snoop_, counters_);
  }

 private:
  bool receive_request(Tlp* tlp, BarRequest& request);
  void receive_completion(Tlp* tlp);
  void receive_configuration(Tlp* tlp);
  void drop(Tlp* tlp, std::uint64_t& counter, std::uint16_t error_bits) {
    ++counter;
    config_.report(error_bits);
    pool_.release(tlp);
  }
  void dismiss(Tlp* tlp);
  [[nodiscard]] bool dismiss_poisoned(Tlp* tlp);
  void report_poison();
  void accept(TagTable::Entry& request, const Tlp& tlp);
  void end(TagTable::Entry& request, TlpOutcome outcome, bool may_come);
  void forget_requests();
  [[nodiscard]] Tlp* make_write(std::uint64_t address, std::uint32_t bytes);
  [[nodiscard]] bool has_msix() const { return config_.description().vectors != 0; }
  [[nodiscard]] bool no_snoop() const { return no_snoop_ && config_.no_snoop_enabled(); }

  TlpPool& pool_;
  FunctionId id_;
  LinkParameters parameters_;
  ConfigSpace config_;
  MsixTable msix_;
  TagTable tags_;
  bool no_snoop_ = false;
  std::deque<ReadPart> parts_;
  std::deque<Tlp*> outgoing_;
  Counters counters_;
};

}  // namespace warpline
