#include "warpline/litmus/recorded_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace warpline::litmus {
namespace {

/// A value as it is written: up to eight bytes as a number, more as what lies in memory, last byte first.
std::string value_text(const RecordedEvent::Bytes& bytes, unsigned count) {
  std::uint64_t low = 0, high = 0;
  for (unsigned n = count; n-- > 0;) (n < 8 ? low : high) = (n < 8 ? low : high) << 8U | bytes[n];
  if (count > 8) return fmt::format("0x{:x}{:016x}", high, low);
  return low < 1'000'000 ? fmt::format("{}", low) : fmt::format("0x{:x}", low);
}

}  // namespace

RecordedTest::RecordedTest(const ExecutionRecord& record) : record_(record) {
  test_.name = record.kernel;
  find_pieces();
  piece_of_.assign(record_.events.size(), nullptr);
  for (Piece& p : pieces_) {
    check_end(p);
    if (is_private(p)) {
      check_private(p);
      continue;
    }
    add_memory(p);
    for (const std::size_t n : p.accesses) piece_of_[n] = &p;
  }
  if (contradiction_) return;
  choose_threads();
  std::vector<std::size_t> code(test_.threads.size(), 0);
  for (const RecordedEvent& e : record_.events)
    if (threads_[e.thread] != kLeftOut) ++code[threads_[e.thread]];
  // Paths point at instructions, which must stay where they are.
  for (std::size_t t = 0; t < code.size(); ++t) test_.threads[t].code.reserve(code[t]);
  for (std::size_t n = 0; n < record_.events.size(); ++n) add_event(n);
}

std::vector<const Path*> RecordedTest::paths() const {
  std::vector<const Path*> out;
  for (const Path& p : paths_) out.push_back(&p);
  return out;
}

void RecordedTest::contradict(const char* axiom, std::string reason) {
  if (!contradiction_) contradiction_ = Contradiction{axiom, std::move(reason)};
}

/// Accesses that overlap, directly or by way of others, are of one piece.
void RecordedTest::find_pieces() {
  std::vector<std::size_t> order;
  for (std::size_t n = 0; n < record_.events.size(); ++n)
    if (record_.events[n].kind == RecordedEvent::Kind::access) order.push_back(n);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const RecordedEvent& x = record_.events[a];
    const RecordedEvent& y = record_.events[b];
    return std::pair(x.space, x.physical) < std::pair(y.space, y.physical);
  });
  for (const std::size_t n : order) {
    const RecordedEvent& e = record_.events[n];
    if (pieces_.empty() || pieces_.back().space != e.space || pieces_.back().end <= e.physical) {
      pieces_.emplace_back();
      pieces_.back().space = e.space;
      pieces_.back().base = e.physical;
    }
    pieces_.back().accesses.push_back(n);
    pieces_.back().end = std::max(pieces_.back().end, e.physical + e.bytes);
  }
  for (Piece& p : pieces_) std::sort(p.accesses.begin(), p.accesses.end());
}

std::uint8_t RecordedTest::byte(bool after, std::uint64_t space, std::uint64_t at) const {
  const RecordedLine& line = record_.lines.at({space, at & ~std::uint64_t{kLineBytes - 1}});
  return (after ? line.after : line.before)[at % kLineBytes];
}

std::uint8_t RecordedTest::before(unsigned memory, unsigned offset) const {
  return byte(false, of_memory_[memory]->space, of_memory_[memory]->base + offset);
}

bool RecordedTest::is_private(const Piece& p) const {
  bool written = false, one = true;
  const RecordedEvent& first = record_.events[p.accesses.front()];
  const auto path = [&](const RecordedEvent& e) {
    return std::tuple(e.thread, e.address - e.physical, record_.instructions[e.instruction].op.proxy);
  };
  for (const std::size_t n : p.accesses) {
    written = written || record_.events[n].writes;
    one = one && path(record_.events[n]) == path(first);
  }
  return one || !written;
}

/// Memory at the end is as the last writes left it.
void RecordedTest::check_end(const Piece& p) {
  if (p.space != 0) return;
  std::vector<std::pair<Moment, std::uint8_t>> last(p.end - p.base);
  for (std::size_t n = 0; n < last.size(); ++n) last[n] = {0, byte(false, p.space, p.base + n)};
  for (const std::size_t n : p.accesses) {
    const RecordedEvent& e = record_.events[n];
    for (unsigned b = 0; e.writes && b < e.bytes; ++b)
      last[e.physical - p.base + b] =
          std::max(last[e.physical - p.base + b], std::pair(e.coherent, e.written[b]));
  }
  for (const std::size_t n : p.accesses) {
    const RecordedEvent& e = record_.events[n];
    for (unsigned b = 0; b < e.bytes; ++b)
      if (byte(true, p.space, e.physical + b) != last[e.physical - p.base + b].second)
        return contradict("coherence",
                          fmt::format("{} does not hold at the end what its last write left", name_of(e)));
  }
}

/// One thread, or none that writes: what it reads is what it wrote last.
void RecordedTest::check_private(const Piece& p) {
  std::vector<std::uint8_t> memory(p.end - p.base);
  for (std::size_t n = 0; n < memory.size(); ++n) memory[n] = byte(false, p.space, p.base + n);
  for (const std::size_t n : p.accesses) {
    const RecordedEvent& e = record_.events[n];
    std::uint8_t* const at = &memory[e.physical - p.base];
    if (e.reads && e.returned && !std::equal(at, at + e.bytes, e.read.begin()))
      return contradict("coherence", fmt::format("{} reads {} of {}, which only it has written otherwise",
                                                 place_of(e), value_text(e.read, e.bytes), name_of(e)));
    if (e.writes) std::copy_n(e.written.begin(), e.bytes, at);
  }
}

void RecordedTest::add_memory(Piece& p) {
  p.memory = static_cast<unsigned>(test_.memories.size());
  of_memory_.push_back(&p);
  Memory m;
  m.bytes = static_cast<unsigned>(p.end - p.base);
  std::uint64_t initial = 0;
  for (unsigned n = std::min(m.bytes, 8U); n-- > 0;)
    initial = initial << 8U | byte(false, p.space, p.base + n);
  m.initial = static_cast<std::int64_t>(initial);
  test_.memories.push_back(m);
}

void RecordedTest::choose_threads() {
  threads_.assign(record_.threads.size(), kLeftOut);
  std::vector<bool> wanted(record_.threads.size(), false);
  for (std::size_t n = 0; n < record_.events.size(); ++n) {
    const RecordedEvent& e = record_.events[n];
    const bool partial =
        e.kind == RecordedEvent::Kind::barrier && e.expected != 0 && e.expected != record_.threads_per_cta;
    wanted[e.thread] = wanted[e.thread] || piece_of_[n] != nullptr || partial;
  }
  for (std::size_t t = 0; t < wanted.size(); ++t) {
    if (!wanted[t]) continue;
    threads_[t] = static_cast<unsigned>(test_.threads.size());
    const RecordedThread& of = record_.threads[t];
    Thread thread;
    thread.name = fmt::format("CTA ({}, {}, {}), thread {}", of.cta.x, of.cta.y, of.cta.z, of.number);
    // No launch makes clusters of several CTAs.
    thread.place.cta = thread.place.cluster = static_cast<unsigned>(of.cta_number);
    test_.threads.push_back(std::move(thread));
  }
  paths_.resize(test_.threads.size());
  origins_.resize(test_.threads.size());
}

Instruction& RecordedTest::add_instruction(const RecordedEvent& e, std::string text) {
  const RecordedInstruction& of = record_.instructions[e.instruction];
  Instruction i;
  i.op = of.op;
  i.text = of.where + ": " + std::move(text);
  std::vector<Instruction>& code = test_.threads[threads_[e.thread]].code;
  code.push_back(std::move(i));
  return code.back();
}

void RecordedTest::add_event(std::size_t n) {
  const RecordedEvent& e = record_.events[n];
  const unsigned t = threads_[e.thread];
  if (t == kLeftOut) return;
  const MemOp& op = record_.instructions[e.instruction].op;
  const auto push = [&](EventKind kind, const Instruction& i) -> PathEvent& {
    PathEvent p;
    p.kind = kind;
    p.instruction = &i;
    paths_[t].events.push_back(std::move(p));
    origins_[t].push_back(&e);
    ++events_;
    return paths_[t].events.back();
  };
  if (e.kind == RecordedEvent::Kind::barrier) {
    Instruction& i = add_instruction(e, e.waits ? "bar.sync" : "bar.arrive");
    i.kind = InstructionKind::barrier;
    push(EventKind::barrier, i);
    return;
  }
  if (e.kind == RecordedEvent::Kind::fence) {
    Instruction& i = add_instruction(e, to_ptx(op));
    i.kind = InstructionKind::fence;
    push(op.kind == MemKind::fence ? EventKind::fence : EventKind::proxy_fence, i);
    return;
  }
  // A value that nobody got tells nothing.
  if (piece_of_[n] == nullptr || (!e.writes && !e.returned)) return;
  const Piece& p = *piece_of_[n];
  std::string text = to_ptx(op) + " " + name_of(e);
  if (e.reads) text += " = " + value_text(e.read, e.bytes);
  if (e.writes) text += " := " + value_text(e.written, e.bytes);
  Instruction& i = add_instruction(e, std::move(text));
  i.kind = InstructionKind::memory;
  i.offset = static_cast<std::uint32_t>(e.physical - p.base);
  const auto [at, fresh] = locations_.try_emplace(std::pair(p.memory, e.address - e.physical),
                                                  static_cast<unsigned>(test_.locations.size()));
  if (fresh) {
    Location l;
    l.name = name_of(e);
    l.memory = p.memory;
    l.address = at->second;
    test_.locations.push_back(std::move(l));
  }
  i.location = at->second;
  const auto read = static_cast<unsigned>(paths_[t].events.size());
  if (e.reads) push(EventKind::read, i);
  if (!e.writes) return;
  PathEvent& write = push(EventKind::write, i);
  if (e.reads) write.partner = read;
}

std::string RecordedTest::name_of(const RecordedEvent& e) const {
  if (e.space != 0) return fmt::format("shared+0x{:x} of CTA {}", e.address, e.space - 1);
  for (const ExecutionRecord::Buffer& b : record_.buffers)
    if (e.address - b.address < b.bytes)
      return e.address == b.address ? b.name : fmt::format("{}+0x{:x}", b.name, e.address - b.address);
  return fmt::format("0x{:x}", e.address);
}

std::string RecordedTest::place_of(const RecordedEvent& e) const {
  const RecordedThread& t = record_.threads[e.thread];
  return fmt::format("thread {} of CTA ({}, {}, {}), {},", t.number, t.cta.x, t.cta.y, t.cta.z,
                     record_.instructions[e.instruction].where);
}

}  // namespace warpline::litmus
