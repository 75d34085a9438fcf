#include "platform/programs/wls/parser.h"

#include <algorithm>

#include "platform/programs/wls/directive_reader.h"
#include "platform/programs/wls/instruction_reader.h"

namespace warpline::wls {
namespace {

void label(TokenReader& tokens, Draft& draft) {
  const Token name = tokens.take();
  tokens.take();
  if (name.text.find('.') != std::string_view::npos)
    tokens.fail(name.place(), "a label has no dot in its name");
  if (!draft.labels.emplace(name.text, draft.program.ops.size()).second)
    tokens.fail(name.place(), "label " + text::quoted(name.text) + " stands here a second time");
}

/// Leaves out the statement that began at token `start`, to its semicolon or the next line.
void recover(TokenReader& tokens, std::size_t start) {
  tokens.go_to(std::max(tokens.taken(), start + 1));
  if (tokens.previous().is(';')) return;
  while (tokens.peek().kind != TokenKind::end && !tokens.peek().first_on_line)
    if (tokens.take().is(';')) return;
}

}  // namespace

Program parse_program(std::string_view text, FaultList& faults) {
  TokenReader tokens(text, faults);
  Draft draft;
  const std::string plain = without_comments(text);
  while (tokens.peek().kind != TokenKind::end && !faults.full()) {
    const std::size_t start = tokens.taken();
    try {
      if (tokens.peek().kind == TokenKind::directive) {
        read_directive(tokens, draft);
      } else if (tokens.peek().kind == TokenKind::word && tokens.peek(1).is(':')) {
        label(tokens, draft);
      } else if (!tokens.take(';')) {
        read_instruction(plain, tokens, draft);
      }
    } catch (const Failed&) {
      draft.drop_pending();
      recover(tokens, start);
    }
  }
  // A warp that runs on to the end of the text, or returns there, has reached its end.
  Op last;
  last.code = Code::exit;
  draft.append(last, {}, faults.line_of(static_cast<std::uint32_t>(text.size())));
  draft.complete(faults);
  return std::move(draft.program);
}

}  // namespace warpline::wls
