#include "rtl_models/registers/generator/names.h"
#include "rtl_models/registers/generator/text.h"
#include "rtl_models/registers/generator/writers.h"

namespace warpline::registers {
namespace {

/// A constant of 4 or 8 bytes, whatever the platform's int.
std::string constant(std::uint64_t value, unsigned bytes = 4) {
  return bytes == 8 || value >> 32U != 0 ? fmt::format("UINT64_C({})", hex(value, 8))
                                         : fmt::format("UINT32_C({})", hex(value));
}

/// "bit 3", "bits 7:4"
std::string bits_of(BitField at) {
  return (at.bits == 1 ? "bit " : "bits ") + bits_text(at);
}

class HeaderWriter : TextWriter {
 public:
  explicit HeaderWriter(const Block& block) : block_(block) {}

  std::string text() {
    const std::string guard = c_name(block_, {"REGS_H"});
    out_ = c_comment("Made of " + block_.file + " by warpline_regs: a change belongs there.");
    out_ += c_comment(block_.title + ". " + block_.meaning);
    out_ += c_comment(
        "Of each register R: R_OFFSET in the block in bytes, R_RESET_VALUE; of several alike R_OFFSET(n) and "
        "R_COUNT. Of each of its fields F: R_F_MASK, R_F_SHIFT. Accesses: ro read only, rw read and write, "
        "wo write only (reads as 0), w1c writing 1 clears the bit, rc reading clears, fifo reading takes an "
        "entry out.");
    print("#ifndef {}\n#define {}\n\n#include <stdint.h>\n\n", guard, guard);
    out_ += c_comment("Bytes of the block, and the BAR that it begins.");
    define({"BYTES"}, constant(block_.bytes));
    define({"BAR"}, std::to_string(block_.bar));
    if (!block_.constants.empty()) out_ += "\n";
    for (const Constant& c : block_.constants) {
      out_ += c_comment(c.meaning);
      define({c.name}, constant(c.value));
    }
    for (const Register& r : block_.registers) one_register(r);
    for (const Enumeration& e : block_.enumerations) enumeration(e);
    for (const Structure& s : block_.structures) structure(s);
    out_ += "\n#endif\n";
    return std::move(out_);
  }

 private:
  void define(std::initializer_list<std::string_view> name, const std::string& value) {
    out_ += "#define " + c_name(block_, name) + " " + value + "\n";
  }

  void one_register(const Register& r) {
    const std::string elements = r.is_array() ? fmt::format("[{}]", r.count) : "";
    const std::string access = r.whole ? fmt::format(", {}", words_of(r.fields.front().access).word) : "";
    out_ +=
        "\n" + c_comment(fmt::format("{}{}, {} bytes{}: {}", r.name, elements, r.bytes, access, r.meaning));
    if (r.is_array()) {
      print("#define {}(n) ({} + {} * (uint32_t)(n))\n", c_name(block_, {r.name, "OFFSET"}),
            constant(r.offset), constant(r.stride));
      define({r.name, "COUNT"}, std::to_string(r.count));
    } else {
      define({r.name, "OFFSET"}, constant(r.offset));
    }
    define({r.name, "RESET_VALUE"}, constant(reset_value(r), r.bytes));
    if (r.whole) return;
    for (const Field& f : r.fields) {
      out_ +=
          c_comment(fmt::format("{}, {}, {}: {}", f.name, bits_of(f.at), words_of(f.access).word, f.meaning));
      define({r.name, f.name, "MASK"}, constant(f.at.mask(), r.bytes));
      define({r.name, f.name, "SHIFT"}, std::to_string(f.at.low));
    }
  }

  void enumeration(const Enumeration& e) {
    out_ += "\n" + c_comment(e.name + ": " + e.meaning);
    for (const Constant& v : e.values) {
      out_ += c_comment(v.name + ": " + v.meaning);
      define({e.name, v.name}, constant(v.value));
    }
  }

  void structure(const Structure& s) {
    out_ += "\n" + c_comment(s.name + ", " + std::to_string(s.bytes) + " bytes, little-endian: " + s.meaning);
    define({s.name, "BYTES"}, std::to_string(s.bytes));
    for (const StructureMember& m : s.members) {
      out_ += c_comment(m.name + ": " + m.meaning);
      define({s.name, m.name, "OFFSET"}, std::to_string(m.offset));
      define({s.name, m.name, "BYTES"}, std::to_string(m.bytes));
      for (const Field& f : m.fields) {
        out_ += c_comment(fmt::format("{}, {}: {}", f.name, bits_of(f.at), f.meaning));
        define({s.name, m.name, f.name, "MASK"}, constant(f.at.mask(), m.bytes > 4 ? 8 : 4));
        define({s.name, m.name, f.name, "SHIFT"}, std::to_string(f.at.low));
      }
    }
  }

  const Block& block_;
};

}  // namespace

std::string header_text(const Block& block) {
  return HeaderWriter(block).text();
}

}  // namespace warpline::registers
