#pragma once

#include <memory>
#include <tlm>

#include "rtl_models/base/visibility.h"
#include "rtl_models/sim/request.h"

namespace warpline {

/// Bits of a TLM socket's bus: 32 bytes.
inline constexpr unsigned kBusBits = 256;

struct Transaction;

/// What a payload says beyond TLM's own attributes: an ignorable extension. A Warpline target works
/// on the request itself; for everybody else the payload's address, command, data and byte enables
/// say the same. Commands that TLM lacks (atomics, maintenance, control of lines) travel as
/// TLM_IGNORE_COMMAND; atomics and maintenance need a target that sets `accepted`, control is done where a
/// target ignores it.
class WARPLINE_PUBLIC RequestExtension final : public tlm::tlm_extension<RequestExtension> {
 public:
  Request* request = nullptr;
  /// Set by the target that has taken `request` itself: answer, data and status are in it.
  bool accepted = false;
  /// From which cycle on the request channel is free again, where a response begins before that.
  Cycle request_end = kNever;

  RequestExtension() = default;
  RequestExtension(const RequestExtension& other) { assign(other); }
  RequestExtension& operator=(const RequestExtension&) = delete;
  /// A copy owns a copy of the request: the original will be used again.
  [[nodiscard]] tlm_extension_base* clone() const override { return new RequestExtension(*this); }
  void copy_from(const tlm_extension_base& other) override {
    assign(static_cast<const RequestExtension&>(other));
  }
  /// What it is part of; null in a copy.
  Transaction* transaction = nullptr;

 private:
  void assign(const RequestExtension& other);
  std::unique_ptr<Request> own_;
  std::unique_ptr<AtomicBlock> own_atomics_;
};

}  // namespace warpline
