#include <algorithm>

#include "warpline/litmus/parser_state.h"

namespace warpline::litmus {

void Parser::threads() {
  do {
    Thread thread;
    const Token name = peek();
    if (name.kind != TokenKind::word || thread_number(name) == kNoThread) {
      fail(name, "a thread is missing", "threads begin as \"P0@cta 0, gpu 0 | P1@cta 1, gpu 0 ;\"");
      return recover({"exists", "forall"});
    }
    take();
    if (thread_named(name) != kNone) fail(name, "thread " + std::string(name.text) + " stands here twice");
    thread.name = name.text;
    if (accept("@") && !placement(thread)) return recover({"exists", "forall"});
    test_->threads.push_back(std::move(thread));
  } while (accept("|"));
  if (!expect(";")) return recover({"exists", "forall"});
  for (const InitialRegister& r : initial_registers_) {
    const unsigned n = thread_named(r.thread);
    if (n == kNone) {
      fail(r.thread, "there is no thread " + std::string(r.thread.text));
      continue;
    }
    Thread& t = test_->threads[n];
    const std::size_t known = t.registers.size();
    const unsigned number = register_named(t, r.name.text);
    if (number < known && t.initial[number] != r.value)
      fail(r.name, ptx::quoted(r.name.text) + " begins as " + std::to_string(r.value) + " here, and as " +
                       std::to_string(t.initial[number]) + " before");
    t.initial[number] = r.value;
  }
  rows();
  resolve_labels();
}

/// "cta 0, cluster 0, gpu 0" in any order.
bool Parser::placement(Thread& thread) {
  bool has_cluster = false;
  do {
    const Token& level = take();
    const auto value = number();
    if (!value) return false;
    constexpr std::int64_t kMost = 63;
    if (*value < 0 || *value > kMost) return fail(level, "CTAs, clusters and GPUs are numbered 0 to 63");
    const auto n = static_cast<unsigned>(*value);
    if (level.is("cta")) {
      thread.place.cta = n;
    } else if (level.is("gpu")) {
      thread.place.gpu = n;
    } else if (level.is("cluster")) {
      thread.place.cluster = n;
      has_cluster = true;
    } else {
      return fail(level, ptx::quoted(level.text) + " is no place of a thread", "cta, cluster or gpu");
    }
  } while (accept(","));
  // A CTA without a cluster is one of its own (PTX ISA, "Cluster of Cooperative Thread Arrays").
  constexpr unsigned kImplicit = 64;
  if (!has_cluster) thread.place.cluster = kImplicit + thread.place.cta;
  return true;
}

void Parser::rows() {
  const auto at_end = [this] {
    for (const char* const next : {"hold", "exists", "~", "forall"})
      if (peek().is(next)) return true;
    return peek().kind == TokenKind::end;
  };
  while (!at_end()) {
    unsigned n = 0;
    do {
      if (n == test_->threads.size()) {
        fail(peek(), "this row has more columns than there are threads");
        return recover({";"});
      }
      cell(n++);
    } while (accept("|"));
    if (!expect(";")) recover({";"});
  }
}

void Parser::cell(unsigned thread) {
  thread_ = thread;
  Thread& t = test_->threads[thread];
  const auto at_end = [&] { return peek().is("|") || peek().is(";") || peek().kind == TokenKind::end; };
  while (peek().kind == TokenKind::word && peek(1).is(":")) {
    const Token label = take();
    take();
    for (const Label& l : labels_)
      if (l.thread == thread && l.name == label.text) fail(label, "this label stands in its thread twice");
    labels_.push_back({thread, label.text, static_cast<unsigned>(t.code.size())});
  }
  if (at_end()) return;
  if (instruction(t) && !at_end()) fail(peek(), ptx::quoted(peek().text) + " is one operand too many");
  while (!at_end()) take();
}

void Parser::resolve_labels() {
  for (const Jump& j : jumps_) {
    const auto at = std::find_if(labels_.begin(), labels_.end(), [&](const Label& l) {
      return l.thread == j.thread && l.name == j.label.text;
    });
    if (at == labels_.end())
      fail(j.label, "there is no label " + ptx::quoted(j.label.text) + " in this thread");
    else
      test_->threads[j.thread].code[j.instruction].target = at->at;
  }
}

}  // namespace warpline::litmus
