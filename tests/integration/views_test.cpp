// Every signal that a saved view of waveforms/ names is in a dump, with the range it says; and wires of a hop
// that is opened as pins are in the wave, beat for beat.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "tests/integration/workspace.h"
#include "tests/support/vcd_reader.h"

namespace warpline::test {
namespace views_test {

Vcd dump_with_pins(const Workspace& w) {
  const Finished run = w.warpline({"run", in_source("sw/kernels/vecadd.toml"), "--quiet", "--pins",
                                   "l2[0].from_crossbar", "--wave", "pins.vcd"});
  EXPECT_EQ(run.status, 0) << run.err;
  return parse_vcd(read_file(w.path("pins.vcd")));
}

/// Of a device, while a kernel uses it.
Vcd dump_of(const Workspace& w, const std::string& device, const std::string& kernel,
            const std::string& setting) {
  const Finished run = w.warpline({"run", in_source("sw/kernels/" + kernel + ".toml"), "--set", setting,
                                   "--quiet", "--probe", device + "*", "--wave", device + ".vcd"});
  EXPECT_EQ(run.status, 0) << run.err;
  return parse_vcd(read_file(w.path(device + ".vcd")));
}

/// The signals of a view, as GTKWave names them: path and, of more than one bit, range.
std::vector<std::string> signals_of(const std::string& view) {
  std::vector<std::string> out;
  std::istringstream lines(read_file(view));
  for (std::string line; std::getline(lines, line);)
    if (const std::size_t at = line.find(" gpu."); line[0] == '+' && at != std::string::npos)
      out.push_back(line.substr(at + 1));
    else if (line.rfind("gpu.", 0) == 0)
      out.push_back(line);
  return out;
}

TEST(Views, NameSignalsThatExist) {
  const Workspace w;
  std::vector<std::string> known;
  for (const Vcd& vcd : {dump_with_pins(w), dump_of(w, "peer", "submit", "pcie_system.peers=1"),
                         dump_of(w, "nvme", "nvme_io", "pcie_system.nvme.count=1")})
    for (const auto& [path, signal] : vcd.signals)
      known.push_back(signal.bits == 1 ? path : path + "[" + std::to_string(signal.bits - 1) + ":0]");
  unsigned views = 0, named = 0;
  for (const auto& entry : std::filesystem::directory_iterator(in_source("waveforms"))) {
    if (entry.path().extension() != ".gtkw") continue;
    ++views;
    for (const std::string& signal : signals_of(entry.path().string())) {
      EXPECT_THAT(known, testing::Contains(signal)) << entry.path();
      ++named;
    }
  }
  EXPECT_EQ(views, 6U);
  EXPECT_GT(named, 50U);
}

TEST(Views, WiresMoveABeatInEveryCycleInWhichTheChannelIsBusy) {
  const Workspace w;
  const Vcd vcd = dump_with_pins(w);
  const std::string hop = "gpu.l2[0].from_crossbar.";
  const std::pair<std::string, std::string> directions[] = {
      {hop + "request.", hop + "busy"}, {hop + "response.", "gpu.crossbar.from_l2[0].busy"}};
  for (const auto& [wires, busy] : directions) {
    unsigned beats = 0;
    for (std::uint64_t t = 0; t < vcd.end; t += 1000) {
      const bool moves = vcd.of(wires + "valid").at(t) != 0 && vcd.of(wires + "ready").at(t) != 0;
      ASSERT_EQ(moves, vcd.of(busy).at(t) != 0) << wires << " at " << t;
      beats += moves;
    }
    EXPECT_GT(beats, 300U) << wires;
  }
}

TEST(Views, PinsChangeNothingElseInTheWave) {
  const Workspace w;
  const Vcd with = dump_with_pins(w);
  EXPECT_EQ(w.warpline({"run", in_source("sw/kernels/vecadd.toml"), "--quiet", "--wave", "w.vcd"}).status, 0);
  const Vcd without = parse_vcd(read_file(w.path("w.vcd")));
  EXPECT_GT(with.signals.size(), without.signals.size() + 20);
  for (const auto& [path, signal] : without.signals) EXPECT_EQ(signal.changes, with.of(path).changes) << path;
}

}  // namespace views_test
}  // namespace warpline::test
