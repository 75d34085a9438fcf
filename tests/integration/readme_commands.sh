#!/usr/bin/env bash
# Runs every command of the README's `sh` blocks, in order, in a copy of the project that shares this build tree:
#   readme_commands.sh SOURCE_FOLDER BUILD_FOLDER
# `./warp test` only lists its tests here, since this is one of them.
set -euo pipefail
source=$1 tree=$2

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
for entry in "$source"/*; do
  case ${entry##*/} in
    build* | out) ;;
    warp) cp "$entry" "$copy" ;; # it works in the folder where it really lies
    *) ln -s "$entry" "$copy" ;;
  esac
done
ln -s "$tree" "$copy/build"
cd "$copy"

# shellcheck disable=SC2016 # the backticks are Markdown's
script=$(sed -n '/^```sh$/,/^```$/ { /^```/d; p }' "$source/README.md")
for command in './warp demo' './warp test' 'warpline run'; do
  grep -qF -- "$command" <<<"$script" || { echo "README.md shows no '$command' in an sh block"; exit 1; }
done
script=${script//.\/warp test/.\/warp test --show-only}
bash -euo pipefail -x -c "$script"
