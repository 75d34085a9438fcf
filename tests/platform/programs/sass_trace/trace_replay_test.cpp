// How warps live: exits, barriers, sleep, faults, and how little of the trace is held.
#include <gtest/gtest.h>

#include <optional>

#include "platform/programs/sass_trace/text_reader.h"
#include "tests/platform/programs/sass_trace/trace_player.h"

namespace warpline::test {
namespace trace_replay_test {

/// A kernel of one CTA whose warps are in slots 0, 1, ...
class Resident {
 public:
  Resident(const std::string& text, unsigned warps) : file_("kernel-1.traceg", text) {
    auto opened = sass::open_trace(file_.path());
    EXPECT_TRUE(opened.ok());
    kernel_ = std::move(opened.value());
    source_ = kernel_->make_source({0, warps});
    for (unsigned w = 0; w < warps; ++w) source_->begin_warp(w, {0, 0, 0}, w, 0xFFFFFFFFU);
  }
  Issue step(unsigned slot) {
    EXPECT_EQ(source_->state(slot), WarpState::runnable);
    Issue issue;
    issue.access = &access_;
    source_->execute(slot, issue);
    return issue;
  }
  InstructionSource& source() { return *source_; }

 private:
  TemporaryFile file_;
  std::unique_ptr<sass::TraceKernel> kernel_;
  std::unique_ptr<InstructionSource> source_;
  MemoryAccess access_;
};

std::string text_of(const std::vector<std::string>& lines) {
  TraceText t;
  t.body = block_of(lines);
  return t.text();
}

TEST(TraceReplay, LanesLeaveAsTheTraceSays) {
  Resident r(
      text_of({"0000 00000000 0 EXIT 0 0 0", "0010 ffff0000 0 EXIT 0 0 0", "0020 0000ffff 0 NOP 0 0 0"}), 1);
  r.step(0);
  EXPECT_EQ(r.source().live_lanes(0), 0xFFFFFFFFU) << "no lane executed the first EXIT";
  r.step(0);
  EXPECT_EQ(r.source().live_lanes(0), 0x0000FFFFU);
  EXPECT_EQ(r.source().state(0), WarpState::runnable);
  r.step(0);
  EXPECT_EQ(r.source().state(0), WarpState::exited) << "its list has ended";
  EXPECT_EQ(r.source().live_lanes(0), 0U);
}

TEST(TraceReplay, AWarpThatTheTraceDoesNotListHasExited) {
  TraceText t;
  t.block = "(64,1,1)";
  t.body = block_of({"0000 ffffffff 0 NOP 0 0 0"}, "0,0,0", 1);
  Resident r(t.text(), 2);
  EXPECT_EQ(r.source().state(0), WarpState::exited);
  EXPECT_EQ(r.source().state(1), WarpState::runnable);
}

TEST(TraceReplay, ABarrierHoldsTheWarpUntilItIsReleased) {
  Resident r(text_of({"0000 ffffffff 0 BAR.SYNC 0 0 3", "0010 ffffffff 0 NOP 0 0 0"}), 1);
  EXPECT_EQ(r.source().next(0).kind, InstructionKind::barrier);
  const Issue i = r.step(0);
  EXPECT_EQ(i.barrier.id, 3U);
  EXPECT_EQ(i.barrier.threads, 0U);
  EXPECT_TRUE(i.barrier.waits);
  EXPECT_EQ(r.source().state(0), WarpState::at_barrier);
  r.source().release_barrier(0, 2);
  EXPECT_EQ(r.source().state(0), WarpState::at_barrier);
  r.source().release_barrier(0, 3);
  EXPECT_EQ(r.source().state(0), WarpState::runnable);
}

TEST(TraceReplay, DivergedHalvesReachABarrierOneAfterTheOther) {
  Resident r(text_of({"0000 0000ffff 0 BAR.SYNC 0 0 0", "0010 ffff0000 0 MOV 0 0 0",
                      "0020 ffff0000 0 BAR.SYNC 0 0 0", "0030 ffffffff 0 NOP 0 0 0"}),
             1);
  EXPECT_EQ(r.step(0).active, 0x0000FFFFU);
  EXPECT_EQ(r.source().state(0), WarpState::runnable) << "the other half has not arrived";
  r.step(0);
  EXPECT_EQ(r.step(0).active, 0xFFFF0000U);
  EXPECT_EQ(r.source().state(0), WarpState::at_barrier);
  r.source().release_barrier(0, 0);
  EXPECT_EQ(r.source().state(0), WarpState::runnable);
}

TEST(TraceReplay, ABarrierAtTheEndIsWaitedFor) {
  Resident r(text_of({"0000 ffffffff 0 BAR.SYNC 0 0 0"}), 1);
  r.step(0);
  EXPECT_EQ(r.source().state(0), WarpState::at_barrier);
  EXPECT_EQ(r.source().live_lanes(0), 0xFFFFFFFFU);
  r.source().release_barrier(0, 0);
  EXPECT_EQ(r.source().state(0), WarpState::exited);
}

TEST(TraceReplay, ArrivingDoesNotWait) {
  Resident r(text_of({"0000 ffffffff 0 BAR.ARV 0 0 64", "0010 ffffffff 0 NOP 0 0 0"}), 1);
  const Issue i = r.step(0);
  EXPECT_FALSE(i.barrier.waits);
  EXPECT_EQ(i.barrier.threads, 64U) << "more than an index: the number of threads";
  EXPECT_EQ(r.source().state(0), WarpState::runnable);
}

TEST(TraceReplay, NothingHappensAtWhatNoLaneExecutes) {
  Resident r(text_of({"0000 00000000 0 BAR.SYNC 0 0 0", "0010 00000000 0 MEMBAR.SC.GPU 0 0 0",
                      "0020 00000000 0 NANOSLEEP 0 0 100", "0030 0000000f 0 NANOSLEEP 0 0 100",
                      "0040 1 0 NOP 0 0 0"}),
             1);
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(r.source().next(0).kind, InstructionKind::alu) << k;
    EXPECT_EQ(r.step(0).sleep_cycles, 0U);
  }
  EXPECT_EQ(r.source().next(0).kind, InstructionKind::sleep);
  EXPECT_EQ(r.step(0).sleep_cycles, 100U);
}

TEST(TraceReplay, AKilledWarpHasExited) {
  Resident r(text_of({"0000 ffffffff 0 NOP 0 0 0", "0010 ffffffff 0 NOP 0 0 0"}), 1);
  r.source().kill(0);
  EXPECT_EQ(r.source().state(0), WarpState::exited);
  EXPECT_EQ(r.source().live_lanes(0), 0U);
}

TEST(TraceReplay, InstructionsAreNamedByFileAndPlace) {
  Resident r(text_of({"00f0 ffffffff 0 NOP 0 0 0"}), 1);
  EXPECT_EQ(r.source().where(r.source().next(0)), "kernel-1.traceg, pc 0x00f0");
}

TEST(TraceReplay, InstructionsStayWhereTheyAre) {
  std::vector<std::string> lines;
  lines.reserve(5000);
  for (int i = 0; i < 5000; ++i) lines.push_back(std::to_string(1000 + i) + " ffffffff 1 R1 MOV 0 0 0");
  Resident r(text_of(lines), 1);
  const Instruction& first = r.source().next(0);
  const std::uint32_t pc = first.pc;
  for (int i = 0; i < 4999; ++i) r.step(0);
  EXPECT_EQ(first.pc, pc);
}

/// A trace of `blocks` thread blocks of two warps.
std::string many_blocks(unsigned blocks) {
  TraceText t;
  t.grid = "(" + std::to_string(blocks) + ",1,1)";
  t.block = "(64,1,1)";
  for (unsigned b = 0; b < blocks; ++b)
    t.body += "#BEGIN_TB\nthread block = " + std::to_string(b) +
              ",0,0\nwarp = 0\ninsts = 1\n0000 ffffffff 1 R1 LDG.E 1 R2 4 1 0x1000 4 0\nwarp = 1\ninsts = 1\n"
              "0000 ffffffff 1 R1 LDG.E 1 R2 4 1 0x2000 4 0\n#END_TB\n";
  return t.text();
}

/// Hands on the blocks of a trace, and counts them.
class CountedBlocks final : public sass::BlockSource {
 public:
  CountedBlocks(const std::string& path, unsigned& read) : read_(read) {
    auto lines = std::make_unique<sass::LineReader>(path);
    std::string first;
    header_ = sass::read_header(*lines, first).value();
    text_.emplace(std::move(lines), first, header_, program_, std::vector<std::string>{}, nullptr);
  }
  sass::TraceBlock next() override {
    ++read_;
    return text_->next();
  }
  void end() override { text_->end(); }
  sass::PackedBytes& packed() override { return text_->packed(); }

 private:
  unsigned& read_;
  sass::TraceHeader header_;
  sass::Program program_;
  std::optional<sass::TextReader> text_;
};

TEST(TraceStreaming, BlocksAreReadWhenTheyAreNeeded) {
  const TemporaryFile file("kernel-1.traceg", many_blocks(1000));
  unsigned read = 0;
  sass::BlockQueue queue(std::make_unique<CountedBlocks>(file.path(), read), 1000, 2);
  for (std::uint64_t k = 0; k < 1000; ++k) {
    const sass::WarpPlace first = queue.take(k, 0), second = queue.take(k, 1);
    EXPECT_EQ(first.offset + first.bytes, second.offset);
    ASSERT_EQ(read, k + 1) << "nothing is read ahead";
    EXPECT_LE(queue.waiting(), 1U);
  }
  EXPECT_EQ(queue.waiting(), 0U);
}

TEST(TraceStreaming, ANewLaunchStartsOverWhileTheLastOnesSourcesAreStillThere) {
  const TemporaryFile file("kernel-1.traceg", many_blocks(3));
  const auto kernel = sass::open_trace(file.path());
  ASSERT_TRUE(kernel.ok());
  std::vector<std::unique_ptr<InstructionSource>> sources;
  for (int launch = 0; launch < 2; ++launch) {
    for (unsigned sm = 0; sm < 2; ++sm) sources.push_back(kernel.value()->make_source({sm, 2}));
    for (std::uint32_t cta = 0; cta < 3; ++cta)
      for (unsigned warp = 0; warp < 2; ++warp) {
        InstructionSource& source = *sources[sources.size() - 1 - cta % 2];
        source.begin_warp(warp, {cta, 0, 0}, warp, 0xFFFFFFFFU);
        EXPECT_EQ(source.state(warp), WarpState::runnable) << "launch " << launch << ", CTA " << cta;
      }
  }
}

TEST(TraceStreaming, BlocksAskedForOutOfOrderAreKept) {
  const TemporaryFile file("kernel-1.traceg", many_blocks(4));
  unsigned read = 0;
  sass::BlockQueue queue(std::make_unique<CountedBlocks>(file.path(), read), 4, 2);
  const sass::WarpPlace two = queue.take(2, 0);
  EXPECT_EQ(queue.waiting(), 3U);
  EXPECT_LT(queue.take(0, 0).offset, queue.take(1, 1).offset);
  EXPECT_EQ(queue.take(2, 1).offset, two.offset + two.bytes);
  EXPECT_EQ(queue.waiting(), 2U);
  EXPECT_EQ(read, 3U);
}

TEST(TraceStreaming, APackedInstructionTakesFewBytes) {
  std::vector<std::string> lines;
  for (int k = 0; k < 1000; ++k) {
    lines.emplace_back("0000 ffffffff 1 R1 LDG.E 1 R2 4 1 0x7fb0fc461c00 4 0");
    for (int j = 1; j < 10; ++j)
      lines.push_back("00" + std::to_string(j) + "0 ffffffff 1 R3 FFMA 3 R4 R5 R6 0 0");
  }
  const TemporaryFile file("kernel-1.traceg", text_of(lines));
  unsigned read = 0;
  sass::BlockQueue queue(std::make_unique<CountedBlocks>(file.path(), read), 1, 1);
  EXPECT_LT(queue.take(0, 0).bytes, 2 * lines.size());
}

}  // namespace trace_replay_test
}  // namespace warpline::test
