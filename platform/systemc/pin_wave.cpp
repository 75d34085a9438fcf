#include "platform/systemc/pin_wave.h"

#include <algorithm>
#include <type_traits>

#include "rtl_models/base/text.h"

namespace warpline {
namespace {

/// Hears of every change of one wire.
template <class T>
class Tap final : public sc_core::sc_module {
 public:
  Tap(const sc_core::sc_module_name& name, EngineProcess& engine, const sc_core::sc_signal<T>& wire,
      Recorder& recorder, std::uint32_t signal)
      : sc_module(name), engine_(engine), wire_(wire), recorder_(recorder), signal_(signal) {
    recorder.set_initial(signal, static_cast<std::uint64_t>(wire.read()));
    SC_HAS_PROCESS(Tap);
    SC_METHOD(note);
    dont_initialize();
    sensitive << wire;
  }

 private:
  void note() {
    recorder_.set(engine_.cycle_of(sc_core::sc_time_stamp()), signal_,
                  static_cast<std::uint64_t>(wire_.read()));
  }
  EngineProcess& engine_;
  const sc_core::sc_signal<T>& wire_;
  Recorder& recorder_;
  std::uint32_t signal_;
};

/// `wires`: their name. Those at the two ends of a hop that was opened for hardware are called after it.
bool takes(const Selection& selection, const Engine& engine, const std::string& wires) {
  std::string hop = wires;
  for (const std::string end : {".near", ".far"})
    if (ends_with(hop, end)) hop.resize(hop.size() - end.size());
  return std::any_of(engine.ports().begin(), engine.ports().end(),
                     [&](const PortBase* p) { return p->path() == hop && selection.takes(*p); });
}

std::uint64_t most_of(unsigned bits) {
  return bits < 64 ? (std::uint64_t{1} << bits) - 1 : ~std::uint64_t{0};
}

}  // namespace

PinWave::PinWave(EngineProcess& engine, const std::vector<const TlpPinWires*>& links,
                 const Selection& selection, Recorder& recorder) {
  const auto tap = [&, this](const std::string& path, const auto& channel) {
    channel.visit([&, this](const std::string& name, const auto& wire, unsigned bits) {
      using T = std::decay_t<decltype(wire.read())>;
      if (name == "clock") return;
      const std::uint32_t signal = recorder.add_signal({path + name, most_of(bits), "a wire"});
      taps_.push_back(
          std::make_unique<Tap<T>>(sc_core::sc_gen_unique_name("pin_tap"), engine, wire, recorder, signal));
    });
  };
  for (const PinWires* hop : engine.pins().wires()) {
    if (!takes(selection, engine.engine(), hop->hop())) continue;
    tap(hop->hop() + ".request.", hop->request);
    tap(hop->hop() + ".response.", hop->response);
  }
  for (const TlpPinWires* wires : links)
    if (takes(selection, engine.engine(), wires->hop())) tap(wires->hop() + ".", *wires);
}

PinWave::~PinWave() = default;

}  // namespace warpline
