#include "platform/cuda/abi/runtime.h"

#include <iterator>
#include <string>
#include <utility>

#include "platform/cuda/abi/runtime_calls.h"
#include "platform/cuda/shortcomings.h"

namespace warpline::cuda {
namespace runtime {
namespace {

const Functions& table() {
  static const Functions all = [] {
    Functions functions;
    for (const auto add :
         {add_devices, add_memory, add_pools, add_streams, add_kernels, add_occupancy, add_graphs, add_arrays,
          add_textures, add_driver, add_older, add_node_attributes, add_managed, add_batches, add_libraries})
      add(functions);
    return functions;
  }();
  return all;
}

constexpr std::string_view kNewestNames[] = {
#include "runtime_names.inc"
};
constexpr std::string_view kNames[] = {
#include "all_runtime_names.inc"
};

template <std::size_t number>
int refuse() {
  const std::string name(kNames[number]);
  Shortcomings::instance().note(name, name + " is not modelled: it returns cudaErrorNotSupported");
  return noted(Status::not_supported);
}

template <std::size_t... numbers>
Address refusal_of(std::size_t number, std::index_sequence<numbers...>) {
  static constexpr int (*kRefusals[])() = {&refuse<numbers>...};
  return reinterpret_cast<Address>(kRefusals[number]);
}

}  // namespace
}  // namespace runtime

Address runtime_function(std::string_view name, unsigned toolkit) {
  const auto without = [](std::string_view text, std::string_view end) {
    const bool has = text.size() > end.size() && text.substr(text.size() - end.size()) == end;
    return has ? text.substr(0, text.size() - end.size()) : text;
  };
  name = without(without(name, "_ptsz"), "_ptds");
  if (const Address found = runtime::table().find(name, toolkit)) return found;
  // What older toolkits call a second version is the only one of the newest.
  const std::string_view plain = without(name, "_v2");
  return plain == name ? nullptr : runtime::table().find(plain, kNewest);
}

Address refusal(std::size_t number) {
  return runtime::refusal_of(number, std::make_index_sequence<std::size(runtime::kNames)>());
}

std::size_t runtime_names() {
  return std::size(runtime::kNames);
}

std::size_t newest_names() {
  return std::size(runtime::kNewestNames);
}

std::string_view runtime_name_at(std::size_t number) {
  return runtime::kNames[number];
}

}  // namespace warpline::cuda
