#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "platform/vfio_user/server.h"
#include "tests/support/scratch_folder.h"

namespace warpline::vfio_user {

/// A function whose BAR 0 is 64 KiB of memory, whose configuration space may not be written, and which has a
/// wire and four vectors of MSI-X. It carries out an access within the call, or some time later.
class MemoryFunction final : public Function {
 public:
  [[nodiscard]] Region region(unsigned index) const override {
    if (index == 0) return {kBytes, true, true};
    if (index == 1) return {kBytes, false, true};
    if (index == kConfigRegion) return {256, true, false};
    return {};
  }
  [[nodiscard]] unsigned vectors(IrqKind kind) const override {
    return kind == IrqKind::intx ? 1 : kind == IrqKind::msix ? 4 : 0;
  }
  void read(unsigned, std::uint64_t offset, std::uint32_t, ReadDone done) override {
    later(
        [this, offset, done = std::move(done)] { done(offset >= kBad ? nullptr : memory.data() + offset); });
  }
  void write(unsigned, std::uint64_t offset, const std::uint8_t* data, std::uint32_t bytes, bool,
             Done done) override {
    if (on_write) on_write();
    later([this, offset, copy = std::vector<std::uint8_t>(data, data + bytes), done = std::move(done)] {
      std::copy(copy.begin(), copy.end(), memory.begin() + static_cast<std::ptrdiff_t>(offset));
      done();
    });
  }
  void reset(Done done) override {
    later([this, done = std::move(done)] {
      std::fill(memory.begin(), memory.end(), std::uint8_t{0});
      ++resets;
      done();
    });
  }
  void attach(Client& here) override {
    client = &here;
    ++attaches;
    if (on_attach) on_attach();
  }
  void detach() override {
    client = nullptr;
    ++detaches;
    if (on_detach) on_detach();
  }

  static constexpr std::uint64_t kBytes = 0x1'0000, kBad = kBytes - 16;  ///< the last bytes of which are bad
  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(kBytes);
  unsigned resets = 0, attaches = 0, detaches = 0;
  std::function<void()> on_write, on_attach, on_detach;
  bool delays = false;  ///< accesses wait for go_on()
  Client* client = nullptr;

  void go_on() {
    for (auto& action : std::exchange(waiting_, {})) action();
  }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

 private:
  void later(std::function<void()> action) {
    if (delays) {
      waiting_.push_back(std::move(action));
    } else {
      action();
    }
  }
  std::vector<std::function<void()>> waiting_;
};

/// It, served by a thread.
class ServedMemory {
 public:
  explicit ServedMemory(std::chrono::milliseconds patience = std::chrono::milliseconds(30'000)) {
    Server::Options options;
    options.patience = patience;
    options.log = [this](const std::string& s) { said_.push_back(s); };
    auto listening = Server::listen(io_, path(), function_, options);
    EXPECT_TRUE(listening.ok());
    server_ = std::move(listening.value());
    thread_ = std::thread([this] {
      const auto work = boost::asio::make_work_guard(io_);
      io_.run();
    });
  }
  ~ServedMemory() {
    boost::asio::post(io_, [this] {
      server_.reset();
      io_.stop();
    });
    thread_.join();
  }
  ServedMemory(const ServedMemory&) = delete;
  ServedMemory& operator=(const ServedMemory&) = delete;

  /// Does something in the thread that serves, and waits for it.
  template <class F>
  auto within(F&& f) {
    std::packaged_task<decltype(f())()> task(std::forward<F>(f));
    auto result = task.get_future();
    boost::asio::post(io_, [&task] { task(); });
    return result.get();
  }
  [[nodiscard]] std::string path() const { return scratch_.path("socket"); }
  [[nodiscard]] MemoryFunction& function() { return function_; }
  [[nodiscard]] ServerCounters counters() {
    return within([this] { return server_->counters(); });
  }
  [[nodiscard]] std::vector<std::string> said() {
    return within([this] { return said_; });
  }
  /// Waits until it has, or has no, client.
  [[nodiscard]] bool comes_to(bool client) {
    for (unsigned i = 0; i < 2000; ++i) {
      if (within([this] { return server_->has_client(); }) == client) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

 private:
  ScratchFolder scratch_;
  boost::asio::io_context io_;
  MemoryFunction function_;
  std::vector<std::string> said_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

}  // namespace warpline::vfio_user
