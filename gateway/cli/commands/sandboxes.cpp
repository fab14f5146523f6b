#include "gateway/cli/commands/sandboxes.hpp"

#include "gateway/cli/decision.hpp"
#include "gateway/cli/options/create_options.hpp"
#include "gateway/cli/options/pairs.hpp"
#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

std::string state_text(const Console& console, const Json& sandbox) {
  const std::string state = printable(cell(sandbox, "/state"));
  if (state == "running") return console.styled(state, Style::green);
  if (state == "failed") return console.styled(state, Style::red);
  return console.styled(state, Style::yellow);
}

void print_details(const Console& console, const Json& sandbox) {
  const auto line = [&](const char* name, const std::string& value) {
    std::string label(name);
    label.resize(12, ' ');
    console.out << console.styled(label, Style::dim) << value << '\n';
  };
  const auto text = [&](const char* pointer) { return printable(cell(sandbox, pointer)); };
  line("id", text("/id"));
  line("state", state_text(console, sandbox));
  line("profile", text("/profile/name") + "@" + text("/profile/version"));
  line("backend", text("/backend/deployment") + " (" + text("/backend/provider") + ", " +
                      text("/backend/isolation") + ", " + text("/backend/region") + ")");
  line("resources", text("/resources/vcpu") + " vcpu, " + text("/resources/memory_mib") +
                        " MiB memory, " + text("/resources/disk_gib") + " GiB disk");
  const auto time = [&](const char* pointer) { return printable(time_cell(sandbox, pointer)); };
  line("created", time("/created_at"));
  const bool has_ended = cell(sandbox, "/ended_at") != "-";
  line(has_ended ? "ended" : "expires", time(has_ended ? "/ended_at" : "/expires_at"));
  if (const int64_t idle = sandbox.value("idle_timeout_seconds", int64_t{0});
      !has_ended && idle > 0)
    line("idle limit", std::to_string(idle) + " s without use");
  if (sandbox.contains("ended_reason")) line("reason", text("/ended_reason"));
  line("price", text("/cost/estimated_per_hour") + " " + text("/cost/currency") + " per hour");
  if (sandbox.contains("metadata") && !sandbox["metadata"].empty())
    line("metadata", printable(sandbox["metadata"].dump()));
  if (sandbox.contains("failure"))
    line("failure", text("/failure/code") + ": " + text("/failure/detail"));
}

void print_list(const Console& console, const std::vector<Json>& sandboxes) {
  Table table({"ID", "STATE", "PROFILE", "DEPLOYMENT", "CREATED", "EXPIRES"});
  for (const Json& sandbox : sandboxes)
    table.add({cell(sandbox, "/id"), cell(sandbox, "/state"),
               cell(sandbox, "/profile/name") + "@" + cell(sandbox, "/profile/version"),
               cell(sandbox, "/backend/deployment"), time_cell(sandbox, "/created_at"),
               time_cell(sandbox, "/expires_at")});
  table.print(console, "No sandboxes. `sandgate create` makes one.");
}

void add_sandbox_create(CLI::App& app, const ContextPtr& context) {
  auto options = std::make_shared<CreateOptions>();
  auto* command = app.add_subcommand("create", "Create a sandbox and print its id");
  add_create_options(*command, *options);
  context->on(*command, [context, options] {
    const Json sandbox = context->client().create("/v1/sandboxes", options->body());
    context->show(sandbox, [&](const Json& document) {
      context->console().out << printable(cell(document, "/id")) << '\n';
    });
  });
}

void add_sandbox_list(CLI::App& app, const ContextPtr& context) {
  struct Options {
    bool all = false;
    std::string state, profile, deployment;
    std::vector<std::string> metadata;
  };
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("list", "List sandboxes that have not ended");
  command->add_flag("-a,--all", options->all, "Include sandboxes that have ended");
  command->add_option("--state", options->state, "Only in this state")
      ->check(CLI::IsMember({"creating", "running", "pausing", "paused", "resuming", "stopping",
                             "stopped", "failed"}));
  command->add_option("-p,--profile", options->profile, "Only of this profile");
  command->add_option("--deployment", options->deployment, "Only on this deployment");
  command->add_option("-m,--metadata", options->metadata, "Only with NAME=VALUE")
      ->allow_extra_args(false);
  context->on(*command, [context, options] {
    std::string query = "?";
    const auto add = [&](const std::string& name, const std::string& value) {
      query += "&" + percent_encode(name) + "=" + percent_encode(value);
    };
    if (!options->state.empty()) add("state", options->state);
    if (!options->profile.empty()) add("profile", options->profile);
    if (!options->deployment.empty()) add("deployment", options->deployment);
    const Json metadata = pairs(options->metadata, "--metadata");
    for (const auto& [name, value] : metadata.items())
      add("metadata." + name, value.get<std::string>());
    if (!options->all && options->state.empty()) add("ended", "false");
    context->show_items(context->client().all("/v1/sandboxes" + query),
                        [&](const auto& items) { print_list(context->console(), items); });
  });
}

void add_sandbox_show(CLI::App& app, const ContextPtr& context) {
  struct Options {
    std::string id;
    bool refresh = false, why = false;
  };
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("show", "Show one sandbox");
  command->add_option("ID", options->id, "The sandbox")->required();
  auto* refresh =
      command->add_flag("--refresh", options->refresh, "Ask the backend, not only the registry");
  command
      ->add_flag("--why", options->why,
                 "Show why it runs where it does: what was considered, rejected and tried")
      ->excludes(refresh);
  context->on(*command, [context, options] {
    const std::string path = sandbox_path(options->id);
    const char* part = options->why ? "/decision" : options->refresh ? "?refresh=true" : "";
    const auto print = options->why ? print_placement : print_details;
    context->show(context->client().get(path + part),
                  [&](const Json& document) { print(context->console(), document); });
  });
}

void add_extend(CLI::App& app, const ContextPtr& context) {
  struct Options {
    std::string id;
    int64_t ttl_seconds = 0;
  };
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("extend", "Set how long a sandbox lives, from now on");
  command->add_option("ID", options->id, "The sandbox")->required();
  command->add_option("SECONDS", options->ttl_seconds, "Seconds from now")->required();
  context->on(*command, [context, options] {
    const Json sandbox = context->client().post(sandbox_path(options->id) + "/extend",
                                                {{"ttl_seconds", options->ttl_seconds}});
    context->show(sandbox, [&](const Json& document) {
      context->say("expires " + time_cell(document, "/expires_at"));
    });
  });
}

void add_kill(CLI::App& app, const ContextPtr& context) {
  struct Options {
    std::vector<std::string> ids;
    bool all = false;
  };
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("kill", "End sandboxes");
  auto* positional = command->add_option("ID", options->ids, "The sandboxes");
  command->add_flag("--all", options->all, "All that have not ended")->excludes(positional);
  context->on(*command, [context, options] {
    if (options->ids.empty() && !options->all)
      throw CLI::ValidationError("kill", "which? Give ids, or --all");
    const Client client = context->client();
    std::vector<std::string> ids = options->ids;
    if (options->all)
      for (const Json& sandbox : client.all("/v1/sandboxes?ended=false"))
        ids.push_back(cell(sandbox, "/id"));
    std::vector<std::string> killed, stopping;
    context->each(ids, [&](const std::string& id) {
      // 202: its backend cannot be reached, and it ends once that can be.
      const bool ended = client.call({.method = "DELETE", .path = sandbox_path(id)}).status != 202;
      (ended ? killed : stopping).push_back(id);
      context->say((ended ? "killed " : "stopping ") + id);
    });
    if (context->json()) context->print({{"killed", killed}, {"stopping", stopping}});
  });
}

}  // namespace

void add_sandbox_commands(CLI::App& app, const ContextPtr& context) {
  add_sandbox_create(app, context);
  add_sandbox_list(app, context);
  add_sandbox_show(app, context);
  add_extend(app, context);
  add_kill(app, context);
}

}  // namespace sandgate::cli
