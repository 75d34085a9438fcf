#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "rtl_models/crossbar/crossbar.h"
#include "tests/equivalence/mesh_shape.h"

namespace warpline::test {

/// The clock of `ratio` as the model has it.
inline ClockDomain domain_of(Ratio ratio) {
  return {ratio.numerator, ratio.denominator};
}

/// Passes requests down and answers up as soon as it can: takes a request at most every `gap` cycles.
class Relay final : public Component {
 public:
  Relay(Engine& engine, std::string name, ClockDomain domain, Cycle gap)
      : Component(engine, std::move(name), domain),
        from_above(*this, "from_above"),
        to_above(*this, "to_above"),
        to_below(*this, "to_below"),
        from_below(*this, "from_below"),
        gap_(gap) {}

  Cycle tick(Cycle now) override;
  [[nodiscard]] bool busy() const override { return false; }
  void explain(std::vector<Wait>&) const override {}

  In<RequestMessage> from_above;
  Out<ResponseMessage> to_above;
  Out<RequestMessage> to_below;
  In<ResponseMessage> from_below;

 private:
  Cycle gap_;
  Cycle takes_from_ = 0;
};

/// Holds up to `capacity` requests, takes one at most every `gap` cycles, answers in order. Each is held for
/// 1 to `longest_delay` cycles, a number drawn for each as it is taken. In one tick it answers first, and
/// takes then.
class Server : public Component {
 public:
  Server(Engine& engine, std::string name, const MeshShape& shape, std::uint64_t seed)
      : Component(engine, std::move(name), domain_of(shape.server_clock)),
        in(*this, "from_above"),
        out(*this, "to_above"),
        random_(seed),
        gap_(shape.server_gap),
        capacity_(shape.capacity),
        longest_delay_(shape.longest_delay) {}

  Cycle tick(Cycle now) override;
  [[nodiscard]] bool busy() const override { return !held_.empty(); }
  void explain(std::vector<Wait>& waits) const override { waits.push_back({name(), "its delay"}); }

  In<RequestMessage> in;
  Out<ResponseMessage> out;

 protected:
  Random& random() { return random_; }

 private:
  struct Held {
    Request* request = nullptr;
    Cycle due = 0;
  };
  Random random_;
  Cycle gap_;
  std::size_t capacity_;
  Cycle longest_delay_;
  Cycle takes_from_ = 0;
  std::deque<Held> held_;
};

/// The ports of what stands between clients and servers.
class Switch {
 public:
  virtual ~Switch() = default;
  virtual In<RequestMessage>& from_client(unsigned i) = 0;
  virtual Out<ResponseMessage>& to_client(unsigned i) = 0;
  virtual Out<RequestMessage>& to_server(unsigned i) = 0;
  virtual In<ResponseMessage>& from_server(unsigned i) = 0;
};

/// Makes what a mesh is built of. What is made here is the model's own crossbar, and servers as described
/// above.
class MeshParts {
 public:
  virtual ~MeshParts() = default;
  virtual std::unique_ptr<Switch> make_switch(Engine& engine, const MeshShape& shape);
  virtual std::unique_ptr<Server> make_server(Engine& engine, const MeshShape& shape, unsigned i);
};

}  // namespace warpline::test
