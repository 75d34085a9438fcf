#include "platform/consistency/places.h"

#include <algorithm>

namespace warpline::litmus {
namespace {

/// Where `value` is in `list`, which it joins if it is not there.
unsigned number_in(std::vector<unsigned>& list, unsigned value) {
  const auto at = std::find(list.begin(), list.end(), value);
  const auto number = static_cast<unsigned>(at - list.begin());
  if (at == list.end()) list.push_back(value);
  return number;
}

}  // namespace

Places places_of(const Test& test) {
  Places out;
  out.home.assign(test.memories.size(), Home::unsaid);
  out.users.resize(test.memories.size());
  std::vector<unsigned> named;
  for (const Thread& t : test.threads) {
    const unsigned gpu = number_in(named, t.place.gpu);
    out.of_thread.push_back(gpu);
    for (const Instruction& i : t.code)
      if (i.kind == InstructionKind::memory) {
        number_in(out.users[test.locations[i.location].memory], gpu);
        if (i.copies()) number_in(out.users[test.locations[i.copy_to].memory], gpu);
      }
  }
  out.gpus = static_cast<unsigned>(named.size());
  for (const Location& l : test.locations) {
    Home& home = out.home[l.memory];
    home = l.home;
    if (home == Home::unsaid) home = out.users[l.memory].size() > 1 ? Home::sysmem : Home::vidmem;
  }
  return out;
}

}  // namespace warpline::litmus
