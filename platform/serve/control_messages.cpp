#include "platform/serve/control_messages.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "platform/serve/serving.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"

namespace warpline {
namespace {

using Json = nlohmann::ordered_json;
using Kind = ControlRequest::Kind;

constexpr std::array<const char*, 13> kKinds = {"functions", "counters", "registers", "read", "write",
                                                "timing",    "pace",     "unplug",    "plug", "findings",
                                                "log",       "inject",   "forget"};
/// Objects and arrays within one another. What is said here has four at most.
constexpr int kDeepest = 8;

Diagnostic fault(const std::string& message, const std::string& hint = {}) {
  return Diagnostic::about({}, message, hint);
}

/// The object that is all of a line.
Result<Json> object_of(const std::string& line) {
  bool deep = false;
  const Json json = Json::parse(
      line,
      [&deep](int depth, Json::parse_event_t /*event*/, Json& /*parsed*/) {
        deep = deep || depth > kDeepest;
        return !deep;
      },
      false);
  if (deep) return fault("it is nested too deeply");
  if (json.is_discarded()) return fault("it is no JSON");
  if (!json.is_object()) return fault("it is no JSON object");
  return json;
}

std::string text_of_key(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
}

bool truth_of_key(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_boolean() && at->get<bool>();
}

/// A number, or a text such as "0x1f": JSON numbers of many readers have 53 bits.
std::optional<std::uint64_t> number_in(const Json& json) {
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  if (json.is_string()) return number_with_prefix<std::uint64_t>(json.get<std::string>());
  return std::nullopt;
}
template <class T>
T number_of_key(const Json& json, const char* key) {
  const auto at = json.find(key);
  const auto n = at == json.end() ? std::nullopt : number_in(*at);
  return n && *n <= std::numeric_limits<T>::max() ? static_cast<T>(*n) : T{};
}

/// Takes the keys of a request, one by one, and says what is wrong.
class RequestReader {
 public:
  RequestReader(const Json& json, ControlRequest& out) : json_(json), out_(out) {}

  [[nodiscard]] Diagnostics read() {
    const std::string word = text("request", true);
    if (!faults_.empty()) return faults_;
    const auto* const kind = std::find(kKinds.begin(), kKinds.end(), word);
    if (kind == kKinds.end())
      return {
          fault("there is no request \"" + word + "\"", did_you_mean(word, {kKinds.begin(), kKinds.end()}))};
    out_.kind = static_cast<Kind>(kind - kKinds.begin());
    read_rest();
    for (const auto& [key, value] : json_.items())
      if (std::find(known_.begin(), known_.end(), key) == known_.end())
        faults_.push_back(
            fault("a request \"" + word + "\" has no \"" + key + "\"", did_you_mean(key, known_)));
    return faults_;
  }

 private:
  void read_rest() {
    switch (out_.kind) {
      case Kind::registers: return names();
      case Kind::write: value(); [[fallthrough]];
      case Kind::read: out_.name = text("register", true); return;
      case Kind::inject: rule(); [[fallthrough]];
      case Kind::unplug:
      case Kind::plug:
      case Kind::forget: out_.name = text("function", true); return;
      case Kind::timing: return timing();
      case Kind::pace: return pace();
      case Kind::log: return form();
      case Kind::functions:
      case Kind::counters:
      case Kind::findings: return;
    }
  }
  const Json* find(const char* key) {
    known_.emplace_back(key);
    const auto at = json_.find(key);
    return at == json_.end() ? nullptr : &*at;
  }
  void wrong(const char* key, const std::string& is) {
    faults_.push_back(fault("\"" + std::string(key) + "\" " + is));
  }
  std::string text(const char* key, bool needed) {
    const Json* const at = find(key);
    if (at == nullptr && needed) wrong(key, "is missing");
    if (at != nullptr && !at->is_string()) wrong(key, "is no text");
    return at != nullptr && at->is_string() ? at->get<std::string>() : std::string();
  }
  void names() {
    const Json* const at = find("names");
    if (at == nullptr) return;
    if (!at->is_array()) return wrong("names", "is no array of texts");
    for (const Json& one : *at) {
      if (!one.is_string()) return wrong("names", "is no array of texts");
      out_.names.push_back(one.get<std::string>());
    }
  }
  void value() {
    const Json* const at = find("value");
    if (at == nullptr) return wrong("value", "is missing");
    const auto n = number_in(*at);
    if (!n) return wrong("value", R"(is no number, and no text such as "0x1f")");
    out_.value = *n;
  }
  void rule() {
    const std::string word = text("fault", true);
    if (const auto fault = nvme_fault_of(word)) {
      out_.rule.fault = *fault;
    } else if (!word.empty()) {
      wrong("fault", "is none of " + joined(nvme_fault_names(), ", ", " and "));
    }
    number("namespace", out_.rule.nsid);
    number("first_block", out_.rule.first_block);
    number("last_block", out_.rule.last_block);
    number("after", out_.rule.after);
    number("count", out_.rule.count);
    if (out_.rule.first_block > out_.rule.last_block) wrong("last_block", "is before \"first_block\"");
  }
  template <class T>
  void number(const char* key, T& out) {
    const Json* const at = find(key);
    if (at == nullptr) return;
    const auto n = number_in(*at);
    if (!n) return wrong(key, "is no number");
    if (*n > std::numeric_limits<T>::max())
      return wrong(key, "is above " + std::to_string(std::numeric_limits<T>::max()));
    out = static_cast<T>(*n);
  }
  void timing() {
    const std::string to = text("to", false);
    if (to.empty() && json_.find("to") == json_.end()) return;
    if (to != "loose" && to != "timed") return wrong("to", "is neither \"loose\" nor \"timed\"");
    out_.loose = to == "loose";
  }
  void pace() {
    const Json* const at = find("factor");
    if (at == nullptr) return;
    if (!at->is_number()) return wrong("factor", "is no number");
    const double factor = at->get<double>();
    if (!Serving::takes_pace(factor)) return wrong("factor", "is neither 0 nor 1e-9 to 1000");
    out_.pace = factor;
  }
  void form() {
    const Json* const at = find("json");
    if (at == nullptr) return;
    if (!at->is_boolean()) return wrong("json", "is neither true nor false");
    out_.as_json = at->get<bool>();
  }

  const Json& json_;
  ControlRequest& out_;
  std::vector<std::string> known_;
  Diagnostics faults_;
};

Json json_of(const ControlRegister& r) {
  Json fields = Json::array();
  for (const ControlField& f : r.fields)
    fields.push_back(Json{{"name", f.name},
                          {"low", f.low},
                          {"high", f.high},
                          {"value", hexadecimal(f.value)},
                          {"meaning", f.meaning}});
  return Json{{"function", r.function}, {"name", r.name},
              {"bar", r.bar},           {"offset", r.offset},
              {"bytes", r.bytes},       {"value", hexadecimal(r.value, 2 * r.bytes)},
              {"meaning", r.meaning},   {"fields", std::move(fields)}};
}

ControlRegister register_of(const Json& json) {
  ControlRegister r;
  r.function = text_of_key(json, "function");
  r.name = text_of_key(json, "name");
  r.bar = number_of_key<unsigned>(json, "bar");
  r.offset = number_of_key<std::uint64_t>(json, "offset");
  r.bytes = number_of_key<unsigned>(json, "bytes");
  r.value = number_of_key<std::uint64_t>(json, "value");
  r.meaning = text_of_key(json, "meaning");
  if (const auto fields = json.find("fields"); fields != json.end() && fields->is_array())
    for (const Json& f : *fields)
      r.fields.push_back({text_of_key(f, "name"), number_of_key<unsigned>(f, "low"),
                          number_of_key<unsigned>(f, "high"), number_of_key<std::uint64_t>(f, "value"),
                          text_of_key(f, "meaning")});
  return r;
}

/// What a reply has beside what all have.
void add_result(Json& json, const ControlReply& reply) {
  switch (reply.to) {
    case Kind::functions:
      json["functions"] = Json::array();
      for (const ControlFunction& f : reply.functions)
        json["functions"].push_back(
            Json{{"name", f.name}, {"present", f.present}, {"client", f.client}, {"process", f.process}});
      return;
    case Kind::counters:
      json["counters"] = Json::array();
      for (const ControlCounter& c : reply.counters)
        json["counters"].push_back(
            Json{{"path", c.path}, {"value", c.value}, {"unit", c.unit}, {"meaning", c.meaning}});
      return;
    case Kind::registers:
    case Kind::read:
    case Kind::write:
      json["registers"] = Json::array();
      for (const ControlRegister& r : reply.registers) json["registers"].push_back(json_of(r));
      return;
    case Kind::timing: json["timing"] = reply.loose ? "loose" : "timed"; return;
    case Kind::pace: json["factor"] = reply.pace; return;
    case Kind::findings: json["findings"] = reply.findings; return;
    case Kind::log:  // which may be long, and follows piece by piece
    case Kind::unplug:
    case Kind::plug:
    case Kind::inject:
    case Kind::forget: return;
  }
}

/// What a request has beside what all have.
void add_rule(Json& json, const NvmeFaultRule& rule) {
  for (const auto& [name, fault] : kNvmeFaultNames)
    if (fault == rule.fault) json["fault"] = name;
  const NvmeFaultRule other;
  const auto add = [&json](const char* key, std::uint64_t value, std::uint64_t unless) {
    if (value != unless) json[key] = hexadecimal(value);
  };
  add("namespace", rule.nsid, other.nsid);
  add("first_block", rule.first_block, other.first_block);
  add("last_block", rule.last_block, other.last_block);
  add("after", rule.after, other.after);
  add("count", rule.count, other.count);
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Of the log, as it stands in a line.
std::string in_a_line(std::string log, bool is_json) {
  if (!is_json) {
    log = dumped(log);
    return log.substr(1, log.size() - 2);
  }
  log.erase(std::remove(log.begin(), log.end(), '\n'), log.end());
  return log;
}

template <class F>
void for_each_in(const Json& json, const char* key, F f) {
  if (const auto at = json.find(key); at != json.end() && at->is_array())
    for (const Json& one : *at) f(one);
}

}  // namespace

const char* name_of(ControlRequest::Kind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

Result<ControlRequest> control_request_from(const std::string& line) {
  const Result<Json> json = object_of(line);
  if (!json.ok()) return json.faults();
  ControlRequest request;
  Diagnostics faults = RequestReader(json.value(), request).read();
  if (!faults.empty()) return faults;
  return request;
}

std::string to_line(const ControlRequest& request) {
  Json json{{"request", name_of(request.kind)}};
  switch (request.kind) {
    case Kind::registers: json["names"] = request.names; break;
    case Kind::write: json["value"] = hexadecimal(request.value); [[fallthrough]];
    case Kind::read: json["register"] = request.name; break;
    case Kind::inject: add_rule(json, request.rule); [[fallthrough]];
    case Kind::unplug:
    case Kind::plug:
    case Kind::forget: json["function"] = request.name; break;
    case Kind::timing:
      if (request.loose) json["to"] = *request.loose ? "loose" : "timed";
      break;
    case Kind::pace:
      if (request.pace) json["factor"] = *request.pace;
      break;
    case Kind::log: json["json"] = request.as_json; break;
    case Kind::functions:
    case Kind::counters:
    case Kind::findings: break;
  }
  return dumped(json);
}

std::string to_line(const Diagnostic& refusal) {
  Json json{{"done", false}, {"error", refusal.message}};
  if (!refusal.hint.empty()) json["hint"] = refusal.hint;
  return dumped(json);
}

std::string ControlReplyLine::next() {
  const bool is_log = reply_.to == Kind::log && reply_.error.empty();
  const char* const quote = reply_.log_is_json ? "" : "\"";
  std::string piece;
  switch (at_) {
    case At::begin: {
      Json json{{"done", reply_.error.empty()}, {"reply", name_of(reply_.to)}, {"cycle", reply_.cycle}};
      if (reply_.error.empty()) {
        add_result(json, reply_);
      } else {
        json["error"] = reply_.error;
        if (!reply_.hint.empty()) json["hint"] = reply_.hint;
      }
      at_ = is_log ? At::log : At::end;
      piece = dumped(json);
      if (!is_log) return piece;
      piece.back() = ',';
      return piece + "\"log\":" + quote + in_a_line(reply_.log, reply_.log_is_json);
    }
    case At::log:
      at_ = reply_.more_log && reply_.more_log(piece) ? At::log : At::end;
      piece = in_a_line(std::move(piece), reply_.log_is_json);
      return at_ == At::end ? piece + quote + "}" : piece;
    case At::end: break;
  }
  return piece;
}

std::string to_line(const ControlReply& reply) {
  std::string line;
  ControlReplyLine pieces(reply);
  for (std::string piece = pieces.next(); !piece.empty(); piece = pieces.next()) line += piece;
  return line;
}

Result<ControlReply> control_reply_from(const std::string& line) {
  const Result<Json> object = object_of(line);
  if (!object.ok()) return object.faults();
  const Json& json = object.value();
  const auto done = json.find("done");
  if (done == json.end() || !done->is_boolean()) return fault("it is no reply of `warpline serve`");
  ControlReply reply;
  if (!done->get<bool>()) {
    reply.error = text_of_key(json, "error");
    if (reply.error.empty()) reply.error = "it was not done";
    reply.hint = text_of_key(json, "hint");
  }
  const auto* const to = std::find(kKinds.begin(), kKinds.end(), text_of_key(json, "reply"));
  if (to != kKinds.end()) reply.to = static_cast<Kind>(to - kKinds.begin());
  reply.cycle = number_of_key<Cycle>(json, "cycle");
  for_each_in(json, "functions", [&](const Json& f) {
    reply.functions.push_back({text_of_key(f, "name"), truth_of_key(f, "present"), truth_of_key(f, "client"),
                               static_cast<int>(number_of_key<unsigned>(f, "process"))});
  });
  for_each_in(json, "counters", [&](const Json& c) {
    reply.counters.push_back({text_of_key(c, "path"), number_of_key<std::uint64_t>(c, "value"),
                              text_of_key(c, "unit"), text_of_key(c, "meaning")});
  });
  for_each_in(json, "registers", [&](const Json& r) { reply.registers.push_back(register_of(r)); });
  reply.loose = text_of_key(json, "timing") == "loose";
  if (const auto factor = json.find("factor"); factor != json.end() && factor->is_number())
    reply.pace = factor->get<double>();
  for_each_in(json, "findings", [&](const Json& f) {
    if (f.is_string()) reply.findings.push_back(f.get<std::string>());
  });
  if (const auto log = json.find("log"); log != json.end()) {
    reply.log_is_json = !log->is_string();
    reply.log = reply.log_is_json ? log->dump() : log->get<std::string>();
  }
  return reply;
}

}  // namespace warpline
