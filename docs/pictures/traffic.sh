#!/usr/bin/env bash
# Draws where the sectors of a run went, from the SMs to DRAM, as SVG:
#   traffic.sh STATISTICS.json >PICTURE.svg
# STATISTICS.json is what `warpline run --stats` writes. An arrow is as thick as the sectors on it are many.
set -euo pipefail

awk '
  # The totals of the whole run stand first, one on a line; those of each launch follow them.
  /"launches":/ { exit }
  match($0, /^  "(cycles|gpu)": /) { key = $1; gsub(/[":]/, "", key); word[key] = $2; gsub(/[",]/, "", word[key]) }
  match($0, /^    "[^"]*": \{"value": [0-9]+/) {
    split(substr($0, RSTART, RLENGTH), part, /"/)
    value = substr($0, RSTART, RLENGTH)
    sub(/.*: /, "", value)
    at[part[2]] = value
  }

  function grouped(n,  text) {
    text = n ""
    while (text ~ /[0-9][0-9][0-9][0-9]/ && match(text, /[0-9][0-9][0-9](,|$)/))
      text = substr(text, 1, RSTART - 1) "," substr(text, RSTART)
    return text
  }
  function label(x, y, what, size, anchor) {
    printf "<text x=\"%d\" y=\"%d\" font-size=\"%d\" text-anchor=\"%s\">%s</text>\n", x, y, size, anchor, what
  }
  function box(x, y, w, h, name, detail) {
    printf "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\" fill=\"#f4f6f8\" stroke=\"#56606b\"/>\n", x, y, w, h
    label(x + w / 2, y + 20, name, 14, "middle")
    if (detail != "") label(x + w / 2, y + 37, detail, 11, "middle")
  }
  # What a cache did with the sectors asked of it: had them, was fetching them already, or passed them on.
  function cache(x, y, block, name, asked, hits, merged) {
    box(x, y, 150, 76, name, "")
    if (asked == 0) asked = 1
    printf "<rect x=\"%d\" y=\"%d\" width=\"130\" height=\"12\" fill=\"#c9d1d9\"/>\n", x + 10, y + 30
    printf "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"12\" fill=\"#e8b33a\"/>\n", x + 10, y + 30, 130 * (hits + merged) / asked
    printf "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"12\" fill=\"#3f9b5f\"/>\n", x + 10, y + 30, 130 * hits / asked
    label(x + 75, y + 62, sprintf("%.0f%% hit", 100 * hits / asked) (merged ? sprintf(", %.0f%% merged", 100 * merged / asked) : ""), 11, "middle")
  }
  function arrow(x1, x2, y, sectors, colour) {
    if (sectors == 0) return
    printf "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"%.1f\"/>\n",
      x1, y, x2, y, colour, 1 + 35 * sectors / most
    label((x1 + x2) / 2, y - 4 - 18 * sectors / most, grouped(sectors), 12, "middle")
  }

  END {
    most = 1
    for (k in at) if (k ~ /^sm\.lsu\.(l1_lg|texture|constant)_sectors$/ && at[k] > most) most = at[k]
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 960 440\" font-family=\"sans-serif\">\n"
    printf "<rect width=\"960\" height=\"440\" fill=\"white\"/>\n"
    label(20, 26, grouped(word["cycles"]) " cycles on " word["gpu"] ": the 32-byte sectors between its blocks", 16, "start")
    reads = "#4078b0"
    writes = "#b05a40"
    arrow(130, 240, 83, at["l1_lg.load_sectors"], reads)
    arrow(130, 240, 83, at["l1_lg.stored_sectors"], writes)
    arrow(130, 240, 178, at["sm.lsu.texture_sectors"], reads)
    arrow(130, 240, 273, at["sm.lsu.constant_sectors"], reads)
    arrow(130, 240, 368, at["sm.fetch.sectors"], reads)
    arrow(390, 500, 68, at["l1_lg.fetched_sectors"] + at["l1_lg.forwarded_sectors"], reads)
    arrow(390, 500, 98, at["l1_lg.stored_sectors"], writes)
    arrow(390, 500, 178, at["texture.fetched_sectors"], reads)
    arrow(390, 500, 273, at["constant.fetched_sectors"], reads)
    arrow(390, 500, 368, at["instruction.fetched_sectors"], reads)
    arrow(570, 660, 190, at["crossbar.read_sectors_requested"], reads)
    arrow(570, 660, 250, at["crossbar.request_sectors"], writes)
    arrow(810, 870, 205, at["dram.bytes_read"] / 32, reads)
    arrow(810, 870, 250, at["dram.bytes_written"] / 32, writes)
    box(20, 45, 110, 361, "SMs", grouped(at["sm.instructions"]))
    label(75, 96, "warp instructions", 11, "middle")
    cache(240, 45, "l1_lg", "L1 local/global", at["l1_lg.sector_accesses"], at["l1_lg.sector_hits"], at["l1_lg.merged_sectors"])
    cache(240, 140, "texture", "texture, ld.global.nc", at["texture.sector_accesses"], at["texture.sector_hits"], at["texture.merged_sectors"])
    cache(240, 235, "constant", "constant", at["constant.sector_accesses"], at["constant.sector_hits"], at["constant.merged_sectors"])
    cache(240, 330, "instruction", "instruction", at["instruction.sector_accesses"], at["instruction.sector_hits"], at["instruction.merged_sectors"])
    box(500, 45, 70, 361, "crossbar", "")
    cache(660, 180, "l2", "L2", at["l2.sector_accesses"], at["l2.sector_hits"], at["l2.merged_sectors"])
    box(870, 180, 70, 76, "DRAM", "")
    label(20, 428, "Blue: reads. Red: writes. In a cache, green: sectors that it had; yellow: that it was fetching already.", 12, "start")
    print "</svg>"
  }' "$1"
