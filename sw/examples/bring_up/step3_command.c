/* Step 3: one command, with the driver: it fills memory, and the program looks for the completion again and
 * again. */
#include <stdio.h>

#include "warpline/platform/host/wl_machine.h"
#include "wl_peer.h"

int main(void) {
  struct wl_machine* machine = wl_machine_create(NULL);
  const struct wl_port* port = wl_machine_port(machine, 0);
  uint64_t* memory = wl_machine_memory(machine, 4096);
  static struct wl_peer_slot slots[16];
  struct wl_peer peer;
  struct wl_peer_queue_options queue = {.order = 4, .slots = slots};
  struct wl_peer_command command = {
      .opcode = WL_PEER_OPCODE_FILL, .length = 4096, .operand = 0x1122334455667788};
  struct wl_peer_completion completion;

  queue.submissions = wl_machine_memory(machine, 16 * WL_PEER_COMMAND_BYTES);
  queue.completions = wl_machine_memory(machine, 16 * WL_PEER_COMPLETION_BYTES);
  if (wl_peer_probe(&peer, port) != WL_OK || wl_peer_start(&peer) != WL_OK) return 1;
  if (wl_peer_queue_create(&peer, 0, &queue) != WL_OK) return 1;

  command.destination = port->dma_map(port->context, memory, 4096, WL_DMA_FROM_DEVICE);
  wl_peer_submit(&peer, 0, &command);
  wl_peer_ring(&peer, 0);
  if (wl_peer_wait(&peer, 0, 100, &completion) != WL_OK) return 1;

  printf("status %u, memory 0x%016llX, after %llu cycles\n", completion.status,
         (unsigned long long)memory[511], (unsigned long long)wl_machine_cycles(machine));
  const int right = memory[511] == 0x1122334455667788;
  wl_peer_teardown(&peer);
  wl_machine_destroy(machine);
  return right ? 0 : 1;
}
