// The text of litmus tests: what it means, and what is said of what it cannot mean.
#include "platform/consistency/parser.h"

#include <gtest/gtest.h>

#include "rtl_models/isa/qualifiers.h"

namespace warpline::litmus {
namespace parser_test {

Test parsed(const std::string& text) {
  Result<litmus::Test> r = parse(text, "t.litmus");
  if (!r.ok()) {
    ADD_FAILURE() << r.faults().front().text();
    return {};
  }
  return std::move(r.value());
}

/// A test of one thread with this one instruction.
Test with(const std::string& instruction, const std::string& initial = "x=0;") {
  return parsed("PTX t\n{\n" + initial + "\n}\n P0@cta 0,gpu 0 ;\n " + instruction + " ;\nexists (0==0)\n");
}

const Instruction& only(const Test& t) {
  static const Instruction kNone;
  EXPECT_EQ(t.threads.at(0).code.size(), 1U);
  return t.threads[0].code.empty() ? kNone : t.threads[0].code[0];
}

TEST(LitmusParser, ReadsNamesPlacesAndInitialValues) {
  const litmus::Test t = parsed(
      "PTX MP two words\n\"what it is for\nand more\"\n{\nx = 1; y = -2;\nP1:r0=0x10;\n}\n"
      " P0@cta 3, gpu 1 | P1@gpu 0,cluster 2,cta 4 ;\n"
      " st.weak x, 1     | ld.weak r0, y ;\n"
      "                  | ld.weak r1, x ;\n"
      "exists (P1:r0 == 1 /\\ 1:r1 = 0)\n");
  EXPECT_EQ(t.name, "MP two words");
  EXPECT_EQ(t.description, "what it is for\nand more");
  ASSERT_EQ(t.threads.size(), 2U);
  EXPECT_EQ(t.threads[0].place.cta, 3U);
  EXPECT_EQ(t.threads[0].place.gpu, 1U);
  EXPECT_EQ(t.threads[1].place.cluster, 2U);
  EXPECT_EQ(t.threads[1].place.cta, 4U);
  ASSERT_EQ(t.memories.size(), 2U);
  EXPECT_EQ(t.memories[1].initial, -2);
  EXPECT_EQ(t.threads[1].registers, (std::vector<std::string>{"r0", "r1"}));
  EXPECT_EQ(t.threads[1].initial, (std::vector<std::int64_t>{16, 0}));
  EXPECT_EQ(t.threads[1].code.size(), 2U);
  EXPECT_EQ(t.threads[0].code[0].text, "st.weak x, 1");
  EXPECT_EQ(t.condition.text, "(P1:r0 == 1 /\\ 1:r1 = 0)");
}

TEST(LitmusParser, AnInitialValueMayStandThereTwice) {
  EXPECT_EQ(
      with("ld.weak r0, x", "x=5; y @ generic aliases x = 5; x=5; P0:r0=1; P0:r0=1;").memories[0].initial, 5);
  EXPECT_EQ(with("st.weak x, -9223372036854775808").threads[0].code[0].a.value, INT64_MIN);
}

TEST(LitmusParser, NamesOfOneMemoryShareItsBytes) {
  const litmus::Test t =
      with("tld.weak r0, t", "x=5; y @ generic aliases x; t @ texture aliases y; z @ sysmem = 3;");
  ASSERT_EQ(t.locations.size(), 4U);
  EXPECT_EQ(t.memories.size(), 2U);
  EXPECT_EQ(t.locations[1].memory, t.locations[0].memory);
  EXPECT_NE(t.locations[1].address, t.locations[0].address);
  EXPECT_EQ(t.locations[2].address, t.locations[1].address);
  EXPECT_EQ(t.locations[3].home, Home::sysmem);
  EXPECT_EQ(t.memories[t.locations[3].memory].initial, 3);
}

struct Opcode {
  const char* text;
  MemKind kind;
  Semantics semantics;
  Scope scope;
};

TEST(LitmusParser, OpcodesMeanWhatPtxMeansByThem) {
  for (const Opcode& o : {
           Opcode{"ld.weak r0, x", MemKind::load, Semantics::weak, Scope::none},
           Opcode{"ld.relaxed.gpu r0, x", MemKind::load, Semantics::relaxed, Scope::gpu},
           Opcode{"ld.acquire.cluster r0, x", MemKind::load, Semantics::acquire, Scope::cluster},
           Opcode{"ld.volatile r0, x", MemKind::load, Semantics::relaxed, Scope::sys},
           Opcode{"ld.mmio.relaxed.sys r0, x", MemKind::load, Semantics::relaxed, Scope::sys},
           Opcode{"st.release.sys [x], 1", MemKind::store, Semantics::release, Scope::sys},
           Opcode{"atom.add r0, x, 1", MemKind::atomic, Semantics::relaxed, Scope::gpu},
           Opcode{"atom.acq_rel.cta.cas r0, x, 0, 1", MemKind::atomic, Semantics::acq_rel, Scope::cta},
           Opcode{"red.release.gpu.sub x, 1", MemKind::reduction, Semantics::release, Scope::gpu},
           Opcode{"fence.sc.gpu", MemKind::fence, Semantics::sc, Scope::gpu},
           Opcode{"membar.gl", MemKind::fence, Semantics::sc, Scope::gpu},
           Opcode{"fence.cta", MemKind::fence, Semantics::acq_rel, Scope::cta},
           Opcode{"fence.proxy.alias", MemKind::proxy_fence, Semantics::weak, Scope::none},
           Opcode{"suld.weak r0, x", MemKind::surface_load, Semantics::weak, Scope::none},
           Opcode{"sust.weak x, 1", MemKind::surface_store, Semantics::weak, Scope::none},
           Opcode{"CCTL.IV x", MemKind::cache_control, Semantics::weak, Scope::none},
       }) {
    const litmus::Test t = with(o.text);
    const MemOp& op = only(t).op;
    EXPECT_EQ(op.kind, o.kind) << o.text;
    EXPECT_EQ(op.semantics, o.semantics) << o.text;
    EXPECT_EQ(op.scope, o.scope) << o.text;
  }
}

TEST(LitmusParser, CacheOperatorsTypesAndOffsets) {
  EXPECT_EQ(only(with("ld.weak.cg r0, x")).op.cache_operator, CacheOperator::cg);
  EXPECT_EQ(only(with("st.weak.wt x, 1")).op.cache_operator, CacheOperator::wt);
  EXPECT_EQ(only(with("ld.weak.global.nc r0, x")).op.proxy, Proxy::noncoherent);
  const litmus::Test part = with("ld.weak.u16 r0, x+6");
  EXPECT_EQ(only(part).offset, 6U);
  EXPECT_EQ(only(part).bytes(), 2U);
  EXPECT_EQ(part.memories[0].bytes, 8U);
  EXPECT_EQ(with("ld.weak r0, x").memories[0].bytes, 4U);
}

TEST(LitmusParser, VectorsHaveAnElementEach) {
  const litmus::Test load = with("ld.acquire.gpu.v2.u16 {r3, r4}, x+4");
  EXPECT_EQ(only(load).bytes(), 2U);
  EXPECT_EQ(only(load).all_bytes(), 4U);
  EXPECT_EQ(load.threads[0].registers, (std::vector<std::string>{"r3", "r4"}));
  EXPECT_EQ(only(load).destination, 0U);
  EXPECT_EQ(only(load).more_destinations, std::vector<unsigned>{1});
  EXPECT_EQ(load.memories[0].bytes, 8U);
  const litmus::Test store = with("st.weak.v2 x, {r0, -7}");
  EXPECT_TRUE(only(store).a.is_register);
  ASSERT_EQ(only(store).more_values.size(), 1U);
  EXPECT_EQ(only(store).more_values[0].value, -7);
  EXPECT_EQ(only(store).text, "st.weak.v2 x, {r0, -7}");
}

TEST(LitmusParser, PredicatesComparisonsAndRegistersInAddresses) {
  const litmus::Test guarded = with("@!p ld.weak r0, x+r1+4");
  const Instruction& i = only(guarded);
  EXPECT_EQ(i.text, "@!p ld.weak r0, x+r1+4");
  EXPECT_EQ(guarded.threads[0].registers.at(i.guard), "p");
  EXPECT_TRUE(i.guard_negated);
  EXPECT_EQ(guarded.threads[0].registers.at(i.index), "r1");
  EXPECT_EQ(guarded.memories[0].bytes, 8U);
  EXPECT_EQ(i.offset_at(0), 4U);
  EXPECT_EQ(i.offset_at(3), 4U) << "aligned down";
  EXPECT_EQ(i.offset_at(4), 0U) << "wraps";
  EXPECT_EQ(i.offset_at(-4), 0U);
  const litmus::Test compared = with("setp.le p, r0, 3");
  EXPECT_EQ(only(compared).kind, InstructionKind::compare);
  EXPECT_EQ(only(compared).comparison, Comparison::less_equal);
  const litmus::Test number = with("ld.weak r0, -5");
  EXPECT_EQ(only(number).kind, InstructionKind::move);
  EXPECT_EQ(only(number).a.value, -5);
}

TEST(LitmusParser, CopiesGoToSharedMemory) {
  const litmus::Test t = with("cp.async.ca s+4, x, 4", "x=0; s @ shared;");
  const Instruction& i = only(t);
  EXPECT_EQ(i.op.kind, MemKind::async_copy);
  EXPECT_EQ(t.locations[i.location].name, "x");
  EXPECT_EQ(t.locations[i.copy_to].name, "s");
  EXPECT_EQ(i.copy_offset, 4U);
  EXPECT_EQ(i.bytes(), 4U);
  EXPECT_EQ(t.memories[t.locations[i.copy_to].memory].bytes, 8U);
  EXPECT_EQ(t.memories[t.locations[i.location].memory].bytes, 4U);
  EXPECT_EQ(only(with("cp.async.wait_group 3")).a.value, 3);
  EXPECT_FALSE(only(with("cp.async.wait_all")).waits);
  EXPECT_EQ(only(with("cp.async.commit_group")).kind, InstructionKind::commit_copies);
}

TEST(LitmusParser, BulkCopiesTakeAsManyBytesAsAreLookedAt) {
  const std::string head =
      "PTX t\n{\nx=0; s @ shared of P0; b @ mbarrier of P0 = 3;\n}\n P0@cta 0,gpu 0 ;\n ";
  const auto first_of = [&](const std::string& code) {
    const litmus::Test t = parsed(head + code + "exists 0==0\n");
    return t.threads.at(0).code.at(0);
  };
  const Instruction load = first_of("cp.async.bulk s, x, 16, b ;\n ld.weak.b64 r0, s ;\n");
  EXPECT_EQ(load.op.kind, MemKind::bulk_copy);
  EXPECT_EQ(load.op.bulk, BulkDirection::to_shared);
  EXPECT_EQ(load.op.proxy, Proxy::async);
  EXPECT_EQ(load.copied, 8U);
  EXPECT_EQ(load.completes, 2U);
  const Instruction store = first_of("cp.async.bulk x, s, 16 ;\n");
  EXPECT_EQ(store.op.bulk, BulkDirection::to_global);
  EXPECT_EQ(store.copied, 4U);
  EXPECT_EQ(store.completes, Instruction::kNoLocation);
  const Instruction arrive = first_of("mbarrier.arrive.expect_tx.release.cluster _, b, 16 ;\n");
  EXPECT_EQ(arrive.mbarrier, MbarrierUse::arrive_expect);
  EXPECT_EQ(arrive.destination, Instruction::kNoRegister);
  EXPECT_EQ(arrive.op.scope, Scope::cluster);
  EXPECT_EQ(arrive.b.value, 16);
  const Instruction wide = first_of("atom.acquire.gpu.cas.b128 {r0, r1}, x, {1, 2}, {3, 4} ;\n");
  EXPECT_EQ(wide.bytes(), 16U);
  EXPECT_EQ(wide.more_destinations, std::vector<unsigned>{1});
  ASSERT_EQ(wide.more_values.size(), 2U);
  EXPECT_EQ(wide.more_values[0].value, 2);
  EXPECT_EQ(wide.b.value, 3);
  EXPECT_EQ(wide.more_values[1].value, 4);
}

TEST(LitmusParser, BarriersMeetByTheirIdWithAsManyAsTheyCount) {
  const litmus::Test one = with("bar.cta.sync 3");
  EXPECT_EQ(only(one).a.value, 3);
  EXPECT_FALSE(only(one).counts);
  const litmus::Test two = with("bar.cta.arrive 1, r2");
  EXPECT_TRUE(only(two).a.is_register);
  EXPECT_FALSE(only(two).waits);
  const litmus::Test three = with("bar.cta.sync 1, 4, 2");
  EXPECT_EQ(only(three).a.value, 4);
  EXPECT_EQ(only(three).b.value, 2);
  EXPECT_TRUE(only(three).counts);
}

TEST(LitmusParser, LabelsAreOfTheirThread) {
  const litmus::Test t = parsed(
      "PTX t\n{\nx=0;\n}\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n LC00: | LC00: ;\n ld.weak r0, x | goto LC01 "
      ";\n"
      " bne r0, 1, LC00 | ld.weak r0, x ;\n | LC01: ;\nexists 0==0\n");
  EXPECT_EQ(t.threads[0].code.at(1).target, 0U);
  EXPECT_EQ(t.threads[1].code.at(0).target, 2U);
}

struct Mistake {
  const char* instruction;
  const char* says;
};

TEST(LitmusParser, SaysWhatItCannotRun) {
  for (const Mistake& m : {
           Mistake{"lds.weak r0, x", "did you mean"},
           Mistake{"ld.relaxed r0, x", "has no scope"},
           Mistake{"ld.weak.gpu r0, x", "a weak access has no scope"},
           Mistake{"ld.release.gpu r0, x", "are not for"},
           Mistake{"st.acquire.gpu x, 1", "are not for"},
           Mistake{"ld.sc.gpu r0, x", "are not for"},
           Mistake{"ld.relaxed.gpu.cg r0, x", "can only be weak"},
           Mistake{"ld.weak.wt r0, x", "says nothing of"},
           Mistake{"ld.volatile.gpu r0, x", "says its order twice"},
           Mistake{"atom.weak.add r0, x, 1", "an atomic is not weak"},
           Mistake{"atom.relaxed.gpu r0, x, 1", "says what it does"},
           Mistake{"atom.add.u8 r0, x, 1", "4 or 8 bytes"},
           Mistake{"fence.relaxed.gpu", "is no fence"},
           Mistake{"fence.proxy.tensor", "names no proxy"},
           Mistake{"membar.cluster", "has no level"},
           Mistake{"ld.weak r0", "\",\" is missing"},
           Mistake{"ld.weak r0, x, 1", "one operand too many"},
           Mistake{"ld.weak.b64 r0, x+4", "aligned to its size"},
           Mistake{"ld.weak r0, x+0x7ffffffffffffffc", "aligned to its size"},
           Mistake{"st.weak x, -9223372036854775809", "at most 64 bits"},
           Mistake{"bar.cta.sync 16", "barriers 0 to 15"},
           Mistake{"bar.cta.red 1", "is no barrier"},
           Mistake{"goto L9", "there is no label"},
           Mistake{"ld.weak.shared r0, x", "does not lie in shared memory"},
           Mistake{"mov 3, r0", "the register that it writes is missing"},
           Mistake{"ld.weak.v2 r0, x", "\"{\" is missing"},
           Mistake{"ld.weak.v2 {r0, r1, r2}, x", "\"}\" is missing"},
           Mistake{"ld.weak.v4 {r0, r1, r2, r3}, x", "at most 8 bytes"},
           Mistake{"ld.weak.v2 {r0, r1}, x+4", "aligned to its size"},
           Mistake{"ld.mmio.relaxed.sys.v2 {r0, r1}, x", "no vectors"},
           Mistake{"atom.add.v2 r0, x, 1", "says nothing of"},
           Mistake{"atom.exch.b16 r0, x, 1", "4 or 8 bytes, and .cas also 2"},
           Mistake{"setp.xx p, r0, 1", "is no comparison"},
           Mistake{"@p fence.sc.gpu", "predicates are for"},
           Mistake{"@p bar.cta.sync 0", "predicates are for"},
           Mistake{"cp.async.ca x, x, 4", "goes to shared memory"},
           Mistake{"cp.async.bulk.tensor x, x, 16", "is no asynchronous copy"},
           Mistake{"cp.async.bulk x, x, 16", "goes to shared memory, or comes from there"},
           Mistake{"cp.async.bulk x, s, 4", "have 16 bytes"},
           Mistake{"cp.async.bulk s, x, 16", "\",\" is missing"},
           Mistake{"cp.async.bulk s, x, 16, x", "is no mbarrier object"},
           Mistake{"cp.async.bulk s+r0, x, 16, b", "all 16 bytes of its locations"},
           Mistake{"mbarrier.inval b", "no operation on mbarriers"},
           Mistake{"mbarrier.expect_tx.release b, 4", "says nothing of an mbarrier"},
           Mistake{"mbarrier.expect_tx b, 1025", "0 to 1024 bytes"},
           Mistake{"ld.weak r0, b", "which only mbarrier operations access"},
           Mistake{"barrier.cluster.arrive.acquire", "is no barrier of a cluster"},
           Mistake{"fence.proxy.async.local", "names no proxy"},
           Mistake{"st.async.relaxed.cluster s, 1, b", "takes no such order"},
           Mistake{"st.async x, 1, b", "does not lie in shared memory"},
           Mistake{"st.async.v2 s, {1, 2}, b", "are no vectors"},
           Mistake{"ld.weak.b128 r0, x", "says nothing of"},
           Mistake{"atom.add.b128 {r0, r1}, x, {1, 2}", "there are atom.cas and atom.exch"},
           Mistake{"cp.async.wait_group r0", "a number is missing"},
           Mistake{"cp.async.wait_group 65", "0 to 64 groups"},
       }) {
    const Result<litmus::Test> r =
        parse(std::string("PTX t\n{\nx=0; s @ shared; b @ mbarrier;\n}\n P0@cta 0,gpu 0 ;\n ") +
                  m.instruction + " ;\nexists 0==0\n",
              "t.litmus");
    ASSERT_FALSE(r.ok()) << m.instruction;
    EXPECT_EQ(r.faults().front().line, 6U) << m.instruction;
    EXPECT_NE(r.faults().front().text().find(m.says), std::string::npos) << r.faults().front().text();
  }
}

TEST(LitmusParser, SaysWhatIsWrongAroundTheThreads) {
  const std::string threads = " P0@cta 0,gpu 0 ;\n ld.weak r0, x ;\n";
  const auto held = [&](const std::string& hold) {
    return "PTX t\n{\nx=0; s @ shared;\n}\n" + threads + "hold " + hold + ";\nexists (x == 0)";
  };
  for (const auto& [text, says] : std::vector<std::pair<std::string, std::string>>{
           {"", "begins with \"PTX\""},
           {"AArch64 t\n{\n}\n", "begins with \"PTX\""},
           {"PTX t\n", "no line begins with"},
           {"PTX t\n{\nx=0\n", "is missing"},
           {"PTX t\n{\nx=;\n}\n" + threads + "exists 0==0", "a number is missing"},
           {"PTX t\n{\nx=99999999999999999999;\n}\n" + threads + "exists 0==0", "at most 64 bits"},
           {"PTX t\n{\nx=0; x=1;\n}\n" + threads + "exists 0==0", "'x' begins as 1 here, and as 0 before"},
           {"PTX t\n{\nx=0; t @ texture aliases x = 2;\n}\n" + threads + "exists 0==0",
            "'t' begins as 2 here"},
           {"PTX t\n{\nP0:r0=3; P0:r0=4;\n}\n" + threads + "exists 0==0", "'r0' begins as 4 here"},
           {"PTX t\n{\nP7:r0=1;\n}\n" + threads + "exists 0==0", "there is no thread P7"},
           {"PTX t\n{\ns @ shared of P7;\n}\n" + threads + "exists 0==0", "there is no thread P7"},
           {"PTX t\n{\nb @ mbarrier;\n}\n" + threads + "exists (b == 0)", "is an mbarrier object"},
           {"PTX t\n{\ny @ texure aliases x;\n}\n" + threads + "exists 0==0", "neither a proxy nor a memory"},
           {"PTX t\n{\ny @ texture aliases x;\n}\n" + threads + "exists 0==0", "declared nowhere before"},
           {"PTX t\n{\nx=0;\n}\n" + threads, "a condition is missing"},
           {held("read x of P0 until P0:0"), "'read' cannot be held"},
           {held("fill z of P0 until P0:0"), "there is no location 'z'"},
           {held("fill s of P0 until P0:0"), "shared memory, which no queue leads to"},
           {held("fill x of P3 until P0:0"), "there is no thread 'P3'"},
           {held("fill x P0 until P0:0"), "\"until\" is missing"},
           {held("write x of P0 until P0:r0"), "a number is missing"},
           {held("write x of P0 until P0:1"), "thread P0 has no instruction 1"},
           {held("write x of P0 until P0:-1"), "thread P0 has no instruction -1"},
           {held("write x of P0 until P0:0 P1"), "\";\" is missing"},
           {"PTX t\n{\nx=0;\n}\n" + threads + "exists (P0:r9 == 1)", "names register"},
           {"PTX t\n{\nx=0;\n}\n" + threads + "exists (P0:r0 = 1", "is missing"},
           {"PTX t\n{\nx=0;\n}\n" + threads + "exists (z == 1)", "there is no location"},
           {"PTX t\n{\nx=0;\n}\n" + threads + "exists x == 1 exists", "behind the end"},
           {"PTX t\n{\nx=0;\n}\n P0@sm 0 ;\nexists 0==0", "no place of a thread"},
           {"PTX t\n{\nx=0;\n}\n P0@cta 0 ;\n ld.weak r0, x | ld.weak r0, x ;\nexists 0==0", "more columns"},
           {"PTX t\n{\nx=0;\n}\n" + threads + "exists " + std::string(5000, '('), "nests too deep"},
           {"PTX t\n{\nx=0;\n}\n" + threads + "exists " + std::string(5000, '~'), "nests too deep"},
       }) {
    const Result<litmus::Test> r = parse(text, "t.litmus");
    ASSERT_FALSE(r.ok()) << text;
    std::string all;
    for (const Diagnostic& d : r.faults()) all += d.text();
    EXPECT_NE(all.find(says), std::string::npos) << all;
  }
}

TEST(LitmusParser, AHoldIsOfOneThreadOrOfAll) {
  const auto held_threads = [](const std::string& whose) {
    const Result<litmus::Test> r =
        parse("PTX t\n{\nx=0;\n}\n P0@cta 0 | P1@cta 1 ;\n ld.weak r0, x | st.weak x, 1 ;\nhold fill x " +
                  whose + "until P1:0;\nexists (x == 1)",
              "t.litmus");
    std::vector<unsigned> threads;
    if (r.ok())
      for (const Hold& h : r.value().holds) threads.push_back(h.thread);
    return threads;
  };
  EXPECT_EQ(held_threads("of P1 "), std::vector<unsigned>{1});
  EXPECT_EQ(held_threads(""), (std::vector<unsigned>{0, 1}));
}

/// Whether an instruction of litmus tests takes qualifier `word`.
bool is_taken(const std::string& word) {
  for (const std::string& instruction :
       {"ld." + word + " r0, x", "ld." + word + ".gpu r0, x", "ld.weak." + word + " r0, x",
        "ld.relaxed." + word + " r0, x", "ld.weak." + word + " r0, s", "st." + word + ".gpu x, 1",
        "st.weak." + word + " x, 1", "atom.relaxed.gpu." + word + " r0, x, 1",
        "atom.relaxed.gpu." + word + " r0, x, 1, 2", "fence." + word + ".gpu"})
    if (parse("PTX t\n{\nx=0; s @ shared;\n}\n P0@cta 0,gpu 0 ;\n " + instruction + " ;\nexists (0==0)\n",
              "t")
            .ok())
      return true;
  return false;
}

TEST(LitmusParser, TakesTheQualifiersOfIsaThatAnAxiomOrACacheDependsOn) {
  for (const Qualifier& q : kQualifiers) {
    bool wanted = false;
    switch (q.slot) {
      case Slot::semantics:
      case Slot::scope:
      case Slot::mmio:
      case Slot::cache_operator: wanted = true; break;
      case Slot::space: wanted = q.word == "global" || q.word == "shared"; break;
      case Slot::operation: wanted = q.word == "nc"; break;
      case Slot::arithmetic: wanted = q.word != "inc" && q.word != "dec" && q.word != "popc"; break;
      case Slot::type: {
        const DataType type = data_type_from(q.word);
        wanted = size_of(type) != 0 && size_of(type) <= 8 && !is_float(type);
        break;
      }
      default: break;
    }
    EXPECT_EQ(is_taken(std::string(q.word)), wanted) << q.word;
  }
}

TEST(LitmusParser, NoCutOfATextCrashesIt) {
  const std::string text =
      "PTX t\n\"d\"\n{\nx = 0; t @ texture aliases x; P0:r0=1;\n}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n"
      " LC00: | st.weak x, 1 ;\n atom.relaxed.gpu.cas r0, x, 0, 1 | bar.cta.sync 1, 1, 2 ;\n beq r0, 0, LC00 "
      "| "
      "fence.proxy.texture ;\nhold write x of P1 until P0:1;\n~exists (P0:r0 == 1 \\/ ~(x != 2))\n";
  ASSERT_TRUE(parse(text, "t").ok());
  for (std::size_t n = 0; n < text.size(); ++n) {
    static_cast<void>(parse(text.substr(0, n), "t"));
    std::string other = text;
    other.erase(n, 1);
    static_cast<void>(parse(other, "t"));
    other = text;
    for (const char c : {'\0', ';', '|', '{', '(', '9', '\xFF'}) {
      other[n] = c;
      static_cast<void>(parse(other, "t"));
    }
  }
}

}  // namespace parser_test
}  // namespace warpline::litmus
