#include "gateway/api/profiles.hpp"

#include "gateway/api/audit.hpp"
#include "gateway/api/named_resource.hpp"
#include "gateway/api/profile_request.hpp"
#include "registry/document_diff.hpp"

namespace sandgate::api {
namespace {

Json head_json(const ProfileHead& head) {
  Json channels = Json::object();
  for (const auto& [name, channel] : head.channels) channels[name] = to_json(channel);
  const auto stable = head.channels.find(std::string(kStable));
  return {{"name", head.name},
          {"owner", head.owner ? "tenant" : "operator"},
          {"version", stable == head.channels.end() ? Json() : Json(stable->second.version)},
          {"description", head.description ? Json(*head.description) : Json()},
          {"latest", head.latest},
          {"channels", std::move(channels)},
          {"created_at", to_rfc3339(head.created_at)}};
}

Json version_json(const ProfileHead& head, const ListedVersion& version) {
  Json channels = Json::array();
  for (const auto& [name, channel] : head.channels)
    if (channel.version == version.version) channels.push_back(name);
  return {{"version", version.version},
          {"created_at", to_rfc3339(version.created_at)},
          {"created_by", version.created_by},
          {"channels", std::move(channels)}};
}

}  // namespace

void ProfileHandlers::add_routes(http::Routes& routes) {
  using http::Method;
  NamedRoutes named(routes, *this, http::Permission::read_sandboxes,
                    http::Permission::write_profiles);
  named.add(Method::get, "/v1/profiles", &ProfileHandlers::list);
  named.add(Method::put, "/v1/profiles/{name}", &ProfileHandlers::publish);
  named.add(Method::get, "/v1/profiles/{name}", &ProfileHandlers::get);
  named.add(Method::delete_, "/v1/profiles/{name}", &ProfileHandlers::archive);
  named.add(Method::get, "/v1/profiles/{name}/versions", &ProfileHandlers::versions);
  named.add(Method::get, "/v1/profiles/{name}/diff", &ProfileHandlers::diff);
  named.add(Method::put, "/v1/profiles/{name}/channels/{channel}", &ProfileHandlers::point);
  named.add(Method::post, "/v1/profiles/{name}/rollback", &ProfileHandlers::rollback);
}

Task<http::Response> ProfileHandlers::list(http::Request& request) {
  const PageRequest page = read_page(request, 1);
  auto reading = profiles_.list(request.caller.tenant, name_after(page), page.rows_to_fetch());
  const auto rows = co_await std::move(reading);
  co_return http::Response::json(200, page_by_name(page, rows, head_json));
}

Task<http::Response> ProfileHandlers::publish(http::Request& request) {
  const auto owner = request.caller.tenant;
  const Profile profile = profile_from(request, owner.has_value());
  auto publishing =
      profiles_.publish(owner, profile, channel_to_move(request.query), actor_of(request));
  const Published published = co_await std::move(publishing);
  resolver_.changed(owner, profile.name);
  const auto& version = published.version;
  co_return http::Response::json(
      200, {{"name", profile.name},
            {"version", version.version},
            {"changed", published.changed},
            {"created_at", to_rfc3339(version.created_at)},
            {"warnings", warn_ ? warn_(profile, owner) : std::vector<std::string>{}},
            {"profile", to_json(version.profile)}});
}

Task<ProfileHead> ProfileHandlers::head_of(const http::Request& request, std::string name) {
  auto finding = profiles_.find(request.caller.tenant, name);
  auto head = co_await std::move(finding);
  if (!head) throw Error::not_found("profile", name);
  co_return std::move(*head);
}

Task<ProfileHead> ProfileHandlers::kept_head_of(const http::Request& request, std::string name) {
  auto finding = profiles_.find_with_archived(request.caller.tenant, name);
  auto head = co_await std::move(finding);
  if (!head) throw Error::not_found("profile", name);
  co_return std::move(*head);
}

Task<ProfileVersion> ProfileHandlers::version_of(ProfileHead head, ProfileReference reference) {
  const auto channel = head.channels.find(reference.channel);
  const bool known = reference.version || channel != head.channels.end();
  const int64_t wanted = reference.version ? *reference.version
                         : known           ? channel->second.version
                                           : 0;
  auto reading = profiles_.version(head.id, wanted);
  auto version = co_await std::move(reading);
  if (!version) throw no_such_version(reference);
  co_return std::move(*version);
}

Task<http::Response> ProfileHandlers::get(http::Request& request) {
  const auto reference = profile_reference_from(request.param("name"));
  if (!reference) throw Error::not_found("profile", request.param("name"));
  auto finding = reference->version ? kept_head_of(request, reference->name)
                                    : head_of(request, reference->name);
  const ProfileHead head = co_await std::move(finding);
  const ProfileVersion version = co_await version_of(head, *reference);
  Json body = head_json(head);
  body["version"] = version.version;
  body["description"] = version.profile.description;
  body["created_at"] = to_rfc3339(version.created_at);
  body["profile"] = to_json(version.profile);
  co_return http::Response::json(200, body);
}

Task<http::Response> ProfileHandlers::archive(http::Request& request) {
  const auto owner = request.caller.tenant;
  const std::string name = request.param("name");
  auto archiving = profiles_.archive(owner, name, actor_of(request));
  co_await std::move(archiving);
  resolver_.changed(owner, name);
  co_return http::Response::empty(204);
}

Task<http::Response> ProfileHandlers::versions(http::Request& request) {
  const PageRequest page = read_page(request, 1);
  const ProfileHead head = co_await kept_head_of(request, request.param("name"));
  std::optional<int64_t> below;
  if (!page.after.empty()) below = page.integer_after(0);
  auto reading = profiles_.versions(head.id, below, page.rows_to_fetch());
  const auto rows = co_await std::move(reading);
  const auto render = [&](const ListedVersion& version) { return version_json(head, version); };
  const auto key = [](const ListedVersion& version) {
    return std::vector{std::to_string(version.version)};
  };
  co_return http::Response::json(200, page_json(page, rows, render, key));
}

Task<http::Response> ProfileHandlers::diff(http::Request& request) {
  const ProfileHead head = co_await kept_head_of(request, request.param("name"));
  const auto from_reference = selector_parameter(request.query, "from", head.name);
  const auto to_reference = selector_parameter(request.query, "to", head.name);
  const ProfileVersion from = co_await version_of(head, from_reference);
  const ProfileVersion to = co_await version_of(head, to_reference);
  Json items = Json::array();
  for (const auto& difference : sandgate::diff(to_json(from.profile), to_json(to.profile)))
    items.push_back(to_json(difference));
  co_return http::Response::json(200, {{"name", head.name},
                                       {"from", from.version},
                                       {"to", to.version},
                                       {"items", std::move(items)}});
}

Task<http::Response> ProfileHandlers::move_channel(http::Request& request, std::string channel,
                                                   ProfileChannel target) {
  const auto owner = request.caller.tenant;
  auto moving = profiles_.set_channel(owner, request.param("name"), std::move(channel),
                                      std::move(target), actor_of(request));
  const ProfileHead head = co_await std::move(moving);
  resolver_.changed(owner, head.name);
  co_return http::Response::json(200, head_json(head));
}

Task<http::Response> ProfileHandlers::point(http::Request& request) {
  const std::string channel = request.param("channel");
  if (!is_channel_name(channel))
    throw Error::invalid("", "a channel's name begins with a letter and is not 'none'");
  const ProfileChannel target = channel_from(request.json());
  if (target.shadow && !request.caller.is_operator())
    throw Error(ErrorCode::forbidden, "only the operator sets a shadow: nobody is billed for it");
  return move_channel(request, channel, target);
}

Task<http::Response> ProfileHandlers::rollback(http::Request& request) {
  return move_channel(request, std::string(kStable), rollback_from(request.json()));
}

}  // namespace sandgate::api
