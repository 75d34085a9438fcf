#include "platform/vfio_user/dma_table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>
#include <vector>

#include "rtl_models/base/shared_bytes.h"

namespace warpline::vfio_user {
namespace dma_table_test {

constexpr std::uint32_t kBoth = DmaMap::kReadable | DmaMap::kWritable;

Descriptor memory_file(std::uint64_t bytes) {
  Descriptor file(memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(ftruncate(file.number(), static_cast<off_t>(bytes)), 0);
  return file;
}

TEST(DmaTable, ReachesTheBytesOfTheFile) {
  const Descriptor file = memory_file(0x4000);
  DmaTable table;
  ASSERT_EQ(table.map({kBoth, 0x1000, 0x8000'0000, 0x2000}, file), 0);
  const std::array<std::uint8_t, 5> five{1, 2, 3, 4, 5};
  const auto piece = table.piece(0x8000'0ffe, 5, true);
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->bytes, 5U);
  copy_to_shared(piece->memory, five.data(), five.size());
  std::array<std::uint8_t, 5> found{};
  ASSERT_EQ(pread(file.number(), found.data(), found.size(), 0x1ffe), 5);
  EXPECT_EQ(found, five);
  found.fill(0);
  copy_from_shared(found.data(), piece->memory, found.size());
  EXPECT_EQ(found, five);
}

TEST(DmaTable, APieceEndsWithItsWindow) {
  const Descriptor file = memory_file(0x2000);
  DmaTable table;
  ASSERT_EQ(table.map({kBoth, 0, 0x1000, 0x1000}, file), 0);
  ASSERT_EQ(table.map({kBoth, 0x1000, 0x2000, 0x1000}, file), 0);
  EXPECT_FALSE(table.piece(0xfff, 1, false));
  EXPECT_EQ(table.piece(0x1ff0, 0x20, false)->bytes, 0x10U);
  EXPECT_EQ(table.piece(0x2fff, 1, false)->bytes, 1U);
  EXPECT_FALSE(table.piece(0x3000, 1, false));
}

TEST(DmaTable, WindowsAreForWhatTheySay) {
  const Descriptor file = memory_file(0x1000);
  DmaTable table;
  ASSERT_EQ(table.map({DmaMap::kReadable, 0, 0x1000, 0x1000}, file), 0);
  EXPECT_TRUE(table.piece(0x1000, 4, false));
  EXPECT_FALSE(table.piece(0x1000, 4, true));
}

TEST(DmaTable, RefusesWhatOverlapsOrIsNotThere) {
  const Descriptor file = memory_file(0x2000);
  DmaTable table;
  ASSERT_EQ(table.map({kBoth, 0, 0x1000, 0x1000}, file), 0);
  EXPECT_EQ(table.map({kBoth, 0, 0x1fff, 2}, file), EEXIST);
  EXPECT_EQ(table.map({kBoth, 0, 0x0fff, 2}, file), EEXIST);
  EXPECT_EQ(table.map({kBoth, 0, 0x1000, 0x1000}, file), EEXIST);
  EXPECT_EQ(table.map({kBoth, 0x1001, 0x4000, 0x1000}, file), EINVAL) << "beyond the file's end";
  EXPECT_EQ(table.map({kBoth, ~std::uint64_t{0}, 0x4000, 0x1000}, file), EINVAL);
  EXPECT_EQ(table.map({kBoth, 0, ~std::uint64_t{0}, 2}, file), EINVAL) << "beyond the last address";
  EXPECT_EQ(table.map({kBoth, 0, 0x4000, 0}, file), EINVAL);
  EXPECT_EQ(table.map({0, 0, 0x4000, 0x1000}, file), EINVAL);
  EXPECT_EQ(table.map({8 | kBoth, 0, 0x4000, 0x1000}, file), EINVAL);
  EXPECT_EQ(table.unmap({0, 0x1000, 0x800}), EINVAL) << "half a window";
  EXPECT_EQ(table.unmap({0, 0x1800, 0x800}), EINVAL);
  EXPECT_EQ(table.unmap({0, 0x8000, 0x800}), 0) << "nothing is there";
  EXPECT_EQ(table.unmap({DmaUnmap::kAll, 0x1000, 0}), EINVAL);
  EXPECT_EQ(table.windows(), 1U);
  EXPECT_EQ(table.unmap({DmaUnmap::kAll, 0, 0}), 0);
  EXPECT_EQ(table.windows(), 0U);
}

TEST(DmaTable, TakesDescriptorsOfMemoryAlone) {
  DmaTable table;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const Descriptor in(ends[0]), out(ends[1]), device(open("/dev/null", O_RDWR)), folder(open("/", O_RDONLY));
  const Descriptor empty(memfd_create("empty", MFD_CLOEXEC));
  for (const Descriptor* d : {&in, &out, &device, &folder, &empty})
    EXPECT_EQ(table.map({kBoth, 0, 0x1000, 0x1000}, *d), EINVAL);
  EXPECT_EQ(table.windows(), 0U);
}

TEST(DmaTable, WhatMayNotBeWrittenIsMappedForReads) {
  const Descriptor file = memory_file(0x1000);
  const Descriptor readable(open(("/proc/self/fd/" + std::to_string(file.number())).c_str(), O_RDONLY));
  DmaTable table;
  EXPECT_EQ(table.map({kBoth, 0, 0x1000, 0x1000}, readable), EACCES);
  EXPECT_EQ(table.map({DmaMap::kReadable, 0, 0x1000, 0x1000}, readable), 0);
  // The same file, open for more.
  EXPECT_EQ(table.map({kBoth, 0, 0x2000, 0x1000}, file), 0);
  const Descriptor sealed = memory_file(0x1000);
  ASSERT_EQ(fcntl(sealed.number(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  EXPECT_EQ(table.map({kBoth, 0, 0x4000, 0x1000}, sealed), EACCES);
  EXPECT_EQ(table.map({DmaMap::kReadable, 0, 0x4000, 0x1000}, sealed), 0);
}

TEST(DmaTable, PagesOfAFileShareOneMapping) {
  const Descriptor file = memory_file(0x1000 * 2000);
  DmaTable table;
  for (std::uint64_t page = 0; page < 2000; ++page) {
    const Descriptor another(dup(file.number()));
    ASSERT_EQ(table.map({kBoth, page * 0x1000, 0x10'0000 + page * 0x2000, 0x1000}, another), 0);
  }
  EXPECT_EQ(table.files(), 1U);
  ASSERT_EQ(table.unmap({0, 0x10'0000, 2000 * 0x2000}), 0);
  EXPECT_EQ(table.files(), 0U);
}

TEST(DmaTable, AFileThatGrowsIsMappedAnew) {
  const Descriptor file = memory_file(0x1000);
  DmaTable table;
  ASSERT_EQ(table.map({kBoth, 0, 0x1000, 0x1000}, file), 0);
  ASSERT_EQ(ftruncate(file.number(), 0x3000), 0);
  ASSERT_EQ(table.map({kBoth, 0x2000, 0x2000, 0x1000}, file), 0);
  const auto last = table.piece(0x2fff, 1, true);
  *last->memory = 7;
  std::uint8_t found = 0;
  ASSERT_EQ(pread(file.number(), &found, 1, 0x2fff), 1);
  EXPECT_EQ(found, 7);
}

TEST(DmaTable, AFileThatIsCutShortGivesZerosAndSaysSo) {
  const Descriptor file = memory_file(0x4000);
  DmaTable table;
  ASSERT_EQ(table.map({kBoth, 0, 0x1000, 0x4000}, file), 0);
  const auto piece = table.piece(0x4000, 16, true);
  std::array<std::uint8_t, 16> data;
  data.fill(9);
  copy_to_shared(piece->memory, data.data(), data.size());
  ASSERT_EQ(ftruncate(file.number(), 0x1000), 0);
  EXPECT_FALSE(piece->is_lost());
  copy_from_shared(data.data(), piece->memory, data.size());
  EXPECT_TRUE(piece->is_lost());
  EXPECT_EQ(data, (std::array<std::uint8_t, 16>{}));
  copy_to_shared(piece->memory, data.data(), data.size());  // goes nowhere
  EXPECT_EQ(lseek(file.number(), 0, SEEK_END), 0x1000);
}

std::size_t parts_of_addresses() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<std::size_t>(
      std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n'));
}

TEST(DmaTable, WhatIsLostIsOneMappingHoweverItIsTouched) {
  constexpr std::uint64_t kPages = 2048;
  const Descriptor file = memory_file(kPages * 0x1000);
  DmaTable table;
  ASSERT_EQ(table.map({kBoth, 0, 0, kPages * 0x1000}, file), 0);
  const auto piece = table.piece(0, kPages * 0x1000, true);
  ASSERT_EQ(ftruncate(file.number(), 0x1000), 0);
  const std::size_t before = parts_of_addresses();
  std::uint8_t byte = 1;
  for (std::uint64_t page = kPages; page-- > 1;)
    if (page % 2 == 1) copy_to_shared(piece->memory + page * 0x1000, &byte, 1);
  EXPECT_LE(parts_of_addresses(), before + 8);
  EXPECT_EQ(piece->file->kept(), 0x1000U) << "the first page is there";
  copy_from_shared(&byte, piece->memory, 1);
  EXPECT_EQ(byte, 0);
}

TEST(DmaTable, WhatIsLostIsFoundAgainByAnotherMap) {
  const Descriptor file = memory_file(0x4000);
  DmaTable table;
  ASSERT_EQ(table.map({kBoth, 0, 0x1000, 0x1000}, file), 0);
  ASSERT_EQ(table.map({kBoth, 0x2000, 0x3000, 0x1000}, file), 0);
  ASSERT_EQ(ftruncate(file.number(), 0x1000), 0);
  std::uint8_t byte = 0;
  copy_from_shared(&byte, table.piece(0x3000, 1, false)->memory, 1);
  EXPECT_TRUE(table.piece(0x3000, 1, false)->is_lost());
  EXPECT_FALSE(table.piece(0x1000, 0x1000, false)->is_lost()) << "which was never cut";
  ASSERT_EQ(table.unmap({0, 0x3000, 0x1000}), 0);
  ASSERT_EQ(ftruncate(file.number(), 0x4000), 0);
  byte = 'h';
  ASSERT_EQ(pwrite(file.number(), &byte, 1, 0x2000), 1);
  ASSERT_EQ(table.map({kBoth, 0x2000, 0x3000, 0x1000}, file), 0);
  EXPECT_FALSE(table.piece(0x3000, 1, false)->is_lost());
  copy_from_shared(&byte, table.piece(0x3000, 1, false)->memory, 1);
  EXPECT_EQ(byte, 'h');
}

TEST(DmaTable, MapsSoMuchAndNoMore) {
  DmaTable table;
  const Descriptor half = memory_file(DmaTable::kMostMapped / 2),
                   another = memory_file(DmaTable::kMostMapped / 2 + 1);
  ASSERT_EQ(table.map({kBoth, 0, 0x1000, 0x1000}, half), 0);
  EXPECT_EQ(table.map({kBoth, 0, 0x2000, 0x1000}, another), ENOMEM);
  ASSERT_EQ(table.unmap({0, 0x1000, 0x1000}), 0);
  EXPECT_EQ(table.map({kBoth, 0, 0x2000, 0x1000}, another), 0);
  table.clear();
  std::vector<Descriptor> files;
  for (std::uint64_t i = 0; i < DmaTable::kMostMappings; ++i) {
    files.push_back(memory_file(0x1000));
    ASSERT_EQ(table.map({kBoth, 0, i * 0x1000, 0x1000}, files.back()), 0);
  }
  const Descriptor one_more = memory_file(0x1000);
  EXPECT_EQ(table.map({kBoth, 0, 0x100'0000, 0x1000}, one_more), ENOSPC);
  ASSERT_EQ(table.unmap({0, 0, 0x1000}), 0);
  EXPECT_EQ(table.map({kBoth, 0, 0x100'0000, 0x1000}, one_more), 0);
  // Mappings that are given back are there for others: more than the process has at a time.
  for (unsigned i = 0; i < 2000; ++i) {
    ASSERT_EQ(table.unmap({0, 0x100'0000, 0x1000}), 0);
    ASSERT_EQ(table.map({kBoth, 0, 0x100'0000, 0x1000}, one_more), 0) << i;
  }
}

TEST(DmaTable, KeepsWhatIsAligned) {
  const Descriptor file = memory_file(0x4000);
  DmaTable table;
  EXPECT_EQ(table.map({kBoth, 0x1001, 0x1000, 0x1000}, file), EINVAL);
  EXPECT_EQ(table.map({kBoth, 0x1000, 0x1800, 0x1000}, file), EINVAL);
  EXPECT_EQ(table.map({kBoth, 0x1800, 0x1800, 0x800}, file), 0);
}

TEST(DmaTable, TakesNoFileThatMayBlock) {
  const Descriptor file(open("/proc/self/exe", O_RDONLY));
  struct statfs system {};
  ASSERT_EQ(fstatfs(file.number(), &system), 0);
  if (system.f_type == TMPFS_MAGIC) GTEST_SKIP() << "the test lies in memory";
  DmaTable table;
  EXPECT_EQ(table.map({DmaMap::kReadable, 0, 0, 0x1000}, file), EINVAL);
}

volatile std::sig_atomic_t others_signals = 0;

TEST(DmaTableDeathTest, SignalsOfOthersGoToWhoHandledThemAndOursStays) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";  // a process that has mapped nothing yet
  EXPECT_EXIT(
      {
        struct sigaction action {};
        action.sa_handler = [](int) { others_signals = others_signals + 1; };
        sigaction(SIGBUS, &action, nullptr);
        const Descriptor file = memory_file(0x4000);
        DmaTable table;
        if (table.map({kBoth, 0, 0, 0x4000}, file) != 0) _exit(1);
        raise(SIGBUS);
        raise(SIGBUS);
        if (ftruncate(file.number(), 0) != 0) _exit(2);
        std::uint8_t byte = 1;
        copy_from_shared(&byte, table.piece(0, 1, false)->memory, 1);
        _exit(others_signals == 2 && byte == 0 ? 0 : 3);
      },
      ::testing::ExitedWithCode(0), "");
}

/// Two values that differ in every byte, so that parts of both are neither.
constexpr std::array<std::uint32_t, 2> kValues{0x0000'0000, 0xffff'ffff};

TEST(DmaTable, FourBytesAreSeenWhole) {
  alignas(8) std::array<std::uint8_t, 16> memory{};
  for (const std::size_t place : {0U, 4U}) {
    auto* const word = static_cast<std::uint32_t*>(static_cast<void*>(memory.data() + place));
    std::atomic<bool> ends{false};
    std::thread other([&] {
      for (std::uint32_t i = 0; i < 1'000'000; ++i)
        copy_to_shared(memory.data() + place, reinterpret_cast<const std::uint8_t*>(&kValues[i % 2]), 4);
      ends = true;
    });
    unsigned torn = 0;
    while (!ends.load()) {
      const std::uint32_t found = __atomic_load_n(word, __ATOMIC_ACQUIRE);
      torn += found != kValues[0] && found != kValues[1] ? 1 : 0;
    }
    other.join();
    EXPECT_EQ(torn, 0U) << "written at " << place;
    ends = false;
    std::thread writer([&] {
      for (std::uint32_t i = 0; !ends.load(); ++i) __atomic_store_n(word, kValues[i % 2], __ATOMIC_RELEASE);
    });
    for (unsigned i = 0; i < 300'000; ++i) {
      std::uint32_t found = 0;
      copy_from_shared(reinterpret_cast<std::uint8_t*>(&found), memory.data() + place, 4);
      torn += found != kValues[0] && found != kValues[1] ? 1 : 0;
    }
    ends = true;
    writer.join();
    EXPECT_EQ(torn, 0U) << "read at " << place;
  }
}

TEST(DmaTable, AgreesWithAListOfPages) {
  // Pages 0 to 63 of addresses; what the table must say of each is kept one by one.
  struct Page {
    unsigned window = 0;  ///< 0: none
    std::uint64_t offset = 0;
    bool writable = false;
  };
  const Descriptor file = memory_file(64 * 0x1000);
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](unsigned below) { return static_cast<std::uint64_t>(random() % below); };
    DmaTable table;
    std::array<Page, 64> pages{};
    unsigned window = 0;
    for (unsigned step = 0; step < 300; ++step) {
      const std::uint64_t from = draw(64), count = 1 + draw(64 - static_cast<unsigned>(from));
      bool some = false, whole = true;
      for (std::uint64_t p = from; p < from + count; ++p) some |= pages[p].window != 0;
      for (const std::uint64_t edge : {from, from + count})
        if (edge > 0 && edge < 64)
          whole &= pages[edge].window == 0 || pages[edge].window != pages[edge - 1].window;
      if (draw(3) != 0) {
        const std::uint64_t offset = draw(64);
        const bool writable = draw(2) == 0;
        const bool fits = offset + count <= 64;
        const int error = table.map(
            {writable ? kBoth : DmaMap::kReadable, offset * 0x1000, from * 0x1000, count * 0x1000}, file);
        ASSERT_EQ(error, some ? EEXIST : fits ? 0 : EINVAL) << "seed " << seed << ", step " << step;
        if (error != 0) continue;
        ++window;
        for (std::uint64_t p = 0; p < count; ++p) pages[from + p] = {window, offset + p, writable};
      } else {
        const int error = table.unmap({0, from * 0x1000, count * 0x1000});
        ASSERT_EQ(error, whole ? 0 : EINVAL) << "seed " << seed << ", step " << step;
        if (error != 0) continue;
        for (std::uint64_t p = from; p < from + count; ++p) pages[p] = {};
      }
      const std::uint64_t p = draw(64), within = draw(0x1000);
      const bool writes = draw(2) == 0;
      const auto piece = table.piece(p * 0x1000 + within, 64 * 0x1000, writes);
      ASSERT_EQ(piece.has_value(), pages[p].window != 0 && (!writes || pages[p].writable)) << "seed " << seed;
      if (!piece) continue;
      std::uint64_t end = p;
      while (end < 64 && pages[end].window == pages[p].window) ++end;
      ASSERT_EQ(piece->bytes, (end - p) * 0x1000 - within) << "seed " << seed;
      ASSERT_EQ(piece->memory, piece->file->memory() + pages[p].offset * 0x1000 + within) << "seed " << seed;
    }
  }
}

TEST(DmaTable, CopiesBytesWhateverTheirPlace) {
  std::array<std::uint8_t, 64> from{}, to{}, back{};
  for (unsigned i = 0; i < 64; ++i) from[i] = static_cast<std::uint8_t>(i + 1);
  for (unsigned at = 0; at < 16; ++at) {
    for (unsigned bytes = 0; bytes <= 40; ++bytes) {
      to.fill(0);
      back.fill(0);
      copy_to_shared(to.data() + at, from.data() + 3, bytes);
      for (unsigned i = 0; i < 64; ++i) ASSERT_EQ(to[i], i >= at && i < at + bytes ? from[3 + i - at] : 0);
      copy_from_shared(back.data() + 5, to.data() + at, bytes);
      for (unsigned i = 0; i < bytes; ++i) ASSERT_EQ(back[5 + i], from[3 + i]);
    }
  }
}

}  // namespace dma_table_test
}  // namespace warpline::vfio_user
