/* What the steps from the fourth on share: a machine, a driver that is started, and one queue. */
#ifndef BRING_UP_H
#define BRING_UP_H

#include <stdio.h>
#include <stdlib.h>

#include "warpline/platform/host/wl_machine.h"
#include "wl_peer.h"

#define ORDER 5u
#define ENTRIES (1u << ORDER)

static struct wl_machine* machine;
static const struct wl_port* port;
static struct wl_peer peer;
static struct wl_peer_slot slots[ENTRIES];

/* Ends the program with a word on what went wrong. */
static inline void must(enum wl_result result, const char* what) {
  if (result == WL_OK) return;
  fprintf(stderr, "%s: %s\n", what, wl_result_text(result));
  exit(1);
}

/* Memory that the device may read and write; `bus` is its address for the device. */
static inline void* share(size_t bytes, uint64_t* bus) {
  void* memory = wl_machine_memory(machine, bytes);
  *bus = port->dma_map(port->context, memory, bytes, WL_DMA_BOTH);
  return memory;
}

static inline void start(const struct wl_machine_options* options, int interrupt) {
  struct wl_peer_queue_options queue = {.order = ORDER, .slots = slots, .interrupt = interrupt};
  machine = wl_machine_create(options);
  if (machine == NULL) exit(1);
  port = wl_machine_port(machine, 0);
  queue.submissions = wl_machine_memory(machine, ENTRIES * WL_PEER_COMMAND_BYTES);
  queue.completions = wl_machine_memory(machine, ENTRIES * WL_PEER_COMPLETION_BYTES);
  must(wl_peer_probe(&peer, port), "probe");
  must(wl_peer_start(&peer), "start");
  must(wl_peer_queue_create(&peer, 0, &queue), "queue");
}

/* Submits one command and waits for it. Returns its status. */
static inline unsigned run(const struct wl_peer_command* command, struct wl_peer_completion* completion) {
  must(wl_peer_submit(&peer, 0, command), "submit");
  must(wl_peer_ring(&peer, 0), "doorbell");
  must(wl_peer_wait(&peer, 0, 1000, completion), "wait");
  return completion->status;
}

static inline void stop(void) {
  wl_peer_teardown(&peer);
  wl_machine_destroy(machine);
}

#endif
