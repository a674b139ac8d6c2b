// Linked into each shared library of the project, as an object of its own: statics of the library, LLVM's among them,
// are never destroyed.
//
// Workers and threads of the engine may be inside the library when the process exits, and nothing stops them: an
// instruction table or a pass registry that dies under them is a crash at exit. No static of ours has anything to do at
// the end, and the libraries are never unloaded (-z nodelete), so there is nothing to be lost.

/// What compilers call to have a static destroyed. This one, hidden, is found before the C library's.
extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void *), void *, void *) { return 0; }
