#!/usr/bin/env bash
# run_example.sh WARPLINE SOURCE WAY SELDOM: builds an example of CUDA with the toolkit that there is, and runs it. WAY: shared (runtime
# as a library), static (linked in) or rdc (objects linked, runtime linked in). SELDOM: 0, or an everyday run leaves it
# out. It runs timed, and functionally. A first line such as
#   // exec: --gpu h100 | timed | nvcc: -arch=sm_90
# says what else it needs; `timed`: it compares times, which functional grids do not have.
set -euo pipefail
warpline=$1 source=$2 way=$3 seldom=$4
if [ "$seldom" != 0 ] && [ -z "${WARPLINE_EVERY_EXAMPLE-}${WARPLINE_CUDA_BUILDS-}" ]; then
  echo "skipped: WARPLINE_EVERY_EXAMPLE is not set"
  exit 77
fi
PATH=$PATH:/usr/local/cuda/bin
nvcc=$(command -v nvcc) || { echo "skipped: there is no nvcc"; exit 77; }
stubs=$(dirname "$(dirname "$(readlink -f "$nvcc")")")/lib64/stubs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

options=() flags=() timed=no
first=$(head -n 1 "$source")
if [[ $first == "// exec:"* ]]; then
  first=${first#// exec:}
  read -ra options <<<"${first%%|*}"
  [[ $first != *"| timed"* ]] || timed=yes
  [[ $first != *"nvcc:"* ]] || read -ra flags <<<"${first#*nvcc:}"
fi
[[ " ${options[*]-} " == *" --gpu "* ]] || options+=(--gpu a100)
[[ " ${flags[*]-} " == *"-arch"* || " ${flags[*]-} " == *"-gencode"* ]] || flags+=(-arch=sm_80)

build_and_run() {
  local how=()
  case $1 in
    shared) how=(-cudart shared) ;;
    static) ;;
    rdc) how=(-rdc=true -lcudadevrt) ;;
    *) echo "no such way: $1"; exit 2 ;;
  esac
  # Relocatable code and a shared runtime do not go together with what some ask for themselves.
  [[ " ${flags[*]} " != *" -rdc=true "* ]] || how=()
  "$nvcc" -std=c++17 "${how[@]}" "${flags[@]}" "$source" -L"$stubs" -o "$work/program"
  local timing timings=("" --fast-forward)
  [ $timed = no ] || timings=("")
  for timing in "${timings[@]}"; do
    (cd "$work" && timeout 300 "$warpline" exec "${options[@]}" $timing -- ./program) | tee "$work/out"
    [ "$(tail -n 1 "$work/out")" = PASSED ] || { echo "$(basename "$source") ($1 $timing) has not passed"; exit 1; }
  done
}

if [ "${WARPLINE_CUDA_BUILDS-}" = all ]; then
  for each in shared static rdc; do build_and_run $each; done
else
  build_and_run "$way"
fi
