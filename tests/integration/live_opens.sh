#!/usr/bin/env bash
# Watches a run by the command and in Chromium, and looks whether all of the page is there and works:
#   live_opens.sh WARPLINE SOURCE_FOLDER
# Exit status 77: all is well, but Chromium is not installed.
set -euo pipefail
warpline=$1 source=$2
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
work=$(mktemp -d)
run=
trap '[ -z "$run" ] || kill "$run" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
export HOME=$work
fail() { echo "$*"; exit 1; }

"$warpline" run "$source/sw/kernels/matmul.toml" --quiet --live 0 --paused --stats watched.json 2>live.txt &
run=$!
for _ in $(seq 100); do
  grep -q '^live: ' live.txt && break
  sleep 0.1
done
address=$(sed -n 's/^live: //p' live.txt)
[ -n "$address" ] || fail "no address was printed"
"$warpline" watch "$address" --step-to 6000 >/dev/null

# browse OPTION...: what the browser says goes to browser.log.
browse() {
  timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" --hide-scrollbars \
    --virtual-time-budget=3000 --enable-logging=stderr "$@" "$address" >browser.out 2>browser.log
  ! grep CONSOLE browser.log || fail "the page says this to the browser"
}
if [ -n "$browser" ]; then
  browse --dump-dom --window-size=500,900
  for shown in 'Paused in cycle 6,000' 'matmul.toml' 'aria-label="sm.warps filled"' '>sm.instructions<' '>distributor<'; do
    grep -q "$shown" browser.out || fail "the page does not show $shown"
  done
  for scheme in 0 1; do
    browse --window-size=1200,1600 --blink-settings=preferredColorScheme=$scheme --screenshot="$work/shot$scheme.png"
    [ "$(stat -c %s "shot$scheme.png")" -gt 40000 ] || fail "scheme $scheme shows little"
  done
  ! cmp -s shot0.png shot1.png || fail "dark is as light"
  [ -z "${SHOTS-}" ] || cp shot*.png "$SHOTS"
fi

"$warpline" watch "$address" --resume
wait "$run" || fail "the run ended with $?"
run=
"$warpline" run "$source/sw/kernels/matmul.toml" --quiet --stats alone.json
for s in watched alone; do grep -vE '"(command|wall_s)"' $s.json >$s.txt; done
cmp watched.txt alone.txt || fail "it did something else than a run that nobody watches"

# Nobody is there any more; two cannot have one port; several processes have no page.
! "$warpline" watch "$address" --once 2>gone.txt || fail "a run that has ended is still there"
grep -q 'cannot connect' gone.txt || fail "it is not said that nobody is there: $(cat gone.txt)"
! "$warpline" run "$source/sw/kernels/matmul.toml" --paused 2>said.txt || fail "--paused needs --live"
! "$warpline" exec --live 0 true 2>said.txt || fail "exec cannot be watched"
grep -q 'exec becomes the program' said.txt || fail "that is not said: $(cat said.txt)"
"$warpline" run "$source/sw/kernels/matmul.toml" --quiet --live 0 --paused 2>live.txt &
run=$!
for _ in $(seq 100); do
  grep -q '^live: ' live.txt && break
  sleep 0.1
done
port=$(sed -n 's/^live: .*:\([0-9]*\)\/.*/\1/p' live.txt)
! "$warpline" run "$source/sw/kernels/matmul.toml" --quiet --live "$port" 2>taken.txt || fail "a port is served twice"
grep -q "port $port cannot be served" taken.txt || fail "it is not said that the port is taken: $(cat taken.txt)"
# A paused run is interrupted as any other.
kill -INT "$run"
status=0
wait "$run" || status=$?
run=
[ $status -eq 130 ] || fail "an interrupted run ended with $status"
[ -n "$browser" ] || { echo "no chromium is installed: no browser has watched a run"; exit 77; }
