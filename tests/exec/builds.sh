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
nvcc -std=c++17 -arch=sm_80 -Dmain=run -Xcompiler -fPIC -shared "$source" -o libsum.so
g++ main.cpp -L. -lsum -Wl,-rpath,"$work" -o linked
passes ./linked
# Loaded later it is too late, which is said.
printf '#include <dlfcn.h>\nint main() { return dlopen("./libsum.so", RTLD_NOW) && dlopen("libcuda.so", RTLD_NOW) ? 0 : 1; }\n' >load.cpp
g++ load.cpp -ldl -o load
timeout 120 "$warpline" exec -- ./load 2>err || { cat err; exit 1; }

# Machine code for the GPU, and PTX of a newer one: a real GPU runs it.
nvcc -std=c++17 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=compute_90 "$source" -o newer
passes ./newer
grep -q "its PTX for sm_90 stands in for it" err || { cat err; exit 1; }
