#pragma once

#include <cstdint>
#include <tlm>

/// What a request does to the bytes of video memory. Plain reads and writes are all that TLM-2.0 knows of;
/// the GPU's atomics and cache maintenance come with Warpline's extension, and only these functions know it.

/// Whether the request asks this cache for nothing: cache maintenance, which has no address, and prefetches,
/// priorities and discards of lines, which need not be acted on.
[[nodiscard]] bool is_maintenance(const tlm::tlm_generic_payload& payload);

/// Performs the request and sets its response status. Returns whether it has changed memory.
bool perform(tlm::tlm_generic_payload& payload, std::uint8_t* memory, std::uint64_t bytes);
