#include "platform/systemc/hop_opener.h"

#include <stdexcept>

namespace warpline {

const HopOpening* HopOpener::find(const HopSite& site) {
  const HopOpening* found = nullptr;
  for (std::size_t i = 0; i < openings_.size(); ++i) {
    if (!site.matches(openings_[i].pattern)) continue;
    used_[i] = true;
    if (found != nullptr)
      throw std::invalid_argument(site.name + ": a hop is opened for hardware once, and both \"" +
                                  found->pattern + "\" and \"" + openings_[i].pattern + "\" fit it");
    found = &openings_[i];
    if (!found->make)
      throw std::invalid_argument(site.name + ": \"" + found->pattern +
                                  "\" opens this hop, and there is nothing that makes hardware for it");
  }
  return found;
}

void HopOpener::open(const HopSite& site, InitiatorSocket& initiator, TargetSocket& target,
                     const HopParameters& parameters, const HopOpening* opening) {
  const InitiatorSocket::Ports from = initiator.hand_over();
  const TargetSocket::Ports to = target.hand_over();
  PinHop& hop = *hops_.emplace_back(std::make_unique<PinHop>(
      site.module_name.c_str(), engine_, site.name,
      PinHop::Ports{from.out, to.in, to.out, from.in, parameters}, PinHop::Data{from.with_data, to.with_data},
      opening == nullptr ? PinHop::Wiring::through : PinHop::Wiring::cut));
  if (opening != nullptr) opening->make(site, hop.near(), hop.far());
}

std::vector<std::string> HopOpener::unused() const {
  std::vector<std::string> patterns;
  for (std::size_t i = 0; i < openings_.size(); ++i)
    if (!used_[i]) patterns.push_back(openings_[i].pattern);
  return patterns;
}

}  // namespace warpline
