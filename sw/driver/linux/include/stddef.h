/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The C library's header, for portable sources in the kernel, which has none. */
#ifndef WLP_STDDEF_H
#define WLP_STDDEF_H

#include <linux/stddef.h>
#include <linux/types.h>

#endif
