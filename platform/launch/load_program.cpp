#include "platform/launch/load_program.h"

#include "platform/programs/ptx/module.h"
#include "platform/programs/wls/module.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/files.h"

namespace warpline {

Result<std::unique_ptr<programs::Module>> parse_module(const std::string& text, const std::string& path) {
  if (!ends_with(path, ".wls")) return ptx::parse(text, path);
  auto parsed = wls::parse(text, path);
  if (!parsed.ok()) return parsed.faults();
  return std::move(parsed.value().module);
}

Result<LoadedFile> load_program(const std::string& path) {
  auto text = read_file(path);
  if (!text.ok()) return text.faults();
  auto parsed = wls::parse(text.value(), path);
  if (!parsed.ok()) return parsed.faults();
  const wls::DirectLaunch& direct = parsed.value().direct;
  LoadedFile out;
  LaunchFile& file = out.file;
  file.document = std::make_shared<const Document>(Document::unparsed(path, text.value()));
  file.modules.push_back({path, std::move(text.value()), {}});
  Launch l;
  l.kernel = parsed.value().module->entries().front().name;
  l.grid = direct.grid;
  l.block = direct.block;
  l.grid_place.line = direct.grid_line;
  l.block_place.line = direct.block_line;
  file.launches.push_back(std::move(l));
  out.modules.push_back(std::move(parsed.value().module));
  return out;
}

}  // namespace warpline
