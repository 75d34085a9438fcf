#pragma once

#include <list>
#include <tlm>

#include "rtl_models/tlm/transaction.h"

namespace warpline {

/// The memories that lie behind a socket, where it is known how large they are: bytes of each.
struct Memories {
  std::uint64_t vidmem = 0, sysmem = 0;

  /// Whether all of `bytes` bytes from `address` on lie in one of them.
  [[nodiscard]] bool hold(PhysicalAddress address, std::uint64_t bytes) const {
    const std::uint64_t size = aperture_of(address) == Aperture::vidmem   ? vidmem
                               : aperture_of(address) == Aperture::sysmem ? sysmem
                                                                          : 0;
    const std::uint64_t offset = offset_in_aperture(address);
    return offset < size && bytes <= size - offset;
  }
};

/// A payload that a foreign initiator made, read as a request and answered from it: without our extension a
/// weak read or write of bytes of one 128-byte line; with it, qualified as the extension's request is.
class ForeignPayload {
 public:
  explicit ForeignPayload(tlm::tlm_generic_payload& payload);

  /// Whether it is answered already: it asks for what cannot be, and its response status says why,
  /// or for nothing, and is done. `memories`: null where it is not known what there is.
  [[nodiscard]] bool settle(const TakenCommands& taken, const Memories* memories = nullptr);
  /// Makes `r`, fresh from `pool`, ask for what the payload does. `with_data`: the bytes of a write too.
  /// Pre: settle() was false.
  void describe(Request& r, RequestPool& pool, bool with_data);
  /// Writes the answer of `r` into the payload.
  void answer(const Request& r, bool with_data) const;

  [[nodiscard]] tlm::tlm_generic_payload& payload() const { return *payload_; }
  /// The request that qualifies it, or null.
  [[nodiscard]] const Request* model() const { return model_; }

 private:
  [[nodiscard]] tlm::tlm_response_status fault(const TakenCommands& taken, const Memories* memories) const;
  tlm::tlm_generic_payload* payload_;
  RequestExtension* extension_ = nullptr;  ///< if it holds a request
  const Request* model_ = nullptr;
  bool by_extension_ = false;  ///< a command that TLM lacks
  unsigned offset_;            ///< of the payload's first byte in the line
};

/// The foreign payloads that one socket has taken, and the requests that stand for them.
class ForeignPayloads {
 public:
  /// Requests come from `pool`, which outlives it.
  explicit ForeignPayloads(RequestPool& pool) : pool_(pool) {}

  /// A request that asks for what `payload` does. Pre: payload.settle() was false.
  [[nodiscard]] Request* make_request(ForeignPayload& payload, bool with_data);
  /// The request that stands for `payload`, of which a reference is held until it is
  /// released after answer(); null if the payload is answered already: its response status says how.
  [[nodiscard]] Request* adopt(tlm::tlm_generic_payload& payload, const TakenCommands& taken,
                               const Memories* memories, bool with_data);
  /// Whether `r` stands for a foreign payload.
  [[nodiscard]] bool made(const Request& r) const { return r.maker == this; }
  /// The payload that `r` stands for. Pre: made(r), and it is not answered.
  [[nodiscard]] static tlm::tlm_generic_payload& payload_of(const Request& r) {
    return static_cast<Foreign*>(static_cast<SocketHop*>(r.carried))->payload.payload();
  }
  /// Moves the answer of `r` into its payload, and ends the request. Pre: it was adopted.
  void answer(Request& r, bool with_data);

 private:
  static constexpr std::uint64_t kForeignIds = std::uint64_t{1} << 63U;
  struct Foreign : SocketHop {
    explicit Foreign(const ForeignPayload& asks) : payload(asks) {}
    ForeignPayload payload;
  };
  RequestPool& pool_;
  std::list<Foreign> foreign_;
  std::uint64_t made_ = 0;
};

/// The response status that says what became of `r`.
inline tlm::tlm_response_status response_status(const Request& r) {
  return r.status == Status::ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE;
}

}  // namespace warpline
