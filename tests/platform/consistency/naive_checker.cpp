#include "tests/platform/consistency/naive_checker.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace warpline::litmus::test {
namespace {

using Pairs = std::set<std::pair<int, int>>;

Pairs join(const Pairs& a, const Pairs& b) {
  Pairs out;
  for (const auto& [x, y] : a)
    for (const auto& [z, w] : b)
      if (y == z) out.emplace(x, w);
  return out;
}
Pairs both(Pairs a, const Pairs& b) {
  a.insert(b.begin(), b.end());
  return a;
}
Pairs closed(Pairs r) {
  while (true) {
    Pairs more = both(r, join(r, r));
    if (more.size() == r.size()) return r;
    r = std::move(more);
  }
}
bool acyclic(const Pairs& r) {
  for (const auto& [x, y] : closed(r))
    if (x == y) return false;
  return true;
}

/// One event; an atomic has two, so has a copy; a vector has one for each element.
struct Node {
  const Instruction* i = nullptr;  ///< null: an initial write
  int thread = -1;
  bool reads = false, writes = false;
  int memory = -1, address = -1;  ///< four bytes of a memory
  int other = -1;                 ///< of an atomic
  int element = 0;
  int vector = -1;  ///< the first element's node
  int copy = -1;    ///< of a copy's write: its read
  int bulk = -1;    ///< of a bulk copy's: its first node
  int part = 0;     ///< of it: 0 a read, 1 where reads are done, 2 a write, 3 where writes are done
  bool shared = false;
  bool copies = false;  ///< one of a copy's
  int done = 1 << 20;   ///< of a copy: the node from which on it comes before its thread's
  int group = 0;
};

class Naive {
 public:
  explicit Naive(const Test& t) : t_(t) {
    for (int m = 0; m < 2 * static_cast<int>(t.memories.size()); ++m) {
      Node n;
      n.writes = true;
      n.memory = m;
      n.address = -2;
      nodes_.push_back(n);
    }
    for (int th = 0; th < static_cast<int>(t.threads.size()); ++th) add_thread(th);
    count_ = static_cast<int>(nodes_.size());
    rf_.assign(nodes_.size(), -1);
  }

  bool run() { return choose_reads(0); }

 private:
  void add_thread(int th) {
    std::vector<int> copying, bulk_copying;
    int open = 0, open_bulk = 0;
    for (const Instruction& i : t_.threads[static_cast<std::size_t>(th)].code) {
      Node n;
      n.i = &i;
      n.thread = th;
      if (i.kind == InstructionKind::commit_copies) ++open;
      if (i.kind == InstructionKind::wait_copies)
        for (const int c : copying) {
          Node& copy = nodes_[static_cast<std::size_t>(c)];
          if (!i.waits || copy.group < open - i.a.value)
            copy.done = std::min(copy.done, static_cast<int>(nodes_.size()));
        }
      if (i.kind == InstructionKind::commit_copies || i.kind == InstructionKind::wait_copies) continue;
      if (i.kind == InstructionKind::commit_bulk) ++open_bulk;
      if (i.kind == InstructionKind::wait_bulk)
        for (const int c : bulk_copying) {
          Node& copy = nodes_[static_cast<std::size_t>(c)];
          if (copy.group < open_bulk - i.a.value && (!i.reads_only || copy.part < 2))
            copy.done = std::min(copy.done, static_cast<int>(nodes_.size()));
        }
      if (i.kind == InstructionKind::commit_bulk || i.kind == InstructionKind::wait_bulk) continue;
      if (i.kind != InstructionKind::memory) {
        nodes_.push_back(n);
        continue;
      }
      const auto go_to = [&](unsigned location, unsigned offset) {
        n.memory = static_cast<int>(2 * t_.locations[location].memory + offset / 4);
        n.address = static_cast<int>(t_.locations[location].address);
        n.shared = t_.locations[location].home == Home::shared;
      };
      if (i.op.kind == MemKind::bulk_copy) {
        n.bulk = static_cast<int>(nodes_.size());
        n.copies = true;
        n.group = open_bulk;
        const int words = static_cast<int>(i.copied / 4);
        for (; n.part < 4; ++n.part)
          for (n.element = 0; n.element < (n.part % 2 == 0 ? words : 1); ++n.element) {
            n.reads = n.part == 0;
            n.writes = n.part == 2;
            n.copy = n.writes ? n.bulk + n.element : -1;
            n.memory = n.address = -1;
            if (n.part % 2 == 0)
              go_to(n.reads ? i.location : i.copy_to, 4U * static_cast<unsigned>(n.element));
            bulk_copying.push_back(static_cast<int>(nodes_.size()));
            nodes_.push_back(n);
          }
        continue;
      }
      go_to(i.location, i.offset);
      if (i.op.kind == MemKind::async_copy) {
        n.copies = n.reads = true;
        n.group = open;
        nodes_.push_back(n);
        n.copy = static_cast<int>(nodes_.size()) - 1;
        n.reads = false;
        n.writes = true;
        go_to(i.copy_to, i.copy_offset);
        nodes_.push_back(n);
        copying.push_back(n.copy);
        copying.push_back(n.copy + 1);
        continue;
      }
      if (i.op.vector > 1) {
        n.vector = static_cast<int>(nodes_.size());
        n.reads = i.op.reads();
        n.writes = i.op.writes();
        for (; n.element < static_cast<int>(i.op.vector); ++n.element) {
          go_to(i.location, i.offset + 4 * static_cast<unsigned>(n.element));
          nodes_.push_back(n);
        }
        continue;
      }
      const bool atomic = i.op.kind == MemKind::atomic || i.op.kind == MemKind::reduction;
      if (i.op.reads() || atomic) {
        n.reads = true;
        nodes_.push_back(n);
      }
      if (i.op.writes()) {
        n.reads = false;
        n.writes = true;
        if (atomic) {
          n.other = static_cast<int>(nodes_.size()) - 1;
          nodes_.back().other = static_cast<int>(nodes_.size());
        }
        nodes_.push_back(n);
      }
    }
  }

  [[nodiscard]] const Node& at(int n) const { return nodes_[static_cast<std::size_t>(n)]; }
  template <class F>
  Pairs pairs(F&& f) const {
    Pairs out;
    for (int a = 0; a < count_; ++a)
      for (int b = 0; b < count_; ++b)
        if (f(a, b)) out.emplace(a, b);
    return out;
  }
  [[nodiscard]] bool accesses(int n) const { return at(n).reads || at(n).writes; }
  [[nodiscard]] bool strong(int n) const { return at(n).i != nullptr && at(n).i->op.is_strong(); }
  [[nodiscard]] Proxy proxy(int n) const { return at(n).i->op.proxy; }
  [[nodiscard]] bool before(int a, int b) const {
    if (at(a).thread < 0 || at(a).thread != at(b).thread || a >= b) return false;
    if (at(a).vector >= 0 && at(a).vector == at(b).vector) return false;
    if (at(a).bulk >= 0 && at(a).bulk == at(b).bulk) {
      if (at(a).part == 0 && at(b).part == 2) return at(b).copy == a;
      return at(a).part < at(b).part && !(at(a).part == 1 && at(b).part == 2);
    }
    return !at(a).copies || b >= at(a).done || at(b).copy == a;
  }
  [[nodiscard]] bool same_address(int a, int b) const {
    return at(a).address == at(b).address && at(a).memory == at(b).memory;
  }
  [[nodiscard]] unsigned destination(int n) const {
    const Instruction& i = *at(n).i;
    return at(n).element == 0 ? i.destination
                              : i.more_destinations[static_cast<std::size_t>(at(n).element) - 1];
  }
  [[nodiscard]] const Operand& stored(int n) const {
    const Instruction& i = *at(n).i;
    return at(n).element == 0 ? i.a : i.more_values[static_cast<std::size_t>(at(n).element) - 1];
  }
  [[nodiscard]] const Placement& place(int n) const {
    return t_.threads[static_cast<std::size_t>(at(n).thread)].place;
  }
  [[nodiscard]] bool is_fence(int n) const {
    return at(n).i != nullptr && at(n).i->op.kind == MemKind::fence;
  }
  [[nodiscard]] bool is_proxy_fence(int n) const {
    return at(n).i != nullptr && at(n).i->op.kind == MemKind::proxy_fence;
  }
  [[nodiscard]] bool acquires(int n) const {
    return at(n).i != nullptr && at(n).i->op.acquires() && !at(n).writes;
  }
  [[nodiscard]] bool releases(int n) const {
    return at(n).i != nullptr && at(n).i->op.releases() && !at(n).reads;
  }
  [[nodiscard]] bool morally_strong(int a, int b) const {
    if (a == b || at(a).i == nullptr || at(b).i == nullptr) return false;
    const bool in_scope = strong(a) && strong(b) && includes(at(a).i->op.scope, place(a), place(b)) &&
                          includes(at(b).i->op.scope, place(b), place(a));
    if (!before(a, b) && !before(b, a) && !in_scope) return false;
    if (proxy(a) != proxy(b)) return false;
    return !accesses(a) || !accesses(b) || same_address(a, b);
  }

  bool choose_reads(int n) {
    if (n == count_) return judge();
    if (!at(n).reads) return choose_reads(n + 1);
    for (int w = 0; w < count_; ++w) {
      if (!at(w).writes || at(w).memory != at(n).memory || w == at(n).other) continue;
      rf_[static_cast<std::size_t>(n)] = w;
      if (choose_reads(n + 1)) return true;
    }
    return false;
  }

  /// Values by repeated passes: a fixed point, since none may depend on itself.
  bool values(std::vector<std::int64_t>& of_node, std::vector<std::vector<std::int64_t>>& registers) const {
    of_node.assign(nodes_.size(), 0);
    for (std::size_t m = 0; m < t_.memories.size(); ++m) of_node[2 * m] = t_.memories[m].initial;
    for (int pass = 0; pass <= count_; ++pass) {
      registers.clear();
      for (const Thread& t : t_.threads) registers.push_back(t.initial);
      for (int n = 2 * static_cast<int>(t_.memories.size()); n < count_; ++n) {
        auto& r = registers[static_cast<std::size_t>(at(n).thread)];
        const Instruction* i = at(n).i;
        const auto operand = [&](const Operand& o) { return o.is_register ? r[o.number] : o.value; };
        auto& value = of_node[static_cast<std::size_t>(n)];
        if (at(n).reads) {
          value = of_node[static_cast<std::size_t>(rf_[static_cast<std::size_t>(n)])];
          // The old value is the register's once the write, which follows, has been computed.
          if (at(n).other < 0 && !at(n).copies) r[destination(n)] = value;
        } else if (at(n).copies && at(n).writes) {
          value = of_node[static_cast<std::size_t>(at(n).copy)];
        } else if (at(n).writes) {
          value = operand(stored(n));
          if (at(n).other >= 0) {
            const std::int64_t old = of_node[static_cast<std::size_t>(at(n).other)];
            if (i->op.atomic == AtomicOperation::add) value = i->subtracts ? old - value : old + value;
            if (i->destination != Instruction::kNoRegister) r[i->destination] = old;
          }
        }
      }
    }
    return true;
  }

  bool judge() {
    const Pairs rf =
        pairs([&](int a, int b) { return at(b).reads && rf_[static_cast<std::size_t>(b)] == a; });
    std::vector<std::int64_t> of_node;
    std::vector<std::vector<std::int64_t>> registers;
    if (!acyclic(both(rf, dependencies()))) return false;
    values(of_node, registers);
    if (!t_.condition.in_question([&](const Term& term) { return registers[term.thread][term.number]; }))
      return false;
    std::vector<std::pair<int, int>> fences;
    for (int a = 0; a < count_; ++a)
      for (int b = a + 1; b < count_; ++b)
        if (is_fence(a) && is_fence(b) && at(a).i->op.semantics == Semantics::sc &&
            at(b).i->op.semantics == Semantics::sc && morally_strong(a, b))
          fences.emplace_back(a, b);
    for (unsigned bits = 0; bits < 1U << fences.size(); ++bits) {
      Pairs order;
      for (std::size_t k = 0; k < fences.size(); ++k)
        order.insert((bits >> k & 1U) != 0 ? fences[k] : std::pair(fences[k].second, fences[k].first));
      if (acyclic(order) && judge_causality(rf, order)) return true;
    }
    return false;
  }

  /// Data: a register that a load of the thread has written last.
  [[nodiscard]] Pairs dependencies() const {
    return pairs([&](int a, int b) {
      if (!before(a, b) || !at(a).reads || !at(b).writes) return false;
      const Instruction* i = at(b).i;
      if (at(b).other == a && i->op.atomic == AtomicOperation::add) return true;
      if (at(b).copies || at(a).copies) return at(b).copy == a;
      const Operand& o = stored(b);
      if (!o.is_register || destination(a) != o.number || at(a).i == i) return false;
      for (int c = a + 1; c < b; ++c)
        if (before(c, b) && at(c).reads && !at(c).copies && at(c).i != i && destination(c) == o.number)
          return false;
      return true;
    });
  }

  bool judge_causality(const Pairs& rf, const Pairs& fence_order) {
    Pairs observation;
    for (const auto& p : rf)
      if (morally_strong(p.first, p.second)) observation.insert(p);
    const Pairs atomic = pairs([&](int a, int b) { return at(a).reads && at(a).other == b; });
    while (true) {
      Pairs more = both(observation, join(observation, join(atomic, observation)));
      if (more.size() == observation.size()) break;
      observation = more;
    }
    const Pairs release = pairs([&](int a, int b) {
      if (!at(b).writes || !strong(b) || !releases(a)) return false;
      if (is_fence(a)) return before(a, b);
      return a == b || (at(a).writes && before(a, b) && same_address(a, b));
    });
    const Pairs acquire = pairs([&](int a, int b) {
      if (!at(a).reads || !strong(a) || !acquires(b) || at(a).i->op.kind == MemKind::reduction) return false;
      if (is_fence(b)) return before(a, b);
      return a == b || (at(b).reads && before(a, b) && same_address(a, b));
    });
    Pairs base = both(fence_order, pairs([&](int a, int b) { return before(a, b); }));
    for (const auto& p : join(release, join(observation, acquire)))
      if (morally_strong(p.first, p.second)) base.insert(p);
    base = closed(base);
    for (const auto& [a, b] : fence_order)
      if (base.count({b, a}) != 0) return false;
    const Pairs preserved = pairs([&](int a, int b) { return causes(base, a, b); });
    const Pairs cause = both(preserved, join(observation, preserved));
    for (const auto& [a, b] : rf)
      if (cause.count({b, a}) != 0) return false;
    return choose_coherence(rf, cause, atomic);
  }

  /// Each of the ways in which base causality is kept through proxies.
  [[nodiscard]] bool causes(const Pairs& base, int a, int b) const {
    if (!accesses(a) || !accesses(b) || at(a).i == nullptr || at(b).i == nullptr) return false;
    if (at(a).memory != at(b).memory) return false;
    const auto has = [&](int x, int y) { return base.count({x, y}) != 0; };
    const auto own_fence = [&](int f, int m) {
      const Space of = at(f).i->op.space;
      const bool fits = of == Space::generic || (of == Space::global) != at(m).shared;
      return is_proxy_fence(f) && proxy(f) == proxy(m) && place(f).same_cta(place(m)) && fits;
    };
    // Where a bulk copy's reads, or its writes, are done, the generic proxy knows of them.
    const auto done = [&](int f, int m) {
      return at(m).bulk >= 0 && at(f).bulk == at(m).bulk && at(f).part == at(m).part + 1;
    };
    const bool generic_a = proxy(a) == Proxy::generic, generic_b = proxy(b) == Proxy::generic;
    const bool same = same_address(a, b);
    if (same && has(a, b) && proxy(a) == proxy(b) && place(a).same_cta(place(b))) return true;
    if (same && has(a, b) && generic_a && generic_b) return true;
    std::vector<int> from, to;
    if (generic_a) from.push_back(a);
    if (generic_b) to.push_back(b);
    for (int f = 0; f < count_; ++f) {
      if (at(f).i == nullptr) continue;
      if ((own_fence(f, a) || done(f, a)) && has(a, f)) from.push_back(f);
      if (own_fence(f, b) && has(f, b)) to.push_back(f);
    }
    for (const int x : from)
      for (const int y : to) {
        if (same && has(x, y)) return true;
        for (int f = 0; f < count_; ++f)
          if (is_proxy_fence(f) && proxy(f) == Proxy::alias && has(x, f) && has(f, y)) return true;
      }
    return false;
  }

  bool choose_coherence(const Pairs& rf, const Pairs& cause, const Pairs& atomic) {
    std::vector<std::pair<int, int>> open;
    Pairs fixed;
    for (int a = 0; a < count_; ++a)
      for (int b = a; b < count_; ++b) {
        if (!at(a).writes || !at(b).writes || at(a).memory != at(b).memory) continue;
        if (at(a).i == nullptr) {
          if (a != b) fixed.emplace(a, b);
        } else if (a != b) {
          open.emplace_back(a, b);
        } else if (cause.count({a, a}) != 0) {
          return false;  // a write is before itself for nobody, not even if causality says so
        }
      }
    unsigned long long ways = 1;
    for (std::size_t k = 0; k < open.size(); ++k) ways *= 3;
    for (unsigned long long way = 0; way < ways; ++way) {
      Pairs co = fixed;
      unsigned long long rest = way;
      bool good = true;
      for (const auto& [a, b] : open) {
        const unsigned choice = static_cast<unsigned>(rest % 3);
        rest /= 3;
        if (choice == 1) co.emplace(a, b);
        if (choice == 2) co.emplace(b, a);
        good &= choice != 0 || !morally_strong(a, b);
        good &= cause.count({a, b}) == 0 || choice == 1;
        good &= cause.count({b, a}) == 0 || choice == 2;
      }
      if (good && acyclic(co) && closed(co) == co && judge_reads(rf, co, cause, atomic)) return true;
    }
    return false;
  }

  [[nodiscard]] bool judge_reads(const Pairs& rf, const Pairs& co, const Pairs& cause,
                                 const Pairs& atomic) const {
    Pairs fr;
    for (const auto& [w, r] : rf)
      for (const auto& [x, later] : co)
        if (x == w) fr.emplace(r, later);
    for (const auto& [r, w] : fr)
      if (cause.count({w, r}) != 0) return false;
    for (const auto& [r, w] : atomic)
      for (const auto& [x, between] : fr)
        if (x == r && morally_strong(r, between) && morally_strong(between, w) && co.count({between, w}) != 0)
          return false;
    return true;
  }

  const Test& t_;
  std::vector<Node> nodes_;
  int count_ = 0;
  std::vector<int> rf_;
};

}  // namespace

bool naively_allowed(const Test& test) {
  return Naive(test).run();
}

std::string random_test(Random& random) {
  const auto pick = [&](std::initializer_list<const char*> words) {
    return std::string(*(words.begin() + random.below(words.size())));
  };
  const std::string scopes_of[] = {pick({"cta", "gpu"}), pick({"gpu", "sys"})};
  const auto scope = [&] { return scopes_of[random.below(2)]; };
  const unsigned threads = 2 + static_cast<unsigned>(random.below(2));
  const unsigned operations = threads == 2 ? 4 : 3;
  const bool rich = random.below(3) == 0, proxies = !rich && random.below(2) == 0;
  const bool bulk = !rich && !proxies && random.below(3) != 0;
  std::vector<std::vector<std::string>> code(threads);
  std::string condition;
  unsigned value = 0;
  for (unsigned t = 0; t < threads; ++t) {
    const auto count = 1 + random.below(operations);
    unsigned reg = 0;
    for (unsigned n = 0; n < count; ++n) {
      const std::string place = rich ? pick({"x", "x+4", "y"}) : pick({"x", "y"});
      const std::string alias = proxies && random.below(4) == 0 ? "z" : place;
      const auto reads = [&](const std::string& opcode, const std::string& at, const std::string& more) {
        const std::string r = "r" + std::to_string(reg++);
        code[t].push_back(opcode + " " + r + ", " + at + more);
        if (random.below(3) != 0)
          condition += (condition.empty() ? "" : " /\\ ") + ("P" + std::to_string(t) + ":" + r) +
                       " == " + std::to_string(random.below(value + 2));
      };
      const std::string stored =
          reg != 0 && random.below(6) == 0 ? "r" + std::to_string(reg - 1) : std::to_string(++value);
      if (rich && random.below(2) == 0) {
        switch (random.below(6)) {
          case 0: {
            const std::string a = "r" + std::to_string(reg++), b = "r" + std::to_string(reg++);
            code[t].push_back("ld." + pick({"weak", "relaxed.gpu", "acquire.gpu"}) + ".v2 {" + a + ", " + b +
                              "}, x");
            for (const std::string& of : {a, b})
              condition += (condition.empty() ? "" : " /\\ ") + ("P" + std::to_string(t) + ":" + of) +
                           " == " + std::to_string(random.below(value + 2));
            break;
          }
          case 1:
            code[t].push_back("st." + pick({"weak", "relaxed.gpu", "release.gpu"}) + ".v2 x, {" + stored +
                              ", " + std::to_string(++value) + "}");
            break;
          case 2: code[t].push_back("cp.async.ca s, " + place + ", 4"); break;
          case 3:
            code[t].push_back(pick({"cp.async.wait_all", "cp.async.wait_group 0", "cp.async.wait_group 1"}));
            break;
          case 4: code[t].push_back("cp.async.commit_group"); break;
          default: reads("ld.weak", "s", "");
        }
        continue;
      }
      if (bulk && random.below(2) == 0) {
        switch (random.below(7)) {
          case 0:
          case 1: code[t].push_back("cp.async.bulk " + pick({"x", "y"}) + ", s, 16"); break;
          case 2: code[t].push_back("cp.async.bulk.commit_group"); break;
          case 3:
            code[t].push_back("cp.async.bulk.wait_group" + pick({" 0", " 0", " 1", ".read 0", ".read 0"}));
            break;
          case 4: code[t].push_back("fence.proxy.async" + pick({"", ".global", ".shared::cta"})); break;
          case 5: code[t].push_back("st.weak s, " + stored); break;
          default: reads("ld.weak", "s", "");
        }
        continue;
      }
      switch (random.below(proxies ? 10 : 7)) {
        case 0: reads("ld.weak", alias, ""); break;
        case 1: reads("ld." + pick({"relaxed.", "acquire."}) + scope(), alias, ""); break;
        case 2: code[t].push_back("st.weak " + alias + ", " + stored); break;
        case 3:
          code[t].push_back("st." + pick({"relaxed.", "release."}) + scope() + " " + alias + ", " + stored);
          break;
        case 4: code[t].push_back("fence." + pick({"sc.", "acq_rel.", "sc."}) + scope()); break;
        case 5:
          reads("atom." + pick({"relaxed.", "acquire.", "release.", "acq_rel."}) + scope() +
                    pick({".add", ".exch"}),
                place, ", " + std::to_string(++value));
          break;
        case 6:
          if (random.below(3) == 0)
            code[t].push_back("red.relaxed." + scope() + ".add " + place + ", " + std::to_string(++value));
          else
            reads("ld.weak", place, "");
          break;
        case 7: code[t].push_back("fence.proxy." + pick({"alias", "surface", "texture"})); break;
        case 8: code[t].push_back("sust.weak s, " + std::to_string(++value)); break;
        default: reads(pick({"suld.weak", "tld.weak"}), pick({"s", "t"}), "");
      }
    }
  }
  std::string text = rich || bulk
                         ? "PTX random\n{\nx=0; y=0; s @ shared = 0;\n}\n"
                         : "PTX random\n{\nx=0; y=0; z @ generic aliases x; s @ surface aliases x; t @ "
                           "texture aliases z;\n}\n";
  std::size_t rows = 0;
  for (unsigned t = 0; t < threads; ++t) {
    text += (t == 0 ? " P" : " | P") + std::to_string(t) + "@cta " + std::to_string(random.below(2)) +
            ", gpu " + std::to_string(random.below(8) == 0 ? 1 : 0);
    rows = std::max(rows, code[t].size());
  }
  text += " ;\n";
  for (std::size_t row = 0; row < rows; ++row)
    for (unsigned t = 0; t < threads; ++t)
      text += (t == 0 ? " " : " | ") + (row < code[t].size() ? code[t][row] : std::string{}) +
              (t + 1 == threads ? " ;\n" : "");
  return text + "exists (" + (condition.empty() ? "0 == 0" : condition) + ")\n";
}

}  // namespace warpline::litmus::test
