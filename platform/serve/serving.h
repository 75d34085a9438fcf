#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "platform/vfio_user/server.h"
#include "rtl_models/base/problem.h"

namespace warpline {

class AccessWatches;
class CounterVisitor;
class ServedMachine;

/// Serves functions of a machine at UNIX sockets, and lets the machine run meanwhile.
///
/// As fast as it can, model time passes while the model has something to do, and stands still else. Paced, it
/// follows real time: what the model is to do later waits for it, and a model that is slower falls behind.
class Serving {
 public:
  struct Socket {
    unsigned port = 0;  ///< the root port of the function
    std::string path;
  };
  /// Whether a pace may be that: 0, or 1e-9 to 1000; what is no number may not.
  [[nodiscard]] static bool takes_pace(double pace) { return pace == 0 || (pace >= 1e-9 && pace <= 1000); }
  struct Options {
    std::vector<Socket> sockets;
    double pace = 0;  ///< seconds of the model in one of ours; 0: as fast as it can
    /// The socket at which requests about the machine are answered (control_messages.h); empty: none.
    std::string control;
    /// What these say of it; pre: not null where there is that socket, and they outlive the serving.
    const AccessWatches* watches = nullptr;
    vfio_user::Server::Options server;
  };
  /// Listens at all sockets, so that clients may connect. The machine outlives it. `mhz`: of its fastest
  /// clock.
  [[nodiscard]] static Result<std::unique_ptr<Serving>> listen(ServedMachine& machine, unsigned mhz,
                                                               Options options);
  virtual ~Serving() = default;

  /// Serves until somebody calls stop(), or one of these signals comes.
  virtual void run(const std::vector<int>& signals) = 0;
  /// The pace from now on, as Options have it.
  virtual void set_pace(double pace) = 0;
  [[nodiscard]] virtual double pace() const = 0;
  /// By any thread.
  virtual void stop() = 0;
  /// Has `work` done by the thread that serves, between what it does for clients. By any thread.
  virtual void post(std::function<void()> work) = 0;
  [[nodiscard]] virtual const vfio_user::ServerCounters& counters(unsigned socket) const = 0;
  [[nodiscard]] virtual bool has_client(unsigned socket) const = 0;
  /// The machine's counters, and those of what serves it.
  virtual void visit(CounterVisitor& visitor) const = 0;
  /// The signal that ended run(); 0: stop() did.
  [[nodiscard]] virtual int signal() const = 0;
};

}  // namespace warpline
