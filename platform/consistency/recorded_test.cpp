#include "platform/consistency/recorded_test.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpline::litmus {

RecordedTest::RecordedTest(const ExecutionRecord& record, const RecordedSharing& sharing,
                           const std::vector<std::size_t>& events)
    : record_(record), sharing_(sharing) {
  test_.name = record.kernel;
  std::vector<std::size_t> code;
  for (const std::size_t n : events) {
    const unsigned thread = thread_of(record_.events[n]);
    code.resize(test_.threads.size());
    ++code[thread];
  }
  // Paths point at instructions, which must stay where they are.
  for (std::size_t t = 0; t < code.size(); ++t) test_.threads[t].code.reserve(code[t]);
  for (const std::size_t n : events) add_event(n);
  // What has been waited for comes before what its thread does from then on.
  for (std::size_t t = 0; t < paths_.size(); ++t)
    for (std::size_t e = 0; e < paths_[t].events.size(); ++e) {
      const Moment waited = origins_[t][e]->waited;
      if (waited == ~Moment{0}) continue;
      const auto at = std::upper_bound(origins_[t].begin(), origins_[t].end(), waited,
                                       [](Moment m, const RecordedEvent* o) { return m < o->issued; });
      paths_[t].events[e].done_at = static_cast<unsigned>(at - origins_[t].begin());
    }
}

std::vector<const Path*> RecordedTest::paths() const {
  std::vector<const Path*> out;
  for (const Path& p : paths_) out.push_back(&p);
  return out;
}

unsigned RecordedTest::thread_of(const RecordedEvent& e) {
  const auto [at, fresh] = threads_.try_emplace(e.thread, static_cast<unsigned>(test_.threads.size()));
  if (!fresh) return at->second;
  const RecordedThread& of = record_.threads[e.thread];
  Thread& thread = test_.threads.emplace_back();
  thread.name = fmt::format("CTA ({}, {}, {}), thread {}", of.cta.x, of.cta.y, of.cta.z, of.number);
  thread.place.cta = static_cast<unsigned>(of.cta_number);
  thread.place.cluster = static_cast<unsigned>(of.cluster);
  paths_.emplace_back();
  origins_.emplace_back();
  return at->second;
}

unsigned RecordedTest::memory_of(const Piece& p) {
  const auto [at, fresh] = memories_.try_emplace(&p, static_cast<unsigned>(test_.memories.size()));
  if (!fresh) return at->second;
  of_memory_.push_back(&p);
  Memory& m = test_.memories.emplace_back();
  m.bytes = static_cast<unsigned>(p.end - p.base);
  std::uint64_t initial = 0;
  for (unsigned n = std::min(m.bytes, 8U); n-- > 0;)
    initial = initial << 8U | sharing_.byte(false, p.space, p.base + n);
  m.initial = static_cast<std::int64_t>(initial);
  return at->second;
}

unsigned RecordedTest::location_of(const RecordedEvent& e, unsigned memory) {
  const auto [at, fresh] = locations_.try_emplace(std::pair(memory, e.address - e.physical),
                                                  static_cast<unsigned>(test_.locations.size()));
  if (!fresh) return at->second;
  Location& l = test_.locations.emplace_back();
  l.name = name_of(record_, e);
  l.memory = memory;
  l.address = at->second;
  if (e.space != 0) l.home = Home::shared;
  return at->second;
}

Instruction& RecordedTest::add_instruction(InstructionKind kind, const RecordedEvent& e, unsigned thread,
                                           const std::string& text) {
  const RecordedInstruction& of = record_.instructions[e.instruction];
  Instruction& i = test_.threads[thread].code.emplace_back();
  i.kind = kind;
  i.op = of.op;
  i.text = of.where + ": " + text;
  return i;
}

PathEvent& RecordedTest::push(EventKind kind, const Instruction& i, const RecordedEvent& e, unsigned thread) {
  PathEvent& p = paths_[thread].events.emplace_back();
  p.kind = kind;
  p.instruction = &i;
  origins_[thread].push_back(&e);
  ++events_;
  return p;
}

namespace {

const char* barrier_text(const RecordedEvent& e) {
  if (e.of_cluster) return e.waits ? "barrier.cluster.wait" : "barrier.cluster.arrive";
  return e.waits ? "bar.sync" : "bar.arrive";
}

}  // namespace

void RecordedTest::add_event(std::size_t n) {
  const RecordedEvent& e = record_.events[n];
  const unsigned thread = thread_of(e);
  const MemOp& op = record_.instructions[e.instruction].op;
  switch (e.kind) {
    case RecordedEvent::Kind::barrier:
      push(EventKind::barrier, add_instruction(InstructionKind::barrier, e, thread, barrier_text(e)), e,
           thread);
      return;
    case RecordedEvent::Kind::fence:
      push(op.kind == MemKind::fence ? EventKind::fence : EventKind::proxy_fence,
           add_instruction(InstructionKind::fence, e, thread, to_ptx(op)), e, thread);
      return;
    case RecordedEvent::Kind::completion: {
      Instruction& i = add_instruction(InstructionKind::memory, e, thread, to_ptx(op));
      i.op.proxy = Proxy::async;
      const bool reads = e.part == RecordedEvent::Part::source;
      take_part(push(EventKind::completion, i, e, thread), e,
                reads ? AsyncPart::source_done : AsyncPart::target_done);
      return;
    }
    case RecordedEvent::Kind::access: {
      const Piece* piece = sharing_.piece_of(n);
      // A read whose value no register received tells nothing.
      if (piece != nullptr && (e.writes || e.returned)) add_access(e, *piece, thread);
      return;
    }
  }
}

void RecordedTest::add_access(const RecordedEvent& e, const Piece& p, unsigned thread) {
  Instruction& i = add_instruction(InstructionKind::memory, e, thread, access_text(record_, e));
  i.offset = static_cast<std::uint32_t>(e.physical - p.base);
  i.location = location_of(e, memory_of(p));
  const bool asynchronous = e.operation != 0 || e.follows_copies;
  if (asynchronous) make_part(i, e);
  const auto read = static_cast<unsigned>(paths_[thread].events.size());
  if (e.reads) {
    PathEvent& event = push(EventKind::read, i, e, thread);
    if (asynchronous) take_part(event, e, e.writes ? AsyncPart::source : part_of(e));
    if (is_told(e)) take_part(event, e, AsyncPart::told);
  }
  if (!e.writes) return;
  PathEvent& write = push(EventKind::write, i, e, thread);
  if (e.reads) write.partner = read;
  if (asynchronous) take_part(write, e, part_of(e));
  if (is_told(e)) write.element = 1;
}

AsyncPart RecordedTest::part_of(const RecordedEvent& e) {
  switch (e.part) {
    case RecordedEvent::Part::source: return AsyncPart::source;
    case RecordedEvent::Part::target: return AsyncPart::target;
    case RecordedEvent::Part::told: return AsyncPart::told;
  }
  return AsyncPart::source;
}

bool RecordedTest::is_told(const RecordedEvent& e) {
  return e.operation != 0 && e.part == RecordedEvent::Part::told;
}

/// What an instruction has to say for `e`, which is all of it that the event knows.
void RecordedTest::make_part(Instruction& i, const RecordedEvent& e) {
  i.copy_to = i.location;
  i.copy_offset = i.offset;
  if (is_told(e)) {
    i.completes = i.location;
    i.op = {};
    i.op.kind = MemKind::mbarrier;
    i.op.type = DataType::b64;
    i.op.mbarrier = MbarrierOperation::complete_tx;
    return;
  }
  if (e.follows_copies) {
    i.op.semantics = Semantics::release;
    i.op.scope = Scope::cta;
    return;
  }
  i.op.vector = 1;
  if (i.op.kind == MemKind::bulk_copy) {
    i.op.proxy = Proxy::async;
    i.op.type = DataType::b128;
    return;
  }
  if (i.op.kind == MemKind::async_copy) {
    i.op.type = e.bytes == 16 ? DataType::b128 : e.bytes == 8 ? DataType::b64 : DataType::b32;
    return;
  }
  const bool atomic = i.op.atomic != AtomicOperation::none;
  i.op.kind = atomic ? MemKind::reduction : MemKind::store;
  i.op.semantics = atomic ? Semantics::relaxed : Semantics::weak;
  i.op.scope = atomic ? Scope::cluster : Scope::none;
}

void RecordedTest::take_part(PathEvent& event, const RecordedEvent& e, AsyncPart part) {
  event.copies = true;
  event.follows_copies = e.follows_copies;
  event.part = part;
  event.chain = e.operation == 0 ? PathEvent::kNone : e.operation;
  event.element = e.element;
  event.bulk = record_.instructions[e.instruction].op.kind != MemKind::async_copy;
}

}  // namespace warpline::litmus
