/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The C library's header, for portable sources in the kernel, which has none. */
#ifndef WLP_STDINT_H
#define WLP_STDINT_H

#include <linux/limits.h>
#include <linux/types.h>

#define UINT32_C(value) value##U
#define UINT64_C(value) value##ULL
#define UINT32_MAX U32_MAX
#define UINT64_MAX U64_MAX

#endif
