#include "gateway/cli/commands/usage.hpp"

#include <algorithm>
#include <sstream>

#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

// The columns that tell groups apart, in the order they were asked for.
std::vector<std::string> groups_of(const std::string& group_by) {
  std::vector<std::string> names;
  std::istringstream text(group_by);
  for (std::string name; std::getline(text, name, ',');) names.push_back(name);
  return names;
}

std::string meters_text(const Json& amounts) {
  std::string text;
  const Json meters = amounts.value("meters", Json::object());
  for (const auto& [name, quantity] : meters.items())
    text += (text.empty() ? "" : ", ") + name + " " + quantity.get<std::string>();
  return text;
}

void print_usage(const Console& console, const Json& usage, const std::string& group_by) {
  const Json items = usage.value("items", Json::array());
  const std::vector<std::string> groups = groups_of(group_by);
  std::vector<std::string> columns;
  for (std::string name : groups) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    columns.push_back(name);
  }
  const std::string currency = printable(cell(usage, "/currency"));
  columns.insert(columns.end(), {">COST " + currency, ">CHARGE " + currency, "USED"});
  Table table(columns);
  for (const Json& item : items) {
    std::vector<std::string> row;
    for (const std::string& name : groups) {
      const Json value = item.value(name, Json());
      row.push_back(value.is_string() ? value.get<std::string>() : "-");
    }
    row.insert(row.end(), {cell(item, "/cost"), cell(item, "/charge"), meters_text(item)});
    table.add(row);
  }
  table.print(console, "Nothing was used in that time.");
  if (console.terminal && !items.empty())
    console.out << "total: cost " << printable(cell(usage, "/total/cost")) << " " << currency
                << ", charge " << printable(cell(usage, "/total/charge")) << " " << currency
                << '\n';
}

void add_usage_export(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string from, to, format = "csv";
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("export", "Print all usage events");
  command->add_option("--format", options->format, "csv, json (one event per line) or focus")
      ->capture_default_str();
  command->add_option("--from", options->from, "Start; absent: the start of this month");
  command->add_option("--to", options->to, "End, exclusive; absent: now");
  context->on_operator(*command, [context, options] {
    Call call{.path = "/v1/usage/export" + query_of({{"format", options->format},
                                                     {"from", options->from},
                                                     {"to", options->to}})};
    call.download = [&](std::string_view bytes) { write_out(context->console().out, bytes); };
    context->client().call(std::move(call));
  });
}

}  // namespace

void add_usage_command(CLI::App& app, const ContextPtr& context) {
  struct Options {
    std::string from, to, currency, group_by = "profile";
  };
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("usage", "Show usage and what it costs");
  command->add_option("--from", options->from,
                      "Start, such as 2026-11-01T00:00:00Z; absent: the start of this month");
  command->add_option("--to", options->to, "End, exclusive; absent: now");
  command->add_option("--currency", options->currency, "Absent: USD, or the only one there is");
  command
      ->add_option("--by", options->group_by,
                   "tenant, profile, deployment, meter, metadata.NAME or day, separated by commas; "
                   "empty: one sum")
      ->capture_default_str();
  add_usage_export(*command, context);
  context->on_operator(*command, [context, options, command] {
    if (!command->get_subcommands().empty()) return;
    const std::string query = query_of({{"group_by", options->group_by},
                                        {"from", options->from},
                                        {"to", options->to},
                                        {"currency", options->currency}});
    context->show(context->client().get("/v1/usage" + query), [&](const Json& usage) {
      print_usage(context->console(), usage, options->group_by);
    });
  });
}

}  // namespace sandgate::cli
