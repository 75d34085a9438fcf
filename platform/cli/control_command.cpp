#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/cli/shared_options.h"
#include "platform/serve/control_client.h"
#include "platform/serve/serving.h"
#include "rtl_models/document/document.h"

namespace warpline {
namespace {

using Kind = ControlRequest::Kind;

struct RegsRequest {
  std::string control;
  std::vector<std::string> names;
  bool bus = false, json = false;
};

/// What one word asks for: NAME, or NAME=VALUE.
Result<ControlRequest> request_of(const std::string& word) {
  ControlRequest request;
  const std::size_t at = word.find('=');
  if (at == std::string::npos) {
    request.kind = Kind::registers;
    request.names = {word};
    return request;
  }
  request.kind = Kind::write;
  request.name = word.substr(0, at);
  const auto value = number_with_prefix<std::uint64_t>(word.substr(at + 1));
  if (!value)
    return Diagnostic::about(word, fmt::format("\"{}\" is no number", word.substr(at + 1)),
                             "whole numbers, as 31 or 0x1f");
  request.value = *value;
  return request;
}

/// The registers of a reply, read as software does, one after the other.
Result<ControlReply> read_by_bus(ControlClient& client, const ControlReply& found) {
  ControlReply out = found;
  out.registers.clear();
  for (const ControlRegister& r : found.registers) {
    ControlRequest read;
    read.kind = Kind::read;
    read.name = r.function + "." + r.name;
    const auto reply = client.ask(read);
    if (!reply.ok()) return reply.faults();
    out.cycle = reply.value().cycle;
    out.registers.insert(out.registers.end(), reply.value().registers.begin(), reply.value().registers.end());
  }
  return out;
}

int show_registers(const RegsRequest& r) {
  std::vector<ControlRequest> requests;
  Diagnostics faults;
  for (const std::string& word : r.names) {
    const auto request = request_of(word);
    if (request.ok()) {
      requests.push_back(request.value());
    } else {
      faults.push_back(request.faults().front());
    }
  }
  if (!faults.empty()) return bad_input(faults);
  if (requests.empty()) requests.emplace_back().kind = Kind::registers;
  auto client = ControlClient::connect(r.control);
  if (!client.ok()) return bad_input(client.faults());
  ControlReply all;
  all.to = Kind::registers;
  for (const ControlRequest& request : requests) {
    auto reply = client.value().ask(request);
    if (reply.ok() && r.bus && request.kind == Kind::registers)
      reply = read_by_bus(client.value(), reply.value());
    if (!reply.ok()) {
      // What was done before it was done.
      if (!r.json && !all.registers.empty()) print_result(text_of(all));
      return bad_input(reply.faults());
    }
    all.cycle = reply.value().cycle;
    all.registers.insert(all.registers.end(), reply.value().registers.begin(), reply.value().registers.end());
  }
  print_result(r.json ? to_line(all) + "\n" : text_of(all));
  return end_results(kDone);
}

struct ControlWords {
  std::string control;
  std::vector<std::string> words;
  bool json = false;
};

const std::vector<std::string> kWords = {"functions", "timed",    "loose",    "timing", "pace",   "unplug",
                                         "plug",      "counters", "findings", "log",    "inject", "forget"};

/// What is left of a word behind `key`, if that is how it begins.
std::optional<std::string> behind(const std::string& word, const std::string& key) {
  if (word.compare(0, key.size(), key) != 0) return std::nullopt;
  return word.substr(key.size());
}

/// Of one word of a rule, such as "count=3", or what it is.
Diagnostics add_to_rule(const std::string& word, NvmeFaultRule& rule) {
  static const std::vector<std::string> kKeys = {"blocks=", "namespace=", "after=", "count="};
  const auto take = [](const std::string& text, auto& out) {
    const auto n = number_with_prefix<std::remove_reference_t<decltype(out)>>(text);
    if (n) out = *n;
    return n.has_value();
  };
  bool taken = true;
  if (const auto blocks = behind(word, kKeys[0])) {
    const std::size_t to = blocks->find('-');
    taken = take(blocks->substr(0, to), rule.first_block);
    rule.last_block = rule.first_block;
    if (to != std::string::npos) taken = take(blocks->substr(to + 1), rule.last_block) && taken;
    taken = taken && rule.first_block <= rule.last_block;
  } else if (const auto nsid = behind(word, kKeys[1])) {
    taken = take(*nsid, rule.nsid);
  } else if (const auto after = behind(word, kKeys[2])) {
    taken = take(*after, rule.after);
  } else if (const auto count = behind(word, kKeys[3])) {
    taken = take(*count, rule.count);
  } else {
    return Diagnostics{Diagnostic::about({}, fmt::format("\"{}\" says nothing of what is to fail", word),
                                         did_you_mean(word, kKeys))};
  }
  if (taken) return {};
  return Diagnostics{Diagnostic::about({}, fmt::format("\"{}\" has no number where one belongs", word),
                                       "blocks=FIRST-LAST, namespace=N, after=N, count=N")};
}

/// Of `inject FUNCTION FAULT [KEY=N...]`.
Result<ControlRequest> injection_of(const std::vector<std::string>& words) {
  ControlRequest request;
  request.kind = Kind::inject;
  if (words.size() < 3)
    return Diagnostic::about({}, "inject what, and where?",
                             "inject 'nvme[0]' FAULT, which is one of " + joined(nvme_fault_names()));
  request.name = words[1];
  const auto fault = nvme_fault_of(words[2]);
  if (!fault)
    return Diagnostic::about({}, fmt::format("there is no fault \"{}\"", words[2]),
                             "it is one of " + joined(nvme_fault_names()));
  request.rule.fault = *fault;
  for (std::size_t i = 3; i < words.size(); ++i)
    if (const Diagnostics wrong = add_to_rule(words[i], request.rule); !wrong.empty()) return wrong;
  return request;
}

/// What the words ask for.
Result<ControlRequest> request_of(const ControlWords& asked) {
  ControlRequest request;
  const std::string& word = asked.words.front();
  const std::optional<std::string> more =
      asked.words.size() > 1 ? std::optional<std::string>(asked.words[1]) : std::nullopt;
  const auto is = [&word](const char* name) { return word == name; };
  const bool needs_function = is("plug") || is("unplug") || is("forget");
  const bool takes_more = needs_function || is("pace");
  if (std::find(kWords.begin(), kWords.end(), word) == kWords.end())
    return Diagnostic::about({}, fmt::format("there is no word \"{}\"", word), did_you_mean(word, kWords));
  if (is("inject")) return injection_of(asked.words);
  if (asked.words.size() > (takes_more ? 2U : 1U))
    return Diagnostic::about({}, fmt::format("\"{}\" follows \"{}\", which takes {}", asked.words.back(),
                                             word, takes_more ? "one word" : "none"));
  if (needs_function && !more)
    return Diagnostic::about({}, fmt::format("{} which function?", word),
                             "as `warpline control CONTROL functions` names them: " + word + " peer[0]");
  if (is("timed") || is("loose")) {
    request.kind = Kind::timing;
    request.loose = is("loose");
  } else if (is("pace")) {
    request.kind = Kind::pace;
    if (!more) return request;
    double factor = 0;
    if (!CLI::detail::lexical_cast(*more, factor) || !Serving::takes_pace(factor))
      return Diagnostic::about({}, fmt::format("\"{}\" is no pace", *more),
                               "seconds of model time in a second, from 1e-9 to 1000; 0: as fast as it can");
    request.pace = factor;
  } else if (needs_function) {
    request.kind = is("plug") ? Kind::plug : is("unplug") ? Kind::unplug : Kind::forget;
    request.name = *more;
  } else {
    for (const Kind kind : {Kind::functions, Kind::timing, Kind::counters, Kind::findings, Kind::log})
      if (is(name_of(kind))) request.kind = kind;
    request.as_json = asked.json;
  }
  return request;
}

int control(const ControlWords& asked) {
  const auto request = request_of(asked);
  if (!request.ok()) return bad_input(request.faults().front().message, request.faults().front().hint);
  auto client = ControlClient::connect(asked.control);
  if (!client.ok()) return bad_input(client.faults());
  const auto reply = client.value().ask(request.value());
  if (!reply.ok()) return bad_input(reply.faults());
  print_result(asked.json ? to_line(reply.value()) + "\n" : text_of(reply.value()));
  return end_results(kDone);
}

}  // namespace

void add_regs(CLI::App& app, int& status) {
  CLI::App& command = *app.add_subcommand(
      "regs", "shows and writes registers of devices that `warpline serve --control` serves");
  RegsRequest& r = options_of(command, status, show_registers);
  command.add_option("CONTROL", r.control, "the socket of `warpline serve --control`")->required();
  command
      .add_option("NAME", r.names,
                  "registers: peer[0].STATUS; SCRATCH[1], where one device has it; patterns with * and ?. "
                  "NAME=VALUE writes one as software does. Without any: all registers")
      ->type_name("[NAME[=VALUE]...]");
  command.add_flag("--bus", r.bus,
                   "reads them as software does, with what reads cause; otherwise they are looked at from "
                   "within, and nothing happens");
  command.add_flag("--json", r.json, "a JSON object, with the meaning of each");
  command.footer("Example: warpline regs /tmp/control 'peer[0].SQ*' peer[0].SCRATCH[1]=7");
}

void add_control(CLI::App& app, int& status) {
  CLI::App& command =
      *app.add_subcommand("control", "asks and changes what `warpline serve --control` serves");
  ControlWords& r = options_of(command, status, control);
  command.add_option("CONTROL", r.control, "the socket of `warpline serve --control`")->required();
  command
      .add_option("WORD", r.words,
                  "functions, counters, findings or log: what there is, and was so far; "
                  "timed, loose: from now on, when what is under way has ended; timing: "
                  "which it is; pace [N]: seconds of model time a second, 0: as fast as "
                  "it can; unplug F, plug F: a function is taken away, and put back; inject F FAULT "
                  "[blocks=A-B] [namespace=N] [after=N] [count=N]: commands of an NVMe controller fail; "
                  "forget F: no more")
      ->required()
      ->expected(1, 7)
      ->type_name("WORD...");
  command.add_flag("--json", r.json, "a JSON object");
  command.footer("Example: warpline control /tmp/control unplug 'peer[0]'");
}

}  // namespace warpline
