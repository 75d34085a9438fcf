#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace warpline {

/// State that is being restored does not fit what it is restored into: it was cut off, or is of another
/// shape.
class StateMisfit : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The state of a machine at rest as a row of bytes, written and read by the same code: a class names in
/// `archive(a)` what it remembers, and the archive saves it or restores it. So the two cannot differ.
///
///     template <class Archive> void archive(Archive& a) { a(tags_, clock_).fixed(lines_).index(hand_, n); }
///
/// Takes numbers, enumerations, strong types, texts, containers of what it takes, and classes with such a
/// member. Restoring checks shapes before anything is allocated, and throws StateMisfit; what was read until
/// then has been changed. Numbers are little-endian, as hosts are.
class StateArchive {
 public:
  /// Saves: appends to `out`, which outlives it.
  explicit StateArchive(std::string& out) : out_(&out) {}
  /// Restores from `in`, whose bytes outlive it.
  explicit StateArchive(std::string_view in) : in_(in) {}

  [[nodiscard]] bool saves() const { return out_ != nullptr; }
  /// Whether everything was read. Pre: not saves().
  [[nodiscard]] bool ended() const { return in_.empty(); }

  template <class... T>
  StateArchive& operator()(T&... values) {
    (value(values), ...);
    return *this;
  }
  /// Elements of a container that has as many of them wherever the state fits.
  template <class C>
  StateArchive& fixed(C& elements) {
    same(elements.size(), "elements");
    all(elements);
    return *this;
  }
  /// A number below `limit`, as it names one of so many.
  template <class T>
  StateArchive& index(T& number, std::uint64_t limit) {
    T n = number;
    value(n);
    if (!saves() && static_cast<std::uint64_t>(n) >= limit) misfit("names what is not there");
    number = n;
    return *this;
  }
  /// A count that the machine's shape gives.
  void same(std::uint64_t count, const char* what) {
    std::uint64_t n = count;
    value(n);
    if (n != count)
      misfit("has " + std::to_string(n) + " " + what + ", and here there are " + std::to_string(count));
  }
  /// What follows is the state of `name`, and of nobody else.
  void section(std::string_view name) {
    section_ = name;
    std::string there(name);
    value(there);
    if (there != name) misfit("is where that of \"" + there.substr(0, kLongestName) + "\" was saved");
  }
  /// Plain bytes of a fixed number.
  void bytes(void* data, std::size_t count) {
    if (saves()) {
      out_->append(static_cast<const char*>(data), count);
    } else {
      need(count);
      if (count != 0) std::memcpy(data, in_.data(), count);
      in_.remove_prefix(count);
    }
  }
  /// A number that says how much follows, of which each takes a byte or more. Saving: `count`.
  [[nodiscard]] std::size_t count(std::size_t count) {
    std::uint64_t n = count;
    value(n);
    if (!saves()) need(n);
    return static_cast<std::size_t>(n);
  }
  [[noreturn]] void misfit(const std::string& what) const {
    throw StateMisfit("the state of " + (section_.empty() ? "the machine" : section_) + " " + what);
  }

 private:
  static constexpr std::size_t kLongestName = 80;
  template <class T, class = void>
  struct Archives : std::false_type {};
  template <class T>
  struct Archives<T, std::void_t<decltype(std::declval<T&>().archive(std::declval<StateArchive&>()))>>
      : std::true_type {};
  template <class T, class = void>
  struct IsStrong : std::false_type {};
  template <class T>
  struct IsStrong<T, std::void_t<decltype(T{std::declval<T&>().value})>>
      : std::is_arithmetic<decltype(T::value)> {};
  template <class T>
  static constexpr bool kIsPlain = (std::is_arithmetic_v<T> || std::is_enum_v<T>)&&!std::is_same_v<T, bool>;

  void need(std::uint64_t count) const {
    if (count > in_.size()) misfit("is cut off");
  }

  template <class T>
  void value(T& v) {
    if constexpr (Archives<T>::value) {
      v.archive(*this);
    } else if constexpr (IsStrong<T>::value) {
      value(v.value);
    } else if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t b = v;
      bytes(&b, 1);
      if (b > 1) misfit("is damaged");
      v = b != 0;
    } else if constexpr (kIsPlain<T>) {
      bytes(&v, sizeof v);
    } else {
      // Plain numbers without gaps: counters.
      static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T> &&
                        std::is_default_constructible_v<T>,
                    "a class says by archive() what it remembers");
      bytes(&v, sizeof v);
    }
  }
  void value(std::string& v) { grow(v); }
  template <class T>
  void value(std::vector<T>& v) {
    grow(v);
  }
  template <class T>
  void value(std::deque<T>& v) {
    grow(v);
  }
  template <class T, std::size_t N>
  void value(std::array<T, N>& v) {
    all(v);
  }
  template <class T>
  void value(std::optional<T>& v) {
    bool has = v.has_value();
    value(has);
    if (!has) {
      v.reset();
    } else {
      if (!saves()) v.emplace();
      value(*v);
    }
  }
  template <class A, class B>
  void value(std::pair<A, B>& v) {
    value(v.first);
    value(v.second);
  }
  template <class K, class V, class Less>
  void value(std::map<K, V, Less>& v) {
    const std::size_t n = count(v.size());
    if (saves()) {
      for (auto& [key, element] : v) {
        K copy = key;
        (*this)(copy, element);
      }
    } else {
      v.clear();
      for (std::size_t i = 0; i < n; ++i) {
        K key{};
        V element{};
        (*this)(key, element);
        v.emplace_hint(v.end(), std::move(key), std::move(element));
      }
    }
  }
  template <class C>
  void grow(C& v) {
    const std::size_t n = count(v.size());
    if (!saves()) v.resize(n);
    all(v);
  }
  template <class C>
  void all(C& v) {
    using T = typename C::value_type;
    if constexpr (kIsPlain<T> && !std::is_same_v<C, std::deque<T>>) {
      bytes(v.data(), v.size() * sizeof(T));
    } else {
      for (T& element : v) value(element);
    }
  }

  std::string* out_ = nullptr;  ///< null: it restores
  std::string_view in_;         ///< what is left
  std::string section_;
};

}  // namespace warpline
