#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/launch/expression.h"
#include "platform/launch/host_program.h"
#include "platform/programs/generators/generator.h"
#include "platform/programs/ptx/module.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/types.h"
#include "rtl_models/bulk_copy/tensor_map.h"
#include "rtl_models/document/document.h"
#include "rtl_models/isa/data_type.h"
#include "rtl_models/sm/image_table.h"
#include "rtl_models/sm/kernel_info.h"

namespace warpline {

/// What a buffer holds before the first launch.
struct InitialContent {
  enum class Kind : std::uint8_t { zeros, value, iota, random, file };
  Kind kind = Kind::zeros;
  std::uint64_t value = 0;          ///< element bits; of iota: the start
  std::uint64_t step = 0;           ///< of iota, element bits
  std::uint64_t seed = 0;           ///< of random
  std::vector<std::uint8_t> bytes;  ///< of file: as many as the buffer has
  std::string file;                 ///< whose bytes they are, or empty
  Place place;
};

/// What a buffer must hold after the last launch.
struct Expectation {
  enum class Kind : std::uint8_t { expression, value, file };
  Kind kind = Kind::value;
  Expression expression;
  std::string text;                 ///< of the expression
  std::uint64_t value = 0;          ///< element bits
  std::vector<std::uint8_t> bytes;  ///< of file
  std::string file;                 ///< whose bytes they are, or empty
  bool tolerant = false;            ///< else to the bit
  double absolute = 0;              ///< |got - wanted| <= absolute + relative * |wanted|
  double relative = 0;
  Place place;  ///< of the expression's text, or of the key
};

/// A buffer, as its first mention declares it.
struct Buffer {
  std::string name;
  DataType type = DataType::none;
  std::uint64_t count = 0;
  Aperture aperture = Aperture::vidmem;
  std::uint64_t align = 1;  ///< it begins at a multiple of so many bytes, for kernels and devices
  unsigned gpu = 0;  ///< whose video memory it lies in: that of the launch that declares it, unless it says
  InitialContent initial;
  std::optional<Expectation> expect;
  std::string dump;  ///< path to write after the last launch, or empty
  Place place, dump_place;
  [[nodiscard]] std::uint64_t bytes() const { return count * size_of(type); }
};

/// A module variable that a launch file sets or checks. Its size is the variable's.
struct Symbol {
  std::string name;
  DataType type = DataType::none;  ///< none: as the module declares it
  std::optional<Member> initial;   ///< read once the variable's type and size are known
  std::optional<Member> expect;
  Place place;
};

/// A texture or surface over a buffer, from its start.
struct LaunchImage {
  Image image;             ///< its address is not known yet
  std::size_t buffer = 0;  ///< its number in LaunchFile::buffers
  Place place;
};

/// A tensor map of a buffer, which copies of its tensor go by.
struct LaunchTensorMap {
  std::size_t buffer = 0;  ///< its number in LaunchFile::buffers
  TensorMap map;           ///< lacks its address
  Place place;
};

/// Buffers of several GPUs under one address, for `multimem` instructions.
struct LaunchMulticast {
  std::vector<std::size_t>
      buffers;       ///< their numbers in LaunchFile::buffers, one on each GPU, all of one size
  std::string name;  ///< "a0 + a1"
  Place place;
};

/// One kernel argument, positional.
struct Argument {
  enum class Kind : std::uint8_t { buffer, scalar, bytes, image, device, structure, tensor_map, multicast };
  Kind kind = Kind::scalar;
  /// Of a buffer, image, device, tensor map or multicast object: its number in LaunchFile::buffers, images,
  /// addresses, tensor_maps, multicasts.
  std::size_t number = 0;
  std::vector<std::uint8_t> bytes;  ///< of scalar and bytes
  std::vector<Argument> members;    ///< of a structure, by rising `at`
  std::uint32_t at = 0;             ///< of a member: its first byte in the structure
  Place place;

  /// Bytes that a kernel gets; of a structure those of C's, up to a multiple of its largest alignment.
  [[nodiscard]] std::size_t size() const;
  /// What its first byte lies at a multiple of, as C lays it out.
  [[nodiscard]] std::size_t alignment() const;
  /// Calls `f` with itself, or with each member of a structure that is none, and with the first byte of
  /// either in the whole argument.
  template <class F>
  void for_each_part(F&& f, std::uint32_t start = 0) const {
    if (kind != Kind::structure) return f(*this, start);
    for (const Argument& m : members) m.for_each_part(f, start + m.at);
  }
};

/// An address that is known when devices have been set up: of a place in one, as kernels see it; or of a
/// buffer, as a device sees it.
struct DeviceAddress {
  std::optional<DevicePlace> where;
  std::optional<BusAddress> bus;
  Place place;
};

/// How much memory programs get for what the CUDA runtime gives them; CUDA's defaults.
struct DeviceMemorySizes {
  std::uint64_t printf_bytes = 1U << 20U;  ///< of the ring that printf writes to, a multiple of 8
  std::uint64_t heap_bytes = 8U << 20U;    ///< of the heap of malloc, a multiple of 16
  std::uint64_t launches = 2048;           ///< that one grid can ask for, at least
};

/// One grid.
struct Launch {
  std::size_t module = 0;  ///< its number in LaunchFile::modules, unless there is a generator
  std::string kernel;
  Dim3 grid, block;
  ClusterShape cluster;
  std::uint32_t shared_bytes = 0;    ///< dynamic shared memory
  std::optional<unsigned> carveout;  ///< KernelInfo::carveout
  std::uint32_t registers = 0;       ///< per thread, as the assembler reports them; 0: the file does not say
  bool invalidate_l1 = true;
  unsigned gpu = 0;
  bool cooperative = false;  ///< all its blocks are resident at once
  bool dependent = false;    ///< may begin when the blocks of the launch before it have said so or ended
  bool concurrent = false;   ///< runs at the same time as the launch before it, on another GPU
  std::vector<Argument> arguments;
  std::vector<HostStep> host;                    ///< what the host does meanwhile, one after the other
  std::optional<GeneratorParameters> generator;  ///< in the place of a module; lacks its base
  Place place, module_place, kernel_place, grid_place, block_place, cluster_place, gpu_place;
};

/// A module's text, read once however many launches use it; or those of several that are linked.
struct ModuleText {
  std::string path;  ///< of several: all, as messages name them
  std::string text;
  Place place;
  std::vector<ModuleText> parts;  ///< of a module that is linked: its texts, and `text` is empty
};

/// A launch file, checked as far as it can be without its modules.
struct LaunchFile {
  std::shared_ptr<const Document> document;  ///< points into the text
  std::vector<ModuleText> modules;
  DeviceMemorySizes device_memory;
  std::optional<ptx::Schedule> schedule;  ///< of modules in PTX; nothing: the file does not say
  std::vector<Buffer> buffers;            ///< in the order of their first mention
  std::vector<LaunchImage> images;
  std::vector<LaunchTensorMap> tensor_maps;
  std::vector<LaunchMulticast> multicasts;
  std::vector<Symbol> symbols;
  std::vector<DeviceAddress> addresses;  ///< among the arguments
  std::vector<LaunchRegister> registers;
  NamedArrays arrays;  ///< what expressions may name: buffers, then symbols that state a type
  std::vector<std::size_t> array_symbols;  ///< of the latter, their numbers in `symbols`
  std::vector<Launch> launches;

  /// The number of the buffer that is called so; that of the next one where there is none.
  [[nodiscard]] std::size_t buffer_number(const std::string& name) const {
    return buffer_index.number_of(name, buffers);
  }
  mutable NameIndex buffer_index;  ///< of `buffers`, to whose end only is added

  /// What in it asks for a host with devices, and where it stands.
  struct HostNeed {
    Place place;
    std::optional<DeviceName> device;  ///< nothing: any host will do
  };
  /// Of the devices of a kind that it names, that of the largest number; then a step that names none, if
  /// there is one.
  [[nodiscard]] std::vector<HostNeed> host_needs() const;
};

/// A launch file, and where its data lies on a platform.
struct PlacedFile {
  const LaunchFile& file;
  std::vector<std::uint64_t> buffers;     ///< addresses, as LaunchFile::buffers
  std::vector<std::uint64_t> images;      ///< handles, as LaunchFile::images
  std::vector<std::uint64_t> addresses;   ///< as kernels or devices see them, as LaunchFile::addresses
  std::vector<std::uint64_t> multicasts;  ///< addresses, as LaunchFile::multicasts
};

/// Loads a launch file and the files it names, relative to its own folder. Every fault at once.
[[nodiscard]] Result<LaunchFile> load_launch_file(const std::string& path);
/// The same for a text already read; `path` names it and says where its files lie.
[[nodiscard]] Result<LaunchFile> parse_launch_file(const std::string& path, std::string_view text);

/// `count` elements as `initial` describes them. Of iota, element i is start + i * step: modulo 2^width
/// for integers, rounded once from double for floats. Of random, element i is splitmix64(seed + i):
/// integers take the low bits, f16 the top 11 bits / 2^11, bf16 the top 8 / 2^8, f32 the top 24 / 2^24, f64
/// the top 53 / 2^53.
[[nodiscard]] std::vector<std::uint8_t> initial_bytes(const InitialContent& initial, DataType type,
                                                      std::uint64_t count);

}  // namespace warpline
