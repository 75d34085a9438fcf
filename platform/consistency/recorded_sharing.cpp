#include "platform/consistency/recorded_sharing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace warpline::litmus {
namespace {

/// Which of some things belong together.
class Union {
 public:
  explicit Union(std::size_t count) : parents_(count) { std::iota(parents_.begin(), parents_.end(), 0U); }
  unsigned find(unsigned n) {
    while (parents_[n] != n) n = parents_[n] = parents_[parents_[n]];
    return n;
  }
  void join(unsigned a, unsigned b) { parents_[find(a)] = find(b); }

 private:
  std::vector<unsigned> parents_;
};

}  // namespace

RecordedSharing::RecordedSharing(const ExecutionRecord& record) : record_(record) {
  find_pieces();
  piece_of_.assign(record_.events.size(), kNone);
  for (unsigned n = 0; n < pieces_.size(); ++n) {
    const Piece& p = pieces_[n];
    check_end(p);
    if (is_private(p)) {
      check_private(p);
    } else {
      for (const std::size_t e : p.accesses) piece_of_[e] = n;
    }
  }
  find_groups();
}

void RecordedSharing::contradict(const char* axiom, const Piece& p, std::size_t event, std::string reason) {
  if (contradiction_) return;
  contradiction_ = Contradiction{axiom, std::move(reason), p.accesses};
  std::vector<std::size_t>& all = contradiction_->accesses;
  all.erase(std::upper_bound(all.begin(), all.end(), event), all.end());
}

void RecordedSharing::find_pieces() {
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

std::uint8_t RecordedSharing::byte(bool after, std::uint64_t space, std::uint64_t at) const {
  const RecordedLine& line = record_.lines.at({space, at & ~std::uint64_t{kLineBytes - 1}});
  return (after ? line.after : line.before)[at % kLineBytes];
}

bool RecordedSharing::is_private(const Piece& p) const {
  bool written = false, one = true;
  const RecordedEvent& first = record_.events[p.accesses.front()];
  const auto path = [&](const RecordedEvent& e) {
    return std::tuple(e.thread, e.address - e.physical, record_.instructions[e.instruction].op.proxy);
  };
  for (const std::size_t n : p.accesses) {
    // Nobody knows when an asynchronous operation happens, its own thread neither.
    if (record_.events[n].operation != 0) one = false;
    written = written || record_.events[n].writes;
    one = one && path(record_.events[n]) == path(first);
  }
  return one || !written;
}

/// Memory at the end is as the last writes left it.
void RecordedSharing::check_end(const Piece& p) {
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
        return contradict(
            "coherence", p, p.accesses.back(),
            fmt::format("{} does not hold at the end what its last write left", name_of(record_, e)));
  }
}

/// Of memory that one thread accesses, or that nobody writes: each read must return what that thread wrote
/// last.
void RecordedSharing::check_private(const Piece& p) {
  std::vector<std::uint8_t> memory(p.end - p.base);
  for (std::size_t n = 0; n < memory.size(); ++n) memory[n] = byte(false, p.space, p.base + n);
  for (const std::size_t n : p.accesses) {
    const RecordedEvent& e = record_.events[n];
    std::uint8_t* const at = &memory[e.physical - p.base];
    if (e.reads && e.returned && !std::equal(at, at + e.bytes, e.read.begin())) {
      RecordedEvent::Bytes held{};
      std::copy_n(at, e.bytes, held.begin());
      return contradict(
          "coherence", p, n,
          fmt::format("{} reads {} of {}, which holds {} and no other thread writes", place_of(record_, e),
                      value_text(e.read, e.bytes), name_of(record_, e), value_text(held, e.bytes)));
    }
    if (e.writes) std::copy_n(e.written.begin(), e.bytes, at);
  }
}

void RecordedSharing::find_groups() {
  using Kind = RecordedEvent::Kind;
  const std::size_t threads = record_.threads.size();
  std::vector<bool> wanted(threads, false), meets(threads, false), sequential(threads, false);
  for (std::size_t n = 0; n < record_.events.size(); ++n) {
    const RecordedEvent& e = record_.events[n];
    const bool partial = e.kind == Kind::barrier && e.expected != 0 && e.expected != record_.threads_per_cta;
    if (piece_of_[n] != kNone || partial) wanted[e.thread] = true;
    if (e.kind == Kind::barrier) meets[e.thread] = true;
    if (e.kind == Kind::fence && record_.instructions[e.instruction].op.semantics == Semantics::sc)
      sequential[e.thread] = true;
  }
  for (std::size_t t = 0; t < threads; ++t) wanted[t] = wanted[t] || (meets[t] && sequential[t]);
  Union joined(threads + pieces_.size());
  std::map<std::uint64_t, unsigned> meetings;
  for (std::size_t n = 0; n < record_.events.size(); ++n) {
    const RecordedEvent& e = record_.events[n];
    if (!wanted[e.thread]) continue;
    if (piece_of_[n] != kNone) joined.join(e.thread, static_cast<unsigned>(threads) + piece_of_[n]);
    if (e.kind == Kind::barrier)
      joined.join(meetings.try_emplace(e.meeting, e.thread).first->second, e.thread);
  }
  std::map<unsigned, unsigned> numbers;
  group_of_.assign(threads, kNone);
  for (unsigned t = 0; t < threads; ++t)
    if (wanted[t]) group_of_[t] = numbers.try_emplace(joined.find(t), numbers.size()).first->second;
  groups_ = static_cast<unsigned>(numbers.size());
}

std::string name_of(const ExecutionRecord& record, const RecordedEvent& e) {
  if (e.space != 0) return fmt::format("shared+0x{:x} of CTA {}", e.address, e.space - 1);
  for (const ExecutionRecord::Buffer& b : record.buffers)
    if (e.address - b.address < b.bytes)
      return e.address == b.address ? b.name : fmt::format("{}+0x{:x}", b.name, e.address - b.address);
  return fmt::format("0x{:x}", e.address);
}

std::string access_text(const ExecutionRecord& record, const RecordedEvent& e) {
  std::string text = to_ptx(record.instructions[e.instruction].op) + " " + name_of(record, e);
  if (e.reads) text += " = " + value_text(e.read, e.bytes);
  if (e.writes) text += " := " + value_text(e.written, e.bytes);
  return text;
}

std::string place_of(const ExecutionRecord& record, const RecordedEvent& e) {
  const RecordedThread& t = record.threads[e.thread];
  return fmt::format("thread {} of CTA ({}, {}, {}), {},", t.number, t.cta.x, t.cta.y, t.cta.z,
                     record.instructions[e.instruction].where);
}

std::string value_text(const RecordedEvent::Bytes& bytes, unsigned count) {
  std::uint64_t low = 0, high = 0;
  for (unsigned n = count; n-- > 0;) (n < 8 ? low : high) = (n < 8 ? low : high) << 8U | bytes[n];
  if (count > 8) return fmt::format("0x{:x}{:016x}", high, low);
  return low < 1'000'000 ? fmt::format("{}", low) : fmt::format("0x{:x}", low);
}

}  // namespace warpline::litmus
