#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "providers/retries.hpp"
#include "providers/transport/rest_api.hpp"

namespace sandgate {

// RestApi::create for a resource with a unique name chosen by Sandgate. If the vendor refuses with
// a code in `taken`, the name may be in use by an earlier attempt at the same create: returns what
// `earlier()`, a task of an optional, finds; it is asked with retry_until_answered(). Otherwise
// returns `read(answer)`. `taken` must outlive the task.
template <class Read, class Find>
auto create_named(RestApi& api, RestCall call, std::span<const ErrorCode> taken, Read read,
                  Find earlier) -> std::invoke_result_t<Find> {
  call.deadline = kCreateDeadline;
  auto outcome = co_await attempt(api.call(std::move(call)));
  const auto* error = std::get_if<Error>(&outcome);
  if (!error) co_return read(std::get<Json>(outcome));
  if (std::find(taken.begin(), taken.end(), error->code) == taken.end())
    throw refused_create(*error);
  auto found = co_await retry_until_answered(earlier);
  if (!found) throw refused_create(*error);
  co_return found;
}

}  // namespace sandgate
