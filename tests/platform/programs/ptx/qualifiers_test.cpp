// The qualifiers of isa are those that the judge knows and that the reader reads.
#include "rtl_models/isa/qualifiers.h"

#include <gtest/gtest.h>

#include <string>

#include "platform/programs/ptx/single.h"
#include "platform/programs/ptx_legality/vocabulary.h"

namespace warpline::ptx {
namespace qualifiers_test {

TEST(Qualifiers, TheJudgeKnowsExactlyThoseOfIsa) {
  std::size_t known = 0;
  for (const Qualifier& q : kQualifiers) {
    const auto word = find_word("." + std::string(q.word));
    ASSERT_TRUE(word) << q.word;
    EXPECT_EQ(slot_of(*word), q.slot) << q.word;
    EXPECT_EQ(text_of(*word), "'." + std::string(q.word) + "'");
    ++known;
  }
  EXPECT_EQ(texts_of(WordSet().set()).size(), known);
}

/// A legal instruction with `q`; none where MemOp holds no such thing or no single access says it.
std::string instruction_with(const Qualifier& q) {
  const std::string word = "." + std::string(q.word);
  MemOp op;
  if (!apply(q, op) || op.l2_eviction == L2Eviction::unchanged || op.type == DataType::pred) return {};
  switch (q.slot) {
    case Slot::semantics:
      if (op.semantics == Semantics::acq_rel || op.semantics == Semantics::sc) return "fence" + word + ".gpu";
      if (op.semantics == Semantics::release) return "st" + word + ".gpu.global.u32 [a], d";
      return "ld" + word + (op.is_strong() ? ".gpu" : "") + ".global.u32 d, [a]";
    case Slot::mmio: return "ld.mmio.relaxed.sys.global.u32 d, [a]";
    case Slot::scope: return "fence.acq_rel" + word;
    case Slot::space:
      if (q.word == "param::func") return {};  // of device functions: a kernel has none
      return "ld" + word + ".u32 d, " + (op.space == Space::param ? "[kp]" : "[a]");
    case Slot::cache_operator:
      return is_of_loads(op.cache_operator) ? "ld.global" + word + ".u32 d, [a]"
                                            : "st.global" + word + ".u32 [a], d";
    case Slot::l2_eviction: return "ld.global" + word + ".v8.b32 {b,c,d,e,f,g,h,i}, [a]";
    case Slot::cache_hint: return "ld.global" + word + ".u32 d, [a], p";
    case Slot::vector:
      return "ld.global" + word + ".u32 {b,c" + (op.vector > 2 ? ",d,e" : "") +
             (op.vector > 4 ? ",f,g,h,i" : "") + "}, [a]";
    case Slot::type:
      if (is_float(op.type) && op.type < DataType::f32) return "atom.global.add.noftz" + word + " d, [a], b";
      return "ld.global" + word + " d, [a]";
    case Slot::arithmetic: {
      const bool bits =
          op.atomic >= AtomicOperation::bit_and && op.atomic <= AtomicOperation::compare_and_swap;
      const bool swaps = op.atomic == AtomicOperation::compare_and_swap;
      return "atom.global" + word + (bits ? ".b32" : ".u32") + " d, [a], b" + (swaps ? ", c" : "");
    }
    case Slot::level: return "prefetch.global" + word + " [a]";
    case Slot::bounds: return "suld.b.1d.b32" + word + " d, [%rd1, {x}]";
    default: return "ld.global" + word + ".u32 d, [a]";
  }
}

TEST(Qualifiers, TheReaderReadsEachThatMemOpHolds) {
  unsigned read = 0;
  for (const Qualifier& q : kQualifiers) {
    const std::string text = instruction_with(q);
    if (text.empty()) continue;
    const auto single = read_single(text);
    ASSERT_TRUE(single.ok()) << text << ": " << single.faults().front().text();
    ASSERT_TRUE(single.value().op) << text;
    // Said again, it changes nothing: it was said.
    MemOp again = *single.value().op;
    const std::string before = to_ptx(again);
    ASSERT_TRUE(apply(q, again));
    EXPECT_EQ(to_ptx(again), before) << text;
    EXPECT_EQ(again.beyond_edge, single.value().op->beyond_edge) << text;
    ++read;
  }
  EXPECT_GT(read, 60U);
}

}  // namespace qualifiers_test
}  // namespace warpline::ptx
