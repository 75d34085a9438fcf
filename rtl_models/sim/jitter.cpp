#include "rtl_models/sim/jitter.h"

#include <string>

#include "rtl_models/base/contract.h"
#include "rtl_models/base/random.h"
#include "rtl_models/sim/engine.h"
#include "rtl_models/sim/port_base.h"

namespace warpline {
namespace {

constexpr std::uint64_t kUsual = 40;    ///< edges
constexpr std::uint64_t kRareOne = 16;  ///< one queue in so many is slow
constexpr std::uint64_t kSlow = 3000;   ///< edges: several round trips to L2

std::uint64_t mark_of(const std::string& name) {
  std::uint64_t mark = name.size();
  for (const char c : name) mark = splitmix64(mark ^ static_cast<unsigned char>(c));
  return mark;
}

}  // namespace

Jitter::Jitter(Engine& engine) : engine_(engine) {
  for (PortBase* port : engine.ports())
    if (port->receives()) queues_.emplace_back(port, mark_of(port->path()));
  for (Component* component : engine.components())
    components_.emplace_back(component, mark_of(component->name()));
}

unsigned Jitter::residence(Random& random) {
  const bool slow = random.below(kRareOne) == 0;
  return static_cast<unsigned>(1 + random.below(slow ? kSlow : kUsual));
}

void Jitter::draw(std::uint64_t seed) {
  WARPLINE_EXPECT(engine_.quiescent(), "time is drawn anew when nothing is under way");
  const std::uint64_t start = splitmix64(seed);
  for (const auto& [port, mark] : queues_) {
    Random random(start ^ mark);
    port->set_residence(residence(random));
  }
  for (const auto& [component, mark] : components_) {
    Random random(start ^ mark);
    component->draw_turns(random);
  }
}

}  // namespace warpline
