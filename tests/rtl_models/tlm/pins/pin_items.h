#pragma once

#include <map>
#include <string>
#include <vector>

#include "rtl_models/base/random.h"
#include "tests/support/mock_components.h"

namespace warpline::test {

/// 32-byte words of the memory that random items address.
inline constexpr unsigned kWords = 256;

inline std::vector<Item> random_items(Random& random, unsigned count) {
  std::vector<Item> items;
  Cycle at = 0;
  for (unsigned i = 0; i < count; ++i) {
    at += random.below(8);
    const PhysicalAddress line{random.below(kWords / 4) * kLineBytes};
    const auto sectors = static_cast<SectorMask>(1 + random.below(15));
    if (random.below(2) == 0) {
      items.push_back(read_item(at, line, sectors));
      continue;
    }
    const ByteMask bytes = ByteMask::of_sectors(sectors) &
                           ByteMask{random.next() | 0x100000001ULL, random.next() | 0x100000001ULL};
    items.push_back(write_item(at, line, bytes, static_cast<std::uint8_t>(random.next())));
  }
  return items;
}

/// Answers reads and writes from a memory of lines.
class FlatTarget final : public Component {
 public:
  FlatTarget(Engine& e, std::string name, ClockDomain domain)
      : Component(e, std::move(name), domain), in(*this, "from_requester"), out(*this, "to_requester") {}
  Cycle tick(Cycle now) override {
    if (held_ == nullptr && in.ready(now)) {
      held_ = in.pop(now).request;
      auto& line = lines[held_->line.value];
      if (held_->command == Command::write) copy_masked(line.data(), held_->data.data(), held_->bytes);
      if (held_->command == Command::read) copy_sectors(held_->data.data(), line.data(), held_->sectors);
      if (held_->line.value >= kWords * 32) held_->status = Status::address_error;
      return now + 1;
    }
    if (held_ != nullptr && out.ready(now)) {
      out.send(now, {held_});
      held_ = nullptr;
      return now + 1;
    }
    return kNever;
  }
  [[nodiscard]] bool busy() const override { return held_ != nullptr; }
  void explain(std::vector<Wait>&) const override {}
  In<RequestMessage> in;
  Out<ResponseMessage> out;
  std::map<std::uint64_t, std::array<std::uint8_t, kLineBytes>> lines;

 private:
  Request* held_ = nullptr;
};

}  // namespace warpline::test
