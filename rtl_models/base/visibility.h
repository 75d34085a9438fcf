#pragma once

/// Marks what a public header declares, and nothing else: in a shared library all the rest is hidden. Classes
/// bear it before their name, functions in front. What a class only declares for itself is internal again.
#define WARPLINE_PUBLIC [[gnu::visibility("default")]]
#define WARPLINE_INTERNAL [[gnu::visibility("hidden")]]
/// The same for `extern template class`, where C++ has no place for an attribute.
#define WARPLINE_PUBLIC_INSTANCE __attribute__((visibility("default")))
