#pragma once

#include <memory>
#include <string>
#include <systemc>

#include "warpline/rtl_models/tlm/pins/pin_wires.h"

/// One direction: what comes from `from` goes through the RTL to `to`. Its ports are of whatever types
/// Verilator gives them, here bool, uint32_t, uint64_t and sc_bv<256>: the wires fit all.
template <class Rtl>
std::unique_ptr<Rtl> put_between(const std::string& name, warpline::PinChannel& from,
                                 warpline::PinChannel& to) {
  auto rtl = std::make_unique<Rtl>(name.c_str());
  rtl->clock(from.clock);
  rtl->in_valid(from.valid);
  rtl->in_ready(from.ready);
  rtl->in_command(from.command);
  rtl->in_address(from.address);
  rtl->in_sectors(from.sectors);
  rtl->in_beat(from.beat);
  rtl->in_last(from.last);
  rtl->in_identifier(from.identifier);
  rtl->in_origin(from.origin);
  rtl->in_error(from.error);
  rtl->in_data(from.data);
  rtl->in_strobes(from.strobes);
  rtl->out_valid(to.valid);
  rtl->out_ready(to.ready);
  rtl->out_command(to.command);
  rtl->out_address(to.address);
  rtl->out_sectors(to.sectors);
  rtl->out_beat(to.beat);
  rtl->out_last(to.last);
  rtl->out_identifier(to.identifier);
  rtl->out_origin(to.origin);
  rtl->out_error(to.error);
  rtl->out_data(to.data);
  rtl->out_strobes(to.strobes);
  return rtl;
}
