#include "tests/programs/random_wls.h"

#include <array>

namespace warpline::test {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr unsigned kFirst = 8;  ///< register
/// Local words that CCTLL.RS is tried on. A word of all lanes is one line.
constexpr unsigned kResetWord = RandomWls::kLocalWords;

struct Thread {
  unsigned number = 0;
  std::array<std::uint32_t, RandomWls::kRegisters> r{};
  std::array<std::uint32_t, RandomWls::kLocalWords> local{};
  std::uint32_t* global = nullptr;
};

struct Item {
  enum class Kind : std::uint8_t {
    add,
    multiply,
    logic,
    load_local,
    store_local,
    load_global,
    store_global,
    reset,
    harmless,
    call,
    recurse
  };
  Kind kind = Kind::add;
  unsigned d = 0, a = 0, b = 0;  ///< registers, from kFirst on
  std::uint32_t constant = 0;
  unsigned word = 0, function = 0, depth = 0;
  unsigned guard = 0;  ///< 0: none; else threads whose number has this bit
  std::string text;
};
using Body = std::vector<Item>;

std::string reg(unsigned n) {
  return "R" + std::to_string(kFirst + n);
}
std::string word(unsigned w) {
  return "[" + std::to_string(4 * w) + "]";
}
std::string slice(unsigned w) {
  return "[R4 + " + std::to_string(4 * w) + "]";
}

class Maker {
 public:
  explicit Maker(Random& random) : random_(random) {}

  RandomWls make() {
    out_.ctas = static_cast<unsigned>(1 + random_.below(4));
    out_.threads = static_cast<unsigned>(1 + random_.below(100));
    const unsigned functions = static_cast<unsigned>(1 + random_.below(5));
    // A function calls only those behind it.
    bodies_.resize(functions);
    for (unsigned f = functions; f-- != 0;) bodies_[f] = body(f);
    write_text();
    predict();
    return std::move(out_);
  }

 private:
  unsigned one_of(unsigned n) { return static_cast<unsigned>(random_.below(n)); }

  Body body(unsigned self) {
    Body b;
    for (unsigned n = 3 + one_of(12); n != 0; --n) b.push_back(item(self));
    return b;
  }

  Item item(unsigned self) {
    using K = Item::Kind;
    Item i;
    i.d = one_of(RandomWls::kRegisters);
    i.a = one_of(RandomWls::kRegisters);
    i.b = one_of(RandomWls::kRegisters);
    i.constant = static_cast<std::uint32_t>(random_.next());
    if (one_of(4) == 0) i.guard = 1 + one_of(5);
    const bool can_call = self + 1 < bodies_.size();
    constexpr K kKinds[] = {K::add,         K::multiply,    K::logic,       K::load_local,   K::load_local,
                            K::store_local, K::store_local, K::load_global, K::store_global, K::reset,
                            K::harmless,    K::harmless,    K::harmless,    K::call,         K::recurse};
    i.kind = kKinds[one_of(std::size(kKinds))];
    if (i.kind == K::call && !can_call) i.kind = K::add;
    // One deep recursion in a program is enough.
    if (i.kind == K::recurse && (recursed_ || self != 0)) i.kind = K::multiply;
    i.word = one_of(i.kind == K::load_global || i.kind == K::store_global ? RandomWls::kGlobalWords
                                                                          : RandomWls::kLocalWords);
    if (i.kind == K::call) i.function = self + 1 + one_of(static_cast<unsigned>(bodies_.size()) - self - 1);
    if (i.kind == K::recurse) {
      recursed_ = true;
      i.depth = one_of(3) == 0 ? 1001 + one_of(600) : 1 + one_of(60);
    }
    i.text = text_of(i);
    return i;
  }

  std::string schedule() { return one_of(5) == 0 ? " ?WAIT" + std::to_string(1 + one_of(15)) : ""; }

  /// A load, its scoreboard, something that needs neither, and the requirement; or without any of it.
  std::string load(const std::string& g, const std::string& opcode, unsigned d, const std::string& address) {
    std::string t = g + opcode + " " + reg(d) + ", " + address;
    if (one_of(2) == 0) return t + schedule() + ";";
    const unsigned s = one_of(6);
    t += " &wr=" + std::to_string(s) + ";";
    if (one_of(2) == 0) t += " IADD R20, R20, 1;";
    return t + " NOP &req=" + std::to_string(1U << s) + schedule() + ";";
  }

  std::string store(const std::string& g, const std::string& opcode, const std::string& address,
                    const std::string& value) {
    std::string t = g + opcode + " " + address + ", " + value;
    if (one_of(3) == 0) t += " &rd=" + std::to_string(one_of(6));
    return t + schedule() + ";";
  }

  std::string harmless() {
    switch (one_of(12)) {
      case 0: return "CCTLL.IVALL";
      case 1: return "CCTLL.CRS.WBALL";
      case 2: return "CCTL.D.IVALL";
      case 3: return std::string(one_of(2) != 0 ? "CCTLL.WB " : "CCTLL.IV ") + word(one_of(kResetWord));
      case 4: return std::string(one_of(2) != 0 ? "CCTLL.PF1 " : "CCTLL.PF2 ") + word(one_of(40));
      case 5: return std::string(one_of(2) != 0 ? "CCTL.E.WB " : "CCTL.E.D.IV ") + slice(one_of(4));
      case 6: return std::string(one_of(2) != 0 ? "CCTL.E.PF1 " : "CCTL.E.U.PF2 ") + slice(one_of(64));
      case 7: return "CCTL.U.IVALL";
      case 8: return "CCTL.C.IVALL";
      case 9: return "CCTL.I.IVALL";
      case 10: return "CCTLL.IV " + word(one_of(kResetWord));
      default: return "CCTL.RS [0x40]";  // no such address: dropped
    }
  }

  std::string text_of(const Item& i) {
    using K = Item::Kind;
    // P1 to P5: bits 0 to 4 of the thread's number.
    const std::string g = i.guard == 0 ? "" : "@P" + std::to_string(i.guard) + " ";
    const std::string k = std::to_string(i.constant);
    switch (i.kind) {
      case K::add: return g + "IADD " + reg(i.d) + ", " + reg(i.a) + ", " + k + schedule() + ";";
      case K::multiply: return g + "IMAD " + reg(i.d) + ", " + reg(i.a) + ", " + k + ", " + reg(i.b) + ";";
      case K::logic: return g + "LOP.XOR " + reg(i.d) + ", " + reg(i.a) + ", " + reg(i.b) + schedule() + ";";
      case K::load_local: return load(g, "LDL", i.d, word(i.word));
      case K::store_local: return store(g, "STL", word(i.word), reg(i.a));
      case K::load_global: return load(g, one_of(2) != 0 ? "LD.E" : "LDG.E.CG", i.d, slice(i.word));
      case K::store_global: return store(g, one_of(2) != 0 ? "ST.E" : "STG.E.WT", slice(i.word), reg(i.a));
      case K::reset: {
        const std::string w = word(kResetWord + one_of(2));
        // Kept: written back before. Lost: whatever it was, it is written anew before it is read.
        if (one_of(2) == 0)
          return g + "STL " + w + ", " + reg(i.a) + "; " + g + "CCTLL.WB " + w + "; " + g + "CCTLL.RS " + w +
                 "; " + load(g, "LDL", i.d, w);
        return g + "STL " + w + ", " + reg(i.b) + "; " + g + "CCTLL.RS " + w + "; " + g + "STL " + w + ", " +
               reg(i.a) + "; " + load(g, "LDL", i.d, w);
      }
      case K::harmless: return g + harmless() + (one_of(3) == 0 ? " &req=0x3f" : "") + ";";
      case K::call: return g + "CAL f" + std::to_string(i.function) + ";";
      case K::recurse: return "MOV R21, " + std::to_string(i.depth) + "; " + g + "CAL deep;";
    }
    return {};
  }

  void write_text() {
    const unsigned all = out_.ctas * out_.threads;
    const auto bytes = [](std::size_t words) { return std::to_string(4 * words); };
    std::string& t = out_.text;
    t = ".grid " + std::to_string(out_.ctas) + "\n.block " + std::to_string(out_.threads) + "\n.local " +
        bytes(kResetWord + 2) + "\n.global data " + bytes(std::size_t{all} * RandomWls::kGlobalWords) +
        "\n.global out " + bytes(std::size_t{all} * RandomWls::kOutWords) + "\n";
    t += "S2R R0, SR_CTAID.X; S2R R1, SR_NTID.X; S2R R2, SR_TID.X; IMAD R0, R0, R1, R2;\n";
    t += "MOV R4, data.lo; MOV R5, data.hi; IMAD.WIDE R4, R0, " + bytes(RandomWls::kGlobalWords) + ", R4;\n";
    t += "MOV R6, out.lo; MOV R7, out.hi; IMAD.WIDE R6, R0, " + bytes(RandomWls::kOutWords) + ", R6;\n";
    for (unsigned p = 0; p < 5; ++p)
      t += "LOP.AND R2, R0, " + std::to_string(1U << p) + "; ISETP.NE P" + std::to_string(p + 1) +
           ", R2, 0;\n";
    for (unsigned r = 0; r < RandomWls::kRegisters; ++r)
      t += "IADD " + reg(r) + ", R0, " + std::to_string(r) + ";\n";
    for (unsigned w = 0; w < RandomWls::kLocalWords; ++w) t += "STL " + word(w) + ", R0;\n";
    t += "CAL f0;\n";
    for (unsigned r = 0; r < RandomWls::kRegisters; ++r)
      t += "ST.E [R6 + " + bytes(r) + "], " + reg(r) + ";\n";
    for (unsigned w = 0; w < RandomWls::kLocalWords; ++w)
      t += "LDL R8, " + word(w) + "; ST.E [R6 + " + bytes(RandomWls::kRegisters + w) + "], R8;\n";
    t += "EXIT;\n";
    for (unsigned f = 0; f < bodies_.size(); ++f) {
      t += "f" + std::to_string(f) + ":\n";
      for (const Item& i : bodies_[f]) t += "  " + i.text + "\n";
      t += "  RET;\n";
    }
    t += "deep:\n  IADD R21, R21, -1; ISETP.EQ P0, R21, 0; @P0 RET; CAL deep; IADD R8, R8, 3; RET;\n";
  }

  void run(const Body& body, Thread& t) {
    using K = Item::Kind;
    for (const Item& i : body) {
      if (i.guard != 0 && (t.number >> (i.guard - 1) & 1U) == 0) continue;
      switch (i.kind) {
        case K::add: t.r[i.d] = t.r[i.a] + i.constant; break;
        case K::multiply: t.r[i.d] = t.r[i.a] * i.constant + t.r[i.b]; break;
        case K::logic: t.r[i.d] = t.r[i.a] ^ t.r[i.b]; break;
        case K::load_local: t.r[i.d] = t.local[i.word]; break;
        case K::store_local: t.local[i.word] = t.r[i.a]; break;
        case K::load_global: t.r[i.d] = t.global[i.word]; break;
        case K::store_global: t.global[i.word] = t.r[i.a]; break;
        case K::reset: t.r[i.d] = t.r[i.a]; break;
        case K::harmless: break;
        case K::call: run(bodies_[i.function], t); break;
        case K::recurse: t.r[0] += 3 * (i.depth - 1); break;
      }
    }
  }

  void predict() {
    const unsigned all = out_.ctas * out_.threads;
    out_.data.assign(std::size_t{all} * RandomWls::kGlobalWords, 0);
    for (unsigned n = 0; n < all; ++n) {
      Thread t;
      t.number = n;
      t.global = &out_.data[std::size_t{n} * RandomWls::kGlobalWords];
      for (unsigned r = 0; r < RandomWls::kRegisters; ++r) t.r[r] = n + r;
      t.local.fill(n);
      run(bodies_[0], t);
      out_.out.insert(out_.out.end(), t.r.begin(), t.r.end());
      out_.out.insert(out_.out.end(), t.local.begin(), t.local.end());
    }
  }

  Random& random_;
  RandomWls out_;
  std::vector<Body> bodies_;
  bool recursed_ = false;
};

}  // namespace

RandomWls random_wls(Random& random) {
  return Maker(random).make();
}

}  // namespace warpline::test
