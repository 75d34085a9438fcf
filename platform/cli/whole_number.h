#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <string>

namespace warpline {

/// Of options with a number: the library reads "-3" as a huge unsigned number, and 2^64 as 2^64-1; we do not.
inline const CLI::Validator kWholeNumber(
    [](std::string& text) {
      std::uint64_t number = 0;
      const char* const end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data(), end, number);
      if (stop == end && error == std::errc{}) return std::string{};
      return "\"" + text +
             (error == std::errc::result_out_of_range ? "\" is 2^64 or more" : "\" is no whole number");
    },
    "");

}  // namespace warpline
