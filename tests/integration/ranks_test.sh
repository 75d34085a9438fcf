#!/usr/bin/env bash
# Runs of several processes (mpirun -n 2 warpline run --mpi) beside those of one: all that comes out is the same.
#   ranks_test.sh WARPLINE SOURCE_FOLDER
# Exit status 77: warpline was built without MPI, or there is no mpirun.
set -euo pipefail
warpline=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "FAILED: $*"; exit 1; }

# Without its library beside it, warpline knows no MPI.
cp "$warpline" alone
status=0
./alone run --mpi "$source/sw/kernels/vecadd.toml" 2>err || status=$?
rm alone
[ $status = 2 ] && grep -q 'error: --mpi: .*libwarpline_mpi.so is not beside it' err || fail "without MPI: status $status, $(cat err)"
[ -e "$(dirname "$warpline")/../../mpi/libwarpline_mpi.so" ] || { echo "warpline was built without MPI: skipped"; exit 77; }
command -v mpirun >/dev/null || { echo "mpirun is not installed: skipped"; exit 77; }
# There may be fewer processors than ranks, and tests may run as root. Open MPI starts faster with one way for messages, and need not wait
# for ranks to end that it ends. It keeps memory until the process ends.
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_pml=ob1 OMPI_MCA_odls_base_sigkill_timeout=0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
on_ranks() { # NUMBER WORDS...
  local ranks=$1
  shift
  ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 timeout 60 mpirun -n "$ranks" "$@"
}

# Four GPUs that add arrays at once, of which one writes to the host's memory; then one prints, and one leaves registers.
cp "$source"/sw/kernels/{vecadd.sm_80.ptx,report.sm_80.ptx,all_reduce.sm_90.ptx,all_reduce.toml} .
cat >left.wls <<'END'
.entry left
.grid 1
.block 32
.show R3
.expect R3[5] = 15
    S2R R2, SR_TID.X;
    IMAD R3, R2, 3, RZ;
    EXIT;
END
adds() { # COUNT BLOCKS
  for gpu in 0 1 2 3; do
    cat <<END
[[launch]]
module = "vecadd.sm_80.ptx"
kernel = "vecadd"
grid   = [$2]
block  = [256]
gpu    = $gpu
$([ $gpu = 0 ] || echo "concurrent = true")
[[launch.argument]]
buffer = "a$gpu"
type   = "f32"
count  = $1
init   = { iota = { start = $gpu, step = 1 } }
[[launch.argument]]
buffer = "b$gpu"
type   = "f32"
count  = $1
init   = { random = { seed = 7 } }
[[launch.argument]]
buffer = "c$gpu"
type   = "f32"
count  = $1
aperture = "$([ $gpu = 1 ] && echo sysmem || echo vidmem)"
dump   = "c$gpu.bin"
[[launch.argument]]
scalar = ${3:-$1}
type   = "u32"
END
  done
}
{
  adds 1024 1
  cat <<'END'
[[launch]]
module = "left.wls"
kernel = "left"
grid   = [1]
block  = [32]
gpu    = 1
END
  sed -e 's/^\[\[argument/[[launch.argument/' -e 's/^module/[[launch]]\ngpu = 3\nmodule/' "$source/sw/kernels/report.toml"
} >four.toml

# What a run has left but for the time that it took, and the words by which it was asked for.
run() { # FOLDER RANKS WORDS...: RANKS 0: without MPI
  local folder=$1 ranks=$2 status=0
  shift 2
  rm -f ./*.bin
  mkdir "$folder"
  if [ "$ranks" = 0 ]; then
    "$warpline" run "$@" --stats stats.json >out 2>err || status=$?
  else
    on_ranks "$ranks" "$warpline" run --mpi "$@" --stats stats.json >out 2>err || status=$?
  fi
  echo "$status" >"$folder/status"
  sed 's/ simulated in .*//' out >"$folder/out"
  # mpirun has its own to say of a status.
  sed '/^-----/,/^-----/d' err >"$folder/err"
  sed -E '/^ *"(command|wall_s)": /d' stats.json >"$folder/stats.json"
  if ls ./*.bin >/dev/null 2>&1; then mv ./*.bin "$folder"; fi
}
same() { # FOLDER FOLDER
  diff -r "$1" "$2" || fail "$2 is not as $1"
  echo "$2: as $1"
}

mini=(four.toml --gpu mini --set gpus=4)
run one 0 "${mini[@]}"
[ "$(cat one/status)" = 0 ] && grep -q 'R3\[5\] *0x0000000f' one/out && grep -q 'block  3' one/out || fail "one process: $(cat one/out)"
for ranks in 1 2 4; do
  run "ranks_$ranks" $ranks "${mini[@]}"
  sed -i '/^note: --mpi: there is one process only/d' "ranks_$ranks/err"
  same one "ranks_$ranks"
done

h100=(all_reduce.toml --gpu h100 --set gpus=2 --jitter 3)
run reduced 0 "${h100[@]}"
[ "$(cat reduced/status)" = 0 ] || fail "one process: $(cat reduced/err)"
run reduced_by_two 2 "${h100[@]}"
same reduced reduced_by_two
run reduced_by_two_with_threads 2 "${h100[@]}" --threads 2
same reduced reduced_by_two_with_threads

# A fault of a GPU that the second rank runs, and a run that ends in the middle, with all that is in flight.
adds 1024 1 1200 >fault.toml
for words in "fault.toml" "four.toml --max-cycles 1500"; do
  name=${words%%.*}_ends
  run "$name" 0 $words --gpu mini --set gpus=4
  [ "$(cat "$name/status")" != 0 ] || fail "$words: ends well"
  run "${name}_by_two" 2 $words --gpu mini --set gpus=4
  same "$name" "${name}_by_two"
done

# What cannot be is said once.
refused() { # TEXT WORDS...
  local text=$1 status=0
  shift
  on_ranks 2 "$warpline" run --mpi "$@" >out 2>err || status=$?
  [ $status = 2 ] && [ "$(grep -c 'error:' err)" = 1 ] && grep -qF -e "$text" err || fail "$*: status $status, $(cat err)"
  echo "refused: $text"
}
refused "--save needs the whole platform in one process, and --mpi spreads it over 2" "${mini[@]}" --save x.chk
refused "2 ranks cannot run this together: the platform has 1 GPU, of which each rank needs one" "$source/sw/kernels/vecadd.toml" --gpu mini

status=0
on_ranks 1 "$warpline" run --mpi four.toml --seed 1 : -n 1 "$warpline" run --mpi four.toml --seed 2 >out 2>err || status=$?
[ $status = 2 ] && grep -q "error: --mpi: these are other words" err || fail "other words: $status, $(cat err)"
echo "refused: other words"

# A rank that lacks a file says so, and ends all.
mkdir has has_not
cp vecadd.sm_80.ptx "$source/sw/kernels/vecadd.toml" has
status=0
on_ranks 2 bash -c 'if [ ${OMPI_COMM_WORLD_RANK:-$PMIX_RANK} = 0 ]; then cd has; else cd has_not; fi; exec "$@"' - \
  "$warpline" run --mpi vecadd.toml --set gpus=2 >out 2>err || status=$?
[ $status = 2 ] && [ ! -s out ] && grep -q 'of rank 1:' err && grep -q 'vecadd.toml: error:' err || fail "a missing file: $status, $(cat err)"
echo "a missing file of the second rank: ends all"

mkdir other
cp vecadd.sm_80.ptx other
sed '1i # The same, but for this line.' has/vecadd.toml >other/vecadd.toml
status=0
on_ranks 2 bash -c 'if [ ${OMPI_COMM_WORLD_RANK:-$PMIX_RANK} = 0 ]; then cd has; else cd other; fi; exec "$@"' - \
  "$warpline" run --mpi vecadd.toml --set gpus=2 >out 2>err || status=$?
[ $status = 2 ] && [ ! -s out ] && grep -q 'reads another vecadd.toml than the first rank' err || fail "another file: $status, $(cat err)"
echo "another file of the second rank: ends all"

# Signals to one rank are for all, and so is its end. What follows a listing comes in the middle of the run.
adds 4194304 512 >long.toml
signalled() { # SIGNAL: sets `status`
  rm -f pid* out err stats.json
  on_ranks 2 bash -c 'echo $$ >pid${OMPI_COMM_WORLD_RANK:-$PMIX_RANK}; exec "$@"' - \
    "$warpline" run --mpi long.toml --gpu mini --set gpus=4 --quiet --stats stats.json >out 2>err &
  local job=$! n
  for ((n = 0; n < 300; ++n)); do
    grep -qs 'requests in flight' err && break
    # Before it is warpline, the signal would be its end.
    [ ! -s pid1 ] || ! grep -q libwarpline_mpi "/proc/$(cat pid1)/maps" || kill -USR1 "$(cat pid1)"
    sleep 0.1
  done
  kill "-$1" "$(cat pid1)"
  status=0
  wait $job || status=$?
  grep -q 'requests in flight' err || fail "SIGUSR1: $(cat err)"
}
signalled INT
[ $status = 130 ] && grep -q '"outcome": "interrupted"' stats.json && grep -q 'error: interrupted in cycle' err || fail "SIGINT: $status, $(cat err)"
echo "SIGINT: ends all"
signalled KILL
[ $status != 0 ] && [ $status != 124 ] && [ ! -e stats.json ] || fail "SIGKILL: $status, $(cat err)"
echo "a rank that is lost: ends all"

# A study whose points the first rank hands out: its rows are those of one process.
cp "$source/sw/kernels/vecadd.toml" .
cat >study.toml <<'END'
gpus = ["mini"]
[keys]
l2.slices     = [2, 4]
dram.channels = [1, 2, 4]
[[workload]]
run = "vecadd.toml"
END
on_ranks 3 "$warpline" sweep study.toml --mpi --results ranks.sqlite --quiet >out 2>err || fail "a study: $(cat err)"
"$warpline" sweep study.toml --results one.sqlite --quiet 2>err || fail "a study: $(cat err)"
for file in ranks one; do "$warpline" export $file.sqlite --metrics 'cycles,l2.*,dram.*' >$file.csv; done
[ "$(wc -l <one.csv)" = 7 ] && cmp one.csv ranks.csv || fail "a study: $(cat ranks.csv)"
echo "a study: rows are those of one process"

# A run that is killed is begun again, and then a row; a rank that is killed ends all, and rows stay.
printf 'gpus = "mini"\n[keys]\ngpus = 4\nl2.slices = [2, 4, 8]\n[[workload]]\nrun = "long.toml"\n' >long_study.toml
rm -f pid*
on_ranks 2 bash -c 'echo $$ >pid${OMPI_COMM_WORLD_RANK:-$PMIX_RANK}; exec "$@"' - \
  "$warpline" sweep long_study.toml --mpi --results lost.sqlite --quiet >out 2>err &
job=$!
# new_run RANK BEFORE: sets `run` to a run of a rank that is not that of before.
new_run() {
  for ((n = 0; n < 500; ++n)); do
    run=$([ ! -s "pid$1" ] || pgrep -P "$(cat "pid$1")" | grep -vx "${2:-none}" | head -1) || true
    [ -z "$run" ] || return 0
    sleep 0.02
  done
  fail "rank $1 runs nothing: $(cat err)"
}
has_lost() { "$warpline" export lost.sqlite --metrics cycles 2>/dev/null | grep -q ',lost,"its process was killed by signal 9'; }
new_run 0
for ((tries = 0; tries < 2; ++tries)); do
  kill -KILL "$run"
  new_run 0 "$run"
done
for ((n = 0; n < 100; ++n)); do has_lost && break; sleep 0.05; done
kill -KILL "$(cat pid1)"
status=0
wait $job || status=$?
[ $status != 0 ] && [ $status != 124 ] || fail "a rank of a study: $status, $(cat err)"
has_lost || fail "a row is gone: $("$warpline" export lost.sqlite --metrics cycles)"
echo "a study: a lost run is a row, a lost rank ends all"
