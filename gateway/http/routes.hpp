#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/http/permission.hpp"
#include "gateway/http/request.hpp"
#include "gateway/http/response.hpp"

namespace sandgate::http {

enum class BodyMode {
  none,  // none is meant: only an empty one is accepted, or an object without members
  buffered,  // read whole before the handler runs, up to max_body_bytes
  streamed,  // handed over as Request::stream
};

using Handler = std::function<Task<Response>(Request&)>;

struct Route {
  Method method;
  // "/v1/sandboxes/{id}/exec"; a last "{rest...}" takes all remaining segments.
  std::string pattern;
  Permission permission;
  BodyMode body = BodyMode::none;
  Handler handler;
  size_t max_body_bytes = 0;  // buffered only; more is too_large. 0: the default of all JSON bodies
  bool idempotent_create = false;  // honours Idempotency-Key
  bool resumable = false;  // with idempotent_create: the handler resumes from Request::earlier
  // Adds to a 201 the Location `location_prefix` + `id`. Empty: the created resource cannot be
  // fetched.
  std::string_view location_prefix = {};
  bool secret_answer = false;  // seals stored answers and forbids caching
  bool no_min_pace = false;  // streamed only: no minimum pace, as for typed keys
  bool starts_work = false;  // a GET that costs something, as a terminal starts a shell
  bool streams = false;  // always answers with a stream, whatever the request accepts
};

// The routing table, also the source of permissions and Allow headers. Literal segments take
// precedence over {parameters}, and these over {rest...}. GET routes also answer HEAD.
class Routes {
 public:
  // Throws Error(internal) if the pattern is malformed or already registered.
  void add(Route route);
  const std::vector<Route>& all() const { return routes_; }

  struct Match {
    const Route* route = nullptr;  // null: no such path, or not with this method
    std::vector<Method> allowed;  // the path's methods, if only the method does not match
    std::map<std::string, std::string, std::less<>> params;
  };
  // `path` is percent-encoded as received: an encoded slash does not split a segment. Parameters
  // are returned decoded; a segment that cannot be decoded matches no route.
  Match match(Method method, std::string_view path) const;

 private:
  struct Node {
    std::map<std::string, size_t, std::less<>> literals;
    size_t parameter = 0, rest = 0;  // 0: none; the root is never a child
    std::map<Method, size_t> routes;  // indexes into routes_
  };
  struct Search;

  size_t child_for(size_t node, std::string_view segment);
  void walk(size_t node, size_t depth, Search& search) const;
  void arrive(const Node& node, Search& search) const;
  void fill_params(Search& search, Match& match) const;

  std::vector<Route> routes_;
  std::vector<Node> nodes_ = std::vector<Node>(1);
};

}  // namespace sandgate::http
