#include <algorithm>
#include <cstring>

#include "tests/programs/program.h"

namespace warpline::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

class Interpreter {
 public:
  Interpreter(const Program& program, const Grid& grid, Contents& contents)
      : program_(program), grid_(grid), contents_(contents), threads_(grid.ctas * grid.threads) {
    values_.resize(std::size_t{threads_} * kRegisters);
    for (unsigned t = 0; t < threads_; ++t)
      for (unsigned r = 0; r < kRegisters; ++r) reg(t, r) = first_value(t, r);
    private_[0].resize(std::size_t{threads_} * kSlice);
    private_[1].resize(std::size_t{threads_} * kSlice);
    shared_counters_.resize(std::size_t{grid.ctas} * kCounters);
  }

  void run() {
    for (const Statement& s : grid_.statements) {
      if (s.kind == Statement::Kind::shuffle || s.kind == Statement::Kind::swap) {
        exchange(s);
      } else {
        for (unsigned t = 0; t < threads_; ++t) one(s, t);
      }
    }
    contents_.registers.insert(contents_.registers.end(), values_.begin(), values_.end());
    contents_.shared_counters.insert(contents_.shared_counters.end(), shared_counters_.begin(),
                                     shared_counters_.end());
  }

 private:
  using Kind = Statement::Kind;
  std::uint64_t& reg(unsigned t, unsigned r) { return values_[std::size_t{t} * kRegisters + r % kRegisters]; }
  unsigned lane(unsigned t) const { return t % grid_.threads % 32; }
  unsigned owner(unsigned t) const { return (t + grid_.shift) % threads_; }

  /// Lanes or threads hand a register around.
  void exchange(const Statement& s) {
    std::vector<std::uint64_t> next;
    for (unsigned t = 0; t < threads_; ++t) {
      const unsigned cta = t / grid_.threads * grid_.threads;
      if (s.kind == Kind::swap) {
        next.push_back(reg(cta + (t - cta + s.number) % grid_.threads, s.from));
        continue;
      }
      const unsigned l = lane(t), n = s.number;
      const unsigned source = s.text == "idx" ? n : s.text == "bfly" ? l ^ n : s.text == "up" ? l - n : l + n;
      next.push_back(static_cast<std::uint32_t>(reg(source < 32 ? t - l + source : t, s.from)));
    }
    for (unsigned t = 0; t < threads_; ++t) {
      if (s.area != Area::shared && s.kind == Kind::swap)
        std::memcpy(&contents_.slices[static_cast<unsigned>(s.area)][std::size_t{owner(t)} * kSlice],
                    &reg(t, s.from), 8);
    }
    for (unsigned t = 0; t < threads_; ++t) reg(t, s.to) = next[t];
  }

  bool bit(const Statement& s, unsigned t) { return (reg(t, s.from) >> s.guard & 1U) != 0; }

  void load(const Statement& s, unsigned t, const std::uint8_t* from) {
    for (unsigned e = 0; e < s.elements; ++e) {
      std::uint64_t v = 0;
      std::memcpy(&v, from + e * s.bytes, s.bytes);
      const std::uint64_t sign = std::uint64_t{1} << (8 * s.bytes - 1);
      reg(t, s.to + e) = s.with_sign && s.bytes < 8 ? (v ^ sign) - sign : v;
    }
  }

  std::uint8_t* slice(Area area, unsigned t) {
    const auto i = static_cast<unsigned>(area);
    return i < kGlobalAreas ? &contents_.slices[i][std::size_t{owner(t)} * kSlice]
                            : &private_[i - kGlobalAreas][std::size_t{t} * kSlice];
  }

  void access(const Statement& s, unsigned t) {
    if (s.guarded && !bit(s, t)) return;
    const auto offset = s.moving ? reg(t, s.by) & (kSlice - s.bytes * s.elements) : s.number;
    std::uint8_t* at = slice(lane(t) % 2 == 1 ? s.odd_area : s.area, t) + offset;
    if (s.kind == Kind::load) {
      load(s, t, at);
    } else {
      for (unsigned e = 0; e < s.elements; ++e) std::memcpy(at + e * s.bytes, &reg(t, s.from + e), s.bytes);
    }
  }

  template <class T, class Signed>
  static T after(const Statement& s, T old, T v) {
    if (s.op == "add") return static_cast<T>(old + v);
    if (s.op == "min")
      return s.with_sign ? static_cast<T>(std::min(static_cast<Signed>(old), static_cast<Signed>(v)))
                         : std::min(old, v);
    if (s.op == "max")
      return s.with_sign ? static_cast<T>(std::max(static_cast<Signed>(old), static_cast<Signed>(v)))
                         : std::max(old, v);
    if (s.op == "and") return old & v;
    if (s.op == "or") return old | v;
    if (s.op == "xor") return old ^ v;
    if (s.op == "inc") return old >= v ? 0 : old + 1;
    if (s.op == "dec") return old == 0 || old > v ? v : old - 1;
    if (s.op == "exch") return v;
    return s.guard % 2 == 1 ? old : v;  // a compare-and-swap with what is there, or with one more
  }

  template <class T, class Signed>
  void update_own(const Statement& s, unsigned t) {
    if (s.guarded && !bit(s, t)) return;
    T old;
    std::uint8_t* at = slice(s.area, t) + (s.moving ? reg(t, s.by) & (kSlice - s.bytes) : s.number);
    std::memcpy(&old, at, sizeof old);
    const T now = after<T, Signed>(s, old, static_cast<T>(reg(t, s.from)));
    std::memcpy(at, &now, sizeof now);
    if (!s.discards) reg(t, s.to) = old;
  }

  void table(const Statement& s, unsigned t) {
    const bool parameter = s.text == "ld.param", constant = s.text == "ld.const";
    if (!parameter && s.guarded && !bit(s, t)) return;
    const Bytes& bytes = parameter || constant ? contents_.constants : contents_.table;
    load(s, t, &bytes[s.moving ? reg(t, s.by) & (bytes.size() - s.bytes * s.elements) : s.number]);
  }

  template <class T>
  static T combined(const std::string& operation, T old, T v) {
    if (operation == "min") return std::min(old, v);
    if (operation == "max") return std::max(old, v);
    return static_cast<T>(old + v);
  }
  template <class T>
  static void update(std::uint64_t& cell, const std::string& operation, std::uint64_t operand) {
    T old, v;
    std::memcpy(&old, &cell, sizeof old);
    std::memcpy(&v, &operand, sizeof v);
    const T now = combined(operation, old, v);
    std::memcpy(&cell, &now, sizeof now);
  }
  template <class T>
  static void update_float(std::uint64_t& cell, std::uint64_t operand) {
    T old;
    std::memcpy(&old, &cell, sizeof old);
    old += static_cast<T>(operand & 15U);
    std::memcpy(&cell, &old, sizeof old);
  }

  void atomic(const Statement& s, unsigned t) {
    if (s.guarded && !bit(s, t)) return;
    const Counter& c = program_.counters[s.number];
    std::uint64_t& cell = s.by < 2 ? contents_.counters[s.by][s.number]
                                   : shared_counters_[std::size_t{t / grid_.threads} * kCounters + s.number];
    const std::uint64_t operand = reg(t, s.from);
    const std::uint64_t mask = c.type.substr(1) == "64" ? ~std::uint64_t{0} : 0xFFFFFFFFU;
    const auto low = static_cast<std::uint32_t>(cell);
    if (c.operation == "and") {
      cell &= operand | ~mask;
    } else if (c.operation == "or") {
      cell |= operand & mask;
    } else if (c.operation == "xor") {
      cell ^= operand & mask;
    } else if (c.operation == "inc") {
      cell = low >= 13 ? 0 : low + 1;
    } else if (c.operation == "dec") {
      cell = low == 0 || low > 13 ? 13 : low - 1;
    } else if (c.type == "f32") {
      update_float<float>(cell, operand);
    } else if (c.type == "f64") {
      update_float<double>(cell, operand);
    } else if (c.type == "s32") {
      // Sums wrap: added as unsigned.
      c.operation == "add" ? update<std::uint32_t>(cell, "add", operand)
                           : update<std::int32_t>(cell, c.operation, operand);
    } else if (c.type == "s64") {
      update<std::int64_t>(cell, c.operation, operand);
    } else if (mask == 0xFFFFFFFFU) {
      update<std::uint32_t>(cell, c.operation, operand);
    } else {
      update<std::uint64_t>(cell, c.operation, operand);
    }
  }

  void all(const std::vector<Statement>& list, unsigned t) {
    for (const Statement& s : list) one(s, t);
  }

  void one(const Statement& s, unsigned t) {
    switch (s.kind) {
      case Kind::alu: reg(t, s.to) = alu(s, reg(t, s.from), reg(t, s.by)); break;
      case Kind::load:
      case Kind::store: access(s, t); break;
      case Kind::atomic: atomic(s, t); break;
      case Kind::own_atomic:
        s.bytes == 8 ? update_own<std::uint64_t, std::int64_t>(s, t)
                     : update_own<std::uint32_t, std::int32_t>(s, t);
        break;
      case Kind::branch:
        all((s.guard >= 32 ? lane(t) < 4 * (s.guard - 31) : bit(s, t)) ? s.body : s.otherwise, t);
        break;
      case Kind::loop:
        for (std::uint64_t trips = (reg(t, s.from) & s.number) + 1; trips != 0; --trips) all(s.body, t);
        break;
      case Kind::table: table(s, t); break;
      case Kind::fence:
      case Kind::hint:
      case Kind::shuffle:
      case Kind::swap: break;
    }
  }

  static std::uint64_t alu(const Statement& s, std::uint64_t a, std::uint64_t b) {
    if (s.text == "add.s64") return a + b;
    if (s.text == "sub.s64") return a - b;
    if (s.text == "mul.lo.s64") return a * b;
    if (s.text == "xor.b64") return a ^ b;
    if (s.text == "and.b64") return a & b;
    if (s.text == "or.b64") return a | b;
    if (s.text == "min.u64") return std::min(a, b);
    return a >> s.number;
  }

  const Program& program_;
  const Grid& grid_;
  Contents& contents_;
  unsigned threads_;
  std::vector<std::uint64_t> values_, shared_counters_;
  Bytes private_[2];  ///< shared, local
};

}  // namespace

void interpret(const Program& program, Contents& contents) {
  for (const Grid& grid : program.grids) Interpreter(program, grid, contents).run();
}

}  // namespace warpline::test
