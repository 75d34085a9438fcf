#pragma once

#include <list>
#include <tlm>

#include "warpline/fabric/tlm_payload.h"

namespace warpline {

/// The payloads of other people's that one socket has taken, and the requests that stand for them. A
/// payload without our extension is a weak read or write of bytes of one 128-byte line; a copy of one of
/// ours keeps its qualifiers.
class ForeignPayloads {
 public:
  /// Requests come from `pool`, which outlives it.
  explicit ForeignPayloads(RequestPool& pool) : pool_(pool) {}

  /// The request that stands for `payload`, of which a reference is held until somebody releases it
  /// after answer(); null if the payload is answered already: its response status says how.
  [[nodiscard]] Request* adopt(tlm::tlm_generic_payload& payload, bool with_data);
  /// Whether `r` stands for a foreign payload.
  [[nodiscard]] bool made(const Request& r) const { return r.maker == this; }
  /// Moves the answer of `hop.request` into its payload, and ends the request. Pre: made(*hop.request).
  void answer(SocketHop& hop, bool with_data);

 private:
  static constexpr std::uint64_t kForeignIds = std::uint64_t{1} << 63U;
  struct Foreign {
    SocketHop hop;
    RequestExtension* qualifiers = nullptr;  ///< of a copy of ours
    unsigned offset = 0;                     ///< of the payload's first byte in the line
  };
  [[nodiscard]] Request* request_for(const tlm::tlm_generic_payload& payload, const Request* model);

  RequestPool& pool_;
  std::list<Foreign> foreign_;
  std::uint64_t adopted_ = 0;
};

}  // namespace warpline
