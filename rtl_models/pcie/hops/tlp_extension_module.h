#pragma once

#include <cstdint>
#include <tlm>

#include "rtl_models/base/visibility.h"
#include "rtl_models/pcie/packets/tlp.h"

namespace warpline {

/// The header of a transaction-layer packet, in the payload that carries it over one direction of a PCI
/// Express link. (A packet is a transaction of the hop: its answer, if it has one, is another, in the other
/// direction.)
///
/// The payload is a TLM_WRITE_COMMAND of the packet's data at its address, or where it has none a
/// TLM_IGNORE_COMMAND: a read asks in one direction, and its completion writes in the other. It is over, with
/// TLM_OK_RESPONSE, when the hop can take the next packet of its class. Whoever stands in the hop may change
/// the data, or hand on a copy of the payload, once.
class WARPLINE_PUBLIC TlpExtension final : public tlm::tlm_extension<TlpExtension> {
 public:
  TlpKind kind = TlpKind::memory_read;
  CompletionStatus status = CompletionStatus::successful;  ///< of a completion
  bool relaxed_ordering = false;
  bool no_snoop = false;
  bool poisoned = false;        ///< its data is known to be damaged
  FunctionId requester;         ///< of a completion: whom it is for
  FunctionId completer;         ///< of a completion: who answers; of a configuration request: who is to
  std::uint16_t tag = 0;        ///< with the requester: which request a completion belongs to
  std::uint64_t address = 0;    ///< of memory, or of a register in configuration space
  std::uint32_t bytes = 0;      ///< that it asks for or carries
  std::uint32_t remaining = 0;  ///< of a completion: bytes of its read not yet delivered, its own included

  [[nodiscard]] TlpClass packet_class() const { return class_of(kind); }
  [[nodiscard]] tlm_extension_base* clone() const override { return new TlpExtension(*this); }
  void copy_from(const tlm_extension_base& other) override {
    *this = static_cast<const TlpExtension&>(other);
  }

 private:
  friend class TlpSender;
  friend class TlpReceiver;
  void describe(Tlp& tlp) {
    kind = tlp.kind;
    status = tlp.status;
    relaxed_ordering = tlp.relaxed_ordering;
    no_snoop = tlp.no_snoop;
    poisoned = tlp.poisoned;
    requester = tlp.requester;
    completer = tlp.completer;
    tag = tlp.tag;
    address = tlp.address;
    bytes = tlp.bytes;
    remaining = tlp.remaining;
    packet = &tlp;
  }
  Tlp* packet = nullptr;  ///< the packet itself, until it has arrived
};

}  // namespace warpline
