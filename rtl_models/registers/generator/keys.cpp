#include "rtl_models/registers/generator/keys.h"

#include <algorithm>
#include <utility>

#include "rtl_models/registers/generator/names.h"

namespace warpline::registers {

void Keys::read_named(TableReader& in, Named& named) {
  named.name = in.text("name", TableReader::required).value_or("");
  named.place = place_of(in, "name");
  const Member* const m = in.table().find("name");
  if (m != nullptr && m->value.kind == Value::Kind::text && !is_name(named.name))
    fault(named.place,
          "name: \"" + named.name +
              "\" is no name: words of A to Z and 0 to 9, the first with a letter first, joined by _");
  named.meaning = line_of(in, "meaning");
}

std::string Keys::line_of(TableReader& in, std::string_view key) {
  std::optional<std::string> text = in.text(key, TableReader::required);
  if (!text) return {};
  const Place place = place_of(in, key);
  std::replace(text->begin(), text->end(), '\n', ' ');
  while (!text->empty() && text->back() == ' ') text->pop_back();
  if (text->empty()) fault(place, std::string(key) + ": must not be empty");
  if (!text->empty() && text->back() == '\\')
    fault(place, std::string(key) + ": must not end with a backslash");  // a comment would go on behind it
  for (const char c : *text) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) continue;
    fault(place, std::string(key) + ": must not have control characters");
    break;
  }
  return *text;
}

FieldAccess Keys::read_access(TableReader& in) {
  const std::optional<std::string> word = in.text("access", TableReader::required);
  if (!word) return FieldAccess::read_only;
  std::vector<std::string> words;
  for (const AccessWords& access : kAccesses) {
    if (*word == access.word) return static_cast<FieldAccess>(words.size());
    words.emplace_back(access.word);
  }
  fault(place_of(in, "access"), "access: must be ro, rw, wo, w1c, rc or fifo, not \"" + *word + "\"",
        did_you_mean(*word, words));
  return FieldAccess::read_only;
}

std::uint64_t Keys::read_reset(TableReader& in, BitField at) {
  const std::uint64_t most = std::min(at.in(at.mask()), kMost);
  return in.number("reset", 0, most).value_or(0);
}

BitField Keys::read_bits(TableReader& in, unsigned width) {
  const Member* const m = in.find("bits", TableReader::required);
  if (m == nullptr) return {0, 1};
  const std::vector<Value>& items = m->value.items;
  const bool pair = m->value.kind == Value::Kind::array && items.size() == 2;
  const Value& low = pair ? items[0] : m->value;
  const Value& high = pair ? items[1] : m->value;
  if (low.kind != Value::Kind::integer || high.kind != Value::Kind::integer) {
    fault(m->value.place, "bits: must be the number of a bit, or [LOWEST, HIGHEST]");
  } else if (low.integer < 0 || high.integer < low.integer) {
    fault(m->value.place, "bits: the lowest comes first, and is at least 0");
  } else if (high.integer >= width) {
    fault(high.place, "bits: the highest here is " + std::to_string(width - 1));
  } else {
    return {static_cast<std::uint8_t>(low.integer),
            static_cast<std::uint8_t>(high.integer - low.integer + 1)};
  }
  return {0, 1};
}

std::vector<const Value*> Keys::tables(TableReader& in, std::string_view key, const std::string& path) {
  std::vector<const Value*> found;
  const Member* const m = in.find(key);
  if (m == nullptr) return found;
  const auto wrong = [&](Place place) {
    fault(place, std::string(key) + ": must be [[" + path + "]] tables");
  };
  if (m->value.kind != Value::Kind::array) wrong(m->place);
  for (const Value& item : m->value.items) {
    if (item.kind == Value::Kind::table) {
      found.push_back(&item);
    } else {
      wrong(item.place);
    }
  }
  return found;
}

void Keys::fault(Place place, std::string message, std::string hint) {
  faults_.push_back(document_.fault(place, std::move(message), std::move(hint)));
}

}  // namespace warpline::registers
