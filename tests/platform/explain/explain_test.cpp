#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "platform/explain/explanation.h"
#include "platform/explain/lowering.h"
#include "platform/programs/sass_trace/opcode.h"

namespace warpline {
namespace explain_test {

MemOp weak_load(Space space = Space::global) {
  MemOp op;
  op.space = space;
  op.type = DataType::u32;
  return op;
}

MemOp weak_store() {
  MemOp op = weak_load();
  op.kind = MemKind::store;
  return op;
}

std::string at(const Explanation& e, const std::string& place) {
  std::string text;
  for (const auto& effect : e.effects)
    if (effect.place == place) text += effect.text + "\n";
  return text;
}

MemOp with(MemOp op, const std::function<void(MemOp&)>& change) {
  change(op);
  return op;
}

TEST(Lowering, WritesTheModifiersThatTracesCarry) {
  struct Row {
    MemOp op;
    const char* sass;
  };
  const Row rows[] = {
      {weak_load(), "LDG.E"},
      {with(weak_load(), [](MemOp& m) { m.l1_eviction = L1Eviction::last; }), "LDG.E.EL"},
      {with(weak_load(), [](MemOp& m) { m.l1_eviction = L1Eviction::no_allocate; }), "LDG.E.NA"},
      {with(weak_load(), [](MemOp& m) { m.cache_operator = CacheOperator::cs; }), "LDG.E.EF"},
      {with(weak_load(), [](MemOp& m) { m.cache_operator = CacheOperator::cg; }), "LDG.E.STRONG.GPU"},
      {with(weak_load(), [](MemOp& m) { m.cache_operator = CacheOperator::cv; }), "LDG.E.STRONG.SYS"},
      {with(weak_load(), [](MemOp& m) { m.prefetch_bytes = 256; }), "LDG.E.LTC256B"},
      {with(weak_load(), [](MemOp& m) { m.is_noncoherent = true; }), "LDG.E.CONSTANT"},
      {with(weak_load(),
            [](MemOp& m) {
              m.type = DataType::f32;
              m.vector = 4;
            }),
       "LDG.E.128"},
      {with(weak_load(), [](MemOp& m) { m.type = DataType::s8; }), "LDG.E.S8"},
      {weak_load(Space::local), "LDL"},
      {weak_load(Space::generic), "LD.E"},
      {weak_store(), "STG.E"},
      {with(weak_store(), [](MemOp& m) { m.cache_operator = CacheOperator::wt; }), "STG.E.STRONG.SYS"},
  };
  for (const Row& row : rows) {
    const Lowering l = lowering_of(row.op);
    ASSERT_EQ(l.opcodes.size(), 1U);
    EXPECT_EQ(l.opcodes[0], row.sass);
  }
}

TEST(Lowering, OrdersBeforeAndAfter) {
  MemOp acquire = weak_load();
  acquire.semantics = Semantics::acquire;
  acquire.scope = Scope::gpu;
  EXPECT_EQ(lowering_of(acquire).opcodes, (std::vector<std::string>{"LDG.E.STRONG.GPU", "CCTL.IVALL"}));
  acquire.scope = Scope::cta;
  EXPECT_EQ(lowering_of(acquire).opcodes, (std::vector<std::string>{"LDG.E.STRONG.SM"}));

  MemOp release = weak_store();
  release.semantics = Semantics::release;
  release.scope = Scope::sys;
  EXPECT_EQ(lowering_of(release).opcodes,
            (std::vector<std::string>{"MEMBAR.ALL.SYS", "ERRBAR", "STG.E.STRONG.SYS"}));

  MemOp fence;
  fence.kind = MemKind::fence;
  fence.semantics = Semantics::sc;
  fence.scope = Scope::cta;
  EXPECT_EQ(lowering_of(fence).opcodes, (std::vector<std::string>{"MEMBAR.SC.CTA"}));
  fence.semantics = Semantics::acquire;
  fence.scope = Scope::gpu;
  EXPECT_EQ(lowering_of(fence).opcodes, (std::vector<std::string>{"CCTL.IVALL"}));
}

/// What the assembler writes, the reader of traces takes back: eviction, prefetch size, scope, bytes.
TEST(Lowering, IsReadBackFromTraces) {
  unsigned tried = 0;
  for (const L1Eviction eviction : {L1Eviction::none, L1Eviction::first, L1Eviction::last,
                                    L1Eviction::unchanged, L1Eviction::no_allocate})
    for (const unsigned prefetch : {0U, 64U, 128U, 256U})
      for (const Scope scope : {Scope::none, Scope::cta, Scope::gpu, Scope::sys})
        for (const unsigned vector : {1U, 2U, 4U})
          for (const MemKind kind : {MemKind::load, MemKind::store})
            for (const bool noncoherent : {false, true}) {
              if (noncoherent && (kind == MemKind::store || scope != Scope::none)) continue;
              if (kind == MemKind::store && prefetch != 0) continue;
              MemOp op = weak_load();
              op.kind = kind;
              op.l1_eviction = eviction;
              op.prefetch_bytes = static_cast<std::uint16_t>(prefetch);
              op.scope = scope;
              op.semantics = scope == Scope::none ? Semantics::weak : Semantics::relaxed;
              op.vector = static_cast<std::uint8_t>(vector);
              op.is_noncoherent = noncoherent;
              const Lowering l = lowering_of(op);
              ASSERT_EQ(l.opcodes.size(), 1U);
              const sass::Opcode read = sass::decode_opcode(l.opcodes[0]);
              EXPECT_TRUE(read.unknown.empty()) << l.opcodes[0];
              EXPECT_EQ(read.mem.kind, kind) << l.opcodes[0];
              EXPECT_EQ(read.mem.l1_eviction, eviction) << l.opcodes[0];
              EXPECT_EQ(read.mem.prefetch_bytes, prefetch) << l.opcodes[0];
              EXPECT_EQ(read.mem.semantics, op.semantics) << l.opcodes[0];
              EXPECT_EQ(read.mem.scope, op.scope) << l.opcodes[0];
              EXPECT_EQ(read.mem.is_noncoherent, noncoherent) << l.opcodes[0];
              EXPECT_EQ(read.mem.bytes_per_lane(), op.bytes_per_lane()) << l.opcodes[0];
              ++tried;
            }
  EXPECT_GT(tried, 200U);
}

TEST(Explanation, SaysWhereLoweringAndDocumentDiffer) {
  const GpuConfig gpu;
  MemOp last_use = weak_load(Space::local);
  last_use.cache_operator = CacheOperator::lu;
  const Explanation local = explain(last_use, gpu);
  EXPECT_NE(at(local, "L1 local/global").find("last use"), std::string::npos);
  ASSERT_EQ(local.notes.size(), 1U);
  EXPECT_NE(local.notes[0].find("lost"), std::string::npos);
  EXPECT_EQ(local.sass, (std::vector<std::string>{"LDL"}));

  MemOp cg = weak_load();
  cg.cache_operator = CacheOperator::cg;
  const Explanation e = explain(cg, gpu);
  EXPECT_NE(e.summary.find("weak load"), std::string::npos);
  EXPECT_NE(at(e, "L1 local/global").find("passed by"), std::string::npos);
  ASSERT_EQ(e.notes.size(), 1U);
  EXPECT_TRUE(explain(weak_load(), gpu).notes.empty());
}

TEST(Explanation, FollowsThePreset) {
  GpuConfig gpu;
  const auto l1 = [&gpu](const MemOp& op) { return at(explain(op, gpu), "L1 local/global"); };
  EXPECT_NE(l1(weak_store()).find("a present line is updated"), std::string::npos);
  gpu.l1_lg.update_on_store = false;
  EXPECT_NE(l1(weak_store()).find("a present line is dropped"), std::string::npos);

  MemOp last = weak_load();
  last.l1_eviction = L1Eviction::last;
  gpu.l1_lg.geometry = {96, 16, 75};
  EXPECT_NE(l1(last).find("at most 1152 of the 1536 lines, and all but one of a set"), std::string::npos);
  EXPECT_NE(l1(last).find("192 KiB, 96 sets of 16 lines"), std::string::npos);
  gpu.l1_lg.geometry.evict_last_percent = 0;
  EXPECT_NE(l1(last).find("sets nothing aside"), std::string::npos);

  MemOp use = weak_load(Space::local);
  use.cache_operator = CacheOperator::cs;
  EXPECT_NE(l1(use).find("stay readable"), std::string::npos);
  gpu.l1_lg.poison_last_use = true;
  EXPECT_NE(l1(use).find("pattern"), std::string::npos);

  MemOp noncoherent = weak_load();
  noncoherent.is_noncoherent = true;
  EXPECT_NE(at(explain(noncoherent, gpu), "texture/.nc").find("may be stale"), std::string::npos);
  gpu.sm.unified_l1 = true;
  EXPECT_EQ(at(explain(noncoherent, gpu), "texture/.nc"), "");
  EXPECT_NE(l1(noncoherent).find("the least recently used goes"), std::string::npos);
  gpu.l1_lg.geometry.replacement = "random";
  EXPECT_NE(l1(noncoherent).find("any of them goes"), std::string::npos);

  gpu.l2.slices = 80;
  gpu.l2.geometry = {256, 16, 75};
  EXPECT_NE(at(explain(weak_load(), gpu), "L2").find("40960 KiB, 80 slices of 256 sets"), std::string::npos);
}

TEST(Explanation, SaysWhereMmioIsPerformedAndInWhatStepsPoliciesAct) {
  const GpuConfig gpu;
  MemOp mmio = weak_load();
  mmio.is_mmio = true;
  mmio.semantics = Semantics::relaxed;
  mmio.scope = Scope::sys;
  EXPECT_NE(at(explain(mmio, gpu), "L2").find("not looked up; what is dirty of the line goes to DRAM first"),
            std::string::npos);
  MemOp hinted = weak_load();
  hinted.cache_hint = true;
  EXPECT_NE(
      at(explain(hinted, gpu), "L2").find("a range in steps of 4 KiB at least, a fraction of n sixteenths"),
      std::string::npos);
}

TEST(Explanation, NamesEachSpaceOfItsOwn) {
  const GpuConfig gpu;
  const auto places = [&gpu](Space space) {
    std::string all;
    for (const auto& effect : explain(weak_load(space), gpu).effects) all += effect.place + ";";
    return all;
  };
  EXPECT_EQ(places(Space::shared), "SM;");
  EXPECT_EQ(places(Space::local), "SM;L1 local/global;L2;");
  EXPECT_EQ(places(Space::constant), "SM;constant;L2;");
  EXPECT_EQ(places(Space::global), "SM;L1 local/global;L2;system memory;");
  EXPECT_EQ(places(Space::generic), "SM;SM;L1 local/global;L2;system memory;");
  MemOp nc = weak_load();
  nc.is_noncoherent = true;
  EXPECT_NE(at(explain(nc, gpu), "texture/.nc").find("stale"), std::string::npos);
}

}  // namespace explain_test
}  // namespace warpline
