#include "tests/platform/consistency/mixed_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace warpline::litmus::test {
namespace {

using Kind = MixedOperation::Kind;

/// Pairs of events.
using Matrix = std::vector<std::vector<bool>>;

/// An event: an operation, of an exchange its read or its write; thread -1: the initial write of a location.
struct Step {
  const MixedOperation* of = nullptr;
  int thread = -1;
  unsigned operation = 0;
  bool reads = false, writes = false;
  unsigned location = 0, offset = 0, bytes = 8;
  [[nodiscard]] bool accesses() const { return reads || writes; }
  [[nodiscard]] bool has(unsigned l, unsigned byte) const {
    return accesses() && location == l && byte >= offset && byte < offset + bytes;
  }
};

class ByteChecker {
 public:
  ByteChecker(const MixedProgram& p, const MixedMoments* moments) : p_(p), moments_(moments) {
    for (unsigned l = 0; l < 2; ++l) steps_.push_back({nullptr, -1, 0, false, true, l, 0, 8});
    for (unsigned t = 0; t < p.threads.size(); ++t)
      for (unsigned n = 0; n < p.threads[t].code.size(); ++n) {
        const MixedOperation& o = p.threads[t].code[n];
        const auto add = [&](bool reads, bool writes) {
          steps_.push_back({&o, static_cast<int>(t), n, reads, writes, o.location, o.offset, o.bytes});
        };
        if (o.kind == Kind::fence) add(false, false);
        if (o.reads()) add(true, false);
        if (o.writes()) add(false, true);
      }
    size_ = steps_.size();
  }

  bool run() {
    find_bytes();
    for (std::size_t a = 0; a < size_; ++a)
      for (std::size_t b = a + 1; b < size_; ++b)
        if (is_sc(a) && is_sc(b) && strong_pair(a, b)) fences_.emplace_back(a, b);
    return choose_sources(0);
  }

  [[nodiscard]] double ways() {
    find_bytes();
    double product = 1;
    for (const Byte& byte : bytes_) product *= static_cast<double>(byte.writers.size());
    return product;
  }

 private:
  [[nodiscard]] Matrix none() const { return Matrix(size_, std::vector<bool>(size_, false)); }
  void close(Matrix& m) const {
    for (std::size_t k = 0; k < size_; ++k)
      for (std::size_t a = 0; a < size_; ++a)
        for (std::size_t b = 0; m[a][k] && b < size_; ++b)
          if (m[k][b]) m[a][b] = true;
  }
  [[nodiscard]] bool cyclic(Matrix m) const {
    close(m);
    for (std::size_t a = 0; a < size_; ++a)
      if (m[a][a]) return true;
    return false;
  }
  [[nodiscard]] bool is_sc(std::size_t a) const {
    return steps_[a].of != nullptr && steps_[a].of->kind == Kind::fence && steps_[a].of->sequential;
  }
  [[nodiscard]] bool is_fence(std::size_t a) const {
    return steps_[a].of != nullptr && steps_[a].of->kind == Kind::fence;
  }
  [[nodiscard]] bool before(std::size_t a, std::size_t b) const {
    return steps_[a].thread >= 0 && steps_[a].thread == steps_[b].thread && a < b;
  }
  [[nodiscard]] bool overlap(std::size_t a, std::size_t b) const {
    for (unsigned l = 0; l < 2; ++l)
      for (unsigned byte = 0; byte < 8; ++byte)
        if (steps_[a].has(l, byte) && steps_[b].has(l, byte)) return true;
    return false;
  }
  [[nodiscard]] bool same_bytes(std::size_t a, std::size_t b) const {
    const Step &x = steps_[a], &y = steps_[b];
    return x.location == y.location && x.offset == y.offset && x.bytes == y.bytes;
  }
  [[nodiscard]] bool scopes_meet(std::size_t a, std::size_t b) const {
    const Step &x = steps_[a], &y = steps_[b];
    if (x.of == nullptr || y.of == nullptr || !x.of->strong || !y.of->strong) return false;
    const bool one_cta = p_.threads[static_cast<std::size_t>(x.thread)].cta ==
                         p_.threads[static_cast<std::size_t>(y.thread)].cta;
    return one_cta || (x.of->wide_scope && y.of->wide_scope);
  }
  /// Morally strong.
  [[nodiscard]] bool strong_pair(std::size_t a, std::size_t b) const {
    if (a == b || steps_[a].of == nullptr || steps_[b].of == nullptr) return false;
    if (!before(a, b) && !before(b, a) && !scopes_meet(a, b)) return false;
    return !steps_[a].accesses() || !steps_[b].accesses() || same_bytes(a, b);
  }
  [[nodiscard]] bool is_part_of_exchange(std::size_t a) const {
    return steps_[a].of != nullptr && steps_[a].of->kind == Kind::exchange;
  }
  /// Atomics of two threads, however they overlap: one is done before the other begins.
  [[nodiscard]] bool exclude_each_other(std::size_t a, std::size_t b) const {
    return is_part_of_exchange(a) && is_part_of_exchange(b) && steps_[a].thread != steps_[b].thread &&
           overlap(a, b) && scopes_meet(a, b);
  }
  /// Of the read of an exchange its write.
  [[nodiscard]] std::size_t write_of(std::size_t read) const { return read + 1; }

  void find_bytes() {
    for (std::size_t r = 0; r < size_; ++r) {
      if (!steps_[r].reads) continue;
      const std::uint64_t value = p_.read[static_cast<std::size_t>(steps_[r].thread)][steps_[r].operation];
      for (unsigned n = 0; n < steps_[r].bytes; ++n) {
        const auto byte = static_cast<std::uint8_t>(value >> (8 * n));
        const unsigned at = steps_[r].offset + n;
        bytes_.push_back({r, at, writers(steps_[r].location, at, byte)});
        std::vector<std::size_t>& w = bytes_.back().writers;
        if (is_part_of_exchange(r)) w.erase(std::remove(w.begin(), w.end(), write_of(r)), w.end());
      }
    }
  }
  bool choose_sources(std::size_t next) {
    if (next == bytes_.size()) return order_fences(0, none());
    for (const std::size_t w : bytes_[next].writers) {
      from_.push_back({bytes_[next].read, w, bytes_[next].at});
      if (choose_sources(next + 1)) return true;
      from_.pop_back();
    }
    return false;
  }
  /// Those that leave `byte` there.
  [[nodiscard]] std::vector<std::size_t> writers(unsigned location, unsigned at, std::uint8_t byte) const {
    std::vector<std::size_t> out;
    for (std::size_t w = 0; w < size_; ++w) {
      if (!steps_[w].writes || !steps_[w].has(location, at)) continue;
      if ((steps_[w].of == nullptr ? 0 : steps_[w].of->left(at - steps_[w].offset)) == byte) out.push_back(w);
    }
    return out;
  }

  [[nodiscard]] std::uint64_t moment(std::size_t a) const {
    return steps_[a].thread < 0
               ? 0
               : (*moments_)[static_cast<std::size_t>(steps_[a].thread)][steps_[a].operation];
  }

  bool order_fences(std::size_t next, const Matrix& order) {
    if (next == fences_.size()) return !cyclic(order) && judge(order);
    const auto& [a, b] = fences_[next];
    for (const bool swapped : {false, true}) {
      if (moments_ != nullptr && swapped != (moment(a) > moment(b))) continue;
      Matrix more = order;
      more[swapped ? b : a][swapped ? a : b] = true;
      if (order_fences(next + 1, more)) return true;
    }
    return false;
  }

  bool judge(const Matrix& fence_order) {
    Matrix observation = none();
    for (const Source& s : from_)
      if (strong_pair(s.write, s.read)) observation[s.write][s.read] = true;
    const Matrix direct = observation;
    for (std::size_t round = 0; round < size_; ++round)
      for (std::size_t a = 0; a < size_; ++a)
        for (std::size_t r = 0; r < size_; ++r)
          for (std::size_t b = 0; observation[a][r] && is_part_of_exchange(r) && b < size_; ++b)
            if (direct[write_of(r)][b]) observation[a][b] = true;
    Matrix base = fence_order;
    for (std::size_t a = 0; a < size_; ++a)
      for (std::size_t b = 0; b < size_; ++b)
        if (before(a, b) || synchronizes(a, b, observation)) base[a][b] = true;
    close(base);
    for (const auto& [a, b] : fences_)
      if (base[a][a] || base[b][b] || (fence_order[a][b] && base[b][a]) || (fence_order[b][a] && base[a][b]))
        return false;
    Matrix cause = none();
    const auto preserved = [&](std::size_t a, std::size_t b) {
      return base[a][b] && steps_[a].of != nullptr && steps_[b].of != nullptr && overlap(a, b);
    };
    for (std::size_t a = 0; a < size_; ++a)
      for (std::size_t b = 0; b < size_; ++b) {
        if (preserved(a, b)) cause[a][b] = true;
        for (std::size_t c = 0; observation[a][b] && c < size_; ++c)
          if (preserved(b, c)) cause[a][c] = true;
      }
    for (const Source& s : from_)
      if (cause[s.read][s.write]) return false;
    return order_writes(cause);
  }

  /// From the first event of a release pattern to the last of an acquire pattern.
  [[nodiscard]] bool synchronizes(std::size_t a, std::size_t b, const Matrix& observation) const {
    if (!strong_pair(a, b)) return false;
    const auto releases = [&](std::size_t w) {
      if (!steps_[w].writes || !steps_[w].of || !steps_[w].of->strong) return false;
      if (is_fence(a)) return before(a, w);
      return steps_[a].writes && steps_[a].of != nullptr && steps_[a].of->releases &&
             (a == w || (before(a, w) && same_bytes(a, w)));
    };
    const auto acquires = [&](std::size_t r) {
      if (!steps_[r].reads || !steps_[r].of->strong) return false;
      if (is_fence(b)) return before(r, b);
      return steps_[b].reads && steps_[b].of->acquires && (b == r || (before(r, b) && same_bytes(r, b)));
    };
    for (std::size_t w = 0; w < size_; ++w)
      for (std::size_t r = 0; r < size_; ++r)
        if (observation[w][r] && releases(w) && acquires(r)) return true;
    return false;
  }

  bool order_writes(const Matrix& cause) {
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    Matrix order = none();
    for (std::size_t a = 0; a < size_; ++a)
      for (std::size_t b = a; b < size_; ++b) {
        if (!steps_[a].writes || !steps_[b].writes || !overlap(a, b)) continue;
        if (a == b && cause[a][a]) return false;
        if (a == b) continue;
        if (steps_[a].of == nullptr) {
          order[a][b] = true;
        } else {
          pairs.emplace_back(a, b);
        }
      }
    const std::function<bool(std::size_t)> choose = [&](std::size_t next) {
      if (next == pairs.size()) return judge_order(order, cause);
      const auto [a, b] = pairs[next];
      for (unsigned choice = 0; choice < 3; ++choice) {
        if (choice == 0 && (moments_ != nullptr || strong_pair(a, b) || exclude_each_other(a, b))) continue;
        if (moments_ != nullptr && choice == (moment(a) < moment(b) ? 2U : 1U)) continue;
        if (cause[a][b] && choice != 1) continue;
        if (cause[b][a] && choice != 2) continue;
        order[a][b] = choice == 1;
        order[b][a] = choice == 2;
        if (choose(next + 1)) return true;
        order[a][b] = order[b][a] = false;
      }
      return false;
    };
    return choose(0);
  }

  [[nodiscard]] bool judge_order(const Matrix& order, const Matrix& cause) const {
    Matrix closed = order;
    close(closed);
    for (std::size_t a = 0; a < size_; ++a)
      for (std::size_t b = 0; b < size_; ++b) {
        if (closed[a][a]) return false;
        // Where it relates writes that overlap it is transitive.
        if (closed[a][b] && !order[a][b] && overlap(a, b)) return false;
      }
    // Byte by byte: who reads of a write reads before each that comes later.
    Matrix reads_before = none();
    for (const Source& s : from_)
      for (std::size_t w = 0; w < size_; ++w)
        if (order[s.write][w] && steps_[w].has(steps_[s.read].location, s.at)) reads_before[s.read][w] = true;
    for (std::size_t r = 0; r < size_; ++r)
      for (std::size_t w = 0; w < size_; ++w) {
        if (reads_before[r][w] && cause[w][r]) return false;
        const bool one = strong_pair(r, w) || exclude_each_other(r, w);
        if (one && reads_before[r][w] && reads_from(r, w)) return false;
        if (!one || !is_part_of_exchange(r) || !steps_[r].reads || !steps_[w].writes) continue;
        const std::size_t own = write_of(r);
        if (own != w && reads_before[r][w] && (strong_pair(w, own) || exclude_each_other(w, own)) &&
            order[w][own])
          return false;
        if (exclude_each_other(r, w) && reads_from(r, w) && !order[w][own]) return false;
      }
    return !p_.end || ends_so(order);
  }
  [[nodiscard]] bool reads_from(std::size_t r, std::size_t w) const {
    return std::any_of(from_.begin(), from_.end(),
                       [&](const Source& s) { return s.read == r && s.write == w; });
  }
  [[nodiscard]] bool ends_so(const Matrix& order) const {
    for (unsigned at = 0; at < 8; ++at) {
      const auto is_last = [&](std::size_t w) {
        for (std::size_t later = 0; later < size_; ++later)
          if (order[w][later] && steps_[later].has(0, at)) return false;
        return true;
      };
      const auto w = writers(0, at, static_cast<std::uint8_t>(*p_.end >> (8 * at)));
      if (std::none_of(w.begin(), w.end(), is_last)) return false;
    }
    return true;
  }

  struct Byte {
    std::size_t read;
    unsigned at;  ///< which one of the location
    std::vector<std::size_t> writers;
  };
  struct Source {
    std::size_t read, write;
    unsigned at;  ///< which byte of the location
  };
  const MixedProgram& p_;
  const MixedMoments* moments_;
  std::vector<Step> steps_;
  std::size_t size_ = 0;
  std::vector<Byte> bytes_;  ///< that are read
  std::vector<Source> from_;
  std::vector<std::pair<std::size_t, std::size_t>> fences_;
};

std::uint64_t mask(unsigned bytes) {
  return bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
}

std::uint64_t value_of(const MixedOperation& o) {
  std::uint64_t value = 0;
  for (unsigned n = o.bytes; n-- > 0;) value = value << 8U | o.left(n);
  return value;
}

/// Runs the program in some order of its operations, and takes what is read and left as the end.
void run_in_order(MixedProgram& p, Random& random) {
  std::uint64_t memory[2] = {};
  std::vector<std::size_t> at(p.threads.size(), 0);
  p.read.clear();
  for (const MixedThread& t : p.threads) p.read.emplace_back(t.code.size(), 0);
  for (;;) {
    std::vector<std::size_t> ready;
    for (std::size_t t = 0; t < at.size(); ++t)
      if (at[t] < p.threads[t].code.size()) ready.push_back(t);
    if (ready.empty()) break;
    const std::size_t t = ready[random.below(ready.size())];
    const MixedOperation& o = p.threads[t].code[at[t]];
    std::uint64_t& place = memory[o.location];
    if (o.reads()) p.read[t][at[t]] = place >> (8 * o.offset) & mask(o.bytes);
    if (o.writes()) place = (place & ~(mask(o.bytes) << (8 * o.offset))) | value_of(o) << (8 * o.offset);
    ++at[t];
  }
  p.end = memory[0];
}

/// Gives some bytes of `value`, at `offset` of `location`, as another write has them.
void disturb(const MixedProgram& p, unsigned location, unsigned offset, unsigned bytes, std::uint64_t& value,
             Random& random) {
  std::vector<const MixedOperation*> writes = {nullptr};
  for (const MixedThread& t : p.threads)
    for (const MixedOperation& o : t.code)
      if (o.writes() && o.location == location && o.offset < offset + bytes && offset < o.offset + o.bytes)
        writes.push_back(&o);
  const MixedOperation* const w = writes[random.below(writes.size())];
  const unsigned unit = 1U << random.below(4);
  const unsigned from = unit * static_cast<unsigned>(random.below(8 / unit));
  const bool all = random.below(2) == 0;
  for (unsigned n = 0; n < bytes; ++n) {
    const unsigned at = offset + n;
    if (w != nullptr && (at < w->offset || at >= w->offset + w->bytes)) continue;
    if (!all && (at < from || at >= from + unit)) continue;
    const std::uint64_t byte = w == nullptr ? 0 : w->left(at - w->offset);
    value = (value & ~(std::uint64_t{0xFF} << (8 * n))) | byte << (8 * n);
  }
}

MixedProgram random_program(Random& random, bool few) {
  MixedProgram p;
  const auto one_in = [&](unsigned n) { return random.below(n) == 0; };
  const unsigned threads = 2 + static_cast<unsigned>(random.below(2));
  const bool flag = one_in(3), all_strong = !few && one_in(3), narrow_scopes = one_in(4), halves = one_in(2);
  unsigned writes = 0;
  for (unsigned t = 0; t < threads; ++t) {
    MixedThread& thread = p.threads.emplace_back();
    thread.cta = static_cast<unsigned>(random.below(2));
    const auto count = 1 + random.below(threads == 2 ? 4 : 3);
    for (std::uint64_t n = 0; n < count; ++n) {
      MixedOperation o;
      const auto what = random.below(8);
      o.kind = what < 3 ? Kind::load : what < 6 ? Kind::store : what == 6 ? Kind::exchange : Kind::fence;
      if (o.writes() && writes == 6) o.kind = Kind::load;
      o.strong = all_strong || o.kind == Kind::exchange || o.kind == Kind::fence || one_in(few ? 4 : 2);
      o.wide_scope = !narrow_scopes || one_in(2);
      if (o.kind == Kind::fence) o.sequential = one_in(2);
      if (o.strong && o.reads()) o.acquires = one_in(3);
      if (o.strong && o.writes()) o.releases = one_in(3);
      if (o.kind == Kind::fence) o.acquires = o.releases = true;
      o.location = flag && one_in(3) ? 1 : 0;
      if (o.location == 0) {
        const unsigned least = o.kind == Kind::exchange ? 2 : 0;
        o.bytes = 1U << (least + random.below(4 - least));
        if (halves && o.kind != Kind::exchange) o.bytes = one_in(2) ? 2 : 4;
        if (few) o.bytes = o.kind != Kind::exchange && one_in(4) ? 1U << random.below(2) : 4;
        o.offset = o.bytes * static_cast<unsigned>(random.below((halves ? 4 : 8) / std::min(o.bytes, 4U)));
        if (o.offset + o.bytes > 8 || (few && !one_in(4))) o.offset = 0;
      }
      if (o.writes()) o.first = static_cast<std::uint8_t>(16 * ++writes);
      o.few = few;
      if (few) o.first = static_cast<std::uint8_t>(random.below(16));
      thread.code.push_back(o);
    }
  }
  run_in_order(p, random);
  for (unsigned t = 0; t < threads; ++t)
    for (unsigned n = 0; n < p.threads[t].code.size(); ++n) {
      const MixedOperation& o = p.threads[t].code[n];
      if (o.reads() && few && one_in(2)) p.read[t][n] = random.next() & 0x0101010101010101U & mask(o.bytes);
      if (o.reads() && one_in(2)) disturb(p, o.location, o.offset, o.bytes, p.read[t][n], random);
    }
  const bool is_wide = std::any_of(p.threads.begin(), p.threads.end(), [](const MixedThread& t) {
    return std::any_of(t.code.begin(), t.code.end(), [](const MixedOperation& o) {
      return o.kind != Kind::fence && o.location == 0 && o.offset + o.bytes > 4;
    });
  });
  if (!is_wide || one_in(2)) {
    p.end.reset();
  } else if (one_in(3)) {
    disturb(p, 0, 0, 8, *p.end, random);
  }
  return p;
}

}  // namespace

MixedProgram random_mixed_program(Random& random) {
  return random_program(random, false);
}

MixedProgram random_program_of_few_bytes(Random& random) {
  return random_program(random, true);
}

double sources_of(const MixedProgram& program) {
  return ByteChecker(program, nullptr).ways();
}

bool naively_allowed(const MixedProgram& program, const MixedMoments* moments) {
  return ByteChecker(program, moments).run();
}

bool mixes_sizes(const MixedProgram& program) {
  for (const MixedThread& t : program.threads)
    for (const MixedThread& u : program.threads)
      for (const MixedOperation& a : t.code)
        for (const MixedOperation& b : u.code)
          if (&t != &u && a.kind != Kind::fence && b.kind != Kind::fence && (a.writes() || b.writes()) &&
              a.location == b.location && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes &&
              (a.offset != b.offset || a.bytes != b.bytes))
            return true;
  return false;
}

std::string MixedProgram::text(bool computes) const {
  std::string condition;
  const auto add = [&](const std::string& part) { condition += (condition.empty() ? "" : " /\\ ") + part; };
  std::vector<std::vector<std::string>> columns;
  std::size_t rows = 0;
  for (std::size_t t = 0; t < threads.size(); ++t) {
    std::vector<std::string>& column = columns.emplace_back();
    for (std::size_t n = 0; n < threads[t].code.size(); ++n) {
      const MixedOperation& o = threads[t].code[n];
      const std::string scope = o.wide_scope ? ".gpu" : ".cta";
      const std::string order = o.acquires && o.releases ? ".acq_rel"
                                : o.acquires             ? ".acquire"
                                : o.releases             ? ".release"
                                                         : ".relaxed";
      const std::string place = fmt::format("{}+{}", o.location == 0 ? "x" : "f", o.offset);
      const std::string how = (o.strong ? order + scope : std::string(".weak"));
      switch (o.kind) {
        case Kind::load: column.push_back(fmt::format("ld{}.u{} r{}, {}", how, 8 * o.bytes, n, place)); break;
        case Kind::store:
          if (computes) {
            column.push_back(fmt::format("mov r{}, {:#x}", 100 + n, value_of(o) - 1));
            column.push_back(fmt::format("add r{0}, r{0}, 1", 100 + n));
            column.push_back(fmt::format("st{}.b{} {}, r{}", how, 8 * o.bytes, place, 100 + n));
          } else {
            column.push_back(fmt::format("st{}.b{} {}, {:#x}", how, 8 * o.bytes, place, value_of(o)));
          }
          break;
        case Kind::exchange:
          column.push_back(
              fmt::format("atom{}.exch.b{} r{}, {}, {:#x}", how, 8 * o.bytes, n, place, value_of(o)));
          break;
        case Kind::fence:
          column.push_back(std::string("fence") + (o.sequential ? ".sc" : ".acq_rel") + scope);
          break;
      }
      if (o.reads()) add(fmt::format("P{}:r{} == {:#x}", t, n, read[t][n]));
    }
    rows = std::max(rows, column.size());
  }
  if (end) add(fmt::format("x == {:#x}", *end));
  std::string out = "PTX mixed\n{\nx=0; f=0;\n}\n";
  for (std::size_t t = 0; t < threads.size(); ++t)
    out += fmt::format("{}P{}@cta {}, gpu 0", t == 0 ? " " : " | ", t, threads[t].cta);
  out += " ;\n";
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t t = 0; t < threads.size(); ++t)
      out += (t == 0 ? " " : " | ") + (row < columns[t].size() ? columns[t][row] : std::string());
    out += " ;\n";
  }
  return out + "exists (" + (condition.empty() ? "0 == 0" : condition) + ")\n";
}

}  // namespace warpline::litmus::test
