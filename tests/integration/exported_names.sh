#!/usr/bin/env bash
# The names that a shared library exports, one a line, as a C++ programmer reads them. exported_names.txt lists those of libwarpline.so, and
# Package.shared compares. After a change of the interface that is meant:
#   tests/integration/exported_names.sh build/libwarpline.so > tests/integration/exported_names.txt
set -euo pipefail
# Two constructors of an object file are one to a reader. Which tables of classes are there, and how these reach functions, is the
# compiler's to choose.
nm -DC --defined-only "$1" | cut -c20- |
  grep -vE '^(non-virtual thunk to|virtual thunk to|covariant return thunk to|guard variable for|vtable for|typeinfo for|typeinfo name for|VTT for|construction vtable for) ' |
  sed 's/\[abi:cxx11\]//g; s/std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >/std::string/g' |
  LC_ALL=C sort -u
