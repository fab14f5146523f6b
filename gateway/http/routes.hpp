#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/http/request.hpp"
#include "gateway/http/response.hpp"
#include "gateway/http/role.hpp"

namespace sandgate::http {

// What a caller must be allowed to do. The table of roles is in routes.cpp, and only there.
enum class Permission {
  open,  // no key needed
  read,  // any key: the tenant, its usage and events
  read_sandboxes,  // all but billing: sandboxes, profiles, deployments, secrets' names
  use_sandboxes,  // owner, admin, developer: sandboxes, exec, files
  write_profiles,  // owner, admin, developer
  write_secrets,  // owner, admin, developer
  administer_tenant,  // owner, admin: keys, deployments, webhooks of the own tenant
  read_audit,  // owner, admin
  read_billing,  // owner, admin, billing, viewer: usage, invoices, ledger
  write_billing,  // owner, admin, billing
  operate,  // the operator only
};

bool allows(Role role, Permission permission);

enum class BodyMode {
  none,  // a body is refused unless empty
  buffered,  // read whole before the handler runs, up to max_body_bytes
  streamed,  // handed over as Request::stream
};

using Handler = std::function<Task<Response>(Request&)>;

struct Route {
  Method method;
  std::string pattern;  // "/v1/sandboxes/{id}/exec"; a last segment "{rest...}" takes what is left
  Permission permission;
  BodyMode body = BodyMode::none;
  Handler handler;
  size_t max_body_bytes = 0;  // buffered only; too_large beyond. 0: as all JSON bodies
  bool idempotent_create = false;  // honours Idempotency-Key
  bool takes_up = false;  // with it: the handler goes on from Request::earlier
  // Of what it makes: a 201 gets a Location of this and its `id`. Empty: it cannot be fetched.
  std::string_view made_below = {};
  bool secret_answer = false;  // with it: the kept answer is sealed, and no cache may keep it
  bool at_leisure = false;  // streamed only: what comes may come slowly, as keys are typed
};

// The one table: routing, permissions, Allow headers and the OpenAPI test all come from it.
// Literal segments win over {parameters}, those over {rest...}. HEAD is answered by GET routes.
class Routes {
 public:
  // Throws Error(internal) when the pattern is malformed or taken.
  void add(Route route);
  const std::vector<Route>& all() const { return routes_; }

  struct Match {
    const Route* route = nullptr;  // null: no such path, or no such method on it
    std::vector<Method> allowed;  // methods the path has, when the method is wrong
    std::map<std::string, std::string, std::less<>> params;
  };
  // `path` as sent, percent-encoded: an encoded slash does not split a segment. Parameters come
  // decoded; a segment that does not decode matches no route.
  Match match(Method method, std::string_view path) const;

 private:
  struct Node {
    std::map<std::string, size_t, std::less<>> literals;
    size_t parameter = 0, rest = 0;  // 0: none, because the root is nobody's child
    std::map<Method, size_t> routes;  // into routes_
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
