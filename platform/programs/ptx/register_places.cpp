#include "platform/programs/ptx/register_places.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "platform/programs/ptx/liveness.h"

namespace warpline::ptx {
namespace {

/// From the first instruction at which a register's value is needed or made to the last one.
struct Span {
  std::size_t first = ~std::size_t{0}, last = 0;
  void include(std::size_t at) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
};

class Sharing {
 public:
  explicit Sharing(Program& program) : program_(program) {}

  void run() {
    find_spans();
    choose_places();
    number_places();
    compact();
    rewrite();
  }

 private:
  void find_spans() {
    spans_.resize(program_.registers);
    const Liveness liveness(program_);
    if (!liveness.is_known()) {
      for (Span& s : spans_) s = {0, program_.ops.size()};
      return;
    }
    for (std::size_t b = 0; b < liveness.blocks(); ++b) {
      liveness.needed_before(b).for_each([&](std::uint16_t r) { spans_[r].include(liveness.begin_of(b)); });
      liveness.needed_behind(b).for_each([&](std::uint16_t r) { spans_[r].include(liveness.end_of(b) - 1); });
    }
    for (std::size_t i = 0; i < program_.instructions.size(); ++i) {
      const Instruction& x = program_.instructions[i];
      for (unsigned n = 0; n < unsigned{x.source_count} + x.destination_count; ++n) {
        Span& s = spans_[x.registers[n]];
        s.include(i);
        // What an asynchronous product reads and writes when it is made is nowhere else to be seen.
        if (x.mem.tile_passes != 0) s = {0, program_.ops.size()};
      }
    }
    for (std::size_t b = 0; b < liveness.blocks(); ++b)
      for (std::size_t i = liveness.begin_of(b); i < liveness.end_of(b); ++i)
        keep_until_loaded(i, liveness.end_of(b) - 1);
  }

  /// What memory brings and nobody reads comes all the same: its place is free when the rest is waited for,
  /// so that no other value waits. `end`: the last instruction of the block.
  void keep_until_loaded(std::size_t i, std::size_t end) {
    const Instruction& x = program_.instructions[i];
    if (x.kind != InstructionKind::memory || x.destination_count == 0) return;
    std::size_t last = i;
    const auto for_each = [&](auto&& f) {
      for (unsigned n = 0; n < x.destination_count; ++n) f(spans_[x.registers[x.source_count + n]]);
    };
    for_each([&](const Span& s) { last = std::max(last, s.last); });
    if (last == i) last = end;
    for_each([&](Span& s) {
      if (s.last == i) s.last = last;
    });
  }

  /// Linear scan, function by function.
  void choose_places() {
    place_.resize(program_.registers);
    for (unsigned r = 0; r < program_.registers; ++r) place_[r] = static_cast<std::uint16_t>(r);
    std::size_t first = 0;
    for (const FunctionImage& f : program_.functions) {
      std::vector<std::uint16_t> own;
      for (std::size_t n = 0; n < f.registers.size(); ++n)
        if (const std::size_t r = first + n; spans_[r].first <= spans_[r].last)
          own.push_back(static_cast<std::uint16_t>(r));
      first += f.registers.size();
      std::stable_sort(own.begin(), own.end(), [this](std::uint16_t a, std::uint16_t b) {
        return spans_[a].first < spans_[b].first;
      });
      scan(own);
    }
  }

  void scan(const std::vector<std::uint16_t>& by_start) {
    using End = std::pair<std::size_t, std::uint16_t>;  // of its span, place
    struct Size {
      std::priority_queue<End, std::vector<End>, std::greater<>> taken;
      std::deque<std::uint16_t> free;
    };
    std::map<std::uint8_t, Size> sizes;  // by bytes of a register, 0: predicates
    for (const std::uint16_t r : by_start) {
      Size& s = sizes[program_.register_bytes[r]];
      for (; !s.taken.empty() && s.taken.top().first < spans_[r].first; s.taken.pop())
        s.free.push_back(s.taken.top().second);
      if (!s.free.empty()) {
        place_[r] = s.free.front();
        s.free.pop_front();
      }
      s.taken.emplace(spans_[r].last, place_[r]);
    }
  }

  void number_places() {
    number_.resize(program_.registers);
    for (unsigned r = 0; r < program_.registers; ++r) {
      if (place_[r] != r) continue;
      number_[r] = static_cast<std::uint16_t>(places_.size());
      places_.push_back(static_cast<std::uint16_t>(r));
    }
  }

  /// What is left of the file moves together. Predicates, of 4 bytes, stay: all else lies at multiples of 32.
  void compact() {
    for (unsigned r = 0; r < program_.registers; ++r) {
      register_at_.emplace(program_.register_refs[r], static_cast<std::uint16_t>(r));
      if (place_[r] != r && program_.register_bytes[r] != 0)
        left_out_.emplace_back(static_cast<std::uint32_t>(program_.register_refs[r]),
                               program_.register_bytes[r] * kWarpLanes);
    }
    std::sort(left_out_.begin(), left_out_.end());
    std::uint32_t sum = 0;
    for (auto& [begin, bytes] : left_out_) {
      sum += bytes;
      bytes = sum;
    }
  }
  /// Where the byte lies now that lay at `at`; of one that is left out, the next that is not.
  [[nodiscard]] std::uint32_t moved(std::uint32_t at) const {
    const auto behind = std::upper_bound(left_out_.begin(), left_out_.end(), at,
                                         [](std::uint32_t a, const auto& range) { return a < range.first; });
    if (behind == left_out_.begin()) return at;
    const auto& [begin, removed] = *(behind - 1);
    const std::uint32_t before = behind - 1 == left_out_.begin() ? 0 : (behind - 2)->second;
    return at - std::min(removed, before + (at - begin));
  }
  void move(Ref& ref) const {
    if (ref == kNoRef || (static_cast<std::uint32_t>(ref) & kPoolBit) != 0) return;
    const auto r = register_at_.find(ref);
    const Ref place = r == register_at_.end() ? ref : program_.register_refs[place_[r->second]];
    ref = static_cast<Ref>(moved(static_cast<std::uint32_t>(place)));
  }
  void move(std::vector<ParameterBlock>& blocks) const {
    for (ParameterBlock& b : blocks) move(b.ref);
  }
  void move(std::vector<FileRange>& ranges) const {
    for (FileRange& r : ranges) r = {moved(r.begin), moved(r.end)};
  }

  void rewrite() {
    for (Op& op : program_.ops) {
      for (Ref& ref : op.r) move(ref);
      move(op.condition);
      move(op.guard);
    }
    for (const auto& [offset, count] : program_.lists)
      for (std::uint32_t n = 0; n < count; ++n) {
        std::byte* const at = program_.pool.data() + offset + n * sizeof(Ref);
        Ref ref = kNoRef;
        std::memcpy(&ref, at, sizeof ref);
        move(ref);
        std::memcpy(at, &ref, sizeof ref);
      }
    for (FunctionImage& f : program_.functions) {
      move(f.parameters);
      move(f.results);
      move(f.blocks);
      move(f.cleared);
      for (auto& [ref, bytes] : f.registers) move(ref);
    }
    for (CallSite& c : program_.calls) {
      move(c.arguments);
      move(c.results);
    }
    for (SpecialSlot& s : program_.specials) move(s.ref);
    move(program_.cleared);
    program_.file_bytes = moved(program_.file_bytes);
    for (Instruction& i : program_.instructions) renumber(i);
    std::vector<std::uint8_t> bytes;
    std::vector<Ref> refs;
    for (const std::uint16_t r : places_) {
      bytes.push_back(program_.register_bytes[r]);
      refs.push_back(program_.register_refs[r]);
    }
    for (Ref& ref : refs) ref = static_cast<Ref>(moved(static_cast<std::uint32_t>(ref)));
    program_.register_bytes = std::move(bytes);
    program_.register_refs = std::move(refs);
    program_.registers = static_cast<std::uint32_t>(places_.size());
  }

  void renumber(Instruction& i) {
    const auto begin = i.registers.begin();
    const auto end_of_sources = begin + i.source_count;
    sources_.assign(begin, end_of_sources);
    destinations_.assign(end_of_sources, end_of_sources + i.destination_count);
    for (std::vector<std::uint16_t>* list : {&sources_, &destinations_}) {
      for (std::uint16_t& r : *list) r = number_[place_[r]];
      std::sort(list->begin(), list->end());
    }
    i.name_registers(sources_, destinations_);
  }

  Program& program_;
  std::vector<Span> spans_;
  std::vector<std::uint16_t> place_;   ///< of each register: that of which one
  std::vector<std::uint16_t> number_;  ///< of those with a place of their own
  std::vector<std::uint16_t> places_;  ///< by number: whose place it is
  std::unordered_map<Ref, std::uint16_t> register_at_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> left_out_;  ///< where; bytes of it and all before it
  std::vector<std::uint16_t> sources_, destinations_;
};

}  // namespace

void share_places(Program& program) {
  if (program.ops.empty() || program.recursive || program.has_stack) return;
  Sharing(program).run();
}

}  // namespace warpline::ptx
