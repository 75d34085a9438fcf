#include <algorithm>

#include "rtl_models/base/text.h"
#include "rtl_models/registers/generator/names.h"
#include "rtl_models/registers/generator/text.h"
#include "rtl_models/registers/generator/writers.h"

namespace warpline::registers {
namespace {

/// The smallest type of 32 bits or more that holds the value.
const char* type_for(std::uint64_t value) {
  return value >> 32U == 0 ? "std::uint32_t" : "std::uint64_t";
}

class TableWriter : TextWriter {
 public:
  TableWriter(const Block& block, bool own) : block_(block), own_(own) {}

  std::string text() {
    print("// Made of {} by warpline_regs: a change belongs there.\n#pragma once\n\n#include <cstdint>\n\n",
          block_.file);
    print("#include \"{}rtl_models/registers/register_map.h\"\n\n/// {}: what software sees of it.\n",
          own_ ? "" : "warpline/", block_.title);
    print(
        "namespace warpline::regs::{} {{\n// NOLINTBEGIN(readability-identifier-naming): names are the "
        "description's\n\n",
        block_.name);
    print("/// Where its registers lie among the BARs of a PCI Express function.\n");
    print("inline constexpr unsigned kBar = {};\n", block_.bar);
    for (const Constant& c : block_.constants)
      print("/// {}\ninline constexpr {} {} = {};\n", c.meaning, type_for(c.value), constant_name({c.name}),
            hex(c.value));
    indices();
    masks();
    for (const Enumeration& e : block_.enumerations) enumeration(e);
    for (const Structure& s : block_.structures) structure(s);
    tables();
    print("// NOLINTEND(readability-identifier-naming)\n}}  // namespace warpline::regs::{}\n", block_.name);
    return std::move(out_);
  }

 private:
  void indices() {
    print("\n/// The index of each register in kMap.\nenum Register : unsigned {{\n");
    for (const Register& r : block_.registers) print("  {},  ///< {}\n", constant_name({r.name}), r.meaning);
    print("}};\n\n");
  }

  void masks() {
    print(
        "// The bits of each field in its register. field<kMask>(word) is the field's value, "
        "in_field<kMask>(value) the word.\n");
    for (const Register& r : block_.registers)
      for (const Field& f : r.fields)
        if (!r.whole) mask(constant_name({r.name, f.name}), f);
  }
  void mask(const std::string& name, const Field& f) {
    print("inline constexpr std::uint64_t {} = {};  ///< {}\n", name, hex(f.at.mask()), f.meaning);
  }

  void enumeration(const Enumeration& e) {
    std::uint64_t most = 0;
    for (const Constant& v : e.values) most = std::max(most, v.value);
    print("\n/// {}\nenum {} : {} {{\n", e.meaning, camel({e.name}), type_for(most));
    for (const Constant& v : e.values)
      print("  {} = {},  ///< {}\n", constant_name({e.name, v.name}), v.value, v.meaning);
    print("}};\n");
  }

  void structure(const Structure& s) {
    print("\n// {} Bytes in all, then where each member begins, and the bits of fields in their member.\n",
          s.meaning);
    print("inline constexpr unsigned {} = {};\n", constant_name({s.name, "BYTES"}), s.bytes);
    for (const StructureMember& m : s.members) {
      print("inline constexpr unsigned {} = {};  ///< {}: {}\n", constant_name({s.name, m.name}), m.offset,
            counted(m.bytes, "byte"), m.meaning);
      for (const Field& f : m.fields) mask(constant_name({s.name, m.name, f.name}), f);
    }
  }

  void tables() {
    print("\nnamespace detail {{\n");
    for (const Register& r : block_.registers) {
      print("inline constexpr FieldDescription {}Fields[] = {{\n", constant_name({r.name}));
      for (const Field& f : r.fields)
        print("    {{\"{}\", {{{}, {}}}, FieldAccess::{}, {}, {}}},\n", f.name, f.at.low, f.at.bits,
              words_of(f.access).enumerator, hex(f.reset), literal(f.meaning));
      print("}};\n");
    }
    print("inline constexpr RegisterDescription kRegisters[] = {{\n");
    for (const Register& r : block_.registers)
      print("    {{\"{}\", {}, {}, {}, {}, {}, {}, {}Fields, {}}},\n", r.name, hex(r.offset, 4), r.bytes,
            r.count, hex(r.stride), r.kept, literal(r.meaning), constant_name({r.name}), r.fields.size());
    print("}};\n}}  // namespace detail\n\n");
    print("inline constexpr RegisterMap kMap{{\"{}\", {}, detail::kRegisters, {}}};\n\n", block_.name,
          hex(block_.bytes), block_.registers.size());
  }

  const Block& block_;
  bool own_;
};

}  // namespace

std::string table_text(const Block& block, bool own) {
  return TableWriter(block, own).text();
}

}  // namespace warpline::registers
