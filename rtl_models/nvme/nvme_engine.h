#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "rtl_models/nvme/data_pointer.h"
#include "rtl_models/nvme/nvme_command.h"
#include "rtl_models/nvme/nvme_media.h"
#include "rtl_models/nvme/nvme_parameters.h"
#include "rtl_models/nvme/nvme_queues.h"
#include "rtl_models/nvme/place_set.h"
#include "rtl_models/pcie/packets/byte_stream.h"
#include "rtl_models/pcie/packets/endpoint_core.h"

namespace warpline {

/// What a command needs, as whoever knows commands says.
struct NvmePlan {
  enum class Data : std::uint8_t {
    none,
    to_host,
    from_host,
    pages,  ///< no data: a list of memory pages, which PRP entry 1 points at
  };
  Data data = Data::none;
  std::uint32_t bytes = 0;  ///< of it, or of what the pages are for; 0: none
  NvmeMediaAccess media = NvmeMediaAccess::none;
  std::uint64_t media_bytes = 0;
  /// It does not complete by itself: whoever knows commands ends it by NvmeEngine::end_parked().
  bool parks = false;
  NvmeStatus fails;    ///< how it is to end once it would be performed; success: it is performed
  bool stays = false;  ///< it cannot be aborted
  bool last = false;   ///< it completes when no command that has been aborted is left to complete
};

/// Whoever knows what commands do.
class NvmeExecutor {
 public:
  /// A command has been read from its queue, of which it is number `number`. Another status than success ends
  /// it.
  virtual NvmeStatus begin(unsigned queue, std::uint64_t number, const NvmeCommand& command, NvmePlan& plan,
                           Cycle now) = 0;
  /// Whether it need wait for nothing else.
  virtual bool may_perform(unsigned queue, const NvmeCommand& command) = 0;
  /// Its data has come, if the host gives some, and the media has had its time: does it. `data` has
  /// plan.bytes bytes, whatever is in them at first, which go to the host if that is how the plan has it and
  /// the status is success; or it is the addresses of the pages, of 8 bytes each.
  virtual NvmeStatus perform(unsigned queue, std::uint64_t number, const NvmeCommand& command,
                             std::vector<std::uint8_t>& data, std::uint32_t& result, Cycle now) = 0;
  /// It has come to a step of its execution.
  virtual void entered(unsigned queue, std::uint64_t number, const char* step, Cycle now) = 0;
  /// It is completed. Returns whether there is an entry in the error log.
  virtual bool completed(unsigned queue, std::uint64_t number, const NvmeCommand& command, NvmeStatus status,
                         Cycle now) = 0;
  /// A completion was written; its interrupt, if the queue has one, is to be raised.
  virtual void written(unsigned completion_queue, Cycle now) = 0;
  /// An entry of a submission queue cannot be read.
  virtual void failed_fatally() = 0;
  /// Bytes of the controller memory buffer at an address that is its own, which others may look at, too;
  /// null: it is on the bus. Runs do not cross 4 KiB.
  virtual std::uint8_t* local(std::uint64_t address, std::uint32_t bytes) = 0;

 protected:
  ~NvmeExecutor() = default;
};

/// The part of an NVMe controller that executes commands: fetches them from the submission queues, queue by
/// queue in turn, follows their data pointers, moves their data and writes their completions. Several are in
/// execution at once, of one queue too; each is completed when it is done, so later ones may be first.
class NvmeEngine {
 public:
  /// All outlive it.
  NvmeEngine(EndpointCore& bus, NvmeQueues& queues, NvmeExecutor& executor, const NvmeParameters& parameters,
             unsigned cycles_per_us);

  /// Does what can be done in cycle `now`. `room`: about how many packets may be added to those that wait for
  /// the link, and then how many still may. Returns the cycle in which it has more to do even if nothing
  /// comes from the bus or from software; kNever: there is none.
  Cycle step(Cycle now, bool fetches, unsigned& room);
  /// Bytes of a memory page.
  void set_page(std::uint32_t bytes) { page_ = bytes; }
  /// Drops every command. The answers to reads under way still come, and are taken by abort().
  void drop();
  /// Takes what has come back for commands that were dropped. Whether nothing is under way any more.
  bool abort() {
    bus_.parts().clear();
    return bus_.reads_in_flight() == 0;
  }
  /// Ends a command in execution, or parked, that has not come to its effect. False: there is none.
  bool abort(unsigned queue, std::uint16_t id, NvmeStatus status);
  /// The same for all of a queue. Whoever asks is no longer told of them by executes() when they are over.
  void abort_all(unsigned queue, NvmeStatus status);
  /// Whether commands of a queue are in execution or parked.
  [[nodiscard]] bool executes(unsigned queue) const;
  /// Parked commands of one kind, which is an opcode, of a queue.
  [[nodiscard]] unsigned parked(unsigned queue, unsigned opcode) const;
  /// Ends the oldest parked command of that kind. Pre: parked() != 0.
  void end_parked(unsigned queue, unsigned opcode, std::uint32_t result);

  [[nodiscard]] bool busy() const { return active_ != 0 || may_end(); }
  [[nodiscard]] unsigned active() const { return active_; }
  [[nodiscard]] unsigned parked() const { return static_cast<unsigned>(parked_.size()); }
  template <class Archive>
  void archive(Archive& a) {
    // Pre: not busy().
    a(media_, parked_, ended_, stopped_).index(turn_, queues_.submissions.size());
    std::vector<std::uint32_t> kept(queues_.completions.size());
    const auto keep = [&](const Parked& p) {
      if (p.queue >= queues_.submissions.size() || !queues_.submissions[p.queue].exists)
        a.misfit("has a command of no queue");
      if (p.queue != 0) ++kept[queues_.submissions[p.queue].completions];
    };
    for (const Parked& p : parked_) keep(p);
    for (const Ended& e : ended_) keep(e.command);
    for (std::size_t n = 0; n < kept.size(); ++n)
      if (queues_.completions[n].reserved != kept[n]) a.misfit("has a command that cannot complete");
  }

 private:
  enum class Stage : std::uint8_t {
    free,
    entry,   ///< its entry is being read
    lists,   ///< where its data lies is
    input,   ///< its data is
    media,   ///< it waits for the media, and for what else it must
    output,  ///< its data is being written
    done,    ///< it waits to be completed
  };
  struct Context {
    Stage stage = Stage::free;
    unsigned queue = 0;
    std::uint64_t number = 0;  ///< of the command in its queue
    NvmeCommand command;
    NvmePlan plan;
    NvmeStatus status;
    DataPointer pointer;
    ByteStream stream;        ///< what is being read or written
    std::uint32_t asked = 0;  ///< bytes of it for which reads were made
    std::uint32_t moved = 0;  ///< bytes of it that were written
    unsigned reads = 0;       ///< that are under way
    bool failed = false;      ///< nothing more is read for it
    bool aborted = false;
    std::vector<std::uint8_t> text;  ///< its entry, or a list
    std::vector<std::uint8_t> data;
    std::uint32_t result = 0;
    Cycle ready = 0;  ///< when the media is done

    /// Where what it reads goes.
    [[nodiscard]] std::vector<std::uint8_t>& input() { return stage == Stage::input ? data : text; }
  };
  struct Parked {
    unsigned queue = 0;
    std::uint64_t number = 0;
    NvmeCommand command;
    bool stays = false;  ///< it cannot be aborted
    template <class Archive>
    void archive(Archive& a) {
      a(queue, number, command, stays);
    }
  };
  static constexpr unsigned kOffsetBits = 24;
  [[nodiscard]] std::uint32_t cookie_of(const Context& c, std::uint32_t offset) const {
    return static_cast<std::uint32_t>(&c - contexts_.data()) << kOffsetBits | offset;
  }
  [[nodiscard]] unsigned index_of(const Context& c) const {
    return static_cast<unsigned>(&c - contexts_.data());
  }
  /// Calls visit(context) for those in use, in order.
  template <class F>
  void for_each_context(F&& visit) {
    for (unsigned n = used_.next(0); n != PlaceSet::kNone; n = used_.next(n + 1)) visit(contexts_[n]);
  }
  template <class F>
  [[nodiscard]] bool any_context(F&& is) const {
    for (unsigned n = used_.next(0); n != PlaceSet::kNone; n = used_.next(n + 1))
      if (is(contexts_[n])) return true;
    return false;
  }
  void tell(const Context& c, Cycle now);
  void wake_ready(Cycle now);
  void lay(const Context& c, Cycle now);
  void find_soonest();
  void take_parts();
  bool fetch(Cycle now);
  [[nodiscard]] bool may_fetch(const NvmeSubmissionQueue& queue) const {
    return queue.has_command() && queues_.completions[queue.completions].free() != 0;
  }
  void read_on(Context& c, Cycle now);
  [[nodiscard]] bool is_read(const Context& c) const {
    return c.reads == 0 && (c.failed || c.asked == c.stream.bytes());
  }
  bool advance(Context& c, Cycle now, unsigned& room);
  void move_head(NvmeSubmissionQueue& queue, const Context& read);
  void begin(Context& c, Cycle now);
  void walk(Context& c, NvmeStatus status, Cycle now);
  void begin_data(Context& c, Cycle now);
  void begin_media(Context& c, Cycle now);
  void perform(Context& c, Cycle now);
  void write_on(Context& c, unsigned& room);
  void finish(Context& c, NvmeStatus status) {
    c.status = status;
    c.stage = Stage::done;
  }
  /// Pre: an entry of the completion queue is kept for it.
  void complete(unsigned from, std::uint64_t command_number, const NvmeCommand& command, NvmeStatus status,
                std::uint32_t result, Cycle now, unsigned& room);
  bool complete_ended(Cycle now, unsigned& room);
  /// Whether a command is there that was aborted.
  [[nodiscard]] bool aborts() const {
    return may_end() || any_context([](const Context& c) { return c.aborted; });
  }
  void write_bytes(std::uint64_t address, const std::uint8_t* from, std::uint32_t bytes, unsigned& room);
  [[nodiscard]] static bool may_abort(const Context& c) {
    return !c.failed && !c.aborted && !c.plan.stays &&
           (c.stage == Stage::lists || c.stage == Stage::input || c.stage == Stage::media);
  }
  void abort(Context& c, NvmeStatus status);
  void unpark(std::size_t index, NvmeStatus status, std::uint32_t result);
  /// As at first, but with the room that its data had: making that anew would cost more than moving it.
  static void clear(Context& c) {
    std::vector<std::uint8_t> data = std::move(c.data);
    c = Context{};
    c.data = std::move(data);
  }
  void release(Context& c) {
    clear(c);
    const unsigned n = index_of(c);
    for (PlaceSet* const set : {&used_, &awake_, &sends_}) set->remove(n);
    --active_;
  }

  EndpointCore& bus_;
  NvmeQueues& queues_;
  NvmeExecutor& executor_;
  NvmeMedia media_;
  std::vector<Context> contexts_;
  std::vector<Parked> parked_;
  /// Commands that were parked and are over. They take no context: all may be held by commands that wait for
  /// the end of these.
  struct Ended {
    Parked command;
    NvmeStatus status;
    std::uint32_t result = 0;
    template <class Archive>
    void archive(Archive& a) {
      a(command, status.code, status.do_not_retry, result);
    }
  };
  /// The first of them that may complete: those of the admin queue have kept no entry of its completion
  /// queue.
  [[nodiscard]] std::vector<Ended>::const_iterator first_ended() const {
    return std::find_if(ended_.begin(), ended_.end(), [this](const Ended& e) {
      return e.command.queue != 0 || queues_.completions[0].free() != 0;
    });
  }
  [[nodiscard]] bool may_end() const { return first_ended() != ended_.end(); }
  std::vector<Ended> ended_;
  unsigned active_ = 0;     ///< contexts in use
  PlaceSet used_;           ///< which these are
  PlaceSet awake_;          ///< of these, all that can go on without more from the bus or the media
  PlaceSet sends_;          ///< of these, those that wait for room only
  Cycle soonest_ = kNever;  ///< when the media is done with the next context that is not awake
  unsigned turn_ = 0;       ///< queue from which the next command is fetched, if it has one
  bool stopped_ = false;    ///< a queue could not be read: no more are fetched
  std::uint32_t page_ = 4096;
};

}  // namespace warpline
