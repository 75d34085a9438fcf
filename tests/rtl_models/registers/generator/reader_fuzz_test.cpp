// Damaged descriptions end in faults that can be read, or in a block of which everything can be made.
#include <gtest/gtest.h>

#include <algorithm>

#include "rtl_models/base/random.h"
#include "rtl_models/document/files.h"
#include "rtl_models/registers/generator/reader.h"
#include "rtl_models/registers/generator/writers.h"
#include "rtl_models/registers/register_file.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace reader_fuzz_test {

using namespace registers;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

/// Lines dropped, doubled, moved or with another value: what keeps it TOML, so that rules and not grammar are
/// met.
std::string damaged(const std::string& text, Random& random) {
  static const std::vector<std::string> kValues = {"0",
                                                   "1",
                                                   "-1",
                                                   "3",
                                                   "8",
                                                   "63",
                                                   "64",
                                                   "0x3FFC",
                                                   "[0, 63]",
                                                   "[]",
                                                   "[7, 0]",
                                                   "\"ro\"",
                                                   "\"OPCODE\"",
                                                   "\"A\"",
                                                   "true",
                                                   "65535",
                                                   "0x7FFFFFFFFFFFFFFF",
                                                   "{}",
                                                   "\"\"",
                                                   "0x4000"};
  std::vector<std::string> lines = lines_of(text);
  for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
    const std::size_t at = random.below(lines.size()), other = random.below(lines.size());
    switch (random.below(5)) {
      case 0: lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at)); break;
      case 1: lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), lines[other]); break;
      case 2: std::swap(lines[at], lines[other]); break;
      case 3: lines[at][random.below(lines[at].size())] = static_cast<char>(random.below(256)); break;
      default: {
        const std::size_t equals = lines[at].find(" = ");
        if (equals != std::string::npos)
          lines[at] = lines[at].substr(0, equals + 3) + kValues[random.below(kValues.size())] + "\n";
      }
    }
  }
  std::string all;
  for (const std::string& line : lines) all += line;
  return all;
}

/// A description that breaks no rule breaks no contract of the model's either.
void expect_registers(const Block& block) {
  std::vector<std::vector<FieldDescription>> fields;
  std::vector<RegisterDescription> table;
  for (const Register& r : block.registers) {
    fields.emplace_back();
    for (const Field& f : r.fields) fields.back().push_back({f.name.c_str(), f.at, f.access, f.reset, ""});
    table.push_back({r.name.c_str(), r.offset, static_cast<std::uint8_t>(r.bytes),
                     static_cast<std::uint16_t>(r.count), r.stride, r.kept, "", fields.back().data(),
                     static_cast<unsigned>(r.fields.size())});
  }
  const RegisterMap map{block.name.c_str(), block.bytes, table.data(), static_cast<unsigned>(table.size())};
  const RegisterFile file(map);
  for (unsigned i = 0; i < map.register_count; ++i)
    EXPECT_EQ(file.get(i, block.registers[i].count - 1), registers::reset_value(block.registers[i]));
}

TEST(ReaderFuzz, DamagedDescriptionsEndInFaultsOrFiles) {
  const std::string text = read_file(WARPLINE_SOURCE_DIR "/sw/regs/peer.toml").value();
  const std::uint64_t mutants = from_environment("WARPLINE_FUZZ_MUTANTS", 40) * 4;
  unsigned right = 0, wrong = 0;
  for (std::uint64_t seed = 0; seed < mutants && !HasFailure(); ++seed) {
    Random random(seed * 1000);
    const std::string mutant = damaged(text, random);
    const auto lines = static_cast<unsigned>(lines_of(mutant).size());
    const Result<Block> read = read_block("mutant.toml", mutant);
    if (!read.ok()) {
      ++wrong;
      ASSERT_FALSE(read.faults().empty()) << "seed " << seed;
      for (const Diagnostic& d : read.faults()) {
        EXPECT_FALSE(d.message.empty()) << "seed " << seed;
        EXPECT_LE(d.line, lines + 1) << "seed " << seed << ": " << d.text();
      }
      continue;
    }
    ++right;
    expect_registers(read.value());
    EXPECT_FALSE(table_text(read.value()).empty() || header_text(read.value()).empty() ||
                 manual_text(read.value()).empty())
        << "seed " << seed;
  }
  EXPECT_GT(right, 0U);
  EXPECT_GT(wrong, 0U);
}

}  // namespace reader_fuzz_test
}  // namespace warpline::test
