#include "gateway/cli/commands/tenants.hpp"

#include <algorithm>

#include "gateway/cli/options/tenant_reference.hpp"
#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

void add_tenant_create(CLI::App& group, const ContextPtr& context) {
  auto name = std::make_shared<std::string>();
  auto* command = group.add_subcommand("create", "Create a tenant and print its id");
  command->add_option("NAME", *name, "Its name")->required();
  context->on_operator(*command, [context, name] {
    context->show(context->client().create("/v1/tenants", {{"name", *name}}),
                  [&](const Json& tenant) { context->say(cell(tenant, "/id")); });
  });
}

void add_tenant_list(CLI::App& group, const ContextPtr& context) {
  auto* command = group.add_subcommand("list", "List tenants");
  context->on_operator(*command, [context] {
    context->show_items(context->client().all("/v1/tenants"), [&](const auto& items) {
      Table table({"ID", "NAME", "SUSPENDED", "CREATED"});
      for (const Json& tenant : items)
        table.add({cell(tenant, "/id"), cell(tenant, "/name"), cell(tenant, "/suspended"),
                   time_cell(tenant, "/created_at")});
      table.print(context->console(), "No tenants. `sandgate tenants create NAME` adds one.");
    });
  });
}

void add_suspension(CLI::App& group, const ContextPtr& context, const std::string& verb,
                    const std::string& description, bool suspended) {
  auto id = std::make_shared<std::string>();
  auto* command = group.add_subcommand(verb, description);
  add_tenant(*command, *id, "ID");
  context->on_operator(*command, [context, id, suspended] {
    const Reply reply = context->client().call({.method = "PATCH",
                                                .path = tenant_path(*context, *id),
                                                .json = Json{{"suspended", suspended}}});
    context->show(reply.json(), [&](const Json&) {
      context->say(*id + (suspended ? " is suspended" : " may create and run again"));
    });
  });
}

void add_rename(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string id, name;
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("rename", "Give a tenant another name");
  add_tenant(*command, options->id, "ID");
  command->add_option("NAME", options->name, "Its new name")->required();
  context->on_operator(*command, [context, options] {
    const Reply reply = context->client().call({.method = "PATCH",
                                                .path = tenant_path(*context, options->id),
                                                .json = Json{{"name", options->name}}});
    context->show(reply.json(), [&](const Json& tenant) {
      context->say(options->id + " is called " + cell(tenant, "/name"));
    });
  });
}

void print_limits(const Context& context, const Json& limits) {
  Table table({"LIMIT", ">VALUE"});
  for (const char* name : {"max_running", "max_vcpu", "creates_per_minute", "requests_per_second"})
    table.add({name, cell(limits, (std::string("/") + name).c_str())});
  table.print(context.console(), "");
}

struct LimitOptions {
  std::string tenant;
  std::optional<int64_t> running, creates, requests;
  std::optional<double> vcpu;
  std::vector<std::string> none;  // those to take away

  Json wanted() const;
};

Json LimitOptions::wanted() const {
  Json limits = Json::object();
  if (running) limits["max_running"] = *running;
  if (vcpu) limits["max_vcpu"] = *vcpu;
  if (creates) limits["creates_per_minute"] = *creates;
  if (requests) limits["requests_per_second"] = *requests;
  for (const std::string& name : none) limits[name] = nullptr;
  return limits;
}

void add_limit_options(CLI::App& command, const std::shared_ptr<LimitOptions>& options) {
  const auto or_none = [&](CLI::Option* option) {
    std::string name = option->get_lnames().front();
    const std::string flag = "--no-" + name;
    std::ranges::replace(name, '-', '_');
    command
        .add_flag_callback(
            flag, [options, name] { options->none.push_back(name); }, "Take this limit away")
        ->excludes(option);
  };
  or_none(command.add_option("--max-running", options->running, "Sandboxes at the same time"));
  or_none(command.add_option("--max-vcpu", options->vcpu, "Processors at the same time"));
  or_none(command.add_option("--creates-per-minute", options->creates, "Creates in a minute"));
  or_none(command.add_option("--requests-per-second", options->requests, "Requests in a second"));
}

void add_limits(CLI::App& app, const ContextPtr& context) {
  auto options = std::make_shared<LimitOptions>();
  auto* command = app.add_subcommand("limits", "Show or set a tenant's limits");
  add_tenant(*command, options->tenant);
  add_limit_options(*command, options);
  context->on_operator(*command, [context, options] {
    const Client client = context->client();
    const std::string path = tenant_path(*context, options->tenant);
    Json limits = client.get(path).value("limits", Json::object());
    // PUT replaces all limits, so the ones not given keep their current value.
    if (const Json wanted = options->wanted(); !wanted.empty()) {
      limits.update(wanted);
      limits = client.put(path + "/limits", limits).value("limits", limits);
    }
    context->show(limits, [&](const Json& document) { print_limits(*context, document); });
  });
}

void add_audit(CLI::App& app, const ContextPtr& context) {
  struct Options {
    std::string action, object, key, from, to;
    size_t most = 50;
  };
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("audit", "Show who changed what, newest first");
  command->add_option("--action", options->action, "Only this, such as key.create");
  command->add_option("--object", options->object, "Only of this, by its name or id");
  command->add_option("--key", options->key, "Only with the key of this id");
  command->add_option("--from", options->from, "Start, such as 2026-11-01T00:00:00Z");
  command->add_option("--to", options->to, "End, exclusive");
  command->add_option("--limit", options->most, "Entries to show")->capture_default_str();
  context->on_operator(*command, [context, options] {
    const std::string query = query_of({{"action", options->action},
                                        {"object", options->object},
                                        {"key", options->key},
                                        {"from", options->from},
                                        {"to", options->to}});
    const auto found = context->client().all("/v1/audit" + query, options->most);
    context->show_items(found, [&](const auto& items) {
      Table table({"AT", "ACTOR", "ACTION", "OBJECT", "REQUEST", "TENANT"});
      for (const Json& entry : items)
        table.add({time_cell(entry, "/at"), cell(entry, "/actor/name"), cell(entry, "/action"),
                   cell(entry, "/object"), cell(entry, "/request_id"), cell(entry, "/tenant")});
      table.print(context->console(), "Nothing was changed.");
    });
  });
}

}  // namespace

void add_tenant_commands(CLI::App& app, const ContextPtr& context) {
  auto* group = app.add_subcommand("tenants", "Manage the tenants of this gateway (operator)");
  group->require_subcommand(1);
  add_tenant_create(*group, context);
  add_tenant_list(*group, context);
  add_rename(*group, context);
  add_suspension(*group, context, "suspend", "Refuse a tenant's creates and execs", true);
  add_suspension(*group, context, "unsuspend", "Allow a tenant's creates and execs again", false);
  add_limits(app, context);
  add_audit(app, context);
}

}  // namespace sandgate::cli
