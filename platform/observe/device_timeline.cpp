#include "platform/observe/device_timeline.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpline {
namespace {

constexpr unsigned kAccesses = 1, kInterrupts = 2, kCommands = 3;  // threads

}  // namespace

DeviceTimeline::DeviceTimeline(EndpointDevice& device, TimelineWriter& writer, Window window, Loosely loosely)
    : device_(device), writer_(writer), window_(window), loosely_(loosely), row_(writer.row_of(device)) {
  name_thread(kAccesses, "accesses");
  name_thread(kInterrupts, "interrupts");
  device.observe_by(this);
}

void DeviceTimeline::name_thread(unsigned thread, const std::string& what) {
  writer_.write_name("thread_name", row_, thread, device_.name() + " " + what);
}

void DeviceTimeline::accessed(const BusAccess& access) {
  if (!is_heard() || !is_shown(access.cycle)) return;
  const EndpointFunction& function = device_.function();
  const RegisterMap* const map =
      access.bar == function.register_bar() ? &function.registers().map() : nullptr;
  std::string where = register_name(access, map);
  const std::string value = access.bytes == 0 ? std::string() : fmt::format(" = 0x{:x}", access.value);
  if (where.empty()) where = fmt::format("bar {} + 0x{:x}", access.bar, access.offset);
  writer_.add(fmt::format(
      R"({{"ph":"i","s":"t","name":"{} {}{}","cat":"access","pid":{},"tid":{},"ts":{},"args":{}}})",
      name_of(access.kind), where, value, row_, kAccesses, access.cycle, to_json(access, map)));
}

void DeviceTimeline::raised(unsigned vector, Cycle now) {
  if (!is_heard() || !is_shown(now)) return;
  writer_.add(fmt::format(
      R"({{"ph":"i","s":"t","name":"vector {0}","cat":"interrupt","pid":{1},"tid":{2},"ts":{3},"args":{{"vector":{0}}}}})",
      vector, row_, kInterrupts, now));
}

DeviceTimeline::Open DeviceTimeline::begin(unsigned queue, Cycle now) {
  std::vector<Lane>& lanes = lanes_[queue];
  auto lane = std::find_if(lanes.begin(), lanes.end(),
                           [now](const Lane& one) { return !one.used && one.free_from <= now; });
  if (lane == lanes.end()) {
    lane = lanes.insert(lane, Lane());
    lane->thread = kCommands + threads_++;
    name_thread(lane->thread, "queue " + std::to_string(queue));
  }
  lane->used = true;
  Open open;
  open.begin = now;
  open.thread = lane->thread;
  return open;
}

/// One that was submitted while nobody looked begins here.
DeviceTimeline::Open& DeviceTimeline::open(const Key& key, Cycle now) {
  auto at = open_.find(key);
  if (at == open_.end()) at = open_.emplace(key, begin(key.first, now)).first;
  return at->second;
}

void DeviceTimeline::submitted(unsigned queue, std::uint64_t first, unsigned count, Cycle now) {
  if (!is_heard()) return;
  for (unsigned n = 0; n < count; ++n) static_cast<void>(open({queue, first + n}, now));
}

void DeviceTimeline::entered(unsigned queue, std::uint64_t number, const char* step, Cycle now) {
  if (!is_heard()) return;
  Open& its = open({queue, number}, now);
  end_step(its, now);
  its.step = step;
  its.entered = now;
}

void DeviceTimeline::end_step(Open& open, Cycle end) {
  if (open.step != nullptr && end > open.entered)
    add_slice(open.step, "step", open.thread, open.entered, end, "{}");
  open.step = nullptr;
}

void DeviceTimeline::completed(unsigned queue, std::uint64_t number, const ObservedCommand& command,
                               Cycle now) {
  if (!is_heard()) return;
  const Key key{queue, number};
  std::string details;
  for (const auto& [name, value] : command.details) details += fmt::format(R"(,"{}":{})", name, value);
  close(key, open(key, now), std::string(command.name), details, now);
  open_.erase(key);
}

void DeviceTimeline::close(const Key& key, Open& open, const std::string& name, const std::string& more,
                           Cycle end) {
  // Who ends it may have heard of time last before it began.
  end = std::max({end, open.begin, open.entered});
  end_step(open, end);
  std::vector<Lane>& lanes = lanes_[key.first];
  const auto lane = std::find_if(lanes.begin(), lanes.end(),
                                 [&open](const Lane& one) { return one.thread == open.thread; });
  lane->used = false;
  lane->free_from = end;
  add_slice(name, "command", open.thread, open.begin, end,
            fmt::format(R"({{"queue":{},"number":{}{}}})", key.first, key.second, more));
}

void DeviceTimeline::add_slice(const std::string& name, const char* category, unsigned thread, Cycle begin,
                               Cycle end, const std::string& arguments) {
  if (end < window_.first || begin > window_.last) return;
  const Cycle first = std::max(begin, window_.first), last = std::min(end, window_.last);
  writer_.add(
      fmt::format(R"({{"ph":"X","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{}}})", name,
                  category, row_, thread, first, last - first, arguments));
}

/// Of one queue, or of all.
void DeviceTimeline::close_all(const std::string& what, Cycle end, const unsigned* queue) {
  for (auto at = open_.begin(); at != open_.end();) {
    if (queue != nullptr && at->first.first != *queue) {
      ++at;
      continue;
    }
    close(at->first, at->second, "command", ",\"" + what + "\":true", end);
    at = open_.erase(at);
  }
}

void DeviceTimeline::forgotten(unsigned queue, Cycle now) {
  close_all("lost", now, &queue);
}

void DeviceTimeline::finish(Cycle last) {
  close_all("unfinished", last + 1, nullptr);
}

}  // namespace warpline
