/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Driver of the peer device. It allocates nothing, keeps no global state and calls nothing but its port, so
 * that it runs wherever the eight functions of wl_port.h can be written. One device is used by one thread at
 * a time. */
#ifndef WL_PEER_H
#define WL_PEER_H

#include "wl_peer_regs.h"
#include "wl_port.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a call ended. Negative values are failures. */
enum wl_result {
  WL_OK = 0,
  WL_NONE = 1,          /* there is nothing yet */
  WL_BAD_ARGUMENT = -1, /* the caller's mistake: nothing was done */
  WL_GONE = -2,         /* the device does not answer: it was removed, or its link is down */
  WL_NOT_OURS = -3,     /* another device, or a version that this driver does not know */
  WL_TIMEOUT = -4,      /* the device did not do in time what it should */
  WL_FULL = -5,         /* as many commands are under way as the ring holds: take completions first */
  WL_UNMAPPED = -6,     /* the port refused to let the device touch the memory */
  WL_STOPPED = -7,      /* the device stopped after an error: wl_peer_recover() is the way on */
  WL_CORRUPT = -8       /* a completion that belongs to no command: wl_peer_recover() is the way on */
};
/* A word or two for it. */
const char* wl_result_text(enum wl_result result);

/* A command, as a caller thinks of it. Addresses are bus addresses, or offsets in the device's buffer where
 * the opcode says so; with entries, `source` or `destination` is the address of a scatter list of so many. */
struct wl_peer_command {
  uint8_t opcode; /* WL_PEER_OPCODE_* */
  uint16_t source_entries;
  uint16_t destination_entries;
  uint32_t length;
  uint64_t source;
  uint64_t destination;
  uint64_t operand;
  uint64_t cookie; /* the caller's own: comes back with the completion */
};

struct wl_peer_completion {
  uint64_t cookie;
  uint64_t result;
  uint16_t status; /* WL_PEER_STATUS_CODE_*; ABORTED: it was under way when the device was recovered */
};

/* What the driver keeps of one entry of a ring. */
struct wl_peer_slot {
  uint64_t cookie;
  uint8_t state;
};

/* Memory that native code does not reach by pointers, such as a GPU's behind its BAR: the port does, from
 * `offset` of `space` on, and the device at `bus`, which the caller has let it. Writes there are posted: one
 * that arrives poisoned is dropped and nobody is told. Completions are cleared and read back entry by entry,
 * so that none of an earlier round is taken for a new one. Commands are not, as that would cost a round trip
 * each: if a write of one is dropped, the device does what its entry held before, under the ID that it held.
 */
struct wl_peer_place {
  unsigned space;  /* WL_SPACE_BUS, or another that the port knows; none of the peer's own BARs */
  uint64_t offset; /* a multiple of 8 */
  uint64_t bus;    /* a multiple of 64, not 0 */
};

/* A queue as the caller wants it. The memory is the caller's, and the queue's until it is destroyed. */
struct wl_peer_queue_options {
  unsigned order;             /* both rings have 2^order entries */
  void* submissions;          /* 64 bytes an entry, 64-byte aligned; NULL: they lie at submissions_at */
  void* completions;          /* 16 bytes an entry, 64-byte aligned; NULL: they lie at completions_at */
  struct wl_peer_slot* slots; /* one an entry */
  int interrupt;              /* whether completions raise an interrupt: the vector is the queue's number */
  unsigned coalesce_count;    /* after how many; 0 counts as 1 */
  uint32_t coalesce_ns;       /* or after what time since the first; 0: no limit */
  int relaxed; /* data and completions may be written in relaxed order: for data that is checked */
  struct wl_peer_place submissions_at;
  struct wl_peer_place completions_at;
};

struct wl_peer_queue {
  struct wl_peer_queue_options options;
  uint64_t submissions_bus;
  uint64_t completions_bus;
  uint32_t tail;      /* next entry to be written */
  uint32_t rung;      /* tail as the device knows it */
  uint32_t head;      /* next completion to be looked at */
  uint32_t taken;     /* of those, not told to the device */
  uint32_t under_way; /* commands without their completion */
  uint32_t search;    /* slot at which the search for a free one begins */
  uint32_t aborted;   /* commands that a recovery lost and that are still to be reported */
  uint16_t phase;     /* of a new completion */
  uint8_t exists;
  uint8_t enabled; /* the device has been told of it since it was reset last */
};

struct wl_peer {
  const struct wl_port* port;
  unsigned queues;    /* that the device has */
  unsigned max_order; /* of the longest ring */
  unsigned vectors;
  unsigned scatter; /* entries of the longest scatter list */
  struct wl_peer_queue queue[WL_PEER_QUEUES];
};

/* Looks whether the function behind the port is a peer that this driver knows, and learns what it has. The
 * port must outlive `peer`. The function's BARs must have been placed, and it must be allowed to make
 * requests. */
enum wl_result wl_peer_probe(struct wl_peer* peer, const struct wl_port* port);

/* Resets the device and enables it, without queues. Queues that existed are forgotten and their memory
 * unmapped. */
enum wl_result wl_peer_start(struct wl_peer* peer);

/* Gives the device a queue. WL_TIMEOUT: it does not answer, or its completions at completions_at could not be
 * cleared; WL_STOPPED: it has stopped or is not enabled. Nothing of the queue is left then. */
enum wl_result wl_peer_queue_create(struct wl_peer* peer, unsigned queue,
                                    const struct wl_peer_queue_options* options);
/* Waits until its commands are done, at most `timeout_us` for each, those that the device was not told of,
 * too. Takes the memory back in any case. What was not done by then is lost, and another result than WL_OK
 * says so; as the device had to be recovered for that, the commands of other queues are reported as ABORTED,
 * and if it could not be they answer WL_STOPPED as after any recovery that fails. */
enum wl_result wl_peer_queue_destroy(struct wl_peer* peer, unsigned queue, uint32_t timeout_us);

/* Puts a command into the ring. The device is not told yet: wl_peer_ring() does. WL_STOPPED: a recovery has
 * failed. */
enum wl_result wl_peer_submit(struct wl_peer* peer, unsigned queue, const struct wl_peer_command* command);
/* Tells the device of all commands submitted since the last time. Where these lie at submissions_at, it first
 * makes sure by a read that they are there, as writes to two devices have no order: WL_TIMEOUT if that is not
 * answered. Then the device has not been told, and the call may be made again. */
enum wl_result wl_peer_ring(struct wl_peer* peer, unsigned queue);
/* Takes a completion, if there is one: WL_NONE otherwise. */
enum wl_result wl_peer_poll(struct wl_peer* peer, unsigned queue, struct wl_peer_completion* completion);
/* The same, but waits for it at most `timeout_us`: by the interrupt if the queue raises one, else by looking
 * again and again. WL_TIMEOUT, WL_STOPPED or WL_GONE says what became of the device if there is none. */
enum wl_result wl_peer_wait(struct wl_peer* peer, unsigned queue, uint32_t timeout_us,
                            struct wl_peer_completion* completion);

/* A piece of memory as the device reaches it: a bus address, or an offset in the device's buffer. Never of 0
 * bytes. */
struct wl_peer_piece {
  uint64_t bus;
  uint32_t bytes;
};

/* Memory in pieces, of which some have been taken. `count` 0: none, as the opcode wants none. */
struct wl_peer_pieces {
  const struct wl_peer_piece* piece;
  uint32_t count;
  uint32_t at;     /* the piece to be taken next */
  uint32_t offset; /* in that */
};

/* Where a scatter list may be written: 16 bytes an entry, which the device reaches at `bus`. */
struct wl_peer_list {
  uint8_t* memory;
  uint64_t bus;
};

/* A command over memory in any number of pieces, which is made into several where a scatter list does not
 * hold them. Such a command is not done at once: its parts may end in any order. */
struct wl_peer_split {
  struct wl_peer_command rest; /* length, operand and cookie of what is left; addresses are not looked at */
  struct wl_peer_pieces source;
  struct wl_peer_pieces destination;
  unsigned
      entries; /* that a list may have: 1 to the device's (wl_peer.scatter), and as many as fit in memory */
};

/* Makes the next part, as large as lists allow: WL_NONE if nothing is left. Memory in one piece is named by
 * its address and leaves the list alone. WL_BAD_ARGUMENT: the pieces hold less than the command's length, and
 * so much has been made of it. */
enum wl_result wl_peer_split_next(struct wl_peer_split* split, const struct wl_peer_list* source_list,
                                  const struct wl_peer_list* destination_list,
                                  struct wl_peer_command* command);

/* Says what state the device is in: WL_OK, WL_STOPPED or WL_GONE. `errors`: where its ERROR register goes,
 * which is cleared; may be null. */
enum wl_result wl_peer_check(struct wl_peer* peer, uint32_t* errors);
/* Brings a device that stopped, or does not do what it should, back to work: resets it and creates its queues
 * again. Every command that was under way is reported as ABORTED by the polls that follow. On another result
 * than WL_OK it stays disabled, its queues take no commands and say WL_STOPPED, and the call may be made
 * again. */
enum wl_result wl_peer_recover(struct wl_peer* peer);
/* Stops the device and takes all memory back, whatever state it is in. */
void wl_peer_teardown(struct wl_peer* peer);

#ifdef __cplusplus
}
#endif
#endif
