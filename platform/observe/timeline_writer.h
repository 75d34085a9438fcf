#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rtl_models/document/output_file.h"
#include "rtl_models/sim/recorder.h"

namespace warpline {

/// The first of the lanes `used` that is free, which is used from now on; true: it is a new one.
[[nodiscard]] std::pair<unsigned, bool> take_free(std::vector<bool>& used);

/// Writes what became of each request as Chrome trace events (JSON), which Perfetto and chrome://tracing
/// open. One microsecond there is one cycle of the fastest clock.
///
/// Every block is a process, and a row of threads with the block's name: requests that are in a block at the
/// same time lie on different ones. A slice is either
/// - a request that the block was sent, from its first beat until the block's answer begins; or
/// - a request of the block's own ("read sent"), from its first beat until it has taken the answer.
/// Inside it is the time on the channels that end in this block, by the name of the port. All slices of one
/// identifier, those of the requests that other blocks send on its behalf included, are one flow, in order
/// of time. What is not over at the end has `unfinished` in its arguments.
class TimelineWriter final : public Observer {
 public:
  /// The file is open, and outlives it. `mhz`: of the clock that counts cycles.
  TimelineWriter(OutputFile& file, Window window, unsigned mhz);

  /// The block gets the next row. Pre: called before start().
  void show(const Component& block);
  /// Requests that `sender` sends to `receiver`, which hears of them by port `request`; the answers come
  /// by port `response`. Pre: called before start(); whose side is shown has a row.
  struct Hop {
    const PortBase* request = nullptr;
    const PortBase* response = nullptr;
    bool sender_shown = false;
    bool receiver_shown = false;
  };
  void add_hop(const Hop& hop);
  /// Whether it hears of the messages of this port.
  [[nodiscard]] bool wants(const PortBase& port) const { return hops_.count(&port) != 0; }
  /// A host gets the next row. Pre: called once, before start().
  void show_host();
  /// A figure over time has this value, of that unit, from cycle `first` on. Figures have a row of their own,
  /// behind all others.
  void sampled(const std::string& name, const std::string& unit, Cycle first, double value);
  /// The row of a block that is shown.
  [[nodiscard]] unsigned row_of(const Component& block) const { return row_of_.at(&block); }
  /// Writes an event that the caller has made: a JSON object.
  void add(const std::string& event);
  /// Names a row ("process_name") or one of its threads ("thread_name").
  void write_name(const char* what, unsigned row, unsigned thread, const std::string& name);
  /// A kernel ran in the cycles from `first` to `last`.
  void kernel(const std::string& name, Cycle first, Cycle last);
  /// The host did `what` from cycle `first` until `last`, in which it goes on, as line `where` of its program
  /// says. Pre: it has a row.
  void host(const std::string& what, const std::string& where, Cycle first, Cycle last);

  void start(Cycle first, const std::vector<Signal>& signals,
             const std::vector<std::uint64_t>& values) override;
  void change(Cycle /*cycle*/, std::uint32_t /*signal*/, std::uint64_t /*value*/) override {}
  void message(const MessageEvent& event) override;
  void finish(Cycle last) override;

 private:
  struct Row {
    std::string name;
    std::vector<bool> used;  ///< its threads
  };
  struct Slice {
    unsigned row = 0;
    unsigned thread = 0;
    Cycle begin = 0;
    bool sent = false;  ///< by this block; false: to it
    MessageEvent event;
    // What lies inside it: the channels by which the request came, and its answer comes.
    Cycle taken = kNever;
    const PortBase* answer_port = nullptr;
    Cycle answer_begun = kNever, answer_taken = kNever;
  };
  struct Flow {
    unsigned open = 0;             ///< slices
    bool drawn = false;            ///< it has a start: it has had two slices
    unsigned row = 0, thread = 0;  ///< of the first slice
    Cycle begin = 0;
  };
  /// A slice is known by the block it is in, or the port its block gets the answer by, and the request.
  using Key = std::pair<const void*, const Request*>;
  struct KeyHash {
    std::size_t operator()(const Key& k) const {
      return std::hash<const void*>{}(k.first) * 31 + std::hash<const void*>{}(k.second);
    }
  };
  using Slices = std::unordered_map<Key, Slice, KeyHash>;

  void request_begun(const Hop& hop, const MessageEvent& e);
  void request_taken(const Hop& hop, const MessageEvent& e);
  void response_begun(const Hop& hop, const MessageEvent& e);
  void response_taken(const Hop& hop, const MessageEvent& e);
  void open(const Component& block, const void* where, const MessageEvent& e, bool sent);
  [[nodiscard]] Slices::iterator awaiting(const Hop& hop, const MessageEvent& e);
  void close(Slices::iterator slice, Cycle end, bool unfinished);
  void write_slice(const Slice& s, const std::string& name, Cycle begin, Cycle end, bool unfinished);
  void write_flow(char phase, std::uint64_t id, unsigned row, unsigned thread, const std::string& time);

  OutputFile& file_;
  Window window_;
  unsigned mhz_;
  std::vector<Row> rows_;  ///< row 0: kernels
  unsigned host_row_ = 0;
  bool has_figures_ = false;
  std::map<const Component*, unsigned> row_of_;
  std::unordered_map<const PortBase*, Hop> hops_;  ///< by both ports
  Slices slices_;
  std::unordered_map<std::uint64_t, Flow> flows_;  ///< by identifier
  struct Kernel {
    std::string name;
    Cycle first = 0, last = 0;
  };
  std::vector<Kernel> kernels_;
  bool any_ = false;
  bool started_ = false;
  std::vector<std::string> early_;  ///< events added before start()
};

}  // namespace warpline
