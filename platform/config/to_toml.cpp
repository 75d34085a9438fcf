#include <type_traits>

#include "warpline/config/loader.h"

namespace warpline {
namespace {

std::string literal(bool b) {
  return b ? "true" : "false";
}
std::string literal(unsigned n) {
  return std::to_string(n);
}
std::string literal(std::uint64_t n) {
  return std::to_string(n);
}
std::string literal(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      constexpr const char* kDigits = "0123456789ABCDEF";
      out += "\\u00";
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    } else {
      out += c;
    }
  }
  return out + "\"";
}
std::string literal(const std::vector<std::uint64_t>& list) {
  std::string out = "[";
  for (const std::uint64_t n : list) out += (out.size() > 1 ? ", " : "") + std::to_string(n);
  return out + "]";
}

/// Prints the fields of one table; its sub-tables follow it, as TOML wants it.
class Printer {
 public:
  Printer(std::string path, std::string& out) : path_(std::move(path)), out_(out) {}
  template <class T>
  void operator()(const char* name, T& field, const char* description) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string> ||
                  std::is_same_v<T, std::vector<std::uint64_t>>) {
      out_ += std::string(name) + " = " + literal(field) + "  # " + description + "\n";
    } else {
      const std::string path = path_.empty() ? name : path_ + "." + name;
      out_ += "\n[" + path + "]  # " + description + "\n";
      field.visit(Printer(path, out_));
    }
  }

 private:
  std::string path_;
  std::string& out_;
};

}  // namespace

std::string to_toml(GpuConfig config) {
  std::string out;
  config.visit(Printer("", out));
  return out;
}

}  // namespace warpline
