#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <systemc>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "rtl_models/base/visibility.h"

namespace warpline {

/// What the wires of a number carry, 64 of them at a time.
using PinWord = sc_dt::uint64;

/// The types of ports that fit the wires of a number: those that ports of Verilated models have, whatever
/// `--pins-bv`, `--pins-uint8`, `--pins-sc-uint` and the like say, and those of modules written in SystemC.
/// `kBits` is what a type holds; load() and store() copy it from and to words, the lowest first.
template <class T, class = void>
struct PinType {
  static constexpr unsigned kBits = 0;  ///< does not fit
};
template <class T>
struct PinType<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  static constexpr unsigned kBits = std::numeric_limits<std::make_unsigned_t<T>>::digits;
  static void load(T& value, const std::vector<PinWord>& words) { value = static_cast<T>(words.front()); }
  static void store(const T& value, std::vector<PinWord>& words) {
    words.front() = static_cast<std::make_unsigned_t<T>>(value);
  }
};
template <int W>
struct PinType<sc_dt::sc_uint<W>> {
  static constexpr unsigned kBits = W;
  static void load(sc_dt::sc_uint<W>& value, const std::vector<PinWord>& words) { value = words.front(); }
  static void store(const sc_dt::sc_uint<W>& value, std::vector<PinWord>& words) {
    words.front() = value.to_uint64();
  }
};
template <int W>
struct PinType<sc_dt::sc_biguint<W>> {
  static constexpr unsigned kBits = W;
  static void load(sc_dt::sc_biguint<W>& value, const std::vector<PinWord>& words) {
    value = 0;
    for (std::size_t i = words.size(); i-- != 0;) value = (value << 64) | sc_dt::sc_biguint<64>(words[i]);
  }
  static void store(const sc_dt::sc_biguint<W>& value, std::vector<PinWord>& words) {
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = sc_dt::sc_biguint<W>(value >> static_cast<int>(64 * i)).to_uint64();
  }
};
template <int W>
struct PinType<sc_dt::sc_bv<W>> {
  static constexpr unsigned kBits = W;
  static void load(sc_dt::sc_bv<W>& value, const std::vector<PinWord>& words) {
    for (int i = 0; i < value.size(); ++i) value.set_word(i, half(words, i));
  }
  static void store(const sc_dt::sc_bv<W>& value, std::vector<PinWord>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = word_at(value, 2 * static_cast<int>(i));
  }
  /// Half a word of a wire, and a whole one of a vector; 0 beyond its end.
  static sc_dt::sc_digit half(const std::vector<PinWord>& words, int i) {
    const auto at = static_cast<std::size_t>(i) / 2;
    return at < words.size() ? static_cast<sc_dt::sc_digit>(words[at] >> (i % 2 * 32)) : 0;
  }
  template <class Vector>
  static PinWord word_at(const Vector& value, int i) {
    PinWord word = i < value.size() ? value.get_word(i) : 0;
    if (i + 1 < value.size()) word |= PinWord{value.get_word(i + 1)} << 32U;
    return word;
  }
};
/// Undefined bits (X and Z) are driven as 0.
template <int W>
struct PinType<sc_dt::sc_lv<W>> {
  static constexpr unsigned kBits = W;
  static void load(sc_dt::sc_lv<W>& value, const std::vector<PinWord>& words) {
    for (int i = 0; i < value.size(); ++i) {
      value.set_word(i, PinType<sc_dt::sc_bv<W>>::half(words, i));
      value.set_cword(i, 0);
    }
  }
  static void store(const sc_dt::sc_lv<W>& value, std::vector<PinWord>& words) {
    sc_dt::sc_bv<W> defined;
    for (int i = 0; i < value.size(); ++i) defined.set_word(i, value.get_word(i) & ~value.get_cword(i));
    PinType<sc_dt::sc_bv<W>>::store(defined, words);
  }
};

/// What lies behind the ports of a PinView: some words, in so many wires.
class WARPLINE_PUBLIC PinWordsAccess {
 public:
  virtual ~PinWordsAccess() = default;
  /// As many words as there are.
  virtual void read_words(std::vector<PinWord>& words) const = 0;
  virtual void write_words(const std::vector<PinWord>& words) = 0;
  [[nodiscard]] virtual const sc_core::sc_event& words_changed() const = 0;
  [[nodiscard]] virtual bool words_event() const = 0;
  virtual void register_words_port(sc_core::sc_port_base& port, bool drives) = 0;
};

/// Wires as a signal of T, for ports of that type. It holds nothing: it reads and writes the wires
/// themselves, so that no delta cycle comes in between.
template <class T>
class PinView final : public sc_core::sc_signal_inout_if<T> {
 public:
  PinView(PinWordsAccess& wires, std::size_t words) : wires_(wires), words_(words) {}
  [[nodiscard]] const sc_core::sc_event& default_event() const override { return wires_.words_changed(); }
  [[nodiscard]] const sc_core::sc_event& value_changed_event() const override {
    return wires_.words_changed();
  }
  [[nodiscard]] const T& read() const override {
    wires_.read_words(words_);
    PinType<T>::load(value_, words_);
    return value_;
  }
  [[nodiscard]] const T& get_data_ref() const override { return read(); }
  [[nodiscard]] bool event() const override { return wires_.words_event(); }
  void write(const T& value) override {
    PinType<T>::store(value, words_);
    wires_.write_words(words_);
  }
  [[nodiscard]] sc_core::sc_writer_policy get_writer_policy() const override {
    return sc_core::SC_ONE_WRITER;
  }
  void register_port(sc_core::sc_port_base& port, const char* type) override {
    wires_.register_words_port(port, std::string(type) == typeid(sc_core::sc_signal_inout_if<T>).name());
  }

 private:
  PinWordsAccess& wires_;
  mutable std::vector<PinWord> words_;
  mutable T value_{};
};

/// Makes the views of some wires, one of each type.
class WARPLINE_PUBLIC PinViews {
 public:
  /// A type that has fewer bits than there are wires is a SystemC error report, which names them.
  template <class T>
  [[nodiscard]] PinView<T>& of(PinWordsAccess& wires, const char* name, unsigned bits) {
    check(name, bits, PinType<T>::kBits);
    for (const auto& view : views_)
      if (auto* same = dynamic_cast<PinView<T>*>(view.get()); same != nullptr) return *same;
    auto view = std::make_unique<PinView<T>>(wires, (bits + 63) / 64);
    PinView<T>& made = *view;
    views_.push_back(std::move(view));
    return made;
  }

 private:
  static void check(const char* name, unsigned bits, unsigned holds);
  std::vector<std::unique_ptr<sc_core::sc_interface>> views_;
};

/// A wire, or the wires of a number up to 64 bits: a signal of T, bool or PinWord, to which ports of any
/// other type that holds as many bits can be bound, too, as to a signal of that type:
///
///     sc_core::sc_in<std::uint64_t> address;  // on Linux another type than sc_dt::uint64, and both fit
///     address.bind(wires.request.address);
template <class T>
class PinSignal final : public sc_core::sc_signal<T>, private PinWordsAccess {
 public:
  explicit PinSignal(const char* name, unsigned bits = 1) : PinSignal(name, bits, nullptr) {}
  /// `group`: unless null, is notified of changes, too.
  PinSignal(const char* name, unsigned bits, sc_core::sc_event* group)
      : sc_core::sc_signal<T>(name), bits_(bits), group_(group) {}
  using sc_core::sc_signal<T>::operator=;
  /// How many wires.
  [[nodiscard]] unsigned bits() const { return bits_; }

  template <class U, class = std::enable_if_t<PinType<U>::kBits != 0 && !std::is_same_v<U, T>>>
  operator sc_core::sc_signal_in_if<U>&() {  // NOLINT(google-explicit-constructor)
    return views_.of<U>(*this, this->name(), bits_);
  }
  template <class U, class = std::enable_if_t<PinType<U>::kBits != 0 && !std::is_same_v<U, T>>>
  operator sc_core::sc_signal_inout_if<U>&() {  // NOLINT(google-explicit-constructor)
    return views_.of<U>(*this, this->name(), bits_);
  }

 private:
  void update() override {
    const T before = this->read();
    sc_core::sc_signal<T>::update();
    if (group_ != nullptr && before != this->read()) group_->notify(sc_core::SC_ZERO_TIME);
  }
  void read_words(std::vector<PinWord>& words) const override { words.front() = this->read(); }
  void write_words(const std::vector<PinWord>& words) override { this->write(static_cast<T>(words.front())); }
  [[nodiscard]] const sc_core::sc_event& words_changed() const override { return this->default_event(); }
  [[nodiscard]] bool words_event() const override { return this->event(); }
  void register_words_port(sc_core::sc_port_base& port, bool drives) override {
    this->register_port(port, drives ? typeid(sc_core::sc_signal_inout_if<T>).name()
                                     : typeid(sc_core::sc_signal_in_if<T>).name());
  }
  friend class PinWords;

  unsigned bits_;
  sc_core::sc_event* group_;
  PinViews views_;
};
/// The wires of a number that may be wider: words of 64, the lowest first. Ports of a type that holds as many
/// bits can be bound to all of it, those of words to each.
class WARPLINE_PUBLIC PinWords final : public sc_core::sc_vector<PinSignal<PinWord>>, private PinWordsAccess {
 public:
  PinWords(const char* name, unsigned bits);
  [[nodiscard]] unsigned bits() const { return bits_; }

  template <class U, class = std::enable_if_t<PinType<U>::kBits != 0>>
  operator sc_core::sc_signal_in_if<U>&() {  // NOLINT(google-explicit-constructor)
    return views_.of<U>(*this, this->name(), bits_);
  }
  template <class U, class = std::enable_if_t<PinType<U>::kBits != 0>>
  operator sc_core::sc_signal_inout_if<U>&() {  // NOLINT(google-explicit-constructor)
    return views_.of<U>(*this, this->name(), bits_);
  }

 private:
  void read_words(std::vector<PinWord>& words) const override;
  void write_words(const std::vector<PinWord>& words) override;
  [[nodiscard]] const sc_core::sc_event& words_changed() const override { return changed_; }
  [[nodiscard]] bool words_event() const override;
  void register_words_port(sc_core::sc_port_base& port, bool drives) override;

  unsigned bits_;
  sc_core::sc_event changed_;
  PinViews views_;
};

}  // namespace warpline
