#include "gateway/cli/commands/keys.hpp"

#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

std::string key_path(const std::string& id) { return "/v1/keys/" + percent_encode(id); }

// Only the secret goes to standard output, so that `KEY=$(sandgate keys create …)` works.
void print_secret(const Context& context, const Json& key) {
  context.console().out << printable(cell(key, "/secret")) << '\n';
  context.console().err << "key " << printable(cell(key, "/id"))
                        << "; the secret is not shown again\n";
}

// Without an operator's key, the first one can only be written to the database directly.
Json made_key(const Context& context, const Json& body, bool as_operator,
              const OperatorKeyMaker& make_operator_key) {
  const bool direct =
      body["role"] == "operator" && make_operator_key && !context.has_operator_key();
  if (direct) return make_operator_key(body);
  const Client client = as_operator ? context.operator_client() : context.client();
  return client.create("/v1/keys", body);
}

void add_key_create(CLI::App& group, const ContextPtr& context,
                    const OperatorKeyMaker& make_operator_key) {
  struct Options {
    std::string name, role = "developer", expires_at, tenant;
    bool for_operator = false;
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("create", "Create a key and print its secret once");
  command->add_option("NAME", options->name, "What it is for")->required();
  command->add_option("--role", options->role, "What it may do")
      ->check(CLI::IsMember({"owner", "admin", "developer", "billing", "viewer"}))
      ->capture_default_str();
  command->add_option("--for", options->tenant,
                      "The tenant (id or name) it is for, with an operator's key");
  command->add_flag("--operator", options->for_operator,
                    "An operator's key, which has no tenant. Without SANDGATE_ADMIN_KEY, or an "
                    "admin_key in the file, it is written into the server's database directly");
  command->add_option("--expires", options->expires_at,
                      "When it ends: a time such as 2027-01-31T00:00:00Z, or a date");
  context->on(*command, [context, options, make_operator_key] {
    const bool for_operator = options->for_operator;
    Json body{{"name", options->name}, {"role", for_operator ? "operator" : options->role}};
    if (!options->tenant.empty()) body["tenant"] = context->tenant_id(options->tenant);
    if (!options->expires_at.empty()) body["expires_at"] = options->expires_at;
    const bool as_operator = for_operator || !options->tenant.empty();
    context->show(made_key(*context, body, as_operator, make_operator_key),
                  [&](const Json& key) { print_secret(*context, key); });
  });
}

// With --operator those of no tenant, which are the operators'.
std::vector<Json> keys_of(const Context& context) {
  std::vector<Json> keys = context.client().all("/v1/keys");
  if (context.for_operator())
    std::erase_if(keys, [](const Json& key) { return cell(key, "/role") != "operator"; });
  return keys;
}

void add_key_list(CLI::App& group, const ContextPtr& context) {
  auto* command = group.add_subcommand("list", "List keys; with --operator, the operators' own");
  context->on_either(*command, [context] {
    context->show_items(keys_of(*context), [&](const auto& items) {
      Table table({"ID", "NAME", "ROLE", "CREATED", "EXPIRES", "REVOKED", "TENANT"});
      for (const Json& key : items)
        table.add({cell(key, "/id"), cell(key, "/name"), cell(key, "/role"),
                   time_cell(key, "/created_at"), time_cell(key, "/expires_at"),
                   time_cell(key, "/revoked_at"), cell(key, "/tenant")});
      table.print(context->console(), "No keys.");
    });
  });
}

void add_revoke(CLI::App& group, const ContextPtr& context) {
  auto id = std::make_shared<std::string>();
  auto* command = group.add_subcommand("revoke", "Revoke a key, effective at once");
  command->add_option("ID", *id, "The key")->required();
  context->on_either(*command, [context, id] {
    context->client().remove(key_path(*id));
    context->show(Json{{"revoked", *id}}, [&](const Json&) { context->say("revoked " + *id); });
  });
}

void add_rotate(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string id;
    int64_t grace_seconds = 0;
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("rotate", "Give a key a new secret");
  command->add_option("ID", options->id, "The key")->required();
  command->add_option("--grace", options->grace_seconds, "Seconds the old secret still works")
      ->capture_default_str();
  context->on_either(*command, [context, options] {
    context->show(context->client().create(key_path(options->id) + "/rotate",
                                           {{"grace_seconds", options->grace_seconds}}),
                  [&](const Json& key) { print_secret(*context, key); });
  });
}

}  // namespace

void add_key_commands(CLI::App& app, const ContextPtr& context,
                      OperatorKeyMaker make_operator_key) {
  auto* group = app.add_subcommand("keys", "Manage API keys");
  group->require_subcommand(1);
  add_key_create(*group, context, make_operator_key);
  add_key_list(*group, context);
  add_revoke(*group, context);
  add_rotate(*group, context);
}

}  // namespace sandgate::cli
