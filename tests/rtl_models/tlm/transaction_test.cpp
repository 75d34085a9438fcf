#include "rtl_models/tlm/transaction.h"

#include <gtest/gtest.h>

#include <vector>

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

/// What a payload says.
std::vector<std::uint64_t> said_by(const Transaction& x) {
  const tlm::tlm_generic_payload& p = x.payload;
  const unsigned char* const enables = p.get_byte_enable_ptr();
  std::vector<std::uint64_t> said{p.get_address(),
                                  static_cast<std::uint64_t>(p.get_command()),
                                  static_cast<std::uint64_t>(p.get_data_ptr() - x.bytes.data.data()),
                                  p.get_data_length(),
                                  p.get_streaming_width(),
                                  p.get_byte_enable_length(),
                                  static_cast<std::uint64_t>(p.get_response_status())};
  for (unsigned i = 0; enables != nullptr && i < p.get_byte_enable_length(); ++i) said.push_back(enables[i]);
  return said;
}

// Payloads are used again, for other requests and for like ones.
TEST(Transaction, SaysOfEachRequestWhatANewOneDoes) {
  TransactionPool pool;
  Transaction& used = pool.take(0);
  used.shown = false;
  std::vector<Request> requests;
  for (const unsigned sectors : {1U, 1U, 15U, 15U, 5U, 5U, 8U, 0U, 0U, 12U})
    for (const Command command :
         {Command::read, Command::write, Command::read, Command::atomic, Command::read})
      for (const bool exact : {false, true}) {
        Request& r = requests.emplace_back();
        r.command = command;
        r.exact = exact && (command == Command::read) && sectors != 0;
        r.sectors = static_cast<SectorMask>(sectors);
        r.line = PhysicalAddress{kLineBytes * requests.size()};
        r.bytes.set(kSectorBytes * sectors % kLineBytes, 8);
      }
  for (const Request& r : requests) {
    Transaction& fresh = pool.take(0);
    fresh.shown = false;
    fresh.reads = 0;
    fresh.describe(r, true);
    used.payload.set_response_status(tlm::TLM_OK_RESPONSE);
    used.describe(r, true);
    EXPECT_EQ(said_by(used), said_by(fresh)) << &r - requests.data();
    EXPECT_TRUE(used.is_as_described());
  }
}

// Others may have changed what they have seen.
TEST(Transaction, ThatOthersHaveSeenIsDescribedAnew) {
  TransactionPool pool;
  Transaction& x = pool.take(0);
  Request r;
  r.sectors = kAllSectors;
  x.describe(r, false);
  x.payload.set_data_length(1);
  x.payload.set_dmi_allowed(true);
  x.describe(r, false);
  EXPECT_EQ(x.payload.get_data_length(), kLineBytes);
  EXPECT_FALSE(x.payload.is_dmi_allowed());
}

}  // namespace transaction_test
}  // namespace warpline::test
