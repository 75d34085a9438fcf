#include "platform/programs/generators/pattern.h"

#include <algorithm>
#include <numeric>

#include "rtl_models/base/random.h"
#include "rtl_models/base/text.h"
#include "rtl_models/sm/instruction.h"

namespace warpline {
namespace generators {
namespace {

constexpr std::uint64_t kMaxNodes = std::uint64_t{1} << 31U;

const std::vector<std::string>& kinds() {
  static const std::vector<std::string> kKinds = {"stream", "strided", "random", "chase", "reuse"};
  return kKinds;
}

std::string kind_rule(const std::string& kind) {
  const std::string rule = "must be " + joined(kinds(), ", ", " or ");
  const std::string near = near_miss(kind, kinds());
  return near.empty() ? rule : rule + "; did you mean '" + near + "'?";
}

bool within(const Dim3& d, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return d.x >= 1 && d.x <= x && d.y >= 1 && d.y <= y && d.z >= 1 && d.z <= z;
}

Instruction load(DataType type, unsigned destination) {
  Instruction i;
  i.kind = InstructionKind::memory;
  i.mem.kind = MemKind::load;
  i.mem.space = Space::global;
  i.mem.type = type;
  i.name_registers({}, {static_cast<std::uint16_t>(destination)});
  i.pc = destination;
  return i;
}

/// The next address is what the last load brought: source and destination are one register.
Instruction chasing_load() {
  Instruction i = load(DataType::u64, 0);
  i.name_registers({0}, {0});
  return i;
}

}  // namespace

Plan make_plan(const GeneratorParameters& p) {
  Plan plan;
  plan.parameters = p;
  plan.info.name = p.kind;
  plan.info.grid = p.grid;
  plan.info.block = p.block;
  plan.info.registers = kRotation;
  plan.info.carries_data = false;
  plan.warps = p.grid.count() * plan.info.warps_per_cta();
  if (p.kind == "chase") {
    plan.unit = p.stride;
    plan.units = p.footprint / p.stride;
    plan.instructions = {chasing_load()};
  } else {
    plan.unit = kWarpLanes * (p.kind == "strided" ? p.stride : kWord);
    plan.units = std::max<std::uint64_t>(1, p.footprint / plan.unit);
    for (unsigned r = 0; r < kRotation; ++r) plan.instructions.push_back(load(DataType::u32, r));
  }
  plan.accesses = p.accesses != 0 ? p.accesses : p.kind == "reuse" ? plan.units * plan.warps : plan.units;
  return plan;
}

void Plan::make_cycle() {
  if (!next_node.empty()) return;
  next_node.resize(units);
  std::iota(next_node.begin(), next_node.end(), 0U);
  Random random(splitmix64(parameters.seed));
  for (std::uint64_t i = units - 1; i > 0; --i) std::swap(next_node[i], next_node[random.below(i)]);
}

}  // namespace generators

Problems GeneratorParameters::problems(const std::string& path) const {
  using namespace generators;
  Rules rules(path);
  const bool known = std::find(kinds().begin(), kinds().end(), kind) != kinds().end();
  const bool chase = kind == "chase";
  const bool uses_stride = chase || kind == "strided";
  rules.need(known, "generator", kind_rule(kind));
  rules.need(base % (chase ? kPointer : kWord) == 0, "base",
             chase ? "must be a multiple of 8" : "must be a multiple of 4");
  if (chase)
    rules.need(stride != 0 && stride % kPointer == 0, "stride", "must be a positive multiple of 8 bytes");
  else if (kind == "strided")
    rules.need(stride != 0 && stride % kWord == 0 && stride < (std::uint64_t{1} << 40U), "stride",
               "must be a positive multiple of 4 bytes, below 2^40");
  else
    rules.need(stride == kWord || !known, "stride", "has a meaning for strided and chase only");
  if (footprint == 0 || footprint > ~std::uint64_t{0} - base) {
    rules.need(false, "footprint", "must be at least 1 byte and end below 2^64");
  } else if (chase && stride != 0) {
    const std::uint64_t nodes = footprint / stride;
    rules.need(nodes >= 1 && nodes <= kMaxNodes, "footprint", "must hold 1 to 2^31 nodes of `stride` bytes");
  } else if (kind == "random") {
    rules.need(footprint >= kWord, "footprint", "must hold at least one word of 4 bytes");
  } else if (known && !chase) {
    const std::uint64_t between = uses_stride ? stride : kWord;
    rules.need(footprint >= kWord && (footprint - kWord) / (kWarpLanes - 1) >= between, "footprint",
               "must hold the accesses of one warp: 31 strides and 4 bytes");
  }
  rules.need(within(grid, 2147483647, 65535, 65535), "grid", "must be 1 to 2147483647, 65535, 65535");
  rules.need(within(block, 1024, 1024, 64) && block.count() <= 1024, "block",
             "must be 1 to 1024, 1024, 64, and at most 1024 threads in all");
  return rules.take();
}

}  // namespace warpline
