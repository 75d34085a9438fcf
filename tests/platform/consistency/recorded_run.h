#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "platform/consistency/judge.h"
#include "platform/consistency/record/grid_recorder.h"
#include "tests/platform/machine/ptx_run.h"

namespace warpline::litmus::test {

/// What the grids of a launch file did, on the preset mini with `overrides`.
inline std::vector<ExecutionRecord> records_of(const std::string& ptx, const std::string& launch,
                                               const RunOptions& options = {}, std::size_t most = 1'000'000,
                                               const std::vector<std::string>& overrides = {}) {
  std::vector<ExecutionRecord> out;
  const warpline::test::PtxRun run(ptx, launch, overrides, {}, options, [&](GpuPlatform& gpu) {
    gpu.attach(
        std::make_unique<GridRecorder>(gpu, most, [&](const ExecutionRecord& r) { out.push_back(r); }));
  });
  return out;
}

/// What a thread of a kernel does, by its number: 64 in each CTA. %rd1 is the buffer, of 64 words; %rd2
/// shared memory.
struct ThreadCode {
  unsigned number;
  const char* code;
};

inline std::string kernel(const std::vector<ThreadCode>& threads) {
  std::string out =
      ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n.shared .align 8 .b8 s[64];\n"
      "ld.param.u64 %rd1, [a];\nmov.u64 %rd2, s;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\n"
      "mad.lo.u32 %r3, %r1, 64, %r2;\n";
  for (const ThreadCode& t : threads) {
    const std::string n = std::to_string(t.number);
    out += "setp.ne.u32 %p1, %r3, " + n + ";\n@%p1 bra L" + n + ";\n" + t.code +
           "\nadd.u32 %r8, %r4, %r5;\nbra END;\nL" + n + ":\n";
  }
  return out + "END:\nret;\n}\n";
}

inline std::string launch(unsigned ctas, const char* more = "") {
  return "module = \"k.ptx\"\nkernel = \"k\"\ngrid = [" + std::to_string(ctas) +
         ", 1, 1]\nblock = [64, 1, 1]\n[[argument]]\nbuffer = \"a\"\ntype = \"u32\"\ncount = 64\n" + more;
}

inline ExecutionRecord record_of(const std::vector<ThreadCode>& threads, unsigned ctas = 2,
                                 const RunOptions& options = {}, std::size_t most = 1000) {
  return records_of(kernel(threads), launch(ctas), options, most).at(0);
}

/// The n-th event of a thread that accesses `address` of its space, from the buffer's first byte on.
inline RecordedEvent& event(ExecutionRecord& r, unsigned thread, unsigned address, unsigned n = 0) {
  for (RecordedEvent& e : r.events) {
    const RecordedThread& t = r.threads[e.thread];
    const std::uint64_t base = e.space == 0 ? r.buffers.at(0).address : 0;
    if (e.kind != RecordedEvent::Kind::access || t.cta_number * 64 + t.number != thread ||
        e.address - base != address)
      continue;
    if (n-- == 0) return e;
  }
  throw std::runtime_error("no such event");
}

inline void set(RecordedEvent::Bytes& bytes, std::uint8_t value) {
  bytes = {};
  bytes[0] = value;
}

/// The flag is set when the data is there, and the reader waits for it.
inline const ThreadCode kWriter = {
    0, "st.global.u32 [%rd1], 7; fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd1+128], 1;"};
inline const ThreadCode kReader = {
    64,
    "W: ld.relaxed.gpu.global.u32 %r4, [%rd1+128]; setp.eq.u32 %p2, %r4, 0; @%p2 bra W;"
    "fence.acq_rel.gpu; ld.global.u32 %r5, [%rd1];"};

}  // namespace warpline::litmus::test
