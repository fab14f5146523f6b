#include "local/node/launch_failure.hpp"

#include <cstring>

namespace sandgate {

ErrorCode failure_code(const StepError& failure) {
  for (int number : {EAGAIN, ENOMEM, ENOSPC, EMFILE, ENFILE, EDQUOT, EUSERS, ETIMEDOUT})
    if (failure.number == number) return ErrorCode::no_capacity;
  if (failure.number == ESRCH) return ErrorCode::unavailable;  // somebody killed it meanwhile
  const bool in_the_way =
      std::string_view(failure.what()).starts_with("mount point") &&
      (failure.number == ENOTDIR || failure.number == ELOOP || failure.number == EEXIST);
  return in_the_way ? ErrorCode::invalid : ErrorCode::internal;
}

Error to_error(const StepError& failure) {
  return Error(failure_code(failure), std::string("the sandbox could not be made (") +
                                          failure.what() + ": " + std::strerror(failure.number) +
                                          ")");
}

}  // namespace sandgate
