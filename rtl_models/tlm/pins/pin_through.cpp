#include "rtl_models/tlm/pins/pin_through.h"

#include "rtl_models/base/contract.h"

namespace warpline {

PinThrough::PinThrough(const sc_core::sc_module_name& name, PinChannel& from, PinChannel& to)
    : sc_module(name), from_(from), to_(to) {
  WARPLINE_EXPECT(from.parameters.width == to.parameters.width, "joined channels have the same width");
  SC_HAS_PROCESS(PinThrough);
  SC_METHOD(forward);
  sensitive << from.valid << from.command << from.address << from.sectors << from.beat << from.last
            << from.identifier << from.origin << from.error;
  for (const auto& word : from.data) sensitive << word;
  for (const auto& word : from.strobes) sensitive << word;
  SC_METHOD(backward);
  sensitive << to.ready;
}

void PinThrough::forward() {
  to_.valid.write(from_.valid.read());
  to_.command.write(from_.command.read());
  to_.address.write(from_.address.read());
  to_.sectors.write(from_.sectors.read());
  to_.beat.write(from_.beat.read());
  to_.last.write(from_.last.read());
  to_.identifier.write(from_.identifier.read());
  to_.origin.write(from_.origin.read());
  to_.error.write(from_.error.read());
  for (std::size_t i = 0; i < from_.data.size(); ++i) to_.data[i].write(from_.data[i].read());
  for (std::size_t i = 0; i < from_.strobes.size(); ++i) to_.strobes[i].write(from_.strobes[i].read());
}

void PinThrough::backward() {
  from_.ready.write(to_.ready.read());
}

}  // namespace warpline
