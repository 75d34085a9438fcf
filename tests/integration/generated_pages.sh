#!/usr/bin/env bash
# The generated part of the documentation is what its generator writes: generated_pages.sh SOURCE_FOLDER WARPLINE_COMMAND
set -euo pipefail
source=$1 warpline=$2
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"$source/docs/generate" "$warpline" "$fresh"
cd "$fresh"
find . -type f | while read -r file; do
  diff -u "$source/docs/$file" "$file" || { echo "docs/$file is stale: run ./warp docs"; exit 1; }
done
