# shellcheck shell=sh
# What tests in the guest share.

fail() { echo "$*" >&2; exit 1; }
# What holds, or the test fails with a sentence.
check() { # SENTENCE COMMAND...
  sentence=$1
  shift
  "$@" || fail "not so: $sentence"
}

# The folder in sysfs of the function of a class that is ours.
function_of() { # peer|nvme|gpu
  case $1 in
    peer) class=0x088000 ;;
    nvme) class=0x010802 ;;
    gpu) class=0x030200 ;;
  esac
  for found in /sys/bus/pci/devices/*; do
    [ "$(cat "$found/vendor")" = 0x1af0 ] && [ "$(cat "$found/class")" = "$class" ] && echo "$found" && return
  done
  fail "no function of class $class and vendor 0x1af0 was found"
}
address_of() { basename "$1"; }

# A number of the configuration space.
config() { # FOLDER OFFSET BYTES
  od -An -v -t "u$3" -j "$(($2))" -N "$3" "$1/config" | tr -d ' '
}
# Where a BAR lies, and how long it is.
bar_at() { # FOLDER NUMBER
  sed -n "$(($2 + 1))p" "$1/resource" | cut -d ' ' -f 1
}
bar_bytes() { # FOLDER NUMBER
  # shellcheck disable=SC2046  # two words
  set -- $(sed -n "$(($2 + 1))p" "$1/resource")
  echo $(($2 == 0 ? 0 : $2 - $1 + 1))
}
# A register of the queue device: reads it, or writes it with a value, and takes down that it did. FOLDER OFFSET [VALUE]
register() {
  at=$(printf '0x%x' $(($(bar_at "$1" 0) + $2)))
  if [ $# -gt 2 ]; then
    devmem "$at" 32 "$3"
  else
    echo "peer[0].register_reads 1" >>/tmp/saw
    devmem "$at" 32
  fi
}
# Resets a function in one of the ways that the kernel has for it, and takes down that it did. QEMU's root ports do not say that their link
# is up again, so that the kernel reports a failure where it has done what it should.
reset_by() { # FOLDER WAY
  echo "$2" >"$1/reset_method"
  if ! echo 1 >"$1/reset"; then
    [ "$2" = bus ] || fail "the kernel could not reset it by '$2'"
    echo "by '$2': the kernel has waited in vain for the root port's link"
  fi 2>/dev/null
}
# Where a capability lies in the configuration space; nothing: it has none.
capability() { # FOLDER ID
  next=$(config "$1" 0x34 1)
  while [ "$next" -ne 0 ]; do
    if [ "$(config "$1" "$next" 1)" -eq $(($2)) ]; then echo "$next"; return; fi
    next=$(config "$1" $((next + 1)) 1)
  done
}
# How many message-signalled interrupts the function has raised.
interrupts_of() { # FOLDER
  total=0
  for vector in "$1"/msi_irqs/*; do
    [ -e "$vector" ] || continue
    count=$(awk -v line="$(basename "$vector"):" '$1 == line { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i } END { print n + 0 }' /proc/interrupts)
    total=$((total + count))
  done
  echo $total
}
# Asks the server outside for what `warpline control` does, and says its answer.
host() { # WORD...
  [ -n "${WARPLINE_HOST-}" ] || fail "nobody outside answers in a shell: \`warpline control\` there asks the server"
  exec 3<>"$WARPLINE_HOST"
  echo "$*" >&3
  answer=
  while read -r line <&3 && [ -n "$line" ]; do
    [ "$line" != failed ] || fail "control $*: $answer"
    answer="$answer$line
"
  done
  exec 3>&-
  printf '%s' "$answer"
}
# What a counter of the server has come to.
counter_of() { # COUNTER
  counters=$(host counters) || exit 1
  printf '%s\n' "$counters" | awk -v what="$1" '$1 == what { gsub(",", "", $2); n = $2 } END { print n + 0 }'
}
# Where functions of modules and the kernel's own for accesses of devices begin and end, for who has asked for that (guest --where).
symbols() {
  grep -q 'warpline\.where' /proc/cmdline || return 0
  sort /proc/kallsyms | awk '
    wanted { print "symbol", begin, $1, name }
    { wanted = $2 ~ /^[tT]$/ && ($4 != "" || $3 ~ /^(io(read|write)|mem(cpy|set)_.*io|pci_)/); begin = $1; name = $3 $4 }'
}
# Loads modules of the kernel, but those that are built in.
load() {
  for module in "$@"; do
    grep -q "/$module\.ko" "/lib/modules/$(uname -r)/modules.dep" || continue
    modprobe "$module" || fail "cannot load $module"
  done
  symbols
}
# Waits until a command holds, at most so many seconds.
wait_until() { # SECONDS COMMAND...
  left=$(($1 * 10))
  shift
  until "$@"; do
    left=$((left - 1))
    [ $left -gt 0 ] || return 1
    usleep 100000
  done
}
# The NVMe controller's name, once its driver has it, and its first namespace. Sets folder, controller and disk.
# shellcheck disable=SC2034  # tests use them
find_disk() {
  load nvme
  folder=$(function_of nvme)
  wait_until 30 test -d "$folder/nvme" || fail "the nvme driver has not taken $(address_of "$folder")"
  controller=$(basename "$folder"/nvme/nvme*)
  wait_until 30 test -b "/dev/${controller}n1" || fail "$controller has no namespace"
  disk=/dev/${controller}n1
}
# Data that looks the same nowhere, made anew for every test. FILE KIBIBYTES
random_data() { dd if=/dev/urandom of="$1" bs=1k count="$2" 2>/dev/null; }
sum_of() { sha256sum "$1" | cut -d ' ' -f 1; }
