# cmake -DTABLE=... -DHEADER=... -DNAME=... -DOUT=... -P list_names.cmake
# Lists every name of a generated table and of a generated header, for compilers to say what it stands for:
# OUT.c is a C program's list of the header's macros, OUT.inc one of the table's constants. Of macros with an
# argument, the one of 2.
file(READ ${HEADER} text)
string(REGEX MATCHALL "\n#define [A-Z0-9_]+(\\(n\\))? " macros "${text}")
set(list "")
foreach(macro ${macros})
  string(REGEX REPLACE "\n#define ([A-Z0-9_]+).*" "\\1" name "${macro}")
  if(macro MATCHES "\\(n\\)")
    string(APPEND name "(2)")
  endif()
  string(APPEND list "    {\"${name}\", ${name}},\n")
endforeach()
file(WRITE ${OUT}.c "#include \"wl_${NAME}_regs.h\"

struct macro {
  const char* name;
  uint64_t value;
};
extern const struct macro ${NAME}_macros[];
const struct macro ${NAME}_macros[] = {
${list}    {0, 0}};
")

file(READ ${TABLE} text)
string(REGEX MATCHALL "\n(  |inline constexpr [a-z0-9:_]+ )k[A-Za-z0-9]+( =|,)" constants "${text}")
set(list "")
foreach(constant ${constants})
  string(REGEX REPLACE ".*(k[A-Z][A-Za-z0-9]*).*" "\\1" name "${constant}")
  string(APPEND list "    {\"${name}\", regs::${NAME}::${name}},\n")
endforeach()
file(WRITE ${OUT}.inc "${list}")
