# shellcheck shell=bash
# Debian packages in a cache of our own: fetched and checked by apt, which is given folders of its own, so that neither root nor a
# package of this system is needed or changed. `guest` reads this file.
# Uses: cache, offline, say, refuse, missing.
# shellcheck disable=SC2154

readonly kMirror=${WARPLINE_DEBIAN_MIRROR:-http://deb.debian.org/debian}
readonly kKeyring=${WARPLINE_DEBIAN_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}

# Makes the folders of an apt that knows one suite for one architecture, and reads the suite's lists. Sets APT_CONFIG, and `preferred`: what
# is preferred where it has a package.
open_suite() { # SUITE ARCHITECTURE
  local suite=$1 architecture=$2 root=$cache/apt/$1-$2 tool
  preferred=$suite
  [ "$suite" != trixie ] || preferred=trixie-backports
  for tool in apt-get apt-cache apt-config dpkg-deb; do
    command -v $tool >/dev/null ||
      refuse "packages of Debian are fetched by apt-get and unpacked by dpkg-deb, and there is no $tool here: run this on Debian, or on a system that has both"
  done
  [ -r "$kKeyring" ] ||
    refuse "the keys of Debian's archive are not in $kKeyring: install debian-archive-keyring, or set WARPLINE_DEBIAN_KEYRING"
  mkdir -p "$root"/{lists,archives}/partial
  : >"$root/status"
  # Nothing of this system's apt is used but its proxies.
  {
    echo "Dir \"$root\"; Dir::State \"$root\"; Dir::State::lists \"$root/lists\"; Dir::State::status \"$root/status\";"
    echo "Dir::Cache \"$root\"; Dir::Cache::archives \"$root/archives\"; Dir::Cache::pkgcache \"\"; Dir::Cache::srcpkgcache \"\";"
    echo "Dir::Etc::main \"/dev/null\"; Dir::Etc::parts \"/dev/null\"; Dir::Etc::sourcelist \"$root/sources\"; Dir::Etc::sourceparts \"/dev/null\";"
    echo "Dir::Etc::preferences \"/dev/null\"; Dir::Etc::preferencesparts \"/dev/null\"; Dir::Etc::trusted \"/dev/null\"; Dir::Etc::trustedparts \"/dev/null\";"
    echo "APT::Architecture \"$architecture\"; APT::Architectures { \"$architecture\"; }; APT::Install-Recommends \"false\";"
    echo "APT::Sandbox::User \"root\"; Acquire::Languages \"none\"; Acquire::Retries \"2\"; Acquire::PDiffs \"false\"; Acquire::GzipIndexes \"true\";"
    apt-config dump --no-empty --format '%F "%v";%n' Acquire::http::Proxy Acquire::https::Proxy
  } >"$root/apt.conf"
  {
    echo "deb [signed-by=$kKeyring] $kMirror $suite main"
    [ "$preferred" = "$suite" ] || echo "deb [signed-by=$kKeyring] $kMirror $preferred main"
  } >"$root/sources"
  export APT_CONFIG=$root/apt.conf
  apt_get -o APT::Update::Error-Mode=any update || refuse "cannot read Debian's lists of packages at $kMirror: is there a network? WARPLINE_DEBIAN_MIRROR names another mirror"
}

# apt-get, with its progress on a terminal; elsewhere it speaks where it fails.
apt_get() {
  if [ -t 2 ]; then
    apt-get "$@" >&2
  else
    local out
    out=$(apt-get -qq "$@" 2>&1) || { printf '%s\n' "$out" >&2; return 1; }
  fi
}

# The name of the package that a package of no content of its own stands for.
stands_for() { # PACKAGE PREFIX
  apt-cache depends "$1" | sed -n "s/^ *Depends: \($2[^ ]*\)\$/\1/p" | head -n 1
}

# Puts packages into a folder of the cache, unpacked, unless they are there. An interrupted fetch leaves what it has for the next one,
# and no folder that looks whole.
#   fetch NAME SUITE ARCHITECTURE all|only PACKAGE...    all: with what they depend on
# A PACKAGE `of:NAME` is what NAME stands for.
fetch() {
  local name=$1 suite=$2 architecture=$3 depth=$4 into=$cache/$1 package
  shift 4
  [ ! -f "$into/versions" ] || return 0
  [ -z "$offline" ] || missing "$name is not in $cache, and nothing is downloaded with --offline: run ./warp guest --fetch-only first"
  mkdir -p "$cache"
  exec {lock}>"$cache/lock"
  flock "$lock" 2>/dev/null || refuse "cannot lock $cache/lock"
  if [ ! -f "$into/versions" ]; then
    say "fetching $name: $*"
    open_suite "$suite" "$architecture"
    local packages=() archives=$cache/apt/archives-$name
    for package in "$@"; do
      if [[ $package == of:* ]]; then package=$(stands_for "${package#of:}" linux-); fi
      [ -n "$package" ] || refuse "Debian's $suite has nothing for $*"
      packages+=("$package")
    done
    mkdir -p "$archives/partial"
    if [ "$depth" = all ]; then
      # The names of files tell packages and versions.
      mapfile -t packages < <(apt-get -qq -t "$preferred" -y install --print-uris "${packages[@]}" 2>&1 |
        sed -nE "s/^'[^']*' ([^_ ]+)_([^_ ]+)_.*/\1=\2/p" | sed 's/%3a/:/')
    fi
    # Each line: the address in quotes, the file's name, its bytes, SHA256: and the sum.
    local wanted
    wanted=$(apt-get -qq -t "$preferred" download --print-uris "${packages[@]}" 2>&1 | grep "^'") ||
      refuse "Debian's $suite for $architecture has not all that is needed of these, or not what they need: $*"
    say "$(awk '{ bytes += $3 } END { printf "%d packages, %.1f MB", NR, bytes / 1e6 }' <<<"$wanted")"
    if ! (cd "$archives" && apt_get -t "$preferred" download "${packages[@]}") || ! are_whole "$archives" <<<"$wanted"; then
      refuse "cannot fetch all of it from $kMirror; what has come is kept for the next time"
    fi
    # Of an earlier try there may be others.
    mapfile -t packages < <(awk -v folder="$archives" '{ print folder "/" $2 }' <<<"$wanted")
    unpack "$into" "${packages[@]}"
    rm -rf "$archives"
  fi
  exec {lock}>&-
}

# Whether files are what apt's signed lists say: apt looks at those that it has just fetched, and takes one of the right length that was
# there. What is not so goes.
are_whole() { # FOLDER, lines as of --print-uris
  local folder=$1 address name bytes sum whole=0
  while read -r address name bytes sum; do
    [ "$(stat -c %s "$folder/$name" 2>/dev/null)" = "$bytes" ] && sha256sum --status -c <<<"${sum#SHA256:}  $folder/$name" && continue
    say "$name of $address is damaged, and was removed"
    rm -f "$folder/$name"
    whole=1
  done
  return $whole
}

unpack() { # FOLDER ARCHIVE...
  local into=$1 archive bytes=0
  shift
  rm -rf "$into" "$into.new"
  mkdir -p "$into.new"
  for archive in "$@"; do
    dpkg-deb -x "$archive" "$into.new" || refuse "cannot unpack $archive"
    bytes=$((bytes + $(stat -c %s "$archive")))
    # shellcheck disable=SC2016  # dpkg-deb has variables of its own
    dpkg-deb -W --showformat='${Package} ${Version} ${Architecture}\n' "$archive"
  done >"$into.new/versions"
  mv "$into.new" "$into"
  say "$(basename "$into"): $# packages, $((bytes / 100000 / 10)).$((bytes / 100000 % 10)) MB, unpacked in $into"
}
