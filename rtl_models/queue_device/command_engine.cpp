#include "rtl_models/queue_device/command_engine.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace warpline {
namespace {

using namespace regs::peer;

constexpr std::uint32_t offset_of(std::uint32_t cookie) {
  return cookie & ((std::uint32_t{1} << CommandEngine::kOffsetBits) - 1);
}

constexpr std::uint64_t kNothingLost = ~std::uint64_t{0};

unsigned status_of(TlpOutcome outcome) {
  switch (outcome) {
    case TlpOutcome::done: return kStatusCodeOk;
    case TlpOutcome::unsupported_request: return kStatusCodeUnsupportedRequest;
    case TlpOutcome::completer_abort: return kStatusCodeCompleterAbort;
    case TlpOutcome::poisoned: return kStatusCodePoisoned;
    case TlpOutcome::timeout: return kStatusCodeTimeout;
  }
  return kStatusCodeAborted;
}

}  // namespace

CommandEngine::CommandEngine(EndpointCore& bus, std::vector<QueuePair>& queues, EndpointMemory& buffer,
                             CommandListener& listener, const QueueDeviceParameters& parameters)
    : bus_(bus),
      queues_(queues),
      buffer_(buffer),
      listener_(listener),
      parameters_(parameters),
      random_(parameters.seed),
      contexts_(parameters.commands),
      lost_(queues.size(), kNothingLost) {}

Cycle CommandEngine::step(Cycle now, bool fetches, unsigned room) {
  take_parts();
  if (!bus_.may_write()) return kNever;
  // What one command leaves (a tag, its turn, its place) may be what another waits for.
  bool moved = true;
  while (moved) {
    moved = fetches && !stopped_ && fetch(now);
    for (Context& c : contexts_)
      while (advance(c, now, room)) moved = true;
  }
  Cycle next = kNever;
  for (const Context& c : contexts_)
    if (c.stage == Stage::done && c.ready > now) next = std::min(next, c.ready);
  return next;
}

void CommandEngine::take_parts() {
  for (auto& parts = bus_.parts(); !parts.empty(); parts.pop_front()) {
    const ReadPart& part = parts.front();
    Context& c = contexts_[part.cookie >> CommandEngine::kOffsetBits];
    if (part.outcome != TlpOutcome::done) {
      listener_.bus_failed(part.address);
      if (!c.failed) c.status = status_of(part.outcome);
      c.failed = true;
    } else {
      const std::uint32_t first = offset_of(part.cookie);
      // A read lies in one segment, so the distance on the bus is the one in the stream.
      take_data(c, first + static_cast<std::uint32_t>(part.address - c.in.at(first).address), part.data);
    }
    if (part.last) --c.reads;
  }
}

/// Whether it found one.
bool CommandEngine::fetch(Cycle now) {
  bool found = false;
  for (Context& c : contexts_) {
    if (c.stage != Stage::free) continue;
    if (!bus_.may_read()) return found;
    const auto count = static_cast<unsigned>(queues_.size());
    unsigned looked = 0;
    while (looked < count && !queues_[(turn_ + looked) % count].may_fetch()) ++looked;
    if (looked == count) return found;
    const unsigned queue = (turn_ + looked) % count;
    turn_ = (queue + 1) % count;
    c = Context{};
    c.stage = Stage::command;
    c.queue = queue;
    c.serial = serials_++;
    c.number = queues_[queue].fetches();
    c.text.resize(kCommandBytes);
    c.in = ByteStream({{queues_[queue].fetch(), kCommandBytes}});
    ++active_;
    found = true;
    read_on(c, now);
  }
  return found;
}

/// Asks for what is to be read, as far as there are tags.
void CommandEngine::read_on(Context& c, Cycle now) {
  while (!c.failed && c.asked < c.in.bytes() && bus_.may_read()) {
    const ByteRun rest = c.in.at(c.asked);
    const auto to_page = static_cast<std::uint32_t>(kBusPage - rest.address % kBusPage);
    const std::uint32_t bytes = std::min({rest.bytes, bus_.max_read_request(), to_page});
    bus_.read(cookie_of(c, c.asked), rest.address, bytes, now);
    c.asked += bytes;
    ++c.reads;
  }
}

/// Whether it has come to another stage.
bool CommandEngine::advance(Context& c, Cycle now, unsigned& room) {
  switch (c.stage) {
    case Stage::free: return false;
    case Stage::command:
    case Stage::lists:
      read_on(c, now);
      if (c.reads != 0 || (!c.failed && c.asked < c.in.bytes())) return false;
      c.stage == Stage::command ? begin(c, now) : begin_data(c, now);
      return true;
    case Stage::order:
      if (!is_next_of_queue(c)) return false;
      // What was lost before it never completes, so neither does what it was to wait for.
      if (follows_lost(c)) {
        finish(c, kStatusCodeAborted, now);
        return true;
      }
      listener_.notified(c.command.operand);
      finish(c, kStatusCodeOk, now);
      return true;
    case Stage::data:
      if (room != 0) move_on(c, now, room);
      if (c.reads != 0 || (!c.failed && c.moved != c.command.length)) return false;
      finish(c, c.status, now);
      return true;
    case Stage::done:
      if (c.ready > now || room == 0) return false;
      complete(c, now);
      --room;
      return true;
  }
  return false;
}

/// Its entry has been read.
void CommandEngine::begin(Context& c, Cycle now) {
  if (c.failed) {
    lost_[c.queue] = std::min(lost_[c.queue], c.serial);
    release(c);
    stopped_ = true;
    return;
  }
  c.command = decode_command(c.text.data());
  const QueueDeviceCommand& command = c.command;
  if (const unsigned wrong = validate(command, buffer_.size()); wrong != kStatusCodeOk)
    return finish(c, wrong, now);
  if (command.opcode == kOpcodeNop) return finish(c, kStatusCodeOk, now);
  if (command.opcode == kOpcodeNotify) {
    c.stage = Stage::order;
    return;
  }
  std::vector<ByteRun> lists;
  if (command.lists_source()) lists.push_back({command.source, kScatterBytes * command.source_entries});
  if (command.lists_destination())
    lists.push_back({command.destination, kScatterBytes * command.destination_entries});
  if (lists.empty()) return begin_data(c, now);
  c.stage = Stage::lists;
  c.in = ByteStream(std::move(lists));
  c.text.assign(c.in.bytes(), 0);
  c.asked = 0;
}

/// Its scatter lists, if it has any, have been read.
void CommandEngine::begin_data(Context& c, Cycle now) {
  if (c.failed) return finish(c, c.status, now);
  const QueueDeviceCommand& command = c.command;
  const std::uint8_t* text = c.text.data();
  const auto stream = [&](bool listed, std::uint64_t address, unsigned entries) {
    if (!listed) return ByteStream({{address, command.length}});
    ByteStream s(decode_list(text, entries, command.length));
    text += std::size_t{kScatterBytes} * entries;
    return s;
  };
  ByteStream source = stream(command.lists_source(), command.source, command.source_entries);
  ByteStream destination =
      stream(command.lists_destination(), command.destination, command.destination_entries);
  if (source.bytes() != command.length || destination.bytes() != command.length)
    return finish(c, kStatusCodeBadScatter, now);
  c.stage = Stage::data;
  c.in = std::move(source);
  c.out = std::move(destination);
  c.asked = 0;
}

void CommandEngine::take_data(Context& c, std::uint32_t offset, const std::vector<std::uint8_t>& data) {
  const auto bytes = static_cast<std::uint32_t>(data.size());
  if (c.stage != Stage::data) {
    std::memcpy(c.text.data() + offset, data.data(), bytes);
    return;
  }
  switch (c.command.opcode) {
    case kOpcodeCopy: return write(c, offset, data.data(), bytes);
    case kOpcodeRead:
      buffer_.write(c.command.destination + offset, data.data(), bytes);
      c.moved += bytes;
      return;
    default:
      std::memcpy(&c.result, data.data(), bytes);
      c.moved += bytes;
      return;
  }
}

void CommandEngine::move_on(Context& c, Cycle now, unsigned& room) {
  switch (c.command.opcode) {
    case kOpcodeCopy:
    case kOpcodeRead: return read_on(c, now);
    case kOpcodeFetchAdd:
      if (c.asked != 0 || !bus_.may_read()) return;
      bus_.fetch_add(cookie_of(c, 0), c.command.destination, c.command.length, c.command.operand, now);
      c.asked = c.command.length;
      c.in = ByteStream({{c.command.destination, c.command.length}});
      ++c.reads;
      return;
    default: return produce(c, room);
  }
}

/// Writes what needs no reading, a packet at a time, as far as there is room.
void CommandEngine::produce(Context& c, unsigned& room) {
  std::array<std::uint8_t, 4096> pattern;
  for (; !c.failed && c.moved < c.command.length && room != 0; --room) {
    const std::uint32_t bytes = std::min(bus_.max_payload(), c.command.length - c.moved);
    if (c.command.opcode == kOpcodeWrite) {
      buffer_.read(c.command.source + c.moved, pattern.data(), bytes);
    } else {
      for (std::uint32_t i = 0; i < bytes; ++i)
        pattern[i] = static_cast<std::uint8_t>(c.command.operand >> 8U * ((c.moved + i) % 8));
    }
    write(c, c.moved, pattern.data(), bytes);
  }
}

/// Data that cannot be written, as the function may not make requests any more, fails the command.
void CommandEngine::write(Context& c, std::uint32_t offset, const std::uint8_t* data, std::uint32_t bytes) {
  if (!bus_.may_write()) {
    c.failed = true;
    c.status = kStatusCodeAborted;
    return;
  }
  c.moved += bytes;
  while (bytes != 0) {
    const ByteRun to = c.out.at(offset);
    const std::uint32_t part = std::min(bytes, to.bytes);
    bus_.write(to.address, data, part, queues_[c.queue].shape().relaxed);
    offset += part;
    data += part;
    bytes -= part;
  }
}

void CommandEngine::finish(Context& c, unsigned status, Cycle now) {
  c.status = status;
  c.stage = Stage::done;
  c.ready = now;
  if (parameters_.completion_spread != 0) c.ready += random_.below(parameters_.completion_spread + 1);
}

void CommandEngine::complete(Context& c, Cycle now) {
  QueuePair& queue = queues_[c.queue];
  const QueuePair::Slot slot = queue.complete();
  CompletionEntry entry;
  entry.result = c.result;
  entry.id = c.command.id;
  entry.status = static_cast<std::uint16_t>(c.status);
  entry.sq_head = static_cast<std::uint16_t>(queue.sq_head());
  entry.phase = slot.phase;
  std::array<std::uint8_t, kCompletionBytes> bytes{};
  encode(entry, bytes.data());
  bus_.write(slot.address, bytes.data(), kCompletionBytes, queue.shape().relaxed);
  listener_.command_completed(c.queue, c.number, c.command, c.status, now);
  release(c);
}

bool CommandEngine::is_next_of_queue(const Context& c) const {
  return std::none_of(contexts_.begin(), contexts_.end(), [&](const Context& other) {
    return other.stage != Stage::free && other.queue == c.queue && other.serial < c.serial;
  });
}

bool CommandEngine::executes(unsigned queue) const {
  return std::any_of(contexts_.begin(), contexts_.end(),
                     [&](const Context& c) { return c.stage != Stage::free && c.queue == queue; });
}

void CommandEngine::drop() {
  for (Context& c : contexts_) c.stage = Stage::free;
  active_ = 0;
  stopped_ = false;
  turn_ = 0;
  std::fill(lost_.begin(), lost_.end(), kNothingLost);
}

}  // namespace warpline
