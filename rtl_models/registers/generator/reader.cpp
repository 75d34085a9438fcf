#include "rtl_models/registers/generator/reader.h"

#include <algorithm>
#include <filesystem>

#include "rtl_models/base/text.h"
#include "rtl_models/registers/generator/keys.h"
#include "rtl_models/registers/generator/names.h"

namespace warpline::registers {
namespace {

constexpr std::uint64_t kMostBlockBytes = std::uint64_t{1} << 24U;
constexpr std::uint64_t kMostStructureBytes = std::uint64_t{1} << 16U;

/// Reads tables of one description, from the top down.
class BlockReader final : Keys {
 public:
  using Keys::Keys;

  Block read() {
    Block b;
    b.file = std::filesystem::path(document_.file()).filename().string();
    TableReader root(document_, document_.root(), {}, "the file", faults_);
    if (const Member* m = root.find("block", TableReader::required)) read_head(b, *m);
    for (const Value* v : tables(root, "chapter", "chapter")) b.chapters.push_back(chapter(*v));
    for (const Value* v : tables(root, "constant", "constant"))
      b.constants.push_back(constant(*v, "[[constant]]"));
    for (const Value* v : tables(root, "register", "register")) b.registers.push_back(one_register(*v));
    for (const Value* v : tables(root, "enumeration", "enumeration"))
      b.enumerations.push_back(enumeration(*v));
    for (const Value* v : tables(root, "structure", "structure")) b.structures.push_back(structure(*v));
    if (root.table().find("register") == nullptr)
      root.fault({}, "a block has registers: the file lacks [[register]] tables");
    root.finish();
    return b;
  }

 private:
  void read_head(Block& b, const Member& head) {
    if (head.value.kind != Value::Kind::table) return fault(head.place, "block: must be a [block] table");
    TableReader in(document_, head.value, head.place, "[block]", faults_);
    b.name = in.text("name", TableReader::required).value_or("");
    if (const Member* m = head.value.find("name"); m != nullptr && m->value.kind == Value::Kind::text)
      if (const std::string why = why_no_block_name(b.name); !why.empty())
        fault(m->value.place, "name: " + why);
    b.title = line_of(in, "title");
    b.meaning = line_of(in, "meaning");
    b.bytes = number(in, "bytes", 4, kMostBlockBytes, TableReader::required);
    if (b.bytes % 4 != 0) fault(place_of(in, "bytes"), "bytes: must be a multiple of 4");
    b.bar = number(in, "bar", 0, 5, TableReader::optional);
    in.finish();
  }

  Chapter chapter(const Value& table) {
    TableReader in(document_, table, table.place, "[[chapter]]", faults_);
    Chapter c;
    c.title = line_of(in, "title");
    c.text = in.text("text", TableReader::required).value_or("");
    while (!c.text.empty() && c.text.back() == '\n') c.text.pop_back();
    in.finish();
    return c;
  }

  Constant constant(const Value& table, const std::string& what) {
    TableReader in(document_, table, table.place, what, faults_);
    Constant c;
    read_named(in, c);
    c.value = in.number("value", 0, kMost, TableReader::required).value_or(0);
    in.finish();
    c.sound = in.sound();
    return c;
  }

  Register one_register(const Value& table) {
    TableReader in(document_, table, table.place, "[[register]]", faults_);
    Register r;
    read_named(in, r);
    r.offset = number(in, "offset", 0, kMostBlockBytes, TableReader::required);
    r.bytes = number(in, "bytes", 4, 8, TableReader::optional, 4);
    if (r.bytes != 4 && r.bytes != 8) {
      fault(place_of(in, "bytes"), "bytes: must be 4 or 8");
      r.bytes = 4;
    }
    r.count = number(in, "count", 1, 0xFFFF, TableReader::optional, 1);
    r.stride = number(in, "stride", 0, kMostBlockBytes, TableReader::optional, r.bytes);
    r.kept = in.boolean("kept").value_or(false);
    if (table.find("stride") != nullptr && !r.is_array())
      fault(place_of(in, "stride"), "stride: is for registers with a count of 2 or more");
    if (r.stride < r.bytes) {
      fault(place_of(in, "stride"), "stride: must be at least the register's " + counted(r.bytes, "byte"));
    } else if (r.stride % r.bytes != 0) {
      fault(place_of(in, "stride"),
            "stride: must be a multiple of the register's " + counted(r.bytes, "byte"));
    }
    if (r.offset % r.bytes != 0)
      fault(place_of(in, "offset"),
            "offset: must be a multiple of the register's " + counted(r.bytes, "byte"));
    r.sound = in.sound();
    read_contents(in, r);
    in.finish();
    return r;
  }

  /// Its fields, or what stands in their place.
  void read_contents(TableReader& in, Register& r) {
    const Member* const access = in.find("access");
    const Member* const reset = in.find("reset");
    const std::vector<const Value*> fields = tables(in, "field", "register.field");
    if (!fields.empty()) {
      for (const Member* m : {access, reset})
        if (m != nullptr) fault(m->place, m->key + ": a register with fields has none of its own");
      for (const Value* v : fields) r.fields.push_back(field(*v, "[[register.field]]", r.bytes * 8, true));
      return;
    }
    r.whole = true;
    Field value;
    value.name = "VALUE";
    value.meaning = r.meaning;
    value.at = {0, static_cast<std::uint8_t>(r.bytes * 8)};
    if (access == nullptr && in.table().find("field") != nullptr) return;
    if (access == nullptr)
      return fault(in.place(), "[[register]] lacks \"access\", or [[register.field]] tables");
    value.access = read_access(in);
    value.reset = read_reset(in, value.at);
    r.fields.push_back(value);
  }

  Field field(const Value& table, const std::string& what, unsigned width, bool of_register) {
    TableReader in(document_, table, table.place, what, faults_);
    Field f;
    read_named(in, f);
    f.at = read_bits(in, width);
    if (of_register) {
      f.access = read_access(in);
      f.reset = read_reset(in, f.at);
    }
    f.enumeration = in.text("enumeration").value_or("");
    in.finish();
    f.sound = in.sound();
    return f;
  }

  Enumeration enumeration(const Value& table) {
    TableReader in(document_, table, table.place, "[[enumeration]]", faults_);
    Enumeration e;
    read_named(in, e);
    e.sound = in.sound();
    for (const Value* v : tables(in, "value", "enumeration.value"))
      e.values.push_back(constant(*v, "[[enumeration.value]]"));
    if (e.values.empty()) fault(in.place(), "[[enumeration]] lacks [[enumeration.value]] tables");
    in.finish();
    return e;
  }

  Structure structure(const Value& table) {
    TableReader in(document_, table, table.place, "[[structure]]", faults_);
    Structure s;
    read_named(in, s);
    s.bytes = number(in, "bytes", 1, kMostStructureBytes, TableReader::required, kMostStructureBytes);
    s.sound = in.sound();
    for (const Value* v : tables(in, "member", "structure.member")) s.members.push_back(member(*v, s.bytes));
    if (s.members.empty()) fault(in.place(), "[[structure]] lacks [[structure.member]] tables");
    in.finish();
    return s;
  }

  StructureMember member(const Value& table, std::uint32_t room) {
    TableReader in(document_, table, table.place, "[[structure.member]]", faults_);
    StructureMember m;
    read_named(in, m);
    m.offset = number(in, "offset", 0, kMostStructureBytes, TableReader::required);
    m.bytes = number(in, "bytes", 1, kMostStructureBytes, TableReader::required, 1);
    if (std::uint64_t{m.offset} + m.bytes > room) {
      fault(place_of(in, "offset"),
            "offset: the member ends beyond the structure's " + counted(room, "byte"));
    } else if ((m.bytes == 2 || m.bytes == 4 || m.bytes == 8) && m.offset % m.bytes != 0) {
      fault(place_of(in, "offset"), "offset: must be a multiple of the member's " + counted(m.bytes, "byte"));
    }
    m.enumeration = in.text("enumeration").value_or("");
    m.sound = in.sound();
    const std::vector<const Value*> fields = tables(in, "field", "structure.member.field");
    if (!fields.empty() && m.bytes > 8) fault(in.place(), "a member with fields has 8 bytes at most");
    for (const Value* v : fields)
      m.fields.push_back(field(*v, "[[structure.member.field]]", std::min(m.bytes, 8U) * 8, false));
    in.finish();
    return m;
  }
};

}  // namespace

Result<Block> read_block(const std::string& file, std::string_view text) {
  const Result<Document> document = Document::parse(file, text);
  if (!document.ok()) return document.faults();
  Diagnostics faults;
  Block block = BlockReader(document.value(), faults).read();
  check_block(block, document.value(), faults);
  if (faults.empty()) return block;
  std::stable_sort(faults.begin(), faults.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return a.line != b.line ? a.line < b.line : a.column < b.column;
  });
  return faults;
}

}  // namespace warpline::registers
