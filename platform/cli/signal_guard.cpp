#include "platform/cli/signal_guard.h"

#include <unistd.h>

#include <cerrno>

namespace warpline {
namespace {

volatile std::sig_atomic_t stop = 0;  ///< how often it was asked for
volatile std::sig_atomic_t listing = 0;

void on_interrupt(int signal) {
  stop = stop + 1;
  if (stop < 2) return;
  constexpr char kText[] = "\nstopping: what is there is being written; once more to give it up\n";
  const int error = errno;
  static_cast<void>(!::write(STDERR_FILENO, kText, sizeof kText - 1));
  errno = error;
  struct sigaction kill = {};
  kill.sa_handler = SIG_DFL;
  sigaction(signal, &kill, nullptr);
}
void on_user(int) {
  listing = 1;
}

}  // namespace

SignalGuard::SignalGuard() {
  stop = listing = 0;
  struct sigaction action = {};
  action.sa_handler = on_user;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, &user_);
}

void SignalGuard::stop_on_interrupt(bool termination) {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &interrupt_);
  takes_interrupts_ = true;
  if (!termination) return;
  sigaction(SIGTERM, &action, &termination_);
  takes_termination_ = true;
}

SignalGuard::~SignalGuard() {
  if (takes_termination_) sigaction(SIGTERM, &termination_, nullptr);
  if (takes_interrupts_) sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGUSR1, &user_, nullptr);
}

bool SignalGuard::stop_wanted() {
  return stop != 0;
}

bool SignalGuard::take_listing_wanted() {
  const bool wanted = listing != 0;
  listing = 0;
  return wanted;
}

}  // namespace warpline
