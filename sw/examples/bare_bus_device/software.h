/* What runs on the processor. */
#ifndef SOFTWARE_H
#define SOFTWARE_H

#include <stdint.h>

#include "wl_port.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory that processor and device share: 8-byte words, of which the first 4 KiB become the rings. */
enum { MEMORY_BYTES = 16384 };

/* Drives the device behind the port. Returns 0 if everything came out as it should. */
int software(const struct wl_port* port, uint8_t* memory);

#ifdef __cplusplus
}
#endif
#endif
