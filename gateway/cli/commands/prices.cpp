#include "gateway/cli/commands/prices.hpp"

#include <map>

#include "gateway/cli/options/document_file.hpp"
#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

std::string price_path(const std::string& book) { return "/v1/prices/" + percent_encode(book); }

void add_price_list(CLI::App& group, const ContextPtr& context) {
  auto* command =
      group.add_subcommand("list", "List price books and the versions in force or to come");
  context->on_operator(*command, [context] {
    context->show_items(context->client().all("/v1/prices"), [&](const auto& items) {
      Table table({"BOOK", ">VERSION", "KIND", "CURRENCY", "TENANT", "FROM", "STATE", ">MARKUP %",
                   ">ENTRIES"});
      for (const Json& book : items)
        table.add(
            {cell(book, "/book"), cell(book, "/version"), cell(book, "/kind"),
             cell(book, "/currency"), cell(book, "/tenant"), time_cell(book, "/effective_from"),
             book.value("in_force", true) ? "in force" : "to come", cell(book, "/markup_percent"),
             std::to_string(book.value("entries", Json::array()).size())});
      table.print(context->console(), "No price books.");
    });
  });
}

void print_price_entries(const Context& context, const Json& version) {
  Table table({"PROVIDER", "DEPLOYMENT", "REGION", "METER", ">UNIT PRICE", ">MINIMUM", ">ROUNDING",
               ">INCLUDED"});
  for (const Json& entry : version.value("entries", Json::array()))
    table.add({cell(entry, "/provider"), cell(entry, "/deployment"), cell(entry, "/region"),
               cell(entry, "/meter"), cell(entry, "/unit_price"), cell(entry, "/minimum"),
               cell(entry, "/rounding"), cell(entry, "/included")});
  const std::string markup = cell(version, "/markup_percent");
  if (markup != "-") context.say("markup " + markup + " % over the cost");
  table.print(context.console(), "No entries.");
}

Json price_version_of(const std::vector<Json>& versions, int64_t wanted, const std::string& book) {
  for (const Json& version : versions)
    if (wanted == 0 ? &version == &versions.back() : version.value("version", int64_t{0}) == wanted)
      return version;
  throw Error(ErrorCode::not_found, book + " has no version " + std::to_string(wanted));
}

void add_price_show(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string book;
    int64_t version = 0;
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("show", "Show a version's prices");
  command->add_option("BOOK", options->book, "The book")->required();
  command->add_option("--version", options->version, "Absent: the newest");
  context->on_operator(*command, [context, options] {
    const auto versions = context->client().all(price_path(options->book));
    context->show(price_version_of(versions, options->version, options->book),
                  [&](const Json& version) { print_price_entries(*context, version); });
  });
}

void add_price_publish(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string book, file;
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("publish", "Add a version to a book");
  command->add_option("BOOK", options->book, "The book")->required();
  command->add_option("-f,--file", options->file, "YAML or JSON; - is standard input")->required();
  context->on_operator(*command, [context, options] {
    context->show(context->client().put(price_path(options->book), read_document(options->file)),
                  [&](const Json& version) {
                    context->say(cell(version, "/book") + " version " + cell(version, "/version") +
                                 " is in force from " + time_cell(version, "/effective_from"));
                  });
  });
}

void print_price_preview(const Context& context, const Json& answer) {
  Table table({"TENANT", "DEPLOYMENT", "METER", ">CHARGE NOW", ">THEN", ">DIFFERENCE", "CURRENCY"});
  const auto add = [&](const Json& sums, const std::string& tenant) {
    table.add({tenant, cell(sums, "/deployment"), cell(sums, "/meter"),
               cell(sums, "/booked/charge"), cell(sums, "/preview/charge"),
               cell(sums, "/difference/charge"), cell(sums, "/currency")});
  };
  for (const Json& item : answer.value("items", Json::array())) add(item, cell(item, "/tenant"));
  for (const Json& total : answer.value("total", Json::array())) add(total, "total");
  table.print(context.console(), "Nothing was used in that time.");
}

void add_price_preview(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string book, file, period, from, to;
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand(
      "preview", "Show what a version would have charged last month; stores nothing");
  command->add_option("BOOK", options->book, "The book")->required();
  command->add_option("-f,--file", options->file, "YAML or JSON; - is standard input")->required();
  command->add_option("--period", options->period, "A month, such as 2026-10; absent: the last");
  command->add_option("--from", options->from, "Start, such as 2026-11-01T00:00:00Z");
  command->add_option("--to", options->to, "End, exclusive");
  context->on_operator(*command, [context, options] {
    const std::string path =
        price_path(options->book) + "/preview" +
        query_of({{"period", options->period}, {"from", options->from}, {"to", options->to}});
    context->show(context->client().post(path, read_document(options->file)),
                  [&](const Json& answer) { print_price_preview(*context, answer); });
  });
}

// Indexes the entries by provider, deployment, region and meter.
std::map<std::string, Json> price_entries_of(const Json& version) {
  std::map<std::string, Json> entries;
  for (const Json& entry : version.value("entries", Json::array())) {
    std::string key;
    for (const char* part : {"/provider", "/deployment", "/region", "/meter"})
      key += (key.empty() ? "" : " ") + cell(entry, part);
    entries.emplace(key, entry);
  }
  return entries;
}

// Returns what differs as {what, before, after}: members of the book such as its markup, then
// entries; null if absent.
std::vector<Json> price_differences(const Json& before, const Json& after) {
  std::vector<Json> found;
  for (const char* name : {"kind", "tenant", "currency", "markup_percent"}) {
    const Json old = before.value(name, Json()), now = after.value(name, Json());
    if (old != now) found.push_back({{"what", name}, {"before", old}, {"after", now}});
  }
  auto old_entries = price_entries_of(before), new_entries = price_entries_of(after);
  for (const auto& [key, entry] : old_entries)
    if (!new_entries.contains(key))
      found.push_back({{"what", key}, {"before", entry}, {"after", nullptr}});
  for (const auto& [key, entry] : new_entries) {
    const auto old = old_entries.find(key);
    if (old == old_entries.end())
      found.push_back({{"what", key}, {"before", nullptr}, {"after", entry}});
    else if (old->second != entry)
      found.push_back({{"what", key}, {"before", old->second}, {"after", entry}});
  }
  return found;
}

// An entry's unit price and what else it has; another member as it is.
std::string side_of(const Json& difference, const char* side) {
  const Json& value = difference.at(side);
  if (!value.is_object()) return cell(difference, (std::string("/") + side).c_str());
  std::string text = cell(value, "/unit_price");
  for (const char* name : {"minimum", "rounding", "included"})
    if (value.contains(name)) text += std::string(", ") + name + " " + cell(value.at(name), "");
  return text;
}

void add_price_diff(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string book;
    int64_t from = 0, to = 0;
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("diff", "Show what changed between two versions of a book");
  command->add_option("BOOK", options->book, "The book")->required();
  command->add_option("--from", options->from, "A version")->required();
  command->add_option("--to", options->to, "Another; absent: the newest");
  context->on_operator(*command, [context, options] {
    const auto versions = context->client().all(price_path(options->book));
    const auto changed = price_differences(price_version_of(versions, options->from, options->book),
                                           price_version_of(versions, options->to, options->book));
    context->show_items(changed, [&](const auto& items) {
      Table table({"PROVIDER DEPLOYMENT REGION METER", ">BEFORE", ">AFTER"});
      for (const Json& item : items)
        table.add({cell(item, "/what"), side_of(item, "before"), side_of(item, "after")});
      table.print(context->console(), "The prices are the same.");
    });
  });
}

}  // namespace

void add_price_commands(CLI::App& app, const ContextPtr& context) {
  auto* group = app.add_subcommand("prices", "Manage price books (operator)");
  group->require_subcommand(1);
  add_price_list(*group, context);
  add_price_show(*group, context);
  add_price_publish(*group, context);
  add_price_preview(*group, context);
  add_price_diff(*group, context);
}

}  // namespace sandgate::cli
