#include "gateway/api/with_query_paths.hpp"

namespace sandgate::api {

Task<http::Response> with_query_paths(Task<http::Response> answer) {
  try {
    co_return co_await std::move(answer);
  } catch (Error& error) {
    for (FieldProblem& field : error.fields)
      if (field.path.starts_with('/')) field.path[0] = '?';
    throw;
  }
}

}  // namespace sandgate::api
