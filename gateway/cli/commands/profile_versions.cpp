#include "gateway/cli/commands/profile_versions.hpp"

#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

std::string channels_text(const Json& words) {
  std::string text;
  for (const Json& word : words) text += (text.empty() ? "" : ", ") + word.get<std::string>();
  return text.empty() ? "-" : text;
}

void add_versions(CLI::App& group, const ContextPtr& context) {
  auto name = std::make_shared<std::string>();
  auto* command = group.add_subcommand("versions", "List a profile's versions, newest first");
  command->add_option("NAME", *name, "The profile")->required();
  context->on(*command, [context, name] {
    const auto found = context->client().all(profile_path(*name) + "/versions");
    context->show_items(found, [&](const auto& items) {
      Table table({">VERSION", "CREATED", "BY", "CHANNELS"});
      for (const Json& version : items)
        table.add({cell(version, "/version"), time_cell(version, "/created_at"),
                   cell(version, "/created_by"),
                   channels_text(version.value("channels", Json::array()))});
      table.print(context->console(), "No versions.");
    });
  });
}

void add_version_diff(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string name;
    int64_t from = 0, to = 0;
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("diff", "Show what changed between two versions");
  command->add_option("NAME", options->name, "The profile")->required();
  command->add_option("FROM", options->from, "Version")->required();
  command->add_option("TO", options->to, "Version")->required();
  context->on(*command, [context, options] {
    const Json diff = context->client().get(profile_path(options->name) +
                                            "/diff?from=" + std::to_string(options->from) +
                                            "&to=" + std::to_string(options->to));
    context->show(diff, [&](const Json& document) {
      Table table({"MEMBER", "FROM", "TO"});
      for (const Json& change : document.value("items", Json::array()))
        table.add({cell(change, "/path"), cell(change, "/from"), cell(change, "/to")});
      table.print(context->console(), "The versions are equal.");
    });
  });
}

void add_rollback(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string name;
    int64_t version = 0;
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("rollback", "Point stable back at an earlier version");
  command->add_option("NAME", options->name, "The profile")->required();
  command->add_option("VERSION", options->version, "The version")->required();
  context->on_either(*command, [context, options] {
    const Json channel = context->client().post(profile_path(options->name) + "/rollback",
                                                {{"version", options->version}});
    context->show(channel, [&](const Json&) {
      context->say(options->name + "@stable is version " + std::to_string(options->version));
    });
  });
}

// Reads "4:10", version 4 for ten in a hundred.
Json share_in(const std::string& text, const char* option) {
  const size_t colon = text.find(':');
  int64_t version = 0, percent = 0;
  if (colon == std::string::npos || !CLI::detail::lexical_cast(text.substr(0, colon), version) ||
      !CLI::detail::lexical_cast(text.substr(colon + 1), percent))
    throw CLI::ValidationError(option, "wants VERSION:PERCENT, such as 4:10, not '" + text + "'");
  return {{"version", version}, {"percent", percent}};
}

struct ChannelOptions {
  std::string name, channel, canary, shadow;
  int64_t version = 0;

  Json body() const;
  std::string path() const { return profile_path(name) + "/channels/" + percent_encode(channel); }
};

Json ChannelOptions::body() const {
  Json body{{"version", version}};
  if (!canary.empty()) body["canary"] = share_in(canary, "--canary");
  if (!shadow.empty()) body["shadow"] = share_in(shadow, "--shadow");
  return body;
}

void add_channel(CLI::App& group, const ContextPtr& context) {
  auto options = std::make_shared<ChannelOptions>();
  auto* command = group.add_subcommand(
      "channel", "Point a channel at a version; a canary or shadow not named here ends");
  command->add_option("NAME", options->name, "The profile")->required();
  command->add_option("CHANNEL", options->channel, "Such as stable")->required();
  command->add_option("VERSION", options->version, "The version")->required();
  command->add_option("--canary", options->canary,
                      "VERSION:PERCENT: give that share of the creates this version instead");
  command->add_option("--shadow", options->shadow,
                      "VERSION:PERCENT: also try this version for that share (operator)");
  context->on_either(*command, [context, options] {
    const Json head = context->client().put(options->path(), options->body());
    context->show(head, [&](const Json&) {
      context->say(options->name + "@" + options->channel + " is version " +
                   std::to_string(options->version) +
                   (options->canary.empty() ? "" : ", canary " + options->canary + " %") +
                   (options->shadow.empty() ? "" : ", shadow " + options->shadow + " %"));
    });
  });
}

}  // namespace

std::string profile_path(const std::string& name) { return "/v1/profiles/" + percent_encode(name); }

void add_profile_version_commands(CLI::App& group, const ContextPtr& context) {
  add_versions(group, context);
  add_version_diff(group, context);
  add_rollback(group, context);
  add_channel(group, context);
}

}  // namespace sandgate::cli
