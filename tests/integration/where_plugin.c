/* Stands in for QEMU around the plugin of `guest --where`: accesses of two functions that were placed at one
 * address one after the other, by one instruction, and then more places than the plugin has room for.
 *   where_plugin FILE */
#include <stdio.h>
#include <string.h>

#include "sw/guest/where.c"

static const char* device;
static uint64_t place;
static tb_heard translates;
static memory_heard hears;
static end_heard ends;

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t plugin, tb_heard heard, void* data) {
  (void)plugin, (void)data;
  translates = heard;
}
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block) {
  return block == NULL;
}
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* block, size_t i) {
  (void)block, (void)i;
  return NULL;
}
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn* instruction) {
  return instruction == NULL;
}
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn* instruction, memory_heard heard, int flags,
                                      int kinds, void* data) {
  (void)instruction, (void)flags, (void)kinds, (void)data;
  hears = heard;
}
struct qemu_plugin_hwaddr* qemu_plugin_get_hwaddr(uint32_t info, uint64_t address) {
  (void)info;
  place = address;
  return (struct qemu_plugin_hwaddr*)&place;
}
_Bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr* address) {
  return address != NULL;
}
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr* address) {
  (void)address;
  return place;
}
const char* qemu_plugin_hwaddr_device_name(const struct qemu_plugin_hwaddr* address) {
  (void)address;
  return device;
}
unsigned qemu_plugin_mem_size_shift(uint32_t info) {
  return info;
}
_Bool qemu_plugin_mem_is_store(uint32_t info) {
  return info == 0;
}
void qemu_plugin_register_atexit_cb(uint64_t plugin, end_heard heard, void* data) {
  (void)plugin, (void)data;
  ends = heard;
}

int main(int count, char** words) {
  char to[4096] = "to=";
  char* arguments[] = {to};
  uint64_t i;
  if (count != 2) return 2;
  strncat(to, words[1], sizeof to - strlen(to) - 1);
  if (qemu_plugin_install(1, NULL, 1, arguments) != 0) return 1;
  translates(NULL, NULL);
  device = "one.sock BAR 0";
  hears(0, 2, 0x1000, (void*)0x40);
  device = "other.sock BAR 0";
  hears(0, 2, 0x1000, (void*)0x40);
  hears(0, 2, 0x1000, (void*)0x40);
  for (i = 0; i < 20000; ++i) hears(0, 2, 0x10000 + 64 * i, (void*)0x80);
  ends(NULL);
  return 0;
}
