#include "platform/study/measured_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/config/load_gpu.h"
#include "platform/study/calibration.h"
#include "platform/study/microbench_texts.h"

namespace warpline::study {
namespace measured_row_test {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kRow =
    "[[row]]\nid = \"A.b\"\ngpu = \"v100\"\nclass = \"latency\"\nvalue = 28\nunit = \"ns\"\ntolerance = 5\n"
    "source = \"somebody\"\n";

std::vector<std::string> faults_of(const std::string& text) {
  const auto rows = read_rows("rows.toml", text);
  std::vector<std::string> out;
  if (!rows.ok())
    for (const Diagnostic& d : rows.faults()) out.push_back(d.text());
  return out;
}

TEST(MeasuredRows, ReadWhatIsMeasuredAndWithWhichArguments) {
  const auto rows = read_rows("rows.toml", kRow + "quantity = \"chase\"\nbytes = 4096\noperator = \"cg\"\n");
  ASSERT_TRUE(rows.ok()) << rows.faults().front().text();
  ASSERT_EQ(rows.value().size(), 1U);
  const MeasuredRow& row = rows.value()[0];
  EXPECT_EQ(row.id, "A.b");
  EXPECT_STREQ(row.quantity->name, "chase");
  EXPECT_EQ(row.arguments.numbers.at("bytes"), 4096);
  EXPECT_EQ(row.arguments.words.at("operator"), "cg");
  EXPECT_EQ(row.tolerance, 5);
}

TEST(MeasuredRows, TellEachFaultWhereItStands) {
  EXPECT_THAT(faults_of(kRow + "quantity = \"chaes\"\n"),
              ElementsAre(testing::AllOf(HasSubstr("rows.toml:9:"), HasSubstr("did you mean \"chase\""))));
  EXPECT_THAT(faults_of(kRow + "quantity = \"chase\"\nbyts = 3\n"),
              ElementsAre(HasSubstr("bytes"),
                          testing::AllOf(HasSubstr("byts"), HasSubstr("did you mean \"bytes\""))));
  const std::string chase = kRow + "quantity = \"chase\"\nbytes = 4096\n";
  EXPECT_THAT(faults_of(chase + "node = 0\n"), ElementsAre(HasSubstr("node")));
  EXPECT_THAT(faults_of(chase + "operator = \"cx\"\n"), ElementsAre(HasSubstr("must be ca, cg, cv or nc")));
  EXPECT_THAT(faults_of(kRow + "quantity = \"stream\"\n"),
              ElementsAre(HasSubstr("stream is not measured in ns")));
  EXPECT_THAT(faults_of(kRow + "refused = \"\"\n"), ElementsAre(HasSubstr("must say why")));
  std::string nothing = chase;
  nothing.replace(nothing.find("28"), 2, "0");
  EXPECT_THAT(faults_of(nothing), ElementsAre(HasSubstr("must be above 0")));
  EXPECT_THAT(faults_of(kRow), ElementsAre(HasSubstr("quantity")));
  EXPECT_THAT(faults_of("[[row]]\nid = \"A\"\n"), testing::SizeIs(6)) << "all keys that are missing at once";
  EXPECT_THAT(faults_of(kRow + "refused = \"so\"\n" + kRow + "refused = \"so\"\n"),
              ElementsAre(HasSubstr("two rows called \"A.b\"")));
  EXPECT_THAT(faults_of("row = 3\n"), ElementsAre(HasSubstr("[[row]] tables, and nothing else")));
  EXPECT_THAT(faults_of("row = [3]\n"), ElementsAre(HasSubstr("must be a table")));
  std::string furlongs = kRow + "refused = \"so\"\n";
  furlongs.replace(furlongs.find("\"ns\""), 4, "\"furlongs\"");
  EXPECT_THAT(faults_of(furlongs), ElementsAre(HasSubstr("there is no \"furlongs\"")));
}

TEST(MeasuredRows, AreTurnedIntoTheUnitOfTheRow) {
  MeasuredRow row;
  DeviceShape shape;
  shape.sm_mhz = 2000;
  const auto in = [&](const char* unit, double v) {
    row.unit = unit;
    return in_unit_of(row, v, shape);
  };
  EXPECT_DOUBLE_EQ(in("cycles", 40), 40);
  EXPECT_DOUBLE_EQ(in("ns", 40), 20);
  EXPECT_DOUBLE_EQ(in("us", 4000), 2);
  EXPECT_DOUBLE_EQ(in("GB/s", 3e9), 3);
  EXPECT_DOUBLE_EQ(in("GiB/s", 1U << 30U), 1);
}

TEST(MeasuredRows, OfTheProjectAreOfPresetsThatThereAre) {
  const auto rows = read_rows("rows.toml", microbench_rows());
  ASSERT_TRUE(rows.ok()) << rows.faults().front().text();
  EXPECT_GT(rows.value().size(), 500U);
  const std::vector<std::string> presets = preset_names();
  for (const MeasuredRow& row : rows.value()) {
    EXPECT_NE(std::find(presets.begin(), presets.end(), row.gpu), presets.end()) << row.id << ": " << row.gpu;
    EXPECT_FALSE(row.source.empty()) << row.id;
    EXPECT_GT(row.value, 0) << row.id;
  }
}

/// A device that answers what it is told to.
class Answering final : public BenchDevice {
 public:
  const DeviceShape& shape() const override { return shape_; }
  std::uint64_t allocate(std::uint64_t) override { throw BenchError{"no room"}; }
  void write(std::uint64_t, const void*, std::uint64_t) override {}
  void read(std::uint64_t, void*, std::uint64_t) override {}
  void write_constant(const std::string&, const void*, std::uint64_t) override {}
  std::uint64_t texture(std::uint64_t, std::uint64_t) override { return 0; }
  double host_copy(std::uint64_t, bool, bool, bool) override { return 1; }
  double run(const KernelCall&) override { return 1; }
  void forget() override {}
  void clear() override {}
  DeviceShape shape_;
};

TEST(Calibration, TellsWhyARowIsNotAnswered) {
  Answering device;
  MeasuredRow row;
  row.unit = "cycles";
  row.value = 1;
  row.refused = "nobody can";
  EXPECT_EQ(measure(device, row).refused, "nobody can");
  row.quantity = find_quantity("chase");
  row.arguments.numbers["bytes"] = 4096;
  const RowResult r = measure(device, row);
  EXPECT_FALSE(r.answered);
  EXPECT_EQ(r.refused, "no room");
  row.quantity = find_quantity("property");
  row.arguments.words["of"] = "sms";
  EXPECT_EQ(measure(device, row).refused, "the measurement came to nothing");
  device.shape_.sms = 3;
  EXPECT_TRUE(measure(device, row).answered);
  EXPECT_DOUBLE_EQ(measure(device, row).error(), 200);
}

TEST(Calibration, SumsUpByClass) {
  std::vector<MeasuredRow> rows(5);
  for (MeasuredRow& row : rows) {
    row.kind = "b";
    row.value = 100;
    row.tolerance = 10;
  }
  rows[3].kind = "a";
  rows[4].tolerance = 0;  // does not count
  std::vector<RowResult> results;
  for (const MeasuredRow& row : rows) results.push_back({&row, true, 100, {}, 0});
  results[0].measured = 95;
  results[1].measured = 130;
  results[2].measured = 108;
  results[3].answered = false;
  const std::vector<ClassSummary> s = summarise(results);
  ASSERT_EQ(s.size(), 3U);
  EXPECT_EQ(s[0].kind, "b");
  EXPECT_EQ(s[0].rows, 3U);
  EXPECT_EQ(s[0].within, 2U);
  EXPECT_NEAR(s[0].median, 8, 1e-9);
  EXPECT_NEAR(s[0].worst, 30, 1e-9);
  EXPECT_EQ(s[1].kind, "a");
  EXPECT_EQ(s[1].answered, 0U);
  EXPECT_EQ(s[2].kind, "");
  EXPECT_EQ(s[2].rows, 4U);
  EXPECT_THAT(rows_text(results), HasSubstr("beyond tolerance"));
  EXPECT_THAT(summary_text(s), HasSubstr("8.0%"));
}

}  // namespace measured_row_test
}  // namespace warpline::study
