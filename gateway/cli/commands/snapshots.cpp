#include "gateway/cli/commands/snapshots.hpp"

#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

std::string snapshot_path(const std::string& id) { return "/v1/snapshots/" + percent_encode(id); }

std::string mib_cell(const Json& snapshot) {
  const auto bytes = snapshot.find("size_bytes");
  if (bytes == snapshot.end() || !bytes->is_number_integer()) return "-";
  return std::to_string(bytes->get<int64_t>() >> 20);
}

void add_snapshot_create(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string id, name, keep = "disk";
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("create", "Take a snapshot of a sandbox and print its id");
  command->add_option("SANDBOX", options->id, "The sandbox")->required();
  command->add_option("--name", options->name, "What to call it");
  command->add_option("--keep", options->keep, "What to keep: memory or disk")
      ->check(CLI::IsMember({"memory", "disk"}))
      ->capture_default_str();
  context->on(*command, [context, options] {
    Json body{{"keep", options->keep}};
    if (!options->name.empty()) body["name"] = options->name;
    const std::string path = sandbox_path(options->id) + "/snapshots";
    const Json snapshot = context->client().create(path, body);
    context->show(snapshot, [&](const Json& document) {
      context->console().out << printable(cell(document, "/id")) << '\n';
    });
  });
}

void add_snapshot_list(CLI::App& group, const ContextPtr& context) {
  auto* command = group.add_subcommand("list", "List snapshots");
  context->on(*command, [context] {
    context->show_items(context->client().all("/v1/snapshots"), [&](const auto& items) {
      Table table({"ID", "NAME", "SANDBOX", "KEPT", ">MIB", "CREATED"});
      for (const Json& snapshot : items)
        table.add({cell(snapshot, "/id"), cell(snapshot, "/name"), cell(snapshot, "/sandbox"),
                   cell(snapshot, "/kept"), mib_cell(snapshot),
                   time_cell(snapshot, "/created_at")});
      table.print(context->console(),
                  "No snapshots. `sandgate snapshot create SANDBOX` makes one.");
    });
  });
}

void add_snapshot_remove(CLI::App& group, const ContextPtr& context) {
  auto ids = std::make_shared<std::vector<std::string>>();
  auto* command = group.add_subcommand("remove", "Remove snapshots");
  command->add_option("ID", *ids, "The snapshots")->required();
  context->on(*command, [context, ids] {
    const Client client = context->client();
    std::vector<std::string> removed;
    context->each(*ids, [&](const std::string& id) {
      client.remove(snapshot_path(id));
      removed.push_back(id);
      context->say("removed " + id);
    });
    if (context->json()) context->print({{"removed", removed}});
  });
}

}  // namespace

void add_snapshot_commands(CLI::App& app, const ContextPtr& context) {
  auto* group = app.add_subcommand("snapshot", "Create, list and remove snapshots of sandboxes");
  group->require_subcommand(1);
  add_snapshot_create(*group, context);
  add_snapshot_list(*group, context);
  add_snapshot_remove(*group, context);
}

}  // namespace sandgate::cli
