#include "gateway/api/naming_the_query.hpp"

namespace sandgate::api {

Task<http::Response> naming_the_query(Task<http::Response> answer) {
  try {
    co_return co_await std::move(answer);
  } catch (Error& error) {
    for (FieldProblem& field : error.fields)
      if (field.path.starts_with('/')) field.path[0] = '?';
    throw;
  }
}

}  // namespace sandgate::api
