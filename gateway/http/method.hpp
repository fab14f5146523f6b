#pragma once
#include <string_view>

namespace sandgate::http {

// `other` is any further method, see Request::other_method. No route has it.
enum class Method { get, head, post, put, patch, delete_, options, other };
std::string_view to_string(Method method);

}  // namespace sandgate::http
