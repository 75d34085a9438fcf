#include "tests/platform/consistency/random_program.h"

#include <algorithm>
#include <array>
#include <vector>

namespace warpline::litmus::test {
namespace {

/// A corner of a critical cycle: a thread and what it does there.
struct Corner {
  unsigned thread;
  bool writes;
  unsigned location;
};
using Cycle = std::vector<Corner>;

const std::array<Cycle, 9> kCycles = {{
    {{0, true, 0}, {0, true, 1}, {1, false, 1}, {1, false, 0}},                                // MP
    {{0, true, 0}, {0, false, 1}, {1, true, 1}, {1, false, 0}},                                // SB
    {{0, false, 0}, {0, true, 1}, {1, false, 1}, {1, true, 0}},                                // LB
    {{0, true, 0}, {0, true, 1}, {1, false, 1}, {1, true, 0}},                                 // S
    {{0, true, 0}, {0, true, 1}, {1, true, 1}, {1, false, 0}},                                 // R
    {{0, true, 0}, {0, true, 1}, {1, true, 1}, {1, true, 0}},                                  // 2+2W
    {{0, true, 0}, {1, false, 0}, {1, true, 1}, {2, false, 1}, {2, false, 0}},                 // WRC
    {{0, true, 0}, {0, true, 1}, {1, false, 1}, {1, true, 2}, {2, false, 2}, {2, false, 0}},   // ISA2
    {{0, true, 0}, {1, true, 1}, {2, false, 0}, {2, false, 1}, {3, false, 1}, {3, false, 0}},  // IRIW
}};

class ProgramWriter {
 public:
  explicit ProgramWriter(Random& random) : random_(random) {
    strong_scopes_ = one_in(3) ? std::vector<std::string>{"cta", "gpu"}
                               : std::vector<std::string>{"gpu", "sys", "cluster"};
    if (one_in(4)) strong_scopes_ = {pick({"cta", "cluster", "gpu", "sys"})};
    proxies_ = one_in(3);
    gpus_ = one_in(3) ? 2 : 1;
    home_ = one_in(4) ? " @ sysmem" : one_in(6) ? " @ peer" : "";
  }

  std::string run() {
    if (one_in(2)) {
      critical_cycle();
    } else {
      anything();
    }
    return text();
  }

 private:
  [[nodiscard]] bool one_in(unsigned n) { return random_.below(n) == 0; }
  std::string pick(const std::vector<std::string>& words) { return words[random_.below(words.size())]; }
  std::string scope() { return pick(strong_scopes_); }

  struct Column {
    unsigned cta = 0, gpu = 0;
    std::vector<std::string> code;
    unsigned registers = 0;
  };

  std::string name_of(unsigned location, const char* proxy = "") {
    const std::string names[] = {"x", "y", "z"};
    return proxy + names[location];
  }

  void write(Column& c, unsigned location) {
    const std::string value = std::to_string(++value_);
    const std::string x = name_of(location), alias = name_of(location, "a");
    switch (random_.below(proxies_ ? 11 : 7)) {
      case 0:
      case 1:
        c.code.push_back("st.weak" + pick({"", "", ".wb", ".cg", ".cs", ".wt"}) + " " + x + ", " + value);
        break;
      case 2: c.code.push_back("st.relaxed." + scope() + " " + x + ", " + value); break;
      case 3: c.code.push_back("st.release." + scope() + " " + x + ", " + value); break;
      case 4: c.code.push_back(pick({"st.volatile ", "st.mmio.relaxed.sys "}) + x + ", " + value); break;
      case 5:
      case 6:
        c.code.push_back("atom." + pick({"relaxed.", "acquire.", "release.", "acq_rel."}) + scope() +
                         ".exch r" + std::to_string(c.registers++) + ", " + x + ", " + value);
        break;
      case 7: c.code.push_back("st.weak " + alias + ", " + value); break;
      case 8: c.code.push_back("sust.weak " + name_of(location, "sa") + ", " + value); break;
      default: c.code.push_back("sust.weak " + name_of(location, "s") + ", " + value); break;
    }
  }

  void read(Column& c, unsigned location) {
    const std::string r = " r" + std::to_string(c.registers++) + ", ";
    const std::string x = name_of(location);
    switch (random_.below(proxies_ ? 13 : 7)) {
      case 0:
      case 1:
      case 2: c.code.push_back("ld.weak" + pick({"", "", ".ca", ".cg", ".cs", ".lu", ".cv"}) + r + x); break;
      case 3: c.code.push_back("ld.relaxed." + scope() + r + x); break;
      case 4: c.code.push_back("ld.acquire." + scope() + r + x); break;
      case 5: c.code.push_back(pick({"ld.volatile", "ld.mmio.relaxed.sys"}) + r + x); break;
      case 6:
        c.code.push_back("atom." + pick({"relaxed.", "acquire.", "acq_rel."}) + scope() + ".exch" + r + x +
                         ", " + std::to_string(++value_));
        break;
      case 7: c.code.push_back("ld.weak" + r + name_of(location, "a")); break;
      case 8: c.code.push_back(pick({"tld.weak", "ld.weak.global.nc"}) + r + name_of(location, "t")); break;
      case 9: {
        // Constants lie in their GPU's video memory.
        const bool constant = home_.empty() && gpus_ == 1;
        c.code.push_back((constant ? "cold.weak" : "suld.weak") + r +
                         name_of(location, constant ? "c" : "s"));
        break;
      }
      case 10: c.code.push_back("suld.weak" + r + name_of(location, "sa")); break;
      default: c.code.push_back("suld.weak" + r + name_of(location, "s")); break;
    }
  }

  void between(Column& c) {
    switch (random_.below(8)) {
      case 0:
      case 1: break;
      case 2:
      case 3: c.code.push_back("fence.sc." + scope()); break;
      case 4: c.code.push_back("fence." + pick({"acq_rel.", "acquire.", "release."}) + scope()); break;
      case 5:
        c.code.push_back(proxies_ ? "fence.proxy." + pick({"alias", "surface", "texture", "constant"})
                                  : "membar.gl");
        break;
      case 6:
        c.code.push_back(pick({"CCTL.IV ", "CCTL.WB ", "CCTL.PF1 "}) +
                         name_of(static_cast<unsigned>(random_.below(2))));
        break;
      default: c.code.push_back("CCTL.IVALL"); break;
    }
  }

  void access(Column& c, bool writes, unsigned location) {
    if (writes) {
      write(c, location);
    } else {
      read(c, location);
    }
  }

  void begin_column() {
    columns_.emplace_back();
    columns_.back().cta = static_cast<unsigned>(random_.below(3));
    columns_.back().gpu = static_cast<unsigned>(random_.below(gpus_));
  }

  void critical_cycle() {
    const Cycle& cycle = kCycles[random_.below(kCycles.size())];
    unsigned barrier = 0;
    for (unsigned t = 0; t <= cycle.back().thread; ++t) {
      begin_column();
      bool first = true;
      for (const Corner& corner : cycle) {
        if (corner.thread != t) continue;
        if (!first) {
          between(columns_.back());
          if (one_in(5) && columns_.size() < 6) {
            // The rest is a sibling's, behind a barrier.
            const std::string meet = "bar.cta.sync " + std::to_string(barrier++);
            columns_.back().code.push_back(meet);
            const Column sibling = columns_.back();
            columns_.emplace_back();
            columns_.back().cta = sibling.cta;
            columns_.back().gpu = sibling.gpu;
            columns_.back().code.push_back(meet);
            if (one_in(2)) between(columns_.back());
          }
        }
        access(columns_.back(), corner.writes, corner.location);
        first = false;
      }
    }
  }

  void anything() {
    const auto threads = 2 + random_.below(3);
    for (std::uint64_t t = 0; t < threads; ++t) {
      begin_column();
      const auto count = 1 + random_.below(threads == 2 ? 6 : 4);
      for (std::uint64_t n = 0; n < count; ++n)
        if (one_in(3)) {
          between(columns_.back());
        } else {
          access(columns_.back(), one_in(2), static_cast<unsigned>(random_.below(2)));
        }
    }
  }

  std::string text() const {
    std::string out = "PTX random\n{\n";
    for (const char* const x : {"x", "y", "z"}) {
      out += std::string(x) + home_ + " = 0;\n";
      if (!proxies_) continue;
      out += "a" + std::string(x) + " @ generic aliases " + x + "; s" + x + " @ surface aliases " + x +
             "; t" + x + " @ texture aliases " + x + "; c" + x + " @ constant aliases " + x + "; sa" + x +
             " @ surface aliases a" + x + ";\n";
    }
    out += "}\n";
    std::size_t rows = 0;
    for (std::size_t t = 0; t < columns_.size(); ++t) {
      out += (t == 0 ? " P" : " | P") + std::to_string(t) + "@cta " + std::to_string(columns_[t].cta) +
             ", gpu " + std::to_string(columns_[t].gpu);
      rows = std::max(rows, columns_[t].code.size());
    }
    out += " ;\n";
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t t = 0; t < columns_.size(); ++t)
        out += (t == 0 ? " " : " | ") +
               (row < columns_[t].code.size() ? columns_[t].code[row] : std::string{}) +
               (t + 1 == columns_.size() ? " ;\n" : "");
    std::string ends = "x == 0 /\\ y == 0 /\\ z == 0";
    for (std::size_t t = 0; t < columns_.size(); ++t)
      for (unsigned r = 0; r < columns_[t].registers; ++r)
        ends += " /\\ P" + std::to_string(t) + ":r" + std::to_string(r) + " == 0";
    return out + "exists (" + ends + ")\n";
  }

  Random& random_;
  std::vector<std::string> strong_scopes_;
  bool proxies_ = false;
  std::string home_;
  unsigned gpus_ = 1;
  std::vector<Column> columns_;
  unsigned value_ = 0;
};

}  // namespace

std::string random_program(Random& random) {
  return ProgramWriter(random).run();
}

}  // namespace warpline::litmus::test
