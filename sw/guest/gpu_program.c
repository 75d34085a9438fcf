// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Runs kernels on a GPU of `warpline serve` from user space, without a driver: by its BARs as sysfs shows
// them.
//   gpu_program FOLDER_IN_SYSFS VECADD.ptx
// The program is sw/kernels/vecadd.cu. Exit status 0: all was as it should be.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wl_gpu_regs.h"

enum { kNumbers = 1000, kMessage = 512 };
static volatile uint8_t *registers, *memory;
static const char* folder;
static unsigned launches;

static void give_up(const char* format, ...) __attribute__((noreturn, format(printf, 1, 2)));
static void give_up(const char* format, ...) {
  va_list words;
  va_start(words, format);
  vfprintf(stderr, format, words);
  va_end(words);
  fputc('\n', stderr);
  exit(1);
}

static volatile uint8_t* map_bar(unsigned bar) {
  char path[512];
  snprintf(path, sizeof path, "%s/resource%u", folder, bar);
  const int file = open(path, O_RDWR | O_SYNC);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) give_up("%s: %s", path, strerror(errno));
  void* const at = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) give_up("%s: mmap: %s", path, strerror(errno));
  close(file);
  return at;
}

static uint32_t get(uint32_t offset) {
  return *(volatile uint32_t*)(registers + offset);
}
static uint64_t get_wide(uint32_t offset) {
  return *(volatile uint64_t*)(registers + offset);
}
static void set(uint32_t offset, uint32_t value) {
  *(volatile uint32_t*)(registers + offset) = value;
}
static void set_wide(uint32_t offset, uint64_t value) {
  *(volatile uint64_t*)(registers + offset) = value;
}

static void upload(uint64_t to, const void* from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    memcpy(&word, (const char*)from + at, bytes - at < 8 ? bytes - at : 8);
    *(volatile uint64_t*)(memory + to + at) = word;
  }
}
static void download(void* to, uint64_t from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 8) {
    const uint64_t word = *(volatile uint64_t*)(memory + from + at);
    memcpy((char*)to + at, &word, bytes - at < 8 ? bytes - at : 8);
  }
}

/// Lets memory accesses of the function through, which no driver has done.
static void enable(void) {
  char path[512];
  snprintf(path, sizeof path, "%s/config", folder);
  const int file = open(path, O_RDWR);
  uint16_t command = 0;
  if (file < 0 || pread(file, &command, 2, 4) != 2) give_up("%s: %s", path, strerror(errno));
  command |= 6;  // memory space, bus master
  if (pwrite(file, &command, 2, 4) != 2) give_up("%s: %s", path, strerror(errno));
  close(file);
}

/// Where a page of this process lies on the bus, where there is no IOMMU.
static uint64_t bus_address(const void* page) {
  uint64_t entry = 0;
  const int file = open("/proc/self/pagemap", O_RDONLY);
  if (file < 0 || pread(file, &entry, 8, (off_t)((uintptr_t)page / 4096 * 8)) != 8 || !(entry >> 63))
    give_up("the page's place is not known: %s", strerror(errno));
  close(file);
  return (entry & ((UINT64_C(1) << 55) - 1)) * 4096;
}

static void put(uint8_t* at, const void* value, size_t bytes) {
  memcpy(at, value, bytes);
}

/// Runs a kernel and returns how it ended; its text is in `message`.
static uint32_t launch(uint64_t at, const char* program, const char* entry, const uint64_t* parameters,
                       uint32_t parameter_bytes, char* message) {
  uint8_t descriptor[WL_GPU_LAUNCH_BYTES] = {0};
  const uint64_t places[4] = {at + 0x1000, at + 0x100, at + 0x200, at + 0x400};
  const uint32_t sizes[12] = {(uint32_t)strlen(program),
                              (uint32_t)strlen(entry),
                              parameter_bytes,
                              kMessage,
                              0,  // shared memory
                              8,
                              1,
                              1,
                              128,
                              1,
                              1,
                              0};
  put(descriptor + WL_GPU_LAUNCH_PROGRAM_OFFSET, places, sizeof places);
  put(descriptor + WL_GPU_LAUNCH_PROGRAM_LENGTH_OFFSET, sizes, sizeof sizes);
  upload(places[0], program, strlen(program));
  upload(places[1], entry, strlen(entry));
  upload(places[2], parameters, parameter_bytes);
  upload(at, descriptor, sizeof descriptor);
  set_wide(WL_GPU_LAUNCH_DESCRIPTOR_OFFSET, at);
  set(WL_GPU_LAUNCH_DOORBELL_OFFSET, 1);
  ++launches;
  uint32_t state = WL_GPU_STATE_RUNNING;
  for (unsigned looks = 0; state == WL_GPU_STATE_RUNNING && looks < 10000000; ++looks)
    state = get(WL_GPU_STATUS_OFFSET) & WL_GPU_STATUS_STATE_MASK;
  download(message, places[3], kMessage);
  return state;
}

static void compare(const float* got, const char* where) {
  for (int i = 0; i < kNumbers; ++i)
    if (got[i] != 3.0F * (float)i) give_up("%s: number %d is %g, not %g", where, i, got[i], 3.0 * i);
  printf("%d sums are right in %s\n", kNumbers, where);
}

int main(int count, char** words) {
  if (count != 3) give_up("usage: gpu_program FOLDER VECADD.ptx");
  folder = words[1];
  static char program[65536];
  FILE* const file = fopen(words[2], "r");
  if (file == NULL || fread(program, 1, sizeof program - 1, file) == 0)
    give_up("%s cannot be read", words[2]);
  fclose(file);
  enable();
  registers = map_bar(WL_GPU_BAR);
  memory = map_bar(0);
  if (get(WL_GPU_IDENTITY_OFFSET) != WL_GPU_IDENTITY_VALUE) give_up("IDENTITY is 0x%x", get(0));
  const uint64_t first = get_wide(WL_GPU_MEMORY_FIRST_OFFSET), base = get_wide(WL_GPU_MEMORY_BASE_OFFSET);
  printf("%u SMs, %" PRIu64 " MiB of video memory\n", get(WL_GPU_SMS_OFFSET),
         get_wide(WL_GPU_MEMORY_BYTES_OFFSET) >> 20);

  // a and b are in video memory; their sums go there, too.
  const uint64_t at = (first + 0xFFFF) & ~UINT64_C(0xFFFF), data = at + 0x20000;
  static float a[kNumbers], b[kNumbers], c[kNumbers];
  for (int i = 0; i < kNumbers; ++i) {
    a[i] = (float)i;
    b[i] = 2.0F * (float)i;
  }
  upload(data, a, sizeof a);
  upload(data + 0x4000, b, sizeof b);
  uint64_t parameters[4] = {base + data, base + data + 0x4000, base + data + 0x8000, kNumbers};
  const uint32_t bytes = 28;
  char message[kMessage] = {0};
  uint32_t state = launch(at, program, "vecadd", parameters, bytes, message);
  if (state != WL_GPU_STATE_DONE) give_up("the kernel ended with state %u: %s", state, message);
  download(c, data + 0x8000, sizeof c);
  compare(c, "video memory");

  // And into memory of this process, by a window.
  float* const page =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (page == MAP_FAILED || mlock(page, 4096) != 0) give_up("no page: %s", strerror(errno));
  page[0] = 1;
  set_wide(WL_GPU_WINDOW_BUS_OFFSET(0), bus_address(page));
  set_wide(WL_GPU_WINDOW_ADDRESS_OFFSET(0), WL_GPU_WINDOW_FIRST);
  set_wide(WL_GPU_WINDOW_BYTES_OFFSET(0), 4096);
  set(WL_GPU_WINDOW_CONTROL_OFFSET(0),
      WL_GPU_WINDOW_CONTROL_ENABLE_MASK | WL_GPU_WINDOW_CONTROL_PREFETCHABLE_MASK);
  parameters[2] = WL_GPU_WINDOW_FIRST;
  state = launch(at, program, "vecadd", parameters, bytes, message);
  if (state != WL_GPU_STATE_DONE) give_up("with a window the kernel ended with state %u: %s", state, message);
  compare(page, "this process's memory");

  // What cannot be is told, and the GPU goes on.
  if (launch(at, "no program", "vecadd", parameters, bytes, message) != WL_GPU_STATE_REFUSED)
    give_up("what is no program was not refused");
  printf("refused: %.40s\n", message);
  parameters[2] = 0x1000;
  if (launch(at, program, "vecadd", parameters, bytes, message) != WL_GPU_STATE_FAULTED ||
      get(WL_GPU_FAULT_KIND_OFFSET) != WL_GPU_FAULT_CODE_UNMAPPED)
    give_up("a store to nowhere was no fault");
  printf("faulted: %.40s\n", message);
  parameters[2] = base + data + 0x8000;
  if (launch(at, program, "vecadd", parameters, bytes, message) != WL_GPU_STATE_DONE)
    give_up("after a fault nothing runs any more");
  if (get(WL_GPU_COMPLETIONS_OFFSET) != launches)
    give_up("%u launches were counted", get(WL_GPU_COMPLETIONS_OFFSET));
  printf("%u launches\n", launches);
  return 0;
}
