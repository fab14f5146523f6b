#include "gateway/compat/mcp/sandbox_tools.hpp"

namespace sandgate::compat::mcp {
namespace {

constexpr std::string_view kSummary = R"({
  "sandbox_id": {"type": "string"}, "state": {"type": "string"}, "profile": {"type": "string"},
  "created_at": {"type": "string"}, "expires_at": {"type": ["string", "null"]},
  "ended_reason": {"type": "string"}})";

std::string profile_of(const Json& sandbox) {
  const Json& profile = sandbox.at("profile");
  return profile.at("name").get<std::string>() + "@" +
         std::to_string(profile.at("version").get<int64_t>());
}

Json summary(const Json& sandbox) {
  Json summary{{"sandbox_id", sandbox.at("id")},
               {"state", sandbox.at("state")},
               {"profile", profile_of(sandbox)},
               {"created_at", sandbox.at("created_at")},
               {"expires_at", sandbox.value("expires_at", Json())}};
  if (const auto reason = sandbox.find("ended_reason"); reason != sandbox.end())
    summary["ended_reason"] = *reason;
  return summary;
}

Plan plan_create(const Json& given) {
  ArgumentReader arguments(given);
  Plan plan{.method = http::Method::post, .path = "/v1/sandboxes"};
  plan.repeatable = plan.needs_profile = true;
  plan.body = Json::object();
  const auto profile = arguments->text("profile", {0, 200});
  if (profile && !profile->empty()) plan.body["profile"] = *profile;
  arguments.finish();
  return plan;
}

Json show_created(const Answer& answer, const Plan&) { return summary(answer.json); }

Plan plan_sandboxes(const Json& given) {
  ArgumentReader arguments(given);
  Plan plan{.method = http::Method::get, .path = "/v1/sandboxes"};
  const auto state = arguments->word("state", {"creating", "running", "pausing", "paused",
                                               "resuming", "stopping", "stopped", "failed"});
  plan.query = {{"state", state.value_or("running")}};
  if (auto cursor = arguments->text("cursor", {0, 1024}); cursor && !cursor->empty())
    plan.query.emplace_back("cursor", std::move(*cursor));
  arguments.finish();
  return plan;
}

Json show_sandboxes(const Answer& answer, const Plan&) {
  Json items = Json::array();
  for (const Json& sandbox : answer.json.at("items")) items.push_back(summary(sandbox));
  return {{"sandboxes", std::move(items)}, {"next_cursor", answer.json.at("next_cursor")}};
}

Plan plan_kill(const Json& given) {
  ArgumentReader arguments(given);
  Plan plan = plan_in(arguments, Target::own_if_there, http::Method::delete_, "");
  arguments.finish();
  return plan;
}

// 202: the backend did not answer, and the kill is retried.
Json show_killed(const Answer& answer, const Plan&) {
  return {{"state", answer.status == 204 ? "stopped" : "stopping"}};
}

}  // namespace

Tool sandbox_create_tool() {
  return {.name = "sandbox_create",
          .title = "Make a sandbox",
          .description =
              "Makes a further sandbox, for what must be apart from the session's own "
              "or needs another profile. It lives until its time is over or "
              "sandbox_kill ends it.",
          .input = arguments_schema(
              Target::nowhere,
              R"({"profile": {"type": "string", "description": "Name of a profile: what the )"
              R"(sandbox may use and reach. No tool lists them: give one that you were told of. )"
              R"(Left out: that of sessions' own sandboxes."}})",
              {}),
          .output = result_schema(Target::nowhere, kSummary, {"sandbox_id", "state", "profile"}),
          .hints = {{"readOnlyHint", false}, {"destructiveHint", false}, {"openWorldHint", false}},
          .plan = plan_create,
          .show = show_created};
}

Tool sandbox_list_tool() {
  const std::string list = R"({"sandboxes": {"type": "array", "items": {"type": "object",
    "properties": )" + std::string(kSummary) +
                           R"(}}, "next_cursor": {"type": ["string", "null"]}})";
  return {
      .name = "sandbox_list",
      .title = "List sandboxes",
      .description = "Lists the sandboxes of this tenant in one state, newest first, 50 at once.",
      .input = arguments_schema(Target::nowhere, R"({"state": {"type": "string",
            "enum": ["creating", "running", "pausing", "paused", "resuming", "stopping", "stopped",
            "failed"], "description": "running if left out."}, "cursor": {"type": "string",
            "description": "next_cursor of the list before."}})",
                                {}),
      .output = result_schema(Target::nowhere, list, {"sandboxes", "next_cursor"}),
      .hints = {{"readOnlyHint", true}, {"openWorldHint", false}},
      .plan = plan_sandboxes,
      .show = show_sandboxes};
}

Tool sandbox_kill_tool() {
  return {.name = "sandbox_kill",
          .title = "End a sandbox",
          .description = "Ends a sandbox and all that is in it.",
          .input = arguments_schema(Target::own_if_there, "{}", {}),
          .output = result_schema(Target::own_if_there, R"({"state": {"type": "string",
            "enum": ["stopped", "stopping"]}})",
                                  {"state"}),
          .hints = {{"readOnlyHint", false},
                    {"destructiveHint", true},
                    {"idempotentHint", true},
                    {"openWorldHint", false}},
          .plan = plan_kill,
          .show = show_killed};
}

}  // namespace sandgate::compat::mcp
