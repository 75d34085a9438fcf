#include "platform/serve/serving.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "platform/machine/pcie_system.h"
#include "platform/serve/control.h"
#include "platform/serve/control_server.h"
#include "platform/serve/served_function.h"
#include "platform/serve/served_machine.h"
#include "rtl_models/base/counter.h"
#include "rtl_models/pcie/endpoint/endpoint_device.h"

namespace warpline {
namespace {

using Clock = std::chrono::steady_clock;

/// What the model does at a stretch while clients wait.
constexpr std::chrono::microseconds kStretch{200};
/// How long the server looks for more, before it sleeps.
constexpr std::chrono::microseconds kAwake{50};
/// How long a client may take to answer for its memory within an access of its own, loosely timed. QEMU gives
/// up an access after 5 seconds.
constexpr std::chrono::seconds kPatienceWithin{2};

/// Model time as it follows real time.
class Pace {
 public:
  /// `rate`: cycles in a microsecond.
  Pace(Cycle from, double rate) : from_(from), rate_(rate), began_(Clock::now()) {}
  [[nodiscard]] Cycle due() const {
    const std::chrono::duration<double, std::micro> passed = Clock::now() - began_;
    return from_ + static_cast<Cycle>(passed.count() * rate_);
  }
  [[nodiscard]] Clock::time_point time_of(Cycle cycle) const {
    const double us = cycle <= from_ ? 0.0 : static_cast<double>(cycle - from_) / rate_;
    // Nobody waits longer than an hour without looking.
    return began_ + std::chrono::duration_cast<Clock::duration>(
                        std::chrono::duration<double, std::micro>(std::min(us, 3.6e9)));
  }

 private:
  Cycle from_;
  double rate_;
  Clock::time_point began_;
};

class AsioServing final : public Serving {
 public:
  AsioServing(ServedMachine& machine, unsigned mhz, const Options& options)
      : machine_(machine), mhz_(mhz), pace_(options.pace), work_(boost::asio::make_work_guard(io_)) {
    machine_.pump_by([this](Clock::time_point since) { return pump(since); });
  }
  ~AsioServing() override { machine_.pump_by(nullptr); }

  [[nodiscard]] Diagnostics listen(const Options& options) {
    vfio_user::Server::Options looked_at = options.server;
    looked_at.is_looked_at = true;
    for (const Socket& socket : options.sockets) {
      auto server = vfio_user::Server::listen(io_, socket.path, machine_.function(socket.port), looked_at);
      if (!server.ok()) return server.faults();
      servers_.push_back(std::move(server.value()));
      ports_.push_back(socket.port);
    }
    if (options.control.empty()) return {};
    auto control = ControlServer::listen(io_, options.control, Control(machine_, *this, *options.watches),
                                         options.server.log);
    if (!control.ok()) return control.faults();
    control_ = std::move(control.value());
    return {};
  }

  void run(const std::vector<int>& signals) override {
    boost::asio::signal_set set(io_);
    for (const int signal : signals) set.add(signal);
    if (!signals.empty())
      set.async_wait([this](const boost::system::error_code& failed, int signal) {
        if (failed) return;
        signal_ = signal;
        stopped_ = true;
      });
    set_pace(pace_);
    while (!stopped_)
      if (turn()) poll();
    for (const auto& server : servers_) server->disconnect();
  }
  void set_pace(double pace) override {
    pace_ = pace;
    paced_.reset();
    if (pace > 0) paced_.emplace(machine_.now(), pace * mhz_);
  }
  [[nodiscard]] double pace() const override { return pace_; }
  void stop() override {
    post([this] { stopped_ = true; });
  }
  void post(std::function<void()> work) override { boost::asio::post(io_, std::move(work)); }
  [[nodiscard]] const vfio_user::ServerCounters& counters(unsigned socket) const override {
    return servers_[socket]->counters();
  }
  [[nodiscard]] bool has_client(unsigned socket) const override { return servers_[socket]->has_client(); }
  void visit(CounterVisitor& visitor) const override {
    visit_counters("serve", machine_.counters(), visitor);
    for (std::size_t i = 0; i < servers_.size(); ++i)
      visit_counters("serve." + machine_.system().at_port(ports_[i]).name, servers_[i]->counters(), visitor);
    machine_.visit(visitor);
  }
  [[nodiscard]] int signal() const override { return signal_; }

 private:
  /// Whether the model has more to do at once; otherwise something has come by then.
  bool turn() {
    if (paced_) {
      const Pace pace = *paced_;  // who is heard meanwhile may change it
      const Cycle due = pace.due();
      if (machine_.advance(due, kStretch)) return true;
      machine_.pass_until(due);
      wait(pace);
      return false;
    }
    // While a client is asked for its memory, time goes on as for it: else what waits would be given up at
    // once, as there is nothing else to do.
    if (machine_.waits_for_client()) {
      if (!waiting_) waiting_.emplace(machine_.now(), mhz_);
      if (machine_.advance(waiting_->due(), kStretch)) return true;
      wait(*waiting_);
      return false;
    }
    waiting_.reset();
    if (machine_.advance(kNever - 1, kStretch)) return true;
    wait_until(Clock::time_point::max());
    return false;
  }
  /// Until something comes, or the model has something to do.
  void wait(const Pace& pace) {
    const Cycle next = machine_.next_activity();
    wait_until(next == kNever ? Clock::time_point::max() : pace.time_of(next));
  }
  void wait_until(Clock::time_point end) {
    if (stopped_) return;
    // Who has been heard last often asks again at once, and a processor that sleeps takes long to wake. Each
    // look is a call of the system, which a request that comes meanwhile waits for. The client's own threads
    // may wait for this processor.
    constexpr unsigned kBetweenOthers = 8;
    for (const Clock::time_point awake = std::min(end, Clock::now() + kAwake); Clock::now() < awake;) {
      // Others have their turn even where the one heard last never stops asking.
      if (++looks_ % kBetweenOthers == 0) {
        const bool heard = look();
        if (io_.poll_one() != 0 || heard) return;
      }
      if (heard_last_ < servers_.size() && servers_[heard_last_]->look()) return;
      std::this_thread::yield();
    }
    sleep();
    // Such a wish is given up after a while.
    if (machine_.is_switching()) end = std::min(end, Clock::now() + std::chrono::milliseconds(50));
    if (end == Clock::time_point::max()) {
      io_.run_one();
    } else {
      io_.run_one_until(end);
    }
  }
  bool look() {
    bool any = false;
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      if (!servers_[i]->look()) continue;
      heard_last_ = i;
      any = true;
    }
    return any;
  }
  void sleep() {
    for (const auto& server : servers_) server->sleep();
  }
  /// What has come, as much of it as may keep the model waiting.
  void poll() {
    static_cast<void>(look());
    constexpr unsigned kMost = 64;
    const Clock::time_point end = Clock::now() + kStretch;
    for (unsigned i = 0; i < kMost && !stopped_ && io_.poll_one() != 0; ++i)
      if (Clock::now() >= end) return;
  }
  bool pump(Clock::time_point since) {
    if (stopped_) return false;
    const Clock::time_point end = since + kPatienceWithin;
    if (Clock::now() >= end) return false;
    sleep();
    io_.run_one_until(end);
    return true;
  }

  ServedMachine& machine_;
  unsigned mhz_;
  double pace_;
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::vector<std::unique_ptr<vfio_user::Server>> servers_;
  std::vector<unsigned> ports_;  ///< of the function of each of them
  std::unique_ptr<ControlServer> control_;
  std::optional<Pace> paced_;  ///< nothing: as fast as it can
  std::optional<Pace> waiting_;
  unsigned looks_ = 0;
  std::size_t heard_last_ = 0;  ///< of the servers
  bool stopped_ = false;
  int signal_ = 0;
};

}  // namespace

Result<std::unique_ptr<Serving>> Serving::listen(ServedMachine& machine, unsigned mhz, Options options) {
  auto serving = std::make_unique<AsioServing>(machine, mhz, options);
  Diagnostics faults = serving->listen(options);
  if (!faults.empty()) return faults;
  return std::unique_ptr<Serving>(std::move(serving));
}

}  // namespace warpline
