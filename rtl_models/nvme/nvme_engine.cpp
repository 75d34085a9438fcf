#include "rtl_models/nvme/nvme_engine.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "rtl_models/base/contract.h"
#include "rtl_models/base/shared_bytes.h"

namespace warpline {

using namespace regs::nvme;

NvmeEngine::NvmeEngine(EndpointCore& bus, NvmeQueues& queues, NvmeExecutor& executor,
                       const NvmeParameters& parameters, unsigned cycles_per_us)
    : bus_(bus),
      queues_(queues),
      executor_(executor),
      media_(parameters, cycles_per_us),
      contexts_(parameters.commands) {}

Cycle NvmeEngine::step(Cycle now, bool fetches, unsigned& room) {
  take_parts();
  if (!bus_.may_write()) return kNever;
  wake_ready(now);
  // What one command leaves (a tag, its place, a queue) may be what another waits for.
  bool moved = true;
  while (moved) {
    moved = complete_ended(now, room);
    if (fetches && !stopped_ && fetch(now)) moved = true;
    const auto next = [&](unsigned from) {
      return room != 0 ? awake_.next(from) : awake_.next(from, sends_);
    };
    for (unsigned n = next(0); n != PlaceSet::kNone; n = next(n + 1)) {
      Context& c = contexts_[n];
      while (advance(c, now, room)) {
        moved = true;
        tell(c, now);
      }
      lay(c, now);
    }
  }
  return soonest_;
}

/// What it does from now on.
void NvmeEngine::tell(const Context& c, Cycle now) {
  const auto enter = [&](const char* step) { executor_.entered(c.queue, c.number, step, now); };
  switch (c.stage) {
    case Stage::free: return;
    case Stage::entry: return enter("fetch");
    case Stage::lists: return enter("data pointer");
    case Stage::input:
    case Stage::output: return enter("data");
    case Stage::media: return enter("media");
    case Stage::done: return enter("completion");
  }
}

/// The media is done with some.
void NvmeEngine::wake_ready(Cycle now) {
  if (soonest_ > now) return;
  for_each_context([&](const Context& c) {
    if (c.stage == Stage::media && c.ready <= now) awake_.add(index_of(c));
  });
  find_soonest();
}

void NvmeEngine::find_soonest() {
  soonest_ = kNever;
  for_each_context([this](const Context& c) {
    if (c.stage == Stage::media && !awake_.has(index_of(c))) soonest_ = std::min(soonest_, c.ready);
  });
}

/// It cannot go on: what does it wait for?
void NvmeEngine::lay(const Context& c, Cycle now) {
  const unsigned n = index_of(c);
  sends_.remove(n);
  switch (c.stage) {
    case Stage::free: return;
    case Stage::entry:
    case Stage::lists:
    case Stage::input:
      // One that waits for a tag stays awake.
      if (c.failed || c.asked == c.stream.bytes()) awake_.remove(n);
      return;
    case Stage::media:
      if (c.ready <= now) return;
      awake_.remove(n);
      soonest_ = std::min(soonest_, c.ready);
      return;
    case Stage::output: sends_.add(n); return;
    case Stage::done:
      // The last waits for others, too.
      if (!c.plan.last) sends_.add(n);
      return;
  }
}

void NvmeEngine::take_parts() {
  for (auto& parts = bus_.parts(); !parts.empty(); parts.pop_front()) {
    const ReadPart& part = parts.front();
    Context& c = contexts_[part.cookie >> kOffsetBits];
    if (part.outcome != TlpOutcome::done) {
      if (!c.failed) c.status = failure(kStatusCodeDataTransferError);
      c.failed = true;
    } else if (!c.failed) {
      const std::uint32_t first = part.cookie & ((std::uint32_t{1} << kOffsetBits) - 1);
      // A read lies in one run, so the distance on the bus is the one in the stream.
      const std::uint64_t at = first + (part.address - c.stream.at(first).address);
      std::memcpy(c.input().data() + at, part.data.data(), part.data.size());
    }
    if (part.last) --c.reads;
    awake_.add(index_of(c));
  }
}

/// Whether it found one.
bool NvmeEngine::fetch(Cycle now) {
  bool found = false;
  const auto count = static_cast<unsigned>(queues_.submissions.size());
  for (unsigned n = used_.next_other(0); n < contexts_.size(); n = used_.next_other(n + 1)) {
    if (!bus_.may_read()) return found;
    unsigned number = queues_.next_command(turn_);
    const unsigned first = number;
    while (number != PlaceSet::kNone && !may_fetch(queues_.submissions[number])) {
      number = queues_.next_command((number + 1) % count);
      if (number == first) number = PlaceSet::kNone;
    }
    if (number == PlaceSet::kNone) return found;
    turn_ = (number + 1) % count;
    Context& c = contexts_[n];
    NvmeSubmissionQueue& queue = queues_.submissions[number];
    ++queues_.completions[queue.completions].reserved;
    clear(c);
    c.stage = Stage::entry;
    c.queue = number;
    c.number = queue.fetched++;
    c.text.resize(kCommandBytes);
    c.stream =
        ByteStream({{queue.place.at(std::uint64_t{kCommandBytes} * queue.next, page_), kCommandBytes}});
    queue.next = (queue.next + 1) % queue.entries;
    ++active_;
    used_.add(n);
    awake_.add(n);
    found = true;
    tell(c, now);
    read_on(c, now);
  }
  return found;
}

/// Asks for what is to be read, as far as there are tags.
void NvmeEngine::read_on(Context& c, Cycle now) {
  while (!c.failed && c.asked < c.stream.bytes()) {
    const ByteRun rest = c.stream.at(c.asked);
    const auto to_page = static_cast<std::uint32_t>(kBusPage - rest.address % kBusPage);
    std::uint32_t bytes = std::min(rest.bytes, to_page);
    if (const std::uint8_t* const local = executor_.local(rest.address, bytes); local != nullptr) {
      copy_from_shared(c.input().data() + c.asked, local, bytes);
    } else {
      if (!bus_.may_read()) return;
      bytes = std::min(bytes, bus_.max_read_request());
      bus_.read(cookie_of(c, c.asked), rest.address, bytes, now);
      ++c.reads;
    }
    c.asked += bytes;
  }
}

/// Whether it has come to another stage.
bool NvmeEngine::advance(Context& c, Cycle now, unsigned& room) {
  switch (c.stage) {
    case Stage::free: return false;
    case Stage::entry:
    case Stage::lists:
    case Stage::input:
      read_on(c, now);
      if (!is_read(c)) return false;
      if (c.stage == Stage::entry) {
        begin(c, now);
      } else if (c.failed) {
        finish(c, c.status);
      } else if (c.stage == Stage::lists) {
        walk(c, c.pointer.take(c.text.data()), now);
      } else {
        begin_media(c, now);
      }
      return true;
    case Stage::media:
      if (c.ready > now || !executor_.may_perform(c.queue, c.command)) return false;
      perform(c, now);
      return true;
    case Stage::output:
      write_on(c, room);
      if (!c.failed && c.moved != c.stream.bytes()) return false;
      finish(c, c.status);
      return true;
    case Stage::done:
      if (room == 0 || (c.plan.last && aborts())) return false;
      complete(c.queue, c.number, c.command, c.status, c.result, now, room);
      release(c);
      return true;
  }
  return false;
}

/// An entry of a queue has been read, though maybe not those before it.
void NvmeEngine::move_head(NvmeSubmissionQueue& queue, const Context& read) {
  std::uint64_t oldest = queue.fetched;
  for_each_context([&](const Context& c) {
    if (&c != &read && c.stage == Stage::entry && c.queue == read.queue) oldest = std::min(oldest, c.number);
  });
  const auto pending = static_cast<std::uint32_t>(queue.fetched - oldest);
  queue.head = (queue.next + queue.entries - pending) % queue.entries;
}

/// Its entry has been read.
void NvmeEngine::begin(Context& c, Cycle now) {
  move_head(queues_.submissions[c.queue], c);
  if (c.failed) {
    --queues_.completions[queues_.submissions[c.queue].completions].reserved;
    release(c);
    stopped_ = true;
    executor_.failed_fatally();
    return;
  }
  c.command = NvmeCommand::decode(c.text.data());
  const NvmeStatus status = executor_.begin(c.queue, c.number, c.command, c.plan, now);
  if (!status.ok()) return finish(c, status);
  if (c.plan.parks) {
    // An event that may never come holds no entry of a completion queue, which may be small.
    if (c.queue == 0) --queues_.completions[0].reserved;
    parked_.push_back({c.queue, c.number, c.command, c.plan.stays});
    executor_.entered(c.queue, c.number, "parked", now);
    release(c);
    return;
  }
  if (c.plan.bytes == 0) {
    c.data.clear();
    return begin_media(c, now);
  }
  walk(c,
       c.plan.data == NvmePlan::Data::pages ? c.pointer.begin_pages(c.command.data1, c.plan.bytes, page_)
                                            : c.pointer.begin(c.command, c.plan.bytes, page_),
       now);
}

/// Goes on with its data pointer, of which more may have to be read.
void NvmeEngine::walk(Context& c, NvmeStatus status, Cycle now) {
  if (!status.ok()) return finish(c, status);
  if (c.pointer.wants().bytes == 0) return begin_data(c, now);
  c.stage = Stage::lists;
  c.stream = ByteStream({c.pointer.wants()});
  c.text.assign(c.stream.bytes(), 0);
  c.asked = 0;
}

void NvmeEngine::begin_data(Context& c, Cycle now) {
  if (c.plan.data == NvmePlan::Data::pages) {
    c.data.clear();
    for (const ByteRun& page : c.pointer.runs()) {
      c.data.resize(c.data.size() + 8);
      put_number(&c.data[c.data.size() - 8], 8, page.address);
    }
    return begin_media(c, now);
  }
  c.stream = ByteStream(std::move(c.pointer.runs()));
  c.data.resize(c.plan.bytes);
  if (c.plan.data == NvmePlan::Data::to_host) return begin_media(c, now);
  c.stage = Stage::input;
  c.asked = 0;
}

void NvmeEngine::begin_media(Context& c, Cycle now) {
  c.stage = Stage::media;
  c.ready = media_.begin(c.plan.media, c.plan.media_bytes, now);
}

void NvmeEngine::perform(Context& c, Cycle now) {
  if (!c.plan.fails.ok()) return finish(c, c.plan.fails);
  const NvmeStatus status = executor_.perform(c.queue, c.number, c.command, c.data, c.result, now);
  if (!status.ok() || c.plan.bytes == 0 || c.plan.data != NvmePlan::Data::to_host) return finish(c, status);
  c.stage = Stage::output;
  c.status = status;
}

/// Writes its data, a packet at a time, as far as there is room. Data that cannot be written, as the function
/// may not make requests any more, fails the command.
void NvmeEngine::write_on(Context& c, unsigned& room) {
  while (!c.failed && c.moved < c.stream.bytes() && room != 0) {
    if (!bus_.may_write()) {
      c.failed = true;
      c.status = failure(kStatusCodeDataTransferError);
      return;
    }
    const ByteRun to = c.stream.at(c.moved);
    const auto to_page = static_cast<std::uint32_t>(kBusPage - to.address % kBusPage);
    std::uint32_t bytes = std::min(to.bytes, to_page);
    if (executor_.local(to.address, bytes) == nullptr) bytes = std::min(bytes, bus_.max_payload());
    write_bytes(to.address, c.data.data() + c.moved, bytes, room);
    c.moved += bytes;
  }
}

/// Within 4 KiB, and no more than a packet carries. What stays within the controller takes no room.
void NvmeEngine::write_bytes(std::uint64_t address, const std::uint8_t* from, std::uint32_t bytes,
                             unsigned& room) {
  if (std::uint8_t* const local = executor_.local(address, bytes); local != nullptr) {
    copy_to_shared(local, from, bytes);
  } else {
    bus_.write(address, from, bytes, false);
    --room;
  }
}

/// Whether there was one.
bool NvmeEngine::complete_ended(Cycle now, unsigned& room) {
  bool found = false;
  for (auto e = first_ended(); e != ended_.end() && room != 0; e = first_ended()) {
    const Ended ended = *e;
    ended_.erase(e);
    const unsigned queue = ended.command.queue;
    if (queue == 0) ++queues_.completions[0].reserved;
    complete(queue, ended.command.number, ended.command.command, ended.status, ended.result, now, room);
    found = true;
  }
  return found;
}

void NvmeEngine::complete(unsigned from, std::uint64_t command_number, const NvmeCommand& command,
                          NvmeStatus status, std::uint32_t result, Cycle now, unsigned& room) {
  const NvmeSubmissionQueue& submissions = queues_.submissions[from];
  const unsigned number = submissions.completions;
  NvmeCompletionQueue& queue = queues_.completions[number];
  WARPLINE_EXPECT(queue.exists && queue.reserved != 0, "a command that was fetched has an entry for its end");
  --queue.reserved;
  const bool more = executor_.completed(from, command_number, command, status, now);
  std::array<std::uint8_t, kCompletionBytes> entry{};
  put_number(&entry[kCompletionResult], 4, result);
  put_number(&entry[kCompletionSqHead], 2, submissions.head);
  put_number(&entry[kCompletionSqId], 2, from);
  put_number(&entry[kCompletionId], 2, command.id);
  put_number(&entry[kCompletionStatus], 2,
             queue.phase | in_field<kCompletionStatusCode>(status.code) | (more ? kCompletionStatusMore : 0) |
                 (status.do_not_retry ? kCompletionStatusDoNotRetry : 0));
  write_bytes(queue.place.at(std::uint64_t{kCompletionBytes} * queue.tail, page_), entry.data(),
              kCompletionBytes, room);
  queue.advance();
  executor_.written(number, now);
}

void NvmeEngine::drop() {
  for (Context& c : contexts_) c = Context{};
  for (PlaceSet* const set : {&used_, &awake_, &sends_}) set->clear();
  soonest_ = kNever;
  active_ = 0;
  turn_ = 0;
  stopped_ = false;
  parked_.clear();
  ended_.clear();
  media_.restart();
}

void NvmeEngine::abort(Context& c, NvmeStatus status) {
  c.failed = c.aborted = true;
  c.status = status;
  // What it reads still comes.
  if (c.reads == 0) finish(c, status);
  awake_.add(index_of(c));
  find_soonest();
}

bool NvmeEngine::abort(unsigned queue, std::uint16_t id, NvmeStatus status) {
  for (Context& c : contexts_) {
    if (!may_abort(c) || c.queue != queue || c.command.id != id) continue;
    abort(c, status);
    return true;
  }
  for (std::size_t i = 0; i < parked_.size(); ++i) {
    if (parked_[i].stays || parked_[i].queue != queue || parked_[i].command.id != id) continue;
    unpark(i, status, 0);
    return true;
  }
  return false;
}

void NvmeEngine::abort_all(unsigned queue, NvmeStatus status) {
  for (Context& c : contexts_)
    if (may_abort(c) && c.queue == queue) abort(c, status);
  for (std::size_t i = parked_.size(); i-- != 0;)
    if (parked_[i].queue == queue) unpark(i, status, 0);
}

bool NvmeEngine::executes(unsigned queue) const {
  const auto is_its = [queue](const auto& c) { return c.queue == queue; };
  return any_context(is_its) || std::any_of(parked_.begin(), parked_.end(), is_its) ||
         std::any_of(ended_.begin(), ended_.end(), [&](const Ended& e) { return is_its(e.command); });
}

unsigned NvmeEngine::parked(unsigned queue, unsigned opcode) const {
  return static_cast<unsigned>(std::count_if(parked_.begin(), parked_.end(), [&](const Parked& p) {
    return p.queue == queue && p.command.opcode == opcode;
  }));
}

void NvmeEngine::end_parked(unsigned queue, unsigned opcode, std::uint32_t result) {
  for (std::size_t i = 0; i < parked_.size(); ++i)
    if (parked_[i].queue == queue && parked_[i].command.opcode == opcode) return unpark(i, {}, result);
}

/// It is over, and completes as soon as that may be.
void NvmeEngine::unpark(std::size_t index, NvmeStatus status, std::uint32_t result) {
  const Parked command = parked_[index];
  parked_.erase(parked_.begin() + static_cast<std::ptrdiff_t>(index));
  ended_.push_back({command, status, result});
}

}  // namespace warpline
