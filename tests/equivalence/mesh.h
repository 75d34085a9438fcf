#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/equivalence/hop_maker.h"
#include "tests/equivalence/mesh_parts.h"

namespace warpline::test {

/// The netlist of a MeshShape. Its hops are made row by row from the clients down.
class Mesh {
 public:
  Mesh(const MeshShape& shape, Engine& engine, HopMaker& hops, MeshParts& parts);
  /// A line for every answer a client took, as NaiveMesh has them.
  [[nodiscard]] std::vector<std::string> answers() const;

 private:
  /// The ports by which a stage faces the row of hops below it.
  struct Face {
    Out<RequestMessage>* down = nullptr;
    In<ResponseMessage>* up = nullptr;
  };
  void add_relays(const std::vector<Ratio>& clocks, const std::vector<MeshShape::Level>& levels, Cycle gap,
                  HopMaker& hops);

  Engine& engine_;
  std::vector<Face> faces_;  ///< of the lowest stage so far
  std::vector<std::unique_ptr<Requester>> clients_;
  std::vector<std::unique_ptr<Relay>> relays_;
  std::unique_ptr<Switch> switch_;
  std::vector<std::unique_ptr<Server>> servers_;
};

}  // namespace warpline::test
