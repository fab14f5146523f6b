#include "local/node/launch_failure.hpp"

#include <cstring>

namespace sandgate {

Error to_error(const StepError& failure) {
  ErrorCode code = ErrorCode::internal;
  for (int number : {EAGAIN, ENOMEM, ENOSPC, EMFILE, ENFILE, EDQUOT, EUSERS, ETIMEDOUT}) {
    if (failure.number == number) code = ErrorCode::no_capacity;
  }
  const bool in_the_way =
      std::string_view(failure.what()).starts_with("mount point") &&
      (failure.number == ENOTDIR || failure.number == ELOOP || failure.number == EEXIST);
  if (in_the_way) code = ErrorCode::invalid;  // the image's or snapshot's own
  if (failure.number == ESRCH) code = ErrorCode::unavailable;  // somebody killed it meanwhile
  return Error(code, std::string("the sandbox could not be made (") + failure.what() + ": " +
                         std::strerror(failure.number) + ")");
}

}  // namespace sandgate
