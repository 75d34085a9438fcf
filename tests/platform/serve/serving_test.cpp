#include "platform/serve/serving.h"

#include <gmock/gmock.h>

#include <cstring>
#include <random>

#include "tests/platform/serve/served_peers.h"

namespace warpline {
namespace serving_test {

using test::ServedDriver;
using test::ServedPeers;

std::vector<std::uint8_t> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> out(count);
  for (std::uint8_t& b : out) b = static_cast<std::uint8_t>(random());
  return out;
}

class InEveryTime : public ::testing::TestWithParam<ServedPeers::Options> {};

TEST_P(InEveryTime, TheDriverCopiesMemoryAndHearsOfIt) {
  ServedPeers peers(GetParam());
  const auto client = peers.client();
  ASSERT_NE(client, nullptr);
  ServedDriver driver(*client);
  constexpr std::uint32_t kBytes = 10'000;
  auto* const from = static_cast<std::uint8_t*>(client->allocate(kBytes));
  auto* const to = static_cast<std::uint8_t*>(client->allocate(kBytes));
  for (unsigned round = 0; round < 20; ++round) {
    const std::vector<std::uint8_t> bytes = random_bytes(kBytes, round);
    std::memcpy(from, bytes.data(), kBytes);
    ASSERT_EQ(driver.copy(driver.bus(from), driver.bus(to), kBytes), WL_PEER_STATUS_CODE_OK);
    ASSERT_EQ(std::memcmp(from, to, kBytes), 0);
  }
  EXPECT_EQ(client->lost(), 0);
}

INSTANTIATE_TEST_SUITE_P(Serving, InEveryTime,
                         ::testing::Values(ServedPeers::Options{1, true, 0, {}},
                                           ServedPeers::Options{1, false, 0, {}},
                                           ServedPeers::Options{1, false, 1, {}}));

}  // namespace serving_test
}  // namespace warpline
