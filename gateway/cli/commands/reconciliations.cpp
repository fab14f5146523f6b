#include "gateway/cli/commands/reconciliations.hpp"

#include "gateway/cli/options/document_file.hpp"
#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

void print_drift(const Context& context, const Json& answer) {
  Table table({"SANDBOX", "METER", ">OURS", ">THEIRS", ">DIFFERENCE", ">LOSS"});
  const auto add = [&](const Json& row, const std::string& sandbox) {
    table.add({sandbox, cell(row, "/meter"), cell(row, "/ours"), cell(row, "/theirs"),
               cell(row, "/difference"), cell(row, "/loss")});
  };
  for (const Json& item : answer.value("items", Json::array())) add(item, cell(item, "/sandbox"));
  const std::string currency = answer.value("currency", "");
  add(answer.value("total", Json::object()), currency.empty() ? "total" : "total in " + currency);
  table.print(context.console(), "");
}

}  // namespace

void add_reconcile_command(CLI::App& app, const ContextPtr& context) {
  struct Options {
    std::string deployment, period, currency, file;
  };
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("reconcile", "Compare a vendor's bill with what was metered");
  command->add_option("DEPLOYMENT", options->deployment, "The deployment")->required();
  command->add_option("--period", options->period, "The month, such as 2026-10")->required();
  command->add_option("--currency", options->currency,
                      "Of the bill; otherwise USD if there is any");
  command
      ->add_option("-f,--file", options->file,
                   "CSV with the columns meter, quantity, amount and optionally sandbox")
      ->required();
  context->on_operator(*command, [context, options] {
    const std::string query = query_of({{"deployment", options->deployment},
                                        {"period", options->period},
                                        {"currency", options->currency}});
    const Reply reply = context->client().call({.method = "POST",
                                                .path = "/v1/reconciliations" + query,
                                                .content_type = "text/csv",
                                                .text = read_text(options->file)});
    context->show(reply.json(), [&](const Json& answer) { print_drift(*context, answer); });
  });
}

}  // namespace sandgate::cli
