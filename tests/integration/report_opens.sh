#!/usr/bin/env bash
# Opens the report of a study in Chromium, and looks whether all of it is there and works:
#   report_opens.sh WARPLINE SOURCE_FOLDER
# Exit status 77: Chromium is not installed.
set -euo pipefail
warpline=$1 source=$2
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || { echo "no chromium is installed: no browser opens the report"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HOME=$work
cat >study.toml <<END
name = "slices & channels <b>"
gpus = ["mini"]
metrics = ["cycles", "l2.sector_hits"]
profile = true
sample = 200
[keys]
l2.slices     = [0, 2, 4, 8]
dram.channels = [1, 2, 4]
[[workload]]
run = "$source/sw/kernels/vecadd.toml"
[[workload]]
run = "$source/sw/kernels/transpose.toml"
END
"$warpline" sweep study.toml --results study.sqlite --quiet
"$warpline" report study.sqlite -o study.html

fail() { echo "$*"; exit 1; }
# browse PAGE OPTION...: what the browser says goes to browser.log.
browse() {
  local page=$1
  shift
  timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" --hide-scrollbars \
    --virtual-time-budget=5000 --enable-logging=stderr "$@" "file://$work/$page" >browser.out 2>browser.log
}
no_errors() {
  ! grep CONSOLE browser.log || fail "$1: the page says this to the browser"
}

browse study.html --dump-dom
no_errors "as it is"
grep -q '<td>finished</td>' browser.out || fail "the table of points was not made"
grep -q '1 to 24 of 24 points' browser.out || fail "the table has not all points"

# What a reader does, done by a script that the page's policy would forbid.
sed 's/<meta http-equiv="Content-Security-Policy"[^>]*>//; s/<\/body>/<script src="reader.js"><\/script><\/body>/' study.html >read.html
cat >reader.js <<'END'
const see = (what, holds) => { if (!holds) throw new Error("not so: " + what); };
const all = (words) => [...document.querySelectorAll(words)];
const heading = (name) => all("#points-table thead button").find((b) => b.textContent.startsWith(name));
const cell = (row, column) => all("#points-table tbody tr")[row].children[column].textContent;
see("every plot has a name", all("svg[role=img]").every((s) => s.querySelector("title").textContent !== ""));
see("every table has a caption", all("table").every((t) => t.caption !== null));
see("every link within the page leads somewhere", all("a[href^='#']").every((a) => document.getElementById(a.hash.slice(1)) !== null));
see("no identifier is there twice", new Set(all("[id]").map((e) => e.id)).size === all("[id]").length);
see("nothing is wider than the page", document.documentElement.scrollWidth <= innerWidth);
see("points have marks", all("#pareto svg .marks circle title").length === 9);
const vecadd = document.getElementById("s-vecadd-");
see("lines have a mark a point", [...vecadd.querySelectorAll("figure")][0].querySelectorAll("svg [class^=c] title").length === 9);
see("heat maps have a cell a pair", vecadd.querySelector("svg.heat").querySelectorAll("rect[class^=h]").length >= 9);
const bars = vecadd.querySelector("svg.stalls");
see("what warps wait for has parts that add up", Math.abs([...bars.querySelectorAll("g rect")].reduce((sum, r) => sum + Number(r.getAttribute("width")), 0) / 750 - bars.querySelectorAll(".label").length) < 0.01);
see("parts have colours of their own", new Set([...bars.querySelectorAll("g rect")].map((r) => getComputedStyle(r).fill)).size >= 4);
see("text lies on a part", [...bars.querySelectorAll("g text")].every((t) => t.getComputedTextLength() <= Number(t.parentElement.querySelector("rect").getAttribute("width"))));
const points = [...vecadd.querySelectorAll("details.point")];
see("some points are told, the worst opened", points.length === 9 && points.filter((p) => p.open).length === 1 && points[0].open && /worst/.test(points[0].querySelector("summary").textContent));
see("lines have their source", points.every((p) => /ld\.global/.test(p.querySelector("table.lines").textContent)));
see("figures over time are lines", points[0].querySelectorAll("figure svg .line").length >= 8);
see("which have somewhere to go", [...points[0].querySelectorAll("figure svg path.line")].every((p) => p.getAttribute("d").length > 8));
heading("cycles").focus();
see("a heading takes the keyboard", document.activeElement === heading("cycles"));
heading("cycles").click();
see("it is sorted upwards", heading("cycles").parentElement.getAttribute("aria-sort") === "ascending");
const least = Number(cell(0, 5).replaceAll(",", ""));
heading("cycles").click();
see("and downwards", heading("cycles").parentElement.getAttribute("aria-sort") === "descending" && Number(cell(0, 5).replaceAll(",", "")) > least);
const search = document.getElementById("points-search");
search.value = "vecadd l2.slices=8 finished";
search.dispatchEvent(new Event("input"));
see("words choose rows", document.getElementById("points-count").textContent === "1 to 3 of 3 points");
all("#points-table tbody button")[0].click();
see("a command is shown", document.querySelector("dialog").open && /^warpline run .*vecadd.toml --gpu mini --set dram.channels=\d --set l2.slices=8$/.test(document.querySelector("dialog pre").textContent));
document.title = "READ " + document.querySelector("dialog pre").textContent;
END
browse read.html --dump-dom --allow-file-access-from-files --window-size=1280,900
no_errors "read"
command=$(sed -n 's/.*<title>READ \(.*\)<\/title>.*/\1/p' browser.out)
[ -n "$command" ] || fail "the page was not read to its end"
# The command repeats the point.
${command/#warpline/"$warpline"} --quiet --stats repeated.json
cycles=$(sed -n 's/^  "cycles": \([0-9]*\),$/\1/p' repeated.json)
"$warpline" export study.sqlite --csv - --metrics cycles | grep -q "finished,,$cycles\$" || fail "$command took $cycles cycles, which no point did"

# Narrow as a telephone, light and dark, and on paper.
browse read.html --dump-dom --allow-file-access-from-files --window-size=500,800
no_errors "narrow"
grep -q '<title>READ' browser.out || fail "a narrow page was not read to its end"
for scheme in 0 1; do
  browse study.html --window-size=1200,2000 --blink-settings=preferredColorScheme=$scheme --screenshot="$work/shot$scheme.png"
  no_errors "scheme $scheme"
  [ "$(stat -c %s "shot$scheme.png")" -gt 50000 ] || fail "scheme $scheme shows little"
done
! cmp -s shot0.png shot1.png || fail "dark is as light"
browse study.html --print-to-pdf="$work/paper.pdf"
[ "$(stat -c %s paper.pdf)" -gt 50000 ] || fail "paper shows little"

# Ten thousand points.
awk '/^"rows":\[\[/ { row = $0; sub(/^"rows":/, "", row); sub(/,$/, "", row); sub(/^\[/, "", row); printf "\"rows\":["; for (n = 0; n < 10000 - 24; ++n) printf "%s,\n", row; print substr($0, 9); next } { print }' study.html >many.html
began=$(date +%s%N)
browse many.html --dump-dom
echo "a page of $(stat -c %s many.html) bytes"
echo "10,000 points opened in $((($(date +%s%N) - began) / 1000000)) ms, with the browser's own start"
no_errors "many"
grep -q '1 to 50 of 10,000 points' browser.out || fail "not all of many points are there"
