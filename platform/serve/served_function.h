#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "platform/serve/guest_bars.h"
#include "platform/serve/served_event.h"
#include "platform/vfio_user/function.h"
#include "platform/vfio_user/shared_memory.h"
#include "rtl_models/base/types.h"
#include "rtl_models/pcie/host_bridge/host_bridge.h"
#include "rtl_models/pcie/packets/endpoint_core.h"

namespace warpline {

struct NvmeFaultRule;
class EndpointMemory;
class ServedMachine;

/// One function of a ServedMachine, as a client sees it.
///
/// BARs are where the client's software puts them, for requests of other functions; accesses name the BAR,
/// wherever it lies. Interrupts go to the client by their vector: it keeps the MSI-X table, so that accesses
/// of the table here change nothing and read 0. What nobody answers reads all ones. When the client goes
/// away, or resets it, the function is as it was built. While it is unplugged nobody answers, and writes and
/// resets change nothing.
///
/// Memory that clients may map is theirs to read and write at any time: that takes no model time, is in no
/// log, and goes on while the function is unplugged.
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
  /// Has commands fail as a rule says; null: takes back all rules. `done`: it is so from the next access on.
  /// Pre: takes_rules(), and takes_more_rules() if there is a rule.
  void inject(const NvmeFaultRule* rule, Done done);
  [[nodiscard]] bool takes_rules() const;
  /// Pre: takes_rules().
  [[nodiscard]] bool takes_more_rules() const;
  /// Whether its software lets it answer at its BARs.
  [[nodiscard]] bool decodes_memory() const {
    return endpoint_.config().memory_enabled() && endpoint_.config().power_state() == PowerState::d0;
  }

  /// Lets clients map the memory behind a BAR, which is `memory`, from now on. An errno, or 0. Pre: no client
  /// has come yet.
  [[nodiscard]] int map(unsigned bar, EndpointMemory& memory);

  /// Whose the function is. Null: nobody's, or that of somebody who has not found it as it was built yet:
  /// what it still does is for nobody.
  [[nodiscard]] vfio_user::Client* client() { return left_ ? nullptr : client_; }
  [[nodiscard]] unsigned port() const { return port_; }

 private:
  friend class ServedMachine;

  /// A part of a read that is one packet.
  struct Piece {
    HostBridge::Ticket ticket = 0;
    std::uint32_t skipped = 0;  ///< bytes of the answer that were not asked for
    std::uint32_t at = 0;       ///< where the others go
    std::uint32_t bytes = 0;
    bool shows_enable = false;  ///< it is the register with MSI-X's enable bit, which is the client's own
  };
  /// Something that is to be done to the function.
  struct Access {
    enum class Kind : std::uint8_t { read, write, reset, plug, unplug, inject };
    Kind kind = Kind::read;
    unsigned region = 0;
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
    std::vector<std::uint8_t> data;
    ReadDone read_done;
    Done done;
  };
  /// An access that waits for its answers.
  struct Waiting {
    std::vector<Piece> pieces;
    std::size_t answered = 0;  ///< of those, the first ones
    std::vector<std::uint8_t> data;
    ReadDone read_done;  ///< null: of a write
    Done done;
  };

  // For the machine.
  /// Makes the next access that clients have asked for, if it can be made now: not within their calls, as it
  /// may, loosely timed, ask them for something before it ends. Whether there was one.
  bool make_next();
  /// Whether there is one that can be made. Resets and the like wait for what was made before them to end;
  /// all waits for a write of configuration space, which may change what the next access meets.
  [[nodiscard]] bool can_make() const;
  /// Passes on what has come: answers, interrupts, and that there is room for more.
  void answer();
  /// Where a BAR of its lies on the bus here.
  [[nodiscard]] std::uint64_t bus_address(const BarHit& hit) const { return bases_[hit.bar] + hit.offset; }
  [[nodiscard]] bool idle() const { return waiting_.empty() && posted_.empty(); }
  /// The BAR that has these bytes for the guest, if the function answers there.
  [[nodiscard]] std::optional<BarHit> find(std::uint64_t address, std::uint64_t bytes) const;
  [[nodiscard]] bool is_message_table(unsigned bar, std::uint64_t offset) const;
  /// Requests that had arrived before the link was down so often are of a client's that has gone.
  [[nodiscard]] std::uint64_t first_epoch() const { return first_epoch_; }
  /// `heard`: there is a client, or of a replay, there was.
  void interrupt(unsigned vector, bool heard);
  /// Writes to the client's memory that it has not answered: interrupts follow them.
  unsigned unanswered_writes_ = 0;
  /// It has let a request, loosely timed, wait for too long: further ones fail at once, until it answers.
  bool silent_ = false;

  void set_up();
  void make_read(unsigned region, std::uint64_t offset, std::uint32_t bytes, ReadDone done);
  void make_write(unsigned region, std::uint64_t offset, const std::uint8_t* data, std::uint32_t bytes,
                  Done done);
  void tell(ServedEvent::Kind kind, unsigned region, std::uint64_t offset, const std::uint8_t* data,
            std::uint32_t bytes);
  void read_bar(unsigned bar, std::uint64_t offset, Waiting& waiting);
  void read_config(std::uint64_t offset, Waiting& waiting);
  void write_config(std::uint64_t offset, const std::uint8_t* data, std::uint32_t bytes, Waiting& waiting);
  void take_answers();
  [[nodiscard]] bool was_reset() const;
  void build_anew();
  [[nodiscard]] std::uint32_t device_control() const;
  void set_payload(std::uint32_t control);
  void make(Access access);
  void do_reset();
  void do_plug(bool present);
  void do_inject(const std::vector<std::uint8_t>& rule);

  ServedMachine& machine_;
  unsigned port_;
  EndpointCore& endpoint_;
  GuestBars bars_;
  std::array<std::uint64_t, kBars> bases_{};           ///< on the bus here
  std::array<vfio_user::SharedMemory, kBars> mapped_;  ///< BARs that clients may map
  vfio_user::Client* client_ = nullptr;
  std::deque<Waiting> waiting_;
  std::deque<Done> posted_;      ///< writes that were made, and whose client may not send more
  std::deque<Access> accesses_;  ///< that are to be made
  std::deque<unsigned> raised_;  ///< vectors that wait for writes before them
  bool present_ = true;
  bool left_ = false;         ///< its client has gone, and the reset that follows is to come
  bool shows_msix_ = false;   ///< MSI-X's enable bit as the client's software sees it; here it is set
  bool configuring_ = false;  ///< a write of configuration space has not been answered
  std::uint64_t first_epoch_ = 0;
};

}  // namespace warpline
