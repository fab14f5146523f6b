#include "gateway/http/method.hpp"

#include "gateway/core/words.hpp"

namespace sandgate::http {
namespace {

constexpr Words kMethodWords({Word{Method::get, "GET"}, Word{Method::head, "HEAD"},
                              Word{Method::post, "POST"}, Word{Method::put, "PUT"},
                              Word{Method::patch, "PATCH"}, Word{Method::delete_, "DELETE"},
                              Word{Method::options, "OPTIONS"}, Word{Method::other, "other"}});

}  // namespace

std::string_view to_string(Method method) { return kMethodWords.of(method); }

}  // namespace sandgate::http
