/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the driver needs of whatever it runs on: eight functions. It touches hardware through nothing else, so
 * the same driver runs on the model, in a kernel, and on bare metal. */
#ifndef WL_PORT_H
#define WL_PORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where an access goes: a BAR of the function, by its number, or its configuration space. */
#define WL_SPACE_CONFIG 0x100u
/* Or memory that another function has behind a BAR, such as a GPU's, which native code does not reach by
 * pointers: the offset is the address that the BAR and what is in it have for the processor. */
#define WL_SPACE_BUS 0x101u

/* What the device does to mapped memory. */
#define WL_DMA_TO_DEVICE 1u
#define WL_DMA_FROM_DEVICE 2u
#define WL_DMA_BOTH 3u

enum wl_log_level { WL_LOG_ERROR, WL_LOG_WARNING, WL_LOG_INFO };

struct wl_port {
  void* context; /* handed to each function */

  /* Reads `bytes` (1, 2, 4 or 8, naturally aligned) at `offset` of a space, exactly once: a number, in the
   * low bits of what is returned, whose other bits are 0. If nobody answers all of those low bits are 1. */
  uint64_t (*read)(void* context, unsigned space, uint64_t offset, unsigned bytes);
  /* Writes the low bits of `value` likewise. It may be on its way when the call returns; writes arrive in the
   * order in which they are made. Only where the platform's owner has mapped device memory write-combining
   * are they joined and put off: until barrier(), a read, or a write elsewhere. */
  void (*write)(void* context, unsigned space, uint64_t offset, unsigned bytes, uint64_t value);
  /* What was written to memory before it is visible to the device before any write() after it arrives, and
   * what was read from memory before it has been read by then; what is read from memory after it is not older
   * than what read() returned, or was read from memory, before it. */
  void (*barrier)(void* context);
  /* Lets the device touch memory, as WL_DMA_* says. Returns its bus address, or 0 if that cannot be.
   * The address is as aligned as the memory is, up to a page. Pieces of one page may be mapped apart, and one
   * mapping may hold whatever the direction fits. */
  uint64_t (*dma_map)(void* context, void* memory, size_t bytes, unsigned direction);
  /* Takes that away again: `bus` and `bytes` as they were mapped. */
  void (*dma_unmap)(void* context, uint64_t bus, size_t bytes);
  /* Waits for the interrupt of an MSI-X vector, at most `timeout_us` microseconds; one that came since the
   * last wait counts. Returns 1 if there was one, 0 otherwise. */
  int (*wait_irq)(void* context, unsigned vector, uint32_t timeout_us);
  /* Lets at least that much time pass. */
  void (*delay)(void* context, uint32_t nanoseconds);
  /* Says something to whoever looks after the machine. */
  void (*log)(void* context, enum wl_log_level level, const char* text);
};

#ifdef __cplusplus
}
#endif
#endif
