/* The driver of the queue device in user space, in the guest: its port is the kernel's vfio-pci, with the
 * IOMMU on. Moves data, hears interrupts, reaches for memory that the device may not touch, and says how long
 * accesses take. user_driver ADDRESS GROUP    (0000:01:00.0, the number of its IOMMU group) */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "sw/driver/wl_peer.h"

enum { kVectors = 16, kPage = 4096, kPages = 256, kOrder = 6, kMemoryBar = 4 };

/* What the port knows. Memory for the device is one pool, whose pages the device sees from kPoolBus on while
 * they are mapped. */
static const uint64_t kPoolBus = 0x10000000;
struct machine {
  int container, device;
  volatile uint8_t* bar[6];
  uint64_t bar_bytes[6];
  uint64_t config;
  int event[kVectors];
  uint8_t* pool;
  unsigned users[kPages]; /* mappings of a page */
  uint64_t reads, interrupts;
};

static void fail(const char* format, ...) {
  va_list values;
  va_start(values, format);
  vprintf(format, values);
  va_end(values);
  printf("\n");
  exit(1);
}

static void need(int holds, const char* what) {
  if (!holds) fail("%s failed: %s", what, strerror(errno));
}

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The port. */

static uint64_t port_read(void* context, unsigned space, uint64_t offset, unsigned bytes) {
  struct machine* m = context;
  uint64_t value = 0;
  if (space == WL_SPACE_CONFIG) {
    if (pread(m->device, &value, bytes, (off_t)(m->config + offset)) != (ssize_t)bytes)
      value = bytes == 8 ? ~UINT64_C(0) : (UINT64_C(1) << (8 * bytes)) - 1;
    return value;
  }
  if (space > 5 || offset + bytes > m->bar_bytes[space])
    fail("a read outside of BAR %u, at 0x%" PRIx64, space, offset);
  m->reads += space == WL_PEER_BAR;
  const volatile void* at = m->bar[space] + offset;
  switch (bytes) {
    case 1: return *(const volatile uint8_t*)at;
    case 2: return *(const volatile uint16_t*)at;
    case 4: return *(const volatile uint32_t*)at;
    default: return *(const volatile uint64_t*)at;
  }
}

static void port_write(void* context, unsigned space, uint64_t offset, unsigned bytes, uint64_t value) {
  const struct machine* m = context;
  if (space == WL_SPACE_CONFIG) {
    need(pwrite(m->device, &value, bytes, (off_t)(m->config + offset)) == (ssize_t)bytes,
         "a write of configuration space");
    return;
  }
  if (space > 5 || offset + bytes > m->bar_bytes[space])
    fail("a write outside of BAR %u, at 0x%" PRIx64, space, offset);
  volatile void* at = m->bar[space] + offset;
  switch (bytes) {
    case 1: *(volatile uint8_t*)at = (uint8_t)value; return;
    case 2: *(volatile uint16_t*)at = (uint16_t)value; return;
    case 4: *(volatile uint32_t*)at = (uint32_t)value; return;
    default: *(volatile uint64_t*)at = value; return;
  }
}

static void port_barrier(void* context) {
  (void)context;
  __sync_synchronize();
}

/* Maps or unmaps the pages of a piece of the pool that nobody else has mapped. Returns whether that went
 * well. */
static int set_pages(struct machine* m, uint64_t from, uint64_t bytes, int map) {
  for (uint64_t page = from / kPage; page <= (from + bytes - 1) / kPage; page++) {
    if (map) {
      if (m->users[page]++ != 0) continue;
      struct vfio_iommu_type1_dma_map request = {.argsz = sizeof request,
                                                 .flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
                                                 .vaddr = (uintptr_t)m->pool + page * kPage,
                                                 .iova = kPoolBus + page * kPage,
                                                 .size = kPage};
      if (ioctl(m->container, VFIO_IOMMU_MAP_DMA, &request) != 0) return 0;
    } else {
      if (--m->users[page] != 0) continue;
      struct vfio_iommu_type1_dma_unmap request = {
          .argsz = sizeof request, .iova = kPoolBus + page * kPage, .size = kPage};
      if (ioctl(m->container, VFIO_IOMMU_UNMAP_DMA, &request) != 0) return 0;
    }
  }
  return 1;
}

static uint64_t port_dma_map(void* context, void* memory, size_t bytes, unsigned direction) {
  struct machine* m = context;
  (void)direction;
  const uint8_t* at = memory;
  if (at < m->pool || bytes == 0 || at + bytes > m->pool + (size_t)kPages * kPage) return 0;
  const uint64_t from = (uint64_t)(at - m->pool);
  return set_pages(m, from, bytes, 1) ? kPoolBus + from : 0;
}

static void port_dma_unmap(void* context, uint64_t bus, size_t bytes) {
  need(set_pages(context, bus - kPoolBus, bytes, 0), "unmapping memory");
}

static int port_wait_irq(void* context, unsigned vector, uint32_t timeout_us) {
  struct machine* m = context;
  struct pollfd event = {.fd = m->event[vector], .events = POLLIN};
  const int timeout_ms = timeout_us > 2000000000u ? 2000000 : (int)((timeout_us + 999) / 1000);
  if (poll(&event, 1, timeout_ms) != 1) return 0;
  uint64_t count = 0;
  if (read(m->event[vector], &count, sizeof count) != sizeof count) return 0;
  m->interrupts += count;
  return 1;
}

static void port_delay(void* context, uint32_t nanoseconds) {
  (void)context;
  const struct timespec t = {nanoseconds / 1000000000u, (long)(nanoseconds % 1000000000u)};
  nanosleep(&t, NULL);
}

static void port_log(void* context, enum wl_log_level level, const char* text) {
  (void)context;
  (void)level;
  printf("driver: %s\n", text);
}

/* Opens the function: regions, interrupts, memory. */
static void open_machine(struct machine* m, const char* address, const char* group_number) {
  char path[64];
  snprintf(path, sizeof path, "/dev/vfio/%s", group_number);
  m->container = open("/dev/vfio/vfio", O_RDWR);
  need(m->container >= 0, "opening /dev/vfio/vfio");
  const int group = open(path, O_RDWR);
  need(group >= 0, path);
  struct vfio_group_status status = {.argsz = sizeof status};
  need(ioctl(group, VFIO_GROUP_GET_STATUS, &status) == 0, "asking for the group");
  if ((status.flags & VFIO_GROUP_FLAGS_VIABLE) == 0)
    fail("group %s has functions that other drivers have", group_number);
  need(ioctl(group, VFIO_GROUP_SET_CONTAINER, &m->container) == 0, "giving the group a container");
  need(ioctl(m->container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU) == 0, "choosing the IOMMU");
  m->device = ioctl(group, VFIO_GROUP_GET_DEVICE_FD, address);
  need(m->device >= 0, "opening the function");
  need(ioctl(m->device, VFIO_DEVICE_RESET) == 0, "a reset");

  for (unsigned i = 0; i <= VFIO_PCI_CONFIG_REGION_INDEX; i++) {
    struct vfio_region_info region = {.argsz = sizeof region, .index = i};
    if (ioctl(m->device, VFIO_DEVICE_GET_REGION_INFO, &region) != 0 || region.size == 0) continue;
    if (i == VFIO_PCI_CONFIG_REGION_INDEX) m->config = region.offset;
    if (i > 5 || (region.flags & VFIO_REGION_INFO_FLAG_MMAP) == 0) continue;
    void* at = mmap(NULL, region.size, PROT_READ | PROT_WRITE, MAP_SHARED, m->device, (off_t)region.offset);
    if (at == MAP_FAILED) continue; /* that of the MSI-X table, say, where only some of it may be mapped */
    m->bar[i] = at;
    m->bar_bytes[i] = region.size;
  }
  if (m->bar[WL_PEER_BAR] == NULL) fail("the registers cannot be mapped");

  union {
    struct vfio_irq_set set;
    uint8_t bytes[sizeof(struct vfio_irq_set) + kVectors * sizeof(int)];
  } request = {.set = {.argsz = sizeof request,
                       .flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
                       .index = VFIO_PCI_MSIX_IRQ_INDEX,
                       .count = kVectors}};
  for (unsigned i = 0; i < kVectors; i++) {
    m->event[i] = eventfd(0, EFD_CLOEXEC);
    need(m->event[i] >= 0, "eventfd");
  }
  memcpy(request.set.data, m->event, sizeof m->event);
  need(ioctl(m->device, VFIO_DEVICE_SET_IRQS, &request) == 0, "giving MSI-X vectors their events");

  m->pool = mmap(NULL, (size_t)kPages * kPage, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  need(m->pool != MAP_FAILED, "memory");
}

static struct wl_peer peer;
static uint64_t done; /* commands */

/* One command, to its end. Returns its status. */
static struct wl_peer_completion run(const struct wl_peer_command* command) {
  struct wl_peer_completion completion;
  enum wl_result result = wl_peer_submit(&peer, 0, command);
  if (result == WL_OK) result = wl_peer_ring(&peer, 0);
  if (result == WL_OK) result = wl_peer_wait(&peer, 0, 10000000, &completion);
  if (result != WL_OK) fail("a command was not completed: %s", wl_result_text(result));
  done++;
  return completion;
}

static int compare(const void* a, const void* b) {
  const uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}
static double median_us(uint64_t* values, unsigned count) {
  qsort(values, count, sizeof *values, compare);
  return (double)values[count / 2] / 1000;
}

enum { kTimes = 1000 };
static uint64_t times[kTimes];

/* A look at the guest's clock. */
static double clock_us(void) {
  for (unsigned i = 0; i < kTimes; i++) {
    const uint64_t from = now_ns();
    times[i] = now_ns() - from;
  }
  return median_us(times, kTimes);
}

/* What an access of 4 bytes takes. The clock is looked at once for `count` of them: it may take longer than
 * one. */
static double access_us(struct machine* m, unsigned bar, uint64_t offset, int writes, unsigned count) {
  const double clock = clock_us();
  for (unsigned i = 0; i < kTimes; i++) {
    const uint64_t from = now_ns();
    for (unsigned j = 0; j < count; j++)
      if (writes) {
        port_write(m, bar, offset, 4, i);
      } else {
        port_read(m, bar, offset, 4);
      }
    times[i] = now_ns() - from;
  }
  return (median_us(times, kTimes) - clock) / count;
}

static void move_data(struct machine* m, uint8_t* source, uint8_t* target, uint32_t bytes) {
  const uint64_t from = port_dma_map(m, source, bytes, WL_DMA_TO_DEVICE),
                 to = port_dma_map(m, target, bytes, WL_DMA_FROM_DEVICE);
  if (from == 0 || to == 0) fail("memory cannot be mapped");
  for (uint32_t i = 0; i < bytes; i++) source[i] = (uint8_t)(i * 7 + i / 251 + done);
  memset(target, 0, bytes);
  const struct wl_peer_command copy = {
      .opcode = WL_PEER_OPCODE_COPY, .length = bytes, .source = from, .destination = to};
  if (run(&copy).status != WL_PEER_STATUS_CODE_OK || memcmp(source, target, bytes) != 0)
    fail("COPY of %u bytes", bytes);

  memset(target, 0, bytes);
  const struct wl_peer_command in = {.opcode = WL_PEER_OPCODE_READ, .length = bytes, .source = from};
  const struct wl_peer_command out = {.opcode = WL_PEER_OPCODE_WRITE, .length = bytes, .destination = to};
  if (run(&in).status != WL_PEER_STATUS_CODE_OK || run(&out).status != WL_PEER_STATUS_CODE_OK ||
      memcmp(source, target, bytes) != 0)
    fail("READ and WRITE of %u bytes", bytes);
  port_dma_unmap(m, from, bytes);
  port_dma_unmap(m, to, bytes);
}

int main(int argc, char** argv) {
  static struct machine m;
  static struct wl_peer_slot slots[1u << kOrder];
  if (argc != 3) fail("usage: user_driver ADDRESS GROUP");
  setvbuf(stdout, NULL, _IOLBF, 0);
  open_machine(&m, argv[1], argv[2]);
  const struct wl_port port = {.context = &m,
                               .read = port_read,
                               .write = port_write,
                               .barrier = port_barrier,
                               .dma_map = port_dma_map,
                               .dma_unmap = port_dma_unmap,
                               .wait_irq = port_wait_irq,
                               .delay = port_delay,
                               .log = port_log};
  /* Memory space and bus mastering. */
  port_write(&m, WL_SPACE_CONFIG, 4, 2, port_read(&m, WL_SPACE_CONFIG, 4, 2) | 6);
  enum wl_result result = wl_peer_probe(&peer, &port);
  if (result == WL_OK) result = wl_peer_start(&peer);
  const struct wl_peer_queue_options options = {.order = kOrder,
                                                .submissions = m.pool,
                                                .completions = m.pool + 2 * kPage,
                                                .slots = slots,
                                                .interrupt = 1};
  if (result == WL_OK) result = wl_peer_queue_create(&peer, 0, &options);
  if (result != WL_OK) fail("the device cannot be started: %s", wl_result_text(result));

  uint8_t* const source = m.pool + 16 * kPage;
  uint8_t* const target = m.pool + 128 * kPage;
  static const uint32_t lengths[] = {1, 3, 64, 4095, 4096, 4097, 65536, 100001, 262144};
  for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++)
    move_data(&m, source, target + i, lengths[i]);

  const uint64_t word = port_dma_map(&m, target, 8, WL_DMA_BOTH);
  *(volatile uint64_t*)target = 40;
  const struct wl_peer_command add = {
      .opcode = WL_PEER_OPCODE_FETCH_ADD, .length = 8, .destination = word, .operand = 2};
  const struct wl_peer_completion added = run(&add);
  if (added.status != WL_PEER_STATUS_CODE_OK || added.result != 40 || *(volatile uint64_t*)target != 42)
    fail("FETCH_ADD");
  port_dma_unmap(&m, word, 8);
  printf("%" PRIu64 " commands moved data both ways, of up to %u bytes, each told by an interrupt\n", done,
         lengths[8]);

  /* That memory is not the device's any more. */
  const struct wl_peer_command stray = {.opcode = WL_PEER_OPCODE_READ, .length = 64, .source = word};
  const struct wl_peer_completion refused = run(&stray);
  if (refused.status != WL_PEER_STATUS_CODE_UNSUPPORTED_REQUEST)
    fail("a read of memory that was taken back ended with status %u", refused.status);
  printf("a read of memory that was taken back: unsupported request\n");

  const double read_us = access_us(&m, WL_PEER_BAR, WL_PEER_PRESENT_OFFSET, 0, 1),
               write_us = access_us(&m, WL_PEER_BAR, WL_PEER_SCRATCH_OFFSET(0), 1, 10);
  /* Its own memory, which the server may let the emulator map. */
  const double memory_read_us = access_us(&m, kMemoryBar, 64, 0, 1),
               memory_write_us = access_us(&m, kMemoryBar, 64, 1, 10);
  const struct wl_peer_command nothing = {.opcode = WL_PEER_OPCODE_NOP};
  for (unsigned i = 0; i < 200; i++) {
    wl_peer_submit(&peer, 0, &nothing);
    const uint64_t from = now_ns();
    wl_peer_ring(&peer, 0);
    if (!port_wait_irq(&m, 0, 10000000)) fail("no interrupt came");
    times[i] = now_ns() - from;
    struct wl_peer_completion completion;
    if (wl_peer_wait(&peer, 0, 1000000, &completion) != WL_OK) fail("an interrupt without a completion");
  }
  const double interrupt_us = median_us(times, 200);
  const unsigned batch = (1u << kOrder) - 1;
  unsigned many = 0;
  const uint64_t from = now_ns();
  while (many < 2000) {
    unsigned submitted = 0;
    while (submitted < batch && wl_peer_submit(&peer, 0, &nothing) == WL_OK) submitted++;
    wl_peer_ring(&peer, 0);
    for (unsigned i = 0; i < submitted; i++) {
      struct wl_peer_completion completion;
      if (wl_peer_wait(&peer, 0, 10000000, &completion) != WL_OK)
        fail("of %u commands at once some were not completed", submitted);
    }
    many += submitted;
  }
  printf(
      "medians in the guest: read %.1f us, posted write %.1f us, of the device's memory %.3f and %.3f us, "
      "doorbell to interrupt %.1f us, a look at the clock %.1f us; %.0f commands a second, %u at a time\n",
      read_us, write_us, memory_read_us, memory_write_us, interrupt_us, clock_us(),
      many / ((double)(now_ns() - from) / 1e9), batch);

  result = wl_peer_queue_destroy(&peer, 0, 1000000);
  if (result != WL_OK) fail("the queue cannot be taken down: %s", wl_result_text(result));
  wl_peer_teardown(&peer);
  while (port_wait_irq(&m, 0, 0)) continue; /* of completions that were found without it */
  /* Messages that come while the emulator has one in hand are heard as one. */
  printf("%" PRIu64 " interrupts heard\n", m.interrupts);
  printf("saw peer[0].register_reads %" PRIu64 "\nsaw peer[0].commands %" PRIu64 "\n", m.reads,
         done + 200 + many);
  return 0;
}
