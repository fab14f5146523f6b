#include "gateway/cli/commands/events.hpp"

#include <iostream>
#include <iterator>

#include "gateway/cli/event_reader.hpp"
#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

std::string hook_path(const std::string& name) { return "/v1/webhooks/" + percent_encode(name); }

std::string joined(const Json& texts) {
  std::string line;
  for (const Json& text : texts)
    if (text.is_string()) line += (line.empty() ? "" : ",") + text.get<std::string>();
  return line;
}

void print_event(const Context& context, const Event& event) {
  const Json document = parse_json(event.data);
  if (event.type == "error")
    throw Error(error_code_from(document.value("code", "")).value_or(ErrorCode::internal),
                printable(document.value("detail", "the stream failed")));
  if (context.json()) {
    context.console().out << document.dump() << std::endl;
    return;
  }
  std::string line = time_cell(document, "/time") + "  " + cell(document, "/type") + "  " +
                     cell(document, "/subject");
  if (const std::string reason = cell(document, "/data/failure/detail"); reason != "-")
    line += "  " + reason;
  context.console().out << printable(line) << std::endl;
}

void add_events(CLI::App& app, const ContextPtr& context) {
  struct Options {
    std::string sandbox, types;
  };
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("events", "Follow events as they happen");
  command->add_option("SANDBOX", options->sandbox, "Only this sandbox, from its beginning");
  command->add_option(
      "--types", options->types,
      "sandbox.running, budget.*, …, separated by commas; a trailing * matches the rest");
  context->on(*command, [context, options] {
    std::string path =
        options->sandbox.empty() ? "/v1/events" : sandbox_path(options->sandbox) + "/events";
    if (!options->types.empty()) path += "?types=" + percent_encode(options->types);
    EventReader reader([&](const Event& event) { print_event(*context, event); });
    Call call{.path = std::move(path), .accept = "text/event-stream", .silence = kStreamSilence};
    call.download = [&reader](std::string_view bytes) { reader.feed(bytes); };
    context->client().call(std::move(call));
    // A sandbox's events end with it, those of all only when the gateway stops.
    if (options->sandbox.empty())
      throw Error(ErrorCode::unavailable,
                  "the gateway ended the stream of events: start `sandgate events` again");
  });
}

// Whether an answer is about the member of the body that this pointer names.
bool is_about(const Json& problem, std::string_view pointer) {
  if (!problem.is_object()) return false;
  for (const Json& field : problem.value("fields", Json::array()))
    if (field.value("path", "") == pointer) return true;
  return false;
}

Json put_webhook(const Client& client, const std::string& name, const Json& body) {
  try {
    return client.put(hook_path(name), body);
  } catch (const Error& refusal) {
    if (body.contains("secret") || !is_about(refusal.details, "/secret")) throw;
    throw CLI::ValidationError("--secret-env",
                               "is required for a new webhook; `openssl rand -hex 32` makes a "
                               "secret, which the receiver needs too");
  }
}

void add_set_webhook(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string name, url, secret_env;
    std::vector<std::string> types;
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("set", "Send events to a URL");
  command->add_option("NAME", options->name, "The webhook")->required();
  command->add_option("URL", options->url, "The receiver's address")->required();
  command
      ->add_option("--type", options->types,
                   "Only this type; a trailing * matches the rest; repeatable")
      ->allow_extra_args(false);
  // Not a command line argument, because every account of the machine can read those.
  command->add_option("--secret-env", options->secret_env,
                      "Environment variable that holds the secret; without it, keep the old one");
  context->on(*command, [context, options] {
    Json body{{"url", options->url}};
    if (!options->types.empty()) body["types"] = options->types;
    if (!options->secret_env.empty()) {
      const auto secret = environment_variable(options->secret_env.c_str());
      if (!secret) throw Error(ErrorCode::invalid, "the environment has no " + options->secret_env);
      body["secret"] = *secret;
    }
    const Json answer = put_webhook(context->client(), options->name, body);
    context->show(answer,
                  [&](const Json&) { context->say("webhook " + options->name + " is set"); });
  });
}

void add_list_webhooks(CLI::App& group, const ContextPtr& context) {
  auto* command = group.add_subcommand("list", "List webhooks and the state of their deliveries");
  context->on(*command, [context] {
    const auto items = context->client().all("/v1/webhooks");
    context->show_items(items, [&](const std::vector<Json>& hooks) {
      Table table({"NAME", "STATE", ">PENDING", "TYPES", "URL", "LAST FAILURE"});
      for (const Json& hook : hooks)
        table.add({cell(hook, "/name"), cell(hook, "/state"), cell(hook, "/pending"),
                   joined(hook.value("types", Json::array())), cell(hook, "/url"),
                   cell(hook, "/last_failure/reason")});
      table.print(context->console(), "No webhooks. `sandgate webhooks set` adds one.");
    });
  });
}

void add_remove_webhook(CLI::App& group, const ContextPtr& context) {
  auto name = std::make_shared<std::string>();
  auto* command = group.add_subcommand("remove", "Remove a webhook");
  command->add_option("NAME", *name, "The webhook")->required();
  context->on(*command, [context, name] {
    context->client().remove(hook_path(*name));
    context->show(Json{{"removed", *name}},
                  [&](const Json&) { context->say("webhook " + *name + " is removed"); });
  });
}

}  // namespace

void add_event_commands(CLI::App& app, const ContextPtr& context) {
  add_events(app, context);
  auto* webhooks = app.add_subcommand("webhooks", "Manage webhooks, which receive events");
  webhooks->require_subcommand(1);
  add_set_webhook(*webhooks, context);
  add_list_webhooks(*webhooks, context);
  add_remove_webhook(*webhooks, context);
}

}  // namespace sandgate::cli
