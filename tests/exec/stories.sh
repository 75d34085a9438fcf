#!/usr/bin/env bash
# stories.sh STORY WARPLINE PROGRAM SOURCE_FOLDER: what `warpline exec` does with a program that registers its own code, whatever becomes
# of it.
set -euo pipefail
story=$1 warpline=$2 program=$3 source=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
run() { timeout 120 "$warpline" exec --gpu mini --set compute_capability=80 "$@"; }
fail() { echo "$*"; [ ! -f err ] || cat err; exit 1; }
# expect STATUS COMMAND...: its streams go to `out` and `err`.
expect() {
  local wanted=$1 status=0
  shift
  "$@" >out 2>err || status=$?
  [ $status = "$wanted" ] || fail "exit status $status, not $wanted: $*"
}
has() { grep -qF -- "$2" "$1" || fail "\"$2\" is not in $1: $(cat "$1")"; }

case $story in
  registered)
    expect 0 run -- "$program"
    [ "$(cat out)" = PASSED ] && [ ! -s err ] || fail "it says more than PASSED"
    expect 0 run --schedule ptx -- "$program"
    expect 0 run --threads 2 -- "$program"
    has err "note: --threads 2: the run keeps to one, as a hop takes less than 4 cycles"
    [ "$(grep -c note: err)" = 1 ] || fail "it says so more than once"
    WARPLINE_SCHEDULE=text expect 0 run -- "$program"
    has err 'WARPLINE_SCHEDULE is "text", which is none of ptx, assembler'
    ;;
  python)
    # What is called python3 may be a script that chooses one.
    interpreter=$(python3 -c "import os, sys; print(os.path.realpath(sys.executable))")
    expect 0 run -- "$interpreter" "$source/tests/exec/driver_api.py"
    [ "$(cat out)" = PASSED ] || fail "it does not say PASSED"
    ;;
  threads) expect 0 run -- "$program" threads ;;
  forks)
    expect 0 run -- "$program" forks
    has err "this process was forked after the first call of CUDA"
    ;;
  children)
    # The library that the program is linked with is found by the loader, as it would be without us.
    expect 1 run -- "$program" self
    expect 0 run --children -- "$program" self
    has out PASSED
    ;;
  exits)
    expect 7 run --report report.json -- "$program" exits
    python3 -c "import json; json.load(open('report.json'))" || fail "the report is no JSON"
    ;;
  killed)
    expect 137 run --report report.json -- "$program" killed
    [ ! -e report.json ] || fail "a report was written of a program that was killed"
    ;;
  errors)
    expect 2 run -- ./nothing
    has err "there is no such program"
    printf '#!/bin/sh\nexec "$@"\n' >script
    chmod +x script
    expect 2 run -- ./script "$program"
    has err "--children"
    expect 0 run --children -- ./script "$program"
    expect 2 "$warpline" exec --gpu nothing -- "$program"
    expect 2 run --measure add:0 -- "$program"
    has err "from 1 on"
    expect 0 run -- "$program" lacks
    has err "cudaIpcGetMemHandle is not modelled"
    has err "2 x  cudaIpcGetMemHandle"
    has err "out of memory"
    # Code for a newer GPU only.
    expect 1 "$warpline" exec --gpu mini --set compute_capability=75 -- "$program"
    has err "sm_80"
    ;;
  report)
    mkdir made
    expect 0 run --report made/report.json -- "$program"
    python3 - <<'P' || fail "the report is not as it should be"
import json
r = json.load(open("made/report.json"))
k = r["kernels"]
assert len(k) == 1 and k[0]["name"] == "add" and k[0]["launches"] == 2 and k[0]["timed"] == 2
assert k[0]["cycles"] > 0 and k[0]["time_ns"] > 0 and k[0]["counters"]["sm.instructions"] > 0
assert k[0]["counters"]["l2.fetched_sectors"] < 64, "512 sectors were filled, and lie in L2"
assert [w["name"] for w in r["work"]] == ["fill", "add", "add", "copy to the host"]
assert all(a["end_ns"] <= b["begin_ns"] for a, b in zip(r["work"], r["work"][1:]))
assert r["not_given"] == {}
P
    # Where no file can be is said before the program begins.
    expect 2 run --report /proc/none/report.json -- "$program"
    has err "/proc/none/report.json"
    ;;
  measures)
    expect 0 run --report report.json --measure add:1 -- "$program"
    python3 -c "import json; k = json.load(open('report.json'))['kernels'][0]; assert (k['launches'], k['timed']) == (2, 1)" ||
      fail "not one of two grids was timed"
    expect 0 run --report report.json --fast-forward -- "$program"
    python3 -c "import json; k = json.load(open('report.json'))['kernels'][0]; assert k['timed'] == 0" || fail "a grid was timed"
    ;;
  observed)
    # Two grids, of which each is in every file.
    expect 0 run --report report.json --profile p.json --latency l.json --reuse r.json --series s.csv --sample 100 \
      --figures sm.instructions,l2.sector_hits -- "$program"
    [ "$(cat out)" = PASSED ] && [ ! -s err ] || fail "it says more than PASSED"
    python3 - <<'P' || fail "the files do not say what the counters do"
import csv, json
counters = json.load(open("report.json"))["kernels"][0]["counters"]
profile = json.load(open("p.json"))["kernels"]
assert [k["name"] for k in profile] == ["add"]
assert sum(l["issued"] for l in profile[0]["lines"]) == counters["sm.instructions"]
rows = list(csv.DictReader(open("s.csv")))
for figure in ("sm.instructions", "l2.sector_hits"):
    assert sum(int(row[figure]) for row in rows) == counters[figure], figure
assert {row["launch"] for row in rows} == {"1", "2"}, rows
groups = json.load(open("l.json"))["groups"]
assert all(sum(g["spent"].values()) == g["cycles"] for g in groups)
reads = sum(g["requests"] for g in groups if (g["block"], g["command"]) == ("l1_lg", "read"))
buffers = json.load(open("r.json"))["buffers"]
assert reads == sum(b["read_requests"] for b in buffers) > 0
names = [b["name"] for b in buffers]
assert len(set(names)) == len(names) == 1 and all(n.startswith("video memory at 0x") for n in names), names
P
    "$warpline" profile show p.json --lines 1 >shown
    has shown "add"
    expect 0 run --children --profile c.json --latency c.latency.json --series c.csv -- "$program" self
    for file in c.json.* c.latency.json.*; do python3 -c "import json, sys; json.load(open(sys.argv[1]))" "$file" || fail "$file is no JSON"; done
    [ -s c.csv.* ] && [ ! -e c.json ] || fail "not a file of each process"
    # What is wrong is said before the program begins.
    expect 2 run --series /proc/none/s.csv -- "$program"
    expect 2 run --latency /proc/none/l.json -- "$program"
    expect 2 run --reuse /proc/none/r.json -- "$program"
    expect 2 run --profile /proc/none/p.json -- "$program"
    has err "/proc/none/p.json"
    expect 2 run --series s.csv --figures sm.instuctions -- "$program"
    has err "sm.instructions"
    expect 2 run --sample 10 -- "$program"
    expect 2 run --series s.csv --sample 0 -- "$program"
    ;;
  older_toolkits)
    # What programs of toolkits 11 and 12 ask for, after public descriptions: every name, under its version.
    folder=$(dirname "$(dirname "$(dirname "$warpline")")")/cuda
    for version in 11.0 12 13; do
      library=$folder/libcudart.so.$version
      readelf -d "$library" | grep -qF "[libcudart.so.$version]" || fail "$library has another soname"
      readelf -W --dyn-syms "$library" >symbols
      while read -r name; do
        grep -q " $name@@libcudart.so.$version\$" symbols || fail "$library: no $name"
      done <"$source/platform/cuda/abi/runtime_names.txt"
    done
    readelf -W --dyn-syms "$folder/libcudart.so.12" >symbols
    grep -q " cudaGetDeviceProperties_v2@@libcudart.so.12$" symbols || fail "no second version of cudaGetDeviceProperties"
    ;;
  *) fail "no such story: $story" ;;
esac
