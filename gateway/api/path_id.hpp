#pragma once
#include "gateway/core/ids.hpp"
#include "gateway/http/request.hpp"

namespace sandgate::api {

// The {id} in a request's path. Throws Error(not_found) for a malformed one: there can be no such
// `kind` ("sandbox").
template <class Id>
Id path_id(const http::Request& request, std::string_view kind) {
  const std::string& text = request.param("id");
  auto id = Id::parse(text);
  if (!id) throw Error::not_found(kind, text);
  return std::move(*id);
}

}  // namespace sandgate::api
