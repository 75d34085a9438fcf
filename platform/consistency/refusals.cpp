// What of a litmus test no GPU of ours can run, and what can never end.
#include <algorithm>
#include <optional>

#include "platform/consistency/program.h"

namespace warpline::litmus {
namespace {

/// Adds a sentence once.
void add(std::vector<std::string>& sentences, std::string sentence) {
  if (std::find(sentences.begin(), sentences.end(), sentence) == sentences.end())
    sentences.push_back(std::move(sentence));
}

bool is_of(const Test& test, unsigned location, unsigned memory) {
  return location != litmus::Instruction::kNoLocation && test.locations[location].memory == memory;
}

/// Of a thread and a location of shared memory that it accesses: whether that is another CTA's.
bool is_remote(const Test& test, const Thread& thread, unsigned location) {
  if (location == litmus::Instruction::kNoLocation) return false;
  const unsigned owner = shared_owner(test, test.locations[location].memory);
  return owner != Location::kNoThread && !test.threads[owner].place.same_cta(thread.place);
}

/// Says so where a location of shared memory is accessed by a CTA that cannot reach it.
void judge_shared(const Test& test, const Thread& thread, unsigned location, std::vector<std::string>& out) {
  if (location == litmus::Instruction::kNoLocation || !is_remote(test, thread, location)) return;
  const Location& l = test.locations[location];
  const unsigned owner = shared_owner(test, l.memory);
  const bool said = std::any_of(test.locations.begin(), test.locations.end(), [&](const Location& other) {
    return other.memory == l.memory && other.owner != Location::kNoThread;
  });
  if (!said)
    return add(out, l.name +
                        " lies in shared memory, which one CTA only can reach, unless it says whose it is: " +
                        "\"" + l.name + " @ shared of " + test.threads[owner].name + "\"");
  if (!test.threads[owner].place.same_cluster(thread.place))
    add(out, l.name + " lies in shared memory of another cluster, which no thread reaches");
}

/// What of asynchronous operations and mbarriers PTX does not have.
std::optional<std::string> beyond_ptx(const Test& test, const Thread& thread, const litmus::Instruction& i) {
  const auto because = [&](const char* why) { return "\"" + i.text + "\": " + why; };
  if (i.mbarrier != MbarrierUse::none && is_remote(test, thread, i.location)) {
    const bool waits = waits_for_phase(i.mbarrier) || i.destination != litmus::Instruction::kNoRegister;
    if (waits) return because("of another CTA's mbarrier no phase is seen: arrive with \"_\" there");
    if (i.mbarrier == MbarrierUse::copies_arrive)
      return because("what waits for asynchronous copies arrives at an mbarrier of its own CTA");
  }
  const bool copies_in_bulk = i.op.kind == MemKind::bulk_copy;
  if (copies_in_bulk && test.locations[i.location].home == Home::shared &&
      is_remote(test, thread, i.location))
    return because("a bulk copy reads shared memory of its own CTA alone");
  if (i.completes == litmus::Instruction::kNoLocation) return std::nullopt;
  const auto owner = [&](unsigned location) {
    const unsigned o = shared_owner(test, test.locations[location].memory);
    return o == Location::kNoThread ? thread.place : test.threads[o].place;
  };
  if (!owner(copies_in_bulk ? i.copy_to : i.location).same_cta(owner(i.completes)))
    return because("the mbarrier that is told lies in another CTA than what is written");
  return std::nullopt;
}

/// At the barrier of a cluster a thread arrives and waits in turn (PTX ISA, "barrier.cluster").
void judge_cluster_barrier(const Thread& t, std::vector<std::string>& out) {
  bool arrived = false;
  for (const litmus::Instruction& i : t.code) {
    if (i.kind != litmus::InstructionKind::cluster_arrive && i.kind != litmus::InstructionKind::cluster_wait)
      continue;
    const bool arrives = i.kind == litmus::InstructionKind::cluster_arrive;
    if (arrives == arrived)
      add(out,
          t.name + ": \"" + i.text + "\" comes out of turn: a thread arrives, and then waits, each time");
    arrived = arrives;
  }
}

/// The end of a test does not wait for asynchronous operations that tell an mbarrier.
void judge_end(const Test& test, std::vector<std::string>& out) {
  for (const Term& term : test.condition.terms()) {
    if (term.kind != Term::Kind::location || test.locations[term.number].home != Home::shared) continue;
    const unsigned memory = test.locations[term.number].memory;
    for (const Thread& t : test.threads)
      for (const litmus::Instruction& i : t.code)
        if (i.completes != litmus::Instruction::kNoLocation &&
            is_of(test, i.copies() ? i.copy_to : i.location, memory))
          add(out, test.locations[term.number].name +
                       ": what an asynchronous operation leaves in shared memory is there only behind a "
                       "wait: load "
                       "it into a register");
  }
}

void judge_access(const Test& test, const Places& places, const Thread& thread, const litmus::Instruction& i,
                  std::vector<std::string>& out) {
  // Proxy fences that no assembler takes are allowed here: only litmus tests write them.
  const bool proxy_fence = i.op.kind == MemKind::proxy_fence;
  if (const auto why = refusal(i.op); why && !proxy_fence)
    add(out, "\"" + i.text + "\": " + *why + " is not built yet");
  if (i.kind != litmus::InstructionKind::memory) return;
  const Location& l = test.locations[i.location];
  const Home home = places.home[l.memory];
  if (i.op.space == Space::constant && (home == Home::sysmem || home == Home::peer))
    add(out, l.name + " lies in " + (home == Home::peer ? "a peer's" : "system") +
                 " memory, where no constant does");
  if (home == Home::vidmem && places.users[l.memory].size() > 1)
    add(out, l.name + " lies in video memory, which one GPU only can reach");
  if (const auto why = beyond_ptx(test, thread, i)) add(out, *why);
  judge_shared(test, thread, i.location, out);
  judge_shared(test, thread, i.completes, out);
  if (i.copies()) judge_shared(test, thread, i.copy_to, out);
  if (i.op.kind == MemKind::async_copy && is_remote(test, thread, i.copy_to))
    add(out, "\"" + i.text + "\": an asynchronous copy goes to its own CTA's shared memory");
}

}  // namespace

std::vector<std::string> refusals(const Test& test) {
  std::vector<std::string> out;
  if (test.threads.empty()) add(out, "it has no thread");
  const Places places = places_of(test);
  std::vector<unsigned> names(test.memories.size(), 0);
  for (const Location& l : test.locations) {
    if (l.proxy == Proxy::generic && ++names[l.memory] > Arena::kWindows)
      add(out, l.name + ": one memory has at most " + std::to_string(Arena::kWindows) + " virtual addresses");
  }
  constexpr std::size_t kMostMemories = Arena::kLines;
  if (test.memories.size() > kMostMemories)
    add(out, "it has more than " + std::to_string(kMostMemories) + " memories");
  for (const Thread& t : test.threads) {
    for (const litmus::Instruction& i : t.code) judge_access(test, places, t, i, out);
    judge_cluster_barrier(t, out);
  }
  judge_end(test, out);
  return out;
}

bool needs_clusters(const Test& test) {
  for (const Thread& t : test.threads)
    for (const litmus::Instruction& i : t.code) {
      const bool meets = i.kind == litmus::InstructionKind::cluster_arrive ||
                         i.kind == litmus::InstructionKind::cluster_wait;
      for (const Thread& other : test.threads)
        if (meets && t.place.same_cluster(other.place) && !t.place.same_cta(other.place)) return true;
      if (i.kind == litmus::InstructionKind::memory &&
          (is_remote(test, t, i.location) || is_remote(test, t, i.completes) ||
           (i.copies() && is_remote(test, t, i.copy_to))))
        return true;
    }
  return false;
}

bool barriers_can_be_met(const Test& test) {
  for (const Thread& own : test.threads)
    for (const litmus::Instruction& i : own.code) {
      if (i.kind != litmus::InstructionKind::barrier || !i.counts || i.a.is_register || i.b.is_register)
        continue;
      const auto comes = [&](const Thread& t) {
        return t.place.same_cta(own.place) &&
               std::any_of(t.code.begin(), t.code.end(), [&](const litmus::Instruction& x) {
                 return x.kind == litmus::InstructionKind::barrier &&
                        (x.a.is_register || x.a.value == i.a.value);
               });
      };
      if (std::count_if(test.threads.begin(), test.threads.end(), comes) < i.b.value) return false;
    }
  return true;
}

}  // namespace warpline::litmus
