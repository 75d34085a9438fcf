#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/sweep/remote_runs.h"

namespace warpline::sweep {

/// Messages between threads, each of which stands for a process.
struct PostOffice {
  std::mutex mutex;
  std::vector<std::deque<std::pair<unsigned, std::string>>> boxes;
};

class LocalMail final : public Mail {
 public:
  LocalMail(PostOffice& office, unsigned own) : office_(office), own_(own) {}
  [[nodiscard]] unsigned processes() const override { return static_cast<unsigned>(office_.boxes.size()); }
  void post(unsigned to, std::string message) override {
    const std::lock_guard<std::mutex> lock(office_.mutex);
    office_.boxes[to].emplace_back(own_, std::move(message));
  }
  [[nodiscard]] std::optional<std::pair<unsigned, std::string>> next() override {
    const std::lock_guard<std::mutex> lock(office_.mutex);
    auto& box = office_.boxes[own_];
    if (box.empty()) return std::nullopt;
    auto out = std::move(box.front());
    box.pop_front();
    return out;
  }

 private:
  PostOffice& office_;
  unsigned own_;
};

}  // namespace warpline::sweep
