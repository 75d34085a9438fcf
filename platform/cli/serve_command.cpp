#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/cli/output_check.h"
#include "platform/cli/request_check.h"
#include "platform/cli/shared_options.h"
#include "platform/cli/signal_guard.h"
#include "platform/machine/device_log.h"
#include "platform/machine/pcie_system.h"
#include "platform/observe/pcie_watcher.h"
#include "platform/serve/access_watches.h"
#include "platform/serve/control.h"
#include "platform/serve/control_client.h"
#include "platform/serve/record_stream.h"
#include "platform/serve/recorded_machine.h"
#include "platform/serve/served_machine.h"
#include "platform/serve/served_system.h"
#include "platform/serve/serving.h"
#include "rtl_models/base/counter.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/files.h"
#include "rtl_models/pcie/packets/function_description.h"
#include "rtl_models/sim/engine.h"

namespace warpline {
namespace {

struct ServeRequest {
  GpuChoice gpu;
  std::vector<std::string> sockets, disks;
  bool timed = false;
  double pace = 0;
  std::uint64_t patience_s = 30;
  std::string access_log;
  std::string control;
  std::string record, replay;
  std::vector<std::string> map;
  WatchOptions observation;  ///< serve() reads its window
  std::optional<std::string> window;
  const CLI::App* command = nullptr;
  bool quiet = false;
};

/// A device that is served.
struct ServedDevice {
  enum class Kind : std::uint8_t { peer, nvme, gpu };
  std::string name;  ///< "peer[1]"
  Kind kind = Kind::peer;
  unsigned index = 0;  ///< among those of its kind
  std::string path;
};

/// "peer" is peer[0].
std::string named_in_full(const std::string& device) {
  return device.find('[') == std::string::npos ? indexed(device, 0) : device;
}

/// "peer[1]=/tmp/socket"; "peer" is peer[0], and so is a path alone.
Result<ServedDevice> device_of(const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::string device = equals == std::string::npos ? "peer" : word.substr(0, equals);
  ServedDevice out;
  out.path = equals == std::string::npos ? word : word.substr(equals + 1);
  const std::size_t bracket = device.find('[');
  const std::string kind = device.substr(0, bracket);
  std::optional<unsigned> index = 0;
  if (bracket != std::string::npos)
    index = device.back() == ']'
                ? number_from<unsigned>(device.substr(bracket + 1, device.size() - bracket - 2))
                : std::nullopt;
  unsigned most = kMaxPeers;
  if (kind == "nvme") {
    out.kind = ServedDevice::Kind::nvme;
    most = kMaxNvme;
  } else if (kind == "gpu") {
    out.kind = ServedDevice::Kind::gpu;
    most = kMaxGpus;
  } else if (kind != "peer") {
    most = 0;
  }
  if (!index || *index >= most)
    return Diagnostic::about(
        "--socket " + word, fmt::format("there is no device \"{}\"", device),
        fmt::format("peer[0] to peer[{}], nvme[0] to nvme[{}] and gpu[0] to gpu[{}], as in nvme[0]=/tmp/nvme",
                    kMaxPeers - 1, kMaxNvme - 1, kMaxGpus - 1));
  if (out.path.empty()) return Diagnostic::about("--socket " + word, "it names no file");
  out.index = *index;
  out.name = indexed(kind, out.index);
  return out;
}

Result<std::vector<ServedDevice>> devices_of(const std::vector<std::string>& words) {
  std::vector<ServedDevice> devices;
  for (const std::string& word : words) {
    const auto device = device_of(word);
    if (!device.ok()) return device.faults();
    for (const ServedDevice& other : devices)
      if (other.name == device.value().name)
        return Diagnostic::about("--socket " + word, other.name + " has a socket already",
                                 "one client at a time has a device");
    devices.push_back(device.value());
  }
  return devices;
}

/// The system with the devices that are served, and those that the configuration has besides.
PcieSystemParameters system_of(PcieSystemParameters parameters, const std::vector<ServedDevice>& devices,
                               const std::vector<std::string>& disks) {
  for (const ServedDevice& device : devices) {
    if (device.kind == ServedDevice::Kind::gpu) continue;
    unsigned& count = device.kind == ServedDevice::Kind::nvme ? parameters.nvme.count : parameters.peers;
    count = std::max(count, device.index + 1);
  }
  if (disks.empty()) return parameters;
  NvmeParameters& nvme = parameters.nvme;
  nvme.count = std::max(nvme.count, 1U);
  nvme.namespaces = std::max(nvme.namespaces, static_cast<unsigned>(disks.size()));
  nvme.files = joined(disks, ",");
  return parameters;
}

/// The configuration of a machine, in which GPUs are functions, too, if one is served.
GpuConfig config_of(GpuConfig config, const std::vector<ServedDevice>& devices,
                    const std::vector<std::string>& disks) {
  config.pcie_system = system_of(config.pcie_system, devices, disks);
  for (const ServedDevice& device : devices) {
    if (device.kind != ServedDevice::Kind::gpu) continue;
    config.pcie.registers = true;
    config.gpus = std::max(config.gpus, device.index + 1);
  }
  // Devices take the place of plain memory.
  config.peer_bytes = 0;
  return config;
}

/// The root port behind which a device is.
unsigned port_of(const PcieSystem& system, const ServedDevice& device) {
  switch (device.kind) {
    case ServedDevice::Kind::peer: break;
    case ServedDevice::Kind::nvme: return system.peers() + device.index;
    case ServedDevice::Kind::gpu: return system.port_of_gpu(device.index);
  }
  return device.index;
}

std::string summary(const std::function<void(CounterVisitor&)>& counters, const AccessWatches& watches) {
  std::string out = text_of(counters_of(counters));
  for (const std::string& finding : watches.findings()) out += finding + "\n";
  return out;
}

/// A BAR that clients may map: "peer[0].bar[4]".
struct MappedBar {
  std::string word;
  const ServedDevice* device;
  unsigned bar;
};

Result<std::vector<MappedBar>> mapped_bars(const std::vector<std::string>& words,
                                           const std::vector<ServedDevice>& devices) {
  std::vector<MappedBar> bars;
  for (const std::string& word : words) {
    const std::size_t dot = word.rfind(".bar[");
    const auto bar = dot == std::string::npos || word.back() != ']'
                         ? std::nullopt
                         : number_from<unsigned>(word.substr(dot + 5, word.size() - dot - 6));
    if (!bar || *bar >= kBars)
      return Diagnostic::about("--map " + word, "it names no BAR", "DEVICE.bar[N], such as peer[0].bar[4]");
    const std::string name = named_in_full(word.substr(0, dot));
    const auto device = std::find_if(devices.begin(), devices.end(),
                                     [&name](const ServedDevice& d) { return d.name == name; });
    if (device == devices.end())
      return Diagnostic::about("--map " + word, "no such device is served",
                               "one of these: " + joined(names_of(devices)));
    for (const MappedBar& other : bars)
      if (other.device == &*device && other.bar == *bar)
        return Diagnostic::about("--map " + word, "it is named twice");
    bars.push_back({word, &*device, *bar});
  }
  return bars;
}

/// What went on in a file, if one is asked for. An exit status.
int write_access_log(const std::string& path, const PcieSystem& system) {
  if (path.empty()) return kDone;
  const bool json = std::filesystem::path(path).extension() == ".json";
  const std::string failed = write_file_atomically(path, device_log(system, {}, json));
  return failed.empty() ? kDone : bad_input(Diagnostics{Diagnostic::about(path, failed)});
}

/// The files that are namespaces, and those that are written.
Diagnostics file_problems(const ServeRequest& request, OutputCheck& outputs) {
  for (const std::string& disk : request.disks) {
    if (disk.empty() || disk.find(',') != std::string::npos)
      return {Diagnostic::about("--disk", fmt::format("\"{}\" is no name that a disk can have here", disk),
                                "a file without commas in its path")};
    outputs.add_input(disk, "a disk");
  }
  outputs.add_output("--access-log", request.access_log);
  outputs.add_output("--record", request.record);
  outputs.add_output("--wave", request.observation.wave);
  outputs.add_output("--timeline", request.observation.timeline);
  return outputs.faults();
}

/// What is written of a system while it is served, or does again what was recorded.
class Observation {
 public:
  /// Begins, if anything is wanted. Says what is wrong; an exit status.
  [[nodiscard]] int start(PcieSystem& system, const WatchOptions& options) {
    if (!options.wanted()) return kDone;
    watcher_ = make_pcie_watcher(system, options);
    const Diagnostics faults = watcher_->start();
    return faults.empty() ? kDone : bad_input(faults);
  }
  /// The files are complete, however the run ended. Likewise.
  [[nodiscard]] int finish() {
    Diagnostics faults;
    if (watcher_)
      for (const std::string& failure : watcher_->finish()) faults.push_back(Diagnostic::about({}, failure));
    return faults.empty() ? kDone : bad_input(faults);
  }

 private:
  std::unique_ptr<PcieWatcher> watcher_;
};

/// Reads the options of what is to be written of the run. Says what is wrong; an exit status.
int check_observation(ServeRequest& request) {
  WatchOptions& o = request.observation;
  if (!o.wanted() && (request.window || !o.probes.empty()))
    return bad_input("--window and --probe bound --wave and --timeline, and neither is given");
  return request.window ? read_window(*request.window, o.window) : kDone;
}

/// What passes between devices and clients, on its way to a file. It is written as it happens, not in one
/// step at the end: a record is most wanted of what did not end well.
class Recording {
 public:
  /// Why it cannot be begun; empty: it is.
  [[nodiscard]] std::string begin(const std::string& path, const RecordedMachine& machine) {
    path_ = path;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code error;
    if (!folder.empty()) std::filesystem::create_directories(folder, error);
    errno = 0;
    file_.open(path, std::ios::binary | std::ios::trunc);
    if (!file_) return std::string("cannot be written: ") + std::strerror(errno);
    writer_.emplace(file_, machine.to_text(), [this](int failed) {
      why_ = std::string("cannot be written: ") + (failed == 0 ? "the host refuses" : std::strerror(failed));
      if (recording_)
        print_message("warpline serve: " + path_ + ": " + why_ + "; what follows is not recorded\n");
    });
    recording_ = true;
    return why_;
  }
  [[nodiscard]] RecordWriter& tape() { return *writer_; }
  /// Why not all of it could be written; empty: it is all there.
  [[nodiscard]] const std::string& failure() const { return why_; }

 private:
  std::string path_, why_;
  bool recording_ = false;
  std::ofstream file_;
  std::optional<RecordWriter> writer_;
};

/// A machine like the recorded one does it all again, without sockets.
int replay_record(const ServeRequest& request) {
  for (const char* option :
       {"--socket", "--map", "--timed", "--pace", "--patience", "--gpu", "--set", "--control", "--record"})
    if (request.command->count(option) != 0)
      return bad_input(fmt::format("{} says nothing of a replay", option),
                       "the record has the machine in it, and all that was done to it and when");
  OutputCheck outputs;
  outputs.add_input(request.replay, "the record");
  if (const Diagnostics faults = file_problems(request, outputs); !faults.empty()) return bad_input(faults);
  errno = 0;
  std::ifstream file(request.replay, std::ios::binary);
  std::error_code unknown;
  if (!file || std::filesystem::is_directory(request.replay, unknown))
    return bad_input(Diagnostics{Diagnostic::about(
        request.replay, std::string("cannot be read: ") + std::strerror(file ? EISDIR : errno))});
  const auto opened = RecordReader::open(file, request.replay);
  if (!opened.ok()) return bad_input(opened.faults());
  RecordReader& reader = *opened.value();
  auto parsed = RecordedMachine::parse(request.replay, reader.machine());
  if (!parsed.ok()) return bad_input(parsed.faults());
  RecordedMachine& recorded = parsed.value();
  if (const Diagnostics faults = recorded.give_disks(request.disks); !faults.empty())
    return bad_input(faults);
  if (const std::string problem = ServedSystem::problem_of(recorded.gpu); !problem.empty())
    return bad_input(problem);

  ServedSystem all(recorded.gpu);
  PcieSystem& system = all.system();
  // What was seen so far is in the files, whoever ends it.
  SignalGuard guard;
  guard.stop_on_interrupt(true);
  Observation observation;
  if (const int failed = observation.start(system, request.observation); failed != kDone) return failed;
  ServedMachine machine(system, all.gpus());
  const AccessWatches watches(system);
  const ReplayEnd end = replay(machine, reader, SignalGuard::stop_wanted);
  const int observed = observation.finish();
  if (!request.quiet) {
    const auto counters = [&](CounterVisitor& visitor) {
      visit_counters("serve", machine.counters(), visitor);
      machine.visit(visitor);
    };
    print_result(summary(counters, watches));
    print_message(fmt::format("{} replayed, up to cycle {}{}\n", counted(end.events, "event"),
                              grouped(system.engine().now()),
                              !end.difference.empty() || !end.faults.empty() ? ""
                              : end.stopped                                  ? ": interrupted"
                              : end.ended                                    ? ": all as recorded"
                                          : ": all as recorded, until the recording was cut off"));
  }
  if (const int failed = write_access_log(request.access_log, system); failed != kDone) return failed;
  if (observed != kDone) return observed;
  if (!end.faults.empty()) return bad_input(end.faults);
  if (end.stopped) return end_results(kInterrupted);
  if (end.difference.empty()) return end_results(kDone);
  print_error("the replay differs from the record first at " + end.difference);
  return end_results(kCheckFailed);
}

int serve(const ServeRequest& asked) {
  ServeRequest request = asked;
  if (const int wrong = check_observation(request); wrong != kDone) return wrong;
  if (!request.replay.empty()) return replay_record(request);
  if (request.sockets.empty())
    return bad_input("--socket is missing: where are devices served?",
                     "--socket PATH, or --replay FILE, which serves nobody");
  auto config = request.gpu.load();
  if (!config.ok()) return bad_input(config.faults());
  const auto found = devices_of(request.sockets);
  if (!found.ok()) return bad_input(found.faults());
  const std::vector<ServedDevice>& devices = found.value();
  if (!request.map.empty() && !request.record.empty())
    return bad_input("--map and --record do not go together",
                     "nobody sees what is done to memory that is mapped, so it could not be done again");
  OutputCheck outputs;
  if (const Diagnostics faults = file_problems(request, outputs); !faults.empty()) return bad_input(faults);

  const GpuConfig built = config_of(config.value(), devices, request.disks);
  if (const std::string problem = ServedSystem::problem_of(built); !problem.empty())
    return bad_input(problem);
  const unsigned mhz = built.clocks.fastest();
  std::optional<RecordedMachine> recorded;
  if (!request.record.empty()) {
    auto of = RecordedMachine::of(built);
    if (!of.ok()) return bad_input(of.faults());
    recorded = std::move(of.value());
  }
  Recording recording;
  ServedSystem all(built);
  PcieSystem& system = all.system();
  Observation observation;
  if (const int failed = observation.start(system, request.observation); failed != kDone) return failed;
  ServedMachine machine(system, all.gpus());
  const auto mapped = mapped_bars(request.map, devices);
  if (!mapped.ok()) return bad_input(mapped.faults());
  for (const MappedBar& one : mapped.value())
    if (const std::string why = machine.map(port_of(system, *one.device), one.bar); !why.empty())
      return bad_input(Diagnostics{Diagnostic::about("--map " + one.word, why)});
  const AccessWatches watches(system);

  Serving::Options options;
  for (const ServedDevice& device : devices)
    options.sockets.push_back({port_of(system, device), device.path});
  options.pace = request.pace;
  options.control = request.control;
  options.watches = &watches;
  options.server.patience = std::chrono::seconds(request.patience_s);
  options.server.log = [](const std::string& sentence) {
    print_message("warpline serve: " + sentence + "\n");
  };
  const auto serving = Serving::listen(machine, mhz, options);
  if (!serving.ok()) return bad_input(serving.faults());
  if (recorded) {
    if (const std::string why = recording.begin(request.record, *recorded); !why.empty())
      return bad_input(Diagnostics{Diagnostic::about(request.record, why)});
    machine.tape_by(&recording.tape());
  }
  machine.set_loose(!request.timed);
  if (!request.quiet) {
    for (const ServedDevice& device : devices)
      print_message(fmt::format("{} is served at {}\n", device.name, device.path));
    if (!request.control.empty())
      print_message(fmt::format("warpline control {} looks at it\n", request.control));
    print_message(fmt::format("{}, {}; Ctrl-C ends it\n", request.timed ? "timed" : "loosely timed",
                              request.pace == 0 ? std::string("as fast as it can")
                                                : fmt::format("{} s of model time a second", request.pace)));
  }
  serving.value()->run({SIGINT, SIGTERM});
  machine.end_tape();
  const int observed = observation.finish();
  if (!request.quiet) {
    print_result(summary([&](CounterVisitor& visitor) { serving.value()->visit(visitor); }, watches));
  }
  if (const int failed = write_access_log(request.access_log, system); failed != kDone) return failed;
  if (observed != kDone) return observed;
  if (!recording.failure().empty())
    return bad_input(Diagnostics{Diagnostic::about(request.record, recording.failure(),
                                                   "what could be written of it can be replayed")});
  return end_results(kDone);
}

}  // namespace

void add_serve(CLI::App& app, int& status) {
  CLI::App& command = *app.add_subcommand(
      "serve", "Serves devices to emulators such as QEMU, by the vfio-user protocol, until Ctrl-C");
  ServeRequest& r = options_of(command, status, serve);
  command
      .add_option("--socket", r.sockets,
                  "where a device is served: PATH, or DEVICE=PATH, such as peer[1]=/tmp/peer1, "
                  "nvme[0]=/tmp/nvme or gpu[0]=/tmp/gpu; may be repeated")
      ->allow_extra_args(false)
      ->type_name("[DEVICE=]PATH");
  command
      .add_option("--disk", r.disks,
                  "a file that is a namespace of nvme[0], the next for each; otherwise it has memory; may be "
                  "repeated; of a replay: each that was one, as it was")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command
      .add_option(
          "--map", r.map,
          "a BAR with memory of the device, which clients may map: accesses of it are no messages then, "
          "take no model time and are in no log; may be repeated")
      ->allow_extra_args(false)
      ->type_name("DEVICE.bar[N]");
  command.add_flag("--timed", r.timed,
                   "every packet in its cycle, for measuring; otherwise loosely timed, for bringing up");
  command
      .add_option("--pace", r.pace,
                  "seconds of model time in a second of ours; otherwise the model is as fast as it can be")
      ->check(CLI::Validator(
          [](std::string& text) {
            double pace = 0;
            const char* const end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, pace);
            const bool fits = stop == end && error == std::errc{} && pace != 0 && Serving::takes_pace(pace);
            return fits ? std::string() : "\"" + text + "\" is no number from 1e-9 to 1000";
          },
          ""))
      ->type_name("FACTOR");
  command
      .add_option("--patience", r.patience_s,
                  "seconds that a client may take to answer when it is asked for memory that is not mapped")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  r.gpu.add_gpu(command);
  r.gpu.add_set(command,
                "key.path=value changes it, such as pcie_system.peer.scatter_entries=64; may be repeated");
  command.add_option("--access-log", r.access_log,
                     "writes every access that arrived at devices to this file: lines of text, or JSON if it "
                     "ends in .json");
  command.add_option("--wave", r.observation.wave,
                     "writes what the blocks held, cycle by cycle, to this VCD file (GTKWave: waveforms/)");
  command.add_option("--timeline", r.observation.timeline,
                     "writes what queue devices and NVMe controllers did, their commands, accesses and "
                     "interrupts, to this JSON file "
                     "(Chrome trace events)");
  command
      .add_option(
          "--probe", r.observation.probes,
          "of --wave and --timeline: only blocks and ports whose name matches, such as \"peer[0]*\"; may be "
          "repeated")
      ->allow_extra_args(false);
  command.add_option_function<std::string>(
      "--window", [&r](const std::string& text) { r.window = text; },
      "of --wave and --timeline: only cycles FIRST:LAST");
  command
      .add_option("--control", r.control,
                  "a socket where `warpline regs` and `warpline control` look at the run, and change it")
      ->type_name("PATH");
  command
      .add_option("--record", r.record,
                  "writes all that passes between devices and clients to this file, as it happens")
      ->type_name("FILE");
  command
      .add_option(
          "--replay", r.replay,
          "serves nobody: does again what is recorded in this file, without emulators, as fast as it can, "
          "and says where something comes out otherwise")
      ->type_name("FILE");
  r.command = &command;
  command.add_flag("--quiet", r.quiet, "no summary");
  command.footer("Example: warpline serve --socket /tmp/peer --access-log peer.log");
}

}  // namespace warpline
