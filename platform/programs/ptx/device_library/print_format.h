#pragma once

// Read by the device library (CUDA) and by who formats what it has printed (C++).
#ifdef __CUDACC__
#define WARPLINE_HOST_DEVICE __device__ __noinline__ inline
#else
#define WARPLINE_HOST_DEVICE inline
#endif

namespace warpline::device {

/// A conversion of a format, such as `%-8.3f` or `%*llu` (CUDA C++ Programming Guide, "Formatted Output").
struct PrintConversion {
  unsigned length = 0;    ///< characters, the `%` included; 0: it is none, and the `%` stands for itself
  unsigned stars = 0;     ///< `*`, each of which takes an `int` of the arguments
  unsigned bytes = 0;     ///< of its own argument: 4 or 8; 0: it takes none (`%%`)
  unsigned modifier = 0;  ///< where its length modifier (`h`, `ll`) begins
  unsigned modifier_length = 0;
  char type = 0;  ///< the letter
};

/// More of them are not taken, and their conversions printed as they stand.
constexpr unsigned kMostPrintArguments = 32;

/// That which begins at the `%` that `text` points to; text ends with a NUL.
WARPLINE_HOST_DEVICE PrintConversion print_conversion(const char* text) {
  PrintConversion c;
  unsigned at = 1;
  char now = text[at];
  while (now == '-' || now == '+' || now == ' ' || now == '#' || now == '0') now = text[++at];
  for (unsigned part = 0; part < 2; ++part) {
    if (part == 1) {
      if (now != '.') break;
      now = text[++at];
    }
    if (now == '*') {
      ++c.stars;
      now = text[++at];
    } else {
      while (now >= '0' && now <= '9') now = text[++at];
    }
  }
  c.modifier = at;
  const char modifier = now;
  while (now == 'h' || now == 'l') now = text[++at];
  if (at == c.modifier && (now == 'j' || now == 'z' || now == 't')) now = text[++at];
  c.modifier_length = at - c.modifier;
  if (c.modifier_length > 2) return c;
  const bool is_long = c.modifier_length != 0 && modifier != 'h';
  switch (now) {
    case '%': c.bytes = 0; break;
    case 'c':
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X': c.bytes = is_long && now != 'c' ? 8 : 4; break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
    case 'p':
    case 's': c.bytes = 8; break;
    default: return c;
  }
  if (now == '%' && at != 1) return c;
  c.type = now;
  c.length = at + 1;
  return c;
}

// What vprintf() leaves in the ring: words of 8 bytes. A record of n words begins at a position, counted in
// bytes since the ring was made; it lies at the position modulo the ring's size, and wraps.
//   0  its position ^ kPrintStamp, written last
//   1  where the format is, in global memory; 0: behind these words
//   2  n, and from bit 32 on the characters of a format that stands in the record
//   3  kPrintAssertion, or 0
// then the format, if it stands here; then of each argument its bits, or of a string its length (all ones: a
// null pointer) and its characters. Characters are without NUL, and filled up to 8.
constexpr unsigned long long kPrintStamp = 0x9E3779B97F4A7C15ULL;
constexpr unsigned kPrintHeaderWords = 4;
constexpr unsigned long long kPrintAssertion = 1;

}  // namespace warpline::device
