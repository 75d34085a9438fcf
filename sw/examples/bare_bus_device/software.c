#include "software.h"

#include <string.h>

#include "wl_peer.h"

static int finish(struct wl_peer* peer, const struct wl_peer_command* command) {
  struct wl_peer_completion done;
  if (wl_peer_submit(peer, 0, command) != WL_OK || wl_peer_ring(peer, 0) != WL_OK) return 1;
  if (wl_peer_wait(peer, 0, 1000, &done) != WL_OK) return 1;
  return done.status == WL_PEER_STATUS_CODE_OK ? 0 : 1;
}

int software(const struct wl_port* port, uint8_t* memory) {
  static struct wl_peer peer;
  static struct wl_peer_slot slots[16];
  static const char text[] = "Hello, bare bus!";
  struct wl_peer_queue_options queue;
  struct wl_peer_command copy, add;
  const uint64_t bus = port->dma_map(port->context, memory, MEMORY_BYTES, WL_DMA_BOTH);
  uint64_t number = 37;

  memset(&queue, 0, sizeof queue);
  queue.order = 4;
  queue.submissions = memory;
  queue.completions = memory + 2048;
  queue.slots = slots;
  queue.interrupt = 1;
  if (wl_peer_probe(&peer, port) != WL_OK || wl_peer_start(&peer) != WL_OK) return 1;
  if (wl_peer_queue_create(&peer, 0, &queue) != WL_OK) return 1;

  memcpy(memory + 4096, text, sizeof text);
  memset(&copy, 0, sizeof copy);
  copy.opcode = WL_PEER_OPCODE_COPY;
  copy.length = sizeof text;
  copy.source = bus + 4096;
  copy.destination = bus + 8192;
  if (finish(&peer, &copy) != 0 || memcmp(memory + 8192, text, sizeof text) != 0) return 1;
  port->log(port->context, WL_LOG_INFO, (const char*)(memory + 8192));

  memcpy(memory + 12288, &number, sizeof number);
  memset(&add, 0, sizeof add);
  add.opcode = WL_PEER_OPCODE_FETCH_ADD;
  add.length = sizeof number;
  add.operand = 5;
  add.destination = bus + 12288;
  if (finish(&peer, &add) != 0) return 1;
  memcpy(&number, memory + 12288, sizeof number);
  wl_peer_teardown(&peer);
  return number == 42 ? 0 : 1;
}
