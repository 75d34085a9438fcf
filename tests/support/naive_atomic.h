#pragma once

#include <array>
#include <cstring>
#include <vector>

#include "rtl_models/base/random.h"
#include "rtl_models/isa/atomic.h"
#include "rtl_models/sim/request.h"

namespace warpline::test {

using LaneBytes = std::array<std::uint8_t, 16>;

/// One of a lane's values in an atomic block, as bytes.
inline LaneBytes joined_bytes(std::uint64_t low, std::uint64_t high) {
  LaneBytes bytes;
  std::memcpy(bytes.data(), &low, 8);
  std::memcpy(&bytes[8], &high, 8);
  return bytes;
}
inline LaneBytes old_bytes(const AtomicBlock& b, unsigned i) {
  return joined_bytes(b.lanes[i].old_value, b.lane_bytes() > 8 ? b.high[i].old_value : 0);
}

/// Performs lane `i` of a block on a line, one scalar operation after the other; what it must answer.
inline LaneBytes naive_lane(const AtomicBlock& b, unsigned i, std::uint8_t* line,
                            Subnormals subnormals = Subnormals::flushed) {
  const LaneBytes operand = joined_bytes(b.lanes[i].operand, b.high[i].operand);
  const LaneBytes second = joined_bytes(b.lanes[i].second, b.high[i].second);
  std::uint8_t* at = line + b.lanes[i].offset;
  LaneBytes old{};
  std::memcpy(old.data(), at, b.lane_bytes());
  if (b.type == DataType::b128) {
    const bool writes = b.operation == AtomicOperation::exchange || old == operand;
    const LaneBytes& fresh = b.operation == AtomicOperation::exchange ? operand : second;
    if (writes) std::memcpy(at, fresh.data(), 16);
    return old;
  }
  const unsigned size = size_of(b.type);
  for (unsigned e = 0; e < b.vector; ++e) {
    std::uint64_t was = 0, by = 0, other = 0;
    std::memcpy(&was, &old[std::size_t{e} * size], size);
    std::memcpy(&by, &operand[std::size_t{e} * size], size);
    std::memcpy(&other, &second[std::size_t{e} * size], size);
    const std::uint64_t fresh = apply_atomic(b.operation, b.type, was, by, other, subnormals);
    std::memcpy(at + std::size_t{e} * size, &fresh, size);
  }
  return old;
}

/// An atomic operation that PTX has.
struct AtomicForm {
  AtomicOperation operation;
  DataType type;
  unsigned vector;
};
inline const std::vector<AtomicForm>& atomic_forms() {
  static const std::vector<AtomicForm> kForms = [] {
    std::vector<AtomicForm> forms;
    for (auto o = AtomicOperation::add; o <= AtomicOperation::decrement;
         o = static_cast<AtomicOperation>(static_cast<int>(o) + 1))
      for (auto t = DataType::b8; t <= DataType::f64; t = static_cast<DataType>(static_cast<int>(t) + 1))
        for (const unsigned v : {1U, 2U, 4U, 8U})
          if (is_atomic_legal(o, t, v)) forms.push_back({o, t, v});
    return forms;
  }();
  return kForms;
}

/// Up to 32 lanes of a random form at random places, values that are often equal.
inline AtomicBlock random_atomic_block(Random& random) {
  const AtomicForm& form = atomic_forms()[random.below(atomic_forms().size())];
  AtomicBlock b;
  b.operation = form.operation;
  b.type = form.type;
  b.vector = static_cast<std::uint8_t>(form.vector);
  b.count = static_cast<unsigned>(1 + random.below(kWarpLanes));
  const unsigned bytes = b.lane_bytes();
  const std::uint64_t used = bytes < 8 ? (std::uint64_t{1} << (8 * bytes)) - 1 : ~std::uint64_t{0};
  const auto value = [&random, used] { return (random.below(3) == 0 ? 0 : random.next()) & used; };
  for (unsigned i = 0; i < b.count; ++i) {
    b.lanes[i].lane = static_cast<std::uint8_t>(i);
    b.lanes[i].offset = static_cast<std::uint8_t>(bytes * random.below(kLineBytes / bytes));
    b.lanes[i].operand = value();
    b.lanes[i].second = value();
    if (bytes > 8) b.high[i] = {value(), value(), 0};
  }
  return b;
}

}  // namespace warpline::test
