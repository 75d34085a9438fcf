#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace warpline {

// The commands of `warpline`. Each function adds one to `app`, with its options and its help. The command
// that the parser finds is done when all words have been read, and `status` becomes its exit status.

/// `warpline run`: kernels on a GPU. `typed`: the words of the command line, for the statistics.
void add_run(CLI::App& app, int& status, const std::vector<std::string>& typed);
/// `warpline config`: GPU presets and their keys.
void add_config(CLI::App& app, int& status);
/// `warpline calibrate`: published measurements of a GPU, repeated on its model.
void add_calibrate(CLI::App& app, int& status);
/// `warpline counters`: a page of Markdown with the path, unit and meaning of every counter of a GPU.
void add_counters(CLI::App& app, int& status);
/// `warpline cctl`: one CCTL or CCTLL instruction, as text or as its encoding: what it does to which cache,
/// or why it is illegal, with kCheckFailed.
void add_cctl(CLI::App& app, int& status);
/// `warpline check`: which memory instructions of PTX the assembler accepts, and why not the others, with
/// kCheckFailed.
void add_check(CLI::App& app, int& status);
/// `warpline explain`: what a memory instruction does at each cache of a GPU, in words. kCheckFailed where
/// the assembler refuses it.
void add_explain(CLI::App& app, int& status);
/// `warpline litmus`: what litmus tests show on the platform, and what the memory model says of it.
/// kCheckFailed where a forbidden outcome was seen.
void add_litmus(CLI::App& app, int& status);
/// `warpline exec`: an unmodified CUDA program, with our libraries in the place of CUDA's. Does not return
/// where the program could be started: its exit status is the program's.
void add_exec(CLI::App& app, int& status);
/// `warpline sweep`, `export` and `diff`: studies of many runs, their results, and what two runs differ in.
void add_sweep(CLI::App& app, int& status);
void add_export(CLI::App& app, int& status);
void add_diff(CLI::App& app, int& status);
/// `warpline optimise`: the best points of a study. kCheckFailed where none meets the constraints.
void add_optimise(CLI::App& app, int& status);
/// `warpline report`: a page about the results of a study.
void add_report(CLI::App& app, int& status);
/// `warpline profile`: what `run --profile` found, for people.
void add_profile(CLI::App& app, int& status);
/// `warpline metrics`: what a run has counted, by the names of Nsight Compute.
void add_metrics(CLI::App& app, int& status);
/// `warpline watch`: a run of `run --live` in another process: how it is, and wishes to it.
void add_watch(CLI::App& app, int& status);
/// `warpline serve`: devices, served to emulators and other programs by the vfio-user protocol, until it is
/// interrupted.
void add_serve(CLI::App& app, int& status);
/// `warpline client`: a client of such a device, without an emulator.
void add_client(CLI::App& app, int& status);
/// `warpline regs` and `control`: what is served in another process, as its control socket has it.
void add_regs(CLI::App& app, int& status);
void add_control(CLI::App& app, int& status);
/// `warpline policy`: cache-policy descriptors, as `createpolicy` makes and `.L2::cache_hint` takes them. The
/// first line printed is the descriptor, then come its fields, one `name: value` a line. kCheckFailed for a
/// malformed descriptor.
void add_policy(CLI::App& app, int& status);

/// Makes the options of `command`, for its parser to fill; then run() of them is the command's status.
template <class Options>
Options& options_of(CLI::App& command, int& status, int (*run)(const Options&)) {
  const auto options = std::make_shared<Options>();
  command.callback([options, run, &status] { status = run(*options); });
  return *options;
}

}  // namespace warpline
