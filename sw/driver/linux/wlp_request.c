// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/* Commands of programs: checked, their memory pinned and mapped, divided, completed. */
#include <linux/dmapool.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "wlp.h"

/* Programs and the device use the same numbers. */
static_assert(WARPLINE_PEER_COPY == WL_PEER_OPCODE_COPY);
static_assert(WARPLINE_PEER_FILL == WL_PEER_OPCODE_FILL);
static_assert(WARPLINE_PEER_READ == WL_PEER_OPCODE_READ);
static_assert(WARPLINE_PEER_WRITE == WL_PEER_OPCODE_WRITE);
static_assert(WARPLINE_PEER_FETCH_ADD == WL_PEER_OPCODE_FETCH_ADD);
static_assert(WARPLINE_PEER_NOTIFY == WL_PEER_OPCODE_NOTIFY);
static_assert(WARPLINE_PEER_UNSUPPORTED_REQUEST == WL_PEER_STATUS_CODE_UNSUPPORTED_REQUEST);
static_assert(WARPLINE_PEER_TIMEOUT == WL_PEER_STATUS_CODE_TIMEOUT);
static_assert(WARPLINE_PEER_ABORTED == WL_PEER_STATUS_CODE_ABORTED);

#define OF_HOST (BIT(WARPLINE_PEER_MEMORY) | BIT(WARPLINE_PEER_SHARED))

/* What an opcode may have. */
static const struct {
	u8 sources; /* kinds, as bits */
	u8 destinations;
	u64 most_operand;
} rules[] = {
	[WARPLINE_PEER_NOP] = { BIT(WARPLINE_PEER_NOTHING), BIT(WARPLINE_PEER_NOTHING), 0 },
	[WARPLINE_PEER_COPY] = { OF_HOST, OF_HOST, 0 },
	[WARPLINE_PEER_FILL] = { BIT(WARPLINE_PEER_NOTHING), OF_HOST, U64_MAX },
	[WARPLINE_PEER_READ] = { OF_HOST, BIT(WARPLINE_PEER_DEVICE), 0 },
	[WARPLINE_PEER_WRITE] = { BIT(WARPLINE_PEER_DEVICE), OF_HOST, 0 },
	[WARPLINE_PEER_FETCH_ADD] = { BIT(WARPLINE_PEER_NOTHING), OF_HOST, U64_MAX },
	[WARPLINE_PEER_NOTIFY] = { BIT(WARPLINE_PEER_NOTHING), BIT(WARPLINE_PEER_NOTHING),
				   U32_MAX },
};

static bool is_fine(const struct warpline_peer_command *c)
{
	if (c->opcode >= ARRAY_SIZE(rules) || c->reserved ||
	    c->source_kind > WARPLINE_PEER_DEVICE || c->destination_kind > WARPLINE_PEER_DEVICE)
		return false;
	if (!(rules[c->opcode].sources & BIT(c->source_kind)) ||
	    !(rules[c->opcode].destinations & BIT(c->destination_kind)) ||
	    c->operand > rules[c->opcode].most_operand)
		return false;
	if ((c->source_kind == WARPLINE_PEER_NOTHING && c->source) ||
	    (c->destination_kind == WARPLINE_PEER_NOTHING && c->destination))
		return false;
	if (c->opcode == WARPLINE_PEER_NOP || c->opcode == WARPLINE_PEER_NOTIFY)
		return c->length == 0;
	if (c->opcode == WARPLINE_PEER_FETCH_ADD)
		return (c->length == 4 || c->length == 8) && c->destination % c->length == 0;
	return c->length >= 1 && c->length <= WARPLINE_PEER_MOST_BYTES;
}

/* Memory of a process. */

static void forget_memory(struct wlp_memory *memory)
{
	if (!memory->mm)
		return;
	sg_free_table(&memory->table);
	if (memory->count)
		unpin_user_pages_dirty_lock(memory->pages, memory->count,
					    memory->direction != DMA_TO_DEVICE);
	kvfree(memory->pages);
	mmdrop(memory->mm);
	memory->mm = NULL;
}

static unsigned int pages_of(u64 address, u32 length)
{
	return DIV_ROUND_UP(offset_in_page(address) + length, PAGE_SIZE);
}

/* Counts it as InfiniBand's memory is, that devices have for as long as programs like. */
static int count_pinned(struct mm_struct *mm, unsigned int pages)
{
	if (atomic64_add_return(pages, &mm->pinned_vm) <= rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT ||
	    capable(CAP_IPC_LOCK))
		return 0;
	atomic64_sub(pages, &mm->pinned_vm);
	return -ENOMEM;
}

static int pin(struct wlp_memory *memory, u64 address, u32 length,
	       enum dma_data_direction direction)
{
	const unsigned int flags = FOLL_LONGTERM | (direction != DMA_TO_DEVICE ? FOLL_WRITE : 0);
	const unsigned int pages = pages_of(address, length);
	int result;

	if (address != (unsigned long)address || !access_ok(u64_to_user_ptr(address), length))
		return -EFAULT;
	memory->pages = kvmalloc_array(pages, sizeof(*memory->pages), GFP_KERNEL_ACCOUNT);
	if (!memory->pages)
		return -ENOMEM;
	memory->mm = current->mm;
	mmgrab(memory->mm);
	memory->direction = direction;
	while (memory->count < pages) {
		result = pin_user_pages_fast((address & PAGE_MASK) + (u64)memory->count * PAGE_SIZE,
					     pages - memory->count, flags,
					     memory->pages + memory->count);
		if (result <= 0)
			return result ? result : -EFAULT;
		memory->count += result;
	}
	return sg_alloc_table_from_pages(&memory->table, memory->pages, pages,
					 offset_in_page(address), length, GFP_KERNEL_ACCOUNT);
}

static int create_memory(struct wlp_memory *memory, u64 address, u32 length,
			 enum dma_data_direction direction)
{
	const unsigned int pages = pages_of(address, length);
	int error;

	error = count_pinned(current->mm, pages);
	if (error)
		return error;
	error = pin(memory, address, length, direction);
	if (error) {
		forget_memory(memory);
		atomic64_sub(pages, &current->mm->pinned_vm);
	}
	return error;
}

static void destroy_memory(struct wlp_memory *memory)
{
	if (memory->mm)
		atomic64_sub(memory->count, &memory->mm->pinned_vm);
	forget_memory(memory);
}

/* Requests. */

static int create_side(u8 kind, u64 address, u32 length, enum dma_data_direction direction,
		       struct wlp_memory *memory, struct wl_peer_piece **pieces)
{
	unsigned int count = 1;
	int error;

	if (kind == WARPLINE_PEER_NOTHING)
		return 0;
	if (kind == WARPLINE_PEER_MEMORY) {
		error = create_memory(memory, address, length, direction);
		if (error)
			return error;
		count = memory->table.orig_nents;
	}
	*pieces = kvmalloc_array(count, sizeof(**pieces), GFP_KERNEL_ACCOUNT);
	return *pieces ? 0 : -ENOMEM;
}

struct wlp_request *wlp_request_create(struct wlp_file *file,
				       const struct warpline_peer_command *command)
{
	struct wlp_request *request;
	int error;

	if (!is_fine(command))
		return ERR_PTR(-EINVAL);
	request = kzalloc(sizeof(*request), GFP_KERNEL_ACCOUNT);
	if (!request)
		return ERR_PTR(-ENOMEM);
	request->command = *command;
	request->completion.cookie = command->cookie;
	error = create_side(command->source_kind, command->source, command->length, DMA_TO_DEVICE,
			    &request->source, &request->source_pieces);
	if (!error)
		error = create_side(command->destination_kind, command->destination,
				    command->length,
				    command->opcode == WARPLINE_PEER_FETCH_ADD ? DMA_BIDIRECTIONAL
									       : DMA_FROM_DEVICE,
				    &request->destination, &request->destination_pieces);
	if (error) {
		wlp_request_destroy(request);
		return ERR_PTR(error);
	}
	return request;
}

void wlp_request_destroy(struct wlp_request *request)
{
	destroy_memory(&request->source);
	destroy_memory(&request->destination);
	kvfree(request->source_pieces);
	kvfree(request->destination_pieces);
	kfree(request);
}

/* Takes the device's hands off. */
static void release(struct wlp_device *device, struct wlp_request *request)
{
	struct device *dma = &device->function->dev;

	if (request->source.mapped)
		dma_unmap_sgtable(dma, &request->source.table, request->source.direction, 0);
	if (request->destination.mapped)
		dma_unmap_sgtable(dma, &request->destination.table, request->destination.direction,
				  0);
	request->source.mapped = false;
	request->destination.mapped = false;
	while (request->lists) {
		struct wlp_list *list = request->lists;

		request->lists = list->next;
		dma_pool_free(device->lists, list->memory, list->bus);
		kfree(list);
	}
}

static int map_side(struct wlp_file *file, u8 kind, u64 offset, u32 length,
		    struct wlp_memory *memory, struct wl_peer_piece *pieces,
		    struct wl_peer_pieces *made)
{
	struct wlp_device *device = file->device;
	struct scatterlist *entry;
	unsigned int i;
	u64 from = 0;
	u64 bytes;
	int error;

	made->piece = pieces;
	switch (kind) {
	case WARPLINE_PEER_NOTHING:
		return 0;
	case WARPLINE_PEER_MEMORY:
		error = dma_map_sgtable(&device->function->dev, &memory->table, memory->direction,
					0);
		if (error)
			return error == -EIO ? -ENOMEM : error;
		memory->mapped = true;
		for_each_sgtable_dma_sg(&memory->table, entry, i) {
			pieces[i].bus = sg_dma_address(entry);
			pieces[i].bytes = sg_dma_len(entry);
		}
		made->count = memory->table.nents;
		return 0;
	case WARPLINE_PEER_SHARED:
		from = file->shared_bus;
		bytes = file->shared_bytes;
		break;
	default:
		bytes = device->bar_bytes[WLP_BUFFER_BAR];
		break;
	}
	if (length > bytes || offset > bytes - length)
		return -EINVAL;
	pieces[0].bus = from + offset;
	pieces[0].bytes = length;
	made->count = 1;
	return 0;
}

static int make_lists(struct wlp_device *device, struct wlp_request *request, unsigned int count)
{
	while (count--) {
		struct wlp_list *list = kmalloc(sizeof(*list), GFP_KERNEL);

		if (!list)
			return -ENOMEM;
		list->memory = dma_pool_alloc(device->lists, GFP_KERNEL, &list->bus);
		if (!list->memory) {
			kfree(list);
			return -ENOMEM;
		}
		list->next = request->lists;
		request->lists = list;
	}
	return 0;
}

/* The next list that was made, for a side in several pieces. */
static struct wl_peer_list next_list(const struct wl_peer_pieces *pieces, struct wlp_list **from)
{
	struct wl_peer_list list = {};

	if (pieces->count > 1) {
		list.memory = (*from)->memory;
		list.bus = (*from)->bus;
		*from = (*from)->next;
	}
	return list;
}

/* Puts it into the ring, in parts. Nothing can fail here once the first part is in. */
static enum wl_result put(struct wlp_file *file, struct wlp_request *request)
{
	struct wl_peer *peer = &file->device->peer;
	struct wl_peer_split *split = &request->split;
	struct wlp_list *lists = request->lists;
	struct wl_peer_command part;
	enum wl_result result;

	if (split->rest.length == 0) {
		result = wl_peer_submit(peer, file->queue, &split->rest);
		request->parts = result == WL_OK;
		return result;
	}
	for (;;) {
		const struct wl_peer_list source = next_list(&split->source, &lists);
		const struct wl_peer_list destination = next_list(&split->destination, &lists);

		result = wl_peer_split_next(split, &source, &destination, &part);
		if (result == WL_OK)
			result = wl_peer_submit(peer, file->queue, &part);
		if (result != WL_OK)
			return result;
		++request->parts;
		if (split->rest.length == 0)
			return WL_OK;
	}
}

static int submit(struct wlp_file *file, struct wlp_request *request)
{
	const struct warpline_peer_command *c = &request->command;
	struct wlp_device *device = file->device;
	const unsigned int room = (1U << device->order) - 1;
	struct wl_peer_split *split = &request->split;
	unsigned int parts, sides;
	enum wl_result result;
	int error;

	error = map_side(file, c->source_kind, c->source, c->length, &request->source,
			 request->source_pieces, &split->source);
	if (!error)
		error = map_side(file, c->destination_kind, c->destination, c->length,
				 &request->destination, request->destination_pieces,
				 &split->destination);
	if (error)
		return error;
	split->entries = device->list_entries;
	split->rest.opcode = c->opcode;
	split->rest.length = c->length;
	split->rest.operand = c->operand;
	split->rest.cookie = (uintptr_t)request;
	/* Each part but the last uses up a whole list of one of both sides. */
	parts = split->source.count / split->entries + split->destination.count / split->entries +
		1;
	if (parts > room)
		return -EMSGSIZE;
	if (parts > room - device->peer.queue[file->queue].under_way)
		return -EAGAIN;
	sides = (split->source.count > 1) + (split->destination.count > 1);
	error = make_lists(device, request, sides * parts);
	if (error)
		return error;
	result = put(file, request);
	if (request->parts == 0)
		return wlp_errno(result);
	if (WARN_ON_ONCE(result != WL_OK))
		request->completion.status = WARPLINE_PEER_ABORTED;
	return 0;
}

int wlp_request_submit(struct wlp_file *file, struct wlp_request *request)
{
	struct wlp_device *device = file->device;
	int error;

	if (device->gone)
		return -ENODEV;
	if (device->failed)
		return device->failed;
	if (device->cut || file->under_way_count + file->done_count >= (1U << device->order) - 1)
		return -EAGAIN;
	error = submit(file, request);
	if (error) {
		release(device, request);
		return error;
	}
	list_add_tail(&request->link, &file->under_way);
	++file->under_way_count;
	return 0;
}

void wlp_ring(struct wlp_file *file)
{
	struct wlp_device *device = file->device;
	const u64 now = ktime_get_ns();
	struct wlp_request *request;

	list_for_each_entry_reverse(request, &file->under_way, link) {
		if (request->completion.rung_ns)
			break;
		request->completion.rung_ns = now;
	}
	/* A device that does not take it is found by whoever looks after it. */
	if (wl_peer_ring(&device->peer, file->queue) != WL_OK)
		mod_delayed_work(system_wq, &device->watch, 0);
}

/* Completions. */

static void finish(struct wlp_file *file, struct wlp_request *request)
{
	const u64 interrupt = READ_ONCE(file->device->vectors[file->queue].time);
	struct warpline_peer_completion *completion = &request->completion;

	release(file->device, request);
	completion->found_ns = ktime_get_ns();
	completion->interrupt_ns = interrupt >= completion->rung_ns ? interrupt : 0;
	list_move_tail(&request->link, &file->done);
	--file->under_way_count;
	WRITE_ONCE(file->done_count, file->done_count + 1);
	wake_up(&file->wait);
}

bool wlp_take(struct wlp_file *file)
{
	struct wl_peer_completion part;
	enum wl_result result;

	for (;;) {
		struct wlp_request *request;

		result = wl_peer_poll(&file->device->peer, file->queue, &part);
		if (result != WL_OK)
			return result != WL_CORRUPT;
		request = (struct wlp_request *)(uintptr_t)part.cookie;
		if (part.status && !request->completion.status)
			request->completion.status = part.status;
		request->completion.result = part.result;
		if (--request->parts == 0)
			finish(file, request);
	}
}

void wlp_look(struct wlp_file *file)
{
	if (file->attached && !file->device->cut && !wlp_take(file))
		wlp_recover(file->device);
}

void wlp_abort(struct wlp_file *file)
{
	struct wlp_request *request, *next;

	list_for_each_entry_safe(request, next, &file->under_way, link) {
		if (!request->completion.status)
			request->completion.status = WARPLINE_PEER_ABORTED;
		finish(file, request);
	}
}
