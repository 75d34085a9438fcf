// malloc and free.
#include "library.h"

struct Heap {
  Word base, bytes;  ///< multiples of 16
  Word top;          ///< what lies behind it has never been handed out, or is back
  Word lists[192];   ///< free blocks of list_of(bytes) n: a count of changes, and the number of the first
};

extern "C" {
__device__ Heap __warpline_heap;
}

namespace device_library {

/// What lies before each block of the heap.
struct Block {
  unsigned state;  ///< kAllocated or kFree, told apart from other data by where it lies
  unsigned next;   ///< of a free one: the number of the next in its list
  Word capacity;   ///< bytes behind this
};
constexpr unsigned kAllocated = 0xA110C8EDU, kFree = 0xF7EE0B10U;
constexpr Word kHeader = sizeof(Block), kUnit = 16, kLists = 192;

__device__ unsigned state_at(unsigned state, Word offset) {
  return state ^ static_cast<unsigned>(offset / kUnit);
}
__device__ Block* block_at(Word offset) {
  return reinterpret_cast<Block*>(__warpline_heap.base + offset);
}
/// Four lists for each power of two, from 16 bytes on.
__device__ unsigned list_of(Word capacity) {
  const unsigned power = 63 - __clzll(static_cast<long long>(capacity));
  const unsigned n = (power - 4) * 4 + static_cast<unsigned>(capacity >> (power - 2) & 3);
  return n < kLists ? n : kLists - 1;
}

__device__ __noinline__ void push(Word offset) {
  Block* const b = block_at(offset);
  Word* const list = &__warpline_heap.lists[list_of(look(b->capacity))];
  for (Word head = look(*list);;) {
    *const_cast<volatile unsigned*>(&b->next) = static_cast<unsigned>(head);
    __threadfence();
    const Word wanted = (head >> 32) + 1 << 32 | (offset / kUnit + 1);
    const Word was = atomicCAS(list, head, wanted);
    if (was == head) return;
    head = was;
  }
}

/// The first block of a list, taken; ~0 where there is none.
__device__ __noinline__ Word pop(unsigned n) {
  Word* const list = &__warpline_heap.lists[n];
  for (Word head = look(*list); static_cast<unsigned>(head) != 0;) {
    const Word offset = (static_cast<unsigned>(head) - 1) * kUnit;
    const Word wanted = (head >> 32) + 1 << 32 | look(block_at(offset)->next);
    const Word was = atomicCAS(list, head, wanted);
    if (was == head) return offset;
    head = was;
  }
  return ~Word{0};
}

__device__ void* hand_out(Word offset) {
  atomicExch(&block_at(offset)->state, state_at(kAllocated, offset));
  return reinterpret_cast<void*>(__warpline_heap.base + offset + kHeader);
}

/// Hands out the first `need` bytes of a block; the others stay free.
__device__ __noinline__ void* split(Word offset, Word need) {
  const Word capacity = look(block_at(offset)->capacity);
  if (capacity >= need + kHeader + kUnit) {
    const Word rest = offset + kHeader + need;
    *const_cast<volatile Word*>(&block_at(offset)->capacity) = need;
    *const_cast<volatile Word*>(&block_at(rest)->capacity) = capacity - need - kHeader;
    atomicExch(&block_at(rest)->state, state_at(kFree, rest));
    push(rest);
  }
  return hand_out(offset);
}

}  // namespace device_library

extern "C" {

__device__ __attribute__((weak)) void* library_malloc(size_t bytes) {
  Heap& heap = __warpline_heap;
  const Word size = heap.bytes;
  if (bytes == 0 || bytes > size || heap.base == 0) return nullptr;
  const Word need = (bytes + kUnit - 1) & ~(kUnit - 1);
  const unsigned own = list_of(need);
  // One that is not much larger goes whole, so that blocks of a list stay of its size.
  for (unsigned n = own; n < own + 3 && n < kLists; ++n) {
    const Word near = pop(n);
    if (near == ~Word{0}) continue;
    if (look(block_at(near)->capacity) >= need) return hand_out(near);
    push(near);
  }
  for (Word top = look(heap.top); top + kHeader + need <= size;) {
    const Word was = atomicCAS(&heap.top, top, top + kHeader + need);
    if (was == top) {
      *const_cast<volatile Word*>(&block_at(top)->capacity) = need;
      return hand_out(top);
    }
    top = was;
  }
  for (unsigned n = own + 1; n < kLists; ++n) {
    const Word larger = pop(n);
    if (larger != ~Word{0}) return split(larger, need);
  }
  // Blocks of its own list are each larger or smaller than that.
  void* found = nullptr;
  Word passed = ~Word{0};
  while (found == nullptr) {
    const Word offset = pop(own);
    if (offset == ~Word{0}) break;
    if (look(block_at(offset)->capacity) >= need) {
      found = hand_out(offset);
    } else {
      *const_cast<volatile unsigned*>(&block_at(offset)->next) =
          passed == ~Word{0} ? 0 : static_cast<unsigned>(passed / kUnit + 1);
      passed = offset;
    }
  }
  while (passed != ~Word{0}) {
    const unsigned next = look(block_at(passed)->next);
    push(passed);
    passed = next == 0 ? ~Word{0} : (next - 1) * kUnit;
  }
  return found;
}

__device__ __attribute__((weak)) void library_free(void* pointer) {
  if (pointer == nullptr) return;
  Heap& heap = __warpline_heap;
  const Word offset = reinterpret_cast<Word>(pointer) - heap.base - kHeader;
  if (heap.base == 0 || reinterpret_cast<Word>(pointer) < heap.base + kHeader || offset >= heap.bytes ||
      offset % kUnit != 0) {
    LIBRARY_TRAP(NOT_ALLOCATED, pointer);
    return;
  }
  const unsigned freed = state_at(kFree, offset);
  const unsigned was = atomicCAS(&block_at(offset)->state, state_at(kAllocated, offset), freed);
  if (was != state_at(kAllocated, offset)) {
    if (was == freed)
      LIBRARY_TRAP(FREED_TWICE, pointer);
    else
      LIBRARY_TRAP(NOT_ALLOCATED, pointer);
    return;
  }
  const Word end = offset + kHeader + look(block_at(offset)->capacity);
  if (look(heap.top) == end && atomicCAS(&heap.top, end, offset) == end) return;
  push(offset);
}

/// The device runtime's cudaMalloc and cudaFree, whose memory is the same (CUDA C++ Programming Guide, "Memory
/// Declarations" of dynamic parallelism).
__device__ __attribute__((weak)) unsigned library___cudaCDP2Malloc(void** pointer, size_t bytes) {
  *pointer = library_malloc(bytes);
  return *pointer == nullptr && bytes != 0 ? cudaErrorMemoryAllocation : cudaSuccess;
}
__device__ __attribute__((weak)) unsigned library___cudaCDP2Free(void* pointer) {
  library_free(pointer);
  return cudaSuccess;
}

}  // extern "C"
