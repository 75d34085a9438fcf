#pragma once

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <map>
#include <vector>

#include "rtl_models/base/random.h"
#include "rtl_models/l1_lg/l1_lg_core.h"

namespace warpline::test {

/// A cache of one line, with four miss registers.
inline L1LgParameters one_line() {
  L1LgParameters p;
  p.geometry = {1, 1};
  p.miss_registers = 4;
  return p;
}

/// An L1 core above an L2 that performs requests in their order and answers them in any. Every
/// byte value of a global byte is written once, so that a value tells which write it is. Loads are
/// judged at the end, when it is known in which order L2 performed the writes:
/// - none is older than the thread's own last store, the last invalidation, or what an earlier
///   strong load of the same byte read;
/// - local loads are exact.
class CoreBench {
 public:
  static constexpr unsigned kLines = 5;
  static constexpr std::uint64_t kLocalBase = 1U << 20U;

  explicit CoreBench(const L1LgParameters& parameters) : core(parameters, true) {
    for (unsigned i = 0; i < kLines; ++i)
      for (unsigned b = 0; b < kLineBytes; ++b) index_[i][b][0] = 0;
  }

  void step(Random& random) {
    const auto line = static_cast<unsigned>(random.below(kLines));
    const auto offset = static_cast<unsigned>(random.below(kLineBytes));
    const auto bytes = static_cast<unsigned>(
        1 + random.below(random.below(3) == 0 ? kLineBytes - offset : std::min(kLineBytes - offset, 8U)));
    const auto sectors = static_cast<SectorMask>(1 + random.below(15));
    priority = static_cast<EvictionPriority>(random.below(6));
    last_use = !resets && random.below(2) != 0;
    switch (random.below(12)) {
      case 0:
      case 1: load(line, sectors, false); break;
      case 2:
      case 3: load(line, sectors, true); break;
      case 4: store_global(line, offset, bytes, 0); break;
      case 5: store_local(line, offset, bytes, static_cast<std::uint8_t>(random.next())); break;
      case 6: strong_load(line, sectors); break;
      case 7: other_writer(line, offset, bytes); break;
      case 8:
        if (random.below(6) == 0) invalidate();
        if (random.below(6) == 0) atomic(line, offset & ~3U);
        if (random.below(3) == 0) prefetch(line, sectors, random.below(2) != 0);
        if (random.below(12) == 0) discard(line);
        if (random.below(4) == 0) {
          const auto what = static_cast<unsigned>(LineControl::write_back) + random.below(resets ? 3 : 2);
          control(line, static_cast<LineControl>(what), random.below(2) != 0);
        }
        if (random.below(10) == 0) invalidate_local();
        break;
      case 9:
      case 10:
        if (!below_.empty()) perform_front();
        break;
      default:
        if (!answers_.empty()) answer(random.below(answers_.size()));
    }
  }
  void finish(Random& random) {
    for (unsigned round = 0; round < 2; ++round) {
      while (!below_.empty() || !answers_.empty()) {
        perform_below();
        while (!answers_.empty()) answer(random.below(answers_.size()));
      }
      for (unsigned i = 0; i < kLines && round == 0; ++i) {
        perform_below();
        answer_all();
        load(i, kAllSectors, true);
        load(i, kAllSectors, false);
      }
    }
    ASSERT_EQ(loads_answered, loads_.size());
    judge();
    ASSERT_EQ(core.misses().in_use(), 0U);
  }

  void load(unsigned line, SectorMask sectors, bool local) {
    Load& l = start_load(line, sectors, local);
    Request& r = l.request;
    if (local) l.exact = local_now_[line];
    ASSERT_TRUE(core.serves(r));
    const ReadOutcome out = core.read(r);
    if (out.kind == ReadOutcome::Kind::stall) {
      loads_.pop_back();
      return;
    }
    if (out.kind == ReadOutcome::Kind::hit) answered(r);
    if (out.fetch != 0) {
      Request f = r;
      f.command = Command::read;
      f.maker = this;
      f.sectors = out.fetch;
      f.token = out.entry;
      sectors_fetched += sector_count(out.fetch);
      below_.push_back(f);
    }
  }
  void store_global(unsigned line, unsigned offset, unsigned bytes, std::uint8_t) {
    Request r = write(line, offset, bytes, false);
    for (unsigned b = offset; b < offset + bytes; ++b) {
      if (writes_[line][b] == 255) return;
    }
    for (unsigned b = offset; b < offset + bytes; ++b) own_[line][b] = r.data[b] = ++writes_[line][b];
    core.store_global(r);
    below_.push_back(r);
  }
  void store_local(unsigned line, unsigned offset, unsigned bytes, std::uint8_t value) {
    Request r = write(line, offset, bytes, true);
    for (unsigned b = offset; b < offset + bytes; ++b)
      local_now_[line][b] = r.data[b] = static_cast<std::uint8_t>(value + b);
    write_back(core.store_local(r));
  }
  void prefetch(unsigned line, SectorMask sectors, bool local) {
    Request r;
    r.command = Command::control;
    r.control = LineControl::prefetch_l1;
    r.sectors = sectors;
    r.local = local;
    r.l1_priority = priority;
    place(r, line, local);
    const ReadOutcome out = core.prefetch(r);
    if (out.fetch == 0) return;
    Request f = r;
    f.command = Command::read;
    f.maker = this;
    f.sectors = out.fetch;
    f.token = out.entry;
    sectors_fetched += sector_count(out.fetch);
    below_.push_back(f);
  }
  /// L2 leaves the bytes as they are, which is one of the values that they may take.
  void discard(unsigned line) {
    Request r;
    r.command = Command::control;
    r.control = LineControl::discard;
    place(r, line, false);
    core.pass_control(r);
  }
  /// CCTL WB, IV or RS. A reset loses the bytes that have not been written back, and no others.
  void control(unsigned line, LineControl what, bool local) {
    Request r;
    r.command = Command::control;
    r.control = what;
    r.local = local;
    place(r, line, local);
    write_back(core.control_line(r));
    if (local && what == LineControl::reset) local_now_[line] = sent_back_[line];
  }
  /// CCTLL IVALL.
  void invalidate_local() {
    std::uint32_t from = 0;
    for (Evicted e = core.clean_next_local(from); e.happened; e = core.clean_next_local(from)) write_back(e);
    core.invalidate_local();
  }
  void perform_below() {
    while (!below_.empty()) perform_front();
  }
  void answer_all() {
    while (!answers_.empty()) answer(0);
  }
  void check_local() { judge(); }

  L1LgCore core;
  EvictionPriority priority = EvictionPriority::none;  ///< of the requests that follow
  bool last_use = false;                               ///< of the local loads that follow
  bool resets = false;                                 ///< random steps reset lines; none is a last use then
  std::uint64_t sectors_fetched = 0, sectors_written_back = 0, loads_answered = 0;

 private:
  using Line = std::array<std::uint8_t, kLineBytes>;
  struct Load {
    Request request;
    unsigned line = 0;
    bool local = false;
    bool answered = false;
    Line exact{};                              ///< local: what it must be
    Line own{};                                ///< global: the thread's last store before it
    std::array<unsigned, kLineBytes> floor{};  ///< the write that the last invalidation had seen
    std::size_t strong = 0;                    ///< strong loads issued before it
  };

  Load& start_load(unsigned line, SectorMask sectors, bool local) {
    Load& l = loads_.emplace_back();
    l.line = line;
    l.local = local;
    Request& r = l.request;
    r.command = Command::read;
    r.sectors = sectors;
    r.local = local;
    r.last_use = local && last_use;
    r.l1_priority = priority;
    r.id = loads_.size() - 1;
    place(r, line, local);
    r.data.fill(0xEE);
    l.own = own_[line];
    l.floor = floor_[line];
    l.strong = strong_.size();
    return l;
  }
  static void place(Request& r, unsigned line, bool local) {
    r.virtual_line = VirtualAddress{(local ? std::uint64_t{1} << 63U : 0) + line * kLineBytes};
    r.line = PhysicalAddress{(local ? kLocalBase : 0) + line * kLineBytes};
  }
  Request write(unsigned line, unsigned offset, unsigned bytes, bool local) {
    Request r;
    r.command = Command::write;
    r.local = local;
    r.l1_priority = priority;
    r.bytes = {};
    r.bytes.set(offset, bytes);
    r.sectors = r.bytes.sectors();
    r.data.fill(0xDD);
    place(r, line, local);
    return r;
  }
  void strong_load(unsigned line, SectorMask sectors) {
    Load& l = start_load(line, sectors, false);
    l.request.scope = Scope::gpu;
    ASSERT_FALSE(core.serves(l.request));
    strong_.push_back(l.request.id);
    below_.push_back(l.request);
  }
  void atomic(unsigned line, unsigned offset) {
    if (writes_[line][offset] == 255) return;
    Request r = write(line, offset, 1, false);
    own_[line][offset] = r.data[offset] = ++writes_[line][offset];
    core.pass_atomic(r);
    below_.push_back(r);
  }
  void other_writer(unsigned line, unsigned offset, unsigned bytes) {
    for (unsigned b = offset; b < offset + bytes; ++b)
      if (writes_[line][b] < 255) perform_byte(line, b, ++writes_[line][b]);
  }
  void invalidate() {
    core.invalidate_global();
    floor_ = performed_;
  }
  void perform_byte(unsigned line, unsigned byte, std::uint8_t value) {
    global_[line][byte] = value;
    index_[line][byte][value] = ++performed_[line][byte];
  }
  void write_back(const Evicted& evicted) {
    if (!evicted.dirty.any()) return;
    Request w;
    w.command = Command::write;
    w.local = true;
    w.line = evicted.home;
    w.bytes = evicted.dirty;
    ASSERT_NE(evicted.data, nullptr);
    std::copy_n(evicted.data, kLineBytes, w.data.begin());
    sectors_written_back += sector_count(w.bytes.sectors());
    Line& sent = sent_back_[line_number(PhysicalAddress{evicted.home.value % kLocalBase})];
    copy_masked(sent.data(), evicted.data, evicted.dirty);
    below_.push_back(w);
  }
  void perform_front() {
    Request r = below_.front();
    below_.pop_front();
    const auto line = static_cast<unsigned>(line_number(PhysicalAddress{r.line.value % kLocalBase}));
    Line& memory = r.local ? local_[line] : global_[line];
    if (r.command == Command::read) {
      copy_sectors(r.data.data(), memory.data(), r.sectors);
      answers_.push_back(r);
      return;
    }
    for (unsigned b = 0; b < kLineBytes; ++b) {
      if (!r.bytes.test(b)) continue;
      if (r.local) {
        memory[b] = r.data[b];
      } else {
        perform_byte(line, b, r.data[b]);
      }
    }
  }
  void answer(std::size_t which) {
    const Request r = answers_[which];
    answers_.erase(answers_.begin() + static_cast<std::ptrdiff_t>(which));
    if (r.maker == nullptr) {
      loads_[r.id].request.data = r.data;
      answered(loads_[r.id].request);
      return;
    }
    RequestList served;
    write_back(core.fill(r, served));
    while (!served.empty()) answered(*served.pop());
  }
  void answered(const Request& r) {
    ASSERT_FALSE(loads_[r.id].answered) << "load " << r.id << " is answered once";
    loads_[r.id].answered = true;
    ++loads_answered;
  }
  void judge() {
    for (const Load& l : loads_) {
      for (unsigned b = 0; b < kLineBytes; ++b) {
        if (!l.answered || ((l.request.sectors >> (b / kSectorBytes)) & 1U) == 0) continue;
        const std::uint8_t got = l.request.data[b];
        if (l.local) {
          ASSERT_EQ(got, l.exact[b]) << "local load " << l.request.id << " line " << l.line << " byte " << b;
          continue;
        }
        const auto& order = index_[l.line][b];
        ASSERT_EQ(order.count(got), 1U)
            << "load " << l.request.id << " byte " << b << " holds what nobody wrote";
        const unsigned read = order.at(got);
        ASSERT_GE(read, order.at(l.own[b]))
            << "load " << l.request.id << " byte " << b << " misses its own store";
        ASSERT_GE(read, l.floor[b]) << "load " << l.request.id << " byte " << b
                                    << " is older than an invalidation";
        for (std::size_t s = 0; s < l.strong; ++s) {
          const Load& before = loads_[strong_[s]];
          if (before.line != l.line || ((before.request.sectors >> (b / kSectorBytes)) & 1U) == 0) continue;
          ASSERT_GE(read, order.at(before.request.data[b]))
              << "load " << l.request.id << " goes back behind a strong load";
        }
      }
    }
  }

  std::deque<Request> below_;
  std::vector<Request> answers_;
  std::deque<Load> loads_;
  std::vector<std::size_t> strong_;
  std::array<Line, kLines> global_{}, local_{}, local_now_{}, sent_back_{}, own_{}, writes_{};
  std::array<std::array<unsigned, kLineBytes>, kLines> performed_{}, floor_{};
  std::array<std::array<std::map<std::uint8_t, unsigned>, kLineBytes>, kLines> index_;
};

}  // namespace warpline::test
