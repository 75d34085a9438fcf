// Sockets that nobody bound, or that somebody bound twice: the message names them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "rtl_models/dram/dram_module.h"
#include "rtl_models/l2/l2_slice_module.h"
#include "rtl_models/tlm/engine_process.h"

namespace warpline::test {
namespace socket_unbound_test {

using ::testing::Contains;
using ::testing::HasSubstr;

std::vector<std::string>& reports() {
  static std::vector<std::string> all;
  return all;
}
void note(const sc_core::sc_report& report, const sc_core::sc_actions&) {
  reports().push_back(std::string(report.get_msg_type()) + ": " + report.get_msg());
}

struct Parts {
  Parts() {
    sc_core::sc_report_handler::set_handler(note);  // reports end nothing here, so that all are seen
  }
  EngineProcess engine{"engine", 1000};
  L2SliceModule l2{"l2", engine, {}, L2Parameters{1, {16, 4}, 8}, nullptr, 1};
  DramModule dram{"dram", engine, {}, DramParameters{}, 1};
};

TEST(SocketUnbound, EveryUnboundSocketIsNamed) {
  const Parts parts;
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_NS));
  for (const char* socket : {"'l2.from_crossbar", "'l2.to_dram_0'", "'l2.to_pcie'", "'dram.from_l2_0"})
    EXPECT_THAT(reports(), Contains(AllOf(HasSubstr("not bound"), HasSubstr(socket))));
}

TEST(SocketUnbound, ASocketBoundTwiceIsNamed) {
  Parts parts;
  L2SliceModule other("other", parts.engine, {}, L2Parameters{1, {16, 4}, 8}, nullptr, 1);
  parts.l2.to_dram[0].bind(parts.dram.from_l2[0]);
  other.to_dram[0].bind(parts.dram.from_l2[0]);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_NS));
  EXPECT_THAT(reports(), Contains(AllOf(HasSubstr("bind"), HasSubstr("dram.from_l2_0"))));
}

}  // namespace socket_unbound_test
}  // namespace warpline::test
