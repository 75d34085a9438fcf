// The main program of a test that links SystemC. SystemC's library brings a main of its own, which would
// greet before it calls sc_main.
#include <gmock/gmock.h>

#include <cstdlib>
#include <systemc>
#ifdef WARPLINE_SANITIZE
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace {

/// SystemC tells the address sanitizer on which stack the program is whenever it switches threads, but not
/// that it is on the first one where a simulation ends in between: the search for leaks would look through a
/// stack that is gone.
void back_on_first_stack() {
#ifdef WARPLINE_SANITIZE
  pthread_attr_t attributes;
  void* bottom = nullptr;
  std::size_t bytes = 0;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) std::abort();
  ::pthread_attr_getstack(&attributes, &bottom, &bytes);
  ::pthread_attr_destroy(&attributes);
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, bottom, bytes);
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

}  // namespace

int sc_main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}

int main(int argc, char** argv) {
  ::setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  const int status = sc_core::sc_elab_and_sim(argc, argv);
  back_on_first_stack();
  return status;
}
