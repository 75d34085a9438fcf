#include "platform/observe/device_timeline.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpline {
namespace {

constexpr unsigned kAccesses = 1, kInterrupts = 2, kCommands = 3;  // threads

const char* name_of(unsigned opcode) {
  switch (opcode) {
    case regs::peer::kOpcodeNop: return "NOP";
    case regs::peer::kOpcodeCopy: return "COPY";
    case regs::peer::kOpcodeFill: return "FILL";
    case regs::peer::kOpcodeRead: return "READ";
    case regs::peer::kOpcodeWrite: return "WRITE";
    case regs::peer::kOpcodeFetchAdd: return "FETCH_ADD";
    case regs::peer::kOpcodeNotify: return "NOTIFY";
    default: return "command";
  }
}

}  // namespace

DeviceTimeline::DeviceTimeline(QueueDevice& peer, TimelineWriter& writer, Window window)
    : peer_(peer), writer_(writer), window_(window), row_(writer.row_of(peer)) {
  name_thread(kAccesses, "accesses");
  name_thread(kInterrupts, "interrupts");
  peer.observe_by(this);
}

void DeviceTimeline::name_thread(unsigned thread, const char* what) {
  writer_.write_name("thread_name", row_, thread, peer_.name() + " " + what);
}

void DeviceTimeline::accessed(const BusAccess& access) {
  if (!is_shown(access.cycle)) return;
  const RegisterMap* const map = access.bar == QueueDeviceCore::kRegisterBar ? &regs::peer::kMap : nullptr;
  std::string where = register_name(access, map);
  const std::string value = access.bytes == 0 ? std::string() : fmt::format(" = 0x{:x}", access.value);
  if (where.empty()) where = fmt::format("bar {} + 0x{:x}", access.bar, access.offset);
  writer_.add(fmt::format(
      R"({{"ph":"i","s":"t","name":"{} {}{}","cat":"access","pid":{},"tid":{},"ts":{},"args":{}}})",
      name_of(access.kind), where, value, row_, kAccesses, access.cycle, to_json(access, map)));
}

void DeviceTimeline::raised(unsigned vector, Cycle now) {
  if (!is_shown(now)) return;
  writer_.add(fmt::format(
      R"({{"ph":"i","s":"t","name":"vector {0}","cat":"interrupt","pid":{1},"tid":{2},"ts":{3},"args":{{"vector":{0}}}}})",
      vector, row_, kInterrupts, now));
}

DeviceTimeline::Open DeviceTimeline::begin(Cycle now) {
  const auto [lane, fresh] = take_free(lanes_);
  if (fresh) name_thread(kCommands + lane, "commands");
  return {now, lane};
}

void DeviceTimeline::submitted(unsigned queue, std::uint64_t first, unsigned count, Cycle now) {
  for (unsigned n = 0; n < count; ++n) open_[{queue, first + n}] = begin(now);
}

void DeviceTimeline::completed(unsigned queue, std::uint64_t number, const QueueDeviceCommand& command,
                               unsigned status, Cycle now) {
  // One that was submitted while nobody looked begins here.
  const auto at = open_.try_emplace({queue, number}).first;
  if (at->second.begin == 0) at->second = begin(now);
  close(at->first, at->second, name_of(command.opcode),
        fmt::format(R"(,"id":{},"bytes":{},"status":{})", command.id, command.length, status), now);
  open_.erase(at);
}

void DeviceTimeline::close(const Key& key, const Open& open, const std::string& name, const std::string& more,
                           Cycle end) {
  lanes_[open.lane] = false;
  if (end < window_.first || open.begin > window_.last) return;
  const Cycle first = std::max(open.begin, window_.first), last = std::min(end, window_.last);
  writer_.add(fmt::format(
      R"({{"ph":"X","name":"{}","cat":"command","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"queue":{},"number":{}{}}}}})",
      name, row_, kCommands + open.lane, first, last - first, key.first, key.second, more));
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
