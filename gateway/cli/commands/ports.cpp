#include "gateway/cli/commands/ports.hpp"

#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

std::string ports_of(const std::string& id) { return sandbox_path(id) + "/ports"; }

// A link for browsers, which receive the token as a cookie.
std::string link_of(const Json& port) {
  const std::string url = cell(port, "/url");
  return port.contains("token") && port["token"].is_string()
             ? url + "?sandgate_token=" + port["token"].get<std::string>()
             : url;
}

void add_expose(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string id;
    int64_t port = 0;
    bool everyone = false;
    std::optional<int64_t> expires_in_seconds;
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("expose", "Make a port reachable and print its link");
  command->add_option("ID", options->id, "The sandbox")->required();
  command->add_option("PORT", options->port, "Where a program in it listens")->required();
  command->add_flag("--public", options->everyone, "Reachable by everyone, without a token");
  command->add_option("--expires-in", options->expires_in_seconds,
                      "Seconds from now; absent: until the sandbox ends");
  context->on(*command, [context, options] {
    Json body{{"port", options->port}, {"access", options->everyone ? "public" : "token"}};
    if (options->expires_in_seconds) body["expires_in_seconds"] = *options->expires_in_seconds;
    const Json port = context->client().create(ports_of(options->id), body);
    context->show(port, [&](const Json& document) {
      context->console().out << printable(link_of(document)) << '\n';
    });
  });
}

void add_list(CLI::App& group, const ContextPtr& context) {
  auto id = std::make_shared<std::string>();
  auto* command = group.add_subcommand("list", "List the reachable ports of a sandbox");
  command->add_option("ID", *id, "The sandbox")->required();
  context->on(*command, [context, id] {
    const std::vector<Json> ports = context->client().all(ports_of(*id));
    context->show_items(ports, [&](const std::vector<Json>& items) {
      Table table({">PORT", "ACCESS", "URL", "EXPIRES"});
      for (const Json& port : items)
        table.add({cell(port, "/port"), cell(port, "/access"), cell(port, "/url"),
                   time_cell(port, "/expires_at")});
      table.print(context->console(), "No ports. `sandgate port expose` opens one.");
    });
  });
}

void add_remove(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string id;
    int64_t port = 0;
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("remove", "Close a port");
  command->add_option("ID", options->id, "The sandbox")->required();
  command->add_option("PORT", options->port, "The port")->required();
  context->on(*command, [context, options] {
    const std::string port = std::to_string(options->port);
    context->client().remove(ports_of(options->id) + "/" + port);
    context->show(Json{{"removed", options->port}},
                  [&](const Json&) { context->say("port " + port + " is closed"); });
  });
}

}  // namespace

void add_port_commands(CLI::App& app, const ContextPtr& context) {
  auto* ports = app.add_subcommand("port", "Make servers inside a sandbox reachable");
  ports->require_subcommand(1);
  add_expose(*ports, context);
  add_list(*ports, context);
  add_remove(*ports, context);
}

}  // namespace sandgate::cli
