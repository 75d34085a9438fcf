#include "rtl_models/pcie/host_bridge/write_combiner.h"

#include <algorithm>

#include "rtl_models/pcie/packets/byte_run.h"

namespace warpline {

void WriteCombiner::emit(const Line& line, std::vector<Write>& out) {
  for_each_run(line.stored, [&](unsigned first, unsigned bytes) {
    Write& write = out.emplace_back();
    write.address = line.address + first;
    write.bytes = bytes;
    std::copy_n(line.data.begin() + first, bytes, write.data.begin());
  });
}

void WriteCombiner::leave_until(Cycle deadline, std::vector<Write>& out) {
  auto first = lines_.begin();
  for (; first != lines_.end() && first->deadline <= deadline; ++first) emit(*first, out);
  lines_.erase(lines_.begin(), first);
}

void WriteCombiner::store(std::uint64_t address, const std::uint8_t* data, unsigned bytes, Cycle now,
                          std::vector<Write>& out) {
  const unsigned size = parameters_.combining_bytes;
  while (bytes != 0) {
    const auto first = static_cast<unsigned>(address % size);
    const unsigned part = std::min(bytes, size - first);
    auto line = std::find_if(lines_.begin(), lines_.end(),
                             [&](const Line& l) { return l.address == address - first; });
    if (line == lines_.end()) {
      if (lines_.size() == parameters_.combining_buffers) {
        emit(lines_.front(), out);
        lines_.erase(lines_.begin());
      }
      lines_.push_back({address - first, now + parameters_.combining_cycles, {}, {}});
      line = lines_.end() - 1;
    }
    std::copy_n(data, part, line->data.begin() + first);
    line->stored.set(first, part);
    if (line->stored.count() == size) {
      emit(*line, out);
      lines_.erase(line);
    }
    address += part;
    data += part;
    bytes -= part;
  }
}

}  // namespace warpline
