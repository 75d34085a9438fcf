#include "platform/programs/ptx/memory_qualifiers.h"

namespace warpline::ptx {

MemOp take_qualifiers(Decoder& d, MemKind kind) {
  MemOp m;
  m.kind = kind;
  d.take_where([&m](std::string_view word) {
    const Qualifier* const q = find_qualifier(word);
    return q != nullptr && q->slot != Slot::type && apply(*q, m);
  });
  return with_default_order(m);
}

void refuse_unmodelled(Decoder& d, const MemOp& m) {
  const auto refused = refusal(m);
  if (!refused) return;
  for (const Token& q : d.statement().qualifiers)
    if (q.text == *refused)
      d.fail(q.place(), "qualifier " + quoted(q.text) + " is not modelled in this version");
  d.fail(quoted(*refused) + " is not modelled in this version");
}

}  // namespace warpline::ptx
