/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Where rings lie: in memory that native code reaches, or where the port alone does. */
#include <string.h>

#include "wl_peer_internal.h"

static int is_placed(const void* memory, const struct wl_peer_place* place) {
  if (memory != NULL) return ((uintptr_t)memory & 63u) == 0;
  /* The spaces up to there are the peer's own, and its registers are no memory. */
  if (place->space <= WL_SPACE_CONFIG) return 0;
  return place->bus != 0 && (place->bus & 63u) == 0 && (place->offset & 7u) == 0;
}

int wl_peer_rings_placed(const struct wl_peer_queue_options* options) {
  return is_placed(options->submissions, &options->submissions_at) &&
         is_placed(options->completions, &options->completions_at);
}

static uint64_t map(const struct wl_peer* peer, void* memory, const struct wl_peer_place* place, size_t bytes,
                    unsigned direction) {
  return memory == NULL ? place->bus : peer->port->dma_map(peer->port->context, memory, bytes, direction);
}

static void unmap(const struct wl_peer* peer, const void* memory, uint64_t bus, size_t bytes) {
  if (memory != NULL) peer->port->dma_unmap(peer->port->context, bus, bytes);
}

enum wl_result wl_peer_rings_map(const struct wl_peer* peer, struct wl_peer_queue* queue) {
  const struct wl_peer_queue_options* o = &queue->options;
  const size_t entries = wl_peer_entries_of(queue);
  queue->submissions_bus =
      map(peer, o->submissions, &o->submissions_at, entries * WL_PEER_COMMAND_BYTES, WL_DMA_TO_DEVICE);
  if (queue->submissions_bus == 0) return WL_UNMAPPED;
  queue->completions_bus =
      map(peer, o->completions, &o->completions_at, entries * WL_PEER_COMPLETION_BYTES, WL_DMA_FROM_DEVICE);
  if (queue->completions_bus != 0) return WL_OK;
  unmap(peer, o->submissions, queue->submissions_bus, entries * WL_PEER_COMMAND_BYTES);
  return WL_UNMAPPED;
}

void wl_peer_rings_unmap(const struct wl_peer* peer, const struct wl_peer_queue* queue) {
  const size_t entries = wl_peer_entries_of(queue);
  unmap(peer, queue->options.submissions, queue->submissions_bus, entries * WL_PEER_COMMAND_BYTES);
  unmap(peer, queue->options.completions, queue->completions_bus, entries * WL_PEER_COMPLETION_BYTES);
}

/* What is not there reads as all ones, and nothing that is asked for here ever does. */
static enum wl_result flush(const struct wl_peer* peer, unsigned space, uint64_t offset) {
  unsigned tries;
  for (tries = 0; tries < 3; ++tries)
    if (peer->port->read(peer->port->context, space, offset, 8) != UINT64_MAX) return WL_OK;
  return WL_TIMEOUT;
}

static void clear(const struct wl_peer* peer, const struct wl_peer_place* at, uint32_t entry) {
  unsigned i;
  for (i = 0; i < WL_PEER_COMPLETION_BYTES; i += 8)
    peer->port->write(peer->port->context, at->space,
                      at->offset + (size_t)entry * WL_PEER_COMPLETION_BYTES + i, 8, 0);
}

/* Whether an entry reads as cleared, which also waits for the writes that clear it. */
static int is_clear(const struct wl_peer* peer, const struct wl_peer_queue* queue, uint32_t entry) {
  return wl_peer_completion_get(peer, queue, entry, WL_PEER_COMPLETION_ID_OFFSET, 8) == 0;
}

enum wl_result wl_peer_completions_clear(const struct wl_peer* peer, const struct wl_peer_queue* queue) {
  const struct wl_peer_place* at = &queue->options.completions_at;
  const uint32_t entries = wl_peer_entries_of(queue);
  uint32_t entry;
  if (queue->options.completions != NULL) {
    memset(queue->options.completions, 0, (size_t)entries * WL_PEER_COMPLETION_BYTES);
    return WL_OK;
  }
  for (entry = 0; entry < entries; ++entry) clear(peer, at, entry);
  /* An old entry that a lost write left there would look new. A write may be lost, or the answer that tells.
   */
  for (entry = 0; entry < entries; ++entry) {
    unsigned tries;
    for (tries = 1; !is_clear(peer, queue, entry); ++tries) {
      if (tries == 3) return WL_TIMEOUT;
      clear(peer, at, entry);
    }
  }
  return WL_OK;
}

static uint64_t number(const volatile uint8_t* from, unsigned bytes) {
  uint64_t value = 0;
  unsigned i;
  for (i = 0; i < bytes; ++i) value |= (uint64_t)from[i] << 8 * i;
  return value;
}

void wl_peer_submission_put(const struct wl_peer* peer, const struct wl_peer_queue* queue, uint32_t entry,
                            const uint8_t* command) {
  const struct wl_peer_place* at = &queue->options.submissions_at;
  const size_t offset = (size_t)entry * WL_PEER_COMMAND_BYTES;
  unsigned i;
  if (queue->options.submissions != NULL) {
    memcpy((uint8_t*)queue->options.submissions + offset, command, WL_PEER_COMMAND_BYTES);
    return;
  }
  for (i = 0; i < WL_PEER_COMMAND_BYTES; i += 8)
    peer->port->write(peer->port->context, at->space, at->offset + offset + i, 8, number(command + i, 8));
}

uint64_t wl_peer_completion_get(const struct wl_peer* peer, const struct wl_peer_queue* queue, uint32_t entry,
                                unsigned offset, unsigned bytes) {
  const struct wl_peer_place* at = &queue->options.completions_at;
  const size_t place = (size_t)entry * WL_PEER_COMPLETION_BYTES + offset;
  if (queue->options.completions != NULL)
    return number((const volatile uint8_t*)queue->options.completions + place, bytes);
  return peer->port->read(peer->port->context, at->space, at->offset + place, bytes);
}

enum wl_result wl_peer_submissions_flush(const struct wl_peer* peer, const struct wl_peer_queue* queue) {
  const struct wl_peer_place* at = &queue->options.submissions_at;
  if (queue->options.submissions != NULL) return WL_OK;
  /* The first word of a command has bits that are always 0. */
  return flush(peer, at->space, at->offset);
}
