// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// A kernel on the GPU of `warpline serve` that reads and writes the blocks of an NVMe drive by itself, while
// Linux's own driver has the drive and uses it: the program has the controller make one more pair of queues,
// which lie in video memory.
//   gpu_io GPU_FOLDER NVME_FOLDER CONTROLLER DISK NVME_IO.ptx
// Folders are those in sysfs, such as /dev/nvme0 and /dev/nvme0n1 controller and disk; the kernel is
// sw/kernels/nvme_io.cu. What is on the disk is overwritten. Exit status 0: all was as it should be.
#define _GNU_SOURCE  // O_DIRECT
#include <inttypes.h>
#include <linux/fs.h>
#include <linux/nvme_ioctl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "gpu_access.h"

enum {
  kQueue = 8,  // beyond those that Linux makes, one for each processor
  kEntries = 128,
  kPage = 4096,
  kChunk = 4 * kPage,
  kChunks = 32,
  kBuffers = 16,
  kAdd = 3,
  kBytes = kChunks * kChunk,
};
// Parts of the disk: what the kernel reads, what it writes, what is Linux's.
enum { kFrom = 0, kTo = kBytes, kLinux = 2 * kBytes };

// As the kernel has them.
struct nvme_queue {
  uint64_t submissions, completions, tail_doorbell, head_doorbell, progress;
  uint32_t entries, page_bytes;
};
struct nvme_buffers {
  uint64_t data, data_bus, lists, lists_bus;
  uint32_t count, unused;
};
struct nvme_work {
  uint64_t from, to, chunks, patience;
  uint32_t nsid, block_bytes, blocks, add;
};
struct nvme_report {
  uint64_t written, failed, sum, failure;
};
struct parameters {
  struct nvme_queue queue;
  struct nvme_buffers buffers;
  struct nvme_work work;
  uint64_t report;
};

_Static_assert(offsetof(struct parameters, buffers) == 48 && offsetof(struct parameters, work) == 88 &&
                   offsetof(struct parameters, report) == 136 && sizeof(struct nvme_report) == 32,
               "as kernels/nvme_io.cu has them");

static void* pages(size_t bytes) {
  void* const at =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (at == MAP_FAILED) give_up("no memory: %s", strerror(errno));
  return at;
}

// A command to the controller, past Linux's driver.
static void command(int controller, uint8_t opcode, uint32_t dword10, uint32_t dword11, void* page) {
  struct nvme_admin_cmd c = {.opcode = opcode,
                             .cdw10 = dword10,
                             .cdw11 = dword11,
                             .addr = (uintptr_t)page,
                             .data_len = page != NULL ? kPage : 0,
                             .timeout_ms = 20000};
  const int status = ioctl(controller, NVME_IOCTL_ADMIN_CMD, &c);
  if (status < 0) give_up("command 0x%x: %s", opcode, strerror(errno));
  if (status > 0) give_up("the controller refuses command 0x%x with status 0x%x", opcode, status);
}

// Queues whose pages a list names: bus addresses of video memory.
static void create(int controller, uint8_t opcode, uint64_t bus, unsigned count, uint32_t dword11) {
  uint64_t* const list = pages(kPage);
  for (unsigned i = 0; i < count; ++i) list[i] = bus + (uint64_t)i * kPage;
  command(controller, opcode, kQueue | (uint32_t)(kEntries - 1) << 16, dword11, list);
  munmap(list, kPage);
}

static void transfer(int disk, void* data, size_t bytes, off_t at, int writes) {
  const ssize_t done = writes ? pwrite(disk, data, bytes, at) : pread(disk, data, bytes, at);
  if (done != (ssize_t)bytes)
    give_up("the disk's bytes at %lld: %s", (long long)at, done < 0 ? strerror(errno) : "there are fewer");
}

// Linux's own use of the disk, until it is told to end.
static volatile sig_atomic_t ends;
static void end(int signal) {
  (void)signal;
  ends = 1;
}
static void use_disk(int disk) {
  signal(SIGTERM, end);
  uint32_t* const out = pages(kChunk);
  uint32_t* const in = pages(kChunk);
  unsigned rounds = 0;
  do {
    const off_t at = kLinux + (off_t)(rounds % 16) * kChunk;
    for (unsigned i = 0; i < kChunk / 4; ++i) out[i] = rounds * 0x9E3779B9U + i;
    transfer(disk, out, kChunk, at, 1);
    transfer(disk, in, kChunk, at, 0);
    if (memcmp(in, out, kChunk) != 0)
      give_up("Linux reads something else than it has written, in round %u", rounds);
    ++rounds;
  } while (!ends);
  printf("Linux has written and read %u chunks meanwhile\n", rounds);
  fflush(stdout);
  _exit(0);
}

int main(int count, char** words) {
  if (count != 6) give_up("usage: gpu_io GPU_FOLDER NVME_FOLDER CONTROLLER DISK NVME_IO.ptx");
  const char* const program = text_of(words[5]);
  const int controller = open(words[3], O_RDWR), disk = open(words[4], O_RDWR | O_DIRECT);
  int block = 0;
  if (controller < 0 || disk < 0 || ioctl(disk, BLKSSZGET, &block) != 0)
    give_up("%s, %s: %s", words[3], words[4], strerror(errno));
  const struct gpu gpu = open_gpu(words[1]);

  uint32_t* const data = pages(kBytes);
  uint64_t sum = 0;
  for (unsigned i = 0; i < kBytes / 4; ++i) {
    data[i] = i * 2654435761U;
    sum += data[i];
  }
  transfer(disk, data, kBytes, kFrom, 1);

  // In video memory: the two queues, what is counted of them, lists, data.
  const uint64_t at = gpu.first + 0x40000, submissions = at, completions = at + 2 * kPage,
                 progress = at + 3 * kPage, report = progress + 0x800, lists = at + 0x10000,
                 buffers = at + 0x40000;
  const uint64_t bus = bar_at(words[1], 0), doorbells = WL_GPU_WINDOW_FIRST;
  static const char zeros[4 * kPage];
  upload(&gpu, at, zeros, sizeof zeros);
  create(controller, 0x05, bus + completions, 1, 0);
  create(controller, 0x01, bus + submissions, 2, (uint32_t)kQueue << 16);
  open_window(&gpu, 0, bar_at(words[2], 0) + 0x1000, doorbells, kPage, 0);

  struct parameters p = {
      .queue = {gpu.base + submissions, gpu.base + completions, doorbells + 8 * kQueue,
                doorbells + 8 * kQueue + 4, gpu.base + progress, kEntries, kPage},
      .buffers = {gpu.base + buffers, bus + buffers, gpu.base + lists, bus + lists, kBuffers, 0},
      .work = {kFrom / block, kTo / block, kChunks, 10000000, 1, (uint32_t)block, (uint32_t)(kChunk / block),
               kAdd},
      .report = gpu.base + report};
  fflush(stdout);
  const pid_t other = fork();
  if (other == 0) use_disk(disk);
  launch(&gpu, program, "nvme_io", &p, sizeof p, 1, 128);
  char message[kMessage];
  const uint32_t state = finish(&gpu, message);
  int status = 0;
  kill(other, SIGTERM);
  if (waitpid(other, &status, 0) != other || status != 0) give_up("Linux's own use of the disk has failed");
  if (state != WL_GPU_STATE_DONE) give_up("the kernel ended with state %u: %s", state, message);
  struct nvme_report r;
  download(&gpu, &r, report, sizeof r);
  if (r.written != kChunks || r.failed != 0 || r.failure != 0 || r.sum != sum)
    give_up("the kernel has written %" PRIu64 " chunks of %d, %" PRIu64 " failed (0x%" PRIx64
            "), and their sum is %" PRIu64 ", not %" PRIu64,
            r.written, kChunks, r.failed, r.failure, r.sum, sum);
  printf("the kernel has read and written %d chunks of %d bytes, and their sum is right\n", kChunks, kChunk);
  command(controller, 0x00, kQueue, 0, NULL);
  command(controller, 0x04, kQueue, 0, NULL);
  uint32_t* const got = pages(kBytes);
  transfer(disk, got, kBytes, kTo, 0);
  for (unsigned i = 0; i < kBytes / 4; ++i)
    if (got[i] != data[i] + kAdd)
      give_up("word %u of what the kernel wrote is 0x%x, not 0x%x", i, got[i], data[i] + kAdd);
  transfer(disk, got, kBytes, kFrom, 0);
  if (memcmp(got, data, kBytes) != 0) give_up("what the kernel read has changed");
  printf("Linux finds all of it on the disk\n");
  return 0;
}
