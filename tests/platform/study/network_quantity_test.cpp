// Quantities of the network on small machines, of which the answer is known from their parameters.
#include <gtest/gtest.h>

#include "platform/config/load_gpu.h"
#include "platform/study/model_device.h"
#include "platform/study/quantity.h"

namespace warpline::study {
namespace network_quantity_test {

double measured(const std::string& name, const std::string& gpu, const QuantityArguments& arguments,
                std::vector<std::string> sets) {
  ModelDevice device(load_gpu(gpu, sets).value());
  return find_quantity(name)->measure(device, arguments);
}

QuantityArguments with(std::map<std::string, double> numbers, std::map<std::string, std::string> words = {}) {
  return {std::move(numbers), std::move(words)};
}

std::vector<std::string> eight_sms(std::vector<std::string> more) {
  more.insert(more.end(), {"sms=8", "gpcs=2", "sms_per_tpc=2"});
  return more;
}

TEST(NetworkQuantities, TheLatencyOfAGpcIsThatOfItsDistances) {
  const auto at = [](double gpc, const char* statistic, const char* distance) {
    return measured("network_latency", "mini", with({{"gpc", gpc}, {"gpcs", 2}}, {{"statistic", statistic}}),
                    eight_sms({std::string("crossbar.network.") + distance, "crossbar.network.groups=2"}));
  };
  const double least = at(0, "mean", "header=8");
  EXPECT_NEAR(at(0, "mean", "gpc_distance=[0, 40, 70, 70]") - least, 20, 3) << "two groups of slices";
  EXPECT_NEAR(at(1, "mean", "gpc_distance=[0, 40, 70, 70]") - least, 70, 1);
  EXPECT_NEAR(at(0, "spread", "gpc_distance=[0, 40, 70, 70]"), 40, 3);
  EXPECT_NEAR(at(1, "spread", "gpc_distance=[0, 40, 70, 70]"), 0, 3);
  EXPECT_NEAR(at(0, "spread", "tpc_distance=[5, 25]"), 20, 3);
}

TEST(NetworkQuantities, ASpeedupIsThatOfTheNarrowestLevel) {
  const auto of = [](const char* group, const char* access, const std::string& limit, double percent_of = 0) {
    QuantityArguments a = with({{"gpcs", 2}}, {{"group", group}, {"access", access}});
    if (percent_of != 0) a.numbers["of"] = percent_of;
    return measured("network_speedup", "mini", a,
                    eight_sms({"crossbar.network." + limit, "l2.slices=16", "crossbar.network.header=1"}));
  };
  // An SM writes 32 bytes a cycle, its own port's.
  EXPECT_NEAR(of("tpc", "write", "tpc_request=36"), 1.1, 0.07);
  EXPECT_NEAR(of("tpc", "write", "tpc_request=200"), 2, 0.1);
  EXPECT_NEAR(of("tpc", "read", "tpc_request=36"), 2, 0.2);
  EXPECT_NEAR(of("gpc", "read", "gpc_reply=66"), 2, 0.3) << "of four SMs";
  EXPECT_NEAR(of("tpcs_of_gpc", "read", "gpc_reply=33", 2), 50, 7) << "per cent of two SMs";
}

TEST(NetworkQuantities, OneSmReadsOfOneSliceWhatThePairOfThemMoves) {
  const auto at = [](const char* limit) {
    return measured("slice_bandwidth", "v100", {}, {"sms=4", std::string("crossbar.network.") + limit});
  };
  EXPECT_NEAR(at("slice_reply=13") * 1e-9, 34, 2)
      << "two slices of a class, 13 bytes a cycle each, with headers";
  EXPECT_NEAR(at("slice_reply=26") / at("slice_reply=13"), 2, 0.2);
}

TEST(NetworkQuantities, AGpcWithoutSmsIsRefused) {
  EXPECT_THROW(static_cast<void>(measured("network_latency", "mini", with({{"gpc", 7}, {"gpcs", 8}}), {})),
               BenchError);
}

}  // namespace network_quantity_test
}  // namespace warpline::study
