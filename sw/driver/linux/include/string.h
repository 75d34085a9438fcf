/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The C library's header, for portable sources in the kernel, which has none. */
#ifndef WLP_STRING_H
#define WLP_STRING_H

#include <linux/string.h>

#endif
