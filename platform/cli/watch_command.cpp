#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>
#include <utility>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/cli/shared_options.h"
#include "platform/live/live_client.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(1000);
constexpr auto kBetweenAskings = std::chrono::milliseconds(100);
constexpr std::size_t kRowsOnce = 12;
/// A run that gives no answer for so many looks in a row has gone.
constexpr unsigned kMostFailures = 3;

struct WatchRequest {
  std::string address;
  bool memory = false;
  bool once = false, pause = false, resume = false;
  std::optional<std::string> step_to, step;
  std::optional<std::string> line;
  unsigned gpu = 0;
};

volatile std::sig_atomic_t watch_ends = 0;

void end_watch(int /*signal*/) {
  watch_ends = 1;
}

/// The terminal, while keys are taken one by one and the screen is drawn in place.
class WatchTerminal {
 public:
  WatchTerminal() {
    tcgetattr(STDIN_FILENO, &before_);
    struct sigaction action = {};
    action.sa_handler = end_watch;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
    take_keys();
    print_control("\033[?1049h");
  }
  ~WatchTerminal() {
    tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    print_control("\033[?1049l");
  }
  WatchTerminal(const WatchTerminal&) = delete;
  WatchTerminal& operator=(const WatchTerminal&) = delete;

  void draw(const std::string& text) const {
    winsize size{};
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1;
    std::string out = "\033[H";
    unsigned rows = 0;
    for (std::size_t from = 0; from < text.size() && (!known || rows + 1 < size.ws_row); ++rows) {
      const std::size_t end = std::min(text.find('\n', from), text.size());
      const std::size_t columns = known ? size.ws_col : 100;
      out += printable(text.substr(from, std::min(end - from, columns))) + "\033[K\n";
      from = end + 1;
    }
    print_control(out + "\033[J");
  }
  /// The key that is pressed within this time; 0: none.
  [[nodiscard]] char key(std::chrono::milliseconds most) const {
    pollfd keys{STDIN_FILENO, POLLIN, 0};
    char c = 0;
    if (poll(&keys, 1, static_cast<int>(most.count())) <= 0) return 0;
    if (read(STDIN_FILENO, &c, 1) == 1) return c;
    watch_ends = 1;
    return 0;
  }
  /// What is typed after these words, up to the end of the line.
  [[nodiscard]] std::string line(const std::string& words) {
    tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    print_control("\r\033[K" + words);
    std::string out;
    for (char c = 0; read(STDIN_FILENO, &c, 1) == 1 && c != '\n';) out += c;
    take_keys();
    return out;
  }

 private:
  void take_keys() const {
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  }
  termios before_{};
};

/// What is sent within an address is a number, or none of it.
bool is_number_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == 'x' || c == 'X';
  });
}

/// The address, or that in a file to which `run --live` has printed.
Result<std::string> address_in(const std::string& given) {
  if (given.find("://") != std::string::npos) return given;
  const Result<std::string> text = read_file(given);
  if (!text.ok()) return given;  // which is no address either
  const std::size_t at = text.value().rfind("http://");
  if (at == std::string::npos)
    return Diagnostic::about(given, "there is no address of a run in it",
                             "`warpline run --live` prints it on stderr");
  return text.value().substr(at, text.value().find_first_of(" \r\n", at) - at);
}

/// Waits until the run pauses, in cycle `from` or later, or has ended; says which.
int await_pause(const live::LiveClient& client, std::uint64_t from) {
  for (;;) {
    const auto state = client.get("state");
    if (!state.ok()) return bad_input(state.faults());
    const auto facts = live::facts_of(state.value());
    if (!facts.ok()) return bad_input(facts.faults());
    if (facts.value().ended) {
      print_result("the run has ended: " + facts.value().end + "\n");
      return kDone;
    }
    if (facts.value().paused && !facts.value().steps && facts.value().cycle < from)
      return bad_input("the run is paused in cycle " + std::to_string(facts.value().cycle) +
                       ": somebody else had it pause before the step was over");
    if (facts.value().paused && facts.value().cycle >= from) {
      print_result("paused in cycle " + std::to_string(facts.value().cycle) + "\n");
      return kDone;
    }
    std::this_thread::sleep_for(kBetweenAskings);
  }
}

int step(const live::LiveClient& client, const std::string& target) {
  const auto answer = client.post(target);
  if (!answer.ok()) return bad_input(answer.faults());
  return await_pause(client, live::step_end_of(answer.value()));
}

int print_line(const live::LiveClient& client, const WatchRequest& r) {
  if (!is_number_word(*r.line)) return bad_input("--line: \"" + *r.line + "\" is no address");
  const auto line = client.get("line?address=" + *r.line + "&gpu=" + std::to_string(r.gpu));
  if (!line.ok()) return bad_input(line.faults());
  print_result(live::line_text(line.value()));
  return kDone;
}

int print_memory(const live::LiveClient& client, const WatchRequest& r) {
  const auto memory = client.get("memory?gpu=" + std::to_string(r.gpu));
  if (!memory.ok()) return bad_input(memory.faults());
  print_result(live::memory_text(memory.value()));
  return kDone;
}

int print_once(const live::LiveClient& client) {
  const auto now = live::snapshot(client, 0);
  if (!now.ok()) return bad_input(now.faults());
  print_result(live::snapshot_text(now.value(), kRowsOnce));
  return kDone;
}

/// A line a second, until the run ends.
int print_lines(const live::LiveClient& client) {
  for (unsigned failures = kMostFailures - 1;; std::this_thread::sleep_for(kBetweenLooks)) {
    const auto state = client.get("state");
    if (!state.ok()) {
      if (++failures >= kMostFailures) return bad_input(state.faults());
      continue;
    }
    failures = 0;
    print_result(live::state_line(state.value()) + "\n");
    std::fflush(stdout);
    const auto facts = live::facts_of(state.value());
    if (!facts.ok()) return bad_input(facts.faults());
    if (facts.value().ended || results_unread()) return kDone;
  }
}

/// What a key does. Returns what is to be said of it.
std::string act(const live::LiveClient& client, WatchTerminal& terminal, char key) {
  const auto wish = [&](const std::string& target, const std::string& done) {
    const auto answer = client.post(target);
    return answer.ok() ? done : answer.faults().front().message;
  };
  switch (key) {
    case 'p': return wish("pause", "");
    case 'r': return wish("resume", "");
    case 's': {
      const std::string typed = terminal.line("go on for how many cycles? ");
      if (typed.empty()) return "";
      return is_number_word(typed) ? wish("step?by=" + typed, "") : "that is no number of cycles";
    }
    case 'l': {
      const std::string typed = terminal.line("address of the line? ");
      if (typed.empty()) return "";
      if (!is_number_word(typed)) return "that is no address";
      const auto line = client.get("line?address=" + typed);
      return line.ok() ? live::line_text(line.value()) : line.faults().front().message;
    }
    default: return "";
  }
}

int watch_in_place(const live::LiveClient& client) {
  std::string last, said;
  Diagnostics faults;
  {
    WatchTerminal terminal;
    std::uint64_t since = 0, seen = 0;
    unsigned failures = 0;
    for (bool over = false; !over && watch_ends == 0;) {
      const auto now = live::snapshot(client, since);  // with changes since the look before
      if (now.ok()) {
        failures = 0;
        // Of a run that stands, the last changes stay.
        if (const std::uint64_t cycle = now.value().cycle(); cycle != 0 && cycle != seen)
          since = std::exchange(seen, cycle);
        last = live::snapshot_text(now.value(), 8);
        const auto facts = live::facts_of(now.value().state);
        over = !facts.ok() || facts.value().ended;
        terminal.draw("p pause  r resume  s step  l line  q quit\n\n" + last +
                      (said.empty() ? "" : "\n" + said));
      } else if (++failures >= kMostFailures || last.empty()) {
        faults = now.faults();
        over = true;
      }
      const char key = over ? '\0' : terminal.key(kBetweenLooks);
      if (key == 'q') over = true;
      if (key != 0 && key != 'q') said = act(client, terminal, key);
    }
  }
  print_result(last);
  return faults.empty() ? kDone : bad_input(faults);
}

int watch(const WatchRequest& r) {
  const Result<std::string> address = address_in(r.address);
  if (!address.ok()) return bad_input(address.faults());
  const auto place = live::place_of(address.value());
  if (!place.ok()) return bad_input(place.faults());
  const int asked = static_cast<int>(r.once) + static_cast<int>(r.pause) + static_cast<int>(r.resume) +
                    static_cast<int>(r.step_to.has_value()) + static_cast<int>(r.step.has_value()) +
                    static_cast<int>(r.line.has_value()) + static_cast<int>(r.memory);
  if (asked > 1)
    return bad_input(
        "--once, --pause, --resume, --step, --step-to, --memory and --line are for one at a time");
  if (r.gpu != 0 && !r.line && !r.memory)
    return bad_input("--gpu says whose addresses --line and --memory are about, and neither is given");
  const live::LiveClient client(place.value());
  if (r.pause) {
    const auto answer = client.post("pause");
    return answer.ok() ? await_pause(client, 0) : bad_input(answer.faults());
  }
  if (r.resume) {
    const auto answer = client.post("resume");
    return answer.ok() ? kDone : bad_input(answer.faults());
  }
  if (r.step_to) return step(client, "step?to=" + *r.step_to);
  if (r.step) return step(client, "step?by=" + *r.step);
  if (r.line) return print_line(client, r);
  if (r.memory) return print_memory(client, r);
  if (r.once) return print_once(client);
  if (is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO) && is_terminal(STDERR_FILENO))
    return watch_in_place(client);
  return print_lines(client);
}

}  // namespace

void add_watch(CLI::App& app, int& status) {
  CLI::App& command = *app.add_subcommand("watch", "watch a run that goes on, and pause or step it");
  WatchRequest& r = options_of<WatchRequest>(command, status, watch);
  command
      .add_option(
          "ADDRESS", r.address,
          "as `warpline run --live` prints it, http://127.0.0.1:PORT/TOKEN/, or a file with what it printed")
      ->required();
  command.add_flag("--once", r.once, "how it is now: progress, queues, counters, who waits for whom");
  command.add_flag("--pause", r.pause, "has it pause, and says in which cycle it does");
  command.add_flag("--resume", r.resume, "has it go on");
  command.add_option("--step-to", r.step_to, "has it go on, and pause when this cycle is over")
      ->check(kWholeNumber)
      ->type_name("CYCLE");
  command.add_option("--step", r.step, "has it go on, and pause after so many cycles")
      ->check(kWholeNumber)
      ->type_name("CYCLES");
  command.add_flag("--memory", r.memory, "what is mapped where, for --line");
  command.add_option("--line", r.line, "what each cache has of the line at this address")
      ->type_name("ADDRESS");
  command.add_option("--gpu", r.gpu, "of --line and --memory: the GPU whose addresses these are")
      ->check(kWholeNumber)
      ->capture_default_str();
  command.footer(
      "On a terminal it draws in place, once a second: p pause, r resume, s step, l line, q quit. Elsewhere "
      "it "
      "prints a line a second until the run ends.\n"
      "Example: warpline watch http://127.0.0.1:8080/0123456789abcdef0123456789abcdef/ --step-to 100000");
}

}  // namespace warpline
