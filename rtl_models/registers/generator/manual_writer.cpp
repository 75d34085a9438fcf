#include <algorithm>
#include <cctype>
#include <set>

#include "rtl_models/base/text.h"
#include "rtl_models/registers/generator/names.h"
#include "rtl_models/registers/generator/text.h"
#include "rtl_models/registers/generator/writers.h"

namespace warpline::registers {
namespace {

/// "`SQ_BASE[n]`"; of one alone "`CONTROL`".
std::string title_of(const Register& r) {
  return "`" + r.name + (r.is_array() ? "[n]`" : "`");
}

/// "`0x0400 + 0x40 * n`"
std::string offset_of(const Register& r) {
  return "`" + hex(r.offset, 4) + (r.is_array() ? " + " + hex(r.stride) + " * n`" : "`");
}

/// A link to the section with this heading.
std::string link_to(const std::string& name) {
  std::string anchor;
  for (const char c : name) anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return "[" + name + "](#" + anchor + ")";
}

std::string meaning_of(const Named& named, const std::string& enumeration) {
  return cell(named.meaning) + (enumeration.empty() ? "" : " Values: " + link_to(enumeration) + ".");
}

/// Each kind of access that occurs among the fields, in their order.
std::string accesses_of(const Register& r) {
  std::string words;
  std::set<FieldAccess> seen;
  for (const Field& f : r.fields)
    if (seen.insert(f.access).second)
      words += fmt::format("{}`{}`", words.empty() ? "" : ", ", words_of(f.access).word);
  return words;
}

template <class T>
std::vector<T> sorted(std::vector<T> items, std::uint64_t (*key)(const T&)) {
  std::stable_sort(items.begin(), items.end(), [key](const T& a, const T& b) { return key(a) < key(b); });
  return items;
}

class ManualWriter : TextWriter {
 public:
  explicit ManualWriter(const Block& block)
      : block_(block),
        registers_(
            sorted<Register>(block.registers, [](const Register& r) -> std::uint64_t { return r.offset; })) {}

  std::string text() {
    print("<!-- Made of {} by warpline_regs: a change belongs there. -->\n# {} (`{}`)\n\n{}\n\n", block_.file,
          block_.title, block_.name, block_.meaning);
    print(
        "Its registers take `{}` ({}) bytes from the start of BAR {}. Offsets here are in that BAR, in "
        "bytes. Numbers are little-endian.\n",
        hex(block_.bytes), block_.bytes, block_.bar);
    for (const Chapter& c : block_.chapters) print("\n## {}\n\n{}\n", c.title, c.text);
    accesses();
    summary();
    for (const Register& r : registers_) one_register(r);
    structures();
    enumerations();
    constants();
    names();
    return std::move(out_);
  }

 private:
  void accesses() {
    std::set<FieldAccess> used;
    bool halves = false;
    for (const Register& r : registers_) {
      for (const Field& f : r.fields) used.insert(f.access);
      halves = halves || r.bytes == 8;
    }
    print("\n## Accesses\n\nAn access takes one whole register, at its offset and in its size.{}\n\n",
          halves ? " Of a register of 8 bytes it may take a half instead: 4 bytes at the offset (bits 31:0) "
                   "or at the offset + 4 (bits 63:32). Two halves are two accesses: what the hardware "
                   "changes between them is seen by the second."
                 : "");
    print("What an access does to a field:\n\n| Access | A read | A write |\n|---|---|---|\n");
    for (const FieldAccess a : used)
      print("| `{}` | {} | {} |\n", words_of(a).word, words_of(a).read, words_of(a).write);
    print(
        "\nReserved bits read 0 and ignore what is written; write 0.\n\n"
        "No access to a register, and refused: one at an offset where no register is, of another size, at an "
        "offset that is not the register's (or half's), a write to a register of which no field takes "
        "writes, a read "
        "of a register of which no field can be read. It changes nothing, and a read returns 0.\n");
  }

  void summary() {
    print(
        "\n## Registers\n\n| Offset | Register | Bytes | Access | After reset | "
        "|\n|---|---|---|---|---|---|\n");
    for (const Register& r : registers_)
      print("| {} | {}{} | {} | {} | `{}` | {} |\n", offset_of(r), title_of(r),
            r.is_array() ? fmt::format(", n = 0 to {}", r.count - 1) : "", r.bytes, accesses_of(r),
            hex(reset_value(r), r.bytes * 2), cell(r.meaning));
  }

  void one_register(const Register& r) {
    print("\n### {}\n\n{}\n\n", r.name, r.meaning);
    print("Offset {}{}, {}, {}after reset `{}`{}.\n", offset_of(r),
          r.is_array() ? fmt::format(" for n = 0 to {}", r.count - 1) : "", counted(r.bytes, "byte"),
          r.whole ? "access " + accesses_of(r) + ", " : "", hex(reset_value(r), r.bytes * 2),
          r.kept ? " of the power supply; other resets leave it" : "");
    if (r.whole) return;
    print("\n| Bits | Field | Access | Reset | |\n|---|---|---|---|---|\n");
    unsigned next = 0;
    for (const Field& f : by_bit(r.fields)) {
      reserved_bits(next, f.at.low, "| | | 0 |");
      print("| {} | `{}` | `{}` | {} | {} |\n", bits_text(f.at), f.name, words_of(f.access).word, f.reset,
            meaning_of(f, f.enumeration));
      next = f.at.low + f.at.bits;
    }
    reserved_bits(next, r.bytes * 8, "| | | 0 |");
  }

  void reserved_bits(unsigned from, unsigned to, const char* cells) {
    if (from == to) return;
    print("| {} {} reserved |\n",
          bits_text({static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to - from)}), cells);
  }

  void structures() {
    if (block_.structures.empty()) return;
    print("\n## Structures in memory\n");
    for (const Structure& s : block_.structures) {
      print("\n### {}\n\n{} {}.\n\n| Offset | Bytes | Member | |\n|---|---|---|---|\n", s.name, s.meaning,
            counted(s.bytes, "byte"));
      std::uint64_t next = 0;
      const auto members = sorted<StructureMember>(
          s.members, [](const StructureMember& m) -> std::uint64_t { return m.offset; });
      for (const StructureMember& m : members) {
        reserved_bytes(next, m.offset);
        print("| {} | {} | `{}` | {} |\n", m.offset, m.bytes, m.name, meaning_of(m, m.enumeration));
        next = std::uint64_t{m.offset} + m.bytes;
      }
      reserved_bytes(next, s.bytes);
      for (const StructureMember& m : members) bits_of_member(m);
    }
  }

  void reserved_bytes(std::uint64_t from, std::uint64_t to) {
    if (from < to) print("| {} | {} | | reserved: write 0 |\n", from, to - from);
  }

  void bits_of_member(const StructureMember& m) {
    if (m.fields.empty()) return;
    print("\nBits of `{}`:\n\n| Bits | Field | |\n|---|---|---|\n", m.name);
    unsigned next = 0;
    for (const Field& f : by_bit(m.fields)) {
      reserved_bits(next, f.at.low, "| |");
      print("| {} | `{}` | {} |\n", bits_text(f.at), f.name, meaning_of(f, f.enumeration));
      next = f.at.low + f.at.bits;
    }
    reserved_bits(next, m.bytes * 8, "| |");
  }

  void enumerations() {
    if (block_.enumerations.empty()) return;
    print("\n## Values\n");
    for (const Enumeration& e : block_.enumerations) {
      print("\n### {}\n\n{}\n\n| Value | Name | |\n|---|---|---|\n", e.name, e.meaning);
      for (const Constant& v : e.values) print("| {} | `{}` | {} |\n", v.value, v.name, cell(v.meaning));
    }
  }

  void constants() {
    if (block_.constants.empty()) return;
    print("\n## Constants\n\n| Constant | Value | |\n|---|---|---|\n");
    for (const Constant& c : block_.constants)
      print("| `{}` | `{}`, {} | {} |\n", c.name, hex(c.value), c.value, cell(c.meaning));
  }

  void names() {
    const std::string prefix = c_name(block_, {""});
    print("\n## Names in C\n\nThe header `wl_{}_regs.h` has these names as macros, behind `{}`:\n\n",
          block_.name, prefix);
    print(
        "| | |\n|---|---|\n"
        "| `REGISTER_OFFSET` | offset of a register; `REGISTER_OFFSET(n)` of one of several, of which there "
        "are `REGISTER_COUNT` |\n"
        "| `REGISTER_RESET_VALUE` | what it holds after a reset |\n"
        "| `REGISTER_FIELD_MASK`, `REGISTER_FIELD_SHIFT` | a field's bits, and its lowest |\n"
        "| `STRUCTURE_BYTES`, `STRUCTURE_MEMBER_OFFSET`, `STRUCTURE_MEMBER_BYTES` | sizes and places in "
        "memory |\n"
        "| `STRUCTURE_MEMBER_FIELD_MASK`, `STRUCTURE_MEMBER_FIELD_SHIFT` | bits of a member |\n"
        "| `VALUES_NAME` | a value |\n"
        "| `CONSTANT` | a constant |\n");
  }

  static std::vector<Field> by_bit(const std::vector<Field>& fields) {
    return sorted<Field>(fields, [](const Field& f) -> std::uint64_t { return f.at.low; });
  }

  const Block& block_;
  std::vector<Register> registers_;  ///< by offset
};

}  // namespace

std::string manual_text(const Block& block) {
  return ManualWriter(block).text();
}

}  // namespace warpline::registers
