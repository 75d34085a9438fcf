#include "tests/rtl_models/registers/generator/described_names.h"

#include <gtest/gtest.h>

#include "rtl_models/queue_device/registers/peer.h"
#include "tests/rtl_models/registers/generator/every_kind.h"
// The headers are also C++.
#include "wl_every_kind_regs.h"
#include "wl_peer_regs.h"

extern "C" {
struct macro {  // NOLINT(readability-identifier-naming): a type of C
  const char* name;
  std::uint64_t value;
};
extern const macro every_kind_macros[];
extern const macro peer_macros[];
}

namespace warpline::test {
namespace {

struct Constant {
  const char* name;
  std::uint64_t value;
};
constexpr Constant kPeer[] = {
#include "peer_names.inc"
};
constexpr Constant kEveryKind[] = {
#include "every_kind_names.inc"
};
static_assert(WL_PEER_SQ_BASE_OFFSET(1) == 0x440 && WL_EVERY_KIND_BAR == 5, "the headers are C++, too");

template <class Constants>
Generated gather(const macro* macros, const Constants& constants, const RegisterMap& map) {
  Generated g;
  for (; macros->name != nullptr; ++macros)
    EXPECT_TRUE(g.macros.emplace(macros->name, macros->value).second) << macros->name;
  for (const Constant& c : constants) EXPECT_TRUE(g.constants.emplace(c.name, c.value).second) << c.name;
  g.map = &map;
  return g;
}

}  // namespace

Generated generated_of(const std::string& block) {
  return block == "peer" ? gather(peer_macros, kPeer, regs::peer::kMap)
                         : gather(every_kind_macros, kEveryKind, regs::every_kind::kMap);
}

}  // namespace warpline::test
