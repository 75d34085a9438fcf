/* Step 6: what goes wrong, and the way back: memory that the device may not touch, a device that stops, one
 * that is pulled out. */
#include "bring_up.h"

int main(void) {
  struct wl_peer_completion completion;
  const struct wl_peer_command forbidden = {.opcode = WL_PEER_OPCODE_READ, .source = 0x1000, .length = 64};
  const struct wl_peer_command nop = {.opcode = WL_PEER_OPCODE_NOP};
  uint32_t errors;
  start(NULL, 0);

  printf("forbidden memory: status %u", run(&forbidden, &completion));
  must(wl_peer_check(&peer, &errors), "check");
  printf(", ERROR 0x%X\n", errors);

  wl_machine_remove(machine, 0);
  must(wl_peer_submit(&peer, 0, &nop), "submit");
  must(wl_peer_ring(&peer, 0), "doorbell");
  const enum wl_result gone = wl_peer_wait(&peer, 0, 100, &completion);
  printf("pulled out: %s\n", wl_result_text(gone));
  wl_peer_teardown(&peer);

  wl_machine_insert(machine, 0);
  port = wl_machine_port(machine, 0);
  must(wl_peer_probe(&peer, port), "probe");
  must(wl_peer_start(&peer), "start");
  printf("put back: %u queues\n", peer.queues);
  stop();
  return gone == WL_GONE ? 0 : 1;
}
