/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The device as a whole: whether it is there, what it is, how it fares. */
#include <string.h>

#include "wl_peer_internal.h"

/* How long a reset may take: reads that the device has under way come back or are given up by then. */
#define RESET_TRIES 2000u
#define RESET_STEP_NS 1000u

const char* wl_result_text(enum wl_result result) {
  switch (result) {
    case WL_OK: return "done";
    case WL_NONE: return "nothing yet";
    case WL_BAD_ARGUMENT: return "bad argument";
    case WL_GONE: return "the device does not answer";
    case WL_NOT_OURS: return "not a device that this driver knows";
    case WL_TIMEOUT: return "not done in time";
    case WL_FULL: return "the ring is full";
    case WL_UNMAPPED: return "the memory could not be mapped";
    case WL_STOPPED: return "the device has stopped";
    case WL_CORRUPT: return "a completion that belongs to no command";
  }
  return "unknown result";
}

int wl_peer_is_present(const struct wl_peer* peer) {
  unsigned tries;
  /* One answer may be lost on the way; a device that is gone answers nothing. */
  for (tries = 0; tries < 2; ++tries)
    if (wl_peer_read32(peer, WL_PEER_PRESENT_OFFSET) == WL_PEER_PRESENT_VALUE) return 1;
  return 0;
}

enum wl_result wl_peer_read_alive(const struct wl_peer* peer, uint32_t offset, uint32_t* value) {
  unsigned tries;
  for (tries = 0; tries < 3; ++tries) {
    *value = wl_peer_read32(peer, offset);
    if (*value != UINT32_MAX) return WL_OK;
    if (!wl_peer_is_present(peer)) return WL_GONE;
  }
  return WL_TIMEOUT;
}

static enum wl_result learn(struct wl_peer* peer) {
  uint32_t identity, version, capability;
  enum wl_result result;
  result = wl_peer_read_alive(peer, WL_PEER_IDENTITY_OFFSET, &identity);
  if (result != WL_OK) return result;
  if (identity != WL_PEER_IDENTITY_VALUE) return WL_NOT_OURS;
  result = wl_peer_read_alive(peer, WL_PEER_VERSION_OFFSET, &version);
  if (result != WL_OK) return result;
  if ((version & WL_PEER_VERSION_MAJOR_MASK) >> WL_PEER_VERSION_MAJOR_SHIFT != 1) {
    wl_peer_log(peer, WL_LOG_ERROR, "peer: registers of a version that this driver does not know");
    return WL_NOT_OURS;
  }
  result = wl_peer_read_alive(peer, WL_PEER_CAPABILITY_OFFSET, &capability);
  if (result != WL_OK) return result;
  peer->queues = (capability & WL_PEER_CAPABILITY_QUEUES_MASK) >> WL_PEER_CAPABILITY_QUEUES_SHIFT;
  peer->max_order = (capability & WL_PEER_CAPABILITY_MAX_ORDER_MASK) >> WL_PEER_CAPABILITY_MAX_ORDER_SHIFT;
  peer->vectors = (capability & WL_PEER_CAPABILITY_VECTORS_MASK) >> WL_PEER_CAPABILITY_VECTORS_SHIFT;
  peer->scatter = (capability & WL_PEER_CAPABILITY_SCATTER_MASK) >> WL_PEER_CAPABILITY_SCATTER_SHIFT;
  if (peer->queues > WL_PEER_QUEUES) peer->queues = WL_PEER_QUEUES;
  /* A command's ID has 16 bits, and names an entry. */
  if (peer->max_order > 16) peer->max_order = 16;
  return WL_OK;
}

enum wl_result wl_peer_probe(struct wl_peer* peer, const struct wl_port* port) {
  enum wl_result result;
  if (peer == NULL || port == NULL) return WL_BAD_ARGUMENT;
  memset(peer, 0, sizeof *peer);
  peer->port = port;
  result = learn(peer);
  /* Nothing is ever written to a device that is somebody else's. */
  if (result != WL_OK) memset(peer, 0, sizeof *peer);
  return result;
}

enum wl_result wl_peer_reset(struct wl_peer* peer) {
  unsigned tries;
  wl_peer_write32(peer, WL_PEER_CONTROL_OFFSET, WL_PEER_CONTROL_RESET_MASK);
  for (tries = 0; tries < RESET_TRIES; ++tries) {
    uint32_t status;
    const enum wl_result result = wl_peer_read_alive(peer, WL_PEER_STATUS_OFFSET, &status);
    if (result != WL_OK) return result;
    if ((status & WL_PEER_STATUS_RESETTING_MASK) == 0) return WL_OK;
    peer->port->delay(peer->port->context, RESET_STEP_NS);
  }
  wl_peer_log(peer, WL_LOG_ERROR, "peer: a reset does not end");
  return WL_TIMEOUT;
}

enum wl_result wl_peer_check(struct wl_peer* peer, uint32_t* errors) {
  uint32_t status, error;
  enum wl_result result;
  if (errors != NULL) *errors = 0;
  if (peer == NULL || peer->port == NULL) return WL_BAD_ARGUMENT;
  result = wl_peer_read_alive(peer, WL_PEER_STATUS_OFFSET, &status);
  if (result == WL_OK) result = wl_peer_read_alive(peer, WL_PEER_ERROR_OFFSET, &error);
  if (result != WL_OK) return result;
  if (errors != NULL) *errors = error;
  if (error != 0) wl_peer_write32(peer, WL_PEER_ERROR_OFFSET, error);
  return (status & WL_PEER_STATUS_STOPPED_MASK) != 0 ? WL_STOPPED : WL_OK;
}
