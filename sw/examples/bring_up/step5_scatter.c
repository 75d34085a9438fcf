/* Step 5: a copy from three pieces into one, by a scatter list. */
#include <string.h>

#include "bring_up.h"

int main(void) {
  uint64_t bus;
  struct wl_peer_completion completion;
  struct wl_peer_command command = {.opcode = WL_PEER_OPCODE_COPY, .source_entries = 3, .length = 12};
  start(NULL, 0);
  char* memory = share(4096, &bus);
  const uint64_t pieces[3][2] = {{bus + 100, 5}, {bus + 300, 1}, {bus + 200, 6}};
  memcpy(memory + 100, "Hello", 5);
  memcpy(memory + 200, "world!", 6);
  memcpy(memory + 300, " ", 1);
  for (unsigned i = 0; i < 3; ++i) {
    memcpy(memory + 1024 + i * WL_PEER_SCATTER_BYTES + WL_PEER_SCATTER_ADDRESS_OFFSET, &pieces[i][0], 8);
    memcpy(memory + 1024 + i * WL_PEER_SCATTER_BYTES + WL_PEER_SCATTER_LENGTH_OFFSET, &pieces[i][1], 4);
  }
  command.source = bus + 1024;
  command.destination = bus + 2048;

  const unsigned status = run(&command, &completion);
  printf("status %u, \"%.12s\"\n", status, memory + 2048);
  const int right = memcmp(memory + 2048, "Hello world!", 12) == 0;
  stop();
  return right ? 0 : 1;
}
