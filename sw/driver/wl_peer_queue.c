/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Queues: creating, submitting, completing; bringing the device up with them, to rights, and down. */
#include <string.h>

#include "wl_peer_internal.h"

enum slot_state { SLOT_FREE, SLOT_UNDER_WAY, SLOT_ABORTED };

/* Looking again and again: how often, if there is no interrupt. */
#define POLL_STEP_NS 200u

static struct wl_peer_queue* find(struct wl_peer* peer, unsigned queue) {
  if (peer == NULL || peer->port == NULL || queue >= peer->queues || !peer->queue[queue].exists) return NULL;
  return &peer->queue[queue];
}

/* Tells the device of a queue, whose rings start empty. WL_TIMEOUT: its completions could not be cleared, and
 * the device does not know the queue. */
static enum wl_result tell_of(struct wl_peer* peer, unsigned number) {
  struct wl_peer_queue* queue = &peer->queue[number];
  const struct wl_peer_queue_options* options = &queue->options;
  uint32_t control = WL_PEER_QUEUE_CONTROL_ENABLE_MASK;
  enum wl_result result;
  queue->enabled = 0;
  queue->tail = queue->rung = queue->head = queue->taken = 0;
  queue->phase = 1;
  /* What an earlier round left there must not look new. */
  result = wl_peer_completions_clear(peer, queue);
  if (result != WL_OK) return result;
  control |= (uint32_t)options->order << WL_PEER_QUEUE_CONTROL_ORDER_SHIFT;
  if (options->interrupt)
    control |= WL_PEER_QUEUE_CONTROL_INTERRUPT_MASK | (uint32_t)number << WL_PEER_QUEUE_CONTROL_VECTOR_SHIFT;
  if (options->relaxed) control |= WL_PEER_QUEUE_CONTROL_RELAXED_MASK;
  wl_peer_write64(peer, WL_PEER_SQ_BASE_OFFSET(number), queue->submissions_bus);
  wl_peer_write64(peer, WL_PEER_CQ_BASE_OFFSET(number), queue->completions_bus);
  wl_peer_write32(peer, WL_PEER_COALESCE_OFFSET(number),
                  options->coalesce_count << WL_PEER_COALESCE_COMPLETIONS_SHIFT |
                      options->coalesce_ns << WL_PEER_COALESCE_TIME_SHIFT);
  wl_peer_barrier(peer);
  wl_peer_write32(peer, WL_PEER_QUEUE_CONTROL_OFFSET(number), control);
  queue->enabled = 1;
  return WL_OK;
}

static void forget(struct wl_peer* peer, unsigned number) {
  struct wl_peer_queue* queue = &peer->queue[number];
  wl_peer_rings_unmap(peer, queue);
  memset(queue, 0, sizeof *queue);
}

/* Whether the device has taken a queue and serves it: it takes some that it does not serve. */
static enum wl_result confirm(const struct wl_peer* peer, unsigned number) {
  uint32_t control, status;
  enum wl_result result = wl_peer_read_alive(peer, WL_PEER_QUEUE_CONTROL_OFFSET(number), &control);
  if (result == WL_OK) result = wl_peer_read_alive(peer, WL_PEER_STATUS_OFFSET, &status);
  if (result != WL_OK) return result;
  return (control & WL_PEER_QUEUE_CONTROL_ENABLE_MASK) != 0 && (status & WL_PEER_STATUS_READY_MASK) != 0
             ? WL_OK
             : WL_STOPPED;
}

enum wl_result wl_peer_queue_create(struct wl_peer* peer, unsigned number,
                                    const struct wl_peer_queue_options* options) {
  struct wl_peer_queue* queue;
  enum wl_result result;
  if (peer == NULL || peer->port == NULL || options == NULL || number >= peer->queues) return WL_BAD_ARGUMENT;
  queue = &peer->queue[number];
  if (queue->exists || options->order < 1 || options->order > peer->max_order || options->slots == NULL ||
      !wl_peer_rings_placed(options) || (options->interrupt && number >= peer->vectors) ||
      options->coalesce_count > WL_PEER_COALESCE_COMPLETIONS_MASK >> WL_PEER_COALESCE_COMPLETIONS_SHIFT ||
      options->coalesce_ns > WL_PEER_COALESCE_TIME_MASK >> WL_PEER_COALESCE_TIME_SHIFT)
    return WL_BAD_ARGUMENT;
  memset(queue, 0, sizeof *queue);
  queue->options = *options;
  memset(options->slots, 0, wl_peer_entries_of(queue) * sizeof *options->slots);
  result = wl_peer_rings_map(peer, queue);
  if (result != WL_OK) return result;
  queue->exists = 1;
  result = tell_of(peer, number);
  if (result == WL_OK) result = confirm(peer, number);
  if (result != WL_OK) {
    /* It may have been taken, though no answer says so. */
    wl_peer_write32(peer, WL_PEER_QUEUE_CONTROL_OFFSET(number), 0);
    forget(peer, number);
  }
  return result;
}

enum wl_result wl_peer_queue_destroy(struct wl_peer* peer, unsigned number, uint32_t timeout_us) {
  struct wl_peer_queue* queue = find(peer, number);
  struct wl_peer_completion ignored;
  enum wl_result result = WL_OK;
  if (queue == NULL) return WL_BAD_ARGUMENT;
  (void)wl_peer_ring(peer, number);
  while (queue->under_way != 0 && result == WL_OK) result = wl_peer_wait(peer, number, timeout_us, &ignored);
  wl_peer_write32(peer, WL_PEER_QUEUE_CONTROL_OFFSET(number), 0);
  /* The device may be writing until it has been asked something and answered. */
  (void)wl_peer_read32(peer, WL_PEER_QUEUE_CONTROL_OFFSET(number));
  queue->exists = 0;
  /* Nothing less keeps it from writing to the rings, and the other queues go on as after any recovery. */
  if (result != WL_OK) (void)wl_peer_recover(peer);
  forget(peer, number);
  return result;
}

/* The next slot in a state that one of them has. */
static struct wl_peer_slot* search(struct wl_peer_queue* queue, enum slot_state state) {
  const uint32_t mask = wl_peer_entries_of(queue) - 1;
  while (queue->options.slots[queue->search].state != state) queue->search = (queue->search + 1) & mask;
  return &queue->options.slots[queue->search];
}

/* A slot's number is the command's ID, so that completions may come in any order. */
static uint32_t take_slot(struct wl_peer_queue* queue, uint64_t cookie) {
  struct wl_peer_slot* slot = search(queue, SLOT_FREE);
  slot->state = SLOT_UNDER_WAY;
  slot->cookie = cookie;
  ++queue->under_way;
  return queue->search;
}

enum wl_result wl_peer_submit(struct wl_peer* peer, unsigned number, const struct wl_peer_command* command) {
  struct wl_peer_queue* queue = find(peer, number);
  uint8_t entry[WL_PEER_COMMAND_BYTES] = {0};
  uint32_t id;
  if (queue == NULL || command == NULL) return WL_BAD_ARGUMENT;
  if (!queue->enabled) return WL_STOPPED;
  if (queue->under_way + 1 >= wl_peer_entries_of(queue)) return WL_FULL;
  id = take_slot(queue, command->cookie);
  wl_peer_put(entry + WL_PEER_COMMAND_OPCODE_OFFSET, command->opcode, 1);
  wl_peer_put(entry + WL_PEER_COMMAND_FLAGS_OFFSET,
              (command->source_entries != 0 ? 1u : 0u) | (command->destination_entries != 0 ? 2u : 0u), 1);
  wl_peer_put(entry + WL_PEER_COMMAND_ID_OFFSET, id, 2);
  wl_peer_put(entry + WL_PEER_COMMAND_SOURCE_ENTRIES_OFFSET, command->source_entries, 2);
  wl_peer_put(entry + WL_PEER_COMMAND_DESTINATION_ENTRIES_OFFSET, command->destination_entries, 2);
  wl_peer_put(entry + WL_PEER_COMMAND_LENGTH_OFFSET, command->length, 4);
  wl_peer_put(entry + WL_PEER_COMMAND_SOURCE_OFFSET, command->source, 8);
  wl_peer_put(entry + WL_PEER_COMMAND_DESTINATION_OFFSET, command->destination, 8);
  wl_peer_put(entry + WL_PEER_COMMAND_OPERAND_OFFSET, command->operand, 8);
  wl_peer_submission_put(peer, queue, queue->tail, entry);
  queue->tail = (queue->tail + 1) & (wl_peer_entries_of(queue) - 1);
  return WL_OK;
}

enum wl_result wl_peer_ring(struct wl_peer* peer, unsigned number) {
  struct wl_peer_queue* queue = find(peer, number);
  enum wl_result result;
  if (queue == NULL) return WL_BAD_ARGUMENT;
  if (!queue->enabled) return WL_STOPPED;
  if (queue->rung == queue->tail) return WL_OK;
  wl_peer_barrier(peer);
  result = wl_peer_submissions_flush(peer, queue);
  if (result != WL_OK) return result;
  wl_peer_write32(peer, WL_PEER_SQ_TAIL_DOORBELL_OFFSET(number), queue->tail);
  queue->rung = queue->tail;
  return WL_OK;
}

/* A command that a recovery lost. */
static void take_aborted(struct wl_peer_queue* queue, struct wl_peer_completion* completion) {
  struct wl_peer_slot* slot = search(queue, SLOT_ABORTED);
  slot->state = SLOT_FREE;
  completion->cookie = slot->cookie;
  completion->result = 0;
  completion->status = WL_PEER_STATUS_CODE_ABORTED;
  --queue->aborted;
  --queue->under_way;
}

static uint64_t completion_field(const struct wl_peer* peer, const struct wl_peer_queue* queue,
                                 unsigned offset, unsigned bytes) {
  return wl_peer_completion_get(peer, queue, queue->head, offset, bytes);
}

enum wl_result wl_peer_poll(struct wl_peer* peer, unsigned number, struct wl_peer_completion* completion) {
  struct wl_peer_queue* queue = find(peer, number);
  uint64_t word, value;
  uint32_t id;
  if (queue == NULL || completion == NULL) return WL_BAD_ARGUMENT;
  if (queue->aborted != 0) {
    take_aborted(queue, completion);
    return WL_OK;
  }
  /* What lies in its ring is of an earlier round. */
  if (!queue->enabled) return WL_STOPPED;
  if ((completion_field(peer, queue, WL_PEER_COMPLETION_PHASE_OFFSET, 2) & 1u) != queue->phase)
    return WL_NONE;
  /* The phase tells that the rest is there, so the rest, and the data, is read after it. */
  wl_peer_barrier(peer);
  word = completion_field(peer, queue, WL_PEER_COMPLETION_ID_OFFSET, 8);
  /* Nobody has answered, this time or when it was the phase's turn. */
  if (queue->options.completions == NULL && word == UINT64_MAX) return WL_NONE;
  if ((word >> 8 * (WL_PEER_COMPLETION_PHASE_OFFSET - WL_PEER_COMPLETION_ID_OFFSET) & 1u) != queue->phase)
    return WL_NONE;
  value = completion_field(peer, queue, WL_PEER_COMPLETION_RESULT_OFFSET, 8);
  /* A lost answer looks like this, and a result may: it looks so twice. */
  if (value == UINT64_MAX) value = completion_field(peer, queue, WL_PEER_COMPLETION_RESULT_OFFSET, 8);
  /* And so does all that lies where nobody answers any more, the word that was there, too. */
  if (queue->options.completions == NULL && value == UINT64_MAX &&
      completion_field(peer, queue, WL_PEER_COMPLETION_ID_OFFSET, 8) == UINT64_MAX)
    return WL_NONE;
  id = (uint32_t)(word & 0xFFFFu);
  if (id >= wl_peer_entries_of(queue) || queue->options.slots[id].state != SLOT_UNDER_WAY) {
    wl_peer_log(peer, WL_LOG_ERROR, "peer: a completion that belongs to no command");
    return WL_CORRUPT;
  }
  queue->options.slots[id].state = SLOT_FREE;
  completion->cookie = queue->options.slots[id].cookie;
  completion->result = value;
  completion->status =
      (uint16_t)(word >> 8 * (WL_PEER_COMPLETION_STATUS_OFFSET - WL_PEER_COMPLETION_ID_OFFSET));
  --queue->under_way;
  queue->head = (queue->head + 1) & (wl_peer_entries_of(queue) - 1);
  if (queue->head == 0) queue->phase ^= 1u;
  /* The device needs free entries now and then, not the exact number. */
  if (++queue->taken >= wl_peer_entries_of(queue) / 2 || queue->under_way == 0) {
    /* The entries are read before the device may write them again. */
    wl_peer_barrier(peer);
    wl_peer_write32(peer, WL_PEER_CQ_HEAD_DOORBELL_OFFSET(number), queue->head);
    queue->taken = 0;
  }
  return WL_OK;
}

enum wl_result wl_peer_wait(struct wl_peer* peer, unsigned number, uint32_t timeout_us,
                            struct wl_peer_completion* completion) {
  const uint64_t steps = (uint64_t)timeout_us * 1000u / POLL_STEP_NS;
  const struct wl_peer_queue* queue = find(peer, number);
  enum wl_result result = wl_peer_poll(peer, number, completion);
  uint64_t step;
  if (result != WL_NONE) return result;
  if (queue->options.interrupt) {
    /* One interrupt may tell of several completions, and of some that have been taken already. */
    while (result == WL_NONE && peer->port->wait_irq(peer->port->context, number, timeout_us))
      result = wl_peer_poll(peer, number, completion);
    if (result == WL_NONE) result = wl_peer_poll(peer, number, completion);
  } else {
    for (step = 0; result == WL_NONE && step < steps; ++step) {
      peer->port->delay(peer->port->context, POLL_STEP_NS);
      result = wl_peer_poll(peer, number, completion);
    }
  }
  if (result != WL_NONE) return result;
  result = wl_peer_check(peer, NULL);
  return result == WL_OK ? WL_TIMEOUT : result;
}

static void enable(struct wl_peer* peer) {
  wl_peer_write32(peer, WL_PEER_CONTROL_OFFSET, WL_PEER_CONTROL_ENABLE_MASK);
}

enum wl_result wl_peer_start(struct wl_peer* peer) {
  unsigned q;
  enum wl_result result;
  if (peer == NULL || peer->port == NULL) return WL_BAD_ARGUMENT;
  result = wl_peer_reset(peer);
  for (q = 0; q < peer->queues; ++q)
    if (peer->queue[q].exists) forget(peer, q);
  if (result != WL_OK) return result;
  enable(peer);
  return WL_OK;
}

/* Gives up all commands of a queue: they are reported as ABORTED. It takes none until the device is told of
 * it again.
 */
static void give_up(struct wl_peer* peer, unsigned number) {
  struct wl_peer_queue* queue = &peer->queue[number];
  uint32_t i;
  for (i = 0; i < wl_peer_entries_of(queue); ++i)
    if (queue->options.slots[i].state == SLOT_UNDER_WAY) queue->options.slots[i].state = SLOT_ABORTED;
  queue->enabled = 0;
  queue->aborted = queue->under_way;
}

enum wl_result wl_peer_recover(struct wl_peer* peer) {
  unsigned q;
  enum wl_result result;
  if (peer == NULL || peer->port == NULL) return WL_BAD_ARGUMENT;
  wl_peer_log(peer, WL_LOG_WARNING, "peer: recovering");
  result = wl_peer_is_present(peer) ? wl_peer_reset(peer) : WL_GONE;
  for (q = 0; q < peer->queues; ++q) {
    if (!peer->queue[q].exists) continue;
    give_up(peer, q);
    if (result == WL_OK) result = tell_of(peer, q);
  }
  if (result != WL_OK) return result;
  enable(peer);
  return WL_OK;
}

void wl_peer_teardown(struct wl_peer* peer) {
  unsigned q;
  if (peer == NULL || peer->port == NULL) return;
  if (wl_peer_is_present(peer)) (void)wl_peer_reset(peer);
  for (q = 0; q < peer->queues; ++q)
    if (peer->queue[q].exists) forget(peer, q);
  peer->port = NULL;
}
