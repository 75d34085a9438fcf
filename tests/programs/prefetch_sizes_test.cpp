// Prefetch sizes: what a load brings into L2 beside what it misses (PTX ISA, "ld",
// level::prefetch_size).
#include "tests/programs/single_thread.h"

namespace warpline::test {
namespace prefetch_sizes_test {

const char* const kSizes[] = {"", ".L2::64B", ".L2::128B", ".L2::256B"};

std::string get(const std::string& size, const std::string& address) {
  return "ld.global" + size + ".u64 %x0, [" + address + "]; nanosleep.u32 20000;";
}

TEST(PrefetchSizes, FetchTheSectorsOfTheBlockThatAreMissing) {
  for (const auto& [present, wanted] : std::map<std::string, std::vector<unsigned>>{
           {"", {0, 1, 3, 7}}, {"%a+32", {0, 0, 2, 6}}, {"%a+96", {0, 1, 2, 6}}, {"%a+128", {0, 1, 3, 6}}})
    for (unsigned s = 0; s < wanted.size(); ++s) {
      const std::string before = present.empty() ? "" : get("", present);
      SingleThread machine(one_set(8, 16), {{"k", before + get(kSizes[s], "%a")}});
      machine.run("k");
      EXPECT_EQ(machine.count("l2.prefetched_sectors"), wanted[s]) << kSizes[s] << " beside " << present;
    }
}

TEST(PrefetchSizes, BringSectorsThatLaterLoadsFindInL2) {
  const std::string loads =
      "ld.global.u64 %x0, [%a+32]; ld.global.u64 %x0, [%a+64];"
      "ld.global.u64 %x0, [%a+96]; ld.global.u64 %x0, [%a+224];";
  const unsigned found[] = {0, 1, 3, 4};
  for (unsigned s = 0; s < 4; ++s) {
    SingleThread machine(one_set(8, 16), {{"k", get(kSizes[s], "%a") + loads}});
    EXPECT_EQ(machine.added("l2.sector_hits", "k"), found[s]) << kSizes[s];
  }
}

/// One load of the last sector of 128 bytes of memory, and a prefetch instruction of it.
constexpr const char* kEdge =
    ".version 8.8\n.target sm_100\n.address_size 64\n"
    ".visible .entry k(.param .u64 a)\n{\n.reg .b64 %a, %x;\nld.param.u64 %a, [a];\n@\nret;\n}\n";

std::uint64_t counted(const std::string& counter, const std::string& statement, Aperture aperture) {
  std::string text = kEdge;
  text.replace(text.find('@'), 1, statement);
  Bench bench(one_set(8, 16), text);
  const std::uint64_t at = bench.platform().allocate("", kLineBytes, aperture);
  bench.put(std::vector<std::uint8_t>(kLineBytes));  // the memory behind is another's
  bench.platform().build();
  EXPECT_EQ(bench.launch("k", 1, 1, {at}).outcome, RunOutcome::quiescent);
  Observation seen;
  bench.platform().visit(seen);
  EXPECT_EQ(seen.values.count(counter), 1U) << counter;
  return seen.values[counter];
}

TEST(PrefetchSizes, EndWithTheMemoryThatIsMapped) {
  for (unsigned s = 0; s < 4; ++s) {
    const unsigned wanted[] = {0, 1, 3, 3};
    EXPECT_EQ(counted("l2[0].prefetched_sectors", "ld.global" + std::string(kSizes[s]) + ".u64 %x, [%a+96];",
                      Aperture::vidmem),
              wanted[s])
        << kSizes[s];
  }
}

TEST(PrefetchSizes, ReadNothingMoreBeyondABus) {
  for (const char* size : kSizes) {
    const std::string load = "ld.global" + std::string(size) + ".u64 %x, [%a];";
    EXPECT_EQ(counted("pcie.bytes_down", load, Aperture::sysmem), 32U) << size;
    EXPECT_EQ(counted("l2[0].sysmem_fetched_sectors", load, Aperture::sysmem), 1U) << size;
    EXPECT_EQ(counted("l2[0].direct_sectors", load, Aperture::peer), 1U) << size;
    EXPECT_EQ(counted("l2[0].prefetched_sectors", load, Aperture::peer), 0U) << size;
  }
  for (const char* prefetch : {"prefetch.global.L1 [%a];", "prefetch.global.L2 [%a];"})
    EXPECT_EQ(counted("pcie.requests", prefetch, Aperture::peer), 0U) << prefetch;
}

}  // namespace prefetch_sizes_test
}  // namespace warpline::test
