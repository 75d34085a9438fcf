// Clients that are killed, and traffic without end.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <utility>

#include "tests/platform/serve/served_peers.h"
#include "tests/support/environment.h"

namespace warpline {
namespace endurance_test {

using test::ServedDriver;
using test::ServedPeers;
using vfio_user::Descriptor;

/// A file of which clients give the server parts only.
class GuardedFile {
 public:
  static constexpr std::size_t kBytes = 1U << 20U, kWindow = kBytes / 8;
  static constexpr std::uint8_t kGuard = 0xA5;

  GuardedFile() : file_(memfd_create("guarded", MFD_CLOEXEC)) {
    EXPECT_EQ(ftruncate(file_.number(), kBytes), 0);
    bytes_ = static_cast<std::uint8_t*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.number(), 0));
    std::memset(bytes_, kGuard, kBytes);
  }
  ~GuardedFile() { munmap(bytes_, kBytes); }
  GuardedFile(const GuardedFile&) = delete;
  GuardedFile& operator=(const GuardedFile&) = delete;

  [[nodiscard]] int number() const { return file_.number(); }
  [[nodiscard]] std::uint8_t* bytes() const { return bytes_; }
  /// Of the eighths, those with odd numbers are windows.
  [[nodiscard]] bool is_whole() const {
    for (std::size_t i = 0; i < kBytes; ++i)
      if (i / kWindow % 2 == 0 && bytes_[i] != kGuard) return false;
    return true;
  }

 private:
  Descriptor file_;
  std::uint8_t* bytes_ = nullptr;
};

/// Where the file lies for devices, if it is mapped there, and memory that is asked for by message.
constexpr std::uint64_t kMapped = 0x10'0000'0000, kAsked = 0x20'0000'0000;

/// A client that does what comes to its mind until it is killed: a process of its own.
class WildClient {
 public:
  WildClient(std::string path, const GuardedFile& file, std::atomic<std::uint64_t>& done, unsigned seed)
      : path_(std::move(path)), file_(file), done_(done), random_(seed) {}
  [[noreturn]] void run() {
    // The server may not have heard yet that the one before has gone.
    auto connected = vfio_user::ClientMachine::connect(path_, {});
    while (!connected.ok()) connected = vfio_user::ClientMachine::connect(path_, {});
    machine_ = std::move(connected.value());
    machine_->connection().answer_by([](std::uint64_t, std::uint8_t*, std::size_t, bool) { return true; });
    note(machine_->connection().map({3, 0, kAsked, 0x1'0000}, -1));
    for (unsigned part = 1; part < 8; part += 2) map(part);
    start_driver();
    for (;;) {
      act();
      ++done_;
    }
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  /// What it asks for may be refused; but it is not cut off.
  static void note(int error) {
    if (error == ECONNRESET || error == EPROTO || error == ETIMEDOUT) _exit(3);
  }
  void map(std::uint64_t part) {
    const std::uint64_t at = part * GuardedFile::kWindow;
    note(machine_->connection().map({3, at, kMapped + at, GuardedFile::kWindow}, file_.number()));
  }
  void start_driver() {
    note(machine_->bring_up());
    if (wl_peer_probe(&peer_, &machine_->port()) != WL_OK || wl_peer_start(&peer_) != WL_OK) return;
    wl_peer_queue_options options{};
    options.order = kOrder;
    options.submissions = submissions_.get(*machine_, 64U << kOrder);
    options.completions = completions_.get(*machine_, 16U << kOrder);
    options.slots = slots_.data();
    options.interrupt = 1;
    static_cast<void>(wl_peer_queue_create(&peer_, 0, &options));
  }
  /// In a window or beside it, across its edge, by message, in a BAR, or nowhere.
  std::uint64_t address() {
    switch (below(6)) {
      case 0: return kAsked + below(0x1'0000);
      case 1: return machine_->bars()[4].address + below(0x1000);
      case 2: return random_();
      default: return kMapped + below(GuardedFile::kBytes);
    }
  }
  void command() {
    wl_peer_command c{};
    c.opcode = static_cast<std::uint8_t>(below(8));
    c.source = address();
    c.destination = address();
    c.length = static_cast<std::uint32_t>(below(4) == 0 ? below(100'000) : below(64) * 8);
    c.operand = random_();
    if (wl_peer_submit(&peer_, 0, &c) == WL_OK) static_cast<void>(wl_peer_ring(&peer_, 0));
    wl_peer_completion completion{};
    while (wl_peer_poll(&peer_, 0, &completion) == WL_OK) {
    }
  }
  void act() {
    vfio_user::Connection& connection = machine_->connection();
    std::uint64_t value = random_();
    const auto region = static_cast<unsigned>(below(8));
    const std::uint64_t offset = below(0x1000), part = below(4) * 2 + 1;
    const auto bytes = static_cast<std::uint32_t>(1U << below(4));
    switch (below(40)) {
      case 0: return note(connection.reset()), start_driver();
      case 1: return start_driver();
      case 2: return map(part);
      case 3: return note(connection.unmap({0, kMapped + part * GuardedFile::kWindow, GuardedFile::kWindow}));
      case 4: return note(connection.write(region, offset, &value, bytes));
      case 5: return note(connection.post(region, offset, &value, bytes));
      case 6: return note(connection.listen(1));
      case 7:
      case 8: return note(connection.read(region, offset, &value, bytes));
      default: return command();
    }
  }

  /// Memory of the machine, which is taken once.
  struct Part {
    void* at = nullptr;
    void* get(vfio_user::ClientMachine& machine, std::size_t bytes) {
      return at != nullptr ? at : at = machine.allocate(bytes);
    }
  };
  static constexpr unsigned kOrder = 6;
  std::string path_;
  const GuardedFile& file_;
  std::atomic<std::uint64_t>& done_;
  std::mt19937_64 random_;
  std::unique_ptr<vfio_user::ClientMachine> machine_;
  wl_peer peer_{};
  std::array<wl_peer_slot, 1U << kOrder> slots_{};
  Part submissions_, completions_;
};

class KilledClients : public ::testing::TestWithParam<bool> {};

TEST_P(KilledClients, HarmNobodyAndTouchNothingElse) {
  const std::uint64_t kills = from_environment("WARPLINE_KILLED_CLIENTS", 4);
  ServedPeers peers(ServedPeers::Options{2, GetParam(), 0, {}});
  const GuardedFile file;
  // What the processes have done, for all to see.
  auto* const done = new (mmap(nullptr, sizeof(std::atomic<std::uint64_t>), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<std::uint64_t>(0);
  const auto other = peers.client(1);
  ASSERT_NE(other, nullptr);
  ServedDriver driver(*other);
  constexpr std::uint32_t kBytes = 4096;
  auto* const from = static_cast<std::uint8_t*>(other->allocate(kBytes));
  auto* const to = static_cast<std::uint8_t*>(other->allocate(kBytes));
  std::mt19937 random(1);
  for (unsigned kill = 0; kill < kills; ++kill) {
    const std::uint64_t moment = *done + random() % 200;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) WildClient(peers.path(0), file, *done, kill).run();
    // The other client is served all the while.
    do {
      std::generate_n(from, kBytes, [&random] { return static_cast<std::uint8_t>(random()); });
      ASSERT_EQ(driver.copy(driver.bus(from), driver.bus(to), kBytes), WL_PEER_STATUS_CODE_OK) << kill;
      ASSERT_EQ(std::memcmp(from, to, kBytes), 0) << kill;
      ASSERT_EQ(waitpid(child, nullptr, WNOHANG), 0) << "it has ended by itself";
    } while (*done < moment);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    ASSERT_TRUE(file.is_whole()) << kill;
  }
  // The next one finds it as new.
  const auto last = peers.client(0);
  ASSERT_NE(last, nullptr);
  ServedDriver again(*last);
  void* const memory = last->allocate(128);
  EXPECT_EQ(again.copy(again.bus(memory), again.bus(memory) + 64, 64), WL_PEER_STATUS_CODE_OK);
  EXPECT_TRUE(file.is_whole());
  munmap(static_cast<void*>(done), sizeof *done);
}

INSTANTIATE_TEST_SUITE_P(Endurance, KilledClients, ::testing::Bool(),
                         [](const auto& time) { return time.param ? "Loose" : "Timed"; });

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kMemoryIsItsOwn = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kMemoryIsItsOwn = false;
#else
constexpr bool kMemoryIsItsOwn = true;
#endif
#else
constexpr bool kMemoryIsItsOwn = true;
#endif

/// Bytes of this process that are in memory.
std::uint64_t resident() {
  std::ifstream in("/proc/self/statm");
  std::uint64_t all = 0, pages = 0;
  in >> all >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Commands of every kind by a driver, each of which waits for its interrupt.
class Traffic {
 public:
  explicit Traffic(vfio_user::ClientMachine& machine)
      : machine_(machine),
        driver_(machine),
        memory_(static_cast<std::uint8_t*>(machine.allocate(4 * kPart))) {}

  void once(std::uint64_t number) {
    std::uint8_t* const from = memory_ + number % 3 * kPart;
    std::uint8_t* const to = from + kPart;
    std::memcpy(from, &number, sizeof number);
    const auto bytes = static_cast<std::uint32_t>(64 + number * 64 % kPart);
    ASSERT_EQ(driver_.copy(driver_.bus(from), driver_.bus(to), std::min(bytes, kPart)),
              WL_PEER_STATUS_CODE_OK);
    ASSERT_EQ(std::memcmp(from, to, sizeof number), 0) << number;
    if (number % 4 != 0) return;
    std::uint32_t identity = 0;
    ASSERT_EQ(machine_.connection().read(0, 0, &identity, 4), 0);
    ASSERT_EQ(identity, WL_PEER_IDENTITY_VALUE);
    // Memory comes and goes, and what lies nowhere is refused.
    ASSERT_EQ(machine_.connection().map({3, 0, kAsked, 0x1'0000}, -1), 0);
    ASSERT_EQ(machine_.connection().unmap({0, kAsked, 0x1'0000}), 0);
    if (number % 64 == 0) {
      ASSERT_NE(driver_.copy(driver_.bus(from), kAsked, 8) | driver_.copy(kAsked, driver_.bus(to), 8), 0);
    }
  }

 private:
  static constexpr std::uint32_t kPart = 8192;
  vfio_user::ClientMachine& machine_;
  ServedDriver driver_;
  std::uint8_t* memory_;
};

TEST(Endurance, MemoryStaysAndEveryInterruptComes) {
  constexpr std::uint64_t kUsual = 1000;
  // As many commands as this for each of two functions, one of which gets a new client now and then.
  const std::uint64_t commands = from_environment("WARPLINE_SERVED_COMMANDS", kUsual);
  PcieSystemParameters parameters;
  parameters.peer.log_entries = 1000;  // which are full after the warm-up
  ServedPeers peers(ServedPeers::Options{2, true, 0, parameters});
  const auto staying = peers.client(0);
  ASSERT_NE(staying, nullptr);
  Traffic traffic(*staying);
  std::uint64_t number = 0, warm = 0, grown = 0;
  const auto run = [&](std::uint64_t count) {
    constexpr std::uint64_t kStay = 200;
    for (std::uint64_t n = 0; n < count; n += kStay) {
      const auto coming = peers.client(1);
      ASSERT_NE(coming, nullptr);
      Traffic others(*coming);
      for (std::uint64_t i = 0; i < std::min(kStay, count - n); ++i) {
        traffic.once(number);
        others.once(number++);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  };
  ASSERT_NO_FATAL_FAILURE(run(std::max(2 * kUsual, commands / 20)));
  warm = resident();
  for (std::uint64_t part = 0; part < 20; ++part) {
    ASSERT_NO_FATAL_FAILURE(run(commands / 20));
    grown = resident();
    if (commands == kUsual) continue;
    std::printf("%llu commands: %llu KiB resident after the warm-up, %llu now\n",
                static_cast<unsigned long long>(number), static_cast<unsigned long long>(warm / 1024),
                static_cast<unsigned long long>(grown / 1024));
    std::fflush(stdout);
  }
  if (kMemoryIsItsOwn) {
    // Of a short run a piece of the heap more says nothing.
    const std::uint64_t heap = commands > kUsual ? 0 : 256U << 10U;
    EXPECT_LT(grown, warm + warm / 100 + heap);
  }
  // A command whose interrupt does not come has no end, and there is one of them for each interrupt at most.
  const auto counters = peers.within([&] { return peers.machine().counters(); });
  std::uint64_t heard = 0;
  for (unsigned i = 0; i < 2; ++i)
    heard += peers.within([&] { return peers.serving().counters(i).interrupts; });
  EXPECT_EQ(heard, counters.interrupts);
  EXPECT_GE(heard, 2 * number);
  EXPECT_EQ(counters.unheard_interrupts, 0U);
  EXPECT_EQ(counters.failed_reads, 0U);
}

}  // namespace endurance_test
}  // namespace warpline
