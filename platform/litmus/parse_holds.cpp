#include "warpline/litmus/parser_state.h"

namespace warpline::litmus {

void Parser::holds() {
  while (accept("hold"))
    if (!hold() || !expect(";")) recover({";"});
}

bool Parser::known_thread(unsigned& thread) {
  const Token name = take();
  thread = thread_named(name);
  return thread != kNone || fail(name, "there is no thread " + ptx::quoted(name.text));
}

/// Behind "hold": "fill x of P1 until P2:1"; without "of" it is one for each thread.
bool Parser::hold() {
  Hold h;
  if (accept("write")) {
    h.what = Hold::What::write;
  } else if (!accept("fill")) {
    return fail(peek(), ptx::quoted(peek().text) + " cannot be held", "fill or write");
  }
  const Token name = take();
  for (h.location = 0; h.location < test_->locations.size(); ++h.location)
    if (test_->locations[h.location].name == name.text) break;
  if (h.location == test_->locations.size())
    return fail(name, "there is no location " + ptx::quoted(name.text));
  if (test_->locations[h.location].home == Home::shared)
    return fail(name, ptx::quoted(name.text) + " lies in shared memory, which no queue leads to");
  const bool of_one = accept("of");
  if (of_one && !known_thread(h.thread)) return false;
  if (!expect("until") || !known_thread(h.until_thread) || !expect(":")) return false;
  const Token at = peek();
  const auto instruction = number();
  if (!instruction) return false;
  const std::size_t count = test_->threads[h.until_thread].code.size();
  if (*instruction < 0 || static_cast<std::uint64_t>(*instruction) >= count)
    return fail(at, "thread " + test_->threads[h.until_thread].name + " has no instruction " +
                        std::to_string(*instruction) + ": they are numbered from 0, and it has " +
                        std::to_string(count));
  h.until_instruction = static_cast<unsigned>(*instruction);
  const unsigned first = of_one ? h.thread : 0;
  const unsigned end = of_one ? h.thread + 1 : static_cast<unsigned>(test_->threads.size());
  for (h.thread = first; h.thread < end; ++h.thread) test_->holds.push_back(h);
  return true;
}

}  // namespace warpline::litmus
