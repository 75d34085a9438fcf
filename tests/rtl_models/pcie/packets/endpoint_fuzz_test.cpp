#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "rtl_models/base/random.h"
#include "rtl_models/pcie/packets/tlp_rules.h"
#include "tests/rtl_models/pcie/packets/endpoint_bench.h"

namespace warpline {
namespace endpoint_fuzz_test {

using Bench = test::EndpointBench;

std::uint8_t byte_at(std::uint64_t address) {
  return static_cast<std::uint8_t>(splitmix64(address));
}

bool operator==(const ReadPart& a, const ReadPart& b) {
  return a.cookie == b.cookie && a.address == b.address && a.data == b.data && a.outcome == b.outcome &&
         a.last == b.last;
}

/// Answers reads as badly as the rules allow and worse. It knows of each packet whether it is genuine, and so
/// what the function should make of it, without looking at tags as the function does.
class Completer {
 public:
  explicit Completer(std::uint64_t seed) : random_(seed), bench_(link(random_)) {}

  void run(unsigned steps) {
    for (unsigned step = 0; step < steps; ++step, now_ += random_.below(12)) {
      ask();
      if (::testing::Test::HasFatalFailure()) return;
      answer();
      expire();
      ASSERT_NO_FATAL_FAILURE(compare()) << "step " << step;
    }
  }
  /// Ends all that is under way, and finds every tag free.
  void finish() {
    now_ += 10000;
    expire();
    ASSERT_NO_FATAL_FAILURE(compare());
    EXPECT_EQ(bench_.core.reads_in_flight(), 0U);
    const std::size_t missing = open_.size() - (open_.size() == bench_tags_ ? 1 : 0);
    EXPECT_EQ(bench_.core.tags_given_up(), missing) << "of each the last completion; if all, one is given up";
    while (!open_.empty()) deliver_genuine(open_.begin());
    ASSERT_NO_FATAL_FAILURE(compare());
    EXPECT_EQ(bench_.core.tags_given_up(), 0U);
    unsigned free = 0;
    for (; bench_.core.may_read(); ++free) bench_.core.read(0, 0, 0, now_);
    EXPECT_EQ(free, bench_tags_);
    EXPECT_EQ(bench_.core.counters().unexpected, unexpected_);
    static_cast<void>(bench_.sent());
    EXPECT_EQ(bench_.pool.in_use(), 0U);
  }
  std::map<TlpOutcome, unsigned> ended;
  unsigned taken_back = 0;  ///< tags of completions that have not come

 private:
  struct Open {
    Tlp read;
    std::vector<ByteRun> plan;
    std::size_t next = 0;
    std::uint32_t cookie = 0;
    Cycle made = 0;
    bool over = false;  ///< for the function
  };
  using Place = std::map<std::uint16_t, Open>::iterator;

  LinkParameters link(Random& random) {
    LinkParameters p;
    p.latency = 1;
    p.completion_timeout = 400;
    p.tags = bench_tags_ = 1 + static_cast<unsigned>(random.below(20));
    return p;
  }
  void ask() {
    if (random_.below(2) == 0 || !bench_.core.may_read()) return;
    const std::uint64_t page = 4096 * ++reads_;
    const auto bytes = static_cast<std::uint32_t>(random_.below(513));
    bench_.core.read(static_cast<std::uint32_t>(reads_), page + random_.below(4096 - 512), bytes, now_);
    for (Tlp& read : bench_.sent()) {
      if (const Place lost = open_.find(read.tag); lost != open_.end()) {
        ASSERT_TRUE(lost->second.over && lost->second.made + TagTable::kLostAfter * 400 <= now_)
            << "a tag of which completions may still come";
        open_.erase(lost);
        ++taken_back;
      }
      Open o;
      o.plan = split_completion(read.address, read.bytes, 64U << random_.below(3), 64);
      o.read = std::move(read);
      o.cookie = static_cast<std::uint32_t>(reads_);
      o.made = now_;
      open_[o.read.tag] = std::move(o);
    }
  }
  void answer() {
    if (open_.empty()) return;
    const Place at = std::next(open_.begin(), static_cast<std::ptrdiff_t>(random_.below(open_.size())));
    switch (random_.below(16)) {
      case 0: return refuse(at);
      case 1: return deliver_genuine(at, random_.below(2) == 0);
      case 2: return deliver_false(misplaced(at->second));
      case 3: return deliver_false(too_long(at->second));
      case 4: return deliver_false(to_a_stranger(at->second));
      case 5:
        if (!past_.empty()) deliver_false(past_[random_.below(past_.size())]);
        return;
      case 6: now_ += random_.below(4) == 0 ? 300 : 0; return;
      default: return deliver_genuine(at);
    }
  }
  Tlp genuine(const Open& o) const {
    const ByteRun& part = o.plan[o.next];
    Tlp tlp =
        Bench::completion(o.read, static_cast<std::uint32_t>(part.address - o.read.address), part.bytes);
    for (unsigned i = 0; i < part.bytes; ++i) tlp.data[i] = byte_at(part.address + i);
    return tlp;
  }
  Tlp misplaced(const Open& o) const {
    Tlp tlp = genuine(o);
    tlp.address += 4;
    return tlp;
  }
  Tlp too_long(const Open& o) const {
    Tlp tlp = genuine(o);
    tlp.bytes = tlp.remaining += 4;
    tlp.data.resize(tlp.bytes);
    return tlp;
  }
  Tlp to_a_stranger(const Open& o) const {
    Tlp tlp = genuine(o);
    if (o.read.bytes % 2 == 0) {
      tlp.requester = function_id(9, 0, 0);
    } else {
      tlp.tag = static_cast<std::uint16_t>(tlp.tag + bench_tags_);
    }
    return tlp;
  }
  void deliver_false(const Tlp& tlp) {
    ++unexpected_;
    bench_.receive(tlp);
  }
  void deliver_genuine(Place at, bool poisoned = false) {
    Open& o = at->second;
    Tlp tlp = genuine(o);
    tlp.poisoned = poisoned && tlp.bytes != 0;
    const bool last = ++o.next == o.plan.size();
    if (o.over) {
      ++unexpected_;
    } else if (tlp.poisoned) {
      expect_end(o, TlpOutcome::poisoned, tlp.address);
    } else {
      expected_.push_back({o.cookie, tlp.address, tlp.data, TlpOutcome::done, last});
      if (last) ++ended[TlpOutcome::done];
    }
    past_.push_back(tlp);
    if (last) open_.erase(at);
    bench_.receive(tlp);
  }
  void refuse(Place at) {
    Open& o = at->second;
    const bool abort = random_.below(2) == 0;
    const Tlp tlp = Bench::refusal(
        o.read, abort ? CompletionStatus::completer_abort : CompletionStatus::unsupported_request);
    if (o.over) {
      ++unexpected_;
    } else {
      expect_end(o, abort ? TlpOutcome::completer_abort : TlpOutcome::unsupported_request,
                 o.plan[o.next].address);
    }
    open_.erase(at);
    bench_.receive(tlp);
  }
  void expect_end(Open& o, TlpOutcome outcome, std::uint64_t address) {
    o.over = true;
    ++ended[outcome];
    expected_.push_back({o.cookie, address, {}, outcome, true});
  }
  void expire() {
    bench_.core.expire(now_);
    std::vector<Open*> late;
    for (auto& [tag, o] : open_)
      if (!o.over && o.made + 400 <= now_) late.push_back(&o);
    std::sort(late.begin(), late.end(), [](const Open* a, const Open* b) { return a->cookie < b->cookie; });
    for (Open* o : late) expect_end(*o, TlpOutcome::timeout, o->plan[o->next].address);
  }
  void compare() {
    const std::vector<ReadPart> parts = bench_.parts();
    ASSERT_EQ(parts.size(), expected_.size());
    for (std::size_t i = 0; i < parts.size(); ++i) ASSERT_TRUE(parts[i] == expected_[i]) << "part " << i;
    expected_.clear();
    const auto running =
        std::count_if(open_.begin(), open_.end(), [](const auto& o) { return !o.second.over; });
    ASSERT_EQ(bench_.core.reads_in_flight(), static_cast<unsigned>(running));
  }

  Random random_;
  unsigned bench_tags_ = 0;
  Bench bench_;
  Cycle now_ = 0;
  std::uint64_t reads_ = 0, unexpected_ = 0;
  std::map<std::uint16_t, Open> open_;  ///< reads whose last completion was not sent, by tag
  std::vector<Tlp> past_;
  std::vector<ReadPart> expected_;
};

TEST(EndpointFuzz, EveryByteIsRightOrReportedAndNoTagIsLost) {
  std::map<TlpOutcome, unsigned> ended;
  unsigned taken_back = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Completer completer(seed);
    ASSERT_NO_FATAL_FAILURE(completer.run(1500));
    ASSERT_NO_FATAL_FAILURE(completer.finish());
    for (const auto& [outcome, n] : completer.ended) ended[outcome] += n;
    taken_back += completer.taken_back;
  }
  EXPECT_GT(taken_back, 10U);
  for (const TlpOutcome outcome : {TlpOutcome::done, TlpOutcome::unsupported_request,
                                   TlpOutcome::completer_abort, TlpOutcome::poisoned, TlpOutcome::timeout})
    EXPECT_GT(ended[outcome], 100U) << static_cast<int>(outcome);
}

}  // namespace endpoint_fuzz_test
}  // namespace warpline
