/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Commands over memory that lies in more pieces than a scatter list has entries. */
#include "wl_peer_internal.h"

static uint64_t left_of(const struct wl_peer_pieces* pieces, uint32_t piece) {
  return pieces->piece[piece].bytes - (piece == pieces->at ? pieces->offset : 0);
}

/* How much of `most` bytes lies in the next `entries` pieces. */
static uint32_t bytes_within(const struct wl_peer_pieces* pieces, unsigned entries, uint32_t most) {
  uint64_t bytes = 0;
  unsigned i;
  if (pieces->count == 0) return most;
  for (i = 0; i < entries && i < pieces->count - pieces->at && bytes < most; ++i)
    bytes += left_of(pieces, pieces->at + i);
  return bytes < most ? (uint32_t)bytes : most;
}

/* Takes bytes off the front. Where they lie in one piece it returns 0, and the place is their own address;
 * else it writes a list and returns its entries. */
static uint16_t take(struct wl_peer_pieces* pieces, uint32_t bytes, const struct wl_peer_list* list,
                     uint64_t* place) {
  unsigned entries = 0;
  *place = 0;
  if (pieces->count == 0) return 0;
  *place = pieces->piece[pieces->at].bus + pieces->offset;
  while (bytes != 0) {
    const uint64_t left = left_of(pieces, pieces->at);
    const uint32_t part = left < bytes ? (uint32_t)left : bytes;
    if (entries != 0 || part != bytes) {
      uint8_t* entry = list->memory + (size_t)entries * WL_PEER_SCATTER_BYTES;
      wl_peer_put(entry + WL_PEER_SCATTER_ADDRESS_OFFSET, pieces->piece[pieces->at].bus + pieces->offset, 8);
      wl_peer_put(entry + WL_PEER_SCATTER_LENGTH_OFFSET, part, 4);
      wl_peer_put(entry + WL_PEER_SCATTER_RESERVED_OFFSET, 0, 4);
      ++entries;
    }
    bytes -= part;
    pieces->offset += part;
    if (part == left) {
      ++pieces->at;
      pieces->offset = 0;
    }
  }
  if (entries != 0) *place = list->bus;
  return (uint16_t)entries;
}

/* The pattern of a fill as it goes on after some bytes of it. */
static uint64_t pattern_after(uint64_t pattern, uint32_t bytes) {
  const unsigned bits = bytes % 8u * 8u;
  return bits == 0 ? pattern : pattern >> bits | pattern << (64u - bits);
}

enum wl_result wl_peer_split_next(struct wl_peer_split* split, const struct wl_peer_list* source_list,
                                  const struct wl_peer_list* destination_list,
                                  struct wl_peer_command* command) {
  uint32_t bytes;
  if (split == NULL || source_list == NULL || destination_list == NULL || command == NULL ||
      split->entries == 0)
    return WL_BAD_ARGUMENT;
  if (split->rest.length == 0) return WL_NONE;
  bytes = bytes_within(&split->source, split->entries, split->rest.length);
  bytes = bytes_within(&split->destination, split->entries, bytes);
  if (bytes == 0) return WL_BAD_ARGUMENT;
  *command = split->rest;
  command->length = bytes;
  command->source_entries = take(&split->source, bytes, source_list, &command->source);
  command->destination_entries = take(&split->destination, bytes, destination_list, &command->destination);
  split->rest.length -= bytes;
  if (command->opcode == WL_PEER_OPCODE_FILL) split->rest.operand = pattern_after(split->rest.operand, bytes);
  return WL_OK;
}
