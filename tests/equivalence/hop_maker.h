#pragma once

#include "rtl_models/sim/channel.h"

namespace warpline::test {

/// Makes the hops of a netlist.
class HopMaker {
 public:
  virtual ~HopMaker() = default;
  virtual void hop(Out<RequestMessage>& request_out, In<RequestMessage>& request_in,
                   const ChannelParameters& request, Out<ResponseMessage>& response_out,
                   In<ResponseMessage>& response_in, const ChannelParameters& response) = 0;
};

class DirectHops final : public HopMaker {
 public:
  void hop(Out<RequestMessage>& request_out, In<RequestMessage>& request_in, const ChannelParameters& request,
           Out<ResponseMessage>& response_out, In<ResponseMessage>& response_in,
           const ChannelParameters& response) override {
    connect(request_out, request_in, request);
    connect(response_out, response_in, response);
  }
};

}  // namespace warpline::test
