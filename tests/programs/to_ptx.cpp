#include <string>

#include "tests/programs/hints.h"
#include "tests/programs/program.h"

namespace warpline::test {
namespace {

std::string data(unsigned n) {
  return "%d" + std::to_string(n % kRegisters);
}
bool woven(Area a) {
  return a == Area::vidmem_woven || a == Area::sysmem_woven;
}

class Writer {
 public:
  Writer(const Program& program, const Grid& grid, unsigned index)
      : program_(program), grid_(grid), index_(index), owners_(program.threads_in_all()) {}

  std::string entry() {
    prologue();
    statements(grid_.statements);
    epilogue();
    std::string head = ".visible .entry g" + std::to_string(index_) + "(";
    for (unsigned i = 0; i < 10; ++i) head += ".param .u64 p" + std::to_string(i) + ", ";
    head += ".param .align 16 .b8 blob[" + std::to_string(kSlice) + "])\n{\n";
    head +=
        ".reg .pred %p, %q;\n.reg .b16 %h;\n.reg .b32 %r<8>, %u, %v, %mask;\n.reg .f32 %f;\n.reg .f64 %e;\n";
    head += ".reg .b64 %d<" + std::to_string(kRegisters) +
            ">, %pol<6>, %a, %o, %t, %w, %x, %y, %b<6>, %s<6>, %cv, %cs, %ch, %chg, %table, %ct, %out;\n";
    head += ".reg .b64 %n<" + std::to_string(labels_ + 1) + ">;\n";
    head += ".shared .align 16 .b8 sm[" + std::to_string(shared_bytes()) + "];\n";
    // Of another size in every grid, so that local memory is laid out anew.
    head += ".local .align 16 .b8 depot[" + std::to_string(kSlice * (1 + index_ % 3)) + "];\n";
    return head + text_ + "}\n";
  }

 private:
  using Kind = Statement::Kind;
  void line(const std::string& s) { text_ += "\t" + s + ";\n"; }
  void label(const std::string& s) { text_ += s + ":\n"; }
  unsigned slots_at() const { return grid_.threads * kSlice; }
  unsigned counters_at() const { return (slots_at() + grid_.threads * 8 + 15) / 16 * 16; }
  unsigned shared_bytes() const { return counters_at() + kCounters * 8; }

  void prologue() {
    line("mov.u32 %r0, %tid.x");
    line("mov.u32 %r1, %ctaid.x");
    line("mad.lo.u32 %r2, %r1, " + std::to_string(grid_.threads) + ", %r0");
    line("and.b32 %r3, %r0, 31");
    line("add.u32 %r4, %r2, " + std::to_string(grid_.shift));
    line("rem.u32 %r4, %r4, " + std::to_string(owners_));
    for (unsigned area = 0; area < kGlobalAreas; ++area) {
      const std::string b = "%b" + std::to_string(area);
      line("ld.param.u64 " + b + ", [p" + std::to_string(area) + "]");
      line("mul.wide.u32 %t, %r4, " + std::to_string(woven(static_cast<Area>(area)) ? 16 : kSlice));
      line("add.u64 " + b + ", " + b + ", %t");
      line("mov.u64 %s" + std::to_string(area) + ", " + b);
    }
    text_ += policy_prologue();
    line("ld.param.u64 %cv, [p4]");
    line("ld.param.u64 %cs, [p5]");
    line("ld.param.u64 %table, [p6]");
    line("mov.u64 %b4, sm");
    line("add.u64 %ch, %b4, " + std::to_string(counters_at()));
    line("cvta.shared.u64 %chg, %ch");
    line("add.u64 %x, %b4, " + std::to_string(slots_at()));
    line("mul.wide.u32 %t, %r0, " + std::to_string(kSlice));
    line("add.u64 %b4, %b4, %t");
    line("cvta.shared.u64 %s4, %b4");
    line("mov.u64 %b5, depot");
    line("cvta.local.u64 %s5, %b5");
    line("mov.u64 %ct, ctable");
    line("mov.u64 %t, 0");
    for (unsigned i = 0; i < kSlice; i += 8) {
      line("st.shared.u64 [%b4+" + std::to_string(i) + "], %t");
      line("st.local.u64 [%b5+" + std::to_string(i) + "], %t");
    }
    line("setp.ne.u32 %p, %r0, 0");
    for (unsigned i = 0; i < kCounters; ++i)
      line("@!%p st.shared.u64 [%ch+" + std::to_string(i * 8) + "], %t");
    // The lanes that the last warp has.
    line("mov.u32 %mask, -1");
    if (const unsigned rest = grid_.threads % 32; rest != 0) {
      line("setp.ge.u32 %p, %r0, " + std::to_string(grid_.threads / 32 * 32));
      line("@%p mov.u32 %mask, " + std::to_string((1U << rest) - 1));
    }
    line("cvt.u64.u32 %t, %r2");
    line("add.u64 %t, %t, 1");
    for (unsigned i = 0; i < kRegisters; ++i)
      line("mul.lo.u64 " + data(i) + ", %t, " + std::to_string(0x9E3779B97F4A7C15ULL + 2 * i));
    line("bar.sync 0");
  }

  void epilogue() {
    line("ld.param.u64 %out, [p7]");
    line("mul.wide.u32 %t, %r2, " + std::to_string(8 * kRegisters));
    line("add.u64 %out, %out, %t");
    for (unsigned i = 0; i < kRegisters; ++i)
      line("st.global.u64 [%out+" + std::to_string(std::uint64_t{index_} * owners_ * kRegisters * 8 + 8 * i) +
           "], " + data(i));
    line("bar.sync 0");
    line("setp.ne.u32 %p, %r0, 0");
    line("@%p bra DONE");
    line("ld.param.u64 %out, [p8]");
    line("mul.wide.u32 %t, %r1, " + std::to_string(kCounters * 8));
    line("add.u64 %out, %out, %t");
    for (unsigned i = 0; i < kCounters; ++i) {
      line("ld.shared.u64 %t, [%ch+" + std::to_string(8 * i) + "]");
      line("st.global.u64 [%out+" +
           std::to_string(std::uint64_t{index_} * grid_.ctas * kCounters * 8 + 8 * i) + "], %t");
    }
    label("DONE");
    line("ret");
  }

  void statements(const std::vector<Statement>& list) {
    for (const Statement& s : list) statement(s);
  }

  /// Sets %q to a bit of a register; returns the guard to write before an instruction.
  std::string guard(const Statement& s) {
    if (!s.guarded) return "";
    line("shr.u64 %t, " + data(s.from) + ", " + std::to_string(s.guard));
    line("and.b64 %t, %t, 1");
    line("setp.ne.u64 %q, %t, 0");
    return "@%q ";
  }

  /// Puts the address of an access into `to`.
  void address(const Statement& s, Area area, const std::string& to) {
    const auto index = static_cast<unsigned>(area);
    const std::string base = (s.generic ? "%s" : "%b") + std::to_string(index);
    if (!s.moving) {
      line("add.u64 " + to + ", " + base + ", " + std::to_string(place(area, 0, s.number, owners_)));
      return;
    }
    line("and.b64 %o, " + data(s.by) + ", " + std::to_string(kSlice - s.bytes * s.elements));
    if (woven(area)) {
      line("shr.u64 %t, %o, 4");
      line("and.b64 %o, %o, 15");
      line("mad.lo.u64 %o, %t, " + std::to_string(16 * owners_) + ", %o");
    }
    line("add.u64 " + to + ", " + base + ", %o");
  }

  static std::string type(const Statement& s) {
    return std::string(s.elements == 1 ? "" : ".v" + std::to_string(s.elements)) +
           (s.with_sign ? ".s" : ".u") + std::to_string(8 * s.bytes);
  }
  static std::string vector(unsigned first, unsigned elements) {
    if (elements == 1) return data(first);
    std::string out = "{";
    for (unsigned i = 0; i < elements; ++i) out += (i == 0 ? "" : ", ") + data(first + i);
    return out + "}";
  }
  static std::string space(Area a) {
    return a == Area::local ? ".local" : a == Area::shared ? ".shared" : ".global";
  }

  void access(const Statement& s) {
    address(s, s.area, "%a");
    if (s.odd_area != s.area) {
      line("mov.u64 %x, %a");
      address(s, s.odd_area, "%y");
      line("and.b32 %u, %r3, 1");
      line("setp.eq.u32 %p, %u, 0");
      line("selp.b64 %a, %x, %y, %p");
    }
    const std::string g = guard(s);
    const bool order = s.text.rfind(".re", 0) == 0 || s.text.rfind(".ac", 0) == 0 || s.text == ".volatile";
    const std::string where = s.generic ? "" : space(s.area);
    const std::string what = (order ? s.text + where : where + s.text) + s.hints + type(s);
    if (s.kind == Kind::load) {
      line(g + "ld" + what + " " + vector(s.to, s.elements) + ", [%a]" + policy(s));
    } else {
      line(g + "st" + what + " [%a], " + vector(s.from, s.elements) + policy(s));
    }
  }

  static std::string policy(const Statement& s) { return s.policy.empty() ? "" : ", " + s.policy; }

  void hint(const Statement& s) {
    address(s, s.area, "%a");
    const std::string g = guard(s);
    const bool priority = s.text.rfind("apply", 0) == 0;
    if (priority) line("and.b64 %a, %a, -128");
    line(g + s.text + " [%a]" + (priority ? ", 128" : ""));
  }

  void own_atomic(const Statement& s) {
    address(s, s.area, "%a");
    const std::string g = guard(s);
    const bool bits = s.op.size() != 3 || s.op == "and" || s.op == "xor" || s.op == "cas";
    const std::string where = s.generic ? "" : space(s.area);
    const std::string size = std::to_string(8 * s.bytes);
    const std::string type = "." + s.op + s.hints +
                             (s.op == "or" || bits ? ".b"
                              : s.with_sign        ? ".s"
                                                   : ".u") +
                             size;
    const bool wide = s.bytes == 8;
    const std::string old = wide ? "%y" : "%v", value = wide ? data(s.from) : "%u";
    line("cvt.u32.u64 %u, " + data(s.from));
    std::string operands = value;
    if (s.op == "cas") {
      const std::string was = wide ? "%w" : "%r6";
      line("ld" + where + ".u" + size + " " + was + ", [%a]");
      if (s.guard % 2 == 1) line("add.u" + size + " " + was + ", " + was + ", 1");
      operands = was + ", " + value;
    }
    if (s.discards) {
      line(g + "red" + s.text + where + type + " [%a], " + operands + policy(s));
      return;
    }
    line(g + "atom" + s.text + where + type + " " + old + ", [%a], " + operands + policy(s));
    line(g + (wide ? "mov.u64 " : "cvt.u64.u32 ") + data(s.to) + ", " + old);
  }

  void atomic(const Statement& s) {
    const Counter& c = program_.counters[s.number];
    const std::string base = s.by == 0 ? "%cv" : s.by == 1 ? "%cs" : s.generic ? "%chg" : "%ch";
    const std::string where = s.generic ? "" : s.by == 2 ? ".shared" : ".global";
    const std::string at = "[" + base + "+" + std::to_string(8 * s.number) + "]";
    const bool wide = c.type.substr(1) == "64";
    const std::string n = std::to_string(labels_++);
    guard(s);
    if (s.guarded) line("@!%q bra SKIP" + n);
    line("cvt.u32.u64 %u, " + data(s.from));
    std::string operand = wide ? data(s.from) : "%u";
    if (c.operation == "inc" || c.operation == "dec") operand = "13";
    if (c.type[0] == 'f') {
      line("and.b32 %u, %u, 15");
      line("cvt.rn." + c.type + ".u32 " + (wide ? "%e" : "%f") + ", %u");
      operand = wide ? "%e" : "%f";
    }
    if (c.operation == "casloop") {
      const std::string size = wide ? "64" : "32";
      const std::string was = wide ? "%t" : "%v";
      const std::string now = wide ? "%w" : "%r6";
      const std::string got = wide ? "%y" : "%r7";
      line("ld.relaxed" + std::string(s.by == 2 ? ".cta" : ".gpu") + where + ".u" + size + " " + was + ", " +
           at);
      label("CAS" + n);
      line("add.u" + size + " " + now + ", " + was + ", " + operand);
      line("atom" + s.text + where + ".cas.b" + size + " " + got + ", " + at + ", " + was + ", " + now);
      line("setp.ne.u" + size + " %p, " + got + ", " + was);
      line("mov.u" + size + " " + was + ", " + got);
      line("@%p bra CAS" + n);
    } else {
      const std::string tail = where + "." + c.operation + s.hints + "." + c.type + " ";
      const bool acquires = s.text.rfind(".ac", 0) == 0;
      if (s.with_sign && !acquires) {
        line("red" + s.text + tail + at + ", " + operand + policy(s));
      } else {
        const std::string old = c.type == "f32" ? "%f" : c.type == "f64" ? "%e" : wide ? "%t" : "%v";
        line("atom" + s.text + tail + old + ", " + at + ", " + operand + policy(s));
      }
    }
    if (s.guarded) label("SKIP" + n);
  }

  void branch(const Statement& s) {
    const std::string n = std::to_string(labels_++);
    if (s.guard >= 32) {
      line("setp.ge.u32 %p, %r3, " + std::to_string(4 * (s.guard - 31)));
    } else {
      line("shr.u64 %t, " + data(s.from) + ", " + std::to_string(s.guard));
      line("and.b64 %t, %t, 1");
      line("setp.eq.u64 %p, %t, 0");
    }
    line("@%p bra ELSE" + n);
    statements(s.body);
    if (!s.otherwise.empty()) line("bra JOIN" + n);
    label("ELSE" + n);
    statements(s.otherwise);
    if (!s.otherwise.empty()) label("JOIN" + n);
  }

  void loop(const Statement& s) {
    const std::string n = std::to_string(labels_++);
    line("and.b64 %n" + n + ", " + data(s.from) + ", " + std::to_string(s.number));
    label("LOOP" + n);
    statements(s.body);
    line("sub.s64 %n" + n + ", %n" + n + ", 1");
    line("setp.ge.s64 %p, %n" + n + ", 0");
    line("@%p bra LOOP" + n);
  }

  void shuffle(const Statement& s) {
    line("cvt.u32.u64 %u, " + data(s.from));
    line("shfl.sync." + s.text + ".b32 %v, %u, " + std::to_string(s.number) + ", " +
         (s.text == "up" ? "0" : "31") + ", %mask");
    line("cvt.u64.u32 " + data(s.to) + ", %v");
  }

  void swap(const Statement& s) {
    line("add.u32 %u, %r0, " + std::to_string(s.number));
    line("rem.u32 %u, %u, " + std::to_string(grid_.threads));
    std::string load;
    if (s.area == Area::shared) {
      line("mul.wide.u32 %t, %r0, 8");
      line("mov.u64 %x, sm");
      line("add.u64 %a, %x, %t");
      line("mul.wide.u32 %t, %u, 8");
      line("add.u64 %y, %x, %t");
      line("st.shared.u64 [%a+" + std::to_string(slots_at()) + "], " + data(s.from));
      load = "ld.shared.u64 " + data(s.to) + ", [%y+" + std::to_string(slots_at()) + "]";
    } else {
      line("mad.lo.u32 %u, %r1, " + std::to_string(grid_.threads) + ", %u");
      line("add.u32 %u, %u, " + std::to_string(grid_.shift));
      line("rem.u32 %u, %u, " + std::to_string(owners_));
      line("mul.wide.u32 %t, %u, " + std::to_string(kSlice));
      line("ld.param.u64 %y, [p" + std::to_string(static_cast<unsigned>(s.area)) + "]");
      line("add.u64 %y, %y, %t");
      line("st.global.u64 [%b" + std::to_string(static_cast<unsigned>(s.area)) + "], " + data(s.from));
      const bool order = s.text.rfind(".re", 0) == 0 || s.text == ".volatile";
      load = "ld" + (order ? s.text + ".global" : ".global" + s.text) + ".u64 " + data(s.to) + ", [%y]";
    }
    line("bar.sync 0");
    line(load);
    line("bar.sync 0");
  }

  void table(const Statement& s) {
    const unsigned size = s.bytes * s.elements;
    if (s.text == "ld.param") {
      line(s.text + type(s) + " " + vector(s.to, s.elements) + ", [blob+" + std::to_string(s.number) + "]");
      return;
    }
    const bool constant = s.text == "ld.const";
    if (s.moving) {
      line("and.b64 %o, " + data(s.by) + ", " + std::to_string((constant ? kTable / 4 : kTable) - size));
    } else {
      line("mov.u64 %o, " + std::to_string(s.number));
    }
    line("add.u64 %a, " + std::string(constant ? "%ct" : "%table") + ", %o");
    const std::string g = guard(s);
    line(g + s.text + s.hints + type(s) + " " + vector(s.to, s.elements) + ", [%a]" + policy(s));
  }

  void statement(const Statement& s) {
    switch (s.kind) {
      case Kind::alu:
        line(s.text + " " + data(s.to) + ", " + data(s.from) + ", " +
             (s.text == "shr.u64" ? std::to_string(s.number) : data(s.by)));
        break;
      case Kind::load:
      case Kind::store: access(s); break;
      case Kind::atomic: atomic(s); break;
      case Kind::own_atomic: own_atomic(s); break;
      case Kind::branch: branch(s); break;
      case Kind::loop: loop(s); break;
      case Kind::shuffle: shuffle(s); break;
      case Kind::fence: line(s.text); break;
      case Kind::swap: swap(s); break;
      case Kind::table: table(s); break;
      case Kind::hint: hint(s); break;
    }
  }

  const Program& program_;
  const Grid& grid_;
  unsigned index_, owners_;
  unsigned labels_ = 0;
  std::string text_;
};

}  // namespace

std::string to_ptx(const Program& program, const Contents& contents) {
  std::string out = ".version 8.8\n.target sm_100\n.address_size 64\n.const .align 16 .b8 ctable[" +
                    std::to_string(contents.constants.size()) + "];\n";
  for (unsigned g = 0; g < program.grids.size(); ++g) out += Writer(program, program.grids[g], g).entry();
  return out;
}

}  // namespace warpline::test
