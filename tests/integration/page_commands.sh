#!/usr/bin/env bash
# Types the commands of a page of documentation, and compares what comes out with what the page shows:
#   page_commands.sh PAGE SOURCE_FOLDER BUILD_FOLDER [PREFIX]
# PREFIX: of an installed package, whose command, kernels and examples are used then in the place of the checkout's.
# WORK, if it is set: the folder in which the commands are typed; else a new one, which goes afterwards.
#
# Each `sh` block of the page is run, in order, in one shell. A `text` block that follows it is its output, both streams: line
# by line, where a line `...` stands for any number of lines, and where `0.25 s` or `900 runs/s` at the end of a line stands for any time. A
# command that ends with `# exits with 1` must do that; any other succeeds. Blocks `sh checkout` and `sh installed` are for
# one kind of reader.
set -euo pipefail
page=$1 source=$2 tree=$3 prefix=${4-}
mode=checkout
[ -z "$prefix" ] || mode=installed

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
blocks=$scratch/blocks
mkdir "$blocks"
# The numbered blocks: NNN.sh, and NNN.text where output is shown.
awk -v dir="$blocks" -v mode="$mode" '
  /^```/ && inside { inside = 0; if (file != "") close(file); next }
  /^```/ {
    inside = 1
    file = ""
    what = substr($0, 4)
    if (what == "sh" || what == "sh " mode) {
      file = sprintf("%s/%03d.sh", dir, ++n)
      shown = 0
    } else if (what == "text" && n > 0 && !shown) {
      file = sprintf("%s/%03d.text", dir, n)
      shown = 1
    } else if (what ~ /^sh /) {
      shown = 1
    }
    if (file != "") printf "" > file
    next
  }
  inside && file != "" { print > file }' "$page"
[ -f "$blocks/001.sh" ] || { echo "$page has no commands"; exit 1; }
# `./warp test` is what runs this: here it lists its tests only.
sed -E -i 's/^(.*[^ ]) +# exits with ([0-9]+)$/expect_status \2 \1/; s/^\.\/warp test$/ctest --test-dir build --show-only/' "$blocks"/*.sh

# The place of the reader: a checkout at ~/warpline, or a package; and, but for the pages that tell how to get there, a
# folder with copies of what comes with it.
export HOME=$scratch/home
mkdir "$HOME"
work=${WORK-$scratch/work}
mkdir -p "$work"
if [ -z "$prefix" ]; then
  mkdir "$HOME/warpline"
  for entry in "$source"/*; do
    case ${entry##*/} in
      build* | out) ;;
      warp) cp "$entry" "$HOME/warpline" ;; # it works in the folder where it really lies
      *) ln -s "$entry" "$HOME/warpline" ;;
    esac
  done
  ln -s "$tree" "$HOME/warpline/build"
fi
cd "$work"
case $page in
  "$source/README.md") cd "$HOME/warpline" ;;
  */docs/README.md) [ -z "$prefix" ] || PATH=$prefix/bin:$PATH ;;
  *)
    if [ -n "$prefix" ]; then
      cp -r "$prefix"/share/warpline/* "$prefix/share/doc/warpline/examples" .
      PATH=$prefix/bin:$PATH
    else
      cp -r "$source"/{sw/kernels,sw/examples,tests/litmus,waveforms} .
      PATH=$tree/platform/cli:$PATH
    fi
    ;;
esac
# Nobody looks at a wave here: what is to be opened must be there.
mkdir "$scratch/bin"
printf '#!/bin/sh\nfor file; do [ -f "$file" ] || { echo "no file $file"; exit 1; }; done\n' >"$scratch/bin/gtkwave"
chmod +x "$scratch/bin/gtkwave"
PATH=$scratch/bin:$PATH

expect_status() {
  local wanted=$1 status=0
  shift
  "$@" || status=$?
  [ $status -eq "$wanted" ] || { echo "exit status $status instead of $wanted"; return 1; }
}

# matches SHOWN OUTPUT
matches() {
  awk '
    function plain(line) { sub(/[ \t]+$/, "", line); sub(/[0-9.]+ s$/, "# s", line); sub(/[0-9]+ runs\/s$/, "# runs/s", line); return line }
    NR == FNR { shown[++m] = plain($0); next }
    { out[++k] = plain($0) }
    END {
      i = j = 1
      star = 0
      while (j <= k) {
        if (i <= m && shown[i] ~ /^ *\.\.\.$/) { star = i++; from = j }
        else if (i <= m && shown[i] == out[j]) { i++; j++ }
        else if (star) { i = star + 1; j = ++from }
        else exit 1
      }
      while (i <= m && shown[i] ~ /^ *\.\.\.$/) i++
      exit i <= m
    }' "$1" "$2"
}

exec 3>&2
block=none
tell() {
  jobs -p | xargs -r kill 2>/dev/null || true # what a page leaves running where it fails
  if [ "$block" != none ]; then
    { echo "$page: this fails:"; cat "$block"; echo "It says:"; cat "$scratch/out"; } >&3
  fi
  rm -rf "$scratch"
}
trap tell EXIT
for block in "$blocks"/*.sh; do
  # shellcheck disable=SC1090
  source "$block" >"$scratch/out" 2>&1 </dev/null
  shown=${block%.sh}.text
  if [ -f "$shown" ] && ! matches "$shown" "$scratch/out"; then
    { echo "$page shows for"; cat "$block"; echo "other output (<) than comes (>):"; diff "$shown" "$scratch/out" || true; } >&3
    block=none
    exit 1
  fi
done
block=none
