#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "platform/serve/guest_bars.h"
#include "platform/serve/served_event.h"
#include "platform/vfio_user/function.h"
#include "rtl_models/base/types.h"
#include "rtl_models/pcie/host_bridge/host_bridge.h"
#include "rtl_models/pcie/packets/endpoint_core.h"

namespace warpline {

class ServedMachine;

/// One function of a ServedMachine, as a client sees it.
///
/// BARs are where the client's software puts them, for requests of other functions; accesses name the BAR,
/// wherever it lies. Interrupts go to the client by their vector: it keeps the MSI-X table, so that accesses
/// of the table here change nothing and read 0. What nobody answers reads all ones. When the client goes
/// away, or resets it, the function is as it was built. While it is unplugged nobody answers, and writes and
/// resets change nothing.
class ServedFunction final : public vfio_user::Function {
 public:
  /// `port`: of the root complex. Machine and endpoint outlive it.
  ServedFunction(ServedMachine& machine, unsigned port, EndpointCore& endpoint);

  [[nodiscard]] Region region(unsigned index) const override;
  [[nodiscard]] unsigned vectors(vfio_user::IrqKind kind) const override;
  void read(unsigned region, std::uint64_t offset, std::uint32_t bytes, ReadDone done) override;
  void write(unsigned region, std::uint64_t offset, const std::uint8_t* data, std::uint32_t bytes,
             bool posted, Done done) override;
  void reset(Done done) override;
  void attach(vfio_user::Client& client) override;
  void detach() override;

  /// Surprise removal, and return: as it was built, with everything for its client's software to set up
  /// again. `done`: it is so; accesses that were asked for before are made before.
  void plug(bool present, Done done);
  [[nodiscard]] bool present() const { return present_; }
  /// Whether its software lets it answer at its BARs.
  [[nodiscard]] bool decodes_memory() const { return endpoint_.config().memory_enabled(); }

  [[nodiscard]] vfio_user::Client* client() { return client_; }
  [[nodiscard]] unsigned port() const { return port_; }

 private:
  friend class ServedMachine;

  /// A part of a read that is one packet.
  struct Piece {
    HostBridge::Ticket ticket = 0;
    std::uint32_t skipped = 0;  ///< bytes of the answer that were not asked for
    std::uint32_t at = 0;       ///< where the others go
    std::uint32_t bytes = 0;
  };
  /// An access that waits for its answers.
  struct Waiting {
    std::deque<Piece> pieces;
    std::vector<std::uint8_t> data;
    ReadDone read_done;  ///< null: of a write
    Done done;
  };

  // For the machine.
  /// Makes what clients have asked for, one after the other: not within their calls, as an access may,
  /// loosely timed, ask them for something before it ends.
  void make_accesses();
  [[nodiscard]] bool has_accesses() const { return resetting_ || !accesses_.empty(); }
  /// Passes on what has come: answers, interrupts, and that there is room for more.
  void answer();
  /// Where a BAR of its lies on the bus here.
  [[nodiscard]] std::uint64_t bus_address(const BarHit& hit) const { return bases_[hit.bar] + hit.offset; }
  [[nodiscard]] bool idle() const { return waiting_.empty() && posted_.empty(); }
  /// The BAR that has these bytes for the guest, if the function answers there.
  [[nodiscard]] std::optional<BarHit> find(std::uint64_t address, std::uint64_t bytes) const;
  /// `heard`: there is a client, or of a replay, there was.
  void interrupt(unsigned vector, bool heard);
  /// Writes to the client's memory that it has not answered: interrupts follow them.
  unsigned unanswered_writes_ = 0;

  void set_up();
  void make_read(unsigned region, std::uint64_t offset, std::uint32_t bytes, ReadDone done);
  void make_write(unsigned region, std::uint64_t offset, const std::uint8_t* data, std::uint32_t bytes,
                  Done done);
  void tell(ServedEvent::Kind kind, unsigned region, std::uint64_t offset, const std::uint8_t* data,
            std::uint32_t bytes);
  void read_bar(unsigned bar, std::uint64_t offset, Waiting& waiting);
  void read_config(std::uint64_t offset, Waiting& waiting);
  void write_config(std::uint64_t offset, const std::uint8_t* data, std::uint32_t bytes, Waiting& waiting);
  [[nodiscard]] bool is_message_table(unsigned bar, std::uint64_t offset) const;
  void take_answers();
  void restore_after_power_state();
  void do_reset();
  void do_plug(bool present);

  ServedMachine& machine_;
  unsigned port_;
  EndpointCore& endpoint_;
  GuestBars bars_;
  std::array<std::uint64_t, kBars> bases_{};  ///< on the bus here
  vfio_user::Client* client_ = nullptr;
  std::deque<Waiting> waiting_;
  std::deque<Done> posted_;                     ///< writes that were made, and whose client may not send more
  std::deque<std::function<void()>> accesses_;  ///< that are to be made
  std::deque<unsigned> raised_;                 ///< vectors that wait for writes before them
  bool present_ = true;
  bool resetting_ = false;
  std::vector<Done> reset_done_;
};

}  // namespace warpline
