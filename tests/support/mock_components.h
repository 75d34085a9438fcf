#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "rtl_models/sim/channel.h"

namespace warpline::test {

/// A request to send, and when at the earliest.
struct Item {
  Cycle at = 0;
  Request request;
  std::shared_ptr<AtomicBlock> atomics;
};

/// What became of it.
struct Answer {
  Cycle sent = kNever;
  Cycle answered = kNever;
  Status status = Status::ok;
  std::array<std::uint8_t, kLineBytes> data{};
  AtomicBlock atomics;
};

inline Item read_item(Cycle at, PhysicalAddress line, SectorMask sectors) {
  Item item;
  item.at = at;
  item.request.command = Command::read;
  item.request.line = line;
  item.request.sectors = sectors;
  item.request.data.fill(0);
  return item;
}

inline Item write_item(Cycle at, PhysicalAddress line, ByteMask bytes, std::uint8_t value = 0) {
  Item item = read_item(at, line, bytes.sectors());
  item.request.command = Command::write;
  item.request.bytes = bytes;
  item.request.data.fill(value);
  return item;
}

inline Item atomic_item(Cycle at, PhysicalAddress line, AtomicBlock block) {
  Item item = read_item(at, line, 0);
  item.request.command = Command::atomic;
  item.atomics = std::make_shared<AtomicBlock>(block);
  return item;
}

inline Item maintain_item(Cycle at, std::uint8_t what) {
  Item item = read_item(at, PhysicalAddress{}, 0);
  item.request.command = Command::maintain;
  item.request.maintenance = what;
  return item;
}

inline Item control_item(Cycle at, PhysicalAddress line, LineControl control) {
  Item item = read_item(at, line, kAllSectors);
  item.request.command = Command::control;
  item.request.control = control;
  return item;
}

/// Sends its items in order, each as early as it may, and takes answers at most every `gap` cycles.
/// Requests carry `id` base + index.
class Requester final : public Component {
 public:
  Requester(Engine& engine, std::string name, ClockDomain domain, std::vector<Item> items, Cycle gap = 1,
            std::uint64_t base = 0)
      : Component(engine, std::move(name), domain),
        out(*this, "to_target"),
        in(*this, "from_target"),
        answers(items.size()),
        items_(std::move(items)),
        gap_(gap),
        base_(base) {
    if (!items_.empty()) wake(items_.front().at);
  }

  Cycle tick(Cycle now) override {
    if (in.ready(now) && now >= next_pop_) receive(now);
    if (next_ < items_.size() && items_[next_].at <= now && out.ready(now)) send(now);
    Cycle next = kNever;
    if (next_ < items_.size() && items_[next_].at > now) next = items_[next_].at;
    if (next_ < items_.size() && items_[next_].at <= now) static_cast<void>(out.ready(now));
    if (next_pop_ > now) next = std::min(next, next_pop_);
    return next;
  }
  [[nodiscard]] bool busy() const override { return received_ != items_.size(); }
  void explain(std::vector<Wait>& waits) const override { waits.push_back({name(), "answers"}); }
  [[nodiscard]] const std::vector<Item>& items() const { return items_; }

  /// Has more items to send, after all it has now. Pre: the engine is not ticking.
  void ask(const std::vector<Item>& more) {
    if (more.empty()) return;
    items_.insert(items_.end(), more.begin(), more.end());
    answers.resize(items_.size());
    wake(std::max(engine().now() + 1, items_[next_].at));
  }

  Out<RequestMessage> out;
  In<ResponseMessage> in;
  std::vector<Answer> answers;
  std::vector<std::uint64_t> order;  ///< of the answers, by id

 private:
  void send(Cycle now) {
    const Item& item = items_[next_];
    Request* r = pool().allocate();
    *r = item.request;
    // As the pool may hand it out: only a write and an exact read say which bytes, the last user's are left
    // there.
    if (r->command != Command::write && !r->exact) r->bytes.set(0, kLineBytes);
    r->maker = this;
    r->id = base_ + next_;
    if (item.atomics) {
      r->atomics = pool().allocate_atomics();
      *r->atomics = *item.atomics;
    }
    answers[next_].sent = now;
    out.send(now, RequestMessage{r});
    ++next_;
  }
  void receive(Cycle now) {
    Request* r = in.pop(now).request;
    WARPLINE_EXPECT(r->maker == this, "an answer comes back to who asked");
    Answer& answer = answers[r->id - base_];
    WARPLINE_EXPECT(answer.answered == kNever, "a request is answered once");
    answer.answered = now;
    answer.status = r->status;
    answer.data = r->data;
    if (r->command == Command::atomic) answer.atomics = *r->atomics;
    order.push_back(r->id);
    pool().release(r);
    ++received_;
    next_pop_ = now + gap_;
  }
  std::vector<Item> items_;
  Cycle gap_;
  std::uint64_t base_;
  std::size_t next_ = 0;
  std::size_t received_ = 0;
  Cycle next_pop_ = 0;
};

/// Takes a request at most every `gap` cycles, answers each after `delay` cycles, in order.
class Target final : public Component {
 public:
  struct Seen {
    Cycle at = 0;
    std::uint64_t id = 0;
    Command command = Command::read;
    PhysicalAddress line;
    friend bool operator==(const Seen& a, const Seen& b) {
      return a.at == b.at && a.id == b.id && a.command == b.command && a.line == b.line;
    }
  };
  Target(Engine& engine, std::string name, ClockDomain domain, Cycle delay = 1, Cycle gap = 1)
      : Component(engine, std::move(name), domain),
        in(*this, "from_requester"),
        out(*this, "to_requester"),
        delay_(delay),
        gap_(gap) {}

  Cycle tick(Cycle now) override {
    if (!due_.empty() && due_.front().first <= now && out.ready(now)) {
      out.send(now, ResponseMessage{due_.front().second});
      due_.erase(due_.begin());
    }
    if (in.ready(now) && now >= next_pop_) {
      Request* r = in.pop(now).request;
      seen.push_back({now, r->id, r->command, r->line});
      due_.emplace_back(now + delay_, r);
      next_pop_ = now + gap_;
    }
    Cycle next = kNever;
    if (!due_.empty() && due_.front().first > now) next = due_.front().first;
    if (!due_.empty() && due_.front().first <= now) static_cast<void>(out.ready(now));
    if (next_pop_ > now) next = std::min(next, next_pop_);
    return next;
  }
  [[nodiscard]] bool busy() const override { return !due_.empty(); }
  void explain(std::vector<Wait>& waits) const override { waits.push_back({name(), "its delay"}); }
  void in_flight(std::vector<InFlight>& rows) const override {
    for (const auto& [at, r] : due_) rows.emplace_back(*r, name(), name() + " delay", "its delay");
  }

  In<RequestMessage> in;
  Out<ResponseMessage> out;
  std::vector<Seen> seen;

 private:
  Cycle delay_;
  Cycle gap_;
  Cycle next_pop_ = 0;
  std::vector<std::pair<Cycle, Request*>> due_;
};

}  // namespace warpline::test
