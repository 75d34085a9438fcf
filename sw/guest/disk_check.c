// What tests in the guest ask of a disk, past the page cache (O_DIRECT): every byte that is read is held
// against what was written and acknowledged. Each block says its number and how often it was written, so a
// block that is old, torn or another one's is seen.
//
// clang-format off
//   disk_check fill DISK KNOWN BLOCKS              writes the first BLOCKS blocks, and takes them down in the file KNOWN
//   disk_check read DISK KNOWN FIRST COUNT         reads blocks one by one, and says how often that ended how: "ok 3", "ENODATA 1"
//   disk_check write DISK KNOWN FIRST COUNT        likewise; one that fails may have been written or not
//   disk_check check DISK KNOWN                    reads all that is known
//   disk_check random DISK KNOWN OPERATIONS SEED   reads and writes of 1 to 64 blocks at random places, 8 at a time
//   disk_check speed DISK MIB                      writes so much, reads it, and says how fast that was, in 10^6 bytes a second
// clang-format on
// Exit status 0; 1: what was read is not what was written; 2: it could not be tried.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kDepth = 8, kPiece = 512 * 1024, kMostBlocks = 64 };

static int disk, known_file;
static unsigned block_bytes;
static uint64_t disk_bytes;
// Of each block, how often it was written. The highest bit: maybe once more.
static uint32_t* known;
static uint64_t known_blocks;
static const uint32_t kMaybe = UINT32_C(1) << 31;

static void give_up(const char* what) {
  fprintf(stderr, "disk_check: %s: %s\n", what, strerror(errno));
  exit(2);
}

static uint64_t number(const char* text) {
  char* end = NULL;
  errno = 0;
  const uint64_t n = strtoull(text, &end, 0);
  if (errno == 0 && (*text == '\0' || *end != '\0')) errno = EINVAL;
  if (errno != 0) give_up(text);
  return n;
}

static void* pages(size_t bytes) {
  void* const at =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (at == MAP_FAILED) give_up("memory");
  return at;
}

// What a block has in it. Words differ within the block, between blocks, and from one time to the next.
static uint64_t seed_of(uint64_t block, uint32_t times) {
  uint64_t x = block * UINT64_C(0x9E3779B97F4A7C15) + times * UINT64_C(0xD1B54A32D192ED03) + 1;
  x ^= x >> 31;
  return x * UINT64_C(0x94D049BB133111EB);
}
static void put_block(uint64_t* at, uint64_t block, uint32_t times) {
  uint64_t word = seed_of(block, times);
  for (unsigned i = 0; i < block_bytes / 8; ++i, word += UINT64_C(0x9E3779B97F4A7C15)) at[i] = word;
}
static int is_block(const uint64_t* at, uint64_t block, uint32_t times) {
  uint64_t word = seed_of(block, times), differs = 0;
  for (unsigned i = 0; i < block_bytes / 8; ++i, word += UINT64_C(0x9E3779B97F4A7C15))
    differs |= at[i] ^ word;
  return differs == 0;
}
static void check_block(const void* at, uint64_t block) {
  const uint32_t times = known[block] & ~kMaybe;
  if (is_block(at, block, times)) {
    known[block] = times;
  } else if ((known[block] & kMaybe) != 0 && is_block(at, block, times + 1)) {
    known[block] = times + 1;
  } else {
    printf("block %llu is not what was written\n", (unsigned long long)block);
    exit(1);
  }
}

static void open_disk(const char* path) {
  disk = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
  if (disk < 0 || ioctl(disk, BLKSSZGET, &block_bytes) != 0 || ioctl(disk, BLKGETSIZE64, &disk_bytes) != 0)
    give_up(path);
}
static void open_known(const char* path, uint64_t blocks) {
  known_file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (known_file < 0 || (blocks != 0 && ftruncate(known_file, (off_t)(4 * blocks)) != 0)) give_up(path);
  struct stat status;
  if (fstat(known_file, &status) != 0) give_up(path);
  known_blocks = (uint64_t)status.st_size / 4;
  if (known_blocks == 0 || known_blocks > disk_bytes / block_bytes) {
    errno = ERANGE;
    give_up(path);
  }
  known = mmap(NULL, 4 * known_blocks, PROT_READ | PROT_WRITE, MAP_SHARED, known_file, 0);
  if (known == MAP_FAILED) give_up(path);
}

// How often something ended so.
static unsigned ends[4096];
static void tell_ends(void) {
  for (unsigned e = 0; e < sizeof ends / sizeof *ends; ++e)
    if (ends[e] != 0) printf("%s %u\n", e == 0 ? "ok" : strerrorname_np((int)e), ends[e]);
}

static void one_by_one(int writes, uint64_t first, uint64_t count) {
  void* const at = pages(block_bytes);
  if (count > known_blocks || first > known_blocks - count) {
    errno = ERANGE;
    give_up("blocks");
  }
  for (uint64_t b = first; b < first + count; ++b) {
    const off_t place = (off_t)(b * block_bytes);
    if (writes) put_block(at, b, (known[b] & ~kMaybe) + 1);
    const ssize_t n = writes ? pwrite(disk, at, block_bytes, place) : pread(disk, at, block_bytes, place);
    ++ends[n < 0 ? errno : n == (ssize_t)block_bytes ? 0 : EIO];
    if (n != (ssize_t)block_bytes) {
      if (writes) known[b] |= kMaybe;
    } else if (writes) {
      known[b] = (known[b] & ~kMaybe) + 1;
    } else {
      check_block(at, b);
    }
  }
  tell_ends();
}

// Several at a time.
static aio_context_t context;
static void submit(struct iocb* op, int writes, void* at, uint64_t offset, uint64_t bytes, unsigned slot) {
  memset(op, 0, sizeof *op);
  op->aio_lio_opcode = writes ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD;
  op->aio_fildes = (uint32_t)disk;
  op->aio_buf = (uintptr_t)at;
  op->aio_nbytes = bytes;
  op->aio_offset = (int64_t)offset;
  op->aio_data = slot;
  if (syscall(SYS_io_submit, context, 1, &op) != 1) give_up("io_submit");
}
// The slot of one that has ended, as it should.
static unsigned wait_one(uint64_t* bytes) {
  struct io_event event;
  while (syscall(SYS_io_getevents, context, 1, 1, &event, NULL) != 1)
    if (errno != EINTR) give_up("io_getevents");
  if (event.res < 0) {
    errno = (int)-event.res;
    give_up("a read or write");
  }
  *bytes = (uint64_t)event.res;
  return (unsigned)event.data;
}
static void begin_several(void) {
  if (syscall(SYS_io_setup, kDepth, &context) != 0) give_up("io_setup");
}

static uint64_t state;
static uint64_t below(uint64_t n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (state >> 11) % n;
}

// Each slot has its own part of the known blocks, so that no two meet.
static void at_random(uint64_t operations, uint64_t seed) {
  struct iocb ops[kDepth];
  struct {
    uint64_t first, count;
    int writes, busy;
    uint64_t* at;
  } slots[kDepth];
  const uint64_t part = known_blocks / kDepth;
  if (part < kMostBlocks) {
    errno = ERANGE;
    give_up("random");
  }
  state = seed * 2 + 1;
  begin_several();
  memset(slots, 0, sizeof slots);
  for (unsigned s = 0; s < kDepth; ++s) slots[s].at = pages(kMostBlocks * block_bytes);
  uint64_t begun = 0, reads = 0, moved = 0;
  for (uint64_t ended = 0; ended < operations;) {
    for (unsigned s = 0; s < kDepth && begun < operations; ++s) {
      if (slots[s].busy) continue;
      slots[s].busy = 1;
      slots[s].count = 1 + below(kMostBlocks);
      slots[s].first = s * part + below(part - slots[s].count + 1);
      slots[s].writes = below(2) != 0;
      for (uint64_t i = 0; slots[s].writes && i < slots[s].count; ++i)
        put_block(slots[s].at + i * block_bytes / 8, slots[s].first + i, known[slots[s].first + i] + 1);
      submit(&ops[s], slots[s].writes, slots[s].at, slots[s].first * block_bytes,
             slots[s].count * block_bytes, s);
      ++begun;
    }
    uint64_t bytes = 0;
    const unsigned s = wait_one(&bytes);
    if (bytes != slots[s].count * block_bytes) {
      errno = EIO;
      give_up("a short read or write");
    }
    for (uint64_t i = 0; i < slots[s].count; ++i) {
      if (slots[s].writes) {
        ++known[slots[s].first + i];
      } else {
        check_block(slots[s].at + i * block_bytes / 8, slots[s].first + i);
      }
    }
    slots[s].busy = 0;
    reads += !slots[s].writes;
    moved += bytes;
    ++ended;
  }
  printf("%llu reads and %llu writes at random places, %llu bytes\n", (unsigned long long)reads,
         (unsigned long long)(operations - reads), (unsigned long long)moved);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
// Seconds in which nothing but the disk was waited for: data is made and looked at between rounds of kDepth
// pieces.
static double move_all(int writes, uint64_t bytes, uint32_t times, char* at, uint64_t* sum) {
  struct iocb ops[kDepth];
  double took = 0;
  for (uint64_t done = 0; done < bytes;) {
    unsigned n = 0;
    for (; n < kDepth && done + (uint64_t)n * kPiece < bytes; ++n)
      for (uint64_t i = 0; writes && i < kPiece / block_bytes; ++i)
        put_block((uint64_t*)(at + n * kPiece + i * block_bytes), (done + n * kPiece) / block_bytes + i,
                  times);
    const double from = now();
    for (unsigned s = 0; s < n; ++s)
      submit(&ops[s], writes, at + s * kPiece, done + s * (uint64_t)kPiece, kPiece, s);
    for (unsigned s = 0; s < n; ++s) {
      uint64_t moved = 0;
      wait_one(&moved);
      if (moved != kPiece) {
        errno = EIO;
        give_up("a short read or write");
      }
    }
    took += now() - from;
    for (uint64_t i = 0; i < (uint64_t)n * kPiece / 8; ++i)
      *sum = (*sum ^ ((uint64_t*)at)[i]) * UINT64_C(0x100000001B3);
    for (uint64_t i = 0; !writes && i < (uint64_t)n * kPiece / block_bytes; ++i)
      if (!is_block((uint64_t*)(at + i * block_bytes), done / block_bytes + i, times)) {
        printf("block %llu is not what was written\n", (unsigned long long)(done / block_bytes + i));
        exit(1);
      }
    if (!writes) memset(at, 0, (size_t)n * kPiece);
    done += (uint64_t)n * kPiece;
  }
  return took;
}
static void measure(uint64_t mib) {
  const uint64_t bytes = mib << 20;
  if (bytes == 0 || bytes > disk_bytes) {
    errno = ERANGE;
    give_up("MIB");
  }
  begin_several();
  char* const at = pages((size_t)kDepth * kPiece);
  const uint32_t times = (uint32_t)time(NULL);
  uint64_t written = 0, read = 0;
  const double writing = move_all(1, bytes, times, at, &written);
  const double reading = move_all(0, bytes, times, at, &read);
  if (written != read) {
    printf("the checksum of what was read is another\n");
    exit(1);
  }
  printf("%llu MiB written with %.0f MB/s and read with %.0f MB/s, checksum %016llx\n",
         (unsigned long long)mib, (double)bytes / writing / 1e6, (double)bytes / reading / 1e6,
         (unsigned long long)read);
}

static int is(const char* word, const char* name, int wanted, int given) {
  return strcmp(word, name) == 0 && wanted == given;
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  const char* const what = argc > 2 ? argv[1] : "";
  if (argc > 2) open_disk(argv[2]);
  if (is(what, "speed", 4, argc)) {
    measure(number(argv[3]));
    return 0;
  }
  if (argc > 3) open_known(argv[3], is(what, "fill", 5, argc) ? number(argv[4]) : 0);
  if (is(what, "fill", 5, argc)) {
    memset(known, 0, 4 * known_blocks);
    one_by_one(1, 0, known_blocks);
  } else if (is(what, "read", 6, argc) || is(what, "write", 6, argc)) {
    one_by_one(what[0] == 'w', number(argv[4]), number(argv[5]));
  } else if (is(what, "check", 4, argc)) {
    one_by_one(0, 0, known_blocks);
  } else if (is(what, "random", 6, argc)) {
    at_random(number(argv[4]), number(argv[5]));
  } else {
    fprintf(stderr, "usage: disk_check fill|read|write|check|random|speed DISK ...\n");
    return 2;
  }
  return 0;
}
