#pragma once
#include <string_view>

#include "gateway/core/error.hpp"
#include "gateway/http/request.hpp"
#include "gateway/http/response.hpp"

// Our errors in the words of these clients. Pure.
namespace sandgate::compat::e2b {

enum class Shape {
  control,  // {"code":404,"message":…}
  file,  // the same, with statuses of its own
  unary,  // {"code":"not_found","message":…}: Connect
  stream,  // the same as the last envelope of a Connect stream, under 200
};

// How a request of the data plane is answered when it fails.
Shape shape_of(const http::Request& request);

// An answer with a problem document, reworded; other answers as they are. `sandbox` is named where
// it is not there (any more).
http::Response worded(http::Response answer, Shape shape, std::string_view sandbox);

// {"code":…,"message":…} as Connect has it.
Json connect_error(const Error& error);

}  // namespace sandgate::compat::e2b
