// Fills the table by which this library's names lead to libcuda.so.1, before any program's own constructors
// run.
extern "C" {
extern void* warpline_runtime_table[];
void warpline_cuda_runtime(void** table, unsigned toolkit);

__attribute__((constructor(101))) static void fill_table() {
  warpline_cuda_runtime(warpline_runtime_table, WARPLINE_TOOLKIT);
}
}
