#pragma once
#include <string_view>

#include "gateway/core/error.hpp"
#include "gateway/http/request.hpp"
#include "gateway/http/response.hpp"

// Renders errors in E2B's formats. Pure.
namespace sandgate::compat::e2b {

enum class ErrorFormat {
  control,  // {"code":404,"message":…}
  file,  // the same, with some other statuses
  unary,  // {"code":"not_found","message":…}: Connect
  stream,  // as a unary error, in the last envelope of a Connect stream with status 200
};

// The format of a data-plane request's failures.
ErrorFormat error_format_of(const http::Request& request);

// Rewrites an answer that is a problem document; returns other answers unchanged. `sandbox` is
// named in the error of a sandbox that has ended.
http::Response format_error(http::Response answer, ErrorFormat format, std::string_view sandbox);

// {"code":…,"message":…} as in Connect.
Json connect_error(const Error& error);

}  // namespace sandgate::compat::e2b
