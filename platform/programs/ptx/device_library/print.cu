// printf and assert.
#include "library.h"
#include "print_format.h"

using warpline::device::PrintConversion;
using warpline::device::print_conversion;

struct Ring {
  Word base, bytes;  ///< bytes: a multiple of 8
  Word head;         ///< position where the next record begins
  Word tail;         ///< up to there the host has read
};
extern "C" {
__device__ Ring __warpline_printf;
}

namespace device_library {

__device__ unsigned length_of(const char* text, Word most) {
  unsigned n = 0;
  while (n < most && text[n] != 0) ++n;
  return n;
}

/// Writes a record, and no more words than it has.
struct Writer {
  Word base, bytes, at;
  unsigned left;
  __device__ void put(Word word) {
    if (left == 0) return;
    --left;
    *reinterpret_cast<Word*>(base + at) = word;
    at += 8;
    if (at == bytes) at = 0;
  }
  __device__ void put_text(const char* text, unsigned length) {
    for (unsigned i = 0; i < length; i += 8) {
      Word word = 0;
      for (unsigned k = 0; k < 8 && i + k < length; ++k)
        word |= static_cast<Word>(static_cast<unsigned char>(text[i + k])) << 8 * k;
      put(word);
    }
  }
};

/// Calls number(bits) and text(pointer) for the arguments that a format takes; how many these are.
template <class Number, class Text>
__device__ int for_each_argument(const char* format, Word arguments, Number&& number, Text&& text) {
  unsigned n = 0;
  for (const char* p = format; *p != 0;) {
    if (*p != '%') {
      ++p;
      continue;
    }
    const PrintConversion c = print_conversion(p);
    p += c.length == 0 ? 1 : c.length;
    if (c.length == 0 || c.bytes == 0) continue;
    if (n + c.stars + 1 > warpline::device::kMostPrintArguments) continue;
    n += c.stars + 1;
    for (unsigned i = 0; i < c.stars; ++i) {
      arguments = (arguments + 3) & ~Word{3};
      number(*reinterpret_cast<const unsigned*>(arguments));
      arguments += 4;
    }
    arguments = (arguments + c.bytes - 1) & ~Word{c.bytes - 1};
    if (c.type == 's') {
      text(*reinterpret_cast<const char* const*>(arguments));
    } else if (c.bytes == 8) {
      number(*reinterpret_cast<const Word*>(arguments));
    } else {
      number(*reinterpret_cast<const unsigned*>(arguments));
    }
    arguments += c.bytes;
  }
  return static_cast<int>(n);
}

__device__ __noinline__ int print(const char* format, Word arguments, Word kind) {
  if (format == nullptr) return -1;
  Ring& ring = __warpline_printf;
  const Word bytes = ring.bytes;
  if (ring.base == 0) return -2;
  unsigned words = warpline::device::kPrintHeaderWords;
  // A format that is gone by the time it is read goes with the record.
  const bool stays = __isGlobal(format);
  const unsigned format_length = stays ? 0 : length_of(format, bytes);
  words += (format_length + 7) / 8;
  for_each_argument(
      format, arguments, [&](Word) { ++words; },
      [&](const char* text) { words += 1 + (text == nullptr ? 0 : (length_of(text, bytes) + 7) / 8); });
  if (Word{words} * 8 > bytes) return -2;
  const Word position = atomicAdd(&ring.head, Word{words} * 8);
  Writer w{ring.base, bytes, position % bytes, words};
  const Word first = w.at;
  w.put(0);
  w.put(stays ? reinterpret_cast<Word>(format) : 0);
  w.put(words | Word{format_length} << 32);
  w.put(kind);
  if (!stays) w.put_text(format, format_length);
  const int n = for_each_argument(
      format, arguments, [&](Word bits) { w.put(bits); },
      [&](const char* text) {
        const unsigned length = text == nullptr ? 0 : length_of(text, bytes);
        w.put(text == nullptr ? ~Word{0} : length);
        w.put_text(text, length);
      });
  // A record that others have come upon meanwhile is lost, and leaves theirs alone.
  if (look(ring.head) - position <= bytes)
    *reinterpret_cast<Word*>(ring.base + first) = position ^ warpline::device::kPrintStamp;
  return n;
}

}  // namespace device_library

extern "C" {

__device__ __attribute__((weak)) int library_vprintf(const char* format, const char* arguments) {
  return print(format, reinterpret_cast<Word>(arguments), 0);
}

__device__ __attribute__((weak)) void library___assertfail(const char* message, const char* file, unsigned line,
                                                   const char* function, size_t) {
  struct {
    const char* file;
    unsigned line;
    const char* function;
    unsigned block[3], thread[3];
    const char* message;
  } arguments{file,       line,        function,    {blockIdx.x, blockIdx.y, blockIdx.z},
              {threadIdx.x, threadIdx.y, threadIdx.z}, message};
  print("%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
        reinterpret_cast<Word>(&arguments), warpline::device::kPrintAssertion);
  // The grid ends with the trap, and what is under way with it.
  __threadfence();
  LIBRARY_TRAP(ASSERTION_FAILED, 0ULL);
}

}  // extern "C"
