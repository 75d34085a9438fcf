// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// What programs in user space share that use a GPU of `warpline serve` without a driver: its BARs as sysfs
// shows them, and launches. What goes wrong ends the program.
#ifndef WL_GUEST_GPU_ACCESS_H
#define WL_GUEST_GPU_ACCESS_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wl_gpu_regs.h"

// Of a program, what launch() has room for.
enum { kMessage = 512, kProgramBytes = 0x1F000 };

struct gpu {
  volatile uint8_t *registers, *memory;
  uint64_t first;  // offset of what is software's, a multiple of 64 KiB
  uint64_t base;   // address of offset 0 for kernels
};

static void give_up(const char* format, ...) __attribute__((noreturn, format(printf, 1, 2)));
static void give_up(const char* format, ...) {
  va_list words;
  va_start(words, format);
  vfprintf(stderr, format, words);
  va_end(words);
  fputc('\n', stderr);
  exit(1);
}

static inline volatile uint8_t* map_bar(const char* folder, unsigned bar) {
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

// Where a BAR lies on the bus.
static inline uint64_t bar_at(const char* folder, unsigned bar) {
  char path[512];
  snprintf(path, sizeof path, "%s/resource", folder);
  FILE* const file = fopen(path, "r");
  unsigned long long at = 0;
  for (unsigned i = 0; file != NULL && i <= bar; ++i)
    if (fscanf(file, "%llx %*x %*x", &at) != 1) at = 0;
  if (at == 0) give_up("%s has no BAR %u", path, bar);
  fclose(file);
  return at;
}

// Where a page of this process lies on the bus, where there is no IOMMU.
static inline uint64_t page_at(const void* page) {
  uint64_t entry = 0;
  const int file = open("/proc/self/pagemap", O_RDONLY);
  if (file < 0 || pread(file, &entry, 8, (off_t)((uintptr_t)page / 4096 * 8)) != 8 || !(entry >> 63))
    give_up("the page's place is not known: %s", strerror(errno));
  close(file);
  return (entry & ((UINT64_C(1) << 55) - 1)) * 4096;
}

static inline uint32_t get(const struct gpu* gpu, uint32_t offset) {
  return *(volatile uint32_t*)(gpu->registers + offset);
}
static inline uint64_t get_wide(const struct gpu* gpu, uint32_t offset) {
  return *(volatile uint64_t*)(gpu->registers + offset);
}
static inline void set(const struct gpu* gpu, uint32_t offset, uint32_t value) {
  *(volatile uint32_t*)(gpu->registers + offset) = value;
}
static inline void set_wide(const struct gpu* gpu, uint32_t offset, uint64_t value) {
  *(volatile uint64_t*)(gpu->registers + offset) = value;
}

// Offsets of video memory are multiples of 8.
static inline void upload(const struct gpu* gpu, uint64_t to, const void* from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    memcpy(&word, (const char*)from + at, bytes - at < 8 ? bytes - at : 8);
    *(volatile uint64_t*)(gpu->memory + to + at) = word;
  }
}
static inline void download(const struct gpu* gpu, void* to, uint64_t from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 8) {
    const uint64_t word = *(volatile uint64_t*)(gpu->memory + from + at);
    memcpy((char*)to + at, &word, bytes - at < 8 ? bytes - at : 8);
  }
}

// Lets the function's accesses through, which no driver has done, and maps it.
static inline struct gpu open_gpu(const char* folder) {
  char path[512];
  snprintf(path, sizeof path, "%s/config", folder);
  const int file = open(path, O_RDWR);
  uint16_t command = 0;
  if (file < 0 || pread(file, &command, 2, 4) != 2) give_up("%s: %s", path, strerror(errno));
  command |= 6;  // memory space, bus master
  if (pwrite(file, &command, 2, 4) != 2) give_up("%s: %s", path, strerror(errno));
  close(file);
  struct gpu gpu = {map_bar(folder, WL_GPU_BAR), map_bar(folder, 0), 0, 0};
  if (get(&gpu, WL_GPU_IDENTITY_OFFSET) != WL_GPU_IDENTITY_VALUE)
    give_up("IDENTITY is 0x%x", get(&gpu, WL_GPU_IDENTITY_OFFSET));
  gpu.first = (get_wide(&gpu, WL_GPU_MEMORY_FIRST_OFFSET) + 0xFFFF) & ~UINT64_C(0xFFFF);
  gpu.base = get_wide(&gpu, WL_GPU_MEMORY_BASE_OFFSET);
  return gpu;
}

static inline void open_window(const struct gpu* gpu, unsigned n, uint64_t bus, uint64_t address,
                               uint64_t bytes, int is_memory) {
  set_wide(gpu, WL_GPU_WINDOW_BUS_OFFSET(n), bus);
  set_wide(gpu, WL_GPU_WINDOW_ADDRESS_OFFSET(n), address);
  set_wide(gpu, WL_GPU_WINDOW_BYTES_OFFSET(n), bytes);
  set(gpu, WL_GPU_WINDOW_CONTROL_OFFSET(n),
      WL_GPU_WINDOW_CONTROL_ENABLE_MASK | (is_memory ? WL_GPU_WINDOW_CONTROL_PREFETCHABLE_MASK : 0));
}

// Starts a kernel, with grids and blocks of one extent. What it is made of takes the first 128 KiB of
// software's memory.
static inline void launch(const struct gpu* gpu, const char* program, const char* entry,
                          const void* parameters, uint32_t parameter_bytes, uint32_t grid, uint32_t block) {
  const uint64_t at = gpu->first;
  const uint64_t places[4] = {at + 0x1000, at + 0x100, at + 0x200, at + 0x400};
  const uint32_t sizes[12] = {(uint32_t)strlen(program),
                              (uint32_t)strlen(entry),
                              parameter_bytes,
                              kMessage,
                              0 /* shared memory */,
                              grid,
                              1,
                              1,
                              block,
                              1,
                              1,
                              0};
  uint8_t descriptor[WL_GPU_LAUNCH_BYTES];
  memcpy(descriptor + WL_GPU_LAUNCH_PROGRAM_OFFSET, places, sizeof places);
  memcpy(descriptor + WL_GPU_LAUNCH_PROGRAM_LENGTH_OFFSET, sizes, sizeof sizes);
  upload(gpu, places[0], program, strlen(program));
  upload(gpu, places[1], entry, strlen(entry));
  upload(gpu, places[2], parameters, parameter_bytes);
  upload(gpu, at, descriptor, sizeof descriptor);
  set_wide(gpu, WL_GPU_LAUNCH_DESCRIPTOR_OFFSET, at);
  set(gpu, WL_GPU_LAUNCH_DOORBELL_OFFSET, 1);
}
static inline uint32_t state_of(const struct gpu* gpu) {
  return get(gpu, WL_GPU_STATUS_OFFSET) & WL_GPU_STATUS_STATE_MASK;
}
// How it ended; RUNNING: it did not, after so many looks. Its text is in `message`.
static inline uint32_t finish(const struct gpu* gpu, char message[kMessage]) {
  uint32_t state = state_of(gpu);
  for (unsigned looks = 0; state == WL_GPU_STATE_RUNNING && looks < 10000000; ++looks) state = state_of(gpu);
  download(gpu, message, gpu->first + 0x400, kMessage);
  return state;
}

// A program in a file, ended by a zero byte.
static inline char* text_of(const char* path) {
  FILE* const file = fopen(path, "r");
  char* const text = calloc(1, kProgramBytes + 1);
  const size_t bytes = file == NULL || text == NULL ? 0 : fread(text, 1, kProgramBytes + 1, file);
  if (bytes == 0) give_up("%s cannot be read", path);
  if (bytes > kProgramBytes) give_up("%s is longer than the %d bytes there are for it", path, kProgramBytes);
  fclose(file);
  return text;
}

#endif
