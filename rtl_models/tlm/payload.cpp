#include "rtl_models/tlm/payload.h"

namespace warpline {

void RequestExtension::assign(const RequestExtension& other) {
  accepted = other.accepted;
  request_end = other.request_end;
  request = nullptr;
  if (other.request == nullptr) return;
  own_ = std::make_unique<Request>(*other.request);
  own_->carried = nullptr;
  request = own_.get();
  const bool atomic = request->command == Command::atomic || request->command == Command::reduce;
  if (!atomic || request->atomics == nullptr) return;
  own_atomics_ = std::make_unique<AtomicBlock>(*request->atomics);
  request->atomics = own_atomics_.get();
}

}  // namespace warpline
