#include "platform/consistency/read_sources.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace warpline::litmus {
namespace {

class Finder {
 public:
  Finder(const RecordedTest& test, const Candidate& c)
      : test_(test), c_(c), of_memory_(test.test().memories.size()) {
    c.writes.each([&](unsigned w) { of_memory_[c.events[w].memory].push_back(w); });
  }

  void add(unsigned read, Tearing tearing, std::vector<ReadSources>& out) const {
    const Event& e = c_.events[read];
    for (const Stretch& stretch : tearing == Tearing::none ? c_.cut(e) : pieces(read, tearing)) {
      ReadSources s;
      s.slot = {stretch, read, Event::kNone};
      for (const unsigned w : of_memory_[e.memory])
        if (may_read(s.slot, w)) s.writes.push_back(w);
      sort(s);
      out.push_back(std::move(s));
    }
  }

 private:
  /// The bytes of `read`, apart where they tell which of several writes they are of.
  [[nodiscard]] std::vector<Stretch> pieces(unsigned read, Tearing tearing) const {
    return c_.torn(c_.events[read], read, tearing == Tearing::all,
                   [this](const Stretch& stretch, unsigned b) { return tells(stretch, b); });
  }

  [[nodiscard]] std::uint8_t byte_of(unsigned write, unsigned b) const {
    const Event& w = c_.events[write];
    const RecordedEvent* from = test_.origin(w);
    return from == nullptr ? test_.before(w.memory, b) : from->written[b - w.offset];
  }

  [[nodiscard]] bool tells(const Stretch& stretch, unsigned b) const {
    std::optional<std::uint8_t> one;
    for (const unsigned w : of_memory_[stretch.memory]) {
      if (!c_.events[w].covers(stretch)) continue;
      const std::uint8_t byte = byte_of(w, b);
      if (one && *one != byte) return true;
      one = byte;
    }
    return false;
  }

  [[nodiscard]] bool may_read(const ReadsFrom& slot, unsigned write) const {
    const Event& w = c_.events[write];
    const Event& r = c_.events[slot.read];
    if (!w.covers(slot) || r.partner == write) return false;
    const RecordedEvent& read = *test_.origin(r);
    const RecordedEvent* from = test_.origin(w);
    if (from != nullptr && from->issued > read.answered) return false;
    // The value of a read that its thread never received is known from the order of the writes only.
    if (!read.returned && moment(write) > read.coherent) return false;
    for (unsigned b = slot.offset; b < slot.offset + slot.bytes; ++b)
      if (byte_of(write, b) != read.read[b - r.offset]) return false;
    return true;
  }

  [[nodiscard]] Moment moment(unsigned write) const {
    const RecordedEvent* e = test_.origin(c_.events[write]);
    return e == nullptr ? 0 : e->coherent;
  }

  /// Orders the candidates of `s`: first the writes that had taken effect by the time of the read, the latest
  /// of them in front, then the others.
  void sort(ReadSources& s) const {
    const RecordedEvent& read = *test_.origin(c_.events[s.slot.read]);
    const Moment then = read.writes ? read.coherent : read.answered;
    std::sort(s.writes.begin(), s.writes.end(), [&](unsigned a, unsigned b) {
      const bool a_early = moment(a) < then, b_early = moment(b) < then;
      return a_early != b_early ? a_early : moment(a) > moment(b);
    });
    if (!read.returned && !s.writes.empty()) s.writes.resize(1);
  }

  const RecordedTest& test_;
  const Candidate& c_;
  std::vector<std::vector<unsigned>> of_memory_;
};

}  // namespace

std::vector<ReadSources> sources_of_reads(const RecordedTest& test, const Candidate& c, Tearing tearing) {
  const Finder finder(test, c);
  std::vector<ReadSources> out;
  c.reads.each([&](unsigned read) { finder.add(read, tearing, out); });
  return out;
}

}  // namespace warpline::litmus
