#include "gateway/cli/commands/states.hpp"

#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

// Changes sandboxes one after the other, as many as can be.
void change_all(Context& context, const std::vector<std::string>& ids, const char* verb,
                const Json& body) {
  const Client client = context.client();
  std::vector<Json> changed;
  context.each(ids, [&](const std::string& id) {
    changed.push_back(client.post(sandbox_path(id) + "/" + verb, body));
    context.say(cell(changed.back(), "/state") + " " + id +
                ", kept: " + printable(cell(changed.back(), "/kept")));
  });
  if (context.json()) context.print(changed);
}

void add_pause(CLI::App& app, const ContextPtr& context) {
  struct Options {
    std::vector<std::string> ids;
    std::string keep = "memory";
  };
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("pause", "Pause sandboxes and keep their state");
  command->add_option("ID", options->ids, "The sandboxes")->required();
  command->add_option("--keep", options->keep, "What to keep: memory or disk")
      ->check(CLI::IsMember({"memory", "disk"}))
      ->capture_default_str();
  context->on(*command, [context, options] {
    change_all(*context, options->ids, "pause", {{"keep", options->keep}});
  });
}

void add_resume(CLI::App& app, const ContextPtr& context) {
  auto ids = std::make_shared<std::vector<std::string>>();
  auto* command = app.add_subcommand("resume", "Resume paused sandboxes");
  command->add_option("ID", *ids, "The sandboxes")->required();
  context->on(*command, [context, ids] { change_all(*context, *ids, "resume", Json::object()); });
}

// Prints one id per line to the output and refusals to the error stream.
void print_copies(const Context& context, const Json& answer) {
  for (const Json& item : answer.value("items", Json::array())) {
    if (item.contains("sandbox"))
      context.console().out << printable(cell(item, "/sandbox/id")) << '\n';
    else
      context.console().err << "not made: " << printable(cell(item, "/error/detail")) << " ("
                            << printable(cell(item, "/error/code")) << ")\n";
  }
}

bool all_made(const Json& answer) {
  for (const Json& item : answer.value("items", Json::array()))
    if (!item.contains("sandbox")) return false;
  return true;
}

void add_fork(CLI::App& app, const ContextPtr& context) {
  struct Options {
    std::string id;
    int64_t count = 1;
  };
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("fork", "Make copies of a sandbox and print their ids");
  command->add_option("ID", options->id, "The sandbox")->required();
  command->add_option("-n,--count", options->count, "How many, up to 100")->capture_default_str();
  context->on(*command, [context, options] {
    const Json answer =
        context->client().create(sandbox_path(options->id) + "/fork", {{"count", options->count}});
    context->show(answer, [&](const Json& document) { print_copies(*context, document); });
    if (!all_made(answer)) context->exit_with(1);
  });
}

}  // namespace

void add_state_commands(CLI::App& app, const ContextPtr& context) {
  add_pause(app, context);
  add_resume(app, context);
  add_fork(app, context);
}

}  // namespace sandgate::cli
