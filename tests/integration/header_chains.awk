# The headers that are named, as they are included (run where that leads), in chains, one a line: each header includes the one before it, by
# way of others perhaps. So one compilation of a chain tells of each of its headers whether it can be compiled alone, as what stands before a
# header is what it reads itself.
FNR == 1 { all[++n] = FILENAME }
/^#include "/ {
  split($0, part, "\"")
  includes[FILENAME] = includes[FILENAME] " " part[2]
}
# What `header` reads belongs to `within`.
function reach(header, within,   list, k, i) {
  k = split(includes[header], list, " ")
  for (i = 1; i <= k; i++)
    if (!((within, list[i]) in reads)) {
      reads[within, list[i]]
      count[within]++
      reach(list[i], within)
    }
}
END {
  for (i = 1; i <= n; i++) reach(all[i], all[i])
  for (i = 2; i <= n; i++)
    for (j = i; j > 1 && count[all[j]] < count[all[j - 1]]; j--) {
      other = all[j]
      all[j] = all[j - 1]
      all[j - 1] = other
    }
  for (i = 1; i <= n; i++) {
    best = 0
    for (c = 1; c <= chains; c++)
      if ((all[i], last[c]) in reads && (!best || count[last[c]] > count[last[best]])) best = c
    if (!best) best = ++chains
    last[best] = all[i]
    text[best] = text[best] " " all[i]
  }
  for (c = 1; c <= chains; c++) print text[c]
}
