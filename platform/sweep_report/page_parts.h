#pragma once

namespace warpline::sweep {

/// report.css and report.js, which are part of every report.
[[nodiscard]] const char* report_style();
[[nodiscard]] const char* report_script();

}  // namespace warpline::sweep
