#include "platform/machine/rank_results.h"

#include <unordered_map>

#include "platform/machine/system.h"
#include "rtl_models/base/counter.h"
#include "rtl_models/base/state_archive.h"
#include "rtl_models/sim/engine.h"
#include "rtl_models/sim/exchange.h"
#include "rtl_models/sim/ranks.h"
#include "rtl_models/sim/request_ferry.h"
#include "rtl_models/sm/input_error.h"

namespace warpline {
namespace {

/// Which rank runs the block that a counter is of: a component, or a part of one, such as "sm[3].lsu".
class Owners {
 public:
  explicit Owners(const Engine& engine) {
    for (const Component* c : engine.components()) ranks_.emplace(c->name(), c->cluster().rank);
  }
  [[nodiscard]] unsigned rank_of(std::string_view block) {
    if (block != last_) {
      last_ = block;
      rank_ = find(last_);
    }
    return rank_;
  }

 private:
  [[nodiscard]] unsigned find(std::string name) const {
    for (;;) {
      if (const auto found = ranks_.find(name); found != ranks_.end()) return found->second;
      const std::size_t dot = name.rfind('.');
      WARPLINE_EXPECT(dot != std::string::npos, "whose counter it is has a name that counters begin with");
      name.resize(dot);
    }
  }
  std::unordered_map<std::string, unsigned> ranks_;
  std::string last_;
  unsigned rank_ = 0;
};

/// Writes the counters of this rank's blocks, one after the other.
class Teller final : public CounterVisitor {
 public:
  Teller(Owners& owners, unsigned rank) : owners_(owners), rank_(rank) {}
  void counter(std::string_view block, std::string_view /*name*/, std::uint64_t value,
               std::string_view /*unit*/, std::string_view /*description*/) override {
    if (owners_.rank_of(block) == rank_) put_value(told, value);
  }
  std::string told;

 private:
  Owners& owners_;
  unsigned rank_;
};

/// Shows another visitor each counter as its rank has told it.
class Hearer final : public CounterVisitor {
 public:
  Hearer(Owners& owners, const std::vector<std::string>& told, CounterVisitor& to)
      : owners_(owners), told_(told.begin(), told.end()), to_(to) {}
  void counter(std::string_view block, std::string_view name, std::uint64_t /*value*/, std::string_view unit,
               std::string_view description) override {
    const auto value = take_value<std::uint64_t>(told_[owners_.rank_of(block)]);
    to_.counter(block, name, value, unit, description);
  }

 private:
  Owners& owners_;
  std::vector<std::string_view> told_;
  CounterVisitor& to_;
};

struct ArchivedFault {
  FaultRecord& f;
  template <class Archive>
  void archive(Archive& a) {
    a(f.kind, f.cycle, f.gpu, f.sm, f.warp, f.cta.x, f.cta.y, f.cta.z, f.lane, f.where, f.address, f.thread.x,
      f.thread.y, f.thread.z, f.access, f.bytes, f.memory, f.memory_bytes, f.offset, f.coordinates, f.slice);
  }
};

struct ArchivedDiagnostic {
  Diagnostic& d;
  template <class Archive>
  void archive(Archive& a) {
    a(d.file, d.line, d.column, d.source, d.message, d.hint, d.length);
  }
};

}  // namespace

void visit_all_ranks(Exchange& exchange, const Engine& engine, const System& system,
                     CounterVisitor& visitor) {
  Owners owners(engine);
  Teller teller(owners, exchange.rank());
  system.visit(teller);
  std::vector<std::string> told = exchange.tell("counters", teller.told);
  told[exchange.rank()] = std::move(teller.told);
  Hearer hearer(owners, told, visitor);
  system.visit(hearer);
}

std::vector<std::uint64_t> sum_of_ranks(Exchange& exchange, std::vector<std::uint64_t> here) {
  std::string own;
  StateArchive saved(own);
  saved(here);
  const std::vector<std::string> told = exchange.tell("sums", own);
  std::vector<std::uint64_t> sums = here;
  for (unsigned r = 0; r < exchange.ranks(); ++r) {
    if (r == exchange.rank()) continue;
    StateArchive there{std::string_view(told[r])};
    there.fixed(here);
    for (std::size_t n = 0; n < sums.size(); ++n) sums[n] += here[n];
  }
  return sums;
}

std::vector<FaultRecord> faults_of_ranks(Exchange& exchange, std::vector<FaultRecord> here) {
  std::string own;
  StateArchive saved(own);
  for (FaultRecord& f : here) ArchivedFault{f}.archive(saved);
  const std::vector<std::string> told = exchange.tell("faults", own);
  std::vector<FaultRecord> all;
  for (unsigned r = 0; r < exchange.ranks(); ++r) {
    if (r == exchange.rank()) {
      all.insert(all.end(), here.begin(), here.end());
      continue;
    }
    StateArchive there{std::string_view(told[r])};
    while (!there.ended()) ArchivedFault{all.emplace_back()}.archive(there);
  }
  return all;
}

void do_on_all_ranks(Exchange& exchange, const std::function<void()>& part) {
  std::string own;
  try {
    part();
  } catch (const InputError& error) {
    Diagnostic d = error.diagnostic;
    StateArchive saved(own);
    ArchivedDiagnostic{d}.archive(saved);
  } catch (const RankFailed&) {
    // It tells why, below.
  }
  std::vector<std::string> told = exchange.tell("unusable inputs", own);
  told[exchange.rank()] = std::move(own);
  for (const std::string& text : told) {
    if (text.empty()) continue;
    StateArchive there{std::string_view(text)};
    Diagnostic d;
    ArchivedDiagnostic{d}.archive(there);
    throw InputError(d);
  }
}

std::vector<std::string> unreconciled_of_ranks(Exchange& exchange, System& system) {
  // What GPUs count agrees with what switches do, which may be another rank's.
  for (const auto& one : system.switches()) {
    GpuSwitch& s = *one;
    std::string state;
    const unsigned rank = s.cluster().rank;
    if (rank == exchange.rank()) {
      StateArchive saved(state);
      s.archive(saved);
    }
    state = exchange.hear("a switch", rank, std::move(state));
    if (rank == exchange.rank()) continue;
    StateArchive restored{std::string_view(state)};
    s.archive(restored);
  }
  std::vector<std::string> here;
  for (unsigned gpu = 0; gpu < system.gpus(); ++gpu) {
    if (system.rank_of(gpu) != exchange.rank()) continue;
    for (std::string& sentence : system.gpu(gpu).unreconciled()) here.push_back(std::move(sentence));
  }
  std::string own;
  StateArchive saved(own);
  saved(here);
  const std::vector<std::string> told = exchange.tell("sums that do not hold", own);
  std::vector<std::string> all;
  for (unsigned r = 0; r < exchange.ranks(); ++r) {
    std::vector<std::string> there = here;
    if (r != exchange.rank()) {
      StateArchive heard{std::string_view(told[r])};
      heard(there);
    }
    all.insert(all.end(), there.begin(), there.end());
  }
  return all;
}

}  // namespace warpline
