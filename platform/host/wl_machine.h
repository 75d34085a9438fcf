/* A whole simulated machine for a C program: a host, a root complex, and peer devices behind it. What a
 * driver engineer needs to run a driver before there is a device: two calls, and the port of wl_port.h. */
#ifndef WL_MACHINE_H
#define WL_MACHINE_H

#include "sw/driver/wl_port.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__ /* a shared library exports what follows */
#pragma GCC visibility push(default)
#endif

struct wl_machine;

struct wl_machine_options {
  unsigned peers;      /* devices; 0 counts as 1 */
  size_t memory_bytes; /* of the host; 0: 64 MiB */
  int loosely_timed;   /* fast, with times that add up and no contention; else every packet has its cycle */
  unsigned spread_cycles; /* commands are completed up to so much later, at random: out of order */
  size_t log_entries;     /* accesses that the log of each device keeps; 0: 65536 */
};

/* A machine whose firmware has found the devices and set them up. `options`: NULL for the defaults. NULL if
 * there is no such machine; stderr says why. */
struct wl_machine* wl_machine_create(const struct wl_machine_options* options);
void wl_machine_destroy(struct wl_machine* machine);

/* The port of a device, the first being 0; NULL if there is no such device. What drivers log goes to stderr.
 */
const struct wl_port* wl_machine_port(struct wl_machine* machine, unsigned device);
/* Memory of the machine, aligned to a page; NULL if none is left. It lives as long as the machine. */
void* wl_machine_memory(struct wl_machine* machine, size_t bytes);
/* How a device's memory is seen: each access by itself and in order, or with stores that may be joined into
 * fewer and put off until the port's barrier(), a read, or a write elsewhere, and with loads that may read
 * ahead. */
enum wl_mapping { WL_MAPPING_UNCACHED, WL_MAPPING_WRITE_COMBINING };
/* Maps whole pages of 4 KiB of a BAR; at first, and after wl_machine_insert(), all is uncached. Returns 1 if
 * it is done, 0 if not: stderr says why. Only a prefetchable BAR can be write-combining. */
int wl_machine_map(struct wl_machine* machine, unsigned device, unsigned bar, uint64_t offset, uint64_t bytes,
                   enum wl_mapping mapping);
/* Cycles since power-on. */
uint64_t wl_machine_cycles(const struct wl_machine* machine);

/* Pulls a device out while it works, or puts it back, as new; then firmware looks again, and ports must be
 * asked for anew. */
void wl_machine_remove(struct wl_machine* machine, unsigned device);
void wl_machine_insert(struct wl_machine* machine, unsigned device);
/* What arrived at a device's BARs, oldest first, as lines of text or of JSON, to stdout. If there was more
 * than its log keeps, the first line says how many older accesses were forgotten: of JSON, as "forgotten". */
void wl_machine_print_log(const struct wl_machine* machine, unsigned device, int json);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
