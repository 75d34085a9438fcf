/* Step 4: the same by interrupt. Nothing is asked of the device while the program waits. */
#include "bring_up.h"

int main(void) {
  uint64_t bus;
  uint64_t* counter;
  struct wl_peer_completion completion;
  struct wl_peer_command command = {.opcode = WL_PEER_OPCODE_FETCH_ADD, .length = 8, .operand = 5};
  start(NULL, 1);
  counter = share(8, &bus);
  *counter = 37;
  command.destination = bus;

  const unsigned status = run(&command, &completion);
  printf("status %u, was %llu, is %llu\n", status, (unsigned long long)completion.result,
         (unsigned long long)*counter);
  const int right = completion.result == 37 && *counter == 42;
  stop();
  return right ? 0 : 1;
}
