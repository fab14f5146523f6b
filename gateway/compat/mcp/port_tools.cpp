#include "gateway/compat/mcp/port_tools.hpp"

namespace sandgate::compat::mcp {
namespace {

Plan plan_expose(const Json& given) {
  ArgumentReader arguments(given);
  Plan plan = plan_in(arguments, Target::own, http::Method::post, "/ports");
  plan.repeatable = true;
  arguments->require("port");
  plan.body = {{"port", arguments->integer("port", 1, 65535).value_or(0)}};
  arguments.finish();
  return plan;
}

Json show_exposed(const Answer& answer, const Plan&) {
  const std::string url = answer.json.at("url"), token = answer.json.at("token");
  return {{"port", answer.json.at("port")},
          {"url", url},
          {"token", token},
          {"open_url", url + "?sandgate_token=" + token},
          {"expires_at", answer.json.at("expires_at")}};
}

}  // namespace

Tool expose_port_tool() {
  return {.name = "expose_port",
          .title = "Expose a port",
          .description =
              "Makes a server that listens on a port in a sandbox reachable over HTTP and "
              "WebSocket. open_url is for a browser; programs send the token in the "
              "header X-Sandgate-Token to url. Whoever has the token may connect.",
          .input = arguments_schema(
              Target::own, R"({"port": {"type": "integer", "minimum": 1, "maximum": 65535}})",
              {"port"}),
          .output = result_schema(Target::own, R"({"port": {"type": "integer"},
            "url": {"type": "string"}, "token": {"type": "string"},
            "open_url": {"type": "string"}, "expires_at": {"type": ["string", "null"]}})",
                                  {"port", "url", "token", "open_url"}),
          .hints = {{"readOnlyHint", false}, {"destructiveHint", false}, {"openWorldHint", true}},
          .plan = plan_expose,
          .show = show_exposed};
}

}  // namespace sandgate::compat::mcp
