#include "gateway/cli/commands/ledger.hpp"

#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

void add_balances(CLI::App& group, const ContextPtr& context) {
  auto tenant = std::make_shared<std::string>();
  auto* command = group.add_subcommand("balances", "Show the balance of every account");
  command->add_option("--for", *tenant, "Of this tenant's accounts only (id or name)");
  context->on_operator(*command, [context, tenant] {
    context->show(
        context->client().get("/v1/ledger/balances" +
                              query_of({{"tenant", context->tenant_id(*tenant)}})),
        [&](const Json& answer) {
          Table table({"ACCOUNT", "CURRENCY", ">DEBIT", ">CREDIT", ">BALANCE"});
          for (const Json& item : answer.value("items", Json::array()))
            table.add({cell(item, "/account"), cell(item, "/currency"), cell(item, "/debit"),
                       cell(item, "/credit"), cell(item, "/balance")});
          table.print(context->console(), "The ledger is empty.");
        });
  });
}

void add_transfers(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string tenant, account, from, to;
    size_t most = 50;
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("transfers", "List transfers, oldest first");
  command->add_option("--for", options->tenant, "Of this tenant only (id or name)");
  command->add_option("--account", options->account, "To or from this account only");
  command->add_option("--from", options->from, "Start, such as 2026-11-01T00:00:00Z");
  command->add_option("--to", options->to, "End, exclusive");
  command->add_option("--limit", options->most, "Transfers to show")->capture_default_str();
  context->on_operator(*command, [context, options] {
    const std::string query = query_of({{"tenant", context->tenant_id(options->tenant)},
                                        {"account", options->account},
                                        {"from", options->from},
                                        {"to", options->to}});
    const auto found = context->client().all("/v1/ledger" + query, options->most);
    context->show_items(found, [&](const auto& items) {
      Table table({"ID", "AT", "REASON", "ACCOUNT", ">DEBIT", ">CREDIT", "CURRENCY"});
      for (const Json& transfer : items)
        for (const Json& entry : transfer.value("entries", Json::array()))
          table.add({cell(transfer, "/id"), time_cell(transfer, "/at"), cell(transfer, "/reason"),
                     cell(entry, "/account"), cell(entry, "/debit"), cell(entry, "/credit"),
                     cell(transfer, "/currency")});
      table.print(context->console(), "Nothing moved.");
    });
  });
}

}  // namespace

void add_ledger_commands(CLI::App& app, const ContextPtr& context) {
  auto* group = app.add_subcommand("ledger", "Show balances and transfers of the ledger");
  group->require_subcommand(1);
  add_balances(*group, context);
  add_transfers(*group, context);
}

}  // namespace sandgate::cli
