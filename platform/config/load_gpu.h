#pragma once

#include <string>
#include <vector>

#include "platform/config/gpu_config.h"
#include "platform/config/key_source.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// Names of the built-in presets, the default (`mini`) first.
WARPLINE_PUBLIC [[nodiscard]] std::vector<std::string> preset_names();
/// The name that `name` is short for: `a100` and `h100` for `a100-80` and `h100-sxm`, every other for itself.
WARPLINE_PUBLIC [[nodiscard]] std::string whole_preset_name(const std::string& name);
/// The TOML text of a built-in preset, whose name may be short, with its comments, or an empty string.
WARPLINE_PUBLIC [[nodiscard]] std::string preset_text(const std::string& name);

/// Loads preset or file `name_or_path`, applies `settings` in order, each as `--set` takes it
/// ("l2.slices=4"), and checks the result. A file starts from the preset that it names (`base = "v100"`), or
/// from `mini`; it is called after itself unless it says `name`. Every fault is reported at once: unknown
/// keys (with the nearest known one), wrong types, values out of range, broken rules.
/// `text`: unless null, becomes what was read of a file.
WARPLINE_PUBLIC [[nodiscard]] Result<GpuConfig> load_gpu(const std::string& name_or_path,
                                                         const std::vector<std::string>& settings = {},
                                                         std::string* text = nullptr);

/// A GPU, and what is said of where its values come from.
struct WARPLINE_PUBLIC TracedGpu {
  GpuConfig config;
  KeySources sources;
};
/// As load_gpu().
WARPLINE_PUBLIC [[nodiscard]] Result<TracedGpu> trace_gpu(const std::string& name_or_path,
                                                          const std::vector<std::string>& settings = {});

/// The same for the text of a file that was read already; `path` names it.
WARPLINE_PUBLIC [[nodiscard]] Result<GpuConfig> load_gpu_text(const std::string& path,
                                                              const std::string& text,
                                                              const std::vector<std::string>& settings = {});

}  // namespace warpline
