#include "platform/programs/sass_trace/line_reader.h"

#include <cstring>
#include <stdexcept>

namespace warpline::sass {

LineReader::LineReader(std::string path, Fingerprint fingerprint) : path_(std::move(path)) {
  try {
    stream_ = open_stream(path_, fingerprint);
  } catch (const std::runtime_error& e) {
    throw InputError(fault_at(path_, 0, 0, {}, e.what()));
  }
}

bool LineReader::refill() {
  if (ended_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  try {
    const std::size_t got = stream_->read(buffer_.get() + end_, kBuffer - end_);
    end_ += got;
    ended_ = got == 0;
  } catch (const std::runtime_error& e) {
    throw InputError(fault_at(path_, number_, 0, {}, e.what()));
  }
  return !ended_;
}

bool LineReader::next_in_parts(std::string_view& line) {
  while (!ended_) {
    const std::size_t held = end_ - begin_;
    if (held > kMaxLine) fail_too_long(number_ + 1, {buffer_.get() + begin_, held});
    refill();
    if (end_ - begin_ != held &&
        std::memchr(buffer_.get() + begin_ + held, '\n', end_ - begin_ - held) != nullptr)
      return next(line);
  }
  if (end_ == begin_) return false;
  give(line, {buffer_.get() + begin_, end_ - begin_});
  begin_ = end_;
  return true;
}

void LineReader::fail_too_long(unsigned number, std::string_view line) const {
  throw InputError(fault_at(path_, number, 0, line, "the line is longer than 65536 characters"));
}

Diagnostic fault_at(const std::string& file, unsigned line, std::size_t column, std::string_view source,
                    std::string message, std::string hint, std::size_t length) {
  constexpr std::size_t kShown = 200;
  Diagnostic d;
  d.file = file;
  d.line = line;
  d.column = static_cast<unsigned>(column);
  d.source = std::string(source.substr(0, kShown));
  for (char& c : d.source)
    if ((c < ' ' && c != '\t') || c > '~') c = '?';
  d.message = std::move(message);
  d.hint = std::move(hint);
  d.length = static_cast<unsigned>(column > kShown ? 1 : std::min(length, kShown + 1 - column));
  return d;
}

}  // namespace warpline::sass
