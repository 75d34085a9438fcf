#!/usr/bin/env bash
# Builds the Linux module and its test program without a warning, and looks at them as the kernel's own tools do:
#   linux_module.sh SOURCE_FOLDER WL_PEER_REGS_H
# Exit status 77: the program is fine, but there are no kernel headers (linux-headers-amd64) for the module. Where they are,
# sparse and checkpatch.pl are asked, too, if they are installed; CHECKPATCH names the latter.
set -euo pipefail
source=$1 registers=$2
folder=$source/sw/driver/linux
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*"; exit 1; }

# What is said is for people only if all is well.
build() { # TARGET VARIABLE...
  LC_ALL=C make -C "$folder" REGS="$registers" BUILD="$work/build" "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "make $* has failed"; }
  ! grep -E '(warning|error):' "$work/log" || fail "make $* warns"
}

! make -C "$folder" REGS="$work/none.h" BUILD="$work/none" module >"$work/log" 2>&1 || fail "a module without registers"
grep -q 'There is no .*none.h' "$work/log" || fail "what is missing is not said"

build test
status=0
"$work/build/wl_peer_test" --device "$work/none" 2>"$work/log" || status=$?
[ $status -eq 2 ] || fail "the test of no device ends with $status"
grep -q 'No such file' "$work/log" || fail "the test of no device does not say so"

headers=
for headers in "${KDIR-}" /lib/modules/*/build /usr/src/linux-headers-*; do
  [ -z "$headers" ] || [ ! -f "$headers/include/generated/autoconf.h" ] || break
  headers=
done
[ -n "$headers" ] || { echo "no kernel headers are installed: the module was not built"; exit 77; }
check=()
if command -v sparse >/dev/null; then check=(C=1); fi
before=$(cd "$source/sw/driver" && find . | sort)
build module KDIR="$headers" W=1 "${check[@]}"
[ "$before" = "$(cd "$source/sw/driver" && find . | sort)" ] || fail "the sources' folder has been written to"
for said in license=GPL 'alias=pci:v00001AF0d00000001sv\*sd\*bc08sc80i00\*'; do
  tr '\0' '\n' <"$work/build/warpline_peer.ko" | grep -a "$said\$" >"$work/log" || fail "the module does not say $said"
done

checkpatch=
for checkpatch in "${CHECKPATCH-}" "$headers"/scripts/checkpatch.pl /usr/src/*/scripts/checkpatch.pl; do
  [ ! -f "$checkpatch" ] || break
  checkpatch=
done
if [ -n "$checkpatch" ]; then
  # The module is for kernels before and after 6.3, and its test looks at memory that a device writes.
  perl "$checkpatch" --no-tree --terse --no-summary --ignore LINUX_VERSION_CODE,CONSTANT_COMPARISON,VOLATILE,SPLIT_STRING \
    -f "$folder"/*.[ch] "$folder"/include/*.h "$folder"/Makefile "$folder"/Kbuild || fail "checkpatch.pl has found something"
fi
echo "built for $headers; sparse: ${check[*]:-none}; checkpatch.pl: ${checkpatch:-none}"
