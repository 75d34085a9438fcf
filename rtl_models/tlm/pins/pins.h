#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rtl_models/sim/channel.h"
#include "rtl_models/tlm/pins/pin_driver.h"
#include "rtl_models/tlm/pins/pin_message.h"
#include "rtl_models/tlm/pins/pin_sampler.h"

namespace warpline {

class PinTarget;

/// A request between the two ends of a hop; what its `carried` points to meanwhile.
struct PinPass {
  std::uint64_t identifier = 0;
  Request* request = nullptr;
  void* outer = nullptr;   ///< `carried` of the hop the request came by
  bool sent = false;       ///< its last beat was taken
  bool in_port = false;    ///< it, or its answer, has been put into a port with the first beat
  bool arrived = false;    ///< at the other end, if that is ours
  bool taken = false;      ///< there, as the request it is: nobody has changed what the wires say
  bool answering = false;  ///< the other end has begun to answer

  void enter(Request& r) {
    request = &r;
    outer = r.carried;
    r.carried = this;
  }
  void leave() { request->carried = outer; }
};

/// What both ends of a hop on wires have in common. Mistakes of the other side are SystemC error reports that
/// name the hop.
///
/// Where the wires lead to foreign hardware their clocks run from the start of the simulation to its
/// end; those between two Warpline ends stand while the engine has nothing to do.
class PinEnd : public sc_core::sc_module,
               protected PinDriver::Owner,
               protected PinSampler::Owner,
               protected Upstream,
               protected SocketEnd {
 protected:
  PinEnd(const sc_core::sc_module_name& name, EngineProcess& engine, PinWires& wires, PinChannel& sending,
         PinChannel& receiving, bool with_data);
  void start_of_simulation() override;
  void end(Cycle c) override;
  void protest(const std::string& what) const override;
  void explain(std::vector<Wait>& waits) const override;
  /// A message goes onto the wires to another Warpline end, and arrives there.
  void depart();
  void land();
  [[nodiscard]] std::size_t on_the_way() const { return paired_ ? on_the_way_ : driver_.sending() ? 1 : 0; }

  EngineProcess& engine_;
  PinWires& wires_;
  PinDriver driver_;
  PinSampler sampler_;
  bool with_data_;
  bool paired_ = false;  ///< the other end is ours: the two know of each other
  bool foreign_ = true;  ///< foreign hardware is on the wires
  std::size_t on_the_way_ = 0;
  /// A message of a hop between two Warpline ends is put into its port with the first beat, since nothing can
  /// delay the others: so an observer of the port sees it as on any other carrier.
  bool begun_ = false;
  Cycle free_ = 0;  ///< meanwhile: when the port can take the next
};

/// The initiator's end: an Out port's requests go onto wires, answers come from wires into an In port.
///
/// The wires lack what an atomic, a reduction (commands 2 and 3) and cache maintenance (4) consist of, and
/// the scope and hints of an access. Between two Warpline ends these travel in the request itself, which the
/// identifier names; a foreign receiver of such a command must answer with `error`. So it is with control of
/// lines (5), but there a foreign receiver need do nothing, and may answer either way.
class PinInitiator final : public PinEnd, private Carrier<RequestMessage> {
 public:
  PinInitiator(const sc_core::sc_module_name& name, EngineProcess& engine, PinWires& wires,
               Out<RequestMessage>& out, In<ResponseMessage>& in, bool with_data = true);

 private:
  friend class PinTarget;
  Cycle begin(Cycle t, const RequestMessage& message) override;
  /// Past the wires, which show nothing of it.
  void perform(const RequestMessage& message, Cycle& at) override;
  [[nodiscard]] std::size_t occupancy() const override { return on_the_way(); }
  void in_flight(std::vector<InFlight>& rows) const override;
  [[nodiscard]] std::string other_side() const override;
  void sent() override { sending_->sent = true; }
  void free(Cycle c) override;
  bool admit(PinMessage& message) override;
  Cycle arrived(Cycle t, PinMessage& message) override;
  void take_answer(const PinPass& pass, const PinMessage& message);
  void explain(std::vector<Wait>& waits) const override;
  /// The request in flight of this number, or null.
  [[nodiscard]] PinPass* find(std::uint64_t identifier);
  /// The request of `pass` has come to the other end, or to foreign hardware that answered in its place.
  void arrive(PinPass& pass);

  Out<RequestMessage>& out_;
  In<ResponseMessage>& in_;
  std::vector<std::unique_ptr<PinPass>> passes_;  ///< by identifier
  std::vector<std::uint64_t> unused_;             ///< identifiers
  PinPass* sending_ = nullptr;
  PinTarget* peer_ = nullptr;
};

/// The target's end: requests come from wires into an In port, an Out port's answers go onto wires.
///
/// A request of a foreign sender is a weak read or write, with an identifier that none of its unanswered
/// requests has.
class PinTarget final : public PinEnd, private Carrier<ResponseMessage> {
 public:
  PinTarget(const sc_core::sc_module_name& name, EngineProcess& engine, PinWires& wires,
            In<RequestMessage>& in, Out<ResponseMessage>& out, bool with_data = true);
  /// The initiator's end of the same hop, of the same engine. Pre: elaboration has not ended.
  void pair(PinInitiator& initiator);

 private:
  friend class PinInitiator;
  Cycle begin(Cycle t, const ResponseMessage& message) override;
  [[nodiscard]] std::size_t occupancy() const override { return on_the_way(); }
  [[nodiscard]] std::string other_side() const override;
  void sent() override {}
  void free(Cycle c) override;
  bool admit(PinMessage& message) override;
  Cycle arrived(Cycle t, PinMessage& message) override;
  [[nodiscard]] PinPass* known(const PinMessage& message);
  [[nodiscard]] Request* adopt(const PinMessage& message);

  static constexpr std::uint64_t kForeignIds = std::uint64_t{1} << 63U;
  In<RequestMessage>& in_;
  Out<ResponseMessage>& out_;
  PinInitiator* peer_ = nullptr;
  std::map<std::uint64_t, PinPass> adopted_;  ///< requests made for a foreign sender's, by identifier
  std::uint64_t adopted_so_far_ = 0;
};

/// A hop between ports of one engine, opened as wires; every message moves in the same cycles as by any other
/// carrier. Where something is to be put between the ends, each gets wires of its own.
class PinHop final : public sc_core::sc_module {
 public:
  /// The ports of a hop and its channels.
  struct Ports {
    Out<RequestMessage>& request_out;
    In<RequestMessage>& request_in;
    Out<ResponseMessage>& response_out;
    In<ResponseMessage>& response_in;
    HopParameters parameters;
  };
  enum class Wiring { through, cut };

  /// What of a hop's messages has bytes.
  struct Data {
    bool requests = true, responses = true;
  };

  /// `hop`: its name in reports and waves. `cut`: the caller joins near() and far() by hardware.
  PinHop(const sc_core::sc_module_name& name, EngineProcess& engine, const std::string& hop,
         const Ports& ports, const Data& data, Wiring wiring = Wiring::through);
  PinHop(const sc_core::sc_module_name& name, EngineProcess& engine, const std::string& hop,
         const Ports& ports)
      : PinHop(name, engine, hop, ports, Data{}) {}

  /// The wires at the initiator's end and at the target's: the same, unless the hop is cut.
  [[nodiscard]] PinWires& near() { return near_; }
  [[nodiscard]] PinWires& far() { return far_ != nullptr ? *far_ : near_; }

 private:
  PinWires near_;
  std::unique_ptr<PinWires> far_;
  PinInitiator initiator_;
  PinTarget target_;
};

}  // namespace warpline
