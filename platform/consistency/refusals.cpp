// What of a litmus test no GPU of ours can run, and what can never end.
#include <algorithm>

#include "platform/consistency/program.h"

namespace warpline::litmus {
namespace {

/// Adds a sentence once.
void add(std::vector<std::string>& sentences, std::string sentence) {
  if (std::find(sentences.begin(), sentences.end(), sentence) == sentences.end())
    sentences.push_back(std::move(sentence));
}

/// Says so where a location of shared memory is accessed by several CTAs.
void judge_shared(const Test& test, const Thread& thread, unsigned location, std::vector<std::string>& out) {
  const Location& l = test.locations[location];
  if (l.home != Home::shared) return;
  const auto is_same = [&](unsigned other) { return test.locations[other].memory == l.memory; };
  for (const Thread& t : test.threads)
    for (const litmus::Instruction& other : t.code)
      if (other.kind == litmus::InstructionKind::memory && !t.place.same_cta(thread.place) &&
          (is_same(other.location) || (other.op.kind == MemKind::async_copy && is_same(other.copy_to))))
        add(out, l.name + " lies in shared memory, which one CTA only can reach");
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
  if (i.mbarrier != MbarrierUse::none)
    add(out, "\"" + i.text + "\": mbarriers are judged, and not run on the platform yet");
  judge_shared(test, thread, i.location, out);
  if (i.op.kind == MemKind::async_copy) judge_shared(test, thread, i.copy_to, out);
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
  for (const Thread& t : test.threads)
    for (const litmus::Instruction& i : t.code) judge_access(test, places, t, i, out);
  return out;
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
