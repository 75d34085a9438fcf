#include "platform/cli/consistency_report.h"

#include "platform/cli/console.h"
#include "platform/cli/signal_guard.h"
#include "platform/consistency/record/grid_recorder.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

using Verdict = litmus::Judgement::Verdict;

/// Accesses, fences and barriers of a grid that are kept to be judged.
constexpr std::size_t kRecordedEvents = 1'000'000;

const char* word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::obeys: return "obeys";
    case Verdict::violates: return "violates";
    case Verdict::refused: break;
  }
  return "not judged";
}

}  // namespace

void ConsistencyReport::follow(GpuPlatform& platform) {
  platform.attach(
      std::make_unique<GridRecorder>(platform, kRecordedEvents, [this](const ExecutionRecord& record) {
        litmus::JudgeOptions options;
        options.draw = !dot_.empty();
        options.ptx75 = ptx75_;
        options.stop = SignalGuard::stop_wanted;
        judgements_.push_back(litmus::judge(record, options));
      }));
}

void ConsistencyReport::print(std::vector<LaunchStatistics>& launches, bool quiet) const {
  for (std::size_t n = 0; n < judgements_.size(); ++n) {
    const litmus::Judgement& j = judgements_[n];
    const std::string kernel = judgements_.size() == 1 ? "" : "\"" + j.kernel + "\" ";
    if (j.verdict == Verdict::obeys && !quiet)
      print_result((n == 0 ? "\n" : "") + ("consistency: " + kernel) + litmus::text_of(j) + "\n");
    if (n >= launches.size()) continue;
    launches[n].consistency = {word_of(j.verdict), j.axiom, j.reason, j.threads, j.events, j.accesses};
  }
}

ConsistencyFindings ConsistencyReport::findings() const {
  ConsistencyFindings out;
  bool drawn = dot_.empty();
  for (const litmus::Judgement& j : judgements_) {
    if (j.verdict == Verdict::obeys) continue;
    out.stopped = out.stopped || j.stopped;
    (j.verdict == Verdict::violates ? out.violations : out.unjudged)
        .push_back("consistency: kernel \"" + j.kernel + "\" " + litmus::text_of(j));
    if (drawn || j.graph.empty()) continue;
    drawn = true;
    if (const std::string failure = write_file_atomically(dot_, j.graph); !failure.empty())
      out.unwritten = "--dot: " + failure;
  }
  return out;
}

}  // namespace warpline
