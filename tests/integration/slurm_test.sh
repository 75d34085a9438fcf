#!/usr/bin/env bash
# A study by an array job of Slurm: slurm_test.sh WARPLINE SOURCE_FOLDER. Where no controller answers, one is started for
# this test alone, which takes root. Skipped (77) where there is no Slurm, or none that can be started.
set -euo pipefail
warpline=$1 source=$2
skip() {
  echo "skipped: $1"
  exit 77
}
command -v sbatch >/dev/null && command -v scontrol >/dev/null || skip "sbatch is not installed"
scratch=$(mktemp -d)
daemons=()
finish() {
  for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${daemons[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$scratch"
}
trap finish EXIT

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
  local tries=$(($1 * 20))
  shift
  until "$@" >/dev/null 2>&1; do
    ((tries-- > 0)) || return 1
    sleep 0.05
  done
}

start_cluster() {
  [ "$(id -u)" = 0 ] || skip "no controller of Slurm answers, and starting one takes root"
  for daemon in munged slurmctld slurmd; do
    PATH=$PATH:/usr/sbin command -v $daemon >/dev/null || skip "$daemon is not installed"
  done
  export PATH=$PATH:/usr/sbin
  chmod 755 "$scratch"
  mkdir "$scratch/state" "$scratch/spool"
  head -c 1024 /dev/urandom >"$scratch/munge.key"
  chmod 600 "$scratch/munge.key"
  local port=$((20000 + RANDOM % 20000)) host
  host=$(hostname -s)
  cat >"$scratch/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$scratch/munge.socket
CryptoType=crypto/munge
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SchedulerParameters=sched_interval=1,batch_sched_delay=0
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
  export SLURM_CONF=$scratch/slurm.conf
  munged --foreground --force --key-file "$scratch/munge.key" --socket "$scratch/munge.socket" \
    --pid-file "$scratch/munge.pid" --log-file "$scratch/munge.log" --seed-file "$scratch/munge.seed" \
    >"$scratch/munged.out" 2>&1 &
  daemons+=($!)
  wait_for 5 test -S "$scratch/munge.socket" || skip "munged does not start: $(tail -1 "$scratch/munged.out")"
  slurmctld -D >"$scratch/slurmctld.out" 2>&1 &
  daemons+=($!)
  slurmd -D >"$scratch/slurmd.out" 2>&1 &
  daemons+=($!)
  wait_for 10 sh -c "sinfo -h -o %T | grep -qE '^(idle|mixed)'" ||
    skip "Slurm does not start here: $(tail -2 "$scratch/slurmctld.out" "$scratch/slurmd.out")"
}
timeout 5 scontrol ping 2>/dev/null | grep -q UP || start_cluster

cd "$scratch"
ln -s "$source/sw/kernels" kernels
cat >study.toml <<'STUDY'
gpus = ["mini"]
[keys]
l2.slices     = [2, 4, 8]
dram.channels = [1, 2, 4]
[[workload]]
run = "kernels/vecadd.toml"
STUDY
fail() {
  echo "$1"
  cat job/*.log "$scratch"/*.out 2>/dev/null || true
  exit 1
}
"$warpline" sweep study.toml --slurm job --tasks 2 --jobs 1
# One task by hand first: what is missing is said, and what goes on with it.
SLURM_ARRAY_TASK_ID=1 bash job/study.sbatch
"$warpline" sweep study.toml --results all.sqlite --collect job --quiet 2>said && fail "nothing is said to be missing"
grep -q -- "sbatch --array=0 job/study.sbatch" said || fail "what goes on is not said: $(cat said)"
# sbatch --wait looks every ten seconds alone.
job=$(sbatch --parsable job/study.sbatch)
is_done() { [ -z "$(squeue -h -j "$job" 2>/dev/null)" ]; }
wait_for 60 is_done || fail "the job does not end"
"$warpline" sweep study.toml --results all.sqlite --collect job --quiet
"$warpline" sweep study.toml --results here.sqlite --quiet
for file in all here; do "$warpline" export $file.sqlite --metrics 'cycles,l2.*,dram.*' >$file.csv; done
[ "$(wc -l <all.csv)" = 10 ] || fail "$(cat all.csv)"
cmp all.csv here.csv
