#include "gateway/cli/commands/profiles.hpp"

#include "gateway/cli/commands/profile_versions.hpp"
#include "gateway/cli/decision.hpp"
#include "gateway/cli/options/create_options.hpp"
#include "gateway/cli/options/document_file.hpp"
#include "gateway/cli/terminal/table.hpp"
#include "registry/yaml.hpp"

namespace sandgate::cli {
namespace {

std::string name_in(const std::string& text) {
  const Json document = yaml_to_json(text);
  if (!document.is_object() || !document.contains("name") || !document["name"].is_string())
    throw Error(ErrorCode::invalid, "a profile needs a name");
  return document["name"];
}

Json publish_text(const Client& client, const std::string& text, const std::string& channel) {
  std::string path = profile_path(name_in(text));
  if (!channel.empty()) path += "?channel=" + percent_encode(channel);
  return client
      .call({.method = "PUT", .path = path, .content_type = "application/yaml", .text = text})
      .json();
}

Json publish(const Client& client, const std::string& file, const std::string& channel) {
  const std::string text = read_text(file);
  try {
    return publish_text(client, text, channel);
  } catch (const Error& error) {
    if (error.code != ErrorCode::invalid) throw;
    throw about_file(file, error);
  }
}

void print_published(const Console& console, const std::vector<Json>& published) {
  for (const Json& profile : published) {
    const bool changed = profile.value("changed", true);
    console.out << printable(cell(profile, "/name")) << "@" << cell(profile, "/version")
                << (changed ? " published" : " unchanged") << '\n';
    for (const Json& warning : profile.value("warnings", Json::array()))
      console.err << "warning: " << printable(warning.get<std::string>()) << '\n';
  }
}

void add_apply(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::vector<std::string> files;
    std::string channel;
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("apply", "Publish profiles from files");
  command->add_option("-f,--file", options->files, "YAML or JSON; - is standard input; repeatable")
      ->required();
  command->add_option("--channel", options->channel,
                      "Channel to point at the new version, or none; absent: stable");
  context->on_either(*command, [context, options] {
    const Client client = context->client();
    std::vector<Json> published;
    context->each(options->files, [&](const std::string& file) {
      published.push_back(publish(client, file, options->channel));
    });
    context->show_items(published,
                        [&](const auto& items) { print_published(context->console(), items); });
  });
}

void add_profile_list(CLI::App& group, const ContextPtr& context) {
  auto* command = group.add_subcommand("list", "List profiles");
  context->on(*command, [context] {
    context->show_items(context->client().all("/v1/profiles"), [&](const auto& items) {
      Table table({"NAME", ">STABLE", ">LATEST", "OWNER", "CREATED"});
      for (const Json& profile : items)
        table.add({cell(profile, "/name"), cell(profile, "/version"), cell(profile, "/latest"),
                   cell(profile, "/owner"), time_cell(profile, "/created_at")});
      table.print(context->console(), "No profiles. `sandgate profiles apply -f FILE` adds one.");
    });
  });
}

void add_profile_show(CLI::App& group, const ContextPtr& context) {
  auto name = std::make_shared<std::string>();
  auto* command = group.add_subcommand("show", "Show one profile");
  command->add_option("NAME", *name, "name, name@3 or name@stable")->required();
  context->on(*command, [context, name] {
    context->show(context->client().get(profile_path(*name)), [&](const Json& document) {
      context->print(document.value("profile", Json::object()));
    });
  });
}

void add_profile_remove(CLI::App& group, const ContextPtr& context) {
  auto name = std::make_shared<std::string>();
  auto* command =
      group.add_subcommand("remove", "Archive a profile; what runs and its versions stay");
  command->add_option("NAME", *name, "The profile")->required();
  context->on_either(*command, [context, name] {
    context->client().remove(profile_path(*name));
    context->show(Json{{"removed", *name}},
                  [&](const Json&) { context->say("profile " + *name + " is removed"); });
  });
}

void add_explain(CLI::App& group, const ContextPtr& context) {
  auto options = std::make_shared<CreateOptions>();
  auto* command = group.add_subcommand(
      "explain", "Show where a sandbox would run, and why; exit code 1: nowhere");
  add_create_options(*command, *options);
  command->add_option("NAME", options->profile, "The profile");
  context->on(*command, [context, options] {
    Json request = options->body();
    request.erase("profile");
    const Json decision =
        context->client().post(profile_path(options->profile) + "/explain", {{"request", request}});
    context->show(decision,
                  [&](const Json& document) { print_decision(context->console(), document); });
    if (decision.value("chosen", Json()).is_null()) context->exit_with(1);
  });
}

}  // namespace

void add_profile_commands(CLI::App& app, const ContextPtr& context) {
  auto* group = app.add_subcommand("profiles", "Manage profiles, which say what workloads need");
  group->require_subcommand(1);
  add_apply(*group, context);
  add_profile_list(*group, context);
  add_profile_show(*group, context);
  add_profile_version_commands(*group, context);
  add_explain(*group, context);
  add_profile_remove(*group, context);
}

}  // namespace sandgate::cli
