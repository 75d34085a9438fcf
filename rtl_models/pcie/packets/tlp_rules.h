#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/pcie/packets/byte_run.h"
#include "rtl_models/pcie/packets/tlp.h"

namespace warpline {

/// The requests into which an access is cut: none longer than `most` bytes, none across a boundary of 4 KiB
/// (PCI Express, memory requests). Each begins where the one before it ends. `bytes` == 0: one part of 0
/// bytes.
[[nodiscard]] std::vector<ByteRun> split_request(std::uint64_t address, std::uint32_t bytes, unsigned most);

/// One of the packets into which a write, or a completion with data, is cut.
[[nodiscard]] Tlp part_of(const Tlp& whole, const ByteRun& part);

/// The completions by which a read is answered: none longer than `most` bytes, and all but the last end on a
/// multiple of `boundary`, the read completion boundary of 64 or 128 bytes. `bytes` == 0: one part of 0
/// bytes. Pre: `most` >= `boundary`.
[[nodiscard]] std::vector<ByteRun> split_completion(std::uint64_t address, std::uint32_t bytes, unsigned most,
                                                    unsigned boundary);

/// Makes the completions by which a request is answered with `status`, and of a successful one with the bytes
/// at `data`, cut by split_completion(), and has `out` take them (push_back).
template <class Out>
void make_completions(TlpPool& pool, const Tlp& request, CompletionStatus status, FunctionId completer,
                      const std::uint8_t* data, unsigned most, unsigned boundary, Out& out);

/// Why a packet is malformed, a sentence; empty if it is well formed: payload beyond `max_payload`, read
/// beyond `max_read`, a 4 KiB boundary crossed, an atomic that is not naturally aligned or of another size
/// than 4 or 8 (compare-and-swap 16 too), data that is missing or too long, a configuration
/// request for more than one register, a completion with more than is left of its read.
[[nodiscard]] std::string malformation(const Tlp& tlp, unsigned max_payload, unsigned max_read);

/// Whether a successful completion brings the next bytes of a read: those from `address` on, of which `left`
/// have not come. Whoever answers may know the page by another address.
[[nodiscard]] bool brings_next(const Tlp& completion, std::uint64_t address, std::uint32_t left);

/// Whether a packet may pass posted writes: relaxed ordering frees whatever carries data.
[[nodiscard]] inline bool may_pass_writes(const Tlp& tlp) {
  return tlp.relaxed_ordering && tlp.payload() != 0;
}

/// Whether `later` may be sent or taken before `earlier`, which came first over the same link (PCI Express
/// base specification, transaction ordering; ID-based ordering is not modelled). A request that is not posted
/// may be passed by everything. A posted write is passed only by what has relaxed ordering and carries data:
/// writes, atomics, completions; never by a read. A completion may be passed by everything but another of its
/// own read.
[[nodiscard]] bool may_pass(const Tlp& later, const Tlp& earlier);

/// Does to the bytes at `memory`, of which there are `tlp.bytes`, what an atomic packet says, little-endian.
/// What was there before is its payload afterwards.
void perform_atomic(Tlp& tlp, std::uint8_t* memory);

template <class Out>
void make_completions(TlpPool& pool, const Tlp& request, CompletionStatus status, FunctionId completer,
                      const std::uint8_t* data, unsigned most, unsigned boundary, Out& out) {
  const bool successful = status == CompletionStatus::successful;
  const std::uint32_t bytes = successful && request.kind != TlpKind::config_write ? request.bytes : 0;
  std::uint32_t remaining = successful ? bytes : request.bytes;
  for (const ByteRun& part : split_completion(request.address, bytes, most, boundary)) {
    Tlp* const tlp = pool.allocate(TlpKind::completion, part.address, part.bytes);
    tlp->status = status;
    tlp->relaxed_ordering = request.relaxed_ordering;
    tlp->no_snoop = request.no_snoop;
    tlp->requester = request.requester;
    tlp->completer = completer;
    tlp->tag = request.tag;
    tlp->epoch = request.epoch;
    tlp->remaining = remaining;
    const std::uint8_t* const from = data + (part.address - request.address);
    if (part.bytes != 0) tlp->data.assign(from, from + part.bytes);
    remaining -= part.bytes;
    out.push_back(tlp);
  }
}

}  // namespace warpline
