#include "rtl_models/sim/port_base.h"

#include <utility>

#include "rtl_models/base/contract.h"

namespace warpline {

PortBase::PortBase(Component& owner, std::string name)
    : owner_(owner), name_(std::make_unique<const std::string>(std::move(name))) {
  owner.engine().add(this);
}

QueuedMessage PortBase::queued(std::size_t /*i*/) const {
  contract_violation(__FILE__, __LINE__, "channel() != nullptr", "only receiving ports hold messages");
}

}  // namespace warpline
