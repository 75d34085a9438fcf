#include "platform/vfio_user/server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <random>
#include <system_error>

#include "platform/vfio_user/connection.h"
#include "tests/platform/vfio_user/served_memory.h"
#include "tests/support/environment.h"

namespace warpline::vfio_user {
namespace server_test {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What comes of something, which the test waits for no longer than it must.
template <class T>
T ended(std::future<T> result) {
  if (result.wait_for(std::chrono::seconds(20)) == std::future_status::ready) return result.get();
  ADD_FAILURE() << "it does not end";
  return {};
}

class VfioServer : public ::testing::Test {
 protected:
  std::unique_ptr<Connection> connect(const Version& version = {}) {
    auto made = Connection::to(served_.path(), version);
    EXPECT_TRUE(made.ok()) << made.faults().front().text();
    return made.ok() ? std::move(made.value()) : nullptr;
  }
  /// A DMA of the function's, and how it ended; fails the test if it has not after all.
  DmaOutcome write(std::uint64_t address, const std::string& text) {
    auto outcome = std::make_shared<std::promise<DmaOutcome>>();
    served_.within([&] {
      served_.function().client->write(address, reinterpret_cast<const std::uint8_t*>(text.data()),
                                       static_cast<std::uint32_t>(text.size()),
                                       [outcome](DmaOutcome o) { outcome->set_value(o); });
    });
    return ended(outcome->get_future());
  }
  std::string read(std::uint64_t address, std::uint32_t bytes) {
    auto text = std::make_shared<std::promise<std::string>>();
    served_.within([&] {
      served_.function().client->read(address, bytes, [text, bytes](DmaOutcome o, const std::uint8_t* data) {
        text->set_value(o == DmaOutcome::done     ? std::string(data, data + bytes)
                        : o == DmaOutcome::failed ? "(failed)"
                                                  : "(unmapped)");
      });
    });
    return ended(text->get_future());
  }

  ServedMemory served_;
};

Descriptor memory_file(const std::string& text, std::uint64_t bytes = 0x4000) {
  Descriptor file(memfd_create("memory", MFD_CLOEXEC));
  EXPECT_EQ(ftruncate(file.number(), static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(pwrite(file.number(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  return file;
}
std::uint64_t count_of(const Descriptor& event) {
  std::uint64_t count = 0;
  return ::read(event.number(), &count, sizeof count) == sizeof count ? count : 0;
}
Descriptor event() {
  return Descriptor(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
}
SetIrqs trigger(IrqKind kind, unsigned start, unsigned count) {
  return {SetIrqs::kEventfds | SetIrqs::kTrigger, static_cast<std::uint32_t>(kind), start, count, {}};
}

TEST_F(VfioServer, TellsWhatTheFunctionIs) {
  const auto client = connect();
  RegionInfo bar, none, config;
  ASSERT_EQ(client->region(0, bar), 0);
  EXPECT_EQ(bar.bytes, MemoryFunction::kBytes);
  EXPECT_EQ(bar.flags, RegionInfo::kReadable | RegionInfo::kWritable);
  ASSERT_EQ(client->region(3, none), 0);
  EXPECT_EQ(none.bytes, 0U);
  EXPECT_EQ(none.flags, 0U);
  ASSERT_EQ(client->region(kConfigRegion, config), 0);
  EXPECT_EQ(config.flags, RegionInfo::kReadable);
  EXPECT_EQ(client->region(kRegions, none), EINVAL);
  IrqInfo msix, intx, error;
  ASSERT_EQ(client->irq(IrqKind::msix, msix), 0);
  EXPECT_EQ(msix.count, 4U);
  EXPECT_EQ(msix.flags, IrqInfo::kEventfd | IrqInfo::kNoResize);
  ASSERT_EQ(client->irq(IrqKind::intx, intx), 0);
  EXPECT_EQ(intx.flags, IrqInfo::kEventfd | IrqInfo::kMaskable | IrqInfo::kAutomasked);
  ASSERT_EQ(client->irq(IrqKind::error, error), 0);
  EXPECT_EQ(error.count, 0U);
}

TEST_F(VfioServer, ReadsAndWritesRegions) {
  const auto client = connect();
  const std::uint32_t value = 0x12345678;
  ASSERT_EQ(client->write(0, 0x100, &value, 4), 0);
  std::uint64_t found = 0;
  ASSERT_EQ(client->read(0, 0xfe, &found, 8), 0);
  EXPECT_EQ(found, 0x12345678'0000U);
  EXPECT_EQ(client->read(0, MemoryFunction::kBytes - 4, &found, 8), EINVAL);
  EXPECT_EQ(client->read(0, ~std::uint64_t{0}, &found, 8), EINVAL);
  EXPECT_EQ(client->read(3, 0, &found, 4), EINVAL);
  EXPECT_EQ(client->read(9, 0, &found, 4), EINVAL);
  EXPECT_EQ(client->read(0, 0, &found, 0), EINVAL);
  EXPECT_EQ(client->read(1, 0, &found, 4), EACCES);
  EXPECT_EQ(client->write(kConfigRegion, 0, &value, 4), EACCES);
  EXPECT_EQ(client->read(0, MemoryFunction::kBad, &found, 4), EIO) << "the function refuses";
}

TEST_F(VfioServer, WritesTogetherAreDoneInTheirOrder) {
  const auto client = connect();
  std::vector<SmallWrite> writes;
  for (std::uint8_t i = 0; i < 8; ++i) writes.push_back({{std::uint64_t{0x20} + i / 2U, 0, 4}, {i, i, i, i}});
  ASSERT_EQ(client->write(writes), 0);
  std::array<std::uint8_t, 8> found{};
  ASSERT_EQ(client->read(0, 0x20, found.data(), 8), 0);
  EXPECT_THAT(found, ElementsAre(1, 3, 5, 7, 7, 7, 7, 0));
  writes.back().where.offset = MemoryFunction::kBytes;
  writes.front().data.fill(99);
  EXPECT_EQ(client->write(writes), EINVAL) << "all of them or none";
  ASSERT_EQ(client->read(0, 0x20, found.data(), 1), 0);
  EXPECT_EQ(found[0], 1);
}

TEST_F(VfioServer, PostedWritesComeBeforeAReadThatFollows) {
  const auto client = connect();
  for (std::uint32_t i = 1; i <= 1000; ++i) ASSERT_EQ(client->post(0, 0, &i, 4), 0);
  std::uint32_t found = 0;
  ASSERT_EQ(client->read(0, 0, &found, 4), 0);
  EXPECT_EQ(found, 1000U);
}

TEST_F(VfioServer, ReachesMemoryThatIsMapped) {
  const auto client = connect();
  const Descriptor file = memory_file("some text");
  ASSERT_EQ(client->map({3, 0, 0x10'0000, 0x4000}, file.number()), 0);
  EXPECT_EQ(read(0x10'0005, 4), "text");
  EXPECT_EQ(write(0x10'0000, "more"), DmaOutcome::done);
  std::array<char, 9> found{};
  ASSERT_EQ(pread(file.number(), found.data(), found.size(), 0), 9);
  EXPECT_EQ(std::string(found.data(), found.size()), "more text");
  EXPECT_EQ(read(0x10'3fff, 2), "(unmapped)");
  EXPECT_EQ(write(0x20'0000, "x"), DmaOutcome::unmapped);
  ASSERT_EQ(client->unmap({0, 0x10'0000, 0x4000}), 0);
  EXPECT_EQ(read(0x10'0005, 4), "(unmapped)");
  EXPECT_EQ(served_.counters().refused_dma, 3U);
}

TEST_F(VfioServer, ReachesOtherMemoryByMessages) {
  Version version;
  version.most_data = 100;  // so a transfer takes several
  const auto client = connect(version);
  std::string memory(1000, '.');
  client->answer_by([&](std::uint64_t address, std::uint8_t* data, std::size_t bytes, bool writes) {
    EXPECT_LE(bytes, 100U);
    if (address - 0x1000 + bytes > memory.size()) return false;
    char* const at = memory.data() + (address - 0x1000);
    if (writes) {
      std::copy_n(data, bytes, at);
    } else {
      std::copy_n(at, bytes, data);
    }
    return true;
  });
  ASSERT_EQ(client->map({3, 0, 0x1000, 0x1000}, -1), 0);
  std::thread listening([&] { EXPECT_EQ(client->listen(200), 0); });
  const std::string text(250, 'x');
  EXPECT_EQ(write(0x1010, text), DmaOutcome::done);
  EXPECT_EQ(read(0x100f, 252), "." + text + ".");
  EXPECT_EQ(read(0x1380, 250), "(failed)") << "the client refuses";
  listening.join();
  EXPECT_EQ(served_.counters().dma_message_bytes, 250U + 252U + 100U);
}

TEST_F(VfioServer, AClientThatGoesEndsWhatWaitsForItsMemory) {
  auto client = connect();
  ASSERT_EQ(client->map({3, 0, 0x1000, 0x1000}, -1), 0);
  std::promise<DmaOutcome> outcome;
  served_.within([&] {
    const std::uint8_t byte = 1;
    served_.function().client->write(0x1000, &byte, 1, [&](DmaOutcome o) { outcome.set_value(o); });
  });
  client.reset();
  EXPECT_EQ(ended(outcome.get_future()), DmaOutcome::unmapped);
  EXPECT_TRUE(served_.comes_to(false));
  EXPECT_EQ(served_.within([&] { return served_.function().client; }), nullptr);
}

TEST(VfioServerPatience, EndsWithAClientThatDoesNotAnswer) {
  ServedMemory served(std::chrono::milliseconds(40));
  auto client = Connection::to(served.path());
  ASSERT_TRUE(client.ok());
  ASSERT_EQ(client.value()->map({3, 0, 0x1000, 0x1000}, -1), 0);
  std::promise<DmaOutcome> outcome;
  served.within([&] {
    const std::uint8_t byte = 1;
    served.function().client->write(0x1000, &byte, 1, [&](DmaOutcome o) { outcome.set_value(o); });
  });
  EXPECT_EQ(ended(outcome.get_future()), DmaOutcome::unmapped);
  EXPECT_THAT(served.said(), Contains(HasSubstr("when its memory was asked for")));
}

TEST_F(VfioServer, VectorsReachTheEventsThatWereGivenForThem) {
  const auto client = connect();
  const std::array<Descriptor, 2> events{event(), event()};
  ASSERT_EQ(client->set_irqs(trigger(IrqKind::msix, 1, 2), {events[0].number(), events[1].number()}), 0);
  const auto raise = [&](IrqKind kind, unsigned vector) {
    served_.within([&] { served_.function().client->interrupt(kind, vector); });
  };
  raise(IrqKind::msix, 0);  // nobody listens
  raise(IrqKind::msix, 2);
  raise(IrqKind::msix, 2);
  EXPECT_EQ(count_of(events[0]), 0U);
  EXPECT_EQ(count_of(events[1]), 2U);
  // The client may raise one itself, to see whether it works.
  ASSERT_EQ(client->set_irqs({SetIrqs::kNoData | SetIrqs::kTrigger, 2, 1, 1, {}}, {}), 0);
  ASSERT_EQ(client->set_irqs({SetIrqs::kBools | SetIrqs::kTrigger, 2, 1, 2, {0, 1}}, {}), 0);
  EXPECT_EQ(count_of(events[0]), 1U);
  EXPECT_EQ(count_of(events[1]), 1U);
  // Without an event a vector is off; without any vector, all are.
  ASSERT_EQ(client->set_irqs(trigger(IrqKind::msix, 1, 1), {}), 0);
  raise(IrqKind::msix, 1);
  EXPECT_EQ(count_of(events[0]), 0U);
  ASSERT_EQ(client->set_irqs({SetIrqs::kNoData | SetIrqs::kTrigger, 2, 0, 0, {}}, {}), 0);
  raise(IrqKind::msix, 2);
  EXPECT_EQ(count_of(events[1]), 0U);
  EXPECT_EQ(served_.counters().interrupts, 2U);
}

TEST_F(VfioServer, AWireIsMaskedUntilItIsUnmasked) {
  const auto client = connect();
  const Descriptor wire = event();
  ASSERT_EQ(client->set_irqs(trigger(IrqKind::intx, 0, 1), {wire.number()}), 0);
  const auto raise = [&] { served_.within([&] { served_.function().client->interrupt(IrqKind::intx, 0); }); };
  raise();
  EXPECT_EQ(count_of(wire), 1U);
  raise();
  raise();
  EXPECT_EQ(count_of(wire), 0U);
  const SetIrqs unmask{SetIrqs::kNoData | SetIrqs::kUnmask, 0, 0, 1, {}};
  ASSERT_EQ(client->set_irqs(unmask, {}), 0);
  EXPECT_EQ(count_of(wire), 1U) << "what came meanwhile";
  ASSERT_EQ(client->set_irqs(unmask, {}), 0);
  EXPECT_EQ(count_of(wire), 0U);
  raise();
  EXPECT_EQ(count_of(wire), 1U);
}

TEST_F(VfioServer, RefusesInterruptsThatThereAreNot) {
  const auto client = connect();
  const Descriptor one = event(), file = memory_file("");
  EXPECT_EQ(client->set_irqs(trigger(IrqKind::msix, 4, 1), {one.number()}), EINVAL);
  EXPECT_EQ(client->set_irqs(trigger(IrqKind::msix, 0xffff'ffff, 2), {one.number()}), EINVAL);
  EXPECT_EQ(client->set_irqs(trigger(IrqKind::msi, 0, 1), {one.number()}), EINVAL);
  EXPECT_EQ(client->set_irqs(trigger(IrqKind::msix, 0, 1), {file.number()}), EINVAL) << "no event";
  EXPECT_EQ(client->set_irqs(trigger(IrqKind::msix, 0, 1), {one.number(), one.number()}), EINVAL);
  EXPECT_EQ(client->set_irqs({SetIrqs::kEventfds | SetIrqs::kTrigger | SetIrqs::kMask, 2, 0, 1, {}}, {}),
            EINVAL);
  EXPECT_EQ(client->set_irqs({SetIrqs::kEventfds | SetIrqs::kUnmask, 0, 0, 1, {}}, {one.number()}), ENOTSUP);
  EXPECT_EQ(client->set_irqs({SetIrqs::kTrigger, 2, 0, 1, {}}, {}), EINVAL);
  EXPECT_EQ(client->set_irqs({SetIrqs::kNoData | SetIrqs::kTrigger, 7, 0, 0, {}}, {}), EINVAL);
}

TEST_F(VfioServer, AFullEventStopsNobody) {
  const auto client = connect();
  const Descriptor full(eventfd(0, EFD_CLOEXEC));  // it would block
  const std::uint64_t most = 0xffff'ffff'ffff'fffe;
  ASSERT_EQ(::write(full.number(), &most, sizeof most), 8);
  ASSERT_EQ(client->set_irqs(trigger(IrqKind::msix, 0, 1), {full.number()}), 0);
  served_.within([&] { served_.function().client->interrupt(IrqKind::msix, 0); });
  EXPECT_EQ(client->reset(), 0);
}

TEST_F(VfioServer, AnEventThatIsMadeToWaitLaterStopsNobody) {
  const auto client = connect();
  const Descriptor full = event();
  ASSERT_EQ(client->set_irqs(trigger(IrqKind::msix, 0, 1), {full.number()}), 0);
  ASSERT_EQ(fcntl(full.number(), F_SETFL, 0), 0);
  const std::uint64_t most = 0xffff'ffff'ffff'fffe;
  ASSERT_EQ(::write(full.number(), &most, sizeof most), 8);
  client->set_patience(3000);
  EXPECT_EQ(client->set_irqs({SetIrqs::kNoData | SetIrqs::kTrigger, 2, 0, 1, {}}, {}), 0);
  EXPECT_GE(count_of(full), most) << "which also lets go of a server that waits";
  EXPECT_EQ(client->set_irqs({SetIrqs::kNoData | SetIrqs::kTrigger, 2, 0, 1, {}}, {}), 0);
  EXPECT_EQ(count_of(full), 1U);
}

TEST_F(VfioServer, ResetsTheFunction) {
  const auto client = connect();
  const std::uint32_t value = 5;
  ASSERT_EQ(client->write(0, 0, &value, 4), 0);
  ASSERT_EQ(client->reset(), 0);
  std::uint32_t found = 1;
  ASSERT_EQ(client->read(0, 0, &found, 4), 0);
  EXPECT_EQ(found, 0U);
  EXPECT_EQ(served_.within([&] { return served_.function().resets; }), 1U);
}

TEST_F(VfioServer, IsItsUsersAlone) {
  struct stat status {};
  ASSERT_EQ(stat(served_.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(VfioServer, HasOneClientAtATime) {
  auto first = connect();
  const auto second = Connection::to(served_.path());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.faults().front().message, "somebody is connected there already");
  const std::uint32_t value = 7;
  EXPECT_EQ(first->write(0, 0, &value, 4), 0) << "the first does not notice";
  first.reset();
  ASSERT_TRUE(served_.comes_to(false));
  const auto third = connect();
  std::uint32_t found = 0;
  ASSERT_EQ(third->read(0, 0, &found, 4), 0);
  EXPECT_EQ(found, 7U) << "the function is as it was";
  EXPECT_EQ(served_.counters().refused_clients, 1U);
  EXPECT_EQ(served_.counters().clients, 2U);
}

/// A connection that has said nothing yet.
Descriptor silent(const std::string& path) {
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  EXPECT_EQ(::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return socket;
}

TEST_F(VfioServer, ThoseWhoSayNothingKeepNobodyOut) {
  std::vector<Descriptor> strangers;
  for (unsigned i = 0; i < 50; ++i) strangers.push_back(silent(served_.path()));
  const auto client = connect();
  ASSERT_NE(client, nullptr);
  EXPECT_EQ(client->reset(), 0);
}

TEST_F(VfioServer, CutsOffWhoDoesNotBeginWithItsVersion) {
  const Descriptor socket = silent(served_.path());
  Header h;
  h.command = static_cast<std::uint16_t>(Command::reset);
  h.bytes = Header::kBytes;
  std::array<std::uint8_t, Header::kBytes> bytes{};
  h.put(bytes.data());
  ASSERT_EQ(::send(socket.number(), bytes.data(), bytes.size(), 0), 16);
  ASSERT_EQ(recv(socket.number(), bytes.data(), bytes.size(), MSG_WAITALL), 16);
  EXPECT_EQ(Header::of(bytes.data()).error, static_cast<std::uint32_t>(EINVAL));
  EXPECT_EQ(recv(socket.number(), bytes.data(), bytes.size(), 0), 0);
  EXPECT_THAT(served_.said(),
              Contains("cut a client off, which sent command 13 before a version was agreed on"));
}

TEST_F(VfioServer, RefusesAnotherMajorVersion) {
  Version other;
  other.major = 1;
  const auto client = Connection::to(served_.path(), other);
  ASSERT_FALSE(client.ok());
  EXPECT_EQ(client.faults().front().message, "the server refuses: Invalid argument");
  EXPECT_THAT(served_.said(), Contains(HasSubstr("another version than 0.0: it is 1.0")));
}

TEST_F(VfioServer, RefusesCommandsThatThereAreNot) {
  const auto client = connect();
  for (const unsigned command : {0, 1, 6, 11, 14, 16, 999}) {
    Header h, answer;
    h.id = 77;
    h.command = static_cast<std::uint16_t>(command);
    h.bytes = Header::kBytes;
    std::array<std::uint8_t, Header::kBytes> bytes{};
    h.put(bytes.data());
    ASSERT_EQ(client->send_raw(bytes.data(), bytes.size()), 0);
    std::vector<std::uint8_t> payload;
    ASSERT_EQ(client->receive(answer, payload, 5000), 0);
    EXPECT_EQ(answer.id, 77);
    EXPECT_EQ(answer.flags, Header::kReply | Header::kError);
    EXPECT_NE(answer.error, 0U);
  }
  EXPECT_EQ(client->reset(), 0) << "it goes on";
}

TEST_F(VfioServer, DescriptorsAreThoseOfTheMessageThatTheyComeWith) {
  // Maps with files of their own among maps without and posted writes, all sent without waiting for answers,
  // whole or cut at any byte behind the first.
  std::mt19937 random(7);
  for (unsigned round = 0; round < 5; ++round) {
    const auto client = connect();
    ASSERT_NE(client, nullptr);
    constexpr unsigned kMaps = 24;
    std::vector<Descriptor> files;
    std::vector<std::string> texts(kMaps);
    for (unsigned i = 0; i < kMaps; ++i) {
      const bool mapped = random() % 3 != 0;
      const std::uint64_t address = 0x10'0000 * (i + 1);
      DmaMap map{DmaMap::kReadable | DmaMap::kWritable, 0, address, 0x4000};
      const std::vector<std::uint8_t> payload = map.payload();
      Header header;
      header.id = static_cast<std::uint16_t>(100 + i);
      header.command = static_cast<std::uint16_t>(Command::dma_map);
      header.bytes = static_cast<std::uint32_t>(Header::kBytes + payload.size());
      header.flags = Header::kNoReply;
      std::vector<std::uint8_t> message(Header::kBytes);
      header.put(message.data());
      message.insert(message.end(), payload.begin(), payload.end());
      std::vector<int> descriptors;
      if (mapped) {
        texts[i] = "file " + std::to_string(i);
        files.push_back(memory_file(texts[i]));
        descriptors.push_back(files.back().number());
      }
      const std::size_t first = random() % 2 == 0 ? message.size() : 1 + random() % (message.size() - 1);
      ASSERT_EQ(client->send_raw(message.data(), first, descriptors), 0);
      ASSERT_EQ(client->send_raw(message.data() + first, message.size() - first), 0);
    }
    std::uint8_t byte = 0;
    ASSERT_EQ(client->read(0, 0, &byte, 1), 0);  // behind all of them
    for (unsigned i = 0; i < kMaps; ++i) {
      if (texts[i].empty()) continue;
      ASSERT_EQ(read(0x10'0000 * (i + 1), static_cast<std::uint32_t>(texts[i].size())), texts[i]);
    }
  }
}

TEST_F(VfioServer, DescriptorsThatWaitAreFew) {
  const auto count = [] {
    std::error_code unknown;
    std::size_t open = 0;
    for (std::filesystem::directory_iterator at("/proc/self/fd", unknown), end; at != end;
         at.increment(unknown))
      ++open;
    return open;
  };
  served_.within([&] { served_.function().delays = true; });
  const auto client = connect();
  const Descriptor one = event();
  Header h;
  h.command = static_cast<std::uint16_t>(Command::reset);
  h.flags = Header::kNoReply;
  h.bytes = Header::kBytes;
  std::array<std::uint8_t, Header::kBytes> bytes{};
  h.put(bytes.data());
  for (unsigned i = 0; i < 256; ++i) ASSERT_EQ(client->send_raw(bytes.data(), bytes.size()), 0);
  const std::size_t before = count();
  const std::vector<int> eight(8, one.number());
  for (unsigned i = 0; i < 60; ++i) ASSERT_EQ(client->send_raw(bytes.data(), bytes.size(), eight), 0);
  for (unsigned i = 0; i < 10; ++i) served_.within([] {});
  EXPECT_LE(count(), before + 64 + 8);
  served_.within([&] {
    served_.function().delays = false;
    served_.function().go_on();
  });
  EXPECT_EQ(client->reset(), 0);
}

TEST_F(VfioServer, LogsSomeOfManyRefusals) {
  const auto client = connect();
  const std::uint32_t value = 0;
  for (unsigned i = 0; i < 1000; ++i) ASSERT_EQ(client->post(9, 0, &value, 4), 0);
  ASSERT_EQ(client->reset(), 0);
  EXPECT_EQ(served_.said().size(), 16U);
  EXPECT_EQ(served_.counters().refused_messages, 1000U);
}

TEST_F(VfioServer, AFloodStaysWithWhoSendsIt) {
  // Nobody takes the answers, and the function takes its time: the server must not keep it all.
  served_.within([&] { served_.function().delays = true; });
  const auto client = connect();
  Writer w;
  RegionAccess{0, 0, 0x8000}.put(w);
  const std::vector<std::uint8_t> payload = w.take();
  Header h;
  h.command = static_cast<std::uint16_t>(Command::region_read);
  h.bytes = static_cast<std::uint32_t>(Header::kBytes + payload.size());
  std::vector<std::uint8_t> message(Header::kBytes);
  h.put(message.data());
  message.insert(message.end(), payload.begin(), payload.end());
  std::vector<std::uint8_t> many;
  for (unsigned i = 0; i < 2000; ++i) many.insert(many.end(), message.begin(), message.end());
  std::thread sending([&] { EXPECT_EQ(client->send_raw(many.data(), many.size()), 0); });
  unsigned answers = 0;
  std::size_t most = 0;
  while (answers < 2000) {
    most = std::max(most, served_.within([&] {
      const std::size_t waiting = served_.function().waiting();
      served_.function().go_on();
      return waiting;
    }));
    Header answer;
    std::vector<std::uint8_t> data;
    while (client->receive(answer, data, 1) == 0) ++answers;
  }
  sending.join();
  EXPECT_LE(most, 256U);
  EXPECT_GT(most, 8U);
}

TEST(VfioSockets, AreReplacedWhereNobodyServesAndNotWhereSomebodyDoes) {
  const ScratchFolder scratch;
  const std::string path = scratch.path("socket");
  boost::asio::io_context io;
  MemoryFunction function;
  {  // what a server that was killed leaves
    const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), address.sun_path);
    ASSERT_EQ(bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  {
    const auto first = Server::listen(io, path, function, {});
    ASSERT_TRUE(first.ok());
    const auto second = Server::listen(io, path, function, {});
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.faults().front().message, "somebody serves there already");
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0) << "it takes its socket away";
  std::ofstream(path) << "mine";
  const auto third = Server::listen(io, path, function, {});
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.faults().front().message, "there is a file there that is no socket");
  EXPECT_EQ(access(path.c_str(), F_OK), 0);
  EXPECT_FALSE(Server::listen(io, std::string(200, 'a'), function, {}).ok());
  EXPECT_FALSE(Server::listen(io, "", function, {}).ok());
  EXPECT_FALSE(Server::listen(io, scratch.path("no/folder"), function, {}).ok());
}

std::vector<std::uint8_t> message_of(Command command, const std::vector<std::uint8_t>& payload,
                                     std::uint32_t flags = Header::kCommand, std::uint16_t id = 1) {
  Header h;
  h.id = id;
  h.command = static_cast<std::uint16_t>(command);
  h.flags = flags;
  h.bytes = static_cast<std::uint32_t>(Header::kBytes + payload.size());
  std::vector<std::uint8_t> message(Header::kBytes);
  h.put(message.data());
  message.insert(message.end(), payload.begin(), payload.end());
  return message;
}
void send(const Descriptor& socket, const std::vector<std::uint8_t>& message) {
  ASSERT_EQ(::send(socket.number(), message.data(), message.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(message.size()));
}
std::vector<std::uint8_t> a_read() {
  Writer w;
  RegionAccess{0, 0, 4}.put(w);
  return message_of(Command::region_read, w.take());
}

/// A function that is served by the test's own thread, and a client of it that has said its version.
class VfioServerEnds : public ::testing::Test {
 protected:
  VfioServerEnds() {
    io_ = std::make_unique<boost::asio::io_context>();
    Server::Options options;
    options.log = [this](const std::string&) { EXPECT_NE(server_, nullptr) << "who is gone logs nothing"; };
    auto listening = Server::listen(*io_, path(), function_, std::move(options));
    EXPECT_TRUE(listening.ok());
    server_ = std::move(listening.value());
    client_ = silent(path());
    send(client_, message_of(Command::version, Version{}.payload()));
  }
  /// Its destructor may find server_ as it was: it is null before.
  void end_server() { std::exchange(server_, nullptr).reset(); }
  void go_on() {
    for (unsigned i = 0; i < 100; ++i) io_->poll();
  }
  [[nodiscard]] std::string path() const { return scratch_.path("socket"); }

  ScratchFolder scratch_;
  MemoryFunction function_;
  std::unique_ptr<boost::asio::io_context> io_;
  std::unique_ptr<Server> server_;
  Descriptor client_;
};

TEST_F(VfioServerEnds, AClientThatDoesNotWaitForTheVersionIsNoClientOfTheFunctions) {
  client_ = Descriptor();
  go_on();
  EXPECT_FALSE(server_->has_client());
  EXPECT_EQ(function_.client, nullptr);
  EXPECT_EQ(function_.attaches, function_.detaches);
}

TEST_F(VfioServerEnds, BeforeConnectionsAreTaken) {
  const Descriptor second = silent(path()), third = silent(path());
  io_->poll_one();
  end_server();
  go_on();
  EXPECT_EQ(function_.attaches, function_.detaches);
}

TEST_F(VfioServerEnds, BeforeTheFunctionAnswers) {
  function_.delays = true;
  send(client_, a_read());
  Writer w;
  RegionAccess{MemoryFunction::kBad, 0, 4}.put(w);
  send(client_, message_of(Command::region_read, w.take()));  // which it refuses
  send(client_, message_of(Command::reset, {}));
  go_on();
  ASSERT_EQ(function_.waiting(), 3U);
  end_server();
  EXPECT_EQ(function_.client, nullptr);
  function_.go_on();
  go_on();
}

TEST_F(VfioServerEnds, WithItsContextBeforeTheFunctionAnswers) {
  function_.delays = true;
  send(client_, a_read());
  go_on();
  ASSERT_EQ(function_.waiting(), 1U);
  end_server();
  io_.reset();
  function_.go_on();
}

TEST_F(VfioServerEnds, WithinTheEndOfADma) {
  send(client_, message_of(Command::dma_map, DmaMap{3, 0, 0x1000, 0x1000}.payload()));
  go_on();
  const std::uint8_t byte = 1;
  std::vector<DmaOutcome> outcomes;
  function_.client->write(0x1000, &byte, 1, [&](DmaOutcome o) {
    outcomes.push_back(o);
    end_server();
  });
  send(client_, message_of(Command::dma_write, {}, Header::kReply));  // that is none
  go_on();
  EXPECT_THAT(outcomes, ElementsAre(DmaOutcome::failed));
}

TEST_F(VfioServerEnds, WithinOneOfSeveralWrites) {
  unsigned writes = 0;
  function_.on_write = [&] {
    if (++writes == 3) end_server();
  };
  Writer w;
  w.u64(10);
  for (unsigned i = 0; i < 10; ++i) w.u64(0).u32(0).u32(4).u64(0);
  send(client_, message_of(Command::region_write_multi, w.take()));
  go_on();
  EXPECT_EQ(writes, 3U) << "who is gone writes nothing";
}

TEST_F(VfioServerEnds, WithinADetachAndADisconnectWithinAnAttach) {
  function_.on_attach = [&] { server_->disconnect(); };
  go_on();
  EXPECT_EQ(function_.attaches, 1U);
  EXPECT_EQ(function_.detaches, 1U);
  function_.on_attach = nullptr;
  function_.on_detach = [&] { end_server(); };
  client_ = silent(path());
  send(client_, message_of(Command::version, Version{}.payload()));
  go_on();
  EXPECT_EQ(function_.attaches, 2U);
  client_ = Descriptor();
  go_on();
  EXPECT_EQ(function_.detaches, 2U);
  EXPECT_EQ(server_, nullptr);
}

TEST_F(VfioServerEnds, NeverATurnThatAnotherWaitsFor) {
  // As much as a client sends without waiting, as one turn or several.
  function_.delays = false;
  go_on();
  Writer w;
  const std::uint32_t value = 1;
  RegionAccess{0, 0, 4}.put(w);
  const auto one = message_of(Command::region_write, w.data(&value, 4).take(), Header::kNoReply);
  std::vector<std::uint8_t> many;
  for (unsigned i = 0; i < 2000; ++i) many.insert(many.end(), one.begin(), one.end());
  send(client_, many);
  unsigned writes = 0, most = 0;
  function_.on_write = [&] { ++writes; };
  while (writes < 2000) {
    const unsigned before = writes;
    ASSERT_GT(io_->poll_one(), 0U) << "after " << writes;
    most = std::max(most, writes - before);
  }
  EXPECT_LE(most, 64U);
}

TEST_F(VfioServerEnds, WithAClientThatIsKilledWhileNothingIsTakenFromIt) {
  function_.delays = true;
  Writer w;
  RegionAccess{0, 0, 0x8000}.put(w);
  const std::vector<std::uint8_t> data(0x8000);
  const auto one =
      message_of(Command::region_write, w.data(data.data(), data.size()).take(), Header::kNoReply);
  go_on();
  ASSERT_EQ(fcntl(client_.number(), F_SETFL, O_NONBLOCK), 0);
  // Until the server takes no more.
  for (unsigned i = 0, idle = 0; i < 2000 && idle < 3; ++i) {
    idle = ::send(client_.number(), one.data(), one.size(), MSG_NOSIGNAL) > 0 ? 0 : idle + 1;
    go_on();
  }
  ASSERT_TRUE(server_->has_client());
  client_ = Descriptor();
  go_on();
  EXPECT_FALSE(server_->has_client());
}

TEST_F(VfioServerEnds, WhatIsAskedOfTheFunctionIsBoundedByItsAnswers) {
  function_.delays = true;
  Writer w;
  RegionAccess{0, 0, 0xc000}.put(w);
  const auto one = message_of(Command::region_read, w.take());
  go_on();
  for (unsigned i = 0; i < 200; ++i) send(client_, one);
  go_on();
  EXPECT_LE(function_.waiting() * 0xc000, std::size_t{4U << 20U} + 0xc000) << "4 MiB of answers";
  EXPECT_GT(function_.waiting(), 64U);
  // Nor does it get more than that when nobody takes the answers.
  unsigned answered = 0;
  for (std::size_t n = function_.waiting(); n > 0 && answered < 200; n = function_.waiting()) {
    answered += static_cast<unsigned>(n);
    function_.go_on();
    go_on();
  }
  EXPECT_LT(answered, 200U);
  std::vector<std::uint8_t> bytes(0x1'0000);
  std::size_t got = 0;
  while (got < 200 * std::size_t{Header::kBytes + RegionAccess::kBytes + 0xc000}) {
    const ssize_t n = recv(client_.number(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (n > 0) got += static_cast<std::size_t>(n);
    ASSERT_NE(n, 0);
    function_.go_on();
    go_on();
  }
}

TEST_F(VfioServerEnds, EachOfSeveralWritesCounts) {
  function_.delays = true;
  Writer w;
  w.u64(100);
  for (unsigned i = 0; i < 100; ++i) w.u64(0).u32(0).u32(4).u64(0);
  const auto one = message_of(Command::region_write_multi, w.take(), Header::kNoReply);
  go_on();
  for (unsigned i = 0; i < 20; ++i) send(client_, one);
  go_on();
  EXPECT_EQ(function_.waiting(), 300U) << "those that 256 do not suffice for wait";
  unsigned writes = 0;
  function_.on_write = [&] { ++writes; };
  for (unsigned i = 0; i < 20; ++i) {
    function_.go_on();
    go_on();
  }
  EXPECT_EQ(writes, 2000U - 300U);
  std::array<std::uint8_t, 4096> answers{};
  const ssize_t got = recv(client_.number(), answers.data(), answers.size(), MSG_DONTWAIT);
  EXPECT_EQ(got, static_cast<ssize_t>(Header::of(answers.data()).bytes)) << "the version's alone";
}

TEST_F(VfioServerEnds, AnyNumberOfDmasByMessage) {
  static constexpr unsigned kDmas = 70'000;  // there are 65,536 ids
  send(client_, message_of(Command::dma_map, DmaMap{3, 0, 0x1000, 0x1000}.payload()));
  go_on();
  const std::uint8_t byte = 1;
  unsigned ends = 0;
  for (unsigned i = 0; i < kDmas; ++i)
    function_.client->write(0x1000, &byte, 1,
                            [&](DmaOutcome o) { ends += o == DmaOutcome::unmapped ? 1 : 0; });
  EXPECT_EQ(ends, 0U);
  client_ = Descriptor();
  go_on();
  EXPECT_EQ(ends, kDmas);
}

TEST_F(VfioServer, AsksForOtherMemoryInTheOrderOfTheRequests) {
  const auto client = connect();
  ASSERT_EQ(client->map({3, 0, 0x1000, 0x1000}, -1), 0);
  std::vector<std::uint8_t> order;
  client->answer_by([&](std::uint64_t, std::uint8_t* data, std::size_t, bool) {
    order.push_back(*data);
    return true;
  });
  static constexpr unsigned kDmas = 3000;  // more than are asked for at a time
  auto all = std::make_shared<std::promise<unsigned>>();
  auto done = all->get_future();
  served_.within([&] {
    for (unsigned i = 0; i < kDmas; ++i) {
      const auto byte = static_cast<std::uint8_t>(i);
      served_.function().client->write(0x1000, &byte, 1, [all, i](DmaOutcome) {
        if (i + 1 == kDmas) all->set_value(i);
      });
    }
  });
  for (unsigned i = 0; i < 200 && order.size() < kDmas; ++i) ASSERT_EQ(client->listen(20), 0);
  ended(std::move(done));
  ASSERT_EQ(order.size(), kDmas);
  for (unsigned i = 0; i < kDmas; ++i) ASSERT_EQ(order[i], i % 256);
}

TEST(VfioSockets, ThatAreListenedAtBySomebodySlowAreServed) {
  const ScratchFolder scratch;
  const std::string path = scratch.path("socket");
  const Descriptor slow(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  ASSERT_EQ(bind(slow.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(slow.number(), 0), 0);
  const Descriptor waiting = silent(path);  // as many as it lets wait
  boost::asio::io_context io;
  MemoryFunction function;
  const auto second = Server::listen(io, path, function, {});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.faults().front().message, "somebody serves there already");
}

/// Messages of all kinds, most of them damaged, from a client that is cut off now and then: the server goes
/// on, and touches no memory but what was mapped.
TEST_F(VfioServer, DamagedMessagesHarmNobody) {
  const std::uint64_t messages = from_environment("WARPLINE_DAMAGED_MESSAGES", 3000);
  std::mt19937 random(static_cast<unsigned>(from_environment("WARPLINE_FUZZ_FROM", 0)) + 1);
  const Descriptor file = memory_file("", 0x3000);  // the middle page of which is mapped now and then
  const Descriptor one = event();
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const Descriptor in(ends[0]), out(ends[1]);
  std::unique_ptr<Connection> client = connect();
  const auto some = [&](std::initializer_list<std::uint64_t> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random() % values.size()));
  };
  for (std::uint64_t i = 0; i < messages; ++i) {
    Writer w;
    const std::uint16_t command = static_cast<std::uint16_t>(random() % 17);
    std::vector<int> descriptors;
    const auto number = [&] {
      return some({0, 1, 2, 3, 4, 8, 0x1000, 0x1000, 0x10'0000, 0xffff'ffff, ~std::uint64_t{0}});
    };
    switch (command) {
      case 2:
        w.u32(32)
            .u32(static_cast<std::uint32_t>(some({1, 2, 3, 3, 7})))
            .u64(some({0x1000, 0x1000, 0x3000, ~std::uint64_t{0}}));
        w.u64(some({0x1000, number()})).u64(some({0x1000, 0x1000, number()}));
        if (random() % 4 != 0) descriptors.push_back(random() % 4 == 0 ? in.number() : file.number());
        break;
      case 3:
        w.u32(24)
            .u32(static_cast<std::uint32_t>(some({0, 0, 2, 1})))
            .u64(some({0x1000, number()}))
            .u64(some({0x1000, number()}));
        break;
      case 5: w.u32(32).u32(0).u32(static_cast<std::uint32_t>(random() % 11)).u32(0).u64(0).u64(0); break;
      case 7: w.u32(16).u32(0).u32(static_cast<std::uint32_t>(random() % 7)).u32(0); break;
      case 8:
        w.u32(20)
            .u32(static_cast<std::uint32_t>(random() % 64))
            .u32(static_cast<std::uint32_t>(random() % 6));
        w.u32(static_cast<std::uint32_t>(some({0, 0, 1, number()})))
            .u32(static_cast<std::uint32_t>(some({0, 1, 2, number()})));
        for (std::uint64_t d = random() % 4; d > 0; --d)
          descriptors.push_back(random() % 4 == 0 ? out.number() : one.number());
        break;
      case 9:
      case 10: {
        const auto count = static_cast<std::uint32_t>(some({1, 4, 8, 100, number()}));
        w.u64(some({0, 0x100, number()})).u32(static_cast<std::uint32_t>(random() % 10)).u32(count);
        if (command == 10)
          w.data(std::vector<char>(std::min(count, 200U), 'x').data(), std::min(count, 200U));
        break;
      }
      case 15: {
        const std::uint64_t count = random() % 5;
        w.u64(some({count, count, number()}));
        for (std::uint64_t n = 0; n < count; ++n)
          w.u64(number())
              .u32(static_cast<std::uint32_t>(random() % 3))
              .u32(static_cast<std::uint32_t>(some({1, 4, 8, 9, 0})))
              .u64(n);
        break;
      }
      default: break;
    }
    std::vector<std::uint8_t> payload = w.take();
    if (random() % 8 == 0) payload.resize(random() % 64);
    if (!payload.empty() && command != 2 && random() % 8 == 0)
      payload[random() % payload.size()] = static_cast<std::uint8_t>(random());
    Header h;
    h.id = static_cast<std::uint16_t>(random());
    h.command = command;
    h.flags = random() % 4 == 0    ? Header::kNoReply
              : random() % 64 == 0 ? static_cast<std::uint32_t>(random())
                                   : 0;
    h.bytes = static_cast<std::uint32_t>(Header::kBytes + payload.size());
    if (random() % 256 == 0)
      h.bytes = static_cast<std::uint32_t>(random() % 2 == 0 ? random() : random() % 32);
    std::vector<std::uint8_t> message(Header::kBytes);
    h.put(message.data());
    message.insert(message.end(), payload.begin(), payload.end());
    std::size_t first = random() % 8 == 0 ? 1 + random() % message.size() : message.size();
    int error = client->send_raw(message.data(), first, descriptors);
    if (error == 0 && first < message.size())
      error = client->send_raw(message.data() + first, message.size() - first);
    if (i % 16 == 0)
      served_.within([&] {
        Client* const c = served_.function().client;
        if (c == nullptr) return;
        const std::uint8_t byte = 0x55;
        c->write(0x1000 + random() % 0x1000, &byte, 1, [](DmaOutcome) {});
        c->read(0x0ff0, 0x20, [](DmaOutcome, const std::uint8_t*) {});
        c->interrupt(static_cast<IrqKind>(random() % 5), static_cast<unsigned>(random() % 6));
      });
    Header answer;
    std::vector<std::uint8_t> got;
    while (error == 0) {
      error = client->receive(answer, got, 0);
      if (error == 0) {
        ASSERT_EQ(answer.bytes, Header::kBytes + got.size());
      }
    }
    if (error != ETIMEDOUT || random() % 100 == 0) {
      client.reset();
      ASSERT_TRUE(served_.comes_to(false)) << "message " << i;
      client = connect();
      ASSERT_NE(client, nullptr) << "message " << i;
    }
  }
  client.reset();
  ASSERT_TRUE(served_.comes_to(false));
  EXPECT_EQ(connect()->reset(), 0);
  std::array<char, 0x1000> page{};
  for (const off_t at : {0, 0x2000}) {
    ASSERT_EQ(pread(file.number(), page.data(), page.size(), at), 0x1000);
    EXPECT_THAT(page, ::testing::Each('\0')) << "a page that was never mapped for writes at these addresses";
  }
}

}  // namespace server_test
}  // namespace warpline::vfio_user
