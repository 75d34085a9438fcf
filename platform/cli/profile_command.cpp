#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/cli/exit_status.h"
#include "platform/cli/shared_options.h"
#include "platform/profile/profile_file.h"
#include "platform/profile/profile_view.h"

namespace warpline {
namespace {

struct ProfileOptions {
  std::string path;
  ProfileViewOptions view;
};

int run_show(const ProfileOptions& o) {
  const Result<ProfileFile> profile = read_profile(o.path);
  if (!profile.ok()) return bad_input(profile.faults());
  const Result<std::string> text = profile_view(profile.value(), o.view);
  if (!text.ok()) return bad_input(text.faults());
  print_result(text.value());
  return kDone;
}

}  // namespace

void add_profile(CLI::App& app, int& status) {
  CLI::App& command =
      *app.add_subcommand("profile", "Shows what `run --profile` found: where warps spent their cycles");
  command.require_subcommand(1);
  CLI::App& show =
      *command.add_subcommand("show", "Prints a profile: stall reasons, then lines, hottest first");
  ProfileOptions& o = options_of(show, status, run_show);
  show.add_option("PROFILE", o.path, "the file that `warpline run --profile` wrote")->required();
  show.add_option("--kernel", o.view.kernel, "only kernels whose name matches this pattern");
  show.add_option("--lines", o.view.lines, "so many lines of each kernel")
      ->check(kWholeNumber)
      ->capture_default_str();
  show.add_flag("--source", o.view.source, "all lines, in the order of the program");
  show.add_flag("--cuda", o.view.cuda, "lines of CUDA instead of PTX, of programs compiled with -lineinfo");
  show.footer("Example: warpline profile show profile.json --source");
}

}  // namespace warpline
