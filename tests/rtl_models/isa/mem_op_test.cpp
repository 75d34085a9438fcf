#include "rtl_models/isa/mem_op.h"

#include <gtest/gtest.h>

#include <functional>

namespace warpline {
namespace mem_op_test {

MemOp load_u32() {
  MemOp op;
  op.space = Space::global;
  op.type = DataType::u32;
  return op;
}

struct Case {
  const char* text;
  std::function<void(MemOp&)> change;
};

TEST(MemOp, SpellsItselfAsPtxDoes) {
  const std::vector<Case> cases = {
      {"ld.global.u32", [](MemOp&) {}},
      {"ld.u32", [](MemOp& op) { op.space = Space::generic; }},
      {"ld.global.ca.u32", [](MemOp& op) { op.cache_operator = CacheOperator::ca; }},
      {"ld.global.nc.v4.f32",
       [](MemOp& op) {
         op.is_noncoherent = true;
         op.vector = 4;
         op.type = DataType::f32;
       }},
      {"ld.global.nc.L1::no_allocate.L2::128B.v2.u64",
       [](MemOp& op) {
         op.is_noncoherent = true;
         op.l1_eviction = L1Eviction::no_allocate;
         op.prefetch_bytes = 128;
         op.vector = 2;
         op.type = DataType::u64;
       }},
      {"ld.global.L1::evict_last.L2::cache_hint.u32",
       [](MemOp& op) {
         op.l1_eviction = L1Eviction::last;
         op.cache_hint = true;
       }},
      {"ld.acquire.gpu.global.u32",
       [](MemOp& op) {
         op.semantics = Semantics::acquire;
         op.scope = Scope::gpu;
       }},
      {"ld.volatile.global.u32",
       [](MemOp& op) {
         op.is_volatile = true;
         op.semantics = Semantics::relaxed;
         op.scope = Scope::sys;
       }},
      {"ld.mmio.relaxed.sys.global.u32",
       [](MemOp& op) {
         op.is_mmio = true;
         op.semantics = Semantics::relaxed;
         op.scope = Scope::sys;
       }},
      {"st.global.wt.s16",
       [](MemOp& op) {
         op.kind = MemKind::store;
         op.cache_operator = CacheOperator::wt;
         op.type = DataType::s16;
       }},
      {"st.shared::cluster.b8",
       [](MemOp& op) {
         op.kind = MemKind::store;
         op.space = Space::shared_cluster;
         op.type = DataType::b8;
       }},
      {"atom.acq_rel.cluster.global.cas.b64",
       [](MemOp& op) {
         op.kind = MemKind::atomic;
         op.semantics = Semantics::acq_rel;
         op.scope = Scope::cluster;
         op.atomic = AtomicOperation::compare_and_swap;
         op.type = DataType::b64;
       }},
      {"red.relaxed.gpu.global.add.f64",
       [](MemOp& op) {
         op.kind = MemKind::reduction;
         op.semantics = Semantics::relaxed;
         op.scope = Scope::gpu;
         op.atomic = AtomicOperation::add;
         op.type = DataType::f64;
       }},
      {"prefetch.global.L2::evict_last",
       [](MemOp& op) {
         op.kind = MemKind::prefetch;
         op.level = 2;
         op.l2_eviction = L2Eviction::last;
       }},
      {"prefetchu.L1",
       [](MemOp& op) {
         op.kind = MemKind::prefetch_uniform;
         op.space = Space::generic;
         op.level = 1;
       }},
      {"prefetch.local.L2",
       [](MemOp& op) {
         op.kind = MemKind::prefetch;
         op.space = Space::local;
         op.level = 2;
       }},
      {"applypriority.global.L2::evict_normal",
       [](MemOp& op) {
         op.kind = MemKind::apply_priority;
         op.l2_eviction = L2Eviction::normal;
       }},
      {"discard.global.L2", [](MemOp& op) { op.kind = MemKind::discard; }},
      {"fence.sc.sys",
       [](MemOp& op) {
         op.kind = MemKind::fence;
         op.semantics = Semantics::sc;
         op.scope = Scope::sys;
       }},
      {"fence.proxy.alias",
       [](MemOp& op) {
         op.kind = MemKind::proxy_fence;
         op.proxy = Proxy::alias;
       }},
  };
  for (const Case& c : cases) {
    MemOp op = load_u32();
    c.change(op);
    EXPECT_EQ(to_ptx(op), c.text);
  }
}

TEST(MemOp, RefusesWhatIsNotModelledByItsQualifier) {
  const std::vector<Case> cases = {
      {".proxy.tensormap",
       [](MemOp& op) {
         op.kind = MemKind::proxy_fence;
         op.proxy = Proxy::tensormap;
       }},
      {".f16x2", [](MemOp& op) { op.type = DataType::f16x2; }},
  };
  for (const Case& c : cases) {
    MemOp op = load_u32();
    c.change(op);
    EXPECT_EQ(refusal(op).value_or("(not refused)"), c.text);
  }
}

TEST(MemOp, TakesWhatIsModelled) {
  const std::vector<Case> cases = {
      {"plain", [](MemOp&) {}},
      {"tex", [](MemOp& op) { op.kind = MemKind::texture_load; }},
      {"suld", [](MemOp& op) { op.kind = MemKind::surface_load; }},
      {"sust", [](MemOp& op) { op.kind = MemKind::surface_store; }},
      {"store",
       [](MemOp& op) {
         op.kind = MemKind::store;
         op.cache_operator = CacheOperator::cs;
       }},
      {"atomic",
       [](MemOp& op) {
         op.kind = MemKind::atomic;
         op.atomic = AtomicOperation::add;
       }},
      {"fence",
       [](MemOp& op) {
         op.kind = MemKind::fence;
         op.semantics = Semantics::sc;
         op.scope = Scope::sys;
       }},
      {"nc",
       [](MemOp& op) {
         op.is_noncoherent = true;
         op.vector = 4;
       }},
      {"volatile",
       [](MemOp& op) {
         op.is_volatile = true;
         op.semantics = Semantics::relaxed;
         op.scope = Scope::sys;
       }},
      {"256B", [](MemOp& op) { op.prefetch_bytes = 256; }},
      {"L1 unchanged", [](MemOp& op) { op.l1_eviction = L1Eviction::unchanged; }},
      {"no allocate", [](MemOp& op) { op.l1_eviction = L1Eviction::no_allocate; }},
      {"L2 last", [](MemOp& op) { op.l2_eviction = L2Eviction::last; }},
      {"policy", [](MemOp& op) { op.cache_hint = true; }},
      {"mmio",
       [](MemOp& op) {
         op.is_mmio = true;
         op.semantics = Semantics::relaxed;
         op.scope = Scope::sys;
       }},
      {"v8", [](MemOp& op) { op.vector = 8; }},
      {"sink",
       [](MemOp& op) {
         op.vector = 2;
         op.sink_lanes = 1;
       }},
      {"prefetch", [](MemOp& op) { op.kind = MemKind::prefetch; }},
      {"applypriority", [](MemOp& op) { op.kind = MemKind::apply_priority; }},
      {"discard", [](MemOp& op) { op.kind = MemKind::discard; }},
      {"alias fence",
       [](MemOp& op) {
         op.kind = MemKind::proxy_fence;
         op.proxy = Proxy::alias;
       }},
      {"wide atomic",
       [](MemOp& op) {
         op.kind = MemKind::atomic;
         op.atomic = AtomicOperation::exchange;
         op.type = DataType::b128;
       }},
      {"vector reduction",
       [](MemOp& op) {
         op.kind = MemKind::reduction;
         op.atomic = AtomicOperation::add;
         op.type = DataType::f16;
         op.vector = 8;
       }},
      {"b128 load", [](MemOp& op) { op.type = DataType::b128; }},
  };
  for (const Case& c : cases) {
    MemOp op = load_u32();
    c.change(op);
    EXPECT_FALSE(refusal(op).has_value()) << c.text << ": " << refusal(op).value_or("");
  }
}

TEST(MemOp, SinksAreNotAccessed) {
  struct Row {
    DataType type;
    unsigned vector, sinks, end, words;
  };
  for (const Row& row : {Row{DataType::b32, 4, 0, 16, 0xFF}, Row{DataType::b32, 4, 0x8, 12, 0x7},
                         Row{DataType::b32, 8, 0xF1, 16, 0xE}, Row{DataType::b64, 4, 0x5, 32, 0xCC},
                         Row{DataType::b8, 4, 0xC, 2, 0x1}, Row{DataType::b16, 4, 0x3, 8, 0x2}}) {
    MemOp op = load_u32();
    op.type = row.type;
    op.vector = static_cast<std::uint8_t>(row.vector);
    op.sink_lanes = static_cast<std::uint8_t>(row.sinks);
    EXPECT_EQ(op.end_of_access(), row.end) << row.sinks;
    EXPECT_EQ(op.accessed_words(), row.words) << row.sinks;
  }
}

TEST(MemOp, WhatItDoes) {
  MemOp op = load_u32();
  op.vector = 4;
  EXPECT_EQ(op.bytes_per_lane(), 16U);
  EXPECT_FALSE(op.is_strong());
  EXPECT_TRUE(op.reads());
  EXPECT_FALSE(op.writes());
  op.semantics = Semantics::relaxed;
  op.scope = Scope::cta;
  EXPECT_TRUE(op.is_strong());
  EXPECT_FALSE(op.beyond_cta());
  op.scope = Scope::cluster;
  EXPECT_TRUE(op.beyond_cta());
  EXPECT_FALSE(op.acquires());
  op.semantics = Semantics::acq_rel;
  EXPECT_TRUE(op.acquires());
  EXPECT_TRUE(op.releases());
  op.semantics = Semantics::acquire;
  EXPECT_FALSE(op.releases());
  op.kind = MemKind::atomic;
  EXPECT_TRUE(op.reads());
  EXPECT_TRUE(op.writes());
  op.kind = MemKind::reduction;
  EXPECT_FALSE(op.reads());
  EXPECT_TRUE(op.writes());
}

TEST(MemOp, OrderThatIsNotWrittenIsPtxs) {
  const MemOp plain = with_default_order(load_u32());
  EXPECT_EQ(plain.semantics, Semantics::weak);
  EXPECT_EQ(plain.scope, Scope::none);
  for (bool MemOp::*const flag : {&MemOp::is_volatile, &MemOp::is_mmio}) {
    MemOp op = load_u32();
    op.*flag = true;
    EXPECT_EQ(with_default_order(op).semantics, Semantics::relaxed);
    EXPECT_EQ(with_default_order(op).scope, Scope::sys);
  }
  for (const MemKind kind : {MemKind::atomic, MemKind::reduction}) {
    MemOp op = load_u32();
    op.kind = kind;
    EXPECT_TRUE(op.is_atomic());
    EXPECT_EQ(with_default_order(op).semantics, Semantics::relaxed);
    EXPECT_EQ(with_default_order(op).scope, Scope::gpu);
    op.semantics = Semantics::acq_rel;
    op.scope = Scope::cta;
    EXPECT_EQ(with_default_order(op).semantics, Semantics::acq_rel);
    EXPECT_EQ(with_default_order(op).scope, Scope::cta);
  }
}

}  // namespace mem_op_test
}  // namespace warpline
