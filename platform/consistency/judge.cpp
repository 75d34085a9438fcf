#include "platform/consistency/judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/consistency/execution_judge.h"
#include "platform/consistency/graph.h"
#include "platform/consistency/record/execution_record.h"
#include "platform/consistency/recorded_test.h"
#include "rtl_models/base/text.h"

namespace warpline::litmus {
namespace {

/// Judges group after group; a violation outweighs a refusal.
class GroupJudge {
 public:
  GroupJudge(const ExecutionRecord& record, const RecordedSharing& sharing, const JudgeOptions& options)
      : record_(record), sharing_(sharing), options_(options), events_(sharing.groups()) {
    for (std::size_t n = 0; n < record.events.size(); ++n)
      if (const unsigned g = sharing.group_of(record.events[n].thread); g != RecordedSharing::kNone)
        events_[g].push_back(n);
  }

  void run(Judgement& out) {
    out.verdict = Judgement::Verdict::obeys;
    for (const std::vector<std::size_t>& events : events_) {
      // It has about as many as the record, which is cheaper to ask than a test is to make.
      if (events.size() > 2 * std::size_t{options_.most_events}) {
        refuse(out, too_many(events.size()));
        continue;
      }
      const RecordedTest test(record_, sharing_, events);
      out.threads += static_cast<unsigned>(test.test().threads.size());
      out.events += static_cast<unsigned>(test.size());
      if (test.size() > options_.most_events) {
        refuse(out, too_many(test.size()));
        continue;
      }
      take(out, test);
      if (out.verdict == Judgement::Verdict::violates || out.stopped) return;
    }
  }

 private:
  [[nodiscard]] std::string too_many(std::size_t size) const {
    return fmt::format("{} operations of threads that share memory; at most {} are judged together", size,
                       options_.most_events);
  }

  /// The first reason counts.
  static void refuse(Judgement& out, std::string reason) {
    if (out.verdict == Judgement::Verdict::refused) return;
    out.verdict = Judgement::Verdict::refused;
    out.reason = std::move(reason);
  }

  void take(Judgement& out, const RecordedTest& test) {
    const double size = static_cast<double>(test.size());
    const double cost = size * size * size;
    const double left = options_.most_work - work_;
    if (left < cost)
      return refuse(out, fmt::format("{} groups of threads that share memory would take too long to judge",
                                     sharing_.groups()));
    const auto tries = static_cast<std::uint64_t>(std::min(left / cost, 1e15));
    Judgement one = judge_execution(test, options_, std::min(options_.most_tries, tries));
    out.stopped = one.stopped;
    out.tries += one.tries;
    work_ += static_cast<double>(one.tries) * cost;
    if (one.verdict == Judgement::Verdict::obeys || one.verdict == out.verdict) return;
    out.verdict = one.verdict;
    out.reason = std::move(one.reason);
    out.axiom = std::move(one.axiom);
    out.remark = std::move(one.remark);
    out.graph = std::move(one.graph);
  }

  const ExecutionRecord& record_;
  const RecordedSharing& sharing_;
  const JudgeOptions& options_;
  std::vector<std::vector<std::size_t>> events_;  ///< by group
  double work_ = 0;
};

}  // namespace

namespace {

/// What of an instruction PTX ISA 7.5 knows nothing of; null: nothing.
const char* unknown_to_ptx75(const MemOp& op) {
  if (op.kind == MemKind::mbarrier || op.kind == MemKind::async_store) return "order by mbarriers";
  if (op.kind == MemKind::bulk_copy || op.proxy == Proxy::async) return "async proxy";
  if (op.space == Space::shared_cluster) return "shared memory of other CTAs";
  if (op.scope == Scope::cluster) return "cluster scope";
  return op.type == DataType::b128 && op.is_atomic() ? "atomics of 128 bits" : nullptr;
}

}  // namespace

Judgement judge(const ExecutionRecord& record, const JudgeOptions& options) {
  Judgement out;
  out.kernel = record.kernel;
  out.ptx75 = options.ptx75;
  if (options.ptx75)
    for (const RecordedInstruction& i : record.instructions)
      if (const char* const newer = unknown_to_ptx75(i.op); newer != nullptr) {
        out.reason = fmt::format("the PTX 7.5 model knows no {} ({})", newer, i.where);
        return out;
      }
  if (!record.refusals.empty()) {
    out.reason = joined(record.refusals, "; ");
    return out;
  }
  for (const RecordedEvent& e : record.events) out.accesses += e.kind == RecordedEvent::Kind::access;
  const RecordedSharing sharing(record);
  if (const auto& contradiction = sharing.contradiction()) {
    out.verdict = Judgement::Verdict::violates;
    out.axiom = contradiction->axiom;
    out.reason = contradiction->reason;
    if (options.draw) out.graph = draw(record, *contradiction);
  } else {
    GroupJudge(record, sharing, options).run(out);
  }
  return out;
}

std::string text_of(const Judgement& j) {
  const char* const version = j.ptx75 ? "7.5" : "9.0";
  switch (j.verdict) {
    case Judgement::Verdict::obeys:
      return fmt::format("obeys the PTX {} model ({} threads, {} events; {} accesses in all)", version,
                         j.threads, j.events, j.accesses);
    case Judgement::Verdict::violates:
      return fmt::format("violates the PTX {} model, {}: {}{}{}", version, j.axiom, j.reason,
                         j.remark.empty() ? "" : "; ", j.remark);
    case Judgement::Verdict::refused: return "not judged: " + j.reason;
  }
  return "";
}

}  // namespace warpline::litmus
