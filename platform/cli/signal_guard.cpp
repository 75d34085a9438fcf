#include "platform/cli/signal_guard.h"

namespace warpline {
namespace {

volatile std::sig_atomic_t stop = 0;
volatile std::sig_atomic_t listing = 0;

void on_interrupt(int) {
  stop = 1;
}
void on_user(int) {
  listing = 1;
}

}  // namespace

SignalGuard::SignalGuard() {
  stop = listing = 0;
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &interrupt_);
  action.sa_handler = on_user;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, &user_);
}

SignalGuard::~SignalGuard() {
  sigaction(SIGINT, &interrupt_, nullptr);
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
