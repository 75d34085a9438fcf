#include "platform/sweep/remote_runs.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

namespace warpline::sweep {
namespace {

using nlohmann::json;

constexpr char kBehind = '\0';       ///< in no JSON: what comes behind it is as it is
constexpr int kLookForMessages = 2;  ///< milliseconds: for messages there is no file to wait for

/// Texts of exceptions, of the host's, need not be UTF-8.
std::string packed(const json& message) {
  return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

PointRun::End unpacked_end(const json& m, std::string statistics) {
  PointRun::End end;
  end.exit_status = m.at("exit_status");
  end.killed_by = m.at("killed_by");
  end.said = m.at("said");
  end.statistics = std::move(statistics);
  end.profile = m.at("profile");
  end.series = m.at("series");
  end.wall_s = m.at("wall_s");
  end.cpu_s = m.at("cpu_s");
  end.peak_bytes = m.at("peak_bytes");
  return end;
}

/// In destructors: where nobody can be sent anything any more, all are ended by who has said so.
void post_if_possible(Mail& mail, unsigned to, const json& message) {
  try {
    mail.post(to, packed(message));
  } catch (const std::exception&) {
    return;
  }
}

void pause() {
  std::this_thread::sleep_for(std::chrono::milliseconds(kLookForMessages));
}

}  // namespace

std::string packed_end(std::uint64_t number, const PointRun::End& end) {
  const json m = {{"ended", number},
                  {"exit_status", end.exit_status},
                  {"killed_by", end.killed_by},
                  {"said", end.said},
                  {"wall_s", end.wall_s},
                  {"cpu_s", end.cpu_s},
                  {"peak_bytes", end.peak_bytes},
                  {"profile", end.profile},
                  {"series", end.series}};
  return packed(m) + kBehind + end.statistics;
}

/// A command that a worker does.
class RemoteRuns::Run final : public PointRun {
 public:
  Run(RemoteRuns& runs, unsigned worker, std::uint64_t number)
      : runs_(runs), worker_(worker), number_(number) {}
  ~Run() override {
    if (!over_) post_if_possible(runs_.mail_, worker_, {{"kill", number_}});
  }
  [[nodiscard]] int file() const override { return -1; }
  void kill() override { runs_.mail_.post(worker_, packed({{"kill", number_}})); }
  [[nodiscard]] bool ended(End& end) override {
    const auto found = runs_.ended_.find(number_);
    if (over_ || found == runs_.ended_.end()) return false;
    end = std::move(found->second);
    runs_.ended_.erase(found);
    over_ = true;
    return true;
  }

 private:
  RemoteRuns& runs_;
  unsigned worker_;
  std::uint64_t number_;
  bool over_ = false;
};

RemoteRuns::RemoteRuns(Mail& mail, const std::string& version) : mail_(mail) {
  std::vector<std::size_t> jobs(mail.processes(), 0);
  for (unsigned heard = 1; heard < mail.processes();) {
    const auto message = mail.next();
    if (!message) {
      pause();
      continue;
    }
    const json hello = json::parse(message->second);
    if (hello.contains("stop")) {
      stop_wanted_ = true;
      continue;
    }
    if (const std::string theirs = hello.at("version"); theirs != version)
      throw RemoteError{
          fmt::format("rank {} is warpline {}, and this is {}", message->first, theirs, version)};
    jobs[message->first] = hello.at("jobs");
    ++heard;
  }
  // By turns, so that few points are spread over all.
  for (std::size_t n = 0, before = 1; before != 0; ++n) {
    before = 0;
    for (unsigned worker = 1; worker < jobs.size(); ++worker)
      if (n < jobs[worker]) {
        workers_.push_back(worker);
        ++before;
      }
  }
}

RemoteRuns::~RemoteRuns() {
  for (unsigned worker = 1; worker < mail_.processes(); ++worker)
    post_if_possible(mail_, worker, {{"end", true}});
}

std::unique_ptr<PointRun> RemoteRuns::begin(std::size_t place, const std::vector<std::string>& words) {
  const std::uint64_t number = next_++;
  mail_.post(workers_[place], packed({{"begin", number}, {"words", words}}));
  return std::make_unique<Run>(*this, workers_[place], number);
}

void RemoteRuns::look() {
  while (const auto message = mail_.next()) {
    const std::string& text = message->second;
    const std::size_t behind = std::min(text.find(kBehind), text.size());
    const json m = json::parse(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(behind));
    if (m.contains("stop")) {
      stop_wanted_ = true;
    } else {
      ended_[m.at("ended")] = unpacked_end(m, text.substr(std::min(behind + 1, text.size())));
    }
  }
}

void work_for_others(Mail& mail, const std::string& version, unsigned jobs, const Command& command,
                     const std::function<bool()>& stop_wanted) {
  mail.post(0, packed({{"version", version}, {"jobs", jobs}}));
  std::map<std::uint64_t, std::unique_ptr<ChildRun>> runs;
  bool told = false;
  for (;;) {
    if (!told && stop_wanted()) {
      mail.post(0, packed({{"stop", true}}));
      told = true;
    }
    bool heard = false;
    while (const auto message = mail.next()) {
      heard = true;
      const json m = json::parse(message->second);
      if (m.contains("end")) return;
      if (m.contains("kill")) {
        const auto run = runs.find(m.at("kill"));
        if (run != runs.end()) run->second->kill();
        continue;
      }
      const std::uint64_t number = m.at("begin");
      try {
        runs[number] = std::make_unique<ChildRun>(command, m.at("words").get<std::vector<std::string>>());
      } catch (const std::system_error& e) {
        runs.erase(number);
        PointRun::End none;
        none.exit_status = 2;
        none.said = std::string("error: a run could not be begun: ") + e.what();
        mail.post(0, packed_end(number, none));
      }
    }
    for (auto run = runs.begin(); run != runs.end();) {
      PointRun::End end;
      if (!run->second->ended(end)) {
        ++run;
        continue;
      }
      heard = true;
      mail.post(0, packed_end(run->first, end));
      run = runs.erase(run);
    }
    if (heard) continue;
    std::vector<pollfd> files;
    files.reserve(runs.size());
    for (const auto& [number, run] : runs) files.push_back({run->file(), POLLIN, 0});
    poll(files.data(), files.size(), kLookForMessages);
  }
}

}  // namespace warpline::sweep
