#include "gateway/api/profile_request.hpp"

#include "gateway/core/document_reader.hpp"
#include "gateway/core/field_text.hpp"
#include "registry/document_fields.hpp"
#include "registry/profile_parse.hpp"

namespace sandgate::api {
namespace {

bool is_yaml(const http::Request& request) {
  const auto type = request.headers.find("Content-Type").value_or("");
  const auto media = trimmed(type.substr(0, type.find(';')));
  for (const auto* name : {"application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"})
    if (equal_ignoring_case(media, name)) return true;
  return false;
}

// YAML that does not say so would get the JSON parser's opinion of its first letter.
void check_is_json(const std::string& body) {
  const size_t begin = body.find_first_not_of(" \t\r\n\xEF\xBB\xBF");  // a byte order mark too
  if (begin == std::string::npos || body[begin] != '{')
    throw Error::invalid("", "must be a JSON object, or YAML with Content-Type: application/yaml");
}

// Reads {version, percent} of a canary or a shadow.
template <class T>
std::optional<T> share_from(ObjectReader& parent, const char* name, Problems& problems) {
  const Json* object = parent.object(name);
  if (!object) return std::nullopt;
  ObjectReader reader(*object, problems, parent.path_of(name));
  for (const auto* member : {"version", "percent"}) reader.require(member);
  T share{.version = reader.integer("version", 1, INT32_MAX).value_or(0),
          .percent = reader.integer("percent", 0, 100).value_or(0)};
  reader.finish();
  return share;
}

}  // namespace

Profile profile_from(const http::Request& request, bool of_tenant) {
  const std::string& name = request.param("name");
  if (!is_name(name)) throw Error::invalid("", kNameRule);
  const bool yaml = is_yaml(request);
  if (!yaml) check_is_json(request.body);
  Profile profile =
      yaml ? parse_profile_yaml(request.body, name) : parse_profile_json(request.body, name);
  if (of_tenant && profile.workspace != Workspace::isolated)
    throw Error::invalid("/workspace", "only the operator's profiles may open the host's files");
  return profile;
}

std::string channel_to_move(const http::Query& query) {
  const auto channel = query.find("channel");
  if (!channel) return std::string(kStable);
  if (*channel == "none") return "";
  if (!is_channel_name(*channel))
    throw Error::invalid("/channel", "must be a name that begins with a letter, or \"none\"");
  return *channel;
}

ProfileChannel channel_from(const Json& body) {
  DocumentReader reader(body);
  reader.require("version");
  ProfileChannel channel{.version = reader.integer("version", 1, INT32_MAX).value_or(0)};
  channel.canary = share_from<Canary>(reader, "canary", reader.problems());
  channel.shadow = share_from<Shadow>(reader, "shadow", reader.problems());
  reader.finish_or_throw();
  return channel;
}

ProfileChannel rollback_from(const Json& body) {
  DocumentReader reader(body);
  reader.require("version");
  const auto version = reader.integer("version", 1, INT32_MAX);
  reader.finish_or_throw();
  return {.version = *version};
}

ProfileReference selector_parameter(const http::Query& query, std::string_view parameter,
                                    const std::string& profile) {
  const auto text = query.find(parameter);
  const auto reference = text ? profile_reference_from(profile + "@" + *text) : std::nullopt;
  if (!reference)
    throw Error::invalid("/" + std::string(parameter), "must be a version's number or a channel");
  return *reference;
}

}  // namespace sandgate::api
