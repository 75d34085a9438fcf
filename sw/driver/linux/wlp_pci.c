// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/* Functions of the bus: found, looked after, recovered, removed. */
#include <linux/dmapool.h>
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "wlp.h"

#define WLP_VENDOR 0x1AF0
#define WLP_DEVICE 0x0001
#define WLP_CLASS 0x088000

static unsigned int queue_order = 10;
module_param(queue_order, uint, 0444);
MODULE_PARM_DESC(queue_order,
		 "Queues hold 2^queue_order - 1 commands, or as many as the device allows");
static unsigned int command_timeout_ms = 30000;
module_param(command_timeout_ms, uint, 0644);
MODULE_PARM_DESC(command_timeout_ms, "The device is reset if a command takes longer");

static DEFINE_IDA(numbers);

int wlp_errno(enum wl_result result)
{
	switch (result) {
	case WL_OK:
	case WL_NONE:
		return 0;
	case WL_BAD_ARGUMENT:
		return -EINVAL;
	case WL_GONE:
	case WL_NOT_OURS:
		return -ENODEV;
	case WL_TIMEOUT:
		return -ETIMEDOUT;
	case WL_FULL:
		return -EAGAIN;
	case WL_UNMAPPED:
		return -ENOMEM;
	case WL_STOPPED:
	case WL_CORRUPT:
		break;
	}
	return -EIO;
}

/* Recovery. */

int wlp_recover(struct wlp_device *device)
{
	enum wl_result result;
	unsigned int i;

	++device->recoveries;
	if (!device->cut)
		pci_set_master(device->function);
	result = wl_peer_recover(&device->peer);
	if (result != WL_OK)
		pci_clear_master(device->function);
	if (result == WL_OK)
		device->failed = 0;
	else
		device->failed = result == WL_GONE && !device->cut ? -ENODEV : -EIO;
	for (i = 0; i < device->queues; ++i) {
		struct wlp_file *file = device->files[i];

		if (!file || !file->attached)
			continue;
		wlp_take(file);
		wake_up_all(&file->wait); /* poll() tells of the failure */
	}
	return device->failed;
}

static bool is_overdue(struct wlp_file *file)
{
	const struct wlp_request *oldest =
		list_first_entry_or_null(&file->under_way, struct wlp_request, link);
	const u64 limit = (u64)READ_ONCE(command_timeout_ms) * NSEC_PER_MSEC;

	return oldest && oldest->completion.rung_ns &&
	       ktime_get_ns() - oldest->completion.rung_ns > limit;
}

/* Looks for lost interrupts, commands that take too long, and a device that stopped. */
static void look_after(struct wlp_device *device)
{
	unsigned int i, under_way = 0;
	enum wl_result result;
	bool overdue = false;
	u32 errors;

	for (i = 0; i < device->queues; ++i) {
		struct wlp_file *file = device->files[i];

		if (!file)
			continue;
		wlp_look(file);
		under_way += file->under_way_count;
		overdue = overdue || is_overdue(file);
	}
	if (under_way == 0 || device->failed)
		return;
	result = wl_peer_check(&device->peer, &errors);
	if (result != WL_STOPPED && result != WL_GONE && !overdue)
		return;
	dev_err_ratelimited(&device->function->dev, "%s, errors %#x\n",
			    overdue ? "a command takes too long" : wl_result_text(result), errors);
	wlp_recover(device);
}

static bool is_open(const struct wlp_device *device)
{
	unsigned int i;

	for (i = 0; i < device->queues; ++i)
		if (device->files[i])
			return true;
	return false;
}

static void wlp_watch(struct work_struct *work)
{
	struct wlp_device *device = container_of(to_delayed_work(work), struct wlp_device, watch);

	mutex_lock(&device->lock);
	if (!device->gone && !device->cut)
		look_after(device);
	if (!device->gone && is_open(device))
		mod_delayed_work(system_wq, &device->watch, HZ);
	mutex_unlock(&device->lock);
}

/* Interrupts. */

static irqreturn_t wlp_interrupt(int irq, void *data)
{
	struct wlp_vector *vector = data;

	WRITE_ONCE(vector->time, ktime_get_ns());
	WRITE_ONCE(vector->count, vector->count + 1);
	atomic_set(&vector->came, 1);
	wake_up(&vector->wait);
	return IRQ_WAKE_THREAD;
}

static irqreturn_t wlp_interrupt_thread(int irq, void *data)
{
	struct wlp_vector *vector = data;
	struct wlp_device *device = vector->device;

	mutex_lock(&device->lock);
	if (device->files[vector->queue])
		wlp_look(device->files[vector->queue]);
	mutex_unlock(&device->lock);
	return IRQ_HANDLED;
}

static void free_vectors(struct wlp_device *device)
{
	unsigned int i;

	for (i = 0; i < device->queues; ++i)
		if (device->vectors[i].irq)
			free_irq(device->vectors[i].irq, &device->vectors[i]);
	pci_free_irq_vectors(device->function);
}

/* A queue's vector has its number. */
static int make_vectors(struct wlp_device *device)
{
	unsigned int i;
	int error;
	int count;

	count = pci_alloc_irq_vectors(device->function, 1,
				      min(device->peer.queues, device->peer.vectors), PCI_IRQ_MSIX);
	if (count < 0)
		return count;
	device->queues = count;
	for (i = 0; i < device->queues; ++i) {
		struct wlp_vector *vector = &device->vectors[i];
		const int irq = pci_irq_vector(device->function, i);

		vector->device = device;
		vector->queue = i;
		init_waitqueue_head(&vector->wait);
		error = request_threaded_irq(irq, wlp_interrupt, wlp_interrupt_thread, 0,
					     device->name, vector);
		if (error) {
			free_vectors(device);
			return error;
		}
		vector->irq = irq;
	}
	return 0;
}

/* Coming and going. */

static void unmap_bars(struct wlp_device *device)
{
	unsigned int i;

	for (i = 0; i < WLP_BARS; ++i)
		if (device->bar[i])
			pci_iounmap(device->function, device->bar[i]);
}

/* Registers as they are, the buffer write-combining if reading it has no side effects. */
static int map_bars(struct wlp_device *device)
{
	struct pci_dev *function = device->function;

	device->buffer_combines =
		(pci_resource_flags(function, WLP_BUFFER_BAR) & IORESOURCE_PREFETCH) != 0;
	device->bar[WL_PEER_BAR] = pci_iomap(function, WL_PEER_BAR, 0);
	device->bar[WLP_BUFFER_BAR] = device->buffer_combines
					      ? pci_iomap_wc(function, WLP_BUFFER_BAR, 0)
					      : pci_iomap(function, WLP_BUFFER_BAR, 0);
	device->bar_bytes[WL_PEER_BAR] = pci_resource_len(function, WL_PEER_BAR);
	device->bar_bytes[WLP_BUFFER_BAR] = pci_resource_len(function, WLP_BUFFER_BAR);
	if (!device->bar[WL_PEER_BAR] || !device->bar[WLP_BUFFER_BAR])
		return -ENOMEM;
	return device->bar_bytes[WL_PEER_BAR] >= WL_PEER_BYTES ? 0 : -ENODEV;
}

static int start(struct wlp_device *device)
{
	const struct wl_peer *peer = &device->peer;
	enum wl_result result;

	result = wl_peer_probe(&device->peer, &device->port);
	if (result == WL_OK)
		result = wl_peer_start(&device->peer);
	if (result != WL_OK) {
		dev_err(&device->function->dev, "%s\n", wl_result_text(result));
		return wlp_errno(result);
	}
	if (peer->queues == 0 || peer->vectors == 0 || peer->max_order == 0)
		return -ENODEV;
	device->version = device->port.read(device, WL_PEER_BAR, WL_PEER_VERSION_OFFSET, 4);
	device->order = clamp(queue_order, 1U, peer->max_order);
	device->list_entries = max(peer->scatter, 1U);
	device->lists = dma_pool_create("warpline_peer", &device->function->dev,
					device->list_entries * WL_PEER_SCATTER_BYTES, 64, 0);
	if (!device->lists)
		return -ENOMEM;
	pci_set_master(device->function);
	return 0;
}

static int make_node(struct wlp_device *device)
{
	device->node.minor = MISC_DYNAMIC_MINOR;
	device->node.name = device->name;
	device->node.fops = &wlp_operations;
	device->node.parent = &device->function->dev;
	return misc_register(&device->node);
}

static void device_free(struct kref *users)
{
	kfree(container_of(users, struct wlp_device, users));
}

void wlp_device_put(struct wlp_device *device)
{
	kref_put(&device->users, device_free);
}

static int set_up(struct wlp_device *device)
{
	struct pci_dev *function = device->function;
	int error;

	error = pci_enable_device(function);
	if (error)
		return error;
	error = pci_request_regions(function, "warpline_peer");
	if (error)
		goto disable;
	error = dma_set_mask_and_coherent(&function->dev, DMA_BIT_MASK(64));
	if (error)
		goto release;
	dma_set_max_seg_size(&function->dev, UINT_MAX);
	error = map_bars(device);
	if (!error)
		error = start(device);
	if (error)
		goto unmap;
	error = make_vectors(device);
	if (error)
		goto stop;
	pci_save_state(function);
	error = make_node(device);
	if (error)
		goto free_vectors;
	return 0;

free_vectors:
	free_vectors(device);
stop:
	wl_peer_teardown(&device->peer);
	pci_clear_master(function);
unmap:
	dma_pool_destroy(device->lists);
	unmap_bars(device);
release:
	pci_release_regions(function);
disable:
	pci_disable_device(function);
	return error;
}

static int wlp_probe(struct pci_dev *function, const struct pci_device_id *id)
{
	struct wlp_device *device = kzalloc(sizeof(*device), GFP_KERNEL);
	int error;

	if (!device)
		return -ENOMEM;
	kref_init(&device->users);
	mutex_init(&device->lock);
	INIT_DELAYED_WORK(&device->watch, wlp_watch);
	device->function = function;
	device->number = ida_alloc(&numbers, GFP_KERNEL);
	if (device->number < 0) {
		error = device->number;
		goto put;
	}
	snprintf(device->name, sizeof(device->name), "warpline_peer%d", device->number);
	wlp_port_init(device);
	pci_set_drvdata(function, device);
	error = set_up(device);
	if (error)
		goto free_number;
	dev_info(&function->dev, "%s: %u queues of %u commands\n", device->name, device->queues,
		 (1U << device->order) - 1);
	return 0;

free_number:
	ida_free(&numbers, device->number);
put:
	wlp_device_put(device);
	return error;
}

/* Ends everything, whether the device is still there or was pulled out. Under the lock. */
static void end(struct wlp_device *device)
{
	unsigned int i;

	device->gone = true;
	wl_peer_teardown(&device->peer);
	pci_clear_master(device->function);
	for (i = 0; i < device->queues; ++i) {
		struct wlp_file *file = device->files[i];

		if (!file)
			continue;
		/* No page comes back, as there is no queue. */
		WRITE_ONCE(file->attached, false);
		unmap_mapping_range(file->mapping, 0, 0, 1);
		wlp_file_detach(file);
	}
}

static void wlp_remove(struct pci_dev *function)
{
	struct wlp_device *device = pci_get_drvdata(function);

	misc_deregister(&device->node);
	mutex_lock(&device->lock);
	end(device);
	mutex_unlock(&device->lock);
	cancel_delayed_work_sync(&device->watch);
	free_vectors(device);
	dma_pool_destroy(device->lists);
	unmap_bars(device);
	pci_release_regions(function);
	pci_disable_device(function);
	ida_free(&numbers, device->number);
	wlp_device_put(device);
}

/* Before another kernel, or none, takes over. */
static void wlp_shutdown(struct pci_dev *function)
{
	struct wlp_device *device = pci_get_drvdata(function);

	mutex_lock(&device->lock);
	end(device);
	mutex_unlock(&device->lock);
}

/* Errors of the bus, and resets that others ask for. */

/* Leaves the device alone from now on. What it should do is lost. */
static void cut_off(struct wlp_device *device)
{
	device->cut = true;
	wlp_recover(device);
}

static int back_to_work(struct wlp_device *device)
{
	device->cut = false;
	pci_restore_state(device->function);
	pci_save_state(device->function); /* for the next time */
	return wlp_recover(device);
}

static pci_ers_result_t error_detected(struct pci_dev *function, pci_channel_state_t state)
{
	struct wlp_device *device = pci_get_drvdata(function);

	if (state == pci_channel_io_normal)
		return PCI_ERS_RESULT_CAN_RECOVER;
	mutex_lock(&device->lock);
	cut_off(device);
	mutex_unlock(&device->lock);
	return state == pci_channel_io_frozen ? PCI_ERS_RESULT_NEED_RESET
					      : PCI_ERS_RESULT_DISCONNECT;
}

static pci_ers_result_t mmio_enabled(struct pci_dev *function)
{
	struct wlp_device *device = pci_get_drvdata(function);
	int error;

	mutex_lock(&device->lock);
	error = wlp_recover(device);
	mutex_unlock(&device->lock);
	return error ? PCI_ERS_RESULT_NEED_RESET : PCI_ERS_RESULT_RECOVERED;
}

static pci_ers_result_t slot_reset(struct pci_dev *function)
{
	struct wlp_device *device = pci_get_drvdata(function);
	int error;

	mutex_lock(&device->lock);
	error = back_to_work(device);
	mutex_unlock(&device->lock);
	return error ? PCI_ERS_RESULT_DISCONNECT : PCI_ERS_RESULT_RECOVERED;
}

/* The device is still there: it stops before its memory is taken away. */
static void reset_prepare(struct pci_dev *function)
{
	struct wlp_device *device = pci_get_drvdata(function);

	mutex_lock(&device->lock);
	wlp_recover(device);
	device->cut = true;
	mutex_unlock(&device->lock);
}

static void reset_done(struct pci_dev *function)
{
	struct wlp_device *device = pci_get_drvdata(function);

	mutex_lock(&device->lock);
	back_to_work(device);
	mutex_unlock(&device->lock);
}

static const struct pci_error_handlers error_handlers = {
	.error_detected = error_detected,
	.mmio_enabled = mmio_enabled,
	.slot_reset = slot_reset,
	.reset_prepare = reset_prepare,
	.reset_done = reset_done,
};

static const struct pci_device_id ids[] = { {
						    PCI_DEVICE(WLP_VENDOR, WLP_DEVICE),
						    .class = WLP_CLASS,
						    .class_mask = 0xFFFFFF,
					    },
					    {} };
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver wlp_driver = {
	.name = "warpline_peer",
	.id_table = ids,
	.probe = wlp_probe,
	.remove = wlp_remove,
	.shutdown = wlp_shutdown,
	.err_handler = &error_handlers,
};
module_pci_driver(wlp_driver);

MODULE_DESCRIPTION("Warpline's queue device");
MODULE_AUTHOR("The Warpline authors");
MODULE_LICENSE("GPL");
