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

static inline void wl_peer_log(const struct wl_peer* peer, enum wl_log_level level, const char* text) {
  peer->port->log(peer->port->context, level, text);
}

/* Whether the device answers: all ones in another register are data then. */
int wl_peer_is_present(const struct wl_peer* peer);
/* Reads a register that is never all ones, however often an answer is lost. */
enum wl_result wl_peer_read_alive(const struct wl_peer* peer, uint32_t offset, uint32_t* value);
/* Resets it and waits until it has done so. */
enum wl_result wl_peer_reset(struct wl_peer* peer);
/* Tells the device of a queue, whose rings start empty. */
void wl_peer_queue_enable(struct wl_peer* peer, unsigned queue);
/* Gives up all its commands: they are reported as ABORTED. */
void wl_peer_queue_abort(struct wl_peer* peer, unsigned queue);
void wl_peer_queue_unmap(struct wl_peer* peer, unsigned queue);

#endif
