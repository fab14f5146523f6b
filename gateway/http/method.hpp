#pragma once
#include <string_view>

namespace sandgate::http {

enum class Method { get, head, post, put, patch, delete_, options };
std::string_view to_string(Method method);

}  // namespace sandgate::http
