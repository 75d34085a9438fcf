// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/* The eight functions of wl_port.h. */
#include <linux/delay.h>
#include <linux/io.h>

#include "wlp.h"

#ifndef CONFIG_64BIT
#error The port makes one access of 8 bytes, which takes a 64-bit processor.
#endif

static u64 all_ones(unsigned int bytes)
{
	return bytes >= 8 ? U64_MAX : (1ULL << 8 * bytes) - 1;
}

static u64 config_read(struct pci_dev *function, u64 offset, unsigned int bytes)
{
	u32 value = U32_MAX;
	u16 half = U16_MAX;
	u8 byte = U8_MAX;

	switch (bytes) {
	case 1:
		pci_read_config_byte(function, offset, &byte);
		return byte;
	case 2:
		pci_read_config_word(function, offset, &half);
		return half;
	case 4:
		pci_read_config_dword(function, offset, &value);
		return value;
	default: /* configuration space has no accesses of 8 bytes */
		return all_ones(bytes);
	}
}

static void config_write(struct pci_dev *function, u64 offset, unsigned int bytes, u64 value)
{
	switch (bytes) {
	case 1:
		pci_write_config_byte(function, offset, value);
		break;
	case 2:
		pci_write_config_word(function, offset, value);
		break;
	case 4:
		pci_write_config_dword(function, offset, value);
		break;
	}
}

/* NULL: nobody is there. */
static void __iomem *place_of(struct wlp_device *device, unsigned int space, u64 offset,
			      unsigned int bytes)
{
	if (space >= WLP_BARS || !device->bar[space] || bytes > device->bar_bytes[space] ||
	    offset > device->bar_bytes[space] - bytes)
		return NULL;
	return device->bar[space] + offset;
}

static u64 port_read(void *context, unsigned int space, u64 offset, unsigned int bytes)
{
	struct wlp_device *device = context;
	void __iomem *place;

	if (device->cut)
		return all_ones(bytes);
	if (space == WL_SPACE_CONFIG)
		return config_read(device->function, offset, bytes);
	place = place_of(device, space, offset, bytes);
	if (!place)
		return all_ones(bytes);
	switch (bytes) {
	case 1:
		return readb(place);
	case 2:
		return readw(place);
	case 4:
		return readl(place);
	default:
		return readq(place);
	}
}

static void port_write(void *context, unsigned int space, u64 offset, unsigned int bytes, u64 value)
{
	struct wlp_device *device = context;
	void __iomem *place;

	if (device->cut)
		return;
	if (space == WL_SPACE_CONFIG) {
		config_write(device->function, offset, bytes, value);
		return;
	}
	place = place_of(device, space, offset, bytes);
	if (!place)
		return;
	switch (bytes) {
	case 1:
		writeb(value, place);
		break;
	case 2:
		writew(value, place);
		break;
	case 4:
		writel(value, place);
		break;
	default:
		writeq(value, place);
		break;
	}
}

static void port_barrier(void *context)
{
	/* Both ways, and for stores that a write-combining mapping has gathered. */
	mb();
}

/* The driver has nothing mapped but rings, and these are coherent memory of ours. */
static u64 port_dma_map(void *context, void *memory, size_t bytes, unsigned int direction)
{
	struct wlp_device *device = context;
	unsigned int i;

	for (i = 0; i < device->queues; ++i) {
		const struct wlp_file *file = device->files[i];
		const size_t entries = (size_t)1 << device->order;

		if (!file)
			continue;
		if (memory == file->submissions && bytes <= entries * WL_PEER_COMMAND_BYTES)
			return file->submissions_bus;
		if (memory == file->completions && bytes <= entries * WL_PEER_COMPLETION_BYTES)
			return file->completions_bus;
	}
	return 0;
}

static void port_dma_unmap(void *context, u64 bus, size_t bytes)
{
	/* Coherent memory is the device's until wlp_file_detach() frees it. */
}

static int port_wait_irq(void *context, unsigned int vector, u32 timeout_us)
{
	struct wlp_device *device = context;
	struct wlp_vector *of = &device->vectors[vector];

	if (vector >= device->queues)
		return 0;
	return wait_event_timeout(of->wait, atomic_xchg(&of->came, 0),
				  usecs_to_jiffies(timeout_us)) != 0;
}

static void port_delay(void *context, u32 nanoseconds)
{
	fsleep(DIV_ROUND_UP(nanoseconds, 1000));
}

static void port_log(void *context, enum wl_log_level level, const char *text)
{
	struct device *of = &((struct wlp_device *)context)->function->dev;

	switch (level) {
	case WL_LOG_ERROR:
		dev_err_ratelimited(of, "%s\n", text);
		break;
	case WL_LOG_WARNING:
		dev_warn_ratelimited(of, "%s\n", text);
		break;
	case WL_LOG_INFO:
		dev_info_ratelimited(of, "%s\n", text);
		break;
	}
}

void wlp_port_init(struct wlp_device *device)
{
	device->port = (struct wl_port){
		.context = device,
		.read = port_read,
		.write = port_write,
		.barrier = port_barrier,
		.dma_map = port_dma_map,
		.dma_unmap = port_dma_unmap,
		.wait_irq = port_wait_irq,
		.delay = port_delay,
		.log = port_log,
	};
}
