// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/* What programs do with a device: its file. */
#include <linux/dma-map-ops.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#include "wlp.h"

static unsigned int coalesce_completions = 1;
module_param(coalesce_completions, uint, 0644);
MODULE_PARM_DESC(coalesce_completions,
		 "Completions per interrupt, 1 to 255, of queues opened from now on");
static unsigned int coalesce_ns;
module_param(coalesce_ns, uint, 0644);
MODULE_PARM_DESC(coalesce_ns,
		 "Nanoseconds after which there is one with fewer, below 2^24; 0: never");

/* How long a program's commands may go on after it has closed the file: then the device is reset.
 */
#define CLOSE_TIMEOUT (2 * HZ)

/* Queues. */

static void free_memory(struct wlp_file *file)
{
	struct device *dma = &file->device->function->dev;
	const size_t entries = (size_t)1 << file->device->order;

	if (file->submissions)
		dma_free_coherent(dma, entries * WL_PEER_COMMAND_BYTES, file->submissions,
				  file->submissions_bus);
	if (file->completions)
		dma_free_coherent(dma, entries * WL_PEER_COMPLETION_BYTES, file->completions,
				  file->completions_bus);
	file->submissions = NULL;
	file->completions = NULL;
	if (file->shared)
		dma_free_pages(dma, file->shared_bytes, file->shared, file->shared_bus,
			       DMA_BIDIRECTIONAL);
	file->shared = NULL;
	file->shared_bytes = 0;
	kvfree(file->slots);
	file->slots = NULL;
}

void wlp_file_detach(struct wlp_file *file)
{
	wlp_abort(file);
	file->device->files[file->queue] = NULL;
	WRITE_ONCE(file->attached, false);
	free_memory(file);
	wake_up_all(&file->wait);
}

static int create_queue(struct wlp_file *file)
{
	struct wlp_device *device = file->device;
	struct device *dma = &device->function->dev;
	const size_t entries = (size_t)1 << device->order;
	struct wl_peer_queue_options options = {
		.order = device->order,
		.interrupt = 1,
		.coalesce_count = READ_ONCE(coalesce_completions),
		.coalesce_ns = READ_ONCE(coalesce_ns),
	};

	file->submissions = dma_alloc_coherent(dma, entries * WL_PEER_COMMAND_BYTES,
					       &file->submissions_bus, GFP_KERNEL);
	file->completions = dma_alloc_coherent(dma, entries * WL_PEER_COMPLETION_BYTES,
					       &file->completions_bus, GFP_KERNEL);
	file->slots = kvcalloc(entries, sizeof(*file->slots), GFP_KERNEL);
	if (!file->submissions || !file->completions || !file->slots)
		return -ENOMEM;
	options.submissions = file->submissions;
	options.completions = file->completions;
	options.slots = file->slots;
	return wlp_errno(wl_peer_queue_create(&device->peer, file->queue, &options));
}

/* Makes a queue that nobody has the file's. */
static int attach(struct wlp_file *file)
{
	struct wlp_device *device = file->device;
	unsigned int queue = 0;
	int error = 0;

	while (queue < device->queues && device->files[queue])
		++queue;
	if (device->gone)
		return -ENODEV;
	if (queue == device->queues)
		return -EBUSY;
	if (device->cut)
		return -EAGAIN;
	if (device->failed)
		error = wlp_recover(device);
	if (error)
		return error;
	file->queue = queue;
	device->files[queue] = file; /* the port finds the rings by it */
	error = create_queue(file);
	if (error) {
		device->files[queue] = NULL;
		free_memory(file);
		return error;
	}
	WRITE_ONCE(file->attached, true);
	mod_delayed_work(system_wq, &device->watch, HZ);
	return 0;
}

/* The node cannot go away meanwhile: misc_deregister() waits. */
static int wlp_open(struct inode *inode, struct file *opened)
{
	struct wlp_device *device = container_of(opened->private_data, struct wlp_device, node);
	struct wlp_file *file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	int error;

	if (!file)
		return -ENOMEM;
	file->device = device;
	file->mapping = opened->f_mapping;
	INIT_LIST_HEAD(&file->under_way);
	INIT_LIST_HEAD(&file->done);
	init_waitqueue_head(&file->wait);
	mutex_lock(&device->lock);
	error = attach(file);
	mutex_unlock(&device->lock);
	if (error) {
		kfree(file);
		return error;
	}
	kref_get(&device->users);
	opened->private_data = file;
	return nonseekable_open(inode, opened);
}

/* Whether there is nothing to wait for, because of that or as nothing more comes. */
static bool has_done(const struct wlp_file *file, unsigned int count)
{
	return READ_ONCE(file->done_count) >= count || !READ_ONCE(file->attached);
}

/* Waits for what is under way; what does not end takes a reset. Under the lock, which it lends. */
static void drain(struct wlp_file *file)
{
	struct wlp_device *device = file->device;
	const u32 *parts = &device->peer.queue[file->queue].under_way;
	unsigned long until = jiffies + CLOSE_TIMEOUT;

	wlp_look(file);
	while (file->attached && file->under_way_count && time_before(jiffies, until)) {
		const unsigned int done = file->done_count;
		const u32 before = *parts;

		mutex_unlock(&device->lock);
		wait_event_timeout(file->wait, has_done(file, done + 1), HZ / 10);
		mutex_lock(&device->lock);
		wlp_look(file);
		if (*parts != before)
			until = jiffies + CLOSE_TIMEOUT;
	}
	if (file->attached && file->under_way_count)
		wlp_recover(device);
}

static int wlp_release(struct inode *inode, struct file *opened)
{
	struct wlp_file *file = opened->private_data;
	struct wlp_device *device = file->device;
	struct wlp_request *request, *next;

	mutex_lock(&device->lock);
	drain(file);
	if (file->attached) {
		wl_peer_queue_destroy(&device->peer, file->queue, 0);
		wlp_file_detach(file);
	}
	mutex_unlock(&device->lock);
	list_for_each_entry_safe(request, next, &file->done, link)
		wlp_request_destroy(request);
	kfree(file);
	wlp_device_put(device);
	return 0;
}

/* Calls. */

static int do_info(struct wlp_file *file, void __user *to)
{
	struct wlp_device *device = file->device;
	struct warpline_peer_info info = {
		.abi = WARPLINE_PEER_ABI,
		.version = device->version,
		.queue = file->queue,
		.commands = (1U << device->order) - 1,
		.queues = device->queues,
		.buffer_bytes = device->bar_bytes[WLP_BUFFER_BAR],
		.interrupts = READ_ONCE(device->vectors[file->queue].count),
	};
	bool gone;

	mutex_lock(&device->lock);
	gone = device->gone;
	info.failed = device->failed != 0;
	info.recoveries = device->recoveries;
	mutex_unlock(&device->lock);
	if (gone)
		return -ENODEV;
	return copy_to_user(to, &info, sizeof(info)) ? -EFAULT : 0;
}

static int submit_one(struct wlp_file *file, const struct warpline_peer_command __user *from)
{
	struct warpline_peer_command command;
	struct wlp_request *request;
	int error;

	if (copy_from_user(&command, from, sizeof(command)))
		return -EFAULT;
	request = wlp_request_create(file, &command);
	if (IS_ERR(request))
		return PTR_ERR(request);
	mutex_lock(&file->device->lock);
	error = wlp_request_submit(file, request);
	mutex_unlock(&file->device->lock);
	if (error)
		wlp_request_destroy(request);
	return error;
}

static long do_submit(struct wlp_file *file, const void __user *from)
{
	const struct warpline_peer_command __user *commands;
	struct warpline_peer_submit submit;
	unsigned int done = 0;
	int error = 0;

	if (copy_from_user(&submit, from, sizeof(submit)))
		return -EFAULT;
	/* What is returned is an int. */
	if (submit.reserved || submit.count == 0 || submit.count > INT_MAX)
		return -EINVAL;
	commands = u64_to_user_ptr(submit.commands);
	while (done < submit.count && !error) {
		error = fatal_signal_pending(current) ? -EINTR : submit_one(file, commands + done);
		if (!error)
			++done;
		cond_resched();
	}
	if (done == 0)
		return error;
	mutex_lock(&file->device->lock);
	if (file->attached)
		wlp_ring(file);
	mutex_unlock(&file->device->lock);
	return done;
}

/* Gives up to `count` of `done` to the program, and puts back what its memory does not take. */
static int give(struct wlp_file *file, struct list_head *done,
		struct warpline_peer_completion __user *completions)
{
	struct wlp_request *request, *next;
	unsigned int left = 0;
	int given = 0;

	list_for_each_entry_safe(request, next, done, link) {
		if (copy_to_user(completions + given, &request->completion,
				 sizeof(request->completion)))
			break;
		++given;
		list_del(&request->link);
		wlp_request_destroy(request);
	}
	if (list_empty(done))
		return given;
	list_for_each_entry(request, done, link)
		++left;
	mutex_lock(&file->device->lock);
	list_splice(done, &file->done);
	WRITE_ONCE(file->done_count, file->done_count + left);
	mutex_unlock(&file->device->lock);
	return given ? given : -EFAULT;
}

/* Moves what is done to `to`, at most `count`. Returns whether there was anything. */
static bool collect(struct wlp_file *file, unsigned int count, struct list_head *to, bool *gone)
{
	mutex_lock(&file->device->lock);
	wlp_look(file);
	while (count-- && file->done_count) {
		list_move_tail(file->done.next, to);
		WRITE_ONCE(file->done_count, file->done_count - 1);
	}
	*gone = !file->attached;
	mutex_unlock(&file->device->lock);
	return !list_empty(to);
}

static long do_wait(struct wlp_file *file, const void __user *from, bool nonblocking)
{
	struct warpline_peer_wait wait;
	LIST_HEAD(done);
	long left;
	bool gone;

	if (copy_from_user(&wait, from, sizeof(wait)))
		return -EFAULT;
	if (wait.reserved || wait.count == 0 || wait.count > INT_MAX || wait.at_least > wait.count)
		return -EINVAL;
	if (nonblocking)
		wait.at_least = 0;
	/* The running jiffy counts for nothing. */
	left = wait.timeout_us == WARPLINE_PEER_FOREVER ? MAX_SCHEDULE_TIMEOUT
							: usecs_to_jiffies(wait.timeout_us) + 1;
	for (;;) {
		if (wait.at_least)
			left = wait_event_interruptible_timeout(
				file->wait, has_done(file, wait.at_least), left);
		/* Looks into the ring, too: an interrupt may have been lost. */
		if (collect(file, wait.count, &done, &gone))
			return give(file, &done, u64_to_user_ptr(wait.completions));
		if (gone)
			return -ENODEV;
		if (!wait.at_least)
			return -EAGAIN;
		if (left <= 0)
			return left ? -EINTR : -ETIMEDOUT;
		/* Somebody else has taken them. */
	}
}

static int share(struct wlp_file *file, size_t bytes)
{
	struct device *dma = &file->device->function->dev;
	struct page *pages;

	if (!file->attached)
		return -ENODEV;
	if (file->shared)
		return -EBUSY;
	/* It is mapped as any memory, which is coherent where the bus is. */
	if (!dev_is_dma_coherent(dma))
		return -EOPNOTSUPP;
	pages = dma_alloc_pages(dma, bytes, &file->shared_bus, DMA_BIDIRECTIONAL,
				GFP_KERNEL | __GFP_NOWARN);
	if (!pages)
		return -ENOMEM;
	memset(page_address(pages), 0, bytes);
	file->shared = pages;
	file->shared_bytes = bytes;
	return 0;
}

static int do_shared(struct wlp_file *file, void __user *at)
{
	struct warpline_peer_shared shared;
	int error;

	if (copy_from_user(&shared, at, sizeof(shared)))
		return -EFAULT;
	if (shared.bytes == 0 || shared.bytes > WARPLINE_PEER_MOST_SHARED)
		return -EINVAL;
	shared.bytes = PAGE_ALIGN(shared.bytes);
	mutex_lock(&file->device->lock);
	error = share(file, shared.bytes);
	mutex_unlock(&file->device->lock);
	if (error)
		return error;
	return copy_to_user(at, &shared, sizeof(shared)) ? -EFAULT : 0;
}

/* Bytes of a register whose reading changes nothing; 0: it is none. */
static unsigned int readable(u32 offset)
{
	switch (offset) {
	case WL_PEER_IDENTITY_OFFSET:
	case WL_PEER_VERSION_OFFSET:
	case WL_PEER_CAPABILITY_OFFSET:
	case WL_PEER_PRESENT_OFFSET:
	case WL_PEER_CONTROL_OFFSET:
	case WL_PEER_STATUS_OFFSET:
	case WL_PEER_ERROR_OFFSET:
	case WL_PEER_BAD_OFFSET_OFFSET:
	case WL_PEER_SCRATCH_OFFSET(0):
	case WL_PEER_SCRATCH_OFFSET(1):
	case WL_PEER_EVENT_LEVEL_OFFSET:
		return 4;
	case WL_PEER_ERROR_ADDRESS_OFFSET:
	case WL_PEER_COMMANDS_OFFSET:
		return 8;
	default:
		return 0;
	}
}

static bool is_writable(u32 offset)
{
	return offset == WL_PEER_SCRATCH_OFFSET(0) || offset == WL_PEER_SCRATCH_OFFSET(1);
}

/* Under the lock. */
static int access_register(struct wlp_device *device, struct warpline_peer_access *access,
			   bool write)
{
	u64 begin;

	if (device->gone)
		return -ENODEV;
	if (device->cut)
		return -EAGAIN;
	begin = ktime_get_ns();
	if (write)
		device->port.write(device, WL_PEER_BAR, access->offset, access->bytes,
				   access->value);
	else
		access->value =
			device->port.read(device, WL_PEER_BAR, access->offset, access->bytes);
	access->ns = ktime_get_ns() - begin;
	return 0;
}

static int do_access(struct wlp_file *file, void __user *at, bool write)
{
	struct warpline_peer_access access;
	int error;

	if (copy_from_user(&access, at, sizeof(access)))
		return -EFAULT;
	if (readable(access.offset) == 0 || (write && !is_writable(access.offset)))
		return -EPERM;
	if (access.bytes != readable(access.offset) || (write && access.value > U32_MAX))
		return -EINVAL;
	mutex_lock(&file->device->lock);
	error = access_register(file->device, &access, write);
	mutex_unlock(&file->device->lock);
	if (error)
		return error;
	return copy_to_user(at, &access, sizeof(access)) ? -EFAULT : 0;
}

/* Under the lock. */
static int take_event(struct wlp_device *device, struct warpline_peer_event *event)
{
	u32 level;

	if (device->gone)
		return -ENODEV;
	if (device->cut)
		return -EAGAIN;
	level = device->port.read(device, WL_PEER_BAR, WL_PEER_EVENT_LEVEL_OFFSET, 4);
	if (level > WL_PEER_EVENT_FIFO_DEPTH) /* all ones: nobody answers */
		return -EIO;
	if (level == 0)
		return -EAGAIN;
	event->value = device->port.read(device, WL_PEER_BAR, WL_PEER_EVENT_FIFO_OFFSET, 4);
	event->left = level - 1;
	return 0;
}

static int do_event(struct wlp_file *file, void __user *to)
{
	struct warpline_peer_event event;
	int error;

	mutex_lock(&file->device->lock);
	error = take_event(file->device, &event);
	mutex_unlock(&file->device->lock);
	if (error)
		return error;
	return copy_to_user(to, &event, sizeof(event)) ? -EFAULT : 0;
}

static int do_reset(struct wlp_file *file)
{
	struct wlp_device *device = file->device;
	int error;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	mutex_lock(&device->lock);
	if (device->gone)
		error = -ENODEV;
	else if (device->cut)
		error = -EAGAIN;
	else
		error = wlp_recover(device);
	mutex_unlock(&device->lock);
	return error;
}

static long wlp_ioctl(struct file *opened, unsigned int call, unsigned long argument)
{
	struct wlp_file *file = opened->private_data;
	void __user *at = (void __user *)argument;

	switch (call) {
	case WARPLINE_PEER_IOC_INFO:
		return do_info(file, at);
	case WARPLINE_PEER_IOC_WAIT:
		return do_wait(file, at, (opened->f_flags & O_NONBLOCK) != 0);
	case WARPLINE_PEER_IOC_READ_REGISTER:
		return do_access(file, at, false);
	case WARPLINE_PEER_IOC_SUBMIT:
	case WARPLINE_PEER_IOC_SHARED:
	case WARPLINE_PEER_IOC_WRITE_REGISTER:
	case WARPLINE_PEER_IOC_EVENT:
	case WARPLINE_PEER_IOC_RESET:
		break;
	default:
		return -ENOTTY;
	}
	if (!(opened->f_mode & FMODE_WRITE))
		return -EBADF;
	switch (call) {
	case WARPLINE_PEER_IOC_SUBMIT:
		return do_submit(file, at);
	case WARPLINE_PEER_IOC_SHARED:
		return do_shared(file, at);
	case WARPLINE_PEER_IOC_WRITE_REGISTER:
		return do_access(file, at, true);
	case WARPLINE_PEER_IOC_EVENT:
		return do_event(file, at);
	default:
		return do_reset(file);
	}
}

static __poll_t wlp_poll(struct file *opened, struct poll_table_struct *table)
{
	struct wlp_file *file = opened->private_data;
	struct wlp_device *device = file->device;
	__poll_t events = 0;

	poll_wait(opened, &file->wait, table);
	mutex_lock(&device->lock);
	wlp_look(file);
	if (file->done_count)
		events |= EPOLLIN | EPOLLRDNORM;
	if (device->gone)
		events |= EPOLLHUP | EPOLLERR;
	else if (device->failed)
		events |= EPOLLERR;
	else if (file->under_way_count + file->done_count < (1U << device->order) - 1)
		events |= EPOLLOUT | EPOLLWRNORM;
	mutex_unlock(&device->lock);
	return events;
}

/* Mappings. */

#define BUFFER_PAGE (WARPLINE_PEER_MAP_BUFFER >> PAGE_SHIFT)

/* The page frame at a page of the file, or 0. Under the lock. */
static unsigned long frame_of(struct wlp_file *file, u64 page)
{
	struct wlp_device *device = file->device;

	if (!file->attached)
		return 0;
	if (page >= BUFFER_PAGE) {
		page -= BUFFER_PAGE;
		if (page >= device->bar_bytes[WLP_BUFFER_BAR] >> PAGE_SHIFT)
			return 0;
		return (pci_resource_start(device->function, WLP_BUFFER_BAR) >> PAGE_SHIFT) + page;
	}
	if (page >= file->shared_bytes >> PAGE_SHIFT)
		return 0;
	return page_to_pfn(file->shared) + page;
}

/*
 * Pages are put in one by one as they are touched, and not by mmap(): so whatever is removed finds
 * every mapping that it has to take away.
 */
static vm_fault_t wlp_fault(struct vm_fault *fault)
{
	struct wlp_file *file = fault->vma->vm_private_data;
	vm_fault_t result = VM_FAULT_SIGBUS;
	unsigned long frame;

	mutex_lock(&file->device->lock);
	frame = frame_of(file, fault->pgoff);
	if (frame)
		result = vmf_insert_pfn(fault->vma, fault->address, frame);
	mutex_unlock(&file->device->lock);
	return result;
}

static const struct vm_operations_struct mapping_operations = {
	.fault = wlp_fault,
};

static void set_flags(struct vm_area_struct *area)
{
	const unsigned long flags = VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP;

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_set(area, flags);
#else
	area->vm_flags |= flags;
#endif
}

static int wlp_mmap(struct file *opened, struct vm_area_struct *area)
{
	struct wlp_file *file = opened->private_data;
	struct wlp_device *device = file->device;
	int error = 0;

	if (!(area->vm_flags & VM_SHARED))
		return -EINVAL;
	mutex_lock(&device->lock);
	if (device->gone)
		error = -ENODEV;
	else if (!frame_of(file, area->vm_pgoff) ||
		 !frame_of(file, area->vm_pgoff + vma_pages(area) - 1))
		error = -EINVAL;
	mutex_unlock(&device->lock);
	if (error)
		return error;
	if (area->vm_pgoff >= BUFFER_PAGE)
		area->vm_page_prot = device->buffer_combines
					     ? pgprot_writecombine(area->vm_page_prot)
					     : pgprot_noncached(area->vm_page_prot);
	set_flags(area);
	area->vm_private_data = file;
	area->vm_ops = &mapping_operations;
	return 0;
}

const struct file_operations wlp_operations = {
	.owner = THIS_MODULE,
	.open = wlp_open,
	.release = wlp_release,
	.unlocked_ioctl = wlp_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = wlp_poll,
	.mmap = wlp_mmap,
};
