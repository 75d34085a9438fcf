#include "platform/systemc/host_access_module.h"

#include <cstring>

#include "platform/systemc/pcie_system_module.h"

namespace warpline {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr unsigned kConfigRegister = 4;

bool in_config(std::uint64_t address) {
  return address - PcieSystemModule::kConfigWindow < PcieSystemModule::kConfigWindowBytes;
}

tlm::tlm_response_status status_of(TlpOutcome outcome) {
  switch (outcome) {
    case TlpOutcome::done: return tlm::TLM_OK_RESPONSE;
    case TlpOutcome::unsupported_request: return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    case TlpOutcome::completer_abort:
    case TlpOutcome::poisoned:
    case TlpOutcome::timeout: break;
  }
  return tlm::TLM_GENERIC_ERROR_RESPONSE;
}

}  // namespace

tlm::tlm_response_status shape_of(const tlm::tlm_generic_payload& p) {
  const std::uint64_t address = p.get_address(), bytes = p.get_data_length();
  if (!p.is_read() && !p.is_write()) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  if (p.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  const std::uint64_t unit = in_config(address) ? kConfigRegister : kPage;
  if (bytes == 0 || p.get_streaming_width() < bytes || address % unit + bytes > unit)
    return tlm::TLM_BURST_ERROR_RESPONSE;
  return tlm::TLM_OK_RESPONSE;
}

bool is_posted(const tlm::tlm_generic_payload& p) {
  return p.is_write() && !in_config(p.get_address());
}

HostBridge::Ticket submit(HostBridge& bridge, const tlm::tlm_generic_payload& p, Cycle at) {
  const std::uint64_t address = p.get_address();
  const unsigned bytes = p.get_data_length();
  if (!in_config(address)) {
    if (p.is_read()) return bridge.load(address, bytes, at);
    bridge.store(address, p.get_data_ptr(), bytes, at);
    return 0;
  }
  const FunctionId id{static_cast<std::uint16_t>((address - PcieSystemModule::kConfigWindow) >> 12U)};
  const auto offset = static_cast<unsigned>(address % kPage);
  if (p.is_read()) return bridge.load_config(id, offset - offset % kConfigRegister, at);
  std::uint32_t value = 0;
  std::memcpy(&value, p.get_data_ptr(), bytes);
  return bridge.store_config(id, offset, value, bytes, at);
}

void answer(tlm::tlm_generic_payload& p, const HostBridge::Answer& given) {
  const bool config = in_config(p.get_address());
  if (p.is_read() && given.outcome == TlpOutcome::done) {
    const std::size_t skipped = config ? p.get_address() % kConfigRegister : 0;
    WARPLINE_EXPECT(given.data.size() >= skipped + p.get_data_length(),
                    "an answer has all that was asked for");
    std::memcpy(p.get_data_ptr(), given.data.data() + skipped, p.get_data_length());
  } else if (p.is_read()) {
    std::memset(p.get_data_ptr(), 0xFF, p.get_data_length());
  }
  if (!config) p.set_response_status(status_of(given.outcome));
}

}  // namespace warpline
