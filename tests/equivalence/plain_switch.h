#pragma once

#include <memory>
#include <vector>

#include "tests/equivalence/mesh_parts.h"

namespace warpline::test {

/// Does what the model's crossbar does to requests of single servers, by looking at all its ports in every
/// tick. Its protected parts are what can go wrong in a block with arbiters: seeded faults replace them.
class PlainSwitch : public Component, public Switch {
 public:
  PlainSwitch(Engine& engine, const MeshShape& shape);

  Cycle tick(Cycle now) override;
  [[nodiscard]] bool busy() const override { return false; }
  void explain(std::vector<Wait>&) const override {}

  In<RequestMessage>& from_client(unsigned i) override { return *down_in_[i]; }
  Out<ResponseMessage>& to_client(unsigned i) override { return *up_out_[i]; }
  Out<RequestMessage>& to_server(unsigned i) override { return *down_out_[i]; }
  In<ResponseMessage>& from_server(unsigned i) override { return *up_in_[i]; }

 protected:
  /// Whose turn it is at each output.
  using Turns = std::vector<unsigned>;
  /// Called in every tick, before anything is granted.
  virtual void before_grants(Turns& down, Turns& up) {
    static_cast<void>(down);
    static_cast<void>(up);
  }
  /// Whether somebody who lost an output to another hears when that is free again.
  [[nodiscard]] virtual bool wakes_losers() const { return true; }

 private:
  template <class M>
  using Ins = std::vector<std::unique_ptr<In<M>>>;
  template <class M>
  using Outs = std::vector<std::unique_ptr<Out<M>>>;
  /// `wanted(request)`: the output that a request in front wants.
  template <class M, class F>
  void grant(Cycle now, Ins<M>& ins, Outs<M>& outs, Turns& turns, F&& wanted);

  CrossbarCore core_;
  Ins<RequestMessage> down_in_;
  Outs<ResponseMessage> up_out_;
  Outs<RequestMessage> down_out_;
  Ins<ResponseMessage> up_in_;
  Turns down_turns_, up_turns_;
};

}  // namespace warpline::test
