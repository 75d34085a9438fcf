#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <vector>

#include "rtl_models/base/random.h"
#include "rtl_models/l2/l2_core.h"
#include "tests/support/naive_atomic.h"

namespace warpline::test {

/// A slice of one line.
inline L2Parameters one_line() {
  L2Parameters p;
  p.geometry = {1, 1};
  return p;
}

/// An L2 core between requests in a known order and two memories. The oracle is one flat memory
/// that performs each request when it reaches the core: every answer must be the oracle's, and so
/// must be what is in system memory and DRAM once nothing is dirty.
class CoreBench final : public WriteBackSink {
 public:
  static constexpr unsigned kLines = 6;  ///< in use of each memory
  static constexpr unsigned kBytes = 1U << 16U;
  using Line = std::array<std::uint8_t, kLineBytes>;

  CoreBench(const L2Parameters& parameters, unsigned divisor)
      : vidmem_(kBytes), core(parameters, divisor, &vidmem_), divisor_(divisor) {}

  /// Memory lines of one slice lie `divisor` line numbers apart.
  [[nodiscard]] PhysicalAddress address(unsigned line, bool sysmem) const {
    return physical(sysmem ? Aperture::sysmem : Aperture::vidmem,
                    std::uint64_t{line} * divisor_ * kLineBytes);
  }
  Request& start(Command command, unsigned line, bool sysmem) {
    Request& r = requests_.emplace_back();
    r.command = command;
    r.line = address(line, sysmem);
    r.id = requests_.size() - 1;
    r.data.fill(0xEE);
    expected_.emplace_back();
    return r;
  }
  Request& read(unsigned line, bool sysmem, SectorMask sectors) {
    Request& r = start(Command::read, line, sysmem);
    r.sectors = sectors;
    return r;
  }
  Request& write(unsigned line, bool sysmem, unsigned offset, unsigned bytes, std::uint8_t value) {
    Request& r = start(Command::write, line, sysmem);
    r.bytes = {};
    r.bytes.set(offset, bytes);
    r.sectors = r.bytes.sectors();
    for (unsigned b = offset; b < offset + bytes; ++b) r.data[b] = static_cast<std::uint8_t>(value + b);
    return r;
  }
  Request& atomic(unsigned line, bool sysmem, const AtomicBlock& block) {
    Request& r = start(Command::atomic, line, sysmem);
    r.atomics = &blocks_.emplace_back(block);
    ByteMask m;
    for (unsigned i = 0; i < block.count; ++i) m.set(block.lanes[i].offset, block.lane_bytes());
    r.sectors = m.sectors();
    return r;
  }
  Request& control(unsigned line, bool sysmem, LineControl what, SectorMask sectors = kAllSectors) {
    Request& r = start(Command::control, line, sysmem);
    r.control = what;
    r.sectors = sectors;
    return r;
  }
  /// The request reaches the slice.
  void issue(Request& r) {
    const Line data = r.data;
    perform(r, oracle_[r.line.value], expected_[r.id]);
    r.data = data;
    if (r.command == Command::atomic || r.command == Command::reduce) {
      for (unsigned i = 0; i < r.atomics->count; ++i) {
        expected_old_[r.id].push_back(old_bytes(*r.atomics, i));
        r.atomics->lanes[i].old_value = r.atomics->high[i].old_value = 0xBADBADBADBADBADU;
      }
    }
    arrived_.push_back(&r);
  }
  /// Looks at one request, those to be looked at again first. False: nothing can be done.
  bool look() {
    Request* r = nullptr;
    if (!again_.empty()) {
      r = again_.pop();
    } else if (!arrived_.empty()) {
      r = arrived_.front();
      arrived_.pop_front();
    } else {
      return false;
    }
    const L2Outcome out = r->command == Command::control ? core.control(*r) : core.access(*r, *this);
    if (out.fetch != 0) {
      Request f;
      f.command = Command::read;
      f.line = r->line;
      f.sectors = out.fetch;
      f.token = out.entry;
      (aperture_of(f.line) == Aperture::vidmem ? dram_sectors_read : sysmem_sectors_read) +=
          sector_count(out.fetch);
      link_.push_back({f, true, nullptr});
    }
    switch (out.kind) {
      case L2Outcome::Kind::done: served(*r); return true;
      case L2Outcome::Kind::wait: return true;
      case L2Outcome::Kind::pass_on: link_.push_back({*r, false, r}); return true;
      case L2Outcome::Kind::stall: again_.push_front(r); return false;
    }
    return false;
  }
  /// The front request to memory is performed there.
  void memory_step() {
    if (link_.empty()) return;
    Sent s = link_.front();
    link_.pop_front();
    Line& line = memory_[s.request.line.value];
    if (s.passed != nullptr) {
      Line scratch{};
      perform(*s.passed, line, scratch);
      served(*s.passed);
    } else if (s.is_fetch) {
      copy_sectors(s.request.data.data(), line.data(), s.request.sectors);
      answers_.push_back(s.request);
    } else {
      copy_masked(line.data(), s.request.data.data(), s.request.bytes);
    }
  }
  /// One of the fetches that have come back reaches the core.
  void answer(std::size_t which) {
    const Request f = answers_[which];
    answers_.erase(answers_.begin() + static_cast<std::ptrdiff_t>(which));
    RequestList list, again;
    core.fill(f, list, again, *this);
    while (!list.empty()) served(*list.pop());
    again_.push_front(again);
  }
  [[nodiscard]] std::size_t answers() const { return answers_.size(); }
  /// Until nothing is under way.
  void settle(Random* random = nullptr) {
    for (unsigned guard = 0; guard < 100000; ++guard) {
      const bool moved = look();
      memory_step();
      if (!answers_.empty()) answer(random == nullptr ? 0 : random->below(answers_.size()));
      if (!moved && link_.empty() && answers_.empty() && again_.empty() && arrived_.empty()) return;
    }
    FAIL() << "requests that never end";
  }
  [[nodiscard]] std::size_t unanswered() const { return requests_.size() - answered_count_; }
  /// What lies in memory, with nothing dirty above it, is what the oracle says.
  void check_memory() {
    for (const auto& [at, line] : oracle_) ASSERT_EQ(memory_[at], line) << "line at " << std::hex << at;
  }
  /// The host changes system memory behind L2's back.
  void host_write(unsigned line, std::uint8_t value) { memory_[address(line, true).value].fill(value); }

 private:
  struct Sent {
    Request request;
    bool is_fetch;
    Request* passed;
  };
  MemoryImage vidmem_;

 public:
  L2Core core;
  std::uint64_t dram_sectors_read = 0, dram_lines_written = 0, dram_sectors_written = 0,
                sysmem_sectors_read = 0;

 private:
  /// Performs a request on a line and notes what it must answer.
  static void perform(Request& r, Line& line, Line& answer) {
    if (r.command == Command::control) {
      if (r.control == LineControl::discard) line.fill(L2Core::kDiscarded);
      return;
    }
    if (r.command == Command::read) {
      answer = line;
      copy_sectors(r.data.data(), line.data(), r.sectors);
      return;
    }
    if (r.command == Command::write) {
      copy_masked(line.data(), r.data.data(), r.bytes);
      return;
    }
    for (unsigned i = 0; i < r.atomics->count; ++i) {
      const LaneBytes old_value = naive_lane(*r.atomics, i, line.data());
      std::memcpy(&r.atomics->lanes[i].old_value, old_value.data(), 8);
      std::memcpy(&r.atomics->high[i].old_value, &old_value[8], 8);
    }
  }
  void served(Request& r) {
    ASSERT_EQ(answered_.count(r.id), 0U) << "request " << r.id << " is answered once";
    answered_[r.id] = true;
    ++answered_count_;
    const Line& want = expected_[r.id];
    if (r.command == Command::read) {
      for (unsigned b = 0; b < kLineBytes; ++b) {
        if (((r.sectors >> (b / kSectorBytes)) & 1U) != 0) {
          ASSERT_EQ(r.data[b], want[b])
              << "request " << r.id << " byte " << b << " of line " << std::hex << r.line.value;
        }
      }
    } else if (r.command == Command::atomic) {
      for (unsigned i = 0; i < r.atomics->count; ++i) {
        const LaneBytes got = old_bytes(*r.atomics, i);
        ASSERT_EQ(std::memcmp(got.data(), expected_old_[r.id][i].data(), r.atomics->lane_bytes()), 0)
            << "request " << r.id << " operation " << i << " of " << name_of(r.atomics->type);
      }
    }
  }
  void write_back(const WriteBack& w) override {
    Request r;
    r.command = Command::write;
    r.line = w.line;
    r.bytes = w.bytes;
    ASSERT_TRUE(w.bytes.any());
    if (aperture_of(w.line) == Aperture::vidmem) {
      ASSERT_EQ(w.data, nullptr);
      std::memcpy(r.data.data(), vidmem_.at(offset_in_aperture(w.line)), kLineBytes);
      ++dram_lines_written;
      dram_sectors_written += sector_count(w.bytes.sectors());
    } else {
      ASSERT_NE(w.data, nullptr);
      std::memcpy(r.data.data(), w.data, kLineBytes);
    }
    link_.push_back({r, false, nullptr});
  }

  unsigned divisor_;
  std::deque<Request> requests_;
  std::deque<AtomicBlock> blocks_;
  std::deque<Line> expected_;
  std::map<std::uint64_t, std::vector<LaneBytes>> expected_old_;
  std::deque<Request*> arrived_;
  RequestList again_;
  std::deque<Sent> link_;
  std::vector<Request> answers_;
  std::map<std::uint64_t, Line> oracle_, memory_;
  std::map<std::uint64_t, bool> answered_;
  std::size_t answered_count_ = 0;
};

}  // namespace warpline::test
