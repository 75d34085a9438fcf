#include "platform/explain/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "rtl_models/base/text.h"

namespace warpline {
namespace {

// Of enumerations: each text stands where its enumerator does.
template <class E, std::size_t kCount>
const char* text_of(const char* const (&texts)[kCount], E value) {
  return texts[static_cast<std::size_t>(value)];
}

const char* strength_text(const MemOp& op) {
  constexpr const char* kOrders[] = {
      "weak", "relaxed", "acquiring", "releasing", "acquiring and releasing", "sequentially consistent"};
  if (op.is_mmio) return "mmio";
  if (op.is_volatile) return "volatile";
  if (op.semantics == Semantics::weak && op.is_atomic()) return "relaxed";
  return text_of(kOrders, op.semantics);
}

constexpr const char* kKinds[] = {"load",
                                  "store",
                                  "atomic",
                                  "reduction",
                                  "prefetch",
                                  "prefetch",
                                  "asynchronous copy to shared memory",
                                  "fence",
                                  "proxy fence",
                                  "change of priority",
                                  "discard",
                                  "cache control",
                                  "texture load",
                                  "surface load",
                                  "surface store",
                                  "operation on an mbarrier",
                                  "bulk copy",
                                  "query of a texture or surface",
                                  "asynchronous store",
                                  "fill with zeros"};
constexpr const char* kScopes[] = {"", " among the threads of the CTA", " among the threads of the cluster",
                                   " among the threads of this GPU", " among all agents of the system"};
constexpr const char* kSpaces[] = {
    "a generic address", "global memory",   "shared memory",  "the cluster's shared memory",
    "local memory",      "constant memory", "the parameters", "a texture",
    "a surface"};

static_assert(std::size(kKinds) == static_cast<std::size_t>(MemKind::fill) + 1 &&
                  std::size(kScopes) == static_cast<std::size_t>(Scope::sys) + 1 &&
                  std::size(kSpaces) == static_cast<std::size_t>(Space::surface) + 1,
              "words for each");

}  // namespace

std::string summary_of(const MemOp& op) {
  const bool access = op.reads() || op.writes();
  std::string text = text_of(kKinds, op.kind);
  if (op.multimem && op.kind == MemKind::atomic) text = "load and reduction";
  if (access && op.kind != MemKind::mbarrier) text = fmt::format("{} {}", strength_text(op), text);
  if (op.kind == MemKind::fence) text = fmt::format("{} fence", strength_text(op));
  text += text_of(kScopes, op.is_atomic() ? std::max(op.scope, Scope::gpu) : op.scope);
  if (op.kind == MemKind::fence || op.kind == MemKind::proxy_fence) return text;
  if (op.type != DataType::none)
    text += fmt::format(" of {}{} ({}) for each lane",
                        op.vector > 1 ? fmt::format("{} x ", op.vector) : std::string(), name_of(op.type),
                        counted(op.bytes_per_lane(), "byte"));
  return text + ", " + (op.multimem ? "the memory of several GPUs at once" : text_of(kSpaces, op.space));
}

}  // namespace warpline
