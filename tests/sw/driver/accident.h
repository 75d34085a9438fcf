#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>

#include "platform/config/pcie_system_parameters.h"
#include "rtl_models/pcie/host_bridge/host_bridge.h"
#include "rtl_models/pcie/root_complex/root_complex.h"
#include "rtl_models/queue_device/queue_device.h"
#include "tests/sw/driver/command_traffic.h"

namespace warpline::test {

/// What goes wrong.
enum class Fault {
  lost_completion,
  poisoned_completion,
  refused_completion,
  lost_answer_to_host,
  lost_doorbell,
  poisoned_doorbell,
  removal,
  corrupt_command,
  full_ring,
  bad_doorbell,
  forbidden_memory,
  reset,
  hot_reset,
};
inline constexpr std::array kFaults = {Fault::lost_completion,
                                       Fault::poisoned_completion,
                                       Fault::refused_completion,
                                       Fault::lost_answer_to_host,
                                       Fault::lost_doorbell,
                                       Fault::poisoned_doorbell,
                                       Fault::removal,
                                       Fault::corrupt_command,
                                       Fault::full_ring,
                                       Fault::bad_doorbell,
                                       Fault::forbidden_memory,
                                       Fault::reset,
                                       Fault::hot_reset};

/// A driver at work, to which something happens at a random moment.
class Accident {
 public:
  Accident(Fault fault, std::uint64_t seed)
      : fault_(fault), random_(seed), bench_(parameters(random_), false, 1U << 19U) {}

  void run() {
    bench_.start(3, random_.below(2) == 0);
    if (::testing::Test::HasFatalFailure()) return;
    traffic_ = std::make_unique<CommandTraffic>(bench_, 0, 6, random_.next());
    // What a command with damaged addresses does within its windows is its own affair.
    traffic_->checks_bytes = fault_ != Fault::corrupt_command;
    work(static_cast<unsigned>(random_.below(10)));
    submit_all();
    bench_.host.pass(random_.below(3000));
    happen();
    recover(drain());
    work(5);
    EXPECT_EQ(failed_after_, 0U) << "commands after the recovery failed";
    wl_peer_teardown(&bench_.peer);
    EXPECT_TRUE(outside_is_untouched());
    expect_nothing_left();
  }
  /// Whether software noticed.
  [[nodiscard]] bool reported() const { return reported_; }

 private:
  static PcieSystemParameters parameters(Random& random) {
    PcieSystemParameters p;
    p.device.completion_timeout = 3000;
    p.host.completion_timeout = 4000;
    p.peer.buffer_bytes = 1U << 15U;
    p.peer.completion_spread = static_cast<unsigned>(random.below(2) * random.below(1000));
    return p;
  }
  void submit_all() {
    while (traffic_->submit()) {
    }
    static_cast<void>(wl_peer_ring(&bench_.peer, 0));
  }
  /// Takes some completions, of commands that must succeed.
  void take_some() {
    for (std::uint64_t n = random_.below(traffic_->under_way + 1); n != 0; --n) {
      wl_peer_completion completion{};
      ASSERT_EQ(wl_peer_wait(&bench_.peer, 0, 30, &completion), WL_OK);
      EXPECT_EQ(traffic_->take(completion), "");
    }
  }
  /// Takes completions until all are there, or the driver says what is the matter.
  wl_result drain() {
    while (traffic_->under_way != 0) {
      wl_peer_completion completion{};
      const wl_result r = wl_peer_wait(&bench_.peer, 0, 30, &completion);
      if (r != WL_OK) {
        reported_ = true;
        return r;
      }
      if (completion.status != WL_PEER_STATUS_CODE_OK) {
        reported_ = true;
        ++failed_after_;
      }
      EXPECT_EQ(traffic_->take(completion), "");
    }
    return WL_OK;
  }
  /// `count` rounds of commands that must succeed.
  void work(unsigned count) {
    const bool reported = reported_;
    failed_after_ = 0;
    for (unsigned i = 0; i < count; ++i) {
      submit_all();
      const wl_result r = drain();
      ASSERT_EQ(r, WL_OK) << wl_result_text(r);
    }
    reported_ = reported;
  }
  void happen() {
    RootComplex& root = bench_.system.root();
    const auto once = [&](Injection injection, unsigned port, TlpKind kind = TlpKind::completion) {
      root.inject([injection, port, kind, left = 1](unsigned to, const Tlp& tlp) mutable {
        if (to != port || tlp.kind != kind || left == 0) return Injection::none;
        --left;
        return injection;
      });
    };
    switch (fault_) {
      case Fault::lost_completion: return once(Injection::lose, 0);
      case Fault::poisoned_completion: return once(Injection::damage, 0);
      case Fault::refused_completion: return once(Injection::refuse, 0);
      case Fault::lost_answer_to_host:
        once(Injection::lose, RootComplexCore::kHost);
        EXPECT_EQ(wl_peer_check(&bench_.peer, nullptr), WL_OK);
        reported_ = bench_.system.bridge().counters().timeouts == 1;
        return;
      case Fault::lost_doorbell:
      case Fault::poisoned_doorbell:
        // Of the submissions or of the completions that were taken, as it happens.
        take_some();
        once(fault_ == Fault::lost_doorbell ? Injection::lose : Injection::damage, 0, TlpKind::memory_write);
        return submit_all();
      case Fault::removal: return bench_.system.set_present(0, false);
      case Fault::corrupt_command: return corrupt();
      case Fault::full_ring: return fill_ring();
      case Fault::bad_doorbell:
        bench_.port->write(bench_.port->context, 0, WL_PEER_SQ_TAIL_DOORBELL_OFFSET(random_.below(16)), 4,
                           8 + random_.below(1U << 30U));
        bad_doorbell_ = true;
        return;
      case Fault::forbidden_memory: return forbid();
      case Fault::reset:
        return bench_.port->write(bench_.port->context, 0, WL_PEER_CONTROL_OFFSET, 4,
                                  WL_PEER_CONTROL_RESET_MASK);
      case Fault::hot_reset: return bench_.system.hot_reset(0);
    }
  }
  void corrupt() {
    wl_peer_queue& queue = bench_.peer.queue[0];
    auto* const ring = static_cast<std::uint8_t*>(queue.options.submissions);
    for (std::uint64_t n = 1 + random_.below(8); n != 0; --n)
      ring[random_.below(8 * WL_PEER_COMMAND_BYTES)] ^= static_cast<std::uint8_t>(1 + random_.below(255));
  }
  void fill_ring() {
    wl_peer_command nop{};
    wl_result r = WL_OK;
    for (unsigned i = 0; i < 9 && r == WL_OK; ++i) {
      nop.cookie = 100 + i;
      r = wl_peer_submit(&bench_.peer, 0, &nop);
      extra_ += r == WL_OK;
    }
    EXPECT_EQ(r, WL_FULL);
    reported_ = r == WL_FULL;
    static_cast<void>(wl_peer_ring(&bench_.peer, 0));
    for (; extra_ != 0; --extra_) take_extra();
  }
  void take_extra() {
    wl_peer_completion completion{};
    for (;;) {
      ASSERT_EQ(wl_peer_wait(&bench_.peer, 0, 30, &completion), WL_OK);
      if (completion.cookie >= 100) return;
      EXPECT_EQ(traffic_->take(completion), "");
    }
  }
  void forbid() {
    wl_peer_command command{};
    command.opcode = static_cast<std::uint8_t>(1 + random_.below(5));
    command.length = command.opcode == WL_PEER_OPCODE_FETCH_ADD ? 8 : 64;
    command.source = command.destination =
        random_.below(2) == 0 ? 8 * random_.below(1U << 16U) : random_.next() & ~7ULL;
    if (command.opcode == WL_PEER_OPCODE_READ) command.destination = 0;
    if (command.opcode == WL_PEER_OPCODE_WRITE) command.source = 0;
    const std::uint64_t before = bench_.system.root().core().iommu().fault_count();
    command.cookie = 100;
    wl_peer_completion completion{};
    while (wl_peer_submit(&bench_.peer, 0, &command) == WL_FULL) {
      ASSERT_EQ(wl_peer_wait(&bench_.peer, 0, 30, &completion), WL_OK);
      EXPECT_EQ(traffic_->take(completion), "");
    }
    static_cast<void>(wl_peer_ring(&bench_.peer, 0));
    ++extra_;
    take_extra();
    bench_.host.pass(2000);
    EXPECT_GT(bench_.system.root().core().iommu().fault_count(), before);
    reported_ = true;
  }
  void recover(wl_result result) {
    if (bad_doorbell_) {
      std::uint32_t errors = 0;
      EXPECT_EQ(wl_peer_check(&bench_.peer, &errors), WL_OK);
      EXPECT_NE(errors & WL_PEER_ERROR_BAD_DOORBELL_MASK, 0U);
      reported_ = true;
    }
    bench_.system.root().inject(nullptr);
    // A damaged command may have hit anything within its windows, the completion ring, too.
    const bool goes_on = fault_ != Fault::removal && fault_ != Fault::hot_reset && fault_ != Fault::reset &&
                         fault_ != Fault::corrupt_command;
    if (result == WL_OK && goes_on) return;
    const wl_result again = wl_peer_recover(&bench_.peer);
    if (again == WL_OK) {
      EXPECT_EQ(drain(), WL_OK);
      return;
    }
    EXPECT_EQ(again, WL_GONE) << wl_result_text(again);
    reported_ = true;
    wl_peer_teardown(&bench_.peer);
    if (fault_ == Fault::removal) bench_.system.set_present(0, true);
    bench_.host.enumerate();
    traffic_->forget();
    bench_.start(3, random_.below(2) == 0);
    traffic_ = std::make_unique<CommandTraffic>(bench_, 0, 4, random_.next());
  }
  /// Every packet has arrived and was given back, what is lost on purpose excepted.
  void expect_nothing_left() {
    bench_.host.pass(20000);
    EXPECT_EQ(bench_.system.root().core().pool().in_use(), 0U);
    EXPECT_FALSE(bench_.system.root().busy());
    EXPECT_FALSE(bench_.system.peer(0).busy());
    EXPECT_FALSE(bench_.system.bridge().busy());
    const auto agree = [](const TlpPort& a, const TlpPort& b) {
      EXPECT_EQ(a.counters().packets_sent, b.counters().packets_received + b.counters().packets_lost);
      EXPECT_EQ(a.counters().payload_sent, b.counters().payload_received + b.counters().payload_lost);
    };
    TlpPort& root = bench_.system.root().to_device(0);
    TlpPort& device = bench_.system.peer(0).to_root();
    agree(root, device);
    agree(device, root);
    agree(bench_.system.root().to_host(), bench_.system.bridge().to_root());
    agree(bench_.system.bridge().to_root(), bench_.system.root().to_host());
  }
  /// Memory that software never asked for: the first page, and all beyond what it has.
  [[nodiscard]] bool outside_is_untouched() {
    const auto* const end = static_cast<std::uint8_t*>(bench_.host.allocate(1, 4096));
    const std::uint8_t* const memory = bench_.memory.at(0);
    const auto zero = [](std::uint8_t byte) { return byte == 0; };
    return end != nullptr && std::all_of(memory, memory + 4096, zero) &&
           std::all_of(end, memory + bench_.memory.size(), zero);
  }

  Fault fault_;
  Random random_;
  BenchOfDriver bench_;
  std::unique_ptr<CommandTraffic> traffic_;
  unsigned failed_after_ = 0, extra_ = 0;
  bool reported_ = false, bad_doorbell_ = false;
};

}  // namespace warpline::test
