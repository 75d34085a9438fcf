#!/usr/bin/env bash
# Opens every saved view of waveforms/ in GTKWave, on a display in memory, with a dump made for it:
#   views_open.sh WARPLINE SOURCE_FOLDER
# Exit status 77: GTKWave, Xvfb or ImageMagick is not installed.
set -euo pipefail
warpline=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$warpline" run "$source/sw/kernels/vecadd.toml" --quiet --pins 'l2[0].from_crossbar' --wave "$work/all.vcd"
"$warpline" run "$source/sw/kernels/submit.toml" --set pcie_system.peers=1 --set peer_bytes=0 --quiet \
  --probe 'peer*' --wave "$work/peer.vcd"
"$warpline" run "$source/sw/kernels/nvme_io.toml" --set pcie_system.nvme.count=1 --quiet --probe 'nvme*' --wave "$work/nvme.vcd"
for view in "$source"/waveforms/*.gtkw; do
  dump=$work/all.vcd
  for device in peer nvme; do
    [ "$(basename "$view")" != $device.gtkw ] || dump=$work/$device.vcd
  done
  "$source/waveforms/screenshot" "$dump" "$view" "$work/picture.png"
  # Signals are drawn in GTKWave's green; an empty view has none.
  green=$(convert "$work/picture.png" -fuzz 5% -fill black +opaque '#00c000' -fill white -opaque '#00c000' \
    -format '%[fx:int(mean*w*h)]' info:)
  other=$(convert "$work/picture.png" -fuzz 5% -fill black +opaque '#00ff00' -fill white -opaque '#00ff00' \
    -format '%[fx:int(mean*w*h)]' info:)
  echo "$(basename "$view"): $((green + other)) pixels of signals"
  [ $((green + other)) -gt 3000 ] || { echo "it shows no signals"; exit 1; }
done
