#pragma once

#include <cstdint>
#include <string>

#include "platform/consistency/test.h"
#include "rtl_models/base/random.h"

namespace warpline::litmus::test {

/// The verdict by brute force: every choice of what reads read, every partial coherence order, every order of
/// fences; each axiom as its sentence says. Tests without branches, barriers and compare-and-swap, whose
/// accesses or elements all have four bytes, without mbarriers, and conditions on registers alone.
[[nodiscard]] bool naively_allowed(const Test& test);

/// The text of a random test of that kind: 2 threads of 1 to 4 operations, or 3 of 1 to 3.
[[nodiscard]] std::string random_test(Random& random);

}  // namespace warpline::litmus::test
