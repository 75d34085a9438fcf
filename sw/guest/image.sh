# shellcheck shell=bash
# The guest's initial file system: busybox, tests, the kernel's modules that these need, programs with their libraries. `guest` reads this
# file. Uses: cache, say, refuse, root (the guest's packages), release (its kernel), busybox.
# shellcheck disable=SC2154

# A folder of the cache for what is built of the files given, whose content names it. Nothing else is looked at: who builds says all in the
# arguments.
place_of() { # NAME FILE...
  local name=$1
  shift
  echo "$cache/built/$name-$(sha256sum "$@" | sed 's/ .*//' | sha256sum | cut -c 1-16)"
}

# Puts a program, or a library by the name by which it is asked for, into the tree, and the libraries that it asks for.
add_program() { # TREE FILE
  local tree=$1 file=$2 path=${2#"$root"} wanted name found
  [ -e "$file" ] || refuse "$path is missing in $root: remove that folder, and it is fetched again"
  [ ! -e "$tree$path" ] || return 0
  install -D -m 755 "$file" "$tree$path"
  wanted=$(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; readelf -l "$file" | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
  for name in $wanted; do
    case $name in
      ld-linux*) continue ;;  # the interpreter, which comes by its whole name
      /*) found=$root$name ;;
      *) found=$(find "$root/lib" "$root/usr/lib" -name "$name" -print -quit) ;;
    esac
    [ -e "$found" ] || refuse "$path asks for $name, which is in none of the packages in $root"
    add_program "$tree" "$found"
  done
}
# The kernel's modules that tests load: by name, those that are built in being none. What they depend on comes with them.
add_modules() { # TREE MODULE...
  local tree=$1 modules=$root/lib/modules/$release module name file more
  shift
  local todo=("$@")
  while [ ${#todo[@]} -gt 0 ]; do
    module=${todo[0]//_/-}
    todo=("${todo[@]:1}")
    file=$(find "$modules/kernel" \( -name "$module.ko" -o -name "${module//-/_}.ko" \) -print -quit)
    [ -n "$file" ] || continue
    name=${file#"$root"}
    [ ! -e "$tree$name" ] || continue
    install -D -m 644 "$file" "$tree$name"
    more=$(tr '\0' '\n' <"$file" | sed -n 's/^depends=//p' | tr ',' ' ')
    # shellcheck disable=SC2206  # names of modules have no blanks
    todo+=($more)
  done
}

# What the kernel unpacks: the same bytes for the same tree.
pack() { # TREE FILE
  find "$1" -exec touch --no-dereference --date=@0 {} +
  (cd "$1" && find . | LC_ALL=C sort | "$busybox" cpio -o -H newc -R 0:0 --renumber-inodes --ignore-devno) >"$2" 2>/dev/null
}
