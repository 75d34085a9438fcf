#include "tests/programs/own_stores.h"

#include <gtest/gtest.h>

#include "platform/machine/netlist_backend.h"

namespace warpline::test {
namespace {

constexpr unsigned kThreads = 12;
constexpr unsigned kCtas = 3;

/// Where an address lies, and how an instruction names it.
struct Memory {
  const char* base;   ///< register with the thread's place
  const char* space;  ///< as written; empty: generic
  bool global;        ///< in global memory
};
constexpr Memory kMemories[] = {{"%gv", ".global", true}, {"%gs", ".global", true}, {"%sh", ".shared", false},
                                {"%lo", ".local", false}, {"%gv", "", true},        {"%gs", "", true},
                                {"%shg", "", false},      {"%log", "", false}};

/// A way to load or store.
struct Way {
  const char* before;  ///< the state space
  const char* after;
  bool of_global = false;  ///< only there
  bool ordered = false;    ///< not of local memory
  unsigned most = 32;      ///< bytes of an element, times elements
  unsigned elements = 8;   ///< at most
};
constexpr Way kStores[] = {{"", ""},
                           {"", ".wb"},
                           {"", ".cg"},
                           {"", ".cs"},
                           {"", ".wt"},
                           {"", ".L1::evict_normal", true},
                           {"", ".L1::evict_unchanged", true},
                           {"", ".L1::evict_first", true},
                           {"", ".L1::evict_last", true},
                           {"", ".L1::no_allocate", true},
                           {".volatile", "", false, true, 16},
                           {".relaxed.cta", "", false, true, 16},
                           {".relaxed.gpu", "", false, true, 16},
                           {".relaxed.sys", ".L1::no_allocate", true, true, 16},
                           {".release.gpu", "", false, true, 16},
                           {".mmio.relaxed.sys", "", true, true, 8, 1}};
constexpr Way kLoads[] = {{"", ""},
                          {"", ".ca"},
                          {"", ".cg"},
                          {"", ".cs"},
                          {"", ".lu"},
                          {"", ".cv"},
                          {"", ".L1::evict_normal.L2::128B", true},
                          {"", ".L1::evict_unchanged", true},
                          {"", ".L1::evict_first", true},
                          {"", ".L1::evict_last.L2::256B", true},
                          {"", ".L1::no_allocate", true},
                          {".volatile", "", false, true, 16},
                          {".relaxed.cta", "", false, true, 16},
                          {".relaxed.gpu", "", false, true, 16},
                          {".relaxed.sys", "", false, true, 16},
                          {".acquire.gpu", "", false, true, 16},
                          {".mmio.relaxed.sys", "", true, true, 8, 1}};

class StoreAuthor {
 public:
  explicit StoreAuthor(Random& random) : random_(random) {}

  OwnStores write() {
    program_.slot = random_.below(2) == 0 ? 32 : kLineBytes;
    for (const Memory& memory : kMemories)
      for (const Way& store : kStores)
        for (const Way& load : kLoads)
          if (fits(memory, store) && fits(memory, load)) one_case(memory, store, load);
    program_.ptx = head() + text_ + "ret;\n}\n";
    return std::move(program_);
  }

 private:
  struct Shape {
    unsigned bytes = 1;  ///< of an element
    unsigned elements = 1;
    [[nodiscard]] unsigned size() const { return bytes * elements; }
  };
  static bool fits(const Memory& memory, const Way& way) {
    const bool spelled_local = std::string(memory.space) == ".local";
    return (memory.global || !way.of_global) && (!spelled_local || !way.ordered);
  }
  void line(const std::string& s) { text_ += s + ";\n"; }

  Shape random_shape(const Memory& memory, const Way& way, unsigned most) {
    // A vector of 32 bytes has elements of 4 or 8, and lies in global memory.
    const unsigned limit = std::min({most, way.most, memory.global ? 32U : 16U});
    for (;;) {
      const Shape s{1U << random_.below(4), 1U << random_.below(4)};
      if (s.size() <= limit && s.elements <= way.elements && (s.elements < 8 || s.size() == 32)) return s;
    }
  }
  static std::string type(const Shape& s) {
    return (s.elements == 1 ? "" : ".v" + std::to_string(s.elements)) + ".u" + std::to_string(8 * s.bytes);
  }
  /// Registers "%v0", or "{%v0, %v1}"; four different ones.
  static std::string registers(const char* name, const Shape& s, unsigned different) {
    std::string out;
    for (unsigned i = 0; i < s.elements; ++i)
      out += (i == 0 ? "" : ", ") + (name + std::to_string(i % different));
    return s.elements == 1 ? out : "{" + out + "}";
  }

  /// Puts bytes [first, first + bytes) of what a store of shape `s` writes into %e.
  void expect(const Shape& s, unsigned first, unsigned bytes) {
    line("mov.u64 %e, 0");
    for (unsigned e = first / s.bytes; e * s.bytes < first + bytes; ++e) {
      line("mov.u64 %t, %v" + std::to_string(e % 4));
      if (s.bytes < 8) line("and.b64 %t, %t, " + std::to_string((std::uint64_t{1} << 8 * s.bytes) - 1));
      if (e * s.bytes < first) {
        line("shr.u64 %t, %t, " + std::to_string(8 * (first - e * s.bytes)));
      } else {
        line("shl.b64 %t, %t, " + std::to_string(8 * (e * s.bytes - first)));
      }
      line("or.b64 %e, %e, %t");
    }
    if (bytes < 8) line("and.b64 %e, %e, " + std::to_string((std::uint64_t{1} << 8 * bytes) - 1));
  }

  /// What may happen to the line before the store or between store and load, and changes nothing.
  std::string disturbance(const Memory& memory, unsigned place, bool after_store) {
    const std::string at = "[" + std::string(memory.base) + "]";
    const std::string space = memory.space;
    const bool prefetches = space != ".shared";
    switch (random_.below(9)) {
      case 0: return prefetches ? "prefetch" + space + ".L1 " + at : "";
      case 1: return prefetches ? "prefetch" + space + ".L2 " + at : "";
      case 2: return "ld.global.u64 %x, [%other]";
      case 3: return after_store ? "fence.acq_rel.gpu" : "membar.cta";
      case 4: return space.empty() ? "prefetchu.L1 " + at : "fence.proxy.alias";
      case 5:
      case 6: return "ld" + space + ".u8 %x, [" + memory.base + "+" + std::to_string(place) + "]";
      case 7:
        if (memory.global && program_.slot == kLineBytes)
          return after_store ? "applypriority" + space + ".L2::evict_normal " + at + ", 128"
                             : "discard" + space + ".L2 " + at + ", 128";
        return "";
      default: return "";
    }
  }

  void one_case(const Memory& memory, const Way& store, const Way& load) {
    const Shape written = random_shape(memory, store, 32);
    Shape read = random_shape(memory, load, written.size());
    const auto place = static_cast<unsigned>(random_.below(program_.slot / written.size()) * written.size());
    const auto offset = static_cast<unsigned>(random_.below(written.size() / read.size()) * read.size());
    const std::size_t begins = text_.size();
    line("mad.lo.u64 %v0, %v0, 6364136223846793005, %id");
    line("xor.b64 %v1, %v0, 0x5DEECE66D1234567");
    line("add.u64 %v2, %v0, 0x123456789ABCDEF1");
    line("add.u64 %v3, %v1, 0x0FEDCBA987654321");
    for (unsigned n = 1 + static_cast<unsigned>(random_.below(2)); n-- > 0;)
      if (const std::string s = disturbance(memory, place, false); !s.empty()) line(s);
    line("st" + std::string(store.before) + memory.space + store.after + type(written) + " [" + memory.base +
         "+" + std::to_string(place) + "], " + registers("%v", written, 4));
    if (const std::string s = disturbance(memory, place, true); !s.empty()) line(s);
    line("ld" + std::string(load.before) + memory.space + load.after + type(read) + " " +
         registers("%l", read, 8) + ", [" + memory.base + "+" + std::to_string(place + offset) + "]");
    const std::string what = text_.substr(begins);
    line("mov.u64 %bad, 0");
    for (unsigned e = 0; e < read.elements; ++e) {
      expect(written, offset + e * read.bytes, read.bytes);
      line("xor.b64 %t, %l" + std::to_string(e) + ", %e");
      line("or.b64 %bad, %bad, %t");
    }
    line("setp.ne.u64 %p, %bad, 0");
    line("@%p st.global.u32 [%err+" + std::to_string(4 * program_.cases.size()) + "], 1");
    program_.cases.push_back(what);
  }

  [[nodiscard]] std::string head() const {
    const std::string slot = std::to_string(program_.slot);
    return ".version 8.8\n.target sm_100\n.address_size 64\n"
           ".visible .entry k(.param .u64 vidmem, .param .u64 sysmem, .param .u64 errors, .param .u64 "
           "others)\n{\n"
           ".reg .pred %p;\n.reg .b32 %r<4>;\n"
           ".reg .b64 %gv, %gs, %sh, %lo, %shg, %log, %err, %other, %id, %t, %e, %x, %bad, %v<4>, %l<8>;\n"
           ".shared .align 128 .b8 own_shared[" +
           std::to_string(std::uint64_t{kThreads} * program_.slot) + "];\n.local .align 128 .b8 own_local[" +
           slot +
           "];\n"
           "ld.param.u64 %gv, [vidmem];\nld.param.u64 %gs, [sysmem];\n"
           "ld.param.u64 %err, [errors];\nld.param.u64 %other, [others];\n"
           "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r1, %r1, " +
           std::to_string(kThreads) + ", %r0;\nmul.wide.u32 %t, %r1, " + slot +
           ";\nadd.u64 %gv, %gv, %t;\nadd.u64 %gs, %gs, %t;\nmul.wide.u32 %t, %r1, 128;\n"
           "add.u64 %other, %other, %t;\nmov.u64 %sh, own_shared;\nmul.wide.u32 %t, %r0, " +
           slot +
           ";\nadd.u64 %sh, %sh, %t;\ncvta.shared.u64 %shg, %sh;\nmov.u64 %lo, own_local;\n"
           "cvta.local.u64 %log, %lo;\ncvt.u64.u32 %id, %r1;\nshl.b64 %id, %id, 1;\nadd.u64 %id, %id, 1;\n"
           "mov.u64 %v0, %id;\n";
  }

  Random& random_;
  OwnStores program_;
  std::string text_;
};

}  // namespace

OwnStores own_stores(Random& random) {
  return StoreAuthor(random).write();
}

void expect_seen(const OwnStores& program, const GpuConfig& config, std::shared_ptr<NetlistBackend> backend,
                 bool loose) {
  Bench bench(config, program.ptx, std::move(backend));
  if (loose) bench.platform().set_loose(true);
  const std::vector<std::uint8_t> bytes(std::size_t{kCtas} * kThreads * kLineBytes);
  const std::uint64_t vidmem = bench.put(bytes), sysmem = bench.put(bytes, Aperture::sysmem);
  const std::uint64_t errors = bench.put(std::vector<std::uint32_t>(program.cases.size()));
  const LaunchResult result = bench.launch("k", kCtas, kThreads, {vidmem, sysmem, errors, bench.put(bytes)});
  ASSERT_EQ(result.outcome, RunOutcome::quiescent);
  for (const FaultRecord& f : bench.platform().faults()) ADD_FAILURE() << f.kind << " at " << f.where;
  for (const std::string& s : bench.platform().unreconciled()) ADD_FAILURE() << s;
  const auto wrong = bench.get<std::uint32_t>(errors, program.cases.size());
  for (std::size_t i = 0; i < wrong.size(); ++i)
    if (wrong[i] != 0) ADD_FAILURE() << "case " << i << " of " << wrong.size() << ":\n" << program.cases[i];
}

}  // namespace warpline::test
