#include "gateway/cli/commands/network.hpp"

#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

std::string network_of(const std::string& id) { return sandbox_path(id) + "/network"; }

void print_policy(const Console& console, const Json& policy) {
  std::string allowed;
  for (const Json& target : policy.value("allow", Json::array()))
    allowed += (allowed.empty() ? "" : ", ") + target.get<std::string>();
  console.out << "default: " << printable(cell(policy, "/default"))
              << ", allowed: " << (allowed.empty() ? "none" : printable(allowed)) << '\n';
}

void add_network_show(CLI::App& group, const ContextPtr& context) {
  auto id = std::make_shared<std::string>();
  auto* command =
      group.add_subcommand("show", "Show what a running sandbox may reach, and what it tried");
  command->add_option("ID", *id, "The sandbox")->required();
  context->on(*command, [context, id] {
    context->show(context->client().get(network_of(*id)), [&](const Json& network) {
      print_policy(context->console(), network);
      Table table({"AT", "TARGET", "WAY", "ALLOWED", "REASON"});
      for (const Json& verdict : network.value("verdicts", Json::array()))
        table.add({time_cell(verdict, "/at"), cell(verdict, "/target"), cell(verdict, "/way"),
                   cell(verdict, "/allowed"), cell(verdict, "/reason")});
      table.print(context->console(), "It has not tried to reach anything.");
    });
  });
}

struct NetworkOptions {
  std::string id, fallback;
  std::vector<std::string> allow;
  bool nothing = false;

  Json body() const;
};

Json NetworkOptions::body() const {
  if (nothing) return {{"default", "deny"}, {"allow", Json::array()}};
  Json body = Json::object();
  if (!fallback.empty()) body["default"] = fallback;
  if (!allow.empty()) body["allow"] = allow;
  return body;
}

void add_network_set(CLI::App& group, const ContextPtr& context) {
  auto options = std::make_shared<NetworkOptions>();
  auto* command = group.add_subcommand(
      "set", "Change what a running sandbox may reach; what is not named is as in its profile");
  command->add_option("ID", options->id, "The sandbox")->required();
  auto* fallback = command->add_option("--default", options->fallback, "What is not in --allow")
                       ->check(CLI::IsMember({"allow", "deny"}));
  auto* allow = command->add_option("--allow", options->allow, "host:port it may reach; repeatable")
                    ->allow_extra_args(false);
  command->add_flag("--nothing", options->nothing, "Let it reach nothing")
      ->excludes(fallback)
      ->excludes(allow);
  context->on(*command, [context, options] {
    context->show(context->client().put(network_of(options->id), options->body()),
                  [&](const Json& policy) { print_policy(context->console(), policy); });
  });
}

}  // namespace

void add_network_commands(CLI::App& app, const ContextPtr& context) {
  auto* group = app.add_subcommand("network", "Show and change what a sandbox may reach");
  group->require_subcommand(1);
  add_network_show(*group, context);
  add_network_set(*group, context);
}

}  // namespace sandgate::cli
