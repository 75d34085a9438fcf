#!/usr/bin/env bash
# The installed package as a stranger finds it: other projects build against it, outside the tree, after it was moved.
#   package_test.sh STEP SOURCE_FOLDER BUILD_FOLDER COMPILER COMPILER_FLAGS
# Step `install` comes first; the others use what it left in BUILD_FOLDER/tests/integration/package.
set -euo pipefail
step=$1 source=$2 tree=$3 compiler=$4 flags=$5
package=$tree/tests/integration/package
prefix=$package/prefix  # with archives
shared=$package/with_shared  # the same with a shared library in their place
work=$package/$step

fail() { echo "$*" >&2; exit 1; }
# expect STATUS COMMAND...: its output to the file `out`.
expect() {
  local wanted=$1 status=0
  shift
  "$@" >"$work/out" 2>&1 || status=$?
  cat "$work/out"
  [ $status -eq "$wanted" ] || fail "status $status instead of $wanted: $*"
}
says() { grep -qE -- "$1" "$work/out" || fail "the output has no line that matches: $1"; }
# build NAME OPTION...: an installed example, in a copy that has nothing of the tree around it; options for CMake.
build() {
  cp -r "$prefix/share/doc/warpline/examples/$1" "$work/$1"
  cmake -S "$work/$1" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="$flags" \
    -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DCMAKE_PREFIX_PATH="$prefix" "${@:2}"
  cmake --build "$work/build"
  uses_no_tree
}
uses_no_tree() {
  if grep -F -e "$source/rtl_models" -e "$source/platform" -e "$tree/include" "$work/build/build.ninja"; then
    fail "it uses the source tree"
  fi
}

# again PROGRAM...: links programs of an example once more, from the same objects and its own archives with the shared library, as PROGRAM.shared.
again() {
  local program folder
  folder=$(dirname "$(find "$shared" -name libwarpline.so)")
  for program in "$@"; do
    # shellcheck disable=SC2046,SC2086
    $compiler $flags $(find "$work/build/CMakeFiles/$program.dir" -name '*.o') -o "$work/build/$program.shared" \
      $(find "$work/build" -maxdepth 1 -name '*.a') \
      $(PKG_CONFIG_PATH=$folder/pkgconfig pkg-config --libs warpline) -Wl,-rpath,"$folder"
    readelf -d "$work/build/$program.shared" | grep -q 'NEEDED.*\[libwarpline\.so\.' || fail "$program does not use the shared library"
  done
}

# follow PAGE: types the commands of an installed page, in the folder of this step.
follow() {
  CXX=$compiler CXXFLAGS=$flags CFLAGS=$flags WORK=$work "$source/tests/integration/page_commands.sh" \
    "$prefix/share/doc/warpline/docs/$1" "$source" "$tree" "$prefix"
}

# What other steps have most of, an everyday run leaves out.
case $step in
  custom_l2 | custom_dram | bare_bus_device | host_cpu | two_gpus | gpu_nvme)
    if [ -z "${WARPLINE_EVERY_EXAMPLE-}" ]; then
      echo "skipped: WARPLINE_EVERY_EXAMPLE is not set"
      exit 77
    fi ;;
esac

rm -rf "$work"
mkdir -p "$work"

case $step in
  install)
    rm -rf "$prefix"
    cmake --install "$tree" --prefix "$work/where_it_was" >"$work/log" || { cat "$work/log"; exit 1; }
    mv "$work/where_it_was" "$prefix"
    if grep -rlIF -e "$source/" -e "$work" "$prefix/lib"*/cmake "$prefix/lib"*/pkgconfig; then
      fail "these files know where they were"
    fi
    rm -rf "$shared"
    cp -rl "$prefix" "$shared"
    find "$shared" -name 'libwarpline_*.a' -delete
    rm "$shared"/lib*/cmake/warpline/warpline-archives*.cmake "$shared"/lib*/*/cmake/warpline/warpline-archives*.cmake 2>/dev/null || true
    cmake --install "$tree" --component shared --prefix "$work/where_it_was" >"$work/log" || { cat "$work/log"; exit 1; }
    cp -r --remove-destination "$work/where_it_was/." "$shared"
    if grep -rlIF -e "$source/" -e "$work" "$shared/lib"*/cmake "$shared/lib"*/pkgconfig; then
      fail "these files know where they were"
    fi
    ;;
  command)
    expect 0 "$prefix/bin/warpline" run "$prefix/share/warpline/kernels/vecadd.toml" --gpu v100
    says '1 of 1 results as expected'
    ;;
  docs)
    # Every relative link of every page leads somewhere.
    find "$prefix/share" -name '*.md' | while read -r page; do
      { grep -oE '\]\([^): ]+\)|(src|href)="[^":]+"' "$page" || true; } | sed -E 's/^(\]\(|.*=")//; s/[)"]$//' | while read -r link; do
        to=$(dirname "$page")/${link%%#*}
        [ "${link%%#*}" != "" ] || to=$page
        [ -e "$to" ] || fail "$page leads to $link, which is not there"
        # Where it leads to a heading, that is there: lower case, blanks as hyphens, and nothing but letters, digits, - and _.
        [ "${link#*#}" != "$link" ] || continue
        sed -nE '/^```/{:a;n;/^```/!ba;b};s/^#+ //p' "$to" | tr '[:upper:] ' '[:lower:]-' | tr -cd 'a-z0-9_\n-' | grep -qxF -e "${link#*#}" ||
          fail "$page leads to $link, and there is no such heading"
      done
    done
    follow README.md
    ;;
  embed)
    follow embedding.md
    for example in embed lt_processor shader_core; do
      mv "$work/$example" "$work/build"
      uses_no_tree
      mv "$work/build" "$work/$example"
    done
    # Whatever the quantum, the program and the engines see the same, at the same time.
    for quantum in 0 30 1000000; do
      expect 0 "$work/lt_processor/lt_processor" $quantum
      says '^processor: 1324 accesses, 0 refused, 0 bytes wrong, done after 193\.63 us$'
    done
    expect 2 "$work/lt_processor/lt_processor" -1
    expect 0 "$work/shader_core/shader_core" v100
    says '^0 of 16384 results wrong$'
    says 'L1 local/global +6144 '
    expect 0 "$work/shader_core/shader_core" v100 --stream
    says 'L1 local/global +4096 '
    expect 2 "$work/shader_core/shader_core" v1000
    mv "$work/embed" "$work/build"
    expect 0 "$work/build/embed"
    says 'software .* 1536 calls, 0 bytes wrong, video memory given as a pointer'
    says 'shader +256 +2048 +0 +0 '
    says 'L1 local/global +[1-9][0-9]* +[1-9]'
    again embed
    expect 0 "$work/build/embed.shared"
    says 'shader +256 +2048 +0 +0 '
    expect 0 "$work/build/embed" v100 l2.slices=5 dram.channels=7
    expect 2 "$work/build/embed" mini l2.slies=5
    says 'did you mean "slices"'
    ;;
  custom_l2)
    build custom_l2 -DCMAKE_UNITY_BUILD=ON # file by file it is compiled for checked_examples_test
    for kernel in vecadd histogram transpose; do
      expect 0 "$work/build/custom_l2" "$prefix/share/warpline/kernels/$kernel.toml"
      says '^ +MyL2 +[0-9]+ cycles +([0-9]+) of \1 results as expected'
    done
    again custom_l2
    expect 0 "$work/build/custom_l2.shared" "$prefix/share/warpline/kernels/histogram.toml"
    says '^ +MyL2 +[0-9]+ cycles +2 of 2 results as expected'
    expect 0 "$work/build/custom_l2" "$prefix/share/warpline/kernels/histogram.toml" 20 lt
    says '^ +MyL2 +[0-9]+ cycles +2 of 2 results as expected'
    # The slice's own latency is in the result.
    cycles() { "$work/build/custom_l2" "$prefix/share/warpline/kernels/vecadd.toml" "$1" | sed -n 's/^ *MyL2 *\([0-9]*\) cycles.*/\1/p'; }
    quick=$(cycles 10) slow=$(cycles 500)
    [ "$slow" -ge $((quick + 490)) ] || fail "a latency of 500 ns takes $slow cycles, one of 10 ns $quick"
    expect 2 "$work/build/custom_l2" no_such_file.toml
    says 'no_such_file.toml'
    ;;
  custom_dram)
    build custom_dram -DCMAKE_UNITY_BUILD=ON # likewise
    again custom_dram
    for program in custom_dram custom_dram.shared; do
      for kernel in vecadd histogram transpose; do
        expect 0 "$work/build/$program" "$prefix/share/warpline/kernels/$kernel.toml"
        says '^ +MyDram +[0-9]+ cycles +([0-9]+) of \1 results as expected'
        says '^  MyDram: [1-9][0-9]* lines read, [0-9]+ written, [1-9][0-9]* in an open row, [1-9][0-9]* looks at bytes'
      done
    done
    expect 0 "$work/build/custom_dram" "$prefix/share/warpline/kernels/histogram.toml" 28 lt
    says '^ +MyDram +[0-9]+ cycles +2 of 2 results as expected'
    # The memory's own time is in the result.
    cycles() { "$work/build/custom_dram" "$prefix/share/warpline/kernels/vecadd.toml" "$1" | sed -n 's/^ *MyDram *\([0-9]*\) cycles.*/\1/p'; }
    quick=$(cycles 10) slow=$(cycles 1000)
    [ "$slow" -ge $((quick + 990)) ] || fail "rows that take 1000 ns to open take $slow cycles, of 10 ns $quick"
    expect 2 "$work/build/custom_dram" no_such_file.toml
    says 'no_such_file.toml'
    expect 2 "$work/build/custom_dram" no_such_file.toml 0
    says 'to open a row takes 1 to 1000000 ns, not "0"'
    ;;
  mmio_device)
    build mmio_device
    expect 0 "$work/build/mmio_device"
    says '^ +35  bar 0  read +8 bytes  0x0010 NOW  0x0000000000000023 '
    says '^ +60  bar 0  read +4 bytes  0x000a PERIOD\+2 .* misaligned$'
    says '^0 of 20 accesses'
    again mmio_device
    expect 0 "$work/build/mmio_device.shared"
    says '^0 of 20 accesses'
    expect 0 "$work/build/mmio_device" --json
    says '^\{"cycle": 60, .*"offset": 252, .*"outcome": "no register"\}$'
    grep -q '^| `0x0020 + 0x4 \* n` | `NOTE\[n\]`' "$work/build/manuals/timer.md" || fail "the manual lacks a register"
    printf '#include "wl_timer_regs.h"\n#include "wl_peer_regs.h"\nint main(void) { return WL_TIMER_NOTE_OFFSET(1) == 0x24 ? 0 : 1; }\n' >"$work/driver.c"
    cc -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror -I"$work/build/include/timer_registers_c" -I"$prefix/include" \
      "$work/driver.c" -o "$work/driver"
    expect 0 "$work/driver"
    [ -f "$prefix/share/doc/warpline/manuals/peer.md" ] || fail "the package has no manual of the peer"
    # A description that became wrong stops the build, where it is wrong.
    echo 'stride = 4' >>"$work/mmio_device/timer.toml"
    expect 1 cmake --build "$work/build"
    says 'timer\.toml:[0-9]+:1: error: unknown key "stride" in \[\[enumeration\.value\]\]'
    ;;
  bring_up)
    follow drivers.md
    mv "$work/bring_up" "$work/build"
    uses_no_tree
    expect 0 "$work/build/step1_identity"
    says '^IDENTITY 0x574C5044, VERSION 1\.0$'
    says '^ +[0-9]+  bar 0  read +4 bytes  0x0000 IDENTITY +0x574c5044 '
    expect 0 "$work/build/step2_reset"
    says 'ready$'
    expect 0 "$work/build/step3_command"
    says '^status 0, memory 0x1122334455667788, after [0-9]+ cycles$'
    expect 0 "$work/build/step4_interrupt"
    says '^status 0, was 37, is 42$'
    expect 0 "$work/build/step5_scatter"
    says '^status 0, "Hello world!"$'
    expect 0 "$work/build/step6_errors"
    says '^forbidden memory: status 5, ERROR 0x18$'
    says '^pulled out: the device does not answer$'
    says '^put back: 16 queues$'
    expect 0 "$work/build/step7_thousand"
    says '^counter 1000, [0-9]{1,3} of 1000 completions in order'
    again step{1_identity,2_reset,3_command,4_interrupt,5_scatter,6_errors,7_thousand}
    for program in "$work"/build/step*.shared; do expect 0 "$program"; done
    says '^counter 1000, [0-9]{1,3} of 1000 completions in order'
    ;;
  host_cpu)
    build host_cpu
    expect 0 "$work/build/host_cpu"
    says '^the number is 42$'
    says '^after [0-9.]+ (ns|us|ps)$'
    again host_cpu
    expect 0 "$work/build/host_cpu.shared"
    says '^the number is 42$'
    ;;
  shared)
    library=$(find "$shared" -name libwarpline.so)
    [ -z "$(find "$shared" -name '*.a')" ] || fail "there are archives beside it"
    version=$(sed -n 's/^project(warpline VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
    readelf -d "$library" | grep -q "SONAME.*\[libwarpline\.so\.${version%.*}\]" || fail "its name for the loader does not say the minor version"
    [ "$(readlink -f "$library")" = "$(dirname "$(readlink -f "$library")")/libwarpline.so.$version" ] || fail "its file does not say the version"
    # What it exports is what public headers declare: names of Warpline's, and those of C.
    if nm -DC --defined-only "$library" | cut -c20- |
      grep -vE '^(([A-Za-z-]+ )*(for|to) )?warpline::|^wl_[a-z_0-9]+$|^sc_main$'; then
      fail "it exports names that are not Warpline's"
    fi
    "$source/tests/integration/exported_names.sh" "$library" >"$work/names"
    diff -u "$source/tests/integration/exported_names.txt" "$work/names" ||
      fail "other names are exported than exported_names.txt lists: if that is meant, exported_names.sh makes it anew"
    # Nothing in it changes once it is made (docs/threads.md): what is of static storage is constants, which are called so,
    # or a thread's own. The parameters of modules are those of the process's one simulation, behind a lock.
    readelf -sWC "$library" | awk '$4 == "TLS"' | sed -E 's/^( *[^ ]+){7} //' >"$work/thread_locals"
    if nm -C "$library" | grep -E '^[0-9a-f]+ [bBdDuVvR] ([^ ]* for )?warpline::' | cut -c20- |
      grep -vE '^(guard variable|vtable|typeinfo|typeinfo name|VTT) for |::k[A-Z0-9][A-Za-z0-9]*(\[abi:cxx11\])?(<.*>)?$' |
      grep -vxFf "$work/thread_locals" |
      grep -vxE 'warpline::(ParameterBroker::global\(\)::broker|report_unconsumed_presets\(\)::reported)(\[abi:cxx11\])?'; then
      fail "threads would share these"
    fi
    # Projects find it by CMake as they find archives: one in C, which knows no SystemC, and one with modules.
    prefix=$shared
    build bring_up
    expect 0 "$work/build/step3_command"
    says '^status 0, memory 0x1122334455667788, after [0-9]+ cycles$'
    rm -r "$work/build"
    build host_cpu
    expect 0 "$work/build/host_cpu"
    says '^the number is 42$'
    readelf -d "$work/build/host_cpu" | grep -q 'NEEDED.*\[libwarpline\.so\.' || fail "it does not use the shared library"
    # A program that has neither main() nor sc_main() is told so.
    echo >"$work/empty.cpp"
    # shellcheck disable=SC2046,SC2086
    $compiler $flags "$work/empty.cpp" -o "$work/empty" -Wl,--no-as-needed $(PKG_CONFIG_PATH=$(dirname "$library")/pkgconfig pkg-config --libs warpline) \
      -Wl,-rpath,"$(dirname "$library")"
    expect 2 "$work/empty"
    says 'this program has neither main\(\) nor sc_main\(\)'
    ;;
  systemc)
    # SystemC by the CMake package that Accellera installs: a made-up one, of the files that there are, and no pkg-config.
    here=$work/made_up
    mkdir "$here"
    cat >"$here/SystemCLanguageConfig.cmake" <<END
add_library(SystemC::systemc SHARED IMPORTED)
set_target_properties(SystemC::systemc PROPERTIES IMPORTED_LOCATION $($compiler -print-file-name=libsystemc.so)
  INTERFACE_INCLUDE_DIRECTORIES $(pkg-config --variable=includedir systemc) INTERFACE_COMPILE_DEFINITIONS MADE_UP_SYSTEMC)
END
    made_up() { printf 'set(PACKAGE_VERSION %s)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n' "$1" >"$here/SystemCLanguageConfigVersion.cmake"; }
    configure() {
      PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=$work cmake -S "$1" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
        -DSystemCLanguage_DIR="$here" -DCMAKE_PREFIX_PATH="$prefix" "${@:2}"
    }
    cp -r "$prefix/share/doc/warpline/examples/host_cpu" "$work/host_cpu"
    for project in "$source" "$work/host_cpu"; do
      rm -rf "$work/build"
      made_up 2.3.2
      expect 1 configure "$project" -DWARPLINE_TESTS=OFF -DWARPLINE_BENCH=OFF
      tr -s '\n ' '  ' <"$work/out" >"$work/one_line"
      grep -qF 'there is no SystemC of version 2.3.3 or later: CMake finds no package SystemCLanguage of it' "$work/one_line" || fail "it does not say what is missing"
      made_up 2.3.4
      expect 0 configure "$project" -DWARPLINE_TESTS=OFF -DWARPLINE_BENCH=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
      grep -q MADE_UP_SYSTEMC "$work/build/compile_commands.json" || fail "$project does not use it"
    done
    ;;
  options)
    # Warnings are errors where Warpline is told so, and not because a project around it is.
    configure() {
      cmake -S "$source" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DWARPLINE_TESTS=OFF -DWARPLINE_BENCH=OFF "$@"
    }
    mkdir "$work/around"
    cat >"$work/around/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(around CXX)
set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
set(BUILD_SHARED_LIBS ON)
set(WARPLINE_TESTS OFF)
set(WARPLINE_BENCH OFF)
add_subdirectory($source warpline)
file(WRITE \${CMAKE_BINARY_DIR}/mine.cpp "int main() {}")
add_executable(mine \${CMAKE_BINARY_DIR}/mine.cpp)
target_link_libraries(mine PRIVATE warpline::warpline)
END
    expect 0 cmake -S "$work/around" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
    [ "$(grep -e -Werror "$work/build/compile_commands.json" | grep -c -v mine.cpp)" = 0 ] || fail "warnings of ours are errors"
    grep -e -Werror "$work/build/compile_commands.json" | grep -q mine.cpp || fail "warnings of the project around are none"
    rm -r "$work/build"
    expect 0 configure
    if grep -q -e -Werror "$work/build/compile_commands.json"; then fail "warnings are errors"; fi
    # Archives alone are built and installed, or the shared library alone.
    installs() { grep -A2 -F 'STREQUAL "Unspecified"' "$work/build/cmake_install.cmake" | grep -E "$1" >/dev/null; }
    builds() { grep -E "^build all: .*$1" "$work/build/build.ninja" >/dev/null; }
    installs 'libwarpline_base\.a' && ! installs 'libwarpline\.so' && ! builds 'libwarpline\.so' || fail "not archives, or not them alone"
    expect 0 configure -DWARPLINE_WERROR=ON -DBUILD_SHARED_LIBS=ON
    grep -q -e -Werror "$work/build/compile_commands.json" || fail "warnings are no errors"
    installs 'libwarpline\.so' && ! installs 'libwarpline_base\.a' && builds 'libwarpline\.so' || fail "no shared library, or not it alone"
    # Who asks for targets by name is told of one that there is not.
    mkdir "$work/components"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(components CXX)' 'find_package(warpline REQUIRED COMPONENTS machine ${MORE})' \
      >"$work/components/CMakeLists.txt"
    components() {
      cmake -S "$work/components" -B "$work/build_$1" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$2" "${@:3}"
    }
    expect 0 components archives "$prefix"
    expect 0 components shared "$shared"
    expect 1 components archives "$prefix" -DMORE=machines
    says 'there is no warpline::machines'
    ;;
  bare_bus_device)
    build bare_bus_device
    again bare_bus_device
    for program in bare_bus_device bare_bus_device.shared; do
      for time in timed lt; do
        expect 0 "$work/build/$program" $time
        says '^Hello, bare bus!$'
        says '^status 0 after [1-9][0-9]{2} ns$' # interrupts wake it, not timeouts of milliseconds
      done
    done
    ;;
  rtl_hop)
    if ! command -v verilator >"$work/log"; then
      echo "skipped: there is no verilator (Debian: verilator)"
      exit 77
    fi
    # What Verilator's CMake files would try of the compiler.
    build rtl_hop -DVERILATOR_CFLAGS= -DVERILATOR_MT_CFLAGS=-pthread
    kernels=$prefix/share/warpline/kernels
    # 4096 loads past L1, each of which waits for the one before; through L1, one of each of 512 sectors goes on.
    expect 0 "$work/build/rtl_hop" "$kernels/chase.toml" 'sm[0].l1_lg.to_crossbar' slice
    says '^  chase_l2 .*: \+8192$'
    says '^  chase .*: \+102[34]$'  # one may lie in the shadow of a fetch of code
    says '5 of 5 results as expected'
    expect 0 "$work/build/rtl_hop" "$kernels/chase.toml" 'sm[0].l1_lg.to_crossbar' wires
    [ "$(grep -c ': +0$' "$work/out")" -eq 3 ] || fail "wires through RTL cost time"
    expect 0 "$work/build/rtl_hop" "$kernels/histogram.toml" 'l2[*].from_crossbar' slice
    says 'slice in 4 hops$'
    says '^  2 of 2 results as expected'
    expect 2 "$work/build/rtl_hop" "$kernels/vecadd.toml" 'l2[*].from_crosbar' wires
    says 'did you mean "l2\[0\].from_crossbar"'
    expect 2 "$work/build/rtl_hop" "$kernels/vecadd.toml" 'sm[0].l1_lg.from_sm' wires
    says 'these are 1024 wires, and a port is bound to them that holds 256 bits'
    ;;
  two_gpus)
    build two_gpus
    again two_gpus
    cd "$work"
    for program in two_gpus two_gpus.shared; do
      expect 0 "$work/build/$program"
      says '^the second half took [1-9][0-9]* ns, 0 bytes wrong$'
      says '^restored, it took [1-9][0-9]* ns, 0 bytes wrong: the same time, the same counters$'
      says 'large.checkpoint: error: was saved by a platform of another configuration: gpu\.'
    done
    ;;
  gpu_nvme)
    build gpu_nvme
    again gpu_nvme
    for program in gpu_nvme gpu_nvme.shared; do
      expect 0 "$work/build/$program" "$prefix/share/warpline/kernels/nvme_io.sm_80.ptx" "$work/timeline.json"
      says '^kernel: 24 chunks of 32 blocks copied, 0 failed, sum right, 0 words wrong, [0-9.]+ us$'
      says '^host: +80 pages written and read, 0 commands failed, 0 bytes wrong$'
      grep -q '"nvme\[0\] queue 1"' "$work/timeline.json" || fail "the timeline lacks the kernel's queue"
    done
    expect 2 "$work/build/gpu_nvme" no_such_file.ptx
    says '^no_such_file.ptx: cannot be read$'
    ;;
  all_together)
    # With the modules of these examples; RTL is in it where Verilator is there.
    for example in bare_bus_device custom_dram lt_processor rtl_hop shader_core; do
      cp -r "$prefix/share/doc/warpline/examples/$example" "$work/$example"
    done
    build all_together -DVERILATOR_CFLAGS= -DVERILATOR_MT_CFLAGS=-pthread
    again all_together
    in_hop='wires \(no Verilator\)'
    if command -v verilator >"$work/log"; then in_hop='a SystemVerilog slice'; fi
    for quantum in 0 1000; do
      expect 0 "$work/build/all_together" "$prefix/share/warpline/kernels" $quantum
      says '^Hello, bare bus!$'
      says "^large +histogram, $in_hop above DRAM 0 +[1-9][0-9.]*  yes$"
      says '^small +restored: copies take ([1-9][0-9]*) ns, again \1 ns +[1-9][0-9.]*  yes$'
      says '^large +restored: vecadd takes ([1-9][0-9]*) cycles, again \1 cycles +[1-9][0-9.]*  yes$'
      [ "$(grep -cE '  yes$' "$work/out")" -eq 8 ] || fail "not all eight did what they should"
    done
    expect 0 "$work/build/all_together.shared" "$prefix/share/warpline/kernels"
    expect 2 "$work/build/all_together" no_such_folder
    says 'no_such_folder'
    ;;
  pkg_config)
    # Strict, and with nothing but the flags that pkg-config gives, and what the example's own CMakeLists.txt defines.
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig:$(echo "$prefix"/lib/*/pkgconfig)
    pkg-config --exact-version="$(sed -n 's/^project(warpline VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")" warpline
    cp "$prefix"/share/doc/warpline/examples/embed/*.{h,cpp} "$work"
    # shellcheck disable=SC2046,SC2086
    $compiler $flags -std=c++17 -Wall -Wextra -Wpedantic -Werror -DSC_ALLOW_DEPRECATED_IEEE_API "$work"/*.cpp $(pkg-config --cflags --libs warpline) \
      -o "$work/embed"
    expect 0 "$work/embed"
    ;;
  versions)
    printf 'cmake_minimum_required(VERSION 3.25)\nproject(p CXX)\nfind_package(warpline ${WANTED} REQUIRED)\n' \
      >"$work/CMakeLists.txt"
    for wanted in 9 0.9 1; do
      expect 1 cmake -G Ninja -S "$work" -B "$work/build" -DWANTED=$wanted -DCMAKE_PREFIX_PATH="$prefix"
      says "compatible with requested version \"$wanted\""
    done
    for wanted in 0.1 0.1.0; do
      rm -rf "$work/build"
      expect 0 cmake -G Ninja -S "$work" -B "$work/build" -DWANTED=$wanted -DCMAKE_PREFIX_PATH="$prefix"
    done
    ;;
  headers)
    cd "$prefix/include"
    # The page lists them all, and no others.
    find warpline/rtl_models warpline/platform -name '*.h' | sed 's,^warpline/,,' | sort >"$work/installed"
    sed -nE 's/^\| `((rtl_models|platform)[^`]*\.h)` .*/\1/p' "$prefix/share/doc/warpline/docs/embedding.md" | sort >"$work/listed"
    diff "$work/installed" "$work/listed" || fail "docs/embedding.md does not list the headers that are installed"
    # So it does with the targets that can be linked.
    find "$prefix" -name warpline-archives.cmake -exec grep -ohE 'add_(library|executable)\(warpline::[a-z0-9_]+' {} + |
      sed 's/.*(//' | sort -u >"$work/targets"
    sed -n '/^## What to link/,/^## /p' "$prefix/share/doc/warpline/docs/embedding.md" | grep -E '^\|' |
      grep -oE 'warpline::[a-z0-9_]+' | sort -u >"$work/in_table"
    [ -s "$work/targets" ] || fail "the package has no targets"
    diff "$work/targets" "$work/in_table" || fail "docs/embedding.md does not list the targets that are installed"
    # Every header alone: where it is compiled for our libraries, others or precompiled ones stand before it. The headers of SystemC and of
    # the standard library, which take longer than all of ours, are read once: tests/structure sees whether those of the latter are included.
    find warpline/rtl_models warpline/platform -name '*.h' | sort >"$work/headers"
    sed 's/.*/#include "&"/' "$work/headers" >"$work/all.cpp"
    checked="$compiler $flags -std=c++17 -Wall -Wextra -Wpedantic -Werror -I."
    printf '#include <%s>\n' systemc tlm >"$work/simulator.h"
    # shellcheck disable=SC2046
    cat $(cat "$work/headers") | grep -E '^#include <' | grep -vE '<(systemc|tlm)' | sort -u >"$work/standard.h"
    for read_once in simulator standard; do $checked -x c++-header "$work/$read_once.h" -o "$work/$read_once.h.gch"; done
    grep -lE '#include <(systemc|tlm)' $(cat "$work/headers") | sort >"$work/with_simulator"
    reached=0
    while [ "$reached" -ne "$(wc -l <"$work/with_simulator")" ]; do
      reached=$(wc -l <"$work/with_simulator")
      sed 's/.*/#include "&"/' "$work/with_simulator" >"$work/patterns"
      grep -lFf "$work/patterns" $(cat "$work/headers") | sort -u - "$work/with_simulator" -o "$work/with_simulator"
    done
    [ "$reached" -gt 20 ] || fail "only $reached headers include SystemC's"
    check_alone() {  # FILE OPTION...: of the headers that a file lists
      # shellcheck disable=SC2016,SC2046
      awk -f "$source/tests/integration/header_chains.awk" $(cat "$1") >"$work/chains"
      [ "$(wc -w <"$work/chains")" -eq "$(wc -l <"$1")" ] || fail "not every header is in a chain"
      # shellcheck disable=SC2016
      xargs -P "$(nproc)" -I{} sh -c 'printf "#include \"%s\"\n" {} | '"$checked ${*:2}"' -fsyntax-only -x c++ -' <"$work/chains"
    }
    check_alone "$work/with_simulator" -Winvalid-pch -include "$work/simulator.h"
    comm -23 "$work/headers" "$work/with_simulator" >"$work/without_simulator"
    grep /registers/ "$work/without_simulator" >"$work/made"  # no test has read those
    check_alone "$work/made"
    grep -v /registers/ "$work/without_simulator" >"$work/written"
    check_alone "$work/written" -Winvalid-pch -include "$work/standard.h"
    $checked -Winvalid-pch -include "$work/simulator.h" -fsyntax-only "$work/all.cpp"
    # A header that has been renamed says how it is called now.
    echo '#include "warpline/gpu/gpu_platform.h"' >"$work/old.cpp"
    expect 1 $compiler -std=c++17 -fsyntax-only -I. "$work/old.cpp"
    says '#error "warpline/gpu/gpu_platform.h is now warpline/platform/machine/gpu_platform.h"'
    echo '#include "warpline/gpu/netlist.h"' >"$work/old.cpp"
    expect 1 $compiler -std=c++17 -fsyntax-only -I. "$work/old.cpp"
    says '#error "warpline/gpu/netlist.h has become internal, and is not installed any more"'
    ;;
  *) fail "no step '$step'" ;;
esac
