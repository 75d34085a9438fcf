/* Step 2: reset and enable it, by its registers. */
#include <stdio.h>

#include "warpline/platform/host/wl_machine.h"
#include "wl_peer_regs.h"

static const struct wl_port* port;

static uint32_t read32(uint32_t offset) {
  return (uint32_t)port->read(port->context, WL_PEER_BAR, offset, 4);
}

static void write32(uint32_t offset, uint32_t value) {
  port->write(port->context, WL_PEER_BAR, offset, 4, value);
}

int main(void) {
  struct wl_machine* machine = wl_machine_create(NULL);
  port = wl_machine_port(machine, 0);

  write32(WL_PEER_CONTROL_OFFSET, WL_PEER_CONTROL_RESET_MASK);
  while ((read32(WL_PEER_STATUS_OFFSET) & WL_PEER_STATUS_RESETTING_MASK) != 0)
    port->delay(port->context, 1000);
  write32(WL_PEER_CONTROL_OFFSET, WL_PEER_CONTROL_ENABLE_MASK);

  const uint32_t status = read32(WL_PEER_STATUS_OFFSET);
  printf("STATUS 0x%X: %s\n", status, (status & WL_PEER_STATUS_READY_MASK) != 0 ? "ready" : "not ready");
  wl_machine_destroy(machine);
  return (status & WL_PEER_STATUS_READY_MASK) != 0 ? 0 : 1;
}
