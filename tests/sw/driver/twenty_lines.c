/* The smallest driver of the peer: reset, one queue, one NOTIFY. Assumes a little-endian processor (the rings
 * are little-endian and are accessed as 64-bit words), and that BAR 0 has been given an address. */
#include "sw/driver/wl_port.h"
#include "wl_peer_regs.h"

int twenty_lines(const struct wl_port* port, void* ring_memory, uint32_t value) {
  /* PCI command register (offset 4, 2 bytes): bit 1 memory space, bit 2 bus master. */
  port->write(port->context, WL_SPACE_CONFIG, 4, 2, port->read(port->context, WL_SPACE_CONFIG, 4, 2) | 6);

  /* Reset, until all of STATUS, so RESETTING too, reads 0. If it never does (or nobody answers: all ones),
   * what follows has no effect and the wait for the completion fails. */
  port->write(port->context, WL_PEER_BAR, WL_PEER_CONTROL_OFFSET, 4, WL_PEER_CONTROL_RESET_MASK);
  for (int i = 0; i < 1000 && port->read(port->context, WL_PEER_BAR, WL_PEER_STATUS_OFFSET, 4) != 0; i++)
    port->delay(port->context, 100000);
  port->write(port->context, WL_PEER_BAR, WL_PEER_CONTROL_OFFSET, 4, WL_PEER_CONTROL_ENABLE_MASK);

  /* Queue 0: ORDER (bits 15:8) 2, so 4 entries; ENABLE (bit 0) only if there is memory for it. No interrupt,
   * so COALESCE keeps its reset value. A queue that was refused shows as a completion that never comes. */
  const uint64_t bus = port->dma_map(port->context, ring_memory, 4096, WL_DMA_BOTH);
  port->write(port->context, WL_PEER_BAR, WL_PEER_SQ_BASE_OFFSET(0), 8, bus);
  port->write(port->context, WL_PEER_BAR, WL_PEER_CQ_BASE_OFFSET(0), 8, bus + 2048);
  port->write(port->context, WL_PEER_BAR, WL_PEER_QUEUE_CONTROL_OFFSET(0), 4, (2u << 8) | (bus != 0));

  /* Entry 0: opcode NOTIFY in byte 0, FLAGS and ID 0; all else but the operand stays 0. */
  volatile uint64_t* const ring = ring_memory;
  ring[WL_PEER_COMMAND_OPCODE_OFFSET / 8] = WL_PEER_OPCODE_NOTIFY;
  ring[WL_PEER_COMMAND_OPERAND_OFFSET / 8] = value;
  port->barrier(port->context);
  port->write(port->context, WL_PEER_BAR, WL_PEER_SQ_TAIL_DOORBELL_OFFSET(0), 4, 1);

  /* Second word of completion 0 (word 2048 / 8 + 1): ID 15:0, STATUS 31:16, SQ_HEAD 47:32, PHASE 63:48, whose
   * bit 0 is 1 in the first round. The device writes it in one piece, and STATUS is in the same word as
   * PHASE: no read barrier between them. */
  for (int i = 0; i < 1000 && (ring[257] >> 48 & 1) == 0; i++) port->delay(port->context, 10000);
  return (ring[257] >> 48 & 1) == 0 || (ring[257] >> 16 & 0xFFFF) != WL_PEER_STATUS_CODE_OK ||
         port->read(port->context, WL_PEER_BAR, WL_PEER_EVENT_FIFO_OFFSET, 4) != value;
}
