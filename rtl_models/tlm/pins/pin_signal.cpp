#include "rtl_models/tlm/pins/pin_signal.h"

#include <string>

namespace warpline {

void PinViews::check(const char* name, unsigned bits, unsigned holds) {
  if (holds >= bits) return;
  const std::string what = std::string(name) + ": these are " + std::to_string(bits) +
                           " wires, and a port is bound to them that holds " + std::to_string(holds) +
                           " bits";
  SC_REPORT_ERROR("/warpline/pins", what.c_str());
}

PinWords::PinWords(const char* name, unsigned bits) : sc_vector(name), bits_(bits) {
  init((bits + 63) / 64, [this](const char* word, std::size_t i) {
    const unsigned left = bits_ - static_cast<unsigned>(64 * i);
    return new PinSignal<PinWord>(word, left < 64 ? left : 64, &changed_);
  });
}

void PinWords::read_words(std::vector<PinWord>& words) const {
  for (std::size_t i = 0; i < size(); ++i) words[i] = (*this)[i].read();
}

void PinWords::write_words(const std::vector<PinWord>& words) {
  for (std::size_t i = 0; i < size(); ++i) (*this)[i].write(words[i]);
}

bool PinWords::words_event() const {
  for (const PinSignal<PinWord>& word : *this)
    if (word.event()) return true;
  return false;
}

void PinWords::register_words_port(sc_core::sc_port_base& port, bool drives) {
  for (PinSignal<PinWord>& word : *this) word.register_words_port(port, drives);
}

}  // namespace warpline
