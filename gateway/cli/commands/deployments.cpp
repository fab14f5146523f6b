#include "gateway/cli/commands/deployments.hpp"

#include <unistd.h>

#include <iostream>
#include <iterator>

#include "gateway/cli/commands/provider_trial.hpp"
#include "gateway/cli/decision.hpp"
#include "gateway/cli/options/deployment_settings.hpp"
#include "gateway/cli/options/pairs.hpp"
#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

std::string deployment_path(const std::string& name) {
  return "/v1/deployments/" + percent_encode(name);
}

void print_deployments(const Context& context) {
  context.show_items(context.client().all("/v1/providers"), [&](const auto& items) {
    Table table(
        {"DEPLOYMENT", "PROVIDER", "ISOLATION", "ENABLED", "HEALTH", ">PRICE/HOUR", ">P50 MS"});
    for (const Json& item : items)
      table.add({cell(item, "/deployment"), cell(item, "/provider"),
                 cell(item, "/descriptor/isolation"), cell(item, "/enabled"), health_cell(item),
                 cell(item, "/price_per_hour"), rounded_cell(item, "/latency_p50_ms")});
    table.print(context.console(), "No deployments. `sandgate deployments set` adds one.");
  });
}

// A command of both groups, since readers look for it in either.
void add_deployment_list(CLI::App& group, const ContextPtr& context) {
  auto* command = group.add_subcommand("list", "List deployments with their health and price");
  context->on(*command, [context] { print_deployments(*context); });
}

// What is stored of a deployment, or what is offered of one that the configuration provides.
Json deployment_named(const Client& client, const std::string& name) {
  try {
    return client.get(deployment_path(name));
  } catch (const Error& error) {
    if (error.code != ErrorCode::not_found) throw;
    for (const Json& offered : client.all("/v1/providers"))
      if (cell(offered, "/deployment") == name) return offered;
    throw;
  }
}

void add_deployment_show(CLI::App& group, const ContextPtr& context) {
  auto name = std::make_shared<std::string>();
  auto* command = group.add_subcommand(
      "show", "Show a deployment: what `set` stored of it, without its credentials");
  command->add_option("NAME", *name, "The deployment")->required();
  context->on_operator(
      *command, [context, name] { context->print(deployment_named(context->client(), *name)); });
}

// Returns the stored deployment that the caller may change. A tenant is shown the operator's
// without settings.
std::optional<Json> own_deployment(const Client& client, const std::string& name) {
  try {
    Json stored = client.get(deployment_path(name));
    if (stored.contains("settings")) return stored;
  } catch (const Error& error) {
    if (error.code != ErrorCode::not_found) throw;
  }
  return std::nullopt;
}

// Returns what a PUT has to say so that nothing changes: credentials that it does not name stay.
Json kept_by(const Json& stored) {
  Json body = Json::object();
  for (const char* member : {"provider", "settings", "enabled", "weight"})
    if (stored.contains(member)) body[member] = stored[member];
  return body;
}

struct SetOptions {
  std::string name, provider;
  std::vector<std::string> settings;
  std::vector<std::string> credentials_from_env;
  bool credentials_from_stdin = false;
  bool disabled = false;
  std::optional<int64_t> weight;

  Json body(const std::optional<Json>& stored) const;
  std::optional<Json> credentials() const;
};

// Credentials come from the environment or standard input, never from the command line, which every
// account of the machine can read.
std::optional<Json> SetOptions::credentials() const {
  std::optional<Json> found;
  if (credentials_from_stdin) {
    if (isatty(STDIN_FILENO)) std::cerr << "Credentials as JSON, then Ctrl-D:\n";
    found = parse_json(std::string{std::istreambuf_iterator<char>(std::cin), {}});
  }
  const Json from_environment = pairs(credentials_from_env, "--credential-env");
  for (const auto& [name, variable] : from_environment.items()) {
    const auto value = environment_variable(variable.get<std::string>().c_str());
    if (!value)
      throw Error(ErrorCode::invalid,
                  "the environment has no " + variable.get<std::string>() + " for " + name);
    if (!found) found = Json::object();
    (*found)[name] = *value;
  }
  return found;
}

// Settings of one provider mean nothing to another.
Json SetOptions::body(const std::optional<Json>& stored) const {
  Json body = stored ? kept_by(*stored) : Json::object();
  if (!provider.empty()) {
    if (body.value("provider", provider) != provider) body.erase("settings");
    body["provider"] = provider;
  }
  if (!body.contains("provider"))
    throw CLI::ValidationError("--provider", "is required for a new deployment");
  if (disabled) body["enabled"] = false;
  if (weight) body["weight"] = *weight;
  if (auto given = credentials()) body["credentials"] = std::move(*given);
  return body;
}

Json put_deployment(const Client& client, const SetOptions& options) {
  DeploymentSettings settings(options.settings);
  Json body = options.body(own_deployment(client, options.name));
  for (;;) {
    if (!settings.empty()) body["settings"] = settings.values();
    try {
      return client.put(deployment_path(options.name), body);
    } catch (const Error& refusal) {
      if (!settings.take_as_texts(refusal.details)) throw;
    }
  }
}

void add_deployment_set(CLI::App& group, const ContextPtr& context) {
  auto options = std::make_shared<SetOptions>();
  auto* command =
      group.add_subcommand("set", "Add a deployment, or change it and keep what is not named");
  command->add_option("NAME", options->name, "The deployment")->required();
  command->add_option("--provider", options->provider, "Kind of backend; absent: as it is");
  command
      ->add_option("--setting", options->settings,
                   "NAME=VALUE; repeatable; they replace all that are stored. A VALUE "
                   "that is JSON is taken as such (true, 10, {...}), unless the setting is a text; "
                   "'\"true\"' is always a text")
      ->allow_extra_args(false);
  command
      ->add_option("--credential-env", options->credentials_from_env,
                   "NAME=VARIABLE: take this credential from that environment variable")
      ->allow_extra_args(false);
  command->add_flag("--credentials-stdin", options->credentials_from_stdin,
                    "Read the credentials as a JSON object from standard input");
  command->add_flag("--disabled", options->disabled, "Store it without using it");
  command->add_option("--weight", options->weight, "Its weight for the strategy weighted");
  context->on_operator(*command, [context, options] {
    const Json answer = put_deployment(context->client(), *options);
    context->show(answer,
                  [&](const Json&) { context->say("deployment " + options->name + " is set"); });
  });
}

void add_switch(CLI::App& group, const ContextPtr& context, const std::string& verb,
                const std::string& description, bool enabled) {
  auto name = std::make_shared<std::string>();
  auto* command = group.add_subcommand(verb, description);
  command->add_option("NAME", *name, "The deployment")->required();
  context->on_operator(*command, [context, name, enabled] {
    const Client client = context->client();
    const auto stored = own_deployment(client, *name);
    if (!stored)
      throw Error(ErrorCode::not_found,
                  "there is no deployment '" + *name +
                      "' of yours. One that the gateway's configuration or its operator provides "
                      "takes no new sandboxes of profiles that have it in placement.exclude");
    Json body = kept_by(*stored);
    body["enabled"] = enabled;
    context->show(client.put(deployment_path(*name), body), [&](const Json&) {
      context->say("deployment " + *name + (enabled ? " is enabled" : " is disabled"));
    });
  });
}

void add_deployment_remove(CLI::App& group, const ContextPtr& context) {
  auto name = std::make_shared<std::string>();
  auto* command = group.add_subcommand("remove", "Remove a deployment");
  command->add_option("NAME", *name, "The deployment")->required();
  context->on_operator(*command, [context, name] {
    context->client().remove(deployment_path(*name));
    context->show(Json{{"removed", *name}},
                  [&](const Json&) { context->say("deployment " + *name + " is removed"); });
  });
}

}  // namespace

void add_deployment_commands(CLI::App& app, const ContextPtr& context) {
  auto* providers = app.add_subcommand("providers", "List and test deployments");
  providers->require_subcommand(1);
  add_deployment_list(*providers, context);
  add_provider_trial(*providers, context);
  auto* deployments = app.add_subcommand("deployments", "List, add, change and remove deployments");
  deployments->require_subcommand(1);
  add_deployment_list(*deployments, context);
  add_deployment_show(*deployments, context);
  add_deployment_set(*deployments, context);
  add_switch(*deployments, context, "enable", "Send new sandboxes to a deployment again", true);
  add_switch(*deployments, context, "disable", "Send no new sandboxes to a deployment", false);
  add_deployment_remove(*deployments, context);
}

}  // namespace sandgate::cli
