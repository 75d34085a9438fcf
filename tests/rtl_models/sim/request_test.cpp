#include "rtl_models/sim/request.h"

#include <gtest/gtest.h>

#include <set>

#include "rtl_models/sim/request_list.h"
#include "rtl_models/sim/request_pool.h"

namespace warpline {
namespace request_test {

TEST(RequestPool, HandsOutRequestsInTheirInitialState) {
  RequestPool pool;
  Request* r = pool.allocate();
  r->status = Status::address_error;
  r->sectors = 3;
  r->scope = Scope::sys;
  r->maintenance = 1;
  r->local = true;
  r->no_l1 = true;
  r->token = 9;
  r->route = 9;
  r->region = 9;
  r->prefetch = 1;
  r->missing = 1;
  pool.release(r);
  Request* again = pool.allocate();
  ASSERT_EQ(again, r) << "the last released is the next handed out";
  EXPECT_EQ(again->status, Status::ok);
  EXPECT_EQ(again->sectors, 0U);
  EXPECT_EQ(again->scope, Scope::none);
  EXPECT_EQ(again->maintenance, 0U);
  EXPECT_FALSE(again->local);
  EXPECT_FALSE(again->no_l1);
  EXPECT_EQ(again->token, 0U);
  EXPECT_EQ(again->route, 0U);
  EXPECT_EQ(again->region, 0U);
  EXPECT_EQ(again->prefetch, 0U);
  EXPECT_EQ(again->missing, 0U);
}

TEST(RequestPool, CountsWhatIsInUse) {
  RequestPool pool;
  std::set<Request*> all;
  for (unsigned i = 0; i < 1000; ++i) all.insert(pool.allocate());
  EXPECT_EQ(all.size(), 1000U);
  EXPECT_EQ(pool.in_use(), 1000U);
  for (Request* r : all) pool.release(r);
  EXPECT_EQ(pool.in_use(), 0U);
  for (unsigned i = 0; i < 1000; ++i) EXPECT_EQ(all.count(pool.allocate()), 1U) << "recycled";
}

TEST(RequestPool, AtomicBlocksGoBackWithTheirRequest) {
  RequestPool pool;
  Request* r = pool.allocate();
  AtomicBlock* block = pool.allocate_atomics();
  block->count = 5;
  r->command = Command::atomic;
  r->atomics = block;
  pool.release(r);
  EXPECT_EQ(pool.allocate_atomics(), block);
  EXPECT_EQ(block->count, 0U);
}

TEST(RequestPoolDeath, ARequestIsReleasedOnce) {
  RequestPool pool;
  Request* r = pool.allocate();
  pool.release(r);
  EXPECT_DEATH(pool.release(r), "released once");
}

TEST(RequestList, IsFirstInFirstOut) {
  Request a, b, c;
  RequestList list;
  EXPECT_TRUE(list.empty());
  list.push(&a);
  list.push(&b);
  EXPECT_EQ(list.pop(), &a);
  list.push(&c);
  list.push(&a);
  EXPECT_EQ(list.front(), &b);
  EXPECT_EQ(list.pop(), &b);
  EXPECT_EQ(list.pop(), &c);
  EXPECT_EQ(list.pop(), &a);
  EXPECT_TRUE(list.empty());
}

TEST(Messages, Beats) {
  Request r;
  AtomicBlock block;
  block.type = DataType::u64;
  block.count = 5;  // 40 bytes of operands
  r.atomics = &block;
  struct Row {
    Command command;
    SectorMask sectors;
    unsigned request32, response32, request128, response128;
  };
  for (const Row& row : {Row{Command::read, 0xF, 1, 4, 1, 1}, Row{Command::read, 0x9, 1, 2, 1, 1},
                         Row{Command::write, 0xF, 4, 1, 1, 1}, Row{Command::write, 0x1, 1, 1, 1, 1},
                         Row{Command::atomic, 0, 2, 2, 1, 1}, Row{Command::reduce, 0, 2, 1, 1, 1},
                         Row{Command::maintain, 0, 1, 1, 1, 1}, Row{Command::control, 0xF, 1, 1, 1, 1}}) {
    r.command = row.command;
    r.sectors = row.sectors;
    EXPECT_EQ(RequestMessage{&r}.beats(32), row.request32);
    EXPECT_EQ(ResponseMessage{&r}.beats(32), row.response32);
    EXPECT_EQ(RequestMessage{&r}.beats(128), row.request128);
    EXPECT_EQ(ResponseMessage{&r}.beats(128), row.response128);
  }
  r.command = Command::read;
  r.sectors = 0x7;
  EXPECT_EQ(ResponseMessage{&r}.beats(64), 2U);  // 96 bytes, rounded up
}

TEST(RequestPool, APrefetchIsOfTheOtherLineOfTheAlignedBlock) {
  RequestPool pool;
  Request& r = *pool.allocate();
  r.virtual_line = VirtualAddress{0x1080};
  r.line = physical(Aperture::vidmem, 0x8080);
  EXPECT_EQ(pool.allocate_prefetch(r, nullptr), nullptr);
  r.prefetch = 0xF;
  EXPECT_EQ(pool.allocate_prefetch(r, nullptr), nullptr);
  r.prefetch = 0x9F;
  r.scope = Scope::gpu;
  r.l2_priority = EvictionPriority::last;
  const Request& p = *pool.allocate_prefetch(r, &pool);
  EXPECT_EQ(p.maker, &pool);
  EXPECT_EQ(p.virtual_line, VirtualAddress{0x1000});
  EXPECT_EQ(p.line, physical(Aperture::vidmem, 0x8000));
  EXPECT_EQ(p.prefetch, 0x9);
  EXPECT_EQ(p.sectors, 0);
  EXPECT_EQ(p.l2_priority, EvictionPriority::last);
  EXPECT_EQ(p.scope, Scope::none) << "a hint orders nothing";
}

}  // namespace request_test
}  // namespace warpline
