#include "gateway/http/target.hpp"

#include <algorithm>

#include "gateway/core/error.hpp"
#include "gateway/core/field_text.hpp"

namespace sandgate::http {
namespace {

bool strip_scheme(std::string_view& target, std::string_view scheme) {
  if (!starts_with_ignoring_case(target, scheme)) return false;
  target.remove_prefix(scheme.size());
  return true;
}

}  // namespace

std::optional<std::string_view> authority_of(std::string_view target) {
  if (!strip_scheme(target, "http://") && !strip_scheme(target, "https://")) return std::nullopt;
  return target.substr(0, target.find_first_of("/?#"));
}

Target split_target(std::string_view target) {
  const auto authority = authority_of(target);
  if (authority) target = target.substr(target.find("//") + 2 + authority->size());
  // A fragment must not be sent in a request.
  if (target.find('#') != std::string_view::npos)
    throw Error(ErrorCode::invalid, "the request target has a fragment");
  if (authority && !target.starts_with('/'))
    return {"/", target.substr(std::min<size_t>(1, target.size()))};
  if (target != "*" && !target.starts_with('/'))
    throw Error(ErrorCode::invalid, "the request target is not a path");
  const size_t end = std::min(target.find('?'), target.size());
  return {target.substr(0, end), target.substr(std::min(end + 1, target.size()))};
}

}  // namespace sandgate::http
