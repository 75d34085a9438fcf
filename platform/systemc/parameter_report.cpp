#include "platform/systemc/parameter_report.h"

#include <string>
#include <systemc>
#include <vector>

#include "platform/config/parameter_broker.h"
#include "rtl_models/base/text.h"

namespace warpline {

PublishedParameters::~PublishedParameters() {
  ParameterBroker::global().withdraw(module);
}

void report_unconsumed_presets() {
  static std::vector<std::string> reported;
  const std::vector<std::string> paths = ParameterBroker::global().unconsumed_preset_values();
  if (paths == reported) return;
  reported = paths;
  if (!paths.empty())
    SC_REPORT_WARNING("/warpline/parameters",
                      ("no module has read these preset values: " + joined(paths)).c_str());
}

}  // namespace warpline
