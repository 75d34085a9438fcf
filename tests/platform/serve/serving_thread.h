#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "platform/serve/served_machine.h"
#include "platform/serve/serving.h"
#include "platform/vfio_user/client_machine.h"
#include "tests/support/scratch_folder.h"

namespace warpline::test {

/// A Function Level Reset: device control of its PCI Express capability. An errno, or 0.
inline int reset_function(vfio_user::ClientMachine& machine) {
  const std::uint16_t initiate = 0x8000;
  return machine.connection().write(vfio_user::kConfigRegion, 0x68, &initiate, 2);
}

/// Serves all functions of a machine by a thread, at sockets in a folder of its own.
class ServingThread {
 public:
  ServingThread(const ServingThread&) = delete;
  ServingThread& operator=(const ServingThread&) = delete;

  /// The socket of the function behind root port `port`.
  [[nodiscard]] std::string path(unsigned port) const {
    return scratch_.path("function" + std::to_string(port));
  }
  /// Where the control socket is.
  [[nodiscard]] std::string control() const { return scratch_.path("control"); }
  [[nodiscard]] std::unique_ptr<vfio_user::ClientMachine> client(
      unsigned port = 0, vfio_user::ClientMachine::Options options = {}) const {
    options.slot = port;
    auto made = vfio_user::ClientMachine::connect(path(port), options);
    // The server may not have heard yet that the one before has gone.
    for (unsigned tries = 0; !made.ok() && tries < 1000; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      made = vfio_user::ClientMachine::connect(path(port), options);
    }
    EXPECT_TRUE(made.ok()) << made.faults().front().text();
    return made.ok() ? std::move(made.value()) : nullptr;
  }
  /// Does something in the thread that serves, and waits for it.
  template <class F>
  auto within(F&& f) {
    std::packaged_task<decltype(f())()> task(std::forward<F>(f));
    auto result = task.get_future();
    serving_->post([&task] { task(); });
    return result.get();
  }
  [[nodiscard]] Serving& serving() { return *serving_; }

 protected:
  ServingThread() = default;
  ~ServingThread() = default;
  /// Machine and watches live until stop() at least.
  void start(ServedMachine& machine, unsigned mhz, const AccessWatches& watches, double pace = 0) {
    Serving::Options options;
    for (unsigned i = 0; i < machine.functions(); ++i) options.sockets.push_back({i, path(i)});
    options.pace = pace;
    options.control = control();
    options.watches = &watches;
    options.server.log = [this](const std::string& s) { said_.push_back(s); };
    auto listening = Serving::listen(machine, mhz, std::move(options));
    EXPECT_TRUE(listening.ok());
    serving_ = std::move(listening.value());
    thread_ = std::thread([this] { serving_->run({}); });
  }
  void stop() {
    serving_->stop();
    thread_.join();
    serving_.reset();
  }

 private:
  ScratchFolder scratch_;
  std::vector<std::string> said_;
  std::unique_ptr<Serving> serving_;
  std::thread thread_;
};

}  // namespace warpline::test
