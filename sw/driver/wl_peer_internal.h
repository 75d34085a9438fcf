/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the parts of the driver share. */
#ifndef WL_PEER_INTERNAL_H
#define WL_PEER_INTERNAL_H

#include "wl_peer.h"

static inline uint32_t wl_peer_read32(const struct wl_peer* peer, uint32_t offset) {
  return (uint32_t)peer->port->read(peer->port->context, WL_PEER_BAR, offset, 4);
}

static inline void wl_peer_write32(const struct wl_peer* peer, uint32_t offset, uint32_t value) {
  peer->port->write(peer->port->context, WL_PEER_BAR, offset, 4, value);
}

static inline void wl_peer_write64(const struct wl_peer* peer, uint32_t offset, uint64_t value) {
  peer->port->write(peer->port->context, WL_PEER_BAR, offset, 8, value);
}

/* In parentheses, as Linux has a macro of that name. */
static inline void wl_peer_barrier(const struct wl_peer* peer) {
  (peer->port->barrier)(peer->port->context);
}

static inline void wl_peer_log(const struct wl_peer* peer, enum wl_log_level level, const char* text) {
  peer->port->log(peer->port->context, level, text);
}

/* Writes a number as the device reads it. */
static inline void wl_peer_put(uint8_t* to, uint64_t value, unsigned bytes) {
  unsigned i;
  for (i = 0; i < bytes; ++i) to[i] = (uint8_t)(value >> 8 * i);
}

/* Whether the device answers: all ones in another register are data then. */
int wl_peer_is_present(const struct wl_peer* peer);
/* Reads a register that is never all ones, however often an answer is lost. */
enum wl_result wl_peer_read_alive(const struct wl_peer* peer, uint32_t offset, uint32_t* value);
/* Resets it and waits until it has done so. */
enum wl_result wl_peer_reset(struct wl_peer* peer);

/* Rings, wherever they lie (wl_peer_ring.c). Whether the caller has said where. */
int wl_peer_rings_placed(const struct wl_peer_queue_options* options);
/* Makes them the device's, or takes them back. */
enum wl_result wl_peer_rings_map(const struct wl_peer* peer, struct wl_peer_queue* queue);
void wl_peer_rings_unmap(const struct wl_peer* peer, const struct wl_peer_queue* queue);
/* Clears all completions and makes sure of it, or WL_TIMEOUT. */
enum wl_result wl_peer_completions_clear(const struct wl_peer* peer, const struct wl_peer_queue* queue);
/* Writes a command, or reads 1 to 8 bytes of a completion, naturally aligned. */
void wl_peer_submission_put(const struct wl_peer* peer, const struct wl_peer_queue* queue, uint32_t entry,
                            const uint8_t* command);
uint64_t wl_peer_completion_get(const struct wl_peer* peer, const struct wl_peer_queue* queue, uint32_t entry,
                                unsigned offset, unsigned bytes);
/* Returns when the commands that were written before are where the device reads them. */
enum wl_result wl_peer_submissions_flush(const struct wl_peer* peer, const struct wl_peer_queue* queue);

static inline uint32_t wl_peer_entries_of(const struct wl_peer_queue* queue) {
  return (uint32_t)1 << queue->options.order;
}

#endif
