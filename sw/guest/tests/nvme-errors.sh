# shellcheck shell=sh
# shows: commands that fail, now and then or for ever, and that never end: what the driver makes of them, and that no data is lost
# needs: nvme disk_check
. /tests/common.sh
find_disk
errors=${WARPLINE_GUEST_ERRORS:-48}
[ "$errors" -ge 48 ] || fail "WARPLINE_GUEST_ERRORS: at least 48"
known=/tmp/known
name='nvme[0]'
queue=/sys/block/$(basename "$disk")/queue
tries=$(($(cat /sys/module/nvme_core/parameters/max_retries) + 1))
before=$(counter_of "$name.injected")
expected=0 # that the device injects
said() { dmesg | grep -c "$1" || true; }
# Reads or writes of blocks, one by one, that must end as said.
expect() { # read|write FIRST COUNT ENDS
  ends=$(disk_check "$1" "$disk" $known "$2" "$3" | tr '\n' ' ') || fail "$1: $ends"
  check "$3 x $1 ends with $4, and not $ends" test "$ends" = "$4 "
}
# Of errors that a command has whenever it is tried, a fifth each; of others, the rest.
lasting=$((errors / 5 / tries))
[ $lasting -gt 0 ] || lasting=1
slow=$((errors / 48)) stuck=$((errors / 400 + 1))
passing=$((errors - 2 * lasting * tries - slow - stuck))
disk_check fill "$disk" $known 4096 >/dev/null || fail "the disk could not be written"

# A block that cannot be read or written is tried as often as the driver tries, and is then an error of that block.
for what in read write; do
  fault=read-error
  [ $what = read ] || fault=write-fault
  host inject "$name" $fault blocks=100-$((99 + lasting))
  expect $what 100 $lasting "ENODATA $lasting"
  expect $what $((100 + lasting)) 8 "ok 8"
  host forget "$name"
  expect read 100 $lasting "ok $lasting"
  expected=$((expected + lasting * tries))
  echo "$fault, for ever: $lasting commands, tried $tries times each: ENODATA"
done

# What happens once is tried again, and nobody notices.
each=$((passing / 4)) rest=$((passing - 3 * (passing / 4)))
from=1000
for fault in internal-error not-ready read-error write-fault; do
  what=read count=$each
  [ $fault != write-fault ] || { what=write count=$rest; }
  at=$from
  while [ $at -lt $((from + count)) ]; do
    host inject "$name" $fault blocks=$at count=1
    at=$((at + 1))
  done
  expect $what $from $count "ok $count"
  expected=$((expected + count))
  echo "$fault, once: $count commands, tried again: ok"
  from=$((from + 500))
done

# A command that does not end is aborted, and tried again.
old=$(cat "$queue/io_timeout")
echo 1500 >"$queue/io_timeout"
at=0
while [ $at -lt $slow ]; do
  host inject "$name" timeout blocks=$((3100 + at)) count=1
  at=$((at + 1))
done
aborted=$(counter_of "$name.aborted_commands")
expect read 3100 $slow "ok $slow"
aborted=$(($(counter_of "$name.aborted_commands") - aborted))
check "each is aborted" test $aborted -eq $slow
check "the driver says so" test "$(said 'timeout, aborting')" -ge 1
expected=$((expected + slow))
echo "timeout: $slow commands, $aborted aborts: ok"

# One that an abort does not end takes the controller with it, and comes back.
resets=$(counter_of "$name.resets")
at=0
while [ $at -lt $stuck ]; do
  host inject "$name" stuck blocks=$((3300 + at)) count=1
  expect write $((3300 + at)) 1 "ok 1"
  at=$((at + 1))
done
resets=$(($(counter_of "$name.resets") - resets))
check "each is a reset of the controller" test $resets -ge $stuck
check "the driver says so" test "$(said 'timeout, reset controller')" -ge 1
expected=$((expected + stuck))
echo "stuck: $stuck commands, $resets resets of the controller: ok"
echo "$old" >"$queue/io_timeout"

# What was acknowledged is there; what failed is as it was, or as it should have become.
all=$(disk_check check "$disk" $known) || fail "data is lost: $all"
check "all can be read" test "$all" = "ok 4096"
injected=$(($(counter_of "$name.injected") - before))
check "the device has injected $expected failures, and not $injected" test $injected -eq $expected
dmesg | grep -E 'nvme|critical' | grep -E 'sct|timeout|medium|reset' | sed 's/^\[ *[0-9.]*\] //' | sort | uniq -c | sort -rn | head -n 4
echo "$injected failures, each as it should end; 4096 blocks are as they were acknowledged"
