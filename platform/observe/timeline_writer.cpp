#include "platform/observe/timeline_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/observe/command_name.h"
#include "rtl_models/base/text.h"

namespace warpline {
namespace {

/// The port's own name: "from_crossbar" of "l2[3].from_crossbar".
std::string name_of(const PortBase& port) {
  return port.path().substr(port.owner().name().size() + 1);
}

}  // namespace

std::pair<unsigned, bool> take_free(std::vector<bool>& used) {
  const auto free = std::find(used.begin(), used.end(), false);
  const auto lane = static_cast<unsigned>(free - used.begin());
  const bool fresh = free == used.end();
  if (fresh)
    used.push_back(true);
  else
    *free = true;
  return {lane, fresh};
}

TimelineWriter::TimelineWriter(OutputFile& file, Window window, unsigned mhz)
    : file_(file), window_(window), mhz_(mhz), rows_(1) {
  rows_[0].name = "kernels";
}

void TimelineWriter::add_hop(const Hop& hop) {
  hops_[hop.request] = hop;
  hops_[hop.response] = hop;
}

void TimelineWriter::show(const Component& block) {
  row_of_.emplace(&block, static_cast<unsigned>(rows_.size()));
  rows_.push_back({block.name(), {}});
}

void TimelineWriter::show_host() {
  host_row_ = static_cast<unsigned>(rows_.size());
  rows_.push_back({"host", {}});
}

void TimelineWriter::host(const std::string& what, const std::string& where, Cycle first, Cycle last) {
  if (last < window_.first || first > window_.last) return;
  first = std::max(first, window_.first);
  last = std::min(last, window_.last);
  add(fmt::format(
      R"({{"ph":"X","name":{},"cat":"host","pid":{},"tid":0,"ts":{},"dur":{},"args":{{"line":{}}}}})",
      json_string(what), host_row_, first, last - first, json_string(where)));
}

void TimelineWriter::sampled(const std::string& name, const std::string& unit, Cycle first, double value) {
  if (first < window_.first || first > window_.last) return;
  const auto row = static_cast<unsigned>(rows_.size());
  if (!std::exchange(has_figures_, true)) write_name("process_name", row, 0, "figures");
  add(fmt::format(R"({{"ph":"C","name":{},"pid":{},"ts":{},"args":{{{}:{:.5g}}}}})", json_string(name), row,
                  first, json_string(unit.empty() ? "value" : unit), value));
}

void TimelineWriter::kernel(const std::string& name, Cycle first, Cycle last) {
  if (last >= window_.first && first <= window_.last)
    kernels_.push_back({name, std::max(first, window_.first), std::min(last, window_.last)});
}

void TimelineWriter::write_name(const char* what, unsigned row, unsigned thread, const std::string& name) {
  add(fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", what, row, thread,
                  json_string(name)));
}

void TimelineWriter::start(Cycle /*first*/, const std::vector<Signal>& /*signals*/,
                           const std::vector<std::uint64_t>& /*values*/) {
  started_ = true;
  file_.write(fmt::format(
      R"({{"displayTimeUnit":"ns","otherData":{{"1 us":"1 cycle of {} MHz"}},"traceEvents":[)", mhz_));
  for (unsigned row = 0; row < rows_.size(); ++row) {
    write_name("process_name", row, 0, rows_[row].name);
    add(fmt::format(R"({{"ph":"M","name":"process_sort_index","pid":{0},"args":{{"sort_index":{0}}}}})",
                    row));
  }
  write_name("thread_name", 0, 0, rows_[0].name);
  if (host_row_ != 0) write_name("thread_name", host_row_, 0, rows_[host_row_].name);
  for (const std::string& event : early_) add(event);
  early_.clear();
}

void TimelineWriter::add(const std::string& event) {
  if (!started_) return early_.push_back(event);
  file_.write(any_ ? ",\n" : "\n");
  any_ = true;
  file_.write(event);
}

void TimelineWriter::message(const MessageEvent& e) {
  const Hop& hop = hops_.at(e.port);
  if (e.response) {
    e.taken ? response_taken(hop, e) : response_begun(hop, e);
  } else {
    e.taken ? request_taken(hop, e) : request_begun(hop, e);
  }
}

void TimelineWriter::request_begun(const Hop& hop, const MessageEvent& e) {
  const Component& sender = hop.response->owner();
  const Component& receiver = hop.request->owner();
  if (hop.sender_shown && e.maker == &sender) open(sender, hop.response, e, true);
  if (hop.receiver_shown) open(receiver, &receiver, e, false);
}

void TimelineWriter::request_taken(const Hop& hop, const MessageEvent& e) {
  const auto at = slices_.find({&hop.request->owner(), e.request});
  if (at != slices_.end()) at->second.taken = e.cycle;
}

void TimelineWriter::response_begun(const Hop& hop, const MessageEvent& e) {
  if (const auto at = slices_.find({&hop.request->owner(), e.request}); at != slices_.end()) {
    at->second.event.status = e.status;
    close(at, e.cycle, false);
  }
  if (const auto at = awaiting(hop, e); at != slices_.end()) {
    at->second.answer_port = hop.response;
    at->second.answer_begun = e.cycle;
  }
}

void TimelineWriter::response_taken(const Hop& hop, const MessageEvent& e) {
  const auto at = awaiting(hop, e);
  if (at == slices_.end()) return;
  at->second.answer_taken = e.cycle;
  at->second.event.status = e.status;
  if (at->second.sent) close(at, e.cycle, false);
}

/// The slice of the block that the answer goes to: the one that made the request, or sent it on.
TimelineWriter::Slices::iterator TimelineWriter::awaiting(const Hop& hop, const MessageEvent& e) {
  if (!hop.sender_shown) return slices_.end();
  const auto made = slices_.find({hop.response, e.request});
  return made != slices_.end() ? made : slices_.find({&hop.response->owner(), e.request});
}

void TimelineWriter::open(const Component& block, const void* where, const MessageEvent& e, bool sent) {
  Slice s;
  s.row = row_of_.at(&block);
  s.begin = std::max(e.cycle, window_.first);
  s.sent = sent;
  s.event = e;
  const auto [lane, fresh] = take_free(rows_[s.row].used);
  s.thread = lane + 1;
  if (fresh) write_name("thread_name", s.row, s.thread, rows_[s.row].name);
  Flow& flow = flows_[e.id];
  if (flow.open++ == 0 && !flow.drawn) {
    flow.row = s.row;
    flow.thread = s.thread;
    flow.begin = s.begin;
  } else {
    // Half a cycle after the start of a slice no reader can take it for another's end.
    if (!flow.drawn) write_flow('s', e.id, flow.row, flow.thread, fmt::format("{}.5", flow.begin));
    flow.drawn = true;
    write_flow('t', e.id, s.row, s.thread, fmt::format("{}.5", s.begin));
  }
  slices_[{where, e.request}] = s;
}

void TimelineWriter::close(Slices::iterator slice, Cycle end, bool unfinished) {
  const Slice& s = slice->second;
  write_slice(s, std::string(name_of(s.event.command)) + (s.sent ? " sent" : ""), s.begin, end, unfinished);
  // After the slice around them, which may be no longer than they are.
  if (!s.sent && s.taken != kNever) write_slice(s, name_of(*s.event.port), s.begin, s.taken, false);
  if (s.answer_taken != kNever)
    write_slice(s, name_of(*s.answer_port), s.answer_begun, s.answer_taken, false);
  rows_[s.row].used[s.thread - 1] = false;
  const auto flow = flows_.find(s.event.id);
  if (--flow->second.open == 0) {
    if (flow->second.drawn) write_flow('f', s.event.id, s.row, s.thread, fmt::format("{}.5", end - 1));
    flows_.erase(flow);
  }
  slices_.erase(slice);
}

void TimelineWriter::write_slice(const Slice& s, const std::string& name, Cycle begin, Cycle end,
                                 bool unfinished) {
  const MessageEvent& e = s.event;
  add(fmt::format(
      R"({{"ph":"X","name":"{}","cat":"request","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"id":"{}","command":"{}","address":"0x{:x}","sectors":{},"sm":{},"warp":{}{}{}}}}})",
      name, s.row, s.thread, begin, end - begin, e.id, name_of(e.command), e.line.value, e.sectors, e.sm,
      e.warp, e.status == Status::ok ? "" : R"(,"status":"address error")",
      unfinished ? R"(,"unfinished":true)" : ""));
}

void TimelineWriter::write_flow(char phase, std::uint64_t id, unsigned row, unsigned thread,
                                const std::string& time) {
  add(fmt::format(R"({{"ph":"{}","name":"request","cat":"request","id":"{}","pid":{},"tid":{},"ts":{}{}}})",
                  phase, id, row, thread, time, phase == 's' ? "" : R"(,"bp":"e")"));
}

void TimelineWriter::finish(Cycle last) {
  std::vector<Slices::iterator> left;
  for (auto s = slices_.begin(); s != slices_.end(); ++s) left.push_back(s);
  std::sort(left.begin(), left.end(), [](const Slices::iterator& a, const Slices::iterator& b) {
    return std::make_pair(a->second.row, a->second.thread) < std::make_pair(b->second.row, b->second.thread);
  });
  for (const Slices::iterator& s : left) close(s, last + 1, true);
  for (const Kernel& k : kernels_)
    add(fmt::format(R"({{"ph":"X","name":{},"cat":"kernel","pid":0,"tid":0,"ts":{},"dur":{}}})",
                    json_string(k.name), k.first, k.last + 1 - k.first));
  file_.write("\n]}\n");
}

}  // namespace warpline
