#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/base/random.h"
#include "rtl_models/pcie/packets/byte_stream.h"
#include "rtl_models/pcie/packets/endpoint_core.h"
#include "rtl_models/queue_device/queue_device_command.h"
#include "rtl_models/queue_device/queue_device_parameters.h"
#include "rtl_models/queue_device/queue_pair.h"

namespace warpline {

/// Hears what becomes of commands.
class CommandListener {
 public:
  /// `number`: of the command among those that were fetched from the queue since it was made.
  virtual void command_completed(unsigned queue, std::uint64_t number, const QueueDeviceCommand& command,
                                 unsigned status, Cycle now) = 0;
  virtual void notified(std::uint64_t operand) = 0;
  /// A read of memory failed.
  virtual void bus_failed(std::uint64_t address) = 0;

 protected:
  ~CommandListener() = default;
};

/// The part of a queue device that executes commands: fetches them from the submission rings, queue by queue
/// in turn, moves their data, and writes their completions. Several are in execution at once, of one queue
/// too; each is completed when it is done, so later ones may be first. NOTIFY alone waits for all before it
/// in its queue.
///
/// Data is written as it arrives, in any order; the completion is written after all of it.
class CommandEngine {
 public:
  /// Of a read's cookie: the byte of the stream at which it begins; the command's number lies above.
  static constexpr unsigned kOffsetBits = 24;

  /// All outlive it.
  CommandEngine(EndpointCore& bus, std::vector<QueuePair>& queues, EndpointMemory& buffer,
                CommandListener& listener, const QueueDeviceParameters& parameters);

  /// Does what can be done in cycle `now`. `room`: about how many packets may be added to those that wait for
  /// the link. Returns the cycle in which it has more to do even if nothing comes from the bus or from
  /// software; kNever: there is none.
  Cycle step(Cycle now, bool fetches, unsigned room);
  /// Drops every command, and is no longer stopped. The answers to reads under way still come, and are taken
  /// by abort().
  void drop();
  /// Takes what has come back for commands that were dropped. Whether nothing is under way any more.
  bool abort() {
    bus_.parts().clear();
    return bus_.reads_in_flight() == 0;
  }

  template <class Archive>
  void archive(Archive& a) {
    // Pre: not busy().
    a(random_, serials_, stopped_).fixed(lost_).index(turn_, lost_.size());
  }
  [[nodiscard]] bool busy() const { return active_ != 0; }
  /// Whether commands of a queue are in execution.
  [[nodiscard]] bool executes(unsigned queue) const;
  [[nodiscard]] bool is_stopped() const { return stopped_; }

 private:
  enum class Stage : std::uint8_t {
    free,
    command,  ///< its entry is being read
    lists,    ///< its scatter lists are
    order,    ///< it waits for the commands before it
    data,     ///< data is being moved
    done,     ///< it waits to be completed
  };
  struct Context {
    Stage stage = Stage::free;
    unsigned queue = 0;
    std::uint64_t serial = 0;
    std::uint64_t number = 0;  ///< of the command in its queue
    QueueDeviceCommand command;
    unsigned status = 0;
    ByteStream in;                   ///< what is being read
    ByteStream out;                  ///< what is being written
    std::uint32_t asked = 0;         ///< bytes of `in` for which reads were made
    std::uint32_t moved = 0;         ///< bytes of `out` that were written
    unsigned reads = 0;              ///< that are under way
    bool failed = false;             ///< the command: nothing more is read for it
    std::vector<std::uint8_t> text;  ///< bytes of its entry, then of its scatter lists
    std::uint64_t result = 0;
    Cycle ready = 0;  ///< when it may be completed
  };
  [[nodiscard]] std::uint32_t cookie_of(const Context& c, std::uint32_t offset) const {
    return static_cast<std::uint32_t>(&c - contexts_.data()) << kOffsetBits | offset;
  }
  void take_parts();
  void take_data(Context& c, std::uint32_t offset, const std::vector<std::uint8_t>& data);
  bool fetch(Cycle now);
  void read_on(Context& c, Cycle now);
  bool advance(Context& c, Cycle now, unsigned& room);
  void begin(Context& c, Cycle now);
  void begin_data(Context& c, Cycle now);
  void finish(Context& c, unsigned status, Cycle now);
  void complete(Context& c, Cycle now);
  void release(Context& c) {
    c.stage = Stage::free;
    --active_;
  }
  [[nodiscard]] bool is_next_of_queue(const Context& c) const;
  [[nodiscard]] bool follows_lost(const Context& c) const { return lost_[c.queue] < c.serial; }
  void move_on(Context& c, Cycle now, unsigned& room);
  void produce(Context& c, unsigned& room);
  void write(Context& c, std::uint32_t offset, const std::uint8_t* data, std::uint32_t bytes);

  EndpointCore& bus_;
  std::vector<QueuePair>& queues_;
  EndpointMemory& buffer_;
  CommandListener& listener_;
  QueueDeviceParameters parameters_;
  Random random_;
  std::vector<Context> contexts_;
  unsigned active_ = 0;
  unsigned turn_ = 0;  ///< queue from which the next command is fetched, if it has one
  std::uint64_t serials_ = 0;
  std::vector<std::uint64_t> lost_;  ///< of each queue: the first command whose entry could not be read
  bool stopped_ = false;
};

}  // namespace warpline
