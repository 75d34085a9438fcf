#include "platform/launch/launch_file.h"

#include <algorithm>
#include <limits>

#include "platform/config/gpu_config.h"
#include "platform/launch/argument_reader.h"
#include "platform/launch/element.h"
#include "platform/launch/host_reader.h"
#include "platform/launch/launch_contents.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

/// CUDA's limits on grids and blocks (CUDA C++ Programming Guide, "Technical Specifications").
constexpr std::uint64_t kMaxGrid[] = {2147483647, 65535, 65535};
constexpr std::uint64_t kMaxBlock[] = {1024, 1024, 64};
constexpr std::uint64_t kMaxThreads = 1024;
constexpr std::uint64_t kMaxSharedBytes = 1U << 24U;

constexpr const char* kLaunchKeys[] = {"module",        "kernel",   "grid",      "block",     "shared_bytes",
                                       "invalidate_l1", "argument", "generator", "footprint", "stride",
                                       "accesses",      "seed",     "gpu",       "host",      "concurrent"};

class LaunchFileReader {
 public:
  LaunchFileReader(const std::string& path, Document document)
      : path_(path),
        document_(std::make_shared<const Document>(std::move(document))),
        arguments_(*document_, path_, out_, faults_) {}

  Result<LaunchFile> run() {
    out_.document = document_;
    TableReader root(*document_, document_->root(), Place{}, "the launch file", faults_);
    const Member* launches = root.find("launch");
    for (const char* key : kLaunchKeys) root.find(key);
    const Member* symbols = root.find("symbol");
    const Member* registers = root.find("register");
    root.finish();
    if (launches != nullptr) {
      launch_tables(root, *launches);
    } else {
      launch(document_->root(), Place{1, 0, 1}, "the launch file");
    }
    if (symbols != nullptr) symbol_tables(root, *symbols);
    arguments_.read_contents();
    check_reach();
    host(registers);
    if (!faults_.empty()) {
      std::stable_sort(faults_.begin(), faults_.end(),
                       [](const Diagnostic& a, const Diagnostic& b) { return a.line < b.line; });
      return std::move(faults_);
    }
    return std::move(out_);
  }

 private:
  void launch_tables(TableReader& root, const Member& launches) {
    for (const char* key : kLaunchKeys)
      if (const Member* m = document_->root().find(key))
        root.fault(m->place,
                   "\"" + m->key + "\" belongs into a [[launch]] table, as the file has such tables");
    if (launches.value.kind != Value::Kind::array || launches.value.items.empty())
      return root.fault(launches.place, "launch: must be [[launch]] tables");
    for (const Value& item : launches.value.items) {
      if (item.kind != Value::Kind::table) {
        root.fault(item.place, "launch: must be [[launch]] tables");
        continue;
      }
      launch(item, item.place, "[[launch]]");
    }
  }

  void launch(const Value& table, Place place, const char* what) {
    TableReader reader(*document_, table, place, what, faults_);
    Launch l;
    l.place = place;
    const bool generates = reader.find("generator") != nullptr;
    l.grid = extents(reader, "grid", kMaxGrid, generates, l.grid_place).value_or(Dim3{});
    l.block = extents(reader, "block", kMaxBlock, generates, l.block_place)
                  .value_or(generates ? Dim3{32, 1, 1} : Dim3{});
    if (l.block.count() > kMaxThreads)
      reader.fault(l.block_place,
                   "block: has " + std::to_string(l.block.count()) + " threads; at most 1024 are possible");
    l.gpu = static_cast<unsigned>(reader.number("gpu", 0, kMaxGpus - 1).value_or(0));
    l.gpu_place = place;
    if (const Member* gpu = reader.find("gpu")) l.gpu_place = gpu->value.place;
    l.invalidate_l1 = reader.boolean("invalidate_l1").value_or(true);
    if (generates) {
      generator(reader, l);
    } else {
      module_kernel(reader, l);
    }
    concurrent(reader, l);
    if (const Member* steps = reader.find("host")) host_steps_.emplace_back(out_.launches.size(), steps);
    // The top level's unknown keys were reported already.
    if (&table != &document_->root()) reader.finish();
    out_.launches.push_back(std::move(l));
  }

  void module_kernel(TableReader& reader, Launch& l) {
    const Member* module = reader.find("module", TableReader::required);
    if (module != nullptr) {
      l.module_place = module->value.place;
      if (const auto text = reader.text("module")) l.module = module_number(*text, module->value.place);
    }
    l.kernel = reader.text("kernel", TableReader::required).value_or("");
    if (const Member* kernel = reader.find("kernel")) l.kernel_place = kernel->value.place;
    l.shared_bytes =
        static_cast<std::uint32_t>(reader.number("shared_bytes", 0, kMaxSharedBytes).value_or(0));
    for (const char* key : {"footprint", "stride", "accesses", "seed"})
      if (const Member* m = reader.find(key))
        reader.fault(m->place, m->key + ": is for generators, and this is a module's launch");
    if (const Member* arguments = reader.find("argument")) arguments_.read(*arguments, l);
  }

  void generator(TableReader& reader, Launch& l) {
    static const std::vector<std::string> kKinds = {"stream", "strided", "random", "chase", "reuse"};
    GeneratorLaunch g;
    const Member* kind = reader.find("generator");
    g.kind = reader.text("generator").value_or("stream");
    if (std::find(kKinds.begin(), kKinds.end(), g.kind) == kKinds.end())
      reader.fault(kind->value.place,
                   "generator: \"" + g.kind + "\" is none of stream, strided, random, chase, reuse",
                   did_you_mean(g.kind, kKinds));
    constexpr std::uint64_t kMaxFootprint = std::uint64_t{1} << 40U;
    g.footprint = reader.number("footprint", 4, kMaxFootprint, TableReader::required).value_or(4);
    g.stride = reader.number("stride", 1, kMaxFootprint).value_or(4);
    g.accesses = reader.number("accesses", 1, std::uint64_t{1} << 48U, TableReader::required).value_or(1);
    g.seed = reader.number("seed", 0, INT64_MAX).value_or(1);
    for (const char* key : {"module", "kernel", "shared_bytes", "argument"})
      if (const Member* m = reader.find(key))
        reader.fault(m->place, m->key + ": is for modules, and this launch has a generator");
    l.kernel = g.kind;
    l.kernel_place = kind->place;
    l.generator = std::move(g);
  }

  /// Launches that run at the same time are each on a GPU of their own.
  void concurrent(TableReader& reader, Launch& l) {
    l.concurrent = reader.boolean("concurrent").value_or(false);
    if (!l.concurrent) return;
    const Place place = reader.find("concurrent")->place;
    if (out_.launches.empty()) return reader.fault(place, "concurrent: there is no launch before this one");
    for (std::size_t n = out_.launches.size(); n-- != 0;) {
      if (out_.launches[n].gpu == l.gpu)
        return reader.fault(place, "concurrent: GPU " + std::to_string(l.gpu) +
                                       " runs a launch at that time; say another (gpu = 1)");
      if (!out_.launches[n].concurrent) return;
    }
  }

  /// What the host does. Comes when all buffers are known.
  void host(const Member* registers) {
    HostReader reader(*document_, out_, faults_);
    for (const DeviceAddress& a : out_.addresses)
      if (a.bus && a.bus->buffer < out_.buffers.size()) reader.check(*a.bus);
    for (const auto& [launch, steps] : host_steps_) reader.read_steps(*steps, out_.launches[launch]);
    if (registers != nullptr) reader.read_registers(*registers);
  }

  /// One to three extents, each at least 1.
  std::optional<Dim3> extents(TableReader& reader, const char* key, const std::uint64_t (&limits)[3],
                              bool may_lack, Place& place) {
    const Member* m = reader.find(key, may_lack ? TableReader::optional : TableReader::required);
    if (m == nullptr) return std::nullopt;
    place = m->value.place;
    if (m->value.kind != Value::Kind::array || m->value.items.empty() || m->value.items.size() > 3) {
      reader.fault(place, std::string(key) + ": must be an array of one to three integers");
      return Dim3{};
    }
    std::uint32_t sizes[3] = {1, 1, 1};
    for (std::size_t d = 0; d < m->value.items.size(); ++d) {
      const Value& v = m->value.items[d];
      if (v.kind != Value::Kind::integer || v.integer < 1 ||
          static_cast<std::uint64_t>(v.integer) > limits[d]) {
        reader.fault(v.place, std::string(key) + ": " + "xyz"[d] + " must be an integer from 1 to " +
                                  std::to_string(limits[d]));
      } else {
        sizes[d] = static_cast<std::uint32_t>(v.integer);
      }
    }
    return Dim3{sizes[0], sizes[1], sizes[2]};
  }

  /// Reads a module on its first mention.
  std::size_t module_number(const std::string& name, Place place) {
    const std::string path = resolve_beside(path_, name);
    for (std::size_t n = 0; n < out_.modules.size(); ++n)
      if (out_.modules[n].path == path) return n;
    Result<std::string> text = read_file(path);
    if (!text.ok())
      faults_.push_back(document_->fault(place, "module: " + path + " " + text.faults().front().message));
    out_.modules.push_back({path, text.ok() ? std::move(text.value()) : std::string{}, place});
    return out_.modules.size() - 1;
  }

  /// No GPU reaches another's video memory: neither its buffers nor the variables of a module that lie there.
  void check_reach() {
    for (const Launch& l : out_.launches)
      for (const Argument& a : l.arguments) {
        if (a.kind != Argument::Kind::buffer && a.kind != Argument::Kind::image) continue;
        const std::size_t number = a.kind == Argument::Kind::buffer ? a.buffer : out_.images[a.image].buffer;
        if (number >= out_.buffers.size()) continue;
        const Buffer& b = out_.buffers[number];
        if (b.aperture == Aperture::vidmem && b.gpu != l.gpu)
          faults_.push_back(document_->fault(a.place,
                                             "buffer \"" + b.name + "\" lies in the video memory of GPU " +
                                                 std::to_string(b.gpu) + ", which GPU " +
                                                 std::to_string(l.gpu) + " does not reach",
                                             "all reach buffers of aperture = \"sysmem\" or \"peer\""));
      }
  }

  void symbol_tables(TableReader& root, const Member& symbols) {
    if (symbols.value.kind != Value::Kind::array)
      return root.fault(symbols.place, "symbol: must be [[symbol]] tables");
    for (const Value& item : symbols.value.items) {
      if (item.kind != Value::Kind::table) {
        root.fault(item.place, "symbol: must be [[symbol]] tables");
        continue;
      }
      arguments_.read_symbol(item);
    }
  }

  std::string path_;
  std::shared_ptr<const Document> document_;
  LaunchFile out_;
  Diagnostics faults_;
  ArgumentReader arguments_;
  std::vector<std::pair<std::size_t, const Member*>> host_steps_;  ///< by number of their launch
};

}  // namespace

Result<LaunchFile> parse_launch_file(const std::string& path, std::string_view text) {
  Result<Document> document = Document::parse(path, text);
  if (!document.ok()) return document.faults();
  return LaunchFileReader(path, std::move(document.value())).run();
}

Result<LaunchFile> load_launch_file(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (!text.ok()) return text.faults();
  return parse_launch_file(path, text.value());
}

}  // namespace warpline
