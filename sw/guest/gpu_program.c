// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Runs kernels on a GPU of `warpline serve` from user space, without a driver: in video memory, and into this
// process's own.
//   gpu_program FOLDER_IN_SYSFS VECADD.ptx
// The program is sw/kernels/vecadd.cu.
//   gpu_program FOLDER_IN_SYSFS PROGRAM.ptx KERNEL
// Starts a kernel that takes no parameters, and leaves it running.
// Exit status 0: all was as it should be.
#include <inttypes.h>

#include "gpu_access.h"

enum { kNumbers = 1000 };
static const char* program;
static unsigned launches;

static uint32_t add(const struct gpu* gpu, const char* text, uint64_t sums, char message[kMessage]) {
  const uint64_t data = gpu->base + gpu->first + 0x20000;
  const uint64_t parameters[4] = {data, data + 0x4000, sums, kNumbers};
  launch(gpu, text, "vecadd", parameters, 28, 8, 128);
  ++launches;
  return finish(gpu, message);
}

static void compare(const float* got, const char* where) {
  for (int i = 0; i < kNumbers; ++i)
    if (got[i] != 3.0F * (float)i) give_up("%s: number %d is %g, not %g", where, i, got[i], 3.0 * i);
  printf("%d sums are right in %s\n", kNumbers, where);
}

int main(int count, char** words) {
  if (count != 3 && count != 4) give_up("usage: gpu_program FOLDER PROGRAM.ptx [KERNEL]");
  program = text_of(words[2]);
  const struct gpu gpu = open_gpu(words[1]);
  if (count == 4) {
    launch(&gpu, program, words[3], NULL, 0, 1, 32);
    if (state_of(&gpu) != WL_GPU_STATE_RUNNING)
      give_up("%s does not run: state %u", words[3], state_of(&gpu));
    printf("%s runs\n", words[3]);
    return 0;
  }
  printf("%u SMs, %" PRIu64 " MiB of video memory\n", get(&gpu, WL_GPU_SMS_OFFSET),
         get_wide(&gpu, WL_GPU_MEMORY_BYTES_OFFSET) >> 20);
  const uint32_t before = get(&gpu, WL_GPU_COMPLETIONS_OFFSET);  // what others launched

  static float a[kNumbers], b[kNumbers], c[kNumbers];
  for (int i = 0; i < kNumbers; ++i) {
    a[i] = (float)i;
    b[i] = 2.0F * (float)i;
  }
  const uint64_t data = gpu.first + 0x20000, sums = data + 0x8000;
  upload(&gpu, data, a, sizeof a);
  upload(&gpu, data + 0x4000, b, sizeof b);
  char message[kMessage];
  uint32_t state = add(&gpu, program, gpu.base + sums, message);
  if (state != WL_GPU_STATE_DONE) give_up("the kernel ended with state %u: %s", state, message);
  download(&gpu, c, sums, sizeof c);
  compare(c, "video memory");

  float* const page =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (page == MAP_FAILED || mlock(page, 4096) != 0) give_up("no page: %s", strerror(errno));
  page[0] = 1;
  open_window(&gpu, 0, page_at(page), WL_GPU_WINDOW_FIRST, 4096, 1);
  state = add(&gpu, program, WL_GPU_WINDOW_FIRST, message);
  if (state != WL_GPU_STATE_DONE) give_up("with a window the kernel ended with state %u: %s", state, message);
  compare(page, "this process's memory");

  // What cannot be is told, and the GPU goes on.
  if (add(&gpu, "no program", gpu.base + sums, message) != WL_GPU_STATE_REFUSED)
    give_up("what is no program was not refused");
  printf("refused: %.40s\n", message);
  if (add(&gpu, program, 0x1000, message) != WL_GPU_STATE_FAULTED ||
      get(&gpu, WL_GPU_FAULT_KIND_OFFSET) != WL_GPU_FAULT_CODE_UNMAPPED)
    give_up("a store to nowhere was no fault");
  printf("faulted: %.40s\n", message);
  state = add(&gpu, program, gpu.base + sums, message);
  if (state != WL_GPU_STATE_DONE) give_up("after a fault the kernel ended with state %u: %s", state, message);
  const uint32_t counted = get(&gpu, WL_GPU_COMPLETIONS_OFFSET) - before;
  if (counted != launches) give_up("%u launches were counted, not %u", counted, launches);
  printf("%u launches\n", launches);
  return 0;
}
