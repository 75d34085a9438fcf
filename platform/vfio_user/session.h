#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
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

/// Whom a session tells what becomes of it. Sessions keep it: it may be reached when its server has gone.
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
  Session(Socket socket, Function& function, std::shared_ptr<SessionOwner> owner,
          std::chrono::milliseconds patience, bool is_looked_at = false);

  /// Begins to take commands.
  void start() { receive(); }
  /// As Server::look() and sleep() say.
  bool look();
  void sleep();
  /// Ends it, telling its owner and the function. What the function has under way is answered to nobody.
  void end();
  /// Accesses that the function has at a time, and as many again where one command has several. Other
  /// commands wait here, as answers to the function's own requests may be behind them.
  static constexpr unsigned kMostUnderWay = 256;
  /// Bytes that wait to be carried out, or to be taken by the client: no more is taken off the connection
  /// then, so that a flood stays with who sends it. Answers to the function's own requests that are behind
  /// such a flood come too late, and end the session (Server::Options::patience); a client that goes away
  /// meanwhile is noticed, and what it sent last is not carried out.
  static constexpr std::size_t kMostWaiting = 4U << 20U;
  /// What a descriptor adds to those bytes while its message waits: 64 of them wait at most.
  static constexpr std::size_t kDescriptorWeight = kMostWaiting / 64;
  /// Refusals that are logged, of commands whose client does not listen. All are counted.
  static constexpr unsigned kMostUnheard = 16;
  /// What a turn may do, in pieces of messages and in time; others of the same io_context have theirs then.
  /// Chosen so that some hundred clients that send without end leave one another their turns within 0.1 s.
  static constexpr unsigned kMostPieces = 64;
  static constexpr std::chrono::microseconds kLongestTurn{200};
  /// Requests for the client's memory at a time. Others wait.
  static constexpr std::size_t kMostAsked = 1024;

  void read(std::uint64_t address, std::uint32_t bytes, ReadDone done) override;
  void write(std::uint64_t address, const std::uint8_t* data, std::uint32_t bytes, WriteDone done) override;
  [[nodiscard]] void* word(std::uint64_t address, std::uint32_t bytes) override;
  void interrupt(IrqKind kind, unsigned vector) override;
  [[nodiscard]] int process() const override { return process_; }

 private:
  /// A DMA, of which the first bytes are done.
  struct Transfer {
    std::uint64_t address = 0;
    std::vector<std::uint8_t> data;
    std::size_t moved = 0;
    std::size_t asked = 0;  ///< bytes of the message that is under way, or waits to be sent
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

  /// A closure for others to call: does nothing once the session is over, and does not keep it.
  template <class F>
  auto while_it_lasts(F f);
  void receive();
  [[nodiscard]] bool take_a_piece();
  [[nodiscard]] bool may_carry_out() const;
  [[nodiscard]] static std::size_t weight_of(const Message& message);
  [[nodiscard]] bool receive_some();
  [[nodiscard]] bool receive_bytes(std::uint8_t* to, std::size_t bytes, std::size_t& got);
  [[nodiscard]] bool fill_inbox();
  [[nodiscard]] std::uint64_t last_begun() const;
  void take_arrived(std::uint64_t begin);
  void cut_off_for_descriptors();
  [[nodiscard]] bool begin_payload();
  void await_more();
  void listen();
  void await_its_end();
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

  /// `file`: goes with it; -1: none. It stays the caller's, and open as long as the session.
  void reply(const Header& to, const std::vector<std::uint8_t>& payload, int file = -1);
  void refuse(const Header& to, int error);
  /// Whichever it is: `error` is an errno, or 0.
  void answer(const Header& to, int error, const std::vector<std::uint8_t>& payload);
  void cut_off(const std::string& why);
  void send(Header header, const std::vector<std::uint8_t>& payload, int file = -1);
  void send_more();
  /// One less of the commands that the function has.
  void finished();

  void move(std::shared_ptr<Transfer> transfer);
  void ask(const std::shared_ptr<Transfer>& transfer);
  void ask_more();
  void take_reply(Transfer& transfer, const Message& message);
  void finish(Transfer& transfer, DmaOutcome outcome);
  void await_answers();

  Socket socket_;
  Function& function_;
  const std::shared_ptr<SessionOwner> owner_;
  const std::chrono::milliseconds patience_;
  const int process_;
  bool ended_ = false;
  bool admitted_ = false;
  bool attached_ = false;  ///< the function knows of it

  // What comes. Positions count the bytes of the connection.
  static constexpr std::size_t kInbox = 4096;
  std::array<std::uint8_t, kInbox> inbox_{};
  std::size_t inbox_begin_ = 0, inbox_end_ = 0;  ///< what of it is not taken
  std::uint64_t taken_ = 0;                      ///< position of the first byte there
  bool drained_ = false;                         ///< the connection had no more than went there
  std::vector<Descriptor> arrived_;              ///< for the message that begins at arrived_for_
  std::uint64_t arrived_for_ = 0;
  std::array<std::uint8_t, Header::kBytes> head_{};
  std::size_t head_got_ = 0;
  Message message_;
  std::size_t payload_got_ = 0;
  std::deque<Message> waiting_commands_;
  std::size_t waiting_bytes_ = 0;  ///< of those
  unsigned unheard_ = 0;           ///< refusals that the client does not listen to
  const bool is_looked_at_;
  bool resting_ = false;    ///< until somebody looks for more, or has it listen
  bool listening_ = false;  ///< for more to come
  bool receiving_ = false;  ///< within receive()
  bool goes_on_ = false;    ///< in a turn to come
  bool watching_ = false;   ///< for the client's end, while nothing is taken off the connection
  unsigned under_way_ = 0;

  // What goes.
  struct Unsent {
    std::vector<std::uint8_t> bytes;
    int file = -1;  ///< that goes with the first of them; -1: none
  };
  std::deque<Unsent> unsent_;
  std::size_t unsent_bytes_ = 0;
  std::size_t promised_bytes_ = 0;  ///< of accesses that the function has
  std::size_t sent_ = 0;            ///< of the first of them

  Version version_;
  DmaTable memory_;
  Interrupts interrupts_;
  std::map<std::uint16_t, std::shared_ptr<Transfer>> asked_;  ///< by the message's id
  std::deque<std::shared_ptr<Transfer>> to_ask_;              ///< once others are answered
  std::uint16_t next_id_ = 1;
  boost::asio::steady_timer timer_;
  bool timing_ = false;
};

}  // namespace warpline::vfio_user
