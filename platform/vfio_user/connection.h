#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "platform/vfio_user/descriptor.h"
#include "platform/vfio_user/messages.h"
#include "rtl_models/base/problem.h"

namespace warpline::vfio_user {

/// The client's side of a connection, for tests, benchmarks and scripts: every call sends a command and
/// waits for its answer, and meanwhile answers what the server asks of the client's memory.
///
/// What fails returns an errno: the server's own, or ECONNRESET where the connection is lost, ETIMEDOUT where
/// nothing came in time, EPROTO where the answer is none.
class Connection {
 public:
  /// Connects and agrees on a version.
  [[nodiscard]] static Result<std::unique_ptr<Connection>> to(const std::string& path,
                                                              const Version& version = {});
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] const Version& version() const { return version_; }
  /// How long an answer may take.
  void set_patience(int milliseconds) { patience_ms_ = milliseconds; }

  /// `file`, unless null: gets the memory of a region that may be mapped.
  [[nodiscard]] int region(unsigned index, RegionInfo& info, Descriptor* file = nullptr);
  [[nodiscard]] int irq(IrqKind kind, IrqInfo& info);
  [[nodiscard]] int read(unsigned region, std::uint64_t offset, void* data, std::uint32_t bytes);
  [[nodiscard]] int write(unsigned region, std::uint64_t offset, const void* data, std::uint32_t bytes);
  /// Without waiting for an answer.
  [[nodiscard]] int post(unsigned region, std::uint64_t offset, const void* data, std::uint32_t bytes);
  [[nodiscard]] int write(const std::vector<SmallWrite>& writes);
  /// `file`: -1: by messages, which read() and write() of `memory` answer.
  [[nodiscard]] int map(const DmaMap& window, int file);
  [[nodiscard]] int unmap(const DmaUnmap& range);
  [[nodiscard]] int set_irqs(const SetIrqs& request, const std::vector<int>& events);
  [[nodiscard]] int reset();

  /// Who answers what the server asks for by message; `data` is to be filled, or has been written. False: it
  /// is refused. Nobody at first: all is refused.
  using Memory =
      std::function<bool(std::uint64_t address, std::uint8_t* data, std::size_t bytes, bool writes)>;
  void answer_by(Memory memory) { memory_ = std::move(memory); }
  /// Answers what is asked for until `milliseconds` have passed, or the connection is lost.
  [[nodiscard]] int listen(int milliseconds);

  /// Sends these bytes as they are, with these descriptors: for who tests a server.
  [[nodiscard]] int send_raw(const void* bytes, std::size_t count, const std::vector<int>& descriptors = {});
  /// Takes the next message off the connection.
  [[nodiscard]] int receive(Header& header, std::vector<std::uint8_t>& payload, int milliseconds);

 private:
  explicit Connection(Descriptor socket) : socket_(std::move(socket)) {}
  [[nodiscard]] int say_version(const Version& version);
  [[nodiscard]] int send(Command command, std::uint32_t flags, const std::vector<std::uint8_t>& payload,
                         const std::vector<int>& descriptors, std::uint16_t& id);
  /// Sends and waits for the answer's payload.
  [[nodiscard]] int ask(Command command, const std::vector<std::uint8_t>& payload,
                        std::vector<std::uint8_t>* answer = nullptr,
                        const std::vector<int>& descriptors = {});
  [[nodiscard]] int serve(const Header& header, std::vector<std::uint8_t>& payload);
  [[nodiscard]] int receive_bytes(std::uint8_t* to, std::size_t bytes, int milliseconds);

  Descriptor socket_;
  Version version_;
  int patience_ms_ = 60'000;
  std::vector<Descriptor> arrived_;  ///< with the message that was taken last
  std::uint16_t next_id_ = 1;
  Memory memory_;
};

}  // namespace warpline::vfio_user
