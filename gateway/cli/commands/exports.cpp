#include "gateway/cli/commands/exports.hpp"

#include "gateway/cli/options/document_file.hpp"
#include "gateway/cli/options/pairs.hpp"
#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

std::string export_path(const std::string& name) { return "/v1/exports/" + percent_encode(name); }

void add_export_list(CLI::App& group, const ContextPtr& context) {
  auto* command = group.add_subcommand("list", "List exports and their progress");
  context->on_operator(*command, [context] {
    context->show_items(context->client().all("/v1/exports"), [&](const auto& items) {
      Table table({"NAME", "KIND", "ENABLED", ">SENT", ">DEAD", "NEXT TRY", "ERROR"});
      for (const Json& item : items)
        table.add({cell(item, "/name"), cell(item, "/kind"), cell(item, "/enabled"),
                   cell(item, "/sent"), cell(item, "/dead_letters"),
                   time_cell(item, "/next_try_at"), cell(item, "/error")});
      table.print(context->console(), "No exports. `sandgate exports set` adds one.");
    });
  });
}

void add_export_set(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string name, kind, file, since;
    std::vector<std::string> secrets_from_env;
    bool disabled = false;
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("set", "Add or change an export");
  command->add_option("NAME", options->name, "The export")->required();
  command->add_option("--kind", options->kind, "Kind of receiver")->required();
  command->add_option("-f,--file", options->file, "Its settings, YAML or JSON")->required();
  // Not a command line argument, because every account of the machine can read those.
  command
      ->add_option("--secret-env", options->secrets_from_env,
                   "NAME=VARIABLE: take this secret from that environment variable")
      ->allow_extra_args(false);
  command->add_option("--since", options->since,
                      "Begin with usage from this moment instead of now");
  command->add_flag("--disabled", options->disabled, "Store it without sending");
  context->on_operator(*command, [context, options] {
    Json body{{"kind", options->kind},
              {"settings", read_document(options->file)},
              {"enabled", !options->disabled}};
    if (!options->since.empty()) body["since"] = options->since;
    const Json variables = pairs(options->secrets_from_env, "--secret-env");
    for (const auto& [name, variable] : variables.items()) {
      const auto value = environment_variable(variable.get<std::string>().c_str());
      if (!value)
        throw Error(ErrorCode::invalid,
                    "the environment has no " + variable.get<std::string>() + " for " + name);
      body["secrets"][name] = *value;
    }
    context->show(context->client().put(export_path(options->name), body),
                  [&](const Json&) { context->say("export " + options->name + " is set"); });
  });
}

void add_export_remove(CLI::App& group, const ContextPtr& context) {
  auto name = std::make_shared<std::string>();
  auto* command = group.add_subcommand("remove", "Remove an export and its dead letters");
  command->add_option("NAME", *name, "The export")->required();
  context->on_operator(*command, [context, name] {
    context->client().remove(export_path(*name));
    context->show(Json{{"removed", *name}},
                  [&](const Json&) { context->say("export " + *name + " is removed"); });
  });
}

void add_dead_letters(CLI::App& group, const ContextPtr& context) {
  auto name = std::make_shared<std::string>();
  auto* command =
      group.add_subcommand("dead-letters", "List events that the receiver refused for good");
  command->add_option("NAME", *name, "The export")->required();
  context->on_operator(*command, [context, name] {
    context->show_items(context->client().all(export_path(*name) + "/dead-letters"),
                        [&](const auto& items) {
                          Table table({"EVENT", "AT", "RETRY", "REASON"});
                          for (const Json& item : items)
                            table.add({cell(item, "/event"), time_cell(item, "/at"),
                                       cell(item, "/retry"), cell(item, "/reason")});
                          table.print(context->console(), "Nothing was refused.");
                        });
  });
}

void add_export_retry(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string name;
    std::vector<std::string> events;
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("retry", "Send dead letters again");
  command->add_option("NAME", options->name, "The export")->required();
  command->add_option("EVENTS", options->events, "Only these; absent: all");
  context->on_operator(*command, [context, options] {
    Json body = Json::object();
    if (!options->events.empty()) body["events"] = options->events;
    context->show(context->client().post(export_path(options->name) + "/retry", body),
                  [&](const Json& answer) {
                    context->say(cell(answer, "/retried") + " events will be sent again");
                  });
  });
}

}  // namespace

void add_export_commands(CLI::App& app, const ContextPtr& context) {
  auto* group =
      app.add_subcommand("exports", "Manage exports of usage to other systems (operator)");
  group->require_subcommand(1);
  add_export_list(*group, context);
  add_export_set(*group, context);
  add_export_remove(*group, context);
  add_dead_letters(*group, context);
  add_export_retry(*group, context);
}

}  // namespace sandgate::cli
