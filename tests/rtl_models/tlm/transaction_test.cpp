#include "rtl_models/tlm/transaction.h"

#include <gtest/gtest.h>

namespace warpline::test {
namespace transaction_test {

TEST(TransactionPool, UsesNoneBeforeItsTimeButAllOnceTimeIsSet) {
  TransactionPool pool;
  Transaction& first = pool.take(1000);
  pool.give_back(first, 1010);
  Transaction& second = pool.take(1009);
  EXPECT_NE(&second, &first);
  pool.give_back(second, 1020);
  EXPECT_EQ(&pool.take(1010), &first);
  pool.give_back(first, 1030);
  // Time goes back.
  pool.ripen();
  EXPECT_EQ(pool.in_use(), 0U);
  for (Cycle now = 3; now < 6; ++now) {
    Transaction& again = pool.take(now);
    EXPECT_TRUE(&again == &first || &again == &second) << now;
    pool.give_back(again, now + 1);
  }
  EXPECT_EQ(pool.in_use(), 0U);
}

}  // namespace transaction_test
}  // namespace warpline::test
