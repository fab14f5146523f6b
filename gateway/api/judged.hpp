#pragma once
#include "gateway/core/ids.hpp"
#include "gateway/http/request.hpp"
#include "gateway/http/response.hpp"

namespace sandgate::api {

// The answer of a route below /v1/sandboxes/{id}. That it failed because the sandbox ended is what
// its client hears then: see SandboxAccess::judge, which `judge` has. What is forbidden in there (a
// file's permissions, an account) is told apart from what the caller's key may not do by
// "refused_by": "sandbox".
template <class Judge>
Task<http::Response> judged(Judge& judge, const http::Request& request,
                            Task<http::Response> answer) {
  auto outcome = co_await attempt(std::move(answer));
  if (auto* response = std::get_if<http::Response>(&outcome)) co_return std::move(*response);
  Error failure = std::get<Error>(std::move(outcome));
  const auto id = SandboxId::parse(request.param("id"));
  if (!id || !request.caller.tenant) throw failure;
  auto judging = judge.judge(*request.caller.tenant, *id, std::move(failure));
  Error told = co_await std::move(judging);
  if (told.code == ErrorCode::forbidden && !request.caller.suspended)
    told.details["refused_by"] = "sandbox";
  throw told;
}

}  // namespace sandgate::api
