// What programs call of the device library: printf, assertions, malloc and free, memcpy and the like.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "platform/machine/gpu_memories.h"
#include "tests/platform/machine/ptx_run.h"

namespace warpline::test {
namespace device_library_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";
constexpr const char* kPrintf = ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n";

/// A program that prints: one call after the other, of which each leaves its result in out[n].
class Printing {
 public:
  /// A 4-byte argument, an 8-byte one, a double, and the address of a text in memory.
  Printing& word(std::uint32_t bits) { return put(bits, 4); }
  Printing& wide(std::uint64_t bits) { return put(bits, 8); }
  Printing& real(double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return put(bits, 8);
  }
  Printing& text(const std::string& value) {
    at_ = (at_ + 7) / 8 * 8;
    body_ += "mov.u64 %rd2, " + variable(value) + ";\ncvta.global.u64 %rd2, %rd2;\nst.local.u64 [args+" +
             std::to_string(at_) + "], %rd2;\n";
    at_ += 8;
    return *this;
  }
  /// Ends a call with the arguments so far. `in_stack`: the format lies in local memory.
  Printing& call(const std::string& format, bool in_stack = false) {
    if (in_stack) {
      for (std::size_t i = 0; i <= format.size(); ++i)
        body_ += "st.local.u8 [text+" + std::to_string(i) + "], " +
                 std::to_string(i < format.size() ? static_cast<unsigned char>(format[i]) : 0) + ";\n";
      body_ += "mov.u64 %rd2, text;\ncvta.local.u64 %rd2, %rd2;\n";
    } else {
      body_ += "mov.u64 %rd2, " + variable(format) + ";\ncvta.global.u64 %rd2, %rd2;\n";
    }
    return call_address();
  }
  Printing& call_null() {
    body_ += "mov.u64 %rd2, 0;\n";
    return call_address();
  }
  [[nodiscard]] std::string ptx() const {
    return kHead + std::string(kPrintf) + variables_ +
           ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
           ".local .align 16 .b8 args[512];\n.local .align 8 .b8 text[64];\nld.param.u64 %rd1, [out];\n" +
           body_ + "ret;\n}\n";
  }
  [[nodiscard]] std::string launch(const std::string& more = {}) const {
    return more +
           "module = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n"
           "[[argument]]\nbuffer = \"out\"\ntype = \"s32\"\ncount = " +
           std::to_string(std::max(1U, calls_)) + "\n";
  }

 private:
  Printing& put(std::uint64_t bits, unsigned bytes) {
    at_ = (at_ + bytes - 1) / bytes * bytes;
    body_ += bytes == 4 ? "st.local.u32 [args+" + std::to_string(at_) + "], " + std::to_string(bits) + ";\n"
                        : "mov.u64 %rd2, " + std::to_string(bits) + ";\nst.local.u64 [args+" +
                              std::to_string(at_) + "], %rd2;\n";
    at_ += bytes;
    return *this;
  }
  std::string variable(const std::string& text) {
    const std::string name = "text" + std::to_string(texts_++);
    variables_ += ".global .align 1 .b8 " + name + "[" + std::to_string(text.size() + 1) + "] = {";
    for (const char c : text) variables_ += std::to_string(static_cast<unsigned char>(c)) + ", ";
    variables_ += "0};\n";
    return name;
  }
  Printing& call_address() {
    body_ +=
        "mov.u64 %rd3, args;\ncvta.local.u64 %rd3, %rd3;\n"
        "{\n.param .b64 p0; .param .b64 p1; .param .b32 q;\nst.param.b64 [p0], %rd2;\n"
        "st.param.b64 [p1], %rd3;\ncall.uni (q), vprintf, (p0, p1);\nld.param.b32 %r1, [q];\n}\n"
        "st.global.u32 [%rd1+" +
        std::to_string(4 * calls_) + "], %r1;\n";
    ++calls_;
    at_ = 0;
    return *this;
  }
  std::string variables_, body_;
  unsigned texts_ = 0, calls_ = 0, at_ = 0;
};

template <class T>
std::vector<T> values(PtxRun& run, const std::string& buffer, std::size_t count) {
  const std::vector<std::string>& names = run.gpu().memory().buffers();
  EXPECT_EQ(names.front(), buffer);
  std::vector<T> out(count);
  run.gpu().read(0x7F0000120000ULL, out.data(), count * sizeof(T));
  return out;
}

template <class... A>
std::string by_c(const char* format, A... arguments) {
  std::string out(4096, '\0');
  out.resize(static_cast<std::size_t>(std::snprintf(out.data(), out.size(), format, arguments...)));
  return out;
}

TEST(DevicePrintf, FormatsAsC) {
  Printing p;
  std::string wanted;
  p.word(7).word(0xFFFFFFFE).real(1.5).call("n=%d a0=%d %f\n");
  wanted += by_c("n=%d a0=%d %f\n", 7, -2, 1.5);
  p.word(255).word(255).word(8).word(3000000000U).call("%x|%#X|%#o|%u|\n");
  wanted += by_c("%x|%#X|%#o|%u|\n", 255U, 255U, 8U, 3000000000U);
  p.word(42).word(42).word(42).word(42).word(42).call("%5d|%-5d|%05d|%+d|% i|\n");
  wanted += by_c("%5d|%-5d|%05d|%+d|% i|\n", 42, 42, 42, 42, 42);
  p.word(5).wide(0x8000000000000000ULL).word(6).wide(~0ULL).wide(123).call("%d %lld %d %llx %lu\n");
  wanted += by_c("%d %lld %d %llx %lu\n", 5, static_cast<long long>(0x8000000000000000ULL), 6, ~0ULL, 123UL);
  p.word(300).word(70000).call("%hhu %hd\n");
  wanted += by_c("%hhu %hd\n", static_cast<unsigned char>(300 & 0xFF), static_cast<short>(70000));
  p.real(-0.000123456789).real(1e100).real(1.0 / 3).real(255.5).call("%e|%.3G|%10.4f|%a\n");
  wanted += by_c("%e|%.3G|%10.4f|%a\n", -0.000123456789, 1e100, 1.0 / 3, 255.5);
  p.word(8).real(2.5).word(0xFFFFFFFA).word(3).text("abcdef").call("[%*.1f] [%*.*s]\n");
  wanted += by_c("[%*.1f] [%*.*s]\n", 8, 2.5, -6, 3, "abcdef");
  p.word('w').text("").text("a longer text than a word").call("%c <%s> <%s> 100%%\n");
  wanted += by_c("%c <%s> <%s> 100%%\n", 'w', "", "a longer text than a word");
  p.wide(0x7F0000000010ULL).call("%p\n");
  wanted += "0x7f0000000010\n";
  p.wide(0).call("null is %s\n", true);
  wanted += "null is (null)\n";
  // What is no conversion stands for itself, and takes nothing.
  p.word(1).call("50%! %y %d %");
  wanted += "50%! %y 1 %";
  PtxRun run(p.ptx(), p.launch());
  EXPECT_EQ(run.end().printed, wanted);
  EXPECT_TRUE(run.gpu().faults().empty());
  EXPECT_THAT(values<std::int32_t>(run, "out", 11), ElementsAre(3, 4, 5, 5, 2, 4, 5, 3, 1, 1, 1));
  EXPECT_THAT(run.end().notes, IsEmpty());
  EXPECT_TRUE(run.gpu().unreconciled().empty());
}

TEST(DevicePrintf, AnswersHowManyArgumentsItTookOrWhyItFailed) {
  Printing p;
  p.call("nothing\n");
  p.call_null();
  // 32 arguments are taken; the conversions of others are printed as they stand.
  std::string format, wanted = "nothing\n";
  for (unsigned i = 0; i < 34; ++i) {
    if (i < 32) p.word(i);
    format += "%d ";
    wanted += i < 32 ? std::to_string(i) + " " : "%d ";
  }
  p.call(format);
  p.text(std::string(2000, 'x')).call("%s");  // more than the ring holds
  p.word(1000000000).word(1).call("%*d");     // is cut to what is printed
  wanted += std::string(65534, ' ') + "1";
  PtxRun run(p.ptx(), p.launch("printf_bytes = 1024\n"));
  EXPECT_EQ(run.end().printed, wanted);
  EXPECT_THAT(values<std::int32_t>(run, "out", 5), ElementsAre(0, -1, 32, -2, 2));
}

/// Each thread prints its number and what it counts, three times.
std::string crowd_ptx() {
  return kHead + std::string(kPrintf) + R"(
.global .align 1 .b8 format[7] = {37, 100, 32, 37, 100, 10, 0};
.visible .entry k(.param .u64 out)
{
.reg .b64 %rd<4>; .reg .b32 %r<6>; .reg .pred %p;
.local .align 8 .b8 args[8];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %ntid.x;
mad.lo.u32 %r1, %r2, %r3, %r1;
mov.u32 %r4, 0;
AGAIN:
st.local.v2.u32 [args], {%r1, %r4};
mov.u64 %rd1, format;
cvta.global.u64 %rd1, %rd1;
mov.u64 %rd2, args;
cvta.local.u64 %rd2, %rd2;
{
.param .b64 p0; .param .b64 p1; .param .b32 q;
st.param.b64 [p0], %rd1;
st.param.b64 [p1], %rd2;
call.uni (q), vprintf, (p0, p1);
}
add.u32 %r4, %r4, 1;
setp.lt.u32 %p, %r4, 3;
@%p bra AGAIN;
ret;
}
)";
}

std::string crowd_launch(const std::string& more, unsigned blocks = 6, unsigned threads = 96) {
  return more + "module = \"k.ptx\"\nkernel = \"k\"\ngrid = [" + std::to_string(blocks) + "]\nblock = [" +
         std::to_string(threads) + "]\n[[argument]]\nbuffer = \"out\"\ntype = \"u32\"\ncount = 1\n";
}

std::vector<std::pair<int, int>> lines_of(const std::string& text) {
  std::vector<std::pair<int, int>> out;
  std::istringstream in(text);
  for (int thread = 0, count = 0; in >> thread >> count;) out.emplace_back(thread, count);
  return out;
}

TEST(DevicePrintf, OfEachThreadComesInItsOrder) {
  const PtxRun run(crowd_ptx(), crowd_launch(""));
  std::map<int, int> next;
  for (const auto& [thread, count] : lines_of(run.end().printed)) EXPECT_EQ(count, next[thread]++) << thread;
  EXPECT_EQ(next.size(), 6U * 96);
  for (const auto& [thread, count] : next) EXPECT_EQ(count, 3) << thread;
}

TEST(DevicePrintf, OverwritesWhatIsOldestWhereTheRingIsFull) {
  const PtxRun all(crowd_ptx(), crowd_launch("", 1, 32));
  const PtxRun run(crowd_ptx(), crowd_launch("printf_bytes = 4000\n", 1, 32));  // 83 records of 48 bytes
  const auto every = lines_of(all.end().printed), last = lines_of(run.end().printed);
  ASSERT_EQ(every.size(), 96U);
  ASSERT_EQ(last.size(), 83U);
  for (std::size_t n = 0; n < last.size(); ++n) EXPECT_EQ(last[n], every[n + 13]) << n;
  // Where many write at once, what comes out is whole.
  const PtxRun many(crowd_ptx(), crowd_launch("")), some(crowd_ptx(), crowd_launch("printf_bytes = 20000\n"));
  const auto lines = lines_of(many.end().printed);
  const std::set<std::pair<int, int>> known(lines.begin(), lines.end());
  ASSERT_EQ(known.size(), 6U * 96 * 3);
  EXPECT_FALSE(some.end().printed.empty());
  for (const auto& line : lines_of(some.end().printed)) EXPECT_EQ(known.count(line), 1U) << line.first;
  ASSERT_EQ(run.end().notes.size(), 1U);
  EXPECT_THAT(run.end().notes[0], HasSubstr("overwritten"));
  EXPECT_THAT(run.end().notes[0], HasSubstr("printf_bytes = 4000"));
}

/// Block 0 asserts; all others, and a warp of its own, wait for ever.
const std::string& assert_ptx() {
  static const std::string kText = kHead + std::string(R"(
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 what[6] = {110, 32, 62, 32, 48, 0};
.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};
.global .align 1 .b8 name[8] = {118, 111, 105, 100, 32, 102, 40, 0};
.visible .entry k(.param .u64 out)
{
.reg .b64 %rd<6>; .reg .b32 %r<6>; .reg .pred %p, %q;
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %tid.x;
setp.ne.u32 %p, %r1, 0;
setp.ne.u32 %q, %r2, 33;
or.pred %p, %p, %q;
WAIT:
@%p bra WAIT;
mov.u64 %rd1, what;
cvta.global.u64 %rd1, %rd1;
mov.u64 %rd2, file;
cvta.global.u64 %rd2, %rd2;
mov.u64 %rd3, name;
cvta.global.u64 %rd3, %rd3;
{
.param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
st.param.b64 [p0], %rd1;
st.param.b64 [p1], %rd2;
st.param.b32 [p2], 12;
st.param.b64 [p3], %rd3;
st.param.b64 [p4], 1;
call.uni __assertfail, (p0, p1, p2, p3, p4);
}
ret;
}
)");
  return kText;
}

TEST(DeviceAssertion, EndsTheGridWithItsMessageInEveryTickMode) {
  std::optional<Cycle> cycles;
  for (const TickMode mode : {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
    RunOptions options;
    options.tick_mode = mode;
    options.max_cycles = 1'000'000;
    PtxRun run(assert_ptx(), crowd_launch("", 20), {}, {}, options);
    EXPECT_EQ(run.end().outcome, RunOutcome::quiescent);
    EXPECT_EQ(run.end().printed,
              "a.cu:12: void f(: block: [0,0,0], thread: [33,0,0] Assertion `n > 0` failed.\n");
    const std::vector<FaultRecord> faults = run.gpu().faults();
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].kind, "assertion failed");
    EXPECT_EQ(faults[0].thread.x, 33U);
    EXPECT_TRUE(run.gpu().unreconciled().empty());
    if (cycles) {
      EXPECT_EQ(run.gpu().now(), *cycles);
    }
    cycles = run.gpu().now();
  }
}

/// take: each thread allocates 8 (n + 1) bytes, or `bytes`, writes its number into the first word and leaves
/// the address in out. give: it checks that, and frees it; `off` is added to the address.
constexpr const char* kHeapPtx = R"(
.extern .func (.param .b64 r) malloc(.param .b64 a);
.extern .func free(.param .b64 a);
.visible .entry take(.param .u64 out, .param .u64 bytes)
{
.reg .b64 %rd<6>; .reg .b32 %r<6>; .reg .pred %p;
ld.param.u64 %rd1, [out];
ld.param.u64 %rd2, [bytes];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %ntid.x;
mad.lo.u32 %r1, %r2, %r3, %r1;
setp.ne.u64 %p, %rd2, 0;
mul.wide.u32 %rd3, %r1, 8;
add.u64 %rd1, %rd1, %rd3;
add.u64 %rd3, %rd3, 8;
selp.u64 %rd2, %rd2, %rd3, %p;
{
.param .b64 p0; .param .b64 q;
st.param.b64 [p0], %rd2;
call.uni (q), malloc, (p0);
ld.param.b64 %rd4, [q];
}
st.global.u64 [%rd1], %rd4;
setp.ne.u64 %p, %rd4, 0;
@%p st.u32 [%rd4], %r1;
ret;
}
.visible .entry give(.param .u64 out, .param .u64 off)
{
.reg .b64 %rd<6>; .reg .b32 %r<6>; .reg .pred %p;
ld.param.u64 %rd1, [out];
ld.param.u64 %rd2, [off];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %ntid.x;
mad.lo.u32 %r1, %r2, %r3, %r1;
mul.wide.u32 %rd3, %r1, 8;
add.u64 %rd1, %rd1, %rd3;
ld.global.u64 %rd4, [%rd1];
setp.eq.u64 %p, %rd4, 0;
@%p bra FREE;
ld.u32 %r4, [%rd4];
setp.ne.u32 %p, %r4, %r1;
@%p trap;
FREE:
add.u64 %rd4, %rd4, %rd2;
{
.param .b64 p0;
st.param.b64 [p0], %rd4;
call.uni free, (p0);
}
ret;
}
)";

std::string heap_launches(const std::string& more, const std::vector<std::pair<std::string, unsigned>>& all,
                          unsigned blocks = 4) {
  std::string text = more;
  bool declared = false;
  for (const auto& [kernel, number] : all) {
    text += "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"" + kernel + "\"\ngrid = [" + std::to_string(blocks) +
            "]\nblock = [64]\n[[launch.argument]]\nbuffer = \"out\"\n";
    if (!declared) text += "type = \"u64\"\ncount = " + std::to_string(64 * blocks) + "\n";
    text += "[[launch.argument]]\nscalar = " + std::to_string(number) + "\ntype = \"u64\"\n";
    declared = true;
  }
  return text;
}

TEST(DeviceHeap, BlocksLieApartAlignedAndAreUsedAgain) {
  const std::string ptx = kHead + std::string(kHeapPtx);
  // What is freed is used again: four times as much would not fit.
  PtxRun run(
      ptx, heap_launches(
               "heap_bytes = 700000\n",
               {{"take", 0}, {"give", 0}, {"take", 0}, {"give", 0}, {"take", 0}, {"give", 0}, {"take", 0}}));
  EXPECT_TRUE(run.gpu().faults().empty());
  const auto addresses = values<std::uint64_t>(run, "out", 256);
  std::map<std::uint64_t, std::uint64_t> ends;  // by address
  for (std::size_t n = 0; n < addresses.size(); ++n) {
    ASSERT_NE(addresses[n], 0U) << n;
    EXPECT_EQ(addresses[n] % 16, 0U) << n;
    ends[addresses[n]] = addresses[n] + 8 * (n + 1);
    std::uint32_t word = 0;
    run.gpu().read(addresses[n], &word, sizeof word);
    EXPECT_EQ(word, n);
  }
  ASSERT_EQ(ends.size(), addresses.size());
  for (auto it = ends.begin(); std::next(it) != ends.end(); ++it) EXPECT_LE(it->second, std::next(it)->first);
}

TEST(DeviceHeap, AnswersNullWhenItIsExhausted) {
  const std::string ptx = kHead + std::string(kHeapPtx);
  // 4096 bytes have room for three blocks of 1000 bytes and their heads, four with 1040.
  PtxRun run(ptx, heap_launches("heap_bytes = 4096\n", {{"take", 1000}, {"give", 0}, {"take", 1000}}, 1));
  const auto addresses = values<std::uint64_t>(run, "out", 64);
  EXPECT_EQ(std::count(addresses.begin(), addresses.end(), 0U), 60);
  EXPECT_TRUE(run.gpu().faults().empty());  // free of a null pointer is none
}

TEST(DeviceHeap, FreeOfWhatIsFreeOrWasNeverHandedOutIsAFault) {
  const std::string ptx = kHead + std::string(kHeapPtx);
  PtxRun twice(ptx, heap_launches("", {{"take", 32}, {"give", 0}, {"give", 0}}, 1));
  const std::vector<FaultRecord> faults = twice.gpu().faults();
  ASSERT_EQ(faults.size(), 2U);  // one for each warp
  EXPECT_EQ(faults[0].kind, "free of memory that is free already");
  const auto addresses = values<std::uint64_t>(twice, "out", 64);
  EXPECT_TRUE(faults[0].address == addresses[0] || faults[0].address == addresses[32]);
  EXPECT_EQ(faults[0].memory, "the heap of malloc");
  const PtxRun within(ptx, heap_launches("", {{"take", 64}, {"give", 16}}, 1));
  const PtxRun odd(ptx, heap_launches("", {{"take", 64}, {"give", 1}}, 1));
  for (const PtxRun* run : {&within, &odd}) {
    const std::vector<FaultRecord> wrong = const_cast<PtxRun*>(run)->gpu().faults();
    ASSERT_EQ(wrong.size(), 2U);
    EXPECT_EQ(wrong[0].kind, "free of what malloc did not hand out");
  }
}

constexpr const char* kMemoryPtx = R"(
.extern .func (.param .b64 r) memcpy(.param .b64 a, .param .b64 b, .param .b64 c);
.extern .func (.param .b64 r) memset(.param .b64 a, .param .b32 b, .param .b64 c);
.visible .entry k(.param .u64 out, .param .u64 in)
{
.reg .b64 %rd<6>; .reg .b32 %r<6>;
ld.param.u64 %rd1, [out];
ld.param.u64 %rd2, [in];
{
.param .b64 p0; .param .b32 p1; .param .b64 p2; .param .b64 q;
st.param.b64 [p0], %rd1;
st.param.b32 [p1], 0x1A5;
st.param.b64 [p2], 40;
call.uni (q), memset, (p0, p1, p2);
ld.param.b64 %rd3, [q];
}
add.u64 %rd3, %rd3, 3;
{
.param .b64 p0; .param .b64 p1; .param .b64 p2; .param .b64 q;
st.param.b64 [p0], %rd3;
st.param.b64 [p1], %rd2;
st.param.b64 [p2], 17;
call.uni (q), memcpy, (p0, p1, p2);
}
ret;
}
)";

TEST(DeviceMemoryCalls, FillAndCopyBytes) {
  PtxRun run(kHead + std::string(kMemoryPtx),
             "module = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n[[argument]]\nbuffer = \"out\"\n"
             "type = \"u8\"\ncount = 44\nexpect = { expression = \"i >= 40 ? 0 : i >= 3 && i < 20 ? i - 3 : "
             "165\" }\n"
             "[[argument]]\nbuffer = \"in\"\ntype = \"u8\"\ncount = 17\ninit = { iota = {} }\n");
  EXPECT_THAT(run.end().failures, IsEmpty());
  EXPECT_TRUE(run.gpu().faults().empty());
}

TEST(DeviceLibrary, IsLinkedOnlyWhereItIsCalled) {
  const PtxRun none(kHead + std::string(".visible .entry k(.param .u64 out) { ret; }"), crowd_launch(""));
  const PtxRun some(crowd_ptx(), crowd_launch(""));
  const auto mapped = [](const PtxRun& run) {
    return const_cast<PtxRun&>(run).gpu().memory().free_vidmem(0);
  };
  const std::uint64_t taken = mapped(none) - mapped(some);
  EXPECT_GE(taken, 1048576U);  // its ring, and no heap
  EXPECT_LT(taken, 2097152U);
  // Its own opcode is nobody else's.
  EXPECT_THROW(PtxRun(kHead + std::string(".visible .entry k(.param .u64 out) { warpline_trap 0, 0; ret; }"),
                      crowd_launch("")),
               std::runtime_error);
}

}  // namespace device_library_test
}  // namespace warpline::test
