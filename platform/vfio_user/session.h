#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/vfio_user/dma_table.h"
#include "platform/vfio_user/interrupts.h"
#include "platform/vfio_user/messages.h"
#include "platform/vfio_user/server.h"

namespace warpline::vfio_user {

/// Whom a session tells what becomes of it.
class SessionOwner {
 public:
  /// It has said its version, and would have the function. False: somebody has it.
  [[nodiscard]] virtual bool admit(class Session& session) = 0;
  /// It is over: it says and asks nothing any more.
  virtual void ended(class Session& session) = 0;
  [[nodiscard]] virtual ServerCounters& count() = 0;
  virtual void log(const std::string& sentence) = 0;

 protected:
  ~SessionOwner() = default;
};

/// One connection: takes commands off it, one after the other, has the function carry them out, and answers.
class Session final : public Client, public std::enable_shared_from_this<Session> {
 public:
  using Socket = boost::asio::local::stream_protocol::socket;
  Session(Socket socket, Function& function, SessionOwner& owner, std::chrono::milliseconds patience);

  /// Begins to take commands.
  void start() { receive(); }
  /// Ends it, telling its owner. What the function has under way is answered to nobody.
  void end();
  /// Commands that the function has at a time. Others wait here, as answers to its own requests may be behind
  /// them.
  static constexpr unsigned kMostUnderWay = 256;
  /// Bytes that wait to be carried out, or to be taken by the client: no more is taken off the connection
  /// then, so that a flood stays with who sends it.
  static constexpr std::size_t kMostWaiting = 4U << 20U;

  void read(std::uint64_t address, std::uint32_t bytes, ReadDone done) override;
  void write(std::uint64_t address, const std::uint8_t* data, std::uint32_t bytes, WriteDone done) override;
  [[nodiscard]] void* word(std::uint64_t address, std::uint32_t bytes) override;
  void interrupt(IrqKind kind, unsigned vector) override;

 private:
  /// A DMA, of which the first bytes are done.
  struct Transfer {
    std::uint64_t address = 0;
    std::vector<std::uint8_t> data;
    std::size_t moved = 0;
    std::size_t asked = 0;  ///< bytes of the message that is under way
    bool writes = false;
    ReadDone read_done;
    WriteDone write_done;
    std::chrono::steady_clock::time_point asked_at;
  };

  struct Message {
    Header header;
    std::vector<std::uint8_t> payload;
    std::vector<Descriptor> descriptors;
  };

  void receive();
  void go_on();
  [[nodiscard]] bool receive_some();
  [[nodiscard]] bool receive_bytes(std::uint8_t* to, std::size_t bytes, std::size_t& got);
  [[nodiscard]] bool begin_payload();
  void await_more();
  void handle(Message message);
  void handle_reply(const Message& message);
  void handle_version(const Message& message);
  void carry_out(Message& message);
  void map(const Message& message);
  void unmap(const Message& message);
  void tell_region(const Message& message);
  void tell_irq(const Message& message);
  void set_irqs(Message& message);
  void read_region(const Message& message);
  void write_region(const Message& message);
  void write_regions(const Message& message);
  void reset(const Message& message);
  [[nodiscard]] int problem_of(const RegionAccess& access, bool writes) const;

  void reply(const Header& to, std::vector<std::uint8_t> payload);
  void refuse(const Header& to, int error);
  /// Whichever it is: `error` is an errno, or 0.
  void answer(const Header& to, int error, std::vector<std::uint8_t> payload);
  void cut_off(const std::string& why);
  void send(Header header, const std::vector<std::uint8_t>& payload);
  void send_more();
  /// One less of the commands that the function has.
  void finished();

  void move(std::shared_ptr<Transfer> transfer);
  void ask(const std::shared_ptr<Transfer>& transfer, std::size_t bytes);
  void finish(Transfer& transfer, DmaOutcome outcome);
  void await_answers();

  Socket socket_;
  Function& function_;
  SessionOwner& owner_;
  const std::chrono::milliseconds patience_;
  bool ended_ = false;
  bool admitted_ = false;

  // What comes.
  std::array<std::uint8_t, Header::kBytes> head_{};
  std::size_t head_got_ = 0;
  Message message_;
  std::size_t payload_got_ = 0;
  std::deque<Message> waiting_commands_;
  std::size_t waiting_bytes_ = 0;  ///< of those
  bool listening_ = false;         ///< for more to come
  bool receiving_ = false;         ///< within receive()
  unsigned under_way_ = 0;

  // What goes.
  std::deque<std::vector<std::uint8_t>> unsent_;
  std::size_t unsent_bytes_ = 0;
  std::size_t sent_ = 0;  ///< of the first of them

  Version version_;
  DmaTable memory_;
  Interrupts interrupts_;
  std::map<std::uint16_t, std::shared_ptr<Transfer>> asked_;  ///< by the message's id
  std::uint16_t next_id_ = 1;
  boost::asio::steady_timer timer_;
  bool timing_ = false;
};

}  // namespace warpline::vfio_user
