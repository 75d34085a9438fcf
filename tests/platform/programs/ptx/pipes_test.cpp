// Which arithmetic pipe instructions of PTX go to, by opcode and type.
#include "platform/programs/ptx/pipes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "platform/programs/latencies.h"
#include "rtl_models/base/text.h"

namespace warpline::test {
namespace pipes_test {

/// `text`: an opcode with its qualifiers. `latency`: what its family assumes.
Instruction assigned(const std::string& text, unsigned latency) {
  ptx::Statement s;
  const std::vector<std::string_view> words = split(text, '.');
  std::vector<std::string> kept;
  kept.reserve(words.size());
  for (const std::string_view w : words) kept.push_back("." + std::string(w));
  s.opcode.text = words.front();
  for (std::size_t n = 1; n < kept.size(); ++n) {
    ptx::Token q;
    q.text = kept[n];
    s.qualifiers.push_back(q);
  }
  Instruction i;
  i.latency = static_cast<std::uint8_t>(latency);
  ptx::assign_pipe(s, i);
  return i;
}

TEST(PtxPipes, OpcodeAndTypeSayWhichAndHowOften) {
  struct Row {
    const char* text;
    unsigned latency;
    PipeClass pipe;
    unsigned passes;
  };
  namespace l = latency;
  const Row rows[] = {{"add.f32", l::kSimple, PipeClass::f32, 1},
                      {"fma.rn.ftz.f32", l::kSimple, PipeClass::f32, 1},
                      {"fma.rn.f32x2", l::kSimple, PipeClass::f32, 2},
                      {"mul.rn.f64", l::kDouble, PipeClass::f64, 1},
                      {"max.f64", l::kDouble, PipeClass::f64, 1},
                      {"fma.rn.bf16x2", l::kSimple, PipeClass::f16, 1},
                      {"add.f16", l::kSimple, PipeClass::f16, 1},
                      {"add.s32", l::kSimple, PipeClass::integer, 1},
                      {"add.s64", l::kWide, PipeClass::integer, 2},
                      {"and.b64", l::kWide, PipeClass::integer, 2},
                      {"max.f32", l::kSimple, PipeClass::integer, 1},
                      {"setp.lt.s32", l::kSimple, PipeClass::integer, 1},
                      {"set.lt.u32.f64", l::kSimple, PipeClass::f64, 1},
                      {"mad.lo.s32", l::kMultiply, PipeClass::multiply, 1},
                      {"mul.wide.u32", l::kMultiply, PipeClass::multiply, 1},
                      {"mul.lo.s64", 2 * l::kMultiply, PipeClass::multiply, 3},
                      {"ex2.approx.ftz.f32", l::kFunction, PipeClass::special, 1},
                      {"popc.b64", l::kBits, PipeClass::special, 1},
                      {"cvt.rn.f32.s32", l::kBits, PipeClass::special, 1},
                      {"cvt.rn.f16x2.f32", l::kBits, PipeClass::integer, 1},
                      {"cvt.u64.u32", l::kSimple, PipeClass::none, 1},
                      {"sqrt.rn.f32", l::kDivide32, PipeClass::none, 1},
                      {"div.rn.f32", l::kDivide32, PipeClass::none, 1},
                      {"shfl.sync.bfly.b32", l::kShuffle, PipeClass::shuffle, 1},
                      {"mov.u32", l::kSimple, PipeClass::none, 1},
                      {"bra", l::kControl, PipeClass::none, 1}};
  for (const Row& row : rows) {
    const Instruction i = assigned(row.text, row.latency);
    EXPECT_EQ(i.pipe, row.pipe) << row.text;
    EXPECT_EQ(i.passes, row.passes) << row.text;
    EXPECT_EQ(i.latency, row.latency) << row.text;
  }
}

}  // namespace pipes_test
}  // namespace warpline::test
