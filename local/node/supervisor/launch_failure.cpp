#include "local/node/supervisor/launch_failure.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace sandgate {

bool is_lack_of_resources(const StepError& failure) {
  constexpr std::array kLacks{EAGAIN, ENOMEM, ENOBUFS,      ENOSPC,
                              EMFILE, ENFILE, ETOOMANYREFS, EDQUOT};
  return std::ranges::find(kLacks, failure.number) != kLacks.end();
}

ErrorCode failure_code(const StepError& failure) {
  if (is_lack_of_resources(failure) || failure.number == EUSERS || failure.number == ETIMEDOUT)
    return ErrorCode::no_capacity;
  if (failure.number == ESRCH) return ErrorCode::unavailable;  // somebody killed it meanwhile
  const bool in_the_way =
      std::string_view(failure.what()).starts_with("mount point") &&
      (failure.number == ENOTDIR || failure.number == ELOOP || failure.number == EEXIST);
  return in_the_way ? ErrorCode::invalid : ErrorCode::internal;
}

ErrorCode failure_code(const std::system_error& failure) {
  return failure_code(StepError(failure.what(), failure.code().value()));
}

Error to_error(const StepError& failure) {
  return Error(failure_code(failure), std::string("the sandbox could not be made (") +
                                          failure.what() + ": " + std::strerror(failure.number) +
                                          ")");
}

}  // namespace sandgate
