/* Tells which instructions of the guest access the BARs of our devices: a plugin of QEMU's for its emulated
 * processors. `to=PATH` of its arguments: where a line for each instruction and place is written when QEMU
 * ends: MEMORY|ADDRESS|BYTES|read or write|INSTRUCTION|COUNT, and where there was no room for some,
 * others|COUNT. QEMU names the memory of a function that is served at SOCKET "... SOCKET BAR N". Numbers but
 * COUNT are hexadecimal.
 *
 * What QEMU exports to plugins (its manual, "QEMU TCG Plugins") is declared here, as Debian has no header of
 * it. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;
struct qemu_info;
typedef void (*tb_heard)(struct qemu_plugin_tb* block, void* data);
typedef void (*memory_heard)(unsigned processor, uint32_t info, uint64_t address, void* data);
typedef void (*end_heard)(void* data);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t plugin, tb_heard heard, void* data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* block, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn* instruction);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn* instruction, memory_heard heard, int flags,
                                      int kinds, void* data);
struct qemu_plugin_hwaddr* qemu_plugin_get_hwaddr(uint32_t info, uint64_t address);
_Bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr* address);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr* address);
const char* qemu_plugin_hwaddr_device_name(const struct qemu_plugin_hwaddr* address);
unsigned qemu_plugin_mem_size_shift(uint32_t info);
_Bool qemu_plugin_mem_is_store(uint32_t info);
void qemu_plugin_register_atexit_cb(uint64_t plugin, end_heard heard, void* data);

enum { kNoRegisters = 0, kReadsAndWrites = 3, kMostPlaces = 1 << 14 };

__attribute__((visibility("default"))) int qemu_plugin_version = 7; /* of QEMU 11 */

struct place {
  const char* memory; /* null: none is here */
  uint64_t address, pc, count;
  unsigned bytes, writes;
};
static struct place places[kMostPlaces];
static uint64_t others;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char path[4096];

static void accessed(unsigned processor, uint32_t info, uint64_t address, void* data) {
  struct qemu_plugin_hwaddr* const at = qemu_plugin_get_hwaddr(info, address);
  struct place seen;
  unsigned i, tries;
  (void)processor;
  if (at == NULL || !qemu_plugin_hwaddr_is_io(at)) return;
  seen.memory = qemu_plugin_hwaddr_device_name(at);
  if (seen.memory == NULL || strstr(seen.memory, " BAR ") == NULL) return;
  seen.address = qemu_plugin_hwaddr_phys_addr(at);
  seen.pc = (uint64_t)(uintptr_t)data;
  seen.count = 1;
  seen.bytes = 1U << qemu_plugin_mem_size_shift(info);
  seen.writes = qemu_plugin_mem_is_store(info);
  pthread_mutex_lock(&lock);
  i = (unsigned)((seen.address * 31 + seen.pc * 7 + seen.bytes * 2 + seen.writes) % kMostPlaces);
  for (tries = 0; tries < 64; ++tries, i = (i + 1) % kMostPlaces) {
    struct place* const p = &places[i];
    if (p->memory == NULL) {
      *p = seen;
      break;
    }
    /* Software may put one BAR where another was. */
    if (p->address == seen.address && p->pc == seen.pc && p->bytes == seen.bytes &&
        p->writes == seen.writes && strcmp(p->memory, seen.memory) == 0) {
      ++p->count;
      break;
    }
  }
  others += tries == 64;
  pthread_mutex_unlock(&lock);
}

static void translated(struct qemu_plugin_tb* block, void* data) {
  size_t i;
  (void)data;
  for (i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
    struct qemu_plugin_insn* const one = qemu_plugin_tb_get_insn(block, i);
    qemu_plugin_register_vcpu_mem_cb(one, accessed, kNoRegisters, kReadsAndWrites,
                                     (void*)(uintptr_t)qemu_plugin_insn_vaddr(one));
  }
}

static void ended(void* data) {
  FILE* const out = fopen(path, "w");
  unsigned i;
  (void)data;
  if (out == NULL) return;
  for (i = 0; i < kMostPlaces; ++i) {
    const struct place* const p = &places[i];
    if (p->memory == NULL) continue;
    fprintf(out, "%s|%llx|%x|%s|%llx|%llu\n", p->memory, (unsigned long long)p->address, p->bytes,
            p->writes ? "write" : "read", (unsigned long long)p->pc, (unsigned long long)p->count);
  }
  if (others != 0) fprintf(out, "others|%llu\n", (unsigned long long)others);
  fclose(out);
}

__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t plugin, const struct qemu_info* info,
                                                               int count, char** words) {
  (void)info;
  if (count != 1 || strncmp(words[0], "to=", 3) != 0 || strlen(words[0] + 3) >= sizeof path) return 1;
  strcpy(path, words[0] + 3);
  qemu_plugin_register_vcpu_tb_trans_cb(plugin, translated, NULL);
  qemu_plugin_register_atexit_cb(plugin, ended, NULL);
  return 0;
}
