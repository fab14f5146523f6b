#include "gateway/compat/e2b/create_request.hpp"

#include <algorithm>
#include <set>

#include "gateway/compat/e2b/egress_rules.hpp"
#include "gateway/core/document_reader.hpp"
#include "registry/document_fields.hpp"

namespace sandgate::compat::e2b {
namespace {

// Members that have no counterpart here. An empty value requests nothing.
constexpr std::string_view kUnknownHere[] = {"mcp", "iam", "volumeMounts"};
const std::set<std::string, std::less<>> kKnownRules{"allowPublicTraffic", "allowOut", "denyOut"};

// "base", "base:stable" or a snapshot's id.
void read_template(ObjectReader& reader, CreateRequest& request) {
  reader.require("templateID");
  std::string name = reader.text("templateID", {.min = 1, .max = 256}).value_or("");
  request.snapshot = SnapshotId::parse(name);
  if (request.snapshot) return;
  request.profile = profile_reference(std::move(name));
}

void read_network(ObjectReader& parent, Problems& problems, CreateRequest& request) {
  const auto internet = parent.boolean("allow_internet_access");
  const Json nothing = Json::object(), *object = parent.object("network");
  ObjectReader reader(object ? *object : nothing, problems, parent.path_of("network"));
  request.public_ports = reader.boolean("allowPublicTraffic").value_or(true);
  Json policy = egress_rules_from(reader, internet);
  if (!policy.is_null()) request.body["network"] = std::move(policy);
  for (const auto& [name, value] : (object ? *object : nothing).items())
    if (!kKnownRules.contains(name) && !is_unset(reader.any(name)))
      reader.problem(name, "is not offered here");
}

void read_life(ObjectReader& reader, Problems& problems, CreateRequest& request) {
  request.timeout = reader.integer("timeout", 1, kMaxSeconds);
  request.auto_pause = reader.boolean("autoPause");
  if (reader.boolean("autoPauseMemory") == false)
    reader.problem("autoPauseMemory", "what a pause keeps is decided by the backend");
  const Json* resume = reader.object("autoResume");
  if (!resume) return;
  ObjectReader inner(*resume, problems, reader.path_of("autoResume"));
  request.auto_resume = inner.boolean("enabled");
  inner.finish();
}

}  // namespace

std::string profile_reference(std::string name) {
  std::replace(name.begin(), name.end(), ':', '@');
  return name;
}

CreateRequest create_request_from(const Json& body) {
  DocumentReader reader(body);
  if (!body.is_object()) reader.problems().throw_if_any();
  CreateRequest request;
  read_template(reader, request);
  read_life(reader, reader.problems(), request);
  read_network(reader, reader.problems(), request);
  // Every sandbox requires a token, so `secure` makes no difference.
  reader.boolean("secure");
  if (const Json* metadata = reader.object("metadata")) request.body["metadata"] = *metadata;
  if (const Json* env = reader.object("envVars")) request.body["env"] = *env;
  for (const std::string_view name : kUnknownHere)
    if (!is_unset(reader.any(name))) reader.problem(name, "is not offered here");
  reader.finish_or_throw();
  return request;
}

void check_profile_allows(const Profile& profile, const CreateRequest& request) {
  Problems problems;
  const bool pauses = profile.on_expiry == EndAction::pause;
  if (request.auto_pause && *request.auto_pause != pauses)
    problems.add("/autoPause", std::string("is the profile's to say: its on_expiry is ") +
                                   std::string(to_string(profile.on_expiry)));
  if (request.auto_resume && *request.auto_resume != profile.auto_resume)
    problems.add("/autoResume/enabled",
                 std::string("is the profile's to say: its auto_resume is ") +
                     (profile.auto_resume ? "true" : "false"));
  problems.throw_if_any();
}

}  // namespace sandgate::compat::e2b
