#include "gateway/cli/deployments.hpp"

#include <unistd.h>

#include <iostream>
#include <iterator>

#include "gateway/cli/pairs.hpp"
#include "gateway/cli/provider_trial.hpp"
#include "gateway/cli/table.hpp"

namespace sandgate::cli {
namespace {

std::string deployment_path(const std::string& name) {
  return "/v1/deployments/" + percent_encode(name);
}

void add_deployment_list(CLI::App& group, const ContextPtr& context) {
  auto* command = group.add_subcommand("list", "List deployments with their health and price");
  context->on(*command, [context] {
    const Json answer = context->client().get("/v1/providers");
    context->show(answer, [&](const Json& document) {
      Table table(
          {"DEPLOYMENT", "PROVIDER", "ISOLATION", "ENABLED", "HEALTH", ">PRICE/HOUR", ">P50 MS"});
      for (const Json& item : document.value("items", Json::array()))
        table.add({cell(item, "/deployment"), cell(item, "/provider"),
                   cell(item, "/descriptor/isolation"), cell(item, "/enabled"),
                   cell(item, "/health/breaker"), cell(item, "/price_per_hour"),
                   rounded_cell(item, "/latency_p50_ms")});
      table.print(context->console(), "No deployments. `sandgate deployments set` adds one.");
    });
  });
}

struct SetOptions {
  std::string name, provider;
  std::vector<std::string> settings;
  std::vector<std::string> credentials_from_env;
  bool credentials_from_stdin = false;
  bool disabled = false;
  std::optional<int64_t> weight;

  Json body() const;
};

// Credentials come from the environment or standard input, never from the command line, which every
// account of the machine can read.
Json SetOptions::body() const {
  Json body{{"provider", provider}, {"enabled", !disabled}};
  if (!settings.empty()) body["settings"] = pairs(settings, "--setting");
  if (weight) body["weight"] = *weight;
  if (credentials_from_stdin) {
    if (isatty(STDIN_FILENO)) std::cerr << "Credentials as JSON, then Ctrl-D:\n";
    body["credentials"] = parse_json(std::string{std::istreambuf_iterator<char>(std::cin), {}});
  }
  const Json from_environment = pairs(credentials_from_env, "--credential-env");
  for (const auto& [name, variable] : from_environment.items()) {
    const auto value = environment_variable(variable.get<std::string>().c_str());
    if (!value)
      throw Error(ErrorCode::invalid,
                  "the environment has no " + variable.get<std::string>() + " for " + name);
    body["credentials"][name] = *value;
  }
  return body;
}

void add_deployment_set(CLI::App& group, const ContextPtr& context) {
  auto options = std::make_shared<SetOptions>();
  auto* command = group.add_subcommand("set", "Add or change a deployment");
  command->add_option("NAME", options->name, "The deployment")->required();
  command->add_option("--provider", options->provider, "Kind of backend")->required();
  command->add_option("--setting", options->settings, "NAME=VALUE; repeatable")
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
    const Json answer = context->client().put(deployment_path(options->name), options->body());
    context->show(answer,
                  [&](const Json&) { context->say("deployment " + options->name + " is set"); });
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
  auto* deployments = app.add_subcommand("deployments", "Add, change and remove deployments");
  deployments->require_subcommand(1);
  add_deployment_set(*deployments, context);
  add_deployment_remove(*deployments, context);
}

}  // namespace sandgate::cli
