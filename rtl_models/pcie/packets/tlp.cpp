#include "rtl_models/pcie/packets/tlp.h"

#include <utility>

namespace warpline {

Tlp* TlpPool::allocate() {
  if (free_.empty()) return all_.emplace_back(std::make_unique<Tlp>()).get();
  Tlp* tlp = free_.back();
  free_.pop_back();
  return tlp;
}

void TlpPool::release(Tlp* tlp) {
  WARPLINE_EXPECT(in_use() > 0, "a packet that was handed out is released");
  std::vector<std::uint8_t> room = std::move(tlp->data);
  room.clear();
  *tlp = Tlp{};
  tlp->data = std::move(room);
  free_.push_back(tlp);
}

}  // namespace warpline
