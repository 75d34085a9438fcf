#pragma once

#include <deque>
#include <string_view>
#include <vector>

#include "rtl_models/sim/gauge_visitor.h"
#include "rtl_models/sim/recorder.h"

namespace warpline {

/// What a probe tells of a port.
struct PortProbe {
  const PortBase* port = nullptr;  ///< a receiving one
  bool signals = false;            ///< how many messages are on the channel, and whether its wire is in use
  bool messages = false;           ///< each message: when it began, when it was taken
  bool responses = false;          ///< what the channel carries
};

/// Observes one component: its gauges, and the channels that end in its ports.
///
/// It is ticked in the component's place, looks, and has the component tick. A component that nobody observes
/// is not touched, nor is any port: what a channel holds is seen in the queue of its receiving port, where
/// every message stays until a tick of its owner. So whatever brings the messages is observed alike.
class Probe final : public Component, private Recorder::Source, private GaugeVisitor {
 public:
  /// All outlive it. `ports` belong to `original`.
  Probe(Component& original, bool gauges, const std::vector<PortProbe>& ports, Recorder& recorder,
        std::uint32_t& order);
  ~Probe() override { original_.engine().tick_in_place(original_, original_); }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  Cycle tick(Cycle now) override;
  [[nodiscard]] bool busy() const override { return original_.busy(); }
  void explain(std::vector<Wait>& waits) const override { original_.explain(waits); }

 private:
  enum class Stage : std::uint8_t { before, open, after };
  enum class Purpose : std::uint8_t { declare, initial, change };
  struct Port {
    PortProbe what;
    std::uint32_t order = 0;
    std::uint32_t occupancy = 0, busy = 0;  ///< signals
    struct Seen {
      Cycle arrives = 0;
      MessageEvent event;
    };
    std::deque<Seen> seen;  ///< the queue of the port as it was last seen
  };
  void catch_up(Cycle settled) override;
  void describe(std::vector<Signal>& signals) override;
  void gauge(std::string_view name, std::uint64_t value, std::uint64_t most,
             std::string_view description) override;
  void visit(Purpose purpose, Cycle now);
  void open();
  void look() {
    for (Port& p : ports_) look(p);
  }
  void look(Port& port);
  void note_begun(Port& port, const QueuedMessage& message);
  void note_taken(Port& port, Cycle now);

  Component& original_;
  Recorder& recorder_;
  bool gauges_;
  Stage stage_ = Stage::before;
  std::vector<Port> ports_;
  std::vector<std::uint32_t> signals_;  ///< of the gauges
  std::vector<std::uint64_t> values_;
  // While the gauges are being visited:
  Purpose purpose_ = Purpose::declare;
  std::size_t index_ = 0;
  Cycle now_ = 0;
};

}  // namespace warpline
