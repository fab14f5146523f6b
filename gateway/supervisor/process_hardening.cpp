#include "gateway/supervisor/process_hardening.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

#include "gateway/core/error.hpp"

namespace sandgate {
namespace {

void demand(int result, const char* what) {
  if (result != 0)
    throw Error(ErrorCode::unavailable, std::string(what) + ": " + std::strerror(errno));
}

}  // namespace

void disable_core_dumps() {
  rlimit core{};
  demand(getrlimit(RLIMIT_CORE, &core), "limit of core files");
  // With a limit of 0 the kernel still pipes a dump to a core handler; with 1 it does not.
  const rlimit none{1, 1};
  if (setrlimit(RLIMIT_CORE, &none) == 0 || core.rlim_max == 0) return;
  throw Error(ErrorCode::unavailable, std::string("limit of core files: ") + std::strerror(errno));
}

void make_undumpable() { demand(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "not dumpable"); }

void set_no_new_privileges() { demand(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs"); }

}  // namespace sandgate
