/* Step 7: a thousand commands, as many under way as the ring holds, completed in any order. */
#include "bring_up.h"

int main(void) {
  const struct wl_machine_options options = {.spread_cycles = 2000};
  static unsigned char seen[1000];
  uint64_t bus;
  unsigned submitted = 0, completed = 0, in_order = 0, next = 0;
  start(&options, 1);
  uint32_t* counter = share(4, &bus);

  while (completed < 1000) {
    struct wl_peer_command command = {.opcode = WL_PEER_OPCODE_FETCH_ADD, .length = 4, .operand = 1};
    struct wl_peer_completion completion;
    command.destination = bus;
    command.cookie = submitted;
    while (submitted < 1000 && wl_peer_submit(&peer, 0, &command) == WL_OK) command.cookie = ++submitted;
    must(wl_peer_ring(&peer, 0), "doorbell");
    must(wl_peer_wait(&peer, 0, 1000, &completion), "wait");
    if (completion.status != WL_PEER_STATUS_CODE_OK || seen[completion.cookie]++ != 0) return 1;
    in_order += completion.cookie == next++;
    ++completed;
  }
  printf("counter %u, %u of 1000 completions in order, %llu cycles\n", *counter, in_order,
         (unsigned long long)wl_machine_cycles(machine));
  const int right = *counter == 1000;
  stop();
  return right ? 0 : 1;
}
