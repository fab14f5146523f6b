#include "gateway/cli/commands/budgets.hpp"

#include "gateway/cli/options/amount.hpp"
#include "gateway/cli/options/pairs.hpp"
#include "gateway/cli/options/tenant_reference.hpp"
#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

std::string budgets_of(const Context& context, const std::string& tenant) {
  return tenant_path(context, tenant) + "/budgets";
}

std::string scope_text(const Json& budget) {
  const Json scope = budget.value("applies_to", Json::object());
  return scope.empty() ? "everything" : scope.dump();
}

void add_budget_row(Table& table, const Json& budget) {
  table.add({cell(budget, "/name"), cell(budget, "/window"), scope_text(budget),
             cell(budget, "/amount"), cell(budget, "/spent"), cell(budget, "/reserved"),
             cell(budget, "/remaining"), cell(budget, "/currency"), cell(budget, "/on_exceeded"),
             cell(budget, "/state")});
}

Table budget_table() {
  return Table({"NAME", "WINDOW", "FOR", ">AMOUNT", ">SPENT", ">RESERVED", ">REMAINING", "CURRENCY",
                "WHEN SPENT", "STATE"});
}

void add_budget_list(CLI::App& group, const ContextPtr& context) {
  auto tenant = std::make_shared<std::string>();
  auto* command = group.add_subcommand("list", "List a tenant's budgets and what is left of them");
  add_tenant(*command, *tenant);
  context->on_operator(*command, [context, tenant] {
    context->show_items(context->client().all(budgets_of(*context, *tenant)),
                        [&](const auto& items) {
                          Table table = budget_table();
                          for (const Json& budget : items) add_budget_row(table, budget);
                          table.print(context->console(), "No budgets: the tenant spends freely.");
                        });
  });
}

struct BudgetOptions {
  std::string tenant, name, amount, currency = "USD", window = "month", timezone;
  std::string on_exceeded = "deny", profile, key;
  std::vector<int> alert_at;
  std::vector<std::string> metadata;

  Json body() const;
};

std::string budget_path(const Context& context, const BudgetOptions& options) {
  return budgets_of(context, options.tenant) + "/" + percent_encode(options.name);
}

Json BudgetOptions::body() const {
  Json body{{"amount", amount},
            {"currency", currency},
            {"window", window},
            {"on_exceeded", on_exceeded},
            {"alert_at", alert_at}};
  if (!timezone.empty()) body["timezone"] = timezone;
  Json scope = Json::object();
  if (!profile.empty()) scope["profile"] = profile;
  if (!key.empty()) scope["key"] = key;
  if (!metadata.empty()) scope["metadata"] = pairs(metadata, "--metadata");
  if (!scope.empty()) body["applies_to"] = scope;
  return body;
}

void add_budget_set(CLI::App& group, const ContextPtr& context) {
  auto options = std::make_shared<BudgetOptions>();
  auto* command = group.add_subcommand("set", "Set a budget; takes effect at once");
  add_tenant(*command, options->tenant);
  command->add_option("NAME", options->name, "The budget")->required();
  add_amount(*command, "--amount", options->amount, "The amount, such as 100.00")->required();
  command->add_option("--currency", options->currency, "ISO 4217")->capture_default_str();
  command->add_option("--window", options->window, "day, week, month or total")
      ->capture_default_str();
  command->add_option("--timezone", options->timezone,
                      "Time zone of the window, such as Europe/Berlin; absent: UTC");
  command->add_option("--on-exceeded", options->on_exceeded, "deny, pause or kill")
      ->capture_default_str();
  command->add_option("--alert-at", options->alert_at, "Percentages, separated by commas")
      ->delimiter(',');
  command->add_option("--profile", options->profile, "Only sandboxes of this profile");
  command->add_option("--key", options->key, "Only sandboxes created with this key (its id)");
  command->add_option("--metadata", options->metadata, "Only sandboxes with NAME=VALUE; repeatable")
      ->allow_extra_args(false);
  context->on_operator(*command, [context, options] {
    context->show(context->client().put(budget_path(*context, *options), options->body()),
                  [&](const Json& budget) {
                    Table table = budget_table();
                    add_budget_row(table, budget);
                    table.print(context->console(), "");
                  });
  });
}

void add_budget_remove(CLI::App& group, const ContextPtr& context) {
  auto options = std::make_shared<BudgetOptions>();
  auto* command = group.add_subcommand("remove", "Remove a budget");
  add_tenant(*command, options->tenant);
  command->add_option("NAME", options->name, "The budget")->required();
  context->on_operator(*command, [context, options] {
    context->client().remove(budget_path(*context, *options));
    context->show(Json{{"removed", options->name}},
                  [&](const Json&) { context->say("budget " + options->name + " is removed"); });
  });
}

void add_credits(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string tenant, amount, currency = "USD", reason;
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("credit", "Add prepaid money");
  add_tenant(*command, options->tenant);
  add_amount(*command, "AMOUNT", options->amount, "The amount, such as 20.00")->required();
  command->add_option("--currency", options->currency, "ISO 4217")->capture_default_str();
  command->add_option("--reason", options->reason, "Kept in the ledger")->required();
  context->on_operator(*command, [context, options] {
    const std::string path = tenant_path(*context, options->tenant) + "/credits";
    const Json body{
        {"amount", options->amount}, {"currency", options->currency}, {"reason", options->reason}};
    context->show(context->client().create(path, body), [&](const Json& answer) {
      context->say("balance " + cell(answer, "/balance") + " " + cell(answer, "/currency"));
    });
  });
}

}  // namespace

void add_budget_commands(CLI::App& app, const ContextPtr& context) {
  auto* group = app.add_subcommand("budgets", "Manage what tenants may spend (operator)");
  group->require_subcommand(1);
  add_budget_list(*group, context);
  add_budget_set(*group, context);
  add_budget_remove(*group, context);
  add_credits(*group, context);
}

}  // namespace sandgate::cli
