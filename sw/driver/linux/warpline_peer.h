/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR Apache-2.0 */
/*
 * What programs see of the driver of Warpline's queue device.
 *
 * Each device is a file, /dev/warpline_peer0 and so on. Who opens it gets a queue of the device,
 * which is the open file's until it is closed: by everybody who has it, as after a fork, and with
 * its mappings gone. EBUSY: all queues are taken.
 *
 * A program submits commands and takes their completions, which come in any order; a command's
 * buffers belong to the device in between. Anything that a program does wrong is an error of the
 * call, and none of the device. All calls may be made by several threads at once.
 *
 * All calls answer ENODEV once the device was removed; completions that are there can still be
 * taken then, those of commands that were under way with the status ABORTED. What was mapped is
 * gone (SIGBUS).
 *
 * poll() says POLLIN if there is a completion, POLLOUT if there is room for a command, POLLERR if
 * the device works no more, and POLLHUP if it was removed.
 */
#ifndef WARPLINE_PEER_H
#define WARPLINE_PEER_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Of this header: a driver with another number takes other calls. */
#define WARPLINE_PEER_ABI 1

/* What a command does; the device's manual says more. */
enum warpline_peer_opcode {
	WARPLINE_PEER_NOP = 0,
	WARPLINE_PEER_COPY = 1,	     /* of `length` bytes from source to destination */
	WARPLINE_PEER_FILL = 2,	     /* of the destination with the 8 bytes of the operand */
	WARPLINE_PEER_READ = 3,	     /* from the source into the device's buffer */
	WARPLINE_PEER_WRITE = 4,     /* of the device's buffer to the destination */
	WARPLINE_PEER_FETCH_ADD = 5, /* of the operand to an aligned destination of 4 or 8 bytes */
	WARPLINE_PEER_NOTIFY = 6,    /* an event with the operand, after all commands before it */
};

/* Where a source or destination lies. */
enum warpline_peer_kind {
	WARPLINE_PEER_NOTHING = 0, /* the command has none: its address is 0 */
	WARPLINE_PEER_MEMORY = 1,  /* memory of the process, at any address */
	WARPLINE_PEER_SHARED = 2,  /* shared memory (WARPLINE_PEER_IOC_SHARED), at an offset */
	WARPLINE_PEER_DEVICE = 3,  /* the device's buffer, at an offset: as READ and WRITE want */
};

/* How a command ended. */
enum warpline_peer_status {
	WARPLINE_PEER_OK = 0,
	WARPLINE_PEER_BAD_OPCODE = 1,
	WARPLINE_PEER_BAD_LENGTH = 2,
	WARPLINE_PEER_BAD_SCATTER = 3,
	WARPLINE_PEER_BAD_ALIGNMENT = 4,
	WARPLINE_PEER_UNSUPPORTED_REQUEST = 5,
	WARPLINE_PEER_COMPLETER_ABORT = 6,
	WARPLINE_PEER_POISONED = 7,
	WARPLINE_PEER_TIMEOUT = 8,
	WARPLINE_PEER_ABORTED = 9, /* the device was reset or removed before it was done */
};

#define WARPLINE_PEER_MOST_BYTES (1U << 24)  /* of a command */
#define WARPLINE_PEER_MOST_SHARED (1U << 22) /* of shared memory */

struct warpline_peer_info {
	__u32 abi;	    /* WARPLINE_PEER_ABI */
	__u32 version;	    /* the device's register VERSION */
	__u32 queue;	    /* the file's */
	__u32 commands;	    /* that may be submitted and not taken at once */
	__u32 queues;	    /* of the device, that can be opened */
	__u32 failed;	    /* 1: the device works no more; WARPLINE_PEER_IOC_RESET may help */
	__u64 buffer_bytes; /* of the device's buffer */
	__u64 interrupts;   /* of this queue since the driver was loaded */
	__u64 recoveries;   /* of the device since then, whatever made them necessary */
};

struct warpline_peer_command {
	__u8 opcode;	  /* enum warpline_peer_opcode */
	__u8 source_kind; /* enum warpline_peer_kind */
	__u8 destination_kind;
	__u8 reserved; /* 0 */
	__u32 length;  /* 0 of NOP and NOTIFY */
	__u64 source;  /* an address or an offset, by its kind */
	__u64 destination;
	__u64 operand; /* 0 where the opcode has none; NOTIFY: 32 bits */
	__u64 cookie;  /* comes back with the completion */
};

/*
 * Times are of CLOCK_MONOTONIC. With several commands per doorbell and several completions per
 * interrupt these are all given the same time.
 */
struct warpline_peer_completion {
	__u64 cookie;
	__u64 result; /* of FETCH_ADD: what was there; else 0 */
	__u32 status; /* enum warpline_peer_status */
	__u32 reserved;
	__u64 rung_ns;	    /* when the device was told of it */
	__u64 interrupt_ns; /* the queue's last interrupt since then; 0: none until it was found */
	__u64 found_ns;	    /* when the driver found it in the ring */
};

struct warpline_peer_submit {
	__u64 commands; /* address of an array of struct warpline_peer_command */
	__u32 count;
	__u32 reserved; /* 0 */
};

#define WARPLINE_PEER_FOREVER 0xFFFFFFFFU

struct warpline_peer_wait {
	__u64 completions; /* address of an array of struct warpline_peer_completion */
	__u32 count;	   /* entries there, at least 1: no more are taken */
	__u32 at_least;	   /* wait until so many are there, at most `count`; 0: wait for none */
	__u32 timeout_us;  /* for at most that time; WARPLINE_PEER_FOREVER: without a limit */
	__u32 reserved;	   /* 0 */
};

struct warpline_peer_shared {
	__u64 bytes; /* 1 to WARPLINE_PEER_MOST_SHARED; comes back as a multiple of a page */
};

struct warpline_peer_access {
	__u32 offset; /* of the register */
	__u32 bytes;  /* of it: 4 or 8 */
	__u64 value;
	__u64 ns; /* comes back: what the access took the processor */
};

struct warpline_peer_event {
	__u32 value; /* the operand of a NOTIFY */
	__u32 left;  /* events that are there after it */
};

#define WARPLINE_PEER_IOC_MAGIC 0xD7

/* What the device and the file's queue are. */
#define WARPLINE_PEER_IOC_INFO _IOR(WARPLINE_PEER_IOC_MAGIC, 0, struct warpline_peer_info)
/*
 * Submits commands, and tells the device of all of them by one doorbell. Returns how many were
 * taken: the first that cannot be ends it, and is an error only if it is the first of all. Memory
 * is pinned until the completion was taken.
 *
 * EINVAL: a command that cannot be, or a field that should be 0. EFAULT: memory that the process
 * may not read, or write where the device would. EAGAIN: `commands` of struct warpline_peer_info
 * are submitted and not taken, the queue has no room for the parts into which a buffer in many
 * pieces is divided, or the device is being reset. EMSGSIZE: the buffers lie in more pieces than
 * the whole queue has room for. ENOMEM: more memory would be pinned than RLIMIT_MEMLOCK allows.
 * EIO: the device works no more. EBADF: not opened for writing.
 */
#define WARPLINE_PEER_IOC_SUBMIT _IOW(WARPLINE_PEER_IOC_MAGIC, 1, struct warpline_peer_submit)
/*
 * Takes completions, oldest first. Returns how many, even if the time has passed before there were
 * `at_least`. With none: EAGAIN if nothing was to be waited for or the file is O_NONBLOCK,
 * ETIMEDOUT, or EINTR.
 */
#define WARPLINE_PEER_IOC_WAIT _IOW(WARPLINE_PEER_IOC_MAGIC, 2, struct warpline_peer_wait)
/*
 * Makes memory that the program and the device share without pinning, cleared, to be mapped at
 * WARPLINE_PEER_MAP_SHARED. EBUSY: the file has it already; it keeps it until it is closed.
 */
#define WARPLINE_PEER_IOC_SHARED _IOWR(WARPLINE_PEER_IOC_MAGIC, 3, struct warpline_peer_shared)
/*
 * Reads a register whose reading changes nothing, as EPERM tells of others; queues' registers are
 * not among them. Or writes SCRATCH, which all who have the device open share.
 */
#define WARPLINE_PEER_IOC_READ_REGISTER                                                            \
	_IOWR(WARPLINE_PEER_IOC_MAGIC, 4, struct warpline_peer_access)
#define WARPLINE_PEER_IOC_WRITE_REGISTER                                                           \
	_IOWR(WARPLINE_PEER_IOC_MAGIC, 5, struct warpline_peer_access)
/* Takes an event of NOTIFY, whoever's it is: the device has one place for all. EAGAIN: none. */
#define WARPLINE_PEER_IOC_EVENT _IOR(WARPLINE_PEER_IOC_MAGIC, 6, struct warpline_peer_event)
/*
 * Resets the device: all commands under way, of whoever, are completed as ABORTED. Wants
 * CAP_SYS_ADMIN. EIO: it does not come back. ENODEV: nobody answers.
 */
#define WARPLINE_PEER_IOC_RESET _IO(WARPLINE_PEER_IOC_MAGIC, 7)

/*
 * Offsets for mmap(), with MAP_SHARED: the file's shared memory, and the device's buffer,
 * write-combining if its BAR is prefetchable. Who has the device open sees the whole buffer.
 * Submitting a command makes sure that what this processor stored in the buffer before is there.
 */
#define WARPLINE_PEER_MAP_SHARED 0ULL
#define WARPLINE_PEER_MAP_BUFFER (1ULL << 32)

#endif
