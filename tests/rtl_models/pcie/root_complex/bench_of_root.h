#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "rtl_models/pcie/host_bridge/host_bridge.h"
#include "rtl_models/pcie/root_complex/root_complex.h"

namespace warpline::test {

/// A device that sends a script, answers what it is asked with bytes that count up from the address, and
/// keeps what comes.
class ScriptedDevice final : public Component {
 public:
  ScriptedDevice(Engine& engine, const std::string& name, TlpPool& pool, unsigned port,
                 const LinkParameters& parameters)
      : Component(engine, name),
        link(*this, "root", parameters),
        pool_(pool),
        id_(RootComplexCore::id_of(port)) {}

  /// Queues a request of its own for cycle `at`; not before those queued earlier.
  Tlp& send(Cycle at, TlpKind kind, std::uint64_t address, std::uint32_t bytes, std::uint16_t tag = 0) {
    Tlp* const tlp = pool_.allocate();
    tlp->kind = kind;
    tlp->requester = id_;
    tlp->tag = tag;
    tlp->address = address;
    tlp->bytes = bytes;
    const bool carries = kind != TlpKind::memory_read;
    for (unsigned i = 0; carries && i < (kind == TlpKind::compare_and_swap ? 2 * bytes : bytes); ++i)
      tlp->data.push_back(static_cast<std::uint8_t>(i + 1));
    script_.push_back({at, tlp});
    wake(at);
    return *tlp;
  }
  Cycle tick(Cycle now) override {
    const auto wanted = [this](const Tlp& tlp) {
      return takes_reads || class_of(tlp.kind) != TlpClass::non_posted;
    };
    while (Tlp* const tlp = link.next(now, wanted)) {
      link.take(now, tlp);
      came.push_back({now, *tlp});
      if (class_of(tlp->kind) == TlpClass::non_posted && answers) answer(*tlp);
      pool_.release(tlp);
    }
    for (; !script_.empty() && script_.front().first <= now; script_.pop_front())
      link.send(script_.front().second);
    const Cycle next = script_.empty() ? kNever : script_.front().first;
    return std::min(next, link.transmit(now));
  }
  [[nodiscard]] bool busy() const override { return !script_.empty() || link.busy(); }
  void explain(std::vector<Wait>& waits) const override { link.explain(waits); }

  /// Answers a request, now or again.
  void answer(const Tlp& request) {
    Tlp* const c = pool_.allocate();
    c->kind = TlpKind::completion;
    c->requester = request.requester;
    c->completer = id_;
    c->tag = request.tag;
    c->epoch = request.epoch;
    c->address = request.address;
    c->bytes = c->remaining = request.kind == TlpKind::config_write ? 0 : request.bytes;
    for (unsigned i = 0; i < c->bytes; ++i)
      c->data.push_back(static_cast<std::uint8_t>(request.address + i + shift));
    link.send(c);
  }

  TlpPort link;
  std::vector<std::pair<Cycle, Tlp>> came;
  bool answers = true;
  unsigned shift = 0;       ///< added to the bytes that it answers with
  bool takes_reads = true;  ///< false: what wants an answer is left on the link

 private:
  TlpPool& pool_;
  FunctionId id_;
  std::deque<std::pair<Cycle, Tlp*>> script_;
};

/// A root complex with a host and scripted devices.
struct BenchOfRoot {
  static LinkParameters host_link() {
    LinkParameters p;
    p.latency = 20;
    p.bytes_per_cycle = 64;
    p.completion_timeout = 5000;
    return p;
  }
  static constexpr std::uint64_t kWindow = std::uint64_t{1} << 41U, kWindowBytes = 1U << 20U;

  explicit BenchOfRoot(unsigned count = 2, const RootComplexParameters& parameters = {},
                       TickMode mode = TickMode::lazy, std::uint64_t seed = 1)
      : BenchOfRoot(std::vector<LinkParameters>(count), parameters, mode, seed) {}
  explicit BenchOfRoot(const std::vector<LinkParameters>& links, const RootComplexParameters& parameters = {},
                       TickMode mode = TickMode::lazy, std::uint64_t seed = 1,
                       const HostBridgeParameters& bridge = {})
      : engine(mode, seed),
        root(engine, "root", {}, pool, parameters, memory, host_link(), links),
        host(engine, "host", {}, pool, host_link(), bridge) {
    connect(host.to_root(), root.to_host());
    for (unsigned i = 0; i < links.size(); ++i) {
      devices.push_back(
          std::make_unique<ScriptedDevice>(engine, "device" + std::to_string(i), pool, i, links[i]));
      connect(devices[i]->link, root.to_device(i));
      windows_placed = windows_placed && root.core().set_window(i, RootComplexCore::Window::wide,
                                                                kWindow * (i + 1), kWindowBytes);
    }
  }
  RunOutcome run(Cycle limit = kNever - 1) { return engine.run_until(limit); }
  [[nodiscard]] ScriptedDevice& device(unsigned i) { return *devices[i]; }
  [[nodiscard]] static std::uint64_t window(unsigned i) { return kWindow * (i + 1); }

  Engine engine;
  TlpPool pool;
  MemoryImage memory{1U << 20U};
  RootComplex root;
  HostBridge host;
  std::vector<std::unique_ptr<ScriptedDevice>> devices;
  bool windows_placed = true;
};

}  // namespace warpline::test
