#include "tests/mutation/catch.h"
#include "tests/platform/host/inbound_device_scene.h"
#include "tests/platform/host/inbound_scenes.h"

namespace warpline::test {
namespace {

bool sees_flag_before_data(std::uint64_t seed) {
  return test::stale_after_host(seed, "ld.acquire.sys.global.u32", "ld.volatile.global.u32") != 0;
}

bool sees_flag_before_what_it_tells_of(std::uint64_t seed) {
  test::DeviceAndFlag how;
  how.flag = test::DeviceAndFlag::Flag::in_video_memory;
  return test::stale_after_device(seed, how) != 0;
}

bool reads_before_writes(std::uint64_t seed) {
  return test::writes_behind_a_read(seed) != 0;
}

}  // namespace

std::vector<Catch> catches_by_host() {
  return {
      {PcieMutation::inbound_write_overtakes, "inbound_write_overtakes", sees_flag_before_data},
      {PcieMutation::inbound_order_per_requester, "inbound_order_per_requester",
       sees_flag_before_what_it_tells_of},
      {PcieMutation::inbound_read_overtakes, "inbound_read_overtakes", reads_before_writes},
  };
}

}  // namespace warpline::test
