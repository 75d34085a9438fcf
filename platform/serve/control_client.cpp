#include "platform/serve/control_client.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "platform/vfio_user/local_connection.h"
#include "rtl_models/base/text.h"

namespace warpline {
namespace {

using Kind = ControlRequest::Kind;

/// Rows as a table: all columns but the last padded; `right`: those whose texts end in one place.
std::string table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right) {
  std::vector<std::size_t> widths(right.size());
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c != 0) line += "  ";
      line += right[c] ? fmt::format("{:>{}}", row[c], widths[c]) : fmt::format("{:<{}}", row[c], widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

/// "ENABLE=1 ORDER=0x6"; nothing of a register that is one field.
std::string fields_of(const ControlRegister& r) {
  std::string out;
  if (r.fields.size() == 1 && r.fields.front().low == 0 && r.fields.front().value == r.value) return out;
  for (const ControlField& f : r.fields)
    out += (out.empty() ? "" : " ") + f.name + "=" +
           (f.value < 10 ? std::to_string(f.value) : hexadecimal(f.value));
  return out;
}

std::string text_of_registers(const ControlReply& reply) {
  std::vector<std::vector<std::string>> rows;
  for (const ControlRegister& r : reply.registers)
    rows.push_back(
        {r.function, hexadecimal(r.offset, 4), r.name, hexadecimal(r.value, 2 * r.bytes), fields_of(r)});
  return table(rows, {false, false, false, true, false});
}

std::string text_of_functions(const ControlReply& reply) {
  std::vector<std::vector<std::string>> rows;
  for (const ControlFunction& f : reply.functions)
    rows.push_back({f.name, f.present ? "plugged in" : "unplugged",
                    !f.client        ? "no client"
                    : f.process == 0 ? "a client"
                                     : fmt::format("client: process {}", f.process)});
  return table(rows, {false, false, false});
}

std::string text_of_counters(const ControlReply& reply) {
  std::vector<std::vector<std::string>> rows;
  for (const ControlCounter& c : reply.counters)
    rows.push_back({c.path, grouped(c.value) + " " + c.unit, c.meaning});
  return table(rows, {false, true, false});
}

}  // namespace

Result<ControlClient> ControlClient::connect(const std::string& path) {
  auto socket = vfio_user::connect_to(path, "`warpline serve --control " + path + "` answers there");
  if (!socket.ok()) return socket.faults();
  return ControlClient(path, std::move(socket.value()));
}

bool ControlClient::send(const std::string& line) const {
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t n = ::send(socket_.number(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

bool ControlClient::receive(std::string& line) {
  std::size_t looked = 0;
  for (;;) {
    const std::size_t end = more_.find('\n', looked);
    if (end != std::string::npos) {
      line = more_.substr(0, end);
      more_.erase(0, end + 1);
      return true;
    }
    looked = more_.size();
    char bytes[16 * 1024];
    const ssize_t n = ::recv(socket_.number(), bytes, sizeof bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    more_.append(bytes, static_cast<std::size_t>(n));
  }
}

Result<ControlReply> ControlClient::ask(const ControlRequest& request) {
  std::string line;
  if (!send(to_line(request) + "\n") || !receive(line))
    return Diagnostic::about(path_, "what was served there has ended");
  Result<ControlReply> reply = control_reply_from(line);
  if (!reply.ok())
    return Diagnostic::about(path_,
                             "what answers there is no `warpline serve`: " + reply.faults().front().message);
  if (!reply.value().error.empty()) return Diagnostic::about(path_, reply.value().error, reply.value().hint);
  return reply;
}

std::string text_of(const ControlReply& reply) {
  switch (reply.to) {
    case Kind::functions: return text_of_functions(reply);
    case Kind::counters: return text_of_counters(reply);
    case Kind::registers:
    case Kind::read:
    case Kind::write: return text_of_registers(reply);
    case Kind::timing: return reply.loose ? "loosely timed\n" : "timed\n";
    case Kind::pace:
      return reply.pace == 0 ? std::string("as fast as it can\n")
                             : fmt::format("{} s of model time a second\n", reply.pace);
    case Kind::log: return reply.log;
    case Kind::findings: {
      std::string out;
      for (const std::string& finding : reply.findings) out += finding + "\n";
      return out;
    }
    case Kind::unplug:
    case Kind::plug:
    case Kind::inject:
    case Kind::forget: break;
  }
  return {};
}

}  // namespace warpline
