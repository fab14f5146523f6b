#include "gateway/cli/commands/invoices.hpp"

#include "gateway/cli/options/amount.hpp"
#include "gateway/cli/options/tenant_reference.hpp"
#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

std::string invoice_path(const std::string& id) { return "/v1/invoices/" + percent_encode(id); }

// How what is due comes from the total; a draft's is not due yet.
void print_sums(const Context& context, const Json& invoice) {
  const auto sum = [&](const std::string& name, const Json& of, const char* path) {
    context.say(name + " " + cell(of, path) + " " + cell(invoice, "/currency"));
  };
  sum("total", invoice, "/total");
  if (!invoice.contains("due")) return;
  sum("paid from credits", invoice, "/credits_applied");
  for (const Json& note : invoice.value("credit_notes", Json::array()))
    sum("taken back (" + cell(note, "/reason") + ")", note, "/amount");
  const bool returned = cell(invoice, "/returned").find_first_of("123456789") != std::string::npos;
  if (returned) sum("returned to credits", invoice, "/returned");
  sum("due", invoice, "/due");
}

void print_invoice(const Context& context, const Json& invoice) {
  const bool numbered = cell(invoice, "/number") != "-";
  context.say(cell(invoice, "/id") + (numbered ? "  number " + cell(invoice, "/number") : "") +
              "  " + cell(invoice, "/state") + "  " + time_cell(invoice, "/from") + " to " +
              time_cell(invoice, "/to"));
  Table table({"METER", "DEPLOYMENT", "PROFILE", ">QUANTITY", ">UNIT PRICE", ">EXACT", ">AMOUNT"});
  for (const Json& line : invoice.value("lines", Json::array()))
    table.add({cell(line, "/meter"), cell(line, "/deployment"), cell(line, "/profile"),
               cell(line, "/quantity"), cell(line, "/unit_price"), cell(line, "/amount_exact"),
               cell(line, "/amount")});
  table.print(context.console(), "No lines: nothing was charged in that time.");
  print_sums(context, invoice);
}

void add_invoice_list(CLI::App& group, const ContextPtr& context) {
  auto tenant = std::make_shared<std::string>();
  auto* command = group.add_subcommand("list", "List invoices");
  command->add_option("--for", *tenant, "Of this tenant only (id or name)");
  context->on_operator(*command, [context, tenant] {
    const std::string path = "/v1/invoices" + query_of({{"tenant", context->tenant_id(*tenant)}});
    context->show_items(context->client().all(path), [&](const auto& items) {
      Table table({"ID", ">NUMBER", "STATE", "TENANT", "FROM", "TO", ">TOTAL", ">DUE", "CURRENCY"});
      for (const Json& invoice : items)
        table.add({cell(invoice, "/id"), cell(invoice, "/number"), cell(invoice, "/state"),
                   cell(invoice, "/tenant"), time_cell(invoice, "/from"), time_cell(invoice, "/to"),
                   cell(invoice, "/total"), cell(invoice, "/due"), cell(invoice, "/currency")});
      table.print(context->console(), "No invoices. `sandgate invoices create` drafts one.");
    });
  });
}

void add_invoice_show(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string id, format = "text";
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("show", "Show an invoice and its lines");
  command->add_option("ID", options->id, "The invoice")->required();
  command->add_option("--format", options->format, "text, csv for accounting or html for paper")
      ->check(CLI::IsMember({"text", "csv", "html"}))
      ->capture_default_str();
  context->on_operator(*command, [context, options] {
    const std::string path = invoice_path(options->id);
    if (options->format == "text")
      return context->show(context->client().get(path),
                           [&](const Json& invoice) { print_invoice(*context, invoice); });
    Call call{.path = path + "." + options->format};
    call.download = [&](std::string_view bytes) { write_out(context->console().out, bytes); };
    context->client().call(std::move(call));
  });
}

void add_invoice_create(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string tenant, period, timezone, from, to, currency;
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("create", "Draft an invoice");
  add_tenant(*command, options->tenant);
  command->add_option("--period", options->period, "A month, such as 2026-10");
  command->add_option("--timezone", options->timezone,
                      "Time zone of the month, such as Europe/Berlin; absent: UTC");
  command->add_option("--from", options->from, "Start, such as 2026-11-01T00:00:00Z");
  command->add_option("--to", options->to, "End, exclusive");
  command->add_option("--currency", options->currency, "Absent: USD, or the only one there is");
  context->on_operator(*command, [context, options] {
    if (options->period.empty() && (options->from.empty() || options->to.empty()))
      throw CLI::ValidationError(
          "create", "of which time? Give --period, such as 2026-10, or --from and --to");
    Json body{{"tenant", context->tenant_id(options->tenant)}};
    if (!options->period.empty()) body["period"] = options->period;
    if (!options->timezone.empty()) body["timezone"] = options->timezone;
    if (!options->from.empty()) body["from"] = options->from;
    if (!options->to.empty()) body["to"] = options->to;
    if (!options->currency.empty()) body["currency"] = options->currency;
    context->show(context->client().create("/v1/invoices", body),
                  [&](const Json& invoice) { print_invoice(*context, invoice); });
  });
}

void add_invoice_issue(CLI::App& group, const ContextPtr& context) {
  auto id = std::make_shared<std::string>();
  auto* command = group.add_subcommand("issue", "Issue a draft, which then never changes");
  command->add_option("ID", *id, "The invoice")->required();
  context->on_operator(*command, [context, id] {
    context->show(context->client().post(invoice_path(*id) + "/issue", Json::object()),
                  [&](const Json& invoice) { print_invoice(*context, invoice); });
  });
}

void add_invoice_credit(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string id, amount, reason;
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("credit", "Credit part of an issued invoice");
  command->add_option("ID", options->id, "The invoice")->required();
  add_amount(*command, "--amount", options->amount, "In the invoice's currency")->required();
  command->add_option("--reason", options->reason, "For the tenant to read")->required();
  context->on_operator(*command, [context, options] {
    const Json body{{"amount", options->amount}, {"reason", options->reason}};
    context->show(context->client().create(invoice_path(options->id) + "/credit-notes", body),
                  [&](const Json& invoice) {
                    context->say("taken back; due " + cell(invoice, "/due") + " " +
                                 cell(invoice, "/currency"));
                  });
  });
}

}  // namespace

void add_invoice_commands(CLI::App& app, const ContextPtr& context) {
  auto* group = app.add_subcommand("invoices", "Draft, show and issue invoices");
  group->require_subcommand(1);
  add_invoice_list(*group, context);
  add_invoice_show(*group, context);
  add_invoice_create(*group, context);
  add_invoice_issue(*group, context);
  add_invoice_credit(*group, context);
}

}  // namespace sandgate::cli
