#!/usr/bin/env bash
# builds.sh WARPLINE SOURCE: an example of CUDA in the ways that CUDA gets into a program besides those of run_example.sh.
set -euo pipefail
warpline=$1 source=$2
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "skipped: there is no nvcc"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
passes() {
  local out
  out=$(timeout 120 "$warpline" exec -- "$@" 2>err) || { echo "$*: $out"; cat err; exit 1; }
  [[ $out == *PASSED ]] || { echo "$*: $out"; cat err; exit 1; }
}

# A library that has the runtime inside, with the program that was linked with it.
printf 'int run(int, char**); int main(int n, char** a) { return run(n, a); }\n' >main.cpp
nvcc -std=c++17 -arch=sm_80 -Dmain=run -Xcompiler -fPIC -shared "$source" -o libcudasum.so
g++ main.cpp -L. -lcudasum -Wl,-rpath,"$work" -o linked
passes ./linked
# The same, loaded later, and once more when it was unloaded.
cat >load.cpp <<'END'
#include <dlfcn.h>
int main(int n, char** a) {
  for (int round = 0; round < 2; ++round) {
    void* const library = dlopen("./libcudasum.so", RTLD_NOW);
    if (library == nullptr) return 2;
    const int status = reinterpret_cast<int (*)(int, char**)>(dlsym(library, "_Z3runiPPc"))(n, a);
    if (status != 0) return status;
    dlclose(library);
  }
  return dlopen("libcuda.so", RTLD_NOW) && dlopen("libcudart.so", RTLD_NOW) ? 0 : 3;
}
END
g++ load.cpp -ldl -o load
passes ./load

# Whose symbols are gone it cannot be led, which is said.
strip libcudasum.so
timeout 120 "$warpline" exec -- ./linked 2>err >out || true
grep -q "libcudasum.so has a CUDA runtime, or a library of NVIDIA's, inside" err || { cat err; exit 1; }

# Machine code for the GPU, and PTX of a newer one: a real GPU runs it.
nvcc -std=c++17 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=compute_90 "$source" -o newer
passes ./newer
grep -q "its PTX for sm_90 stands in" err || { cat err; exit 1; }
