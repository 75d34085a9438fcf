#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rtl_models/base/state_archive.h"
#include "rtl_models/gpu_switch/gpu_switch_core.h"
#include "rtl_models/sim/arrivals.h"
#include "rtl_models/sim/channel.h"

namespace warpline {

/// A switch between GPUs, for what their SMs ask of the memory of several of them at once.
///
/// In a cycle it takes at most one request of every GPU, in the order of their numbers, and sends every GPU
/// at most one request for its replica and one answer. Each way is a queue: of two requests of one GPU for
/// one line, the first reaches every replica first. A GPU that has as many requests under way as there can be
/// waits; no other does for it. Answers of replicas are always taken. What has no meaning for the memory of
/// several GPUs is answered with an error.
///
/// Owns `token` of the requests that it makes. Latency: none of its own beyond its channels'.
class GpuSwitch final : public Component, public LooseTarget {
 public:
  /// Of `gpus` GPUs, 1 to 8. `table` outlives it. `with_data`: requests carry bytes.
  GpuSwitch(Engine& engine, std::string name, ClockDomain domain, unsigned gpus,
            const GpuSwitchParameters& parameters, GpuSwitchWidths widths, const MulticastTable& table,
            bool with_data);

  /// What GPU `i` asks of the memory of several, and its answers.
  [[nodiscard]] In<RequestMessage>& from_gpu(unsigned i) { return *from_gpu_[i]; }
  [[nodiscard]] Out<ResponseMessage>& to_gpu(unsigned i) { return *to_gpu_[i]; }
  /// What is asked of the replica of GPU `i`, and what it answers.
  [[nodiscard]] Out<RequestMessage>& to_replica(unsigned i) { return *to_replica_[i]; }
  [[nodiscard]] In<ResponseMessage>& from_replica(unsigned i) { return *from_replica_[i]; }

  Cycle tick(Cycle now) override;
  void perform(Request& r, Cycle& at) override;
  void archive(StateArchive& a) override { a(core_); }
  [[nodiscard]] bool busy() const override { return core_.under_way() != 0 || waiting_ != 0; }
  void explain(std::vector<Wait>& waits) const override;
  void visit_gauges(GaugeVisitor& visitor) const override;
  void in_flight(std::vector<InFlight>& rows) const override;

  [[nodiscard]] unsigned gpus() const { return core_.gpus(); }
  [[nodiscard]] const GpuSwitchCounters& counters(unsigned gpu) const { return core_.counters(gpu); }
  /// The name of its end towards a GPU, as counters have it.
  [[nodiscard]] std::string port_name(unsigned gpu) const;

 private:
  /// What waits at one GPU.
  struct Port {
    bool asks = false;        ///< its first request has arrived
    bool counted = false;     ///< that this one waits for room
    bool answers = false;     ///< its replica's first answer has arrived
    RequestQueue to_replica;  ///< requests for it
    RequestQueue to_gpu;      ///< answers for it
  };
  void take_answer(Cycle now, unsigned gpu);
  void take_request(Cycle now, unsigned gpu);
  void send_part(Cycle now, unsigned gpu);
  void send_answer(Cycle now, unsigned gpu);

  GpuSwitchCore core_;
  std::vector<std::unique_ptr<In<RequestMessage>>> from_gpu_;
  std::vector<std::unique_ptr<Out<ResponseMessage>>> to_gpu_;
  std::vector<std::unique_ptr<Out<RequestMessage>>> to_replica_;
  std::vector<std::unique_ptr<In<ResponseMessage>>> from_replica_;
  Arrivals request_arrivals_, answer_arrivals_;
  std::vector<Port> ports_;
  unsigned waiting_ = 0;  ///< in all queues of ports_
};

}  // namespace warpline
