/* Step 1: is there anybody? Reads two registers, and knows nothing else. */
#include <stdio.h>

#include "warpline/platform/host/wl_machine.h"
#include "wl_peer_regs.h"

int main(void) {
  struct wl_machine* machine = wl_machine_create(NULL);
  const struct wl_port* port = wl_machine_port(machine, 0);
  const uint32_t identity = (uint32_t)port->read(port->context, WL_PEER_BAR, WL_PEER_IDENTITY_OFFSET, 4);
  const uint32_t version = (uint32_t)port->read(port->context, WL_PEER_BAR, WL_PEER_VERSION_OFFSET, 4);

  printf("IDENTITY 0x%08X, VERSION %u.%u\n", identity, version >> WL_PEER_VERSION_MAJOR_SHIFT,
         version & WL_PEER_VERSION_MINOR_MASK);
  wl_machine_print_log(machine, 0, 0);
  wl_machine_destroy(machine);
  return identity == WL_PEER_IDENTITY_VALUE ? 0 : 1;
}
