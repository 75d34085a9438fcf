// A program of CUDA without nvcc: it registers a fat binary as nvcc's output does, and is told by its
// arguments what to do. Its names are the runtime's.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/fat_binary_writer.h"

extern "C" {
struct Dim3 {
  unsigned x, y, z;
};
void** __cudaRegisterFatBinary(const void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaUnregisterFatBinary(void**);
void __cudaRegisterFunction(void**, const void*, char*, const char*, int, void*, void*, void*, void*, int*);
int cudaMalloc(void**, std::size_t);
int cudaFree(void*);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaMemset(void*, int, std::size_t);
int cudaLaunchKernel(const void*, Dim3, Dim3, void**, std::size_t, void*);
int cudaDeviceSynchronize();
int cudaGetDeviceCount(int*);
int cudaIpcGetMemHandle(void*, void*);
int cudaStreamCreate(void**);
int cudaStreamSynchronize(void*);
const char* cudaGetErrorString(int);
}

namespace {

// add(int* values, int what), and spin(), which never ends.
constexpr const char* kText = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 values, .param .u32 what) {
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [values];
  ld.param.u32 %r1, [what];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  mul.wide.s32 %rd2, %r5, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r6, [%rd3];
  add.s32 %r7, %r6, %r1;
  st.global.u32 [%rd3], %r7;
  ret;
}
.visible .entry spin() {
again:
  bra again;
}
)";

char add_stub, spin_stub;  // kernels are known by addresses on the host

struct Wrapper {
  std::uint32_t magic = 0x466243B1, version = 1;
  const void* data = nullptr;
  void* unused = nullptr;
};

class Registration {
 public:
  Registration() {
    warpline::FatBinaryWriter writer;
    writer.add_elf(80, "no code");
    writer.add_ptx(80, kText, warpline::FatBinaryWriter::Packed::zstd);
    bytes_ = writer.bytes();
    wrapper_.data = bytes_.data();
    handle_ = __cudaRegisterFatBinary(&wrapper_);
    __cudaRegisterFunction(handle_, &add_stub, nullptr, "add", -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
    __cudaRegisterFunction(handle_, &spin_stub, nullptr, "spin", -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
    __cudaRegisterFatBinaryEnd(handle_);
  }
  ~Registration() { __cudaUnregisterFatBinary(handle_); }

 private:
  std::string bytes_;
  Wrapper wrapper_;
  void** handle_ = nullptr;
};
const Registration registration;

void need(int status, const char* what) {
  if (status == 0) return;
  std::fprintf(stderr, "%s: %d\n", what, status);
  std::exit(1);
}

// Adds twice to 4096 values in a stream, and looks whether they are right.
bool adds(int what, void* stream = nullptr) {
  constexpr unsigned kValues = 4096, kThreads = 256;
  void* values = nullptr;
  need(cudaMalloc(&values, kValues * 4), "cudaMalloc");
  need(cudaMemset(values, 0, kValues * 4), "cudaMemset");
  void* arguments[] = {&values, &what};
  for (int n = 0; n < 2; ++n)
    need(cudaLaunchKernel(&add_stub, {kValues / kThreads, 1, 1}, {kThreads, 1, 1}, arguments, 0, stream),
         "launch");
  need(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  std::vector<int> host(kValues);
  need(cudaMemcpy(host.data(), values, kValues * 4, 2), "cudaMemcpy");
  need(cudaFree(values), "cudaFree");
  for (const int v : host)
    if (v != 2 * what) return false;
  return true;
}

int with_threads() {
  std::vector<std::thread> threads;
  bool right[8] = {};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([t, &right] {
      void* stream = nullptr;
      need(cudaStreamCreate(&stream), "cudaStreamCreate");
      right[t] = adds(t + 1, stream) && adds(t + 1, stream);
    });
  for (std::thread& t : threads) t.join();
  for (const bool r : right)
    if (!r) return 1;
  return 0;
}

// A child that never used CUDA may; one of a process that has may not, and is told so.
int forks() {
  const auto child = [](auto&& does) {
    const pid_t pid = fork();
    if (pid == 0) _exit(does());
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
  };
  if (child([] { return adds(1) ? 0 : 1; }) != 0) return 2;
  if (!adds(2)) return 3;
  int devices = 0;
  if (child([&] { return cudaGetDeviceCount(&devices); }) != 3) return 4;  // cudaErrorInitializationError
  return adds(3) ? 0 : 5;
}

void spin() {
  need(cudaLaunchKernel(&spin_stub, {1, 1, 1}, {32, 1, 1}, nullptr, 0, nullptr), "launch");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "add";
  if (what == "threads") return with_threads();
  if (what == "forks") return forks();
  if (what == "exits") {
    // In the middle of a kernel.
    spin();
    std::exit(7);
  }
  if (what == "killed") {
    spin();
    std::raise(SIGKILL);
  }
  if (what == "self") {
    // Starts itself: whether the child has CUDA is the launcher's choice.
    const std::string command = std::string(argv[0]) + " add";
    return std::system(command.c_str()) == 0 ? 0 : 1;
  }
  if (what == "lacks") {
    char handle[64];
    if (cudaIpcGetMemHandle(handle, handle) != 801 || cudaIpcGetMemHandle(handle, handle) != 801) return 1;
    void* much = nullptr;
    if (cudaMalloc(&much, std::size_t{1} << 44U) != 2) return 1;
  }
  const bool right = adds(21);
  std::puts(right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}
