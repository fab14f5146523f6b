#pragma once
#include "gateway/core/ids.hpp"
#include "gateway/http/request.hpp"
#include "gateway/http/response.hpp"

namespace sandgate::api {

// Awaits the answer of a route below /v1/sandboxes/{id}. A failure is replaced by its cause if the
// sandbox has ended or was paused, by translate_failure() of `judge`, a SandboxAccess or Lifecycle.
// A `forbidden` from inside the sandbox (file permissions, account) gets the detail "refused_by":
// "sandbox", which distinguishes it from a key that lacks permission.
template <class Judge>
Task<http::Response> with_failure_cause(Judge& judge, const http::Request& request,
                                        Task<http::Response> answer) {
  auto outcome = co_await attempt(std::move(answer));
  if (auto* response = std::get_if<http::Response>(&outcome)) co_return std::move(*response);
  Error failure = std::get<Error>(std::move(outcome));
  const auto id = SandboxId::parse(request.param("id"));
  if (!id || !request.caller.tenant) throw failure;
  auto judging = translate_failure(judge, *request.caller.tenant, *id, std::move(failure));
  Error told = co_await std::move(judging);
  if (told.code == ErrorCode::forbidden && !request.caller.suspended)
    told.details["refused_by"] = "sandbox";
  throw told;
}

}  // namespace sandgate::api
