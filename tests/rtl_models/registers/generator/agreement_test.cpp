// The description, the model's table, the driver's header and the manual say the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "rtl_models/document/files.h"
#include "rtl_models/registers/generator/names.h"
#include "rtl_models/registers/generator/reader.h"
#include "rtl_models/registers/generator/text.h"
#include "tests/rtl_models/registers/generator/described_names.h"
#include "tests/rtl_models/registers/generator/manual_tables.h"

namespace warpline::test {
namespace agreement_test {

using namespace registers;

struct Agreement : ::testing::TestWithParam<std::string> {
  static std::string text_of(const std::string& path) {
    const Result<std::string> text = read_file(path);
    EXPECT_TRUE(text.ok()) << path;
    return text.ok() ? text.value() : "";
  }
  static Block described() {
    const std::string file =
        GetParam() == "peer" ? "sw/regs/peer.toml" : "tests/rtl_models/registers/generator/every_kind.toml";
    const Result<Block> read = read_block(file, text_of(WARPLINE_SOURCE_DIR "/" + file));
    EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.faults().front().text());
    return read.ok() ? read.value() : Block{};
  }
  /// What stands in the manual's tables of one chapter, section and line before.
  std::vector<std::vector<std::string>> rows(const std::string& chapter, const std::string& section,
                                             const std::string& before = {}) const {
    for (const ManualTable& t : manual)
      if (t.chapter == chapter && t.section == section && (before.empty() || t.before == before))
        return t.rows;
    return {};
  }
  const Block block = described();
  const Generated generated = generated_of(GetParam());
  const std::vector<ManualTable> manual = tables_of(text_of(WARPLINE_MANUALS "/" + GetParam() + ".md"));
};

INSTANTIATE_TEST_SUITE_P(Of, Agreement, ::testing::Values("peer", "every_kind"),
                         [](const auto& of) { return of.param; });

/// What the header and the table are to say, made of the description alone.
Names expected_macros(const Block& b) {
  Names m;
  const auto put = [&](std::initializer_list<std::string_view> name, std::uint64_t value) {
    m[c_name(b, name)] = value;
  };
  const auto put_field = [&](const std::string& owner, const Field& f) {
    const std::uint64_t one = f.at.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << f.at.bits) - 1;
    put({owner, f.name, "MASK"}, one << f.at.low);
    put({owner, f.name, "SHIFT"}, f.at.low);
  };
  put({"BYTES"}, b.bytes);
  put({"BAR"}, b.bar);
  for (const registers::Constant& c : b.constants) put({c.name}, c.value);
  for (const Register& r : b.registers) {
    if (r.count > 1) {
      put({r.name, "OFFSET(2)"}, r.offset + std::uint64_t{2} * r.stride);
      put({r.name, "COUNT"}, r.count);
    } else {
      put({r.name, "OFFSET"}, r.offset);
    }
    std::uint64_t reset = 0;
    for (const Field& f : r.fields) reset |= f.reset << f.at.low;
    put({r.name, "RESET_VALUE"}, reset);
    for (const Field& f : r.fields)
      if (!r.whole) put_field(r.name, f);
  }
  for (const Enumeration& e : b.enumerations)
    for (const registers::Constant& v : e.values) put({e.name, v.name}, v.value);
  for (const Structure& s : b.structures) {
    put({s.name, "BYTES"}, s.bytes);
    for (const StructureMember& member : s.members) {
      put({s.name, member.name, "OFFSET"}, member.offset);
      put({s.name, member.name, "BYTES"}, member.bytes);
      for (const Field& f : member.fields) put_field(s.name + "_" + member.name, f);
    }
  }
  return m;
}

Names expected_constants(const Block& b) {
  Names m;
  m["kBar"] = b.bar;
  for (const registers::Constant& c : b.constants) m[constant_name({c.name})] = c.value;
  for (std::size_t i = 0; i < b.registers.size(); ++i) {
    const Register& r = b.registers[i];
    m[constant_name({r.name})] = i;
    for (const Field& f : r.fields)
      if (!r.whole) m[constant_name({r.name, f.name})] = f.at.mask();
  }
  for (const Enumeration& e : b.enumerations)
    for (const registers::Constant& v : e.values) m[constant_name({e.name, v.name})] = v.value;
  for (const Structure& s : b.structures) {
    m[constant_name({s.name, "BYTES"})] = s.bytes;
    for (const StructureMember& member : s.members) {
      m[constant_name({s.name, member.name})] = member.offset;
      for (const Field& f : member.fields) m[constant_name({s.name, member.name, f.name})] = f.at.mask();
    }
  }
  return m;
}

TEST_P(Agreement, TheHeaderSaysWhatIsDescribed) {
  EXPECT_EQ(generated.macros, expected_macros(block));
}

TEST_P(Agreement, TheTableSaysWhatIsDescribed) {
  EXPECT_EQ(generated.constants, expected_constants(block));
  const RegisterMap& map = *generated.map;
  EXPECT_EQ(map.name, block.name);
  EXPECT_EQ(map.bytes, block.bytes);
  ASSERT_EQ(map.register_count, block.registers.size());
  for (unsigned i = 0; i < map.register_count; ++i) {
    const RegisterDescription& t = map.registers[i];
    const Register& r = block.registers[i];
    SCOPED_TRACE(r.name);
    EXPECT_EQ(t.name, r.name);
    EXPECT_EQ(t.meaning, r.meaning);
    EXPECT_EQ(t.offset, r.offset);
    EXPECT_EQ(t.bytes, r.bytes);
    EXPECT_EQ(t.count, r.count);
    EXPECT_EQ(t.stride, r.stride);
    EXPECT_EQ(t.kept, r.kept);
    ASSERT_EQ(t.field_count, r.fields.size());
    for (unsigned k = 0; k < t.field_count; ++k) {
      SCOPED_TRACE(r.fields[k].name);
      EXPECT_EQ(t.fields[k].name, r.fields[k].name);
      EXPECT_EQ(t.fields[k].meaning, r.fields[k].meaning);
      EXPECT_EQ(t.fields[k].at.mask(), r.fields[k].at.mask());
      EXPECT_EQ(t.fields[k].access, r.fields[k].access);
      EXPECT_EQ(t.fields[k].reset, r.fields[k].reset);
    }
  }
}

TEST_P(Agreement, TheManualListsEveryRegister) {
  const auto summary = rows("Registers", "");
  ASSERT_EQ(summary.size(), block.registers.size());
  std::set<std::string> seen;
  for (const Register& r : block.registers) {
    SCOPED_TRACE(r.name);
    std::string offset = hex(r.offset, 4), title = r.name;
    if (r.count > 1) {
      offset += " + " + hex(r.stride) + " * n";
      title += "[n]`, n = 0 to " + std::to_string(r.count - 1);
    }
    const auto row =
        std::find_if(summary.begin(), summary.end(), [&](const auto& cells) { return cells[1] == title; });
    ASSERT_NE(row, summary.end());
    EXPECT_EQ((*row)[0], offset);
    EXPECT_EQ((*row)[2], std::to_string(r.bytes));
    EXPECT_EQ((*row)[4], hex(reset_value(r), r.bytes * 2));
    EXPECT_EQ((*row)[5], r.meaning);
    for (const Field& f : r.fields)
      EXPECT_NE((*row)[3].find(words_of(f.access).word), std::string::npos) << f.name;
  }
  EXPECT_TRUE(std::is_sorted(summary.begin(), summary.end(), [](const auto& a, const auto& b) {
    return std::stoul(a[0], nullptr, 16) < std::stoul(b[0], nullptr, 16);
  }));
}

TEST_P(Agreement, TheManualListsEveryBit) {
  for (const Register& r : block.registers) {
    SCOPED_TRACE(r.name);
    const auto table = rows("Registers", r.name);
    if (r.whole) {
      EXPECT_TRUE(table.empty());
      continue;
    }
    std::uint64_t bits = 0;
    unsigned fields = 0;
    for (const auto& row : table) {
      const std::size_t colon = row[0].find(':');
      const unsigned high = static_cast<unsigned>(std::stoul(row[0]));
      const unsigned low =
          colon == std::string::npos ? high : static_cast<unsigned>(std::stoul(row[0].substr(colon + 1)));
      for (unsigned bit = low; bit <= high; ++bit) {
        EXPECT_EQ(bits >> bit & 1U, 0U) << bit;
        bits |= std::uint64_t{1} << bit;
      }
      const auto f = std::find_if(r.fields.begin(), r.fields.end(),
                                  [&](const Field& field) { return field.name == row[1]; });
      if (f == r.fields.end()) {
        EXPECT_EQ(row[4], "reserved");
        continue;
      }
      ++fields;
      EXPECT_EQ(low, f->at.low);
      EXPECT_EQ(high - low + 1, f->at.bits);
      EXPECT_EQ(row[2], words_of(f->access).word);
      EXPECT_EQ(row[3], std::to_string(f->reset));
      EXPECT_EQ(row[4].rfind(f->meaning, 0), 0U);
      EXPECT_EQ(row[4].find("Values: [" + f->enumeration + "]") != std::string::npos,
                !f->enumeration.empty());
    }
    EXPECT_EQ(fields, r.fields.size());
    EXPECT_EQ(bits, ~std::uint64_t{0} >> (64 - r.bytes * 8)) << "every bit is a field's or reserved";
  }
}

TEST_P(Agreement, TheManualListsStructuresValuesAndConstants) {
  for (const Structure& s : block.structures) {
    SCOPED_TRACE(s.name);
    const auto table = rows("Structures in memory", s.name);
    std::uint64_t next = 0;
    std::size_t members = 0;
    for (const auto& row : table) {
      EXPECT_EQ(row[0], std::to_string(next));
      next += std::stoul(row[1]);
      for (const StructureMember& m : s.members) {
        if (m.name != row[2]) continue;
        ++members;
        EXPECT_EQ(row[0], std::to_string(m.offset));
        EXPECT_EQ(row[1], std::to_string(m.bytes));
        for (const Field& f : m.fields) {
          bool told = false;
          for (const auto& bit : rows("Structures in memory", s.name, "Bits of `" + m.name + "`:"))
            told = told || (bit[1] == f.name && bit[0] == bits_text(f.at));
          EXPECT_TRUE(told) << f.name;
        }
      }
    }
    EXPECT_EQ(next, s.bytes);
    EXPECT_EQ(members, s.members.size());
  }
  for (const Enumeration& e : block.enumerations) {
    const auto table = rows("Values", e.name);
    ASSERT_EQ(table.size(), e.values.size()) << e.name;
    for (std::size_t i = 0; i < table.size(); ++i) {
      EXPECT_EQ(table[i][0], std::to_string(e.values[i].value));
      EXPECT_EQ(table[i][1], e.values[i].name);
    }
  }
  const auto constants = rows("Constants", "");
  ASSERT_EQ(constants.size(), block.constants.size());
  for (std::size_t i = 0; i < constants.size(); ++i) {
    EXPECT_EQ(constants[i][0], block.constants[i].name);
    EXPECT_EQ(constants[i][1],
              hex(block.constants[i].value) + "`, " + std::to_string(block.constants[i].value));
  }
}

}  // namespace agreement_test
}  // namespace warpline::test
