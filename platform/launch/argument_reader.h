#pragma once

#include <map>
#include <string>
#include <vector>

#include "platform/launch/launch_file.h"

namespace warpline {

/// Reads arguments, and with them the buffers that they declare, and symbols, into a LaunchFile.
class ArgumentReader {
 public:
  ArgumentReader(const Document& document, const std::string& path, LaunchFile& out, Diagnostics& faults)
      : document_(document), path_(path), out_(out), faults_(faults) {}

  /// Reads the `argument` key of a launch.
  void read(const Member& arguments, Launch& launch);
  /// Reads one [[symbol]] table.
  void read_symbol(const Value& table);
  /// Reads what buffers start with and must end with. Comes last: an expression may name any buffer.
  void read_contents();

 private:
  struct Contents {
    const Member* initial;
    const Member* expect;
  };
  /// What the declaration of a buffer need not say.
  struct Implied {
    DataType type;
    std::uint64_t count;
  };
  /// The buffer of an image that has been read, by name.
  struct PendingImage {
    std::string name;
    Place place;
  };
  void read_one(const Value& table, Launch& launch);
  void read_buffer(TableReader& reader, const Member& name, Argument& argument);
  void read_scalar(TableReader& reader, Argument& argument);
  void read_bytes(TableReader& reader, Argument& argument);
  void read_address(const Member& member, Argument& argument);
  void read_bus(TableReader& reader, Argument& argument);
  void read_image(TableReader& outer, const Member& member, Argument& argument);
  void read_elements(TableReader& outer, const Member& member, PendingImage& pending, LaunchImage& image);
  void resolve_images();
  [[nodiscard]] bool is_declared_again(TableReader& reader, const std::string& name);
  void declare(TableReader& reader, const std::string& name, Place place, const Implied* implied = nullptr);
  void aperture_of(TableReader& reader, Buffer& buffer);
  [[nodiscard]] DataType type_of(TableReader& reader, TableReader::Need need);

  const Document& document_;
  const std::string& path_;
  LaunchFile& out_;
  Diagnostics& faults_;
  unsigned gpu_ = 0;                          ///< of the launch being read
  std::vector<Contents> contents_;            ///< of each buffer
  std::vector<PendingImage> pending_images_;  ///< of each image
};

}  // namespace warpline
