#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "platform/vfio_user/function.h"
#include "rtl_models/base/problem.h"

namespace boost::asio {
class io_context;
}

namespace warpline::vfio_user {

/// What a server did.
struct ServerCounters {
  std::uint64_t clients = 0;
  std::uint64_t refused_clients = 0;
  std::uint64_t messages = 0;
  std::uint64_t refused_messages = 0;
  std::uint64_t broken_connections = 0;
  std::uint64_t interrupts = 0;
  std::uint64_t dma_bytes = 0;
  std::uint64_t dma_message_bytes = 0;
  std::uint64_t refused_dma = 0;

  template <class F>
  void visit(F&& f) const {
    f("clients", clients, "clients", "that were served");
    f("refused_clients", refused_clients, "clients", "that came while there was one");
    f("messages", messages, "messages", "commands of clients");
    f("refused_messages", refused_messages, "messages", "of those, answered with an error");
    f("broken_connections", broken_connections, "clients", "that were cut off for what they sent");
    f("interrupts", interrupts, "interrupts", "that a client heard of");
    f("dma_bytes", dma_bytes, "bytes", "of clients' memory read and written");
    f("dma_message_bytes", dma_message_bytes, "bytes", "of those, by messages");
    f("refused_dma", refused_dma, "accesses", "of memory that is not mapped, or that a client refused");
  }
};

/// Serves a PCI function at a UNIX socket to one client at a time, by the vfio-user protocol.
///
/// The socket is its user's alone (mode 0600). A client that sends what the protocol does not have is told so
/// where a command can be refused, and cut off where the stream can not be followed any more; function and
/// other clients go on. When a client goes away its windows and interrupts are forgotten; the function is
/// left as it is.
class Server {
 public:
  struct Options {
    /// How long a client may take to answer when its memory is asked for by message.
    std::chrono::milliseconds patience{30'000};
    /// Who runs `io` calls look() where it does not sleep, and sleep() before it does.
    bool is_looked_at = false;
    /// Hears a sentence of everything that goes wrong.
    std::function<void(const std::string& sentence)> log;
  };
  /// Listens at `path`. A socket that nobody serves any more is replaced; one that somebody does, or a file
  /// that is none, is a fault. `io` and `function` outlive the server; all its work is done within `io`.
  [[nodiscard]] static Result<std::unique_ptr<Server>> listen(boost::asio::io_context& io, std::string path,
                                                              Function& function, Options options);
  virtual ~Server() = default;

  [[nodiscard]] virtual bool has_client() const = 0;
  /// Takes what its client has sent since it was last heard, without the detours of `io`: for a client that
  /// was answered and asks again at once. Whether there was something. Pre: not called within it.
  virtual bool look() = 0;
  /// `io` tells of the client from now on.
  virtual void sleep() = 0;
  /// Cuts its client off, if it has one.
  virtual void disconnect() = 0;
  [[nodiscard]] virtual const ServerCounters& counters() const = 0;
};

}  // namespace warpline::vfio_user
