#pragma once
#include <map>
#include <string>
#include <vector>

#include "gateway/http/query.hpp"

namespace sandgate::http {

struct Route;

// Which query parameters each route takes. Others are mistakes, like unknown members of a body: a
// misspelt filter would select everything, and a misspelt option would not take effect.
class QueryNames {
 public:
  // A name that ends in '.' stands for all that begin with it. `route` must outlive this object.
  void set(const Route& route, std::vector<std::string> names);
  // Throws Error(invalid) with the path "/name" of each parameter that the route does not take. A
  // route that was never set takes any.
  void check(const Route& route, const Query& query) const;

 private:
  std::map<const Route*, std::vector<std::string>> names_;
};

}  // namespace sandgate::http
