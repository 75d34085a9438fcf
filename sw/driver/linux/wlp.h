/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What the parts of the module share.
 *
 * wl_peer.h is for one thread at a time, which `lock` of the device makes sure of. Inside it nobody
 * touches the memory of processes: a fault there may need mmap_lock, under which the mappings'
 * faults take `lock`.
 */
#ifndef WLP_H
#define WLP_H

#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/scatterlist.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "warpline_peer.h"
#include "sw/driver/wl_peer.h"

#define WLP_BARS 6
#define WLP_BUFFER_BAR 4

struct wlp_device;

/* An interrupt of a queue. */
struct wlp_vector {
	struct wlp_device *device;
	unsigned int queue;
	int irq;
	atomic_t came; /* since it was waited for last */
	u64 time;      /* of the last, in ns; 0: none yet */
	u64 count;
	wait_queue_head_t wait; /* of wait_irq(): programs wait at their file */
};

/* A command's memory in a process. */
struct wlp_memory {
	struct mm_struct *mm; /* whose; NULL: the command has no such memory */
	struct page **pages;
	unsigned int count;
	enum dma_data_direction direction;
	bool mapped;
	struct sg_table table;
};

/* A scatter list in memory of the device's pool. */
struct wlp_list {
	struct wlp_list *next;
	void *memory;
	dma_addr_t bus;
};

/* A program's command, of as many commands of the device as it takes. */
struct wlp_request {
	struct list_head link; /* in under_way or done of its file */
	struct warpline_peer_command command;
	struct warpline_peer_completion completion;
	struct wlp_memory source;
	struct wlp_memory destination;
	struct wl_peer_piece *source_pieces;
	struct wl_peer_piece *destination_pieces;
	struct wl_peer_split split;
	struct wlp_list *lists;
	unsigned int parts; /* not completed */
};

/* An open file and its queue. */
struct wlp_file {
	struct wlp_device *device;
	struct address_space *mapping;
	unsigned int queue;
	bool attached; /* the queue exists: until it is closed, or the device removed */
	struct list_head under_way;
	struct list_head done;
	unsigned int under_way_count;
	unsigned int done_count;
	wait_queue_head_t wait; /* something is done, or the device is gone */
	void *submissions;
	void *completions;
	dma_addr_t submissions_bus;
	dma_addr_t completions_bus;
	struct wl_peer_slot *slots;
	struct page *shared;
	dma_addr_t shared_bus;
	size_t shared_bytes;
};

struct wlp_device {
	struct kref users; /* the function, while it is there, and each open file */
	struct pci_dev *function;
	struct miscdevice node;
	char name[24];
	int number;
	struct mutex lock; /* of all that is here and in its files */
	struct wl_port port;
	struct wl_peer peer;
	void __iomem *bar[WLP_BARS];
	u64 bar_bytes[WLP_BARS];
	bool buffer_combines;
	unsigned int order;  /* of all rings */
	unsigned int queues; /* that can be opened: each has a vector */
	u32 version;
	bool gone;  /* removed: nothing may be done with it any more */
	bool cut;   /* not to be touched until its reset is over: port reads all ones */
	int failed; /* errno of a recovery that has failed; 0: it works */
	u64 recoveries;
	struct wlp_file *files[WL_PEER_QUEUES];
	struct wlp_vector vectors[WL_PEER_QUEUES];
	struct dma_pool *lists;
	unsigned int list_entries;
	struct delayed_work watch;
};

/* wlp_port.c */
void wlp_port_init(struct wlp_device *device);

/* wlp_pci.c */
void wlp_device_put(struct wlp_device *device);
/* The errno for a result of wl_peer.h. */
int wlp_errno(enum wl_result result);
/*
 * Resets the device and ends all commands as ABORTED. If it cannot be reset it may make no more
 * requests afterwards, so that their memory is free in any case. Under the lock.
 */
int wlp_recover(struct wlp_device *device);

/* wlp_file.c */
extern const struct file_operations wlp_operations;
/* Takes a file's queue and memory away from a device that cannot touch it any more. Under the lock.
 */
void wlp_file_detach(struct wlp_file *file);

/* wlp_request.c */
/* Makes a request of a command, and pins its memory. Not under the lock. */
struct wlp_request *wlp_request_create(struct wlp_file *file,
				       const struct warpline_peer_command *command);
/* Not under the lock either, and its memory must not be the device's. */
void wlp_request_destroy(struct wlp_request *request);
/* Maps its memory and puts it into the ring. An error leaves nothing behind. Under the lock. */
int wlp_request_submit(struct wlp_file *file, struct wlp_request *request);
/* Tells the device of what was submitted. Under the lock. */
void wlp_ring(struct wlp_file *file);
/*
 * Finds what the device has completed. False: something that belongs to no command, so that the
 * device is to be recovered. Under the lock.
 */
bool wlp_take(struct wlp_file *file);
/* The same, and recovers. */
void wlp_look(struct wlp_file *file);
/* Ends all that is under way, which the device cannot touch any more, as ABORTED. Under the lock.
 */
void wlp_abort(struct wlp_file *file);

#endif
