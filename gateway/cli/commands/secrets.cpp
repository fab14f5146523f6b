#include "gateway/cli/commands/secrets.hpp"

#include <openssl/evp.h>
#include <unistd.h>

#include <array>

#include "gateway/cli/options/document_file.hpp"
#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

constexpr size_t kMaxTypedBytes = 4096;  // the longest line that a terminal delivers

std::string secret_path(const std::string& name) { return "/v1/secrets/" + percent_encode(name); }

// OpenSSL's prompt restores the terminal's echo even if it is interrupted.
std::string typed_value(const std::string& name) {
  std::array<char, kMaxTypedBytes> line{};
  const std::string prompt = "Value of " + printable(name) + ": ";
  if (EVP_read_pw_string(line.data(), static_cast<int>(line.size()), prompt.c_str(), 0) != 0)
    throw Error(ErrorCode::invalid, "no value was typed");
  return line.data();
}

// Editors and echo append a line break that is not part of the value.
std::string without_line_end(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

std::string value_of(const std::string& name, const std::string& file) {
  const bool ask = file.empty() && ::isatty(STDIN_FILENO);
  return ask ? typed_value(name) : without_line_end(read_text(file.empty() ? "-" : file));
}

void add_secret_list(CLI::App& group, const ContextPtr& context) {
  auto* command = group.add_subcommand("list", "List secrets, without their values");
  context->on(*command, [context] {
    context->show_items(context->client().all("/v1/secrets"), [&](const auto& items) {
      Table table({"NAME", "CREATED", "UPDATED"});
      for (const Json& secret : items)
        table.add({cell(secret, "/name"), time_cell(secret, "/created_at"),
                   time_cell(secret, "/updated_at")});
      table.print(context->console(), "No secrets. `sandgate secrets set` adds one.");
    });
  });
}

void add_secret_set(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string name, file;
  };
  auto options = std::make_shared<Options>();
  auto* command =
      group.add_subcommand("set", "Set a secret; asks for its value, or reads it from a pipe");
  command->add_option("NAME", options->name, "The secret, named as an environment variable")
      ->required();
  command->add_option("--value-file", options->file,
                      "Take the value from this file, without the line break at its end");
  context->on(*command, [context, options] {
    const Client client = context->client();
    client.put(secret_path(options->name), {{"value", value_of(options->name, options->file)}});
    context->show(Json{{"set", options->name}},
                  [&](const Json&) { context->say("secret " + options->name + " is set"); });
  });
}

void add_secret_remove(CLI::App& group, const ContextPtr& context) {
  auto name = std::make_shared<std::string>();
  auto* command = group.add_subcommand("remove", "Remove a secret, also from running sandboxes");
  command->add_option("NAME", *name, "The secret")->required();
  context->on(*command, [context, name] {
    context->client().remove(secret_path(*name));
    context->show(Json{{"removed", *name}},
                  [&](const Json&) { context->say("secret " + *name + " is removed"); });
  });
}

}  // namespace

void add_secret_commands(CLI::App& app, const ContextPtr& context) {
  auto* group = app.add_subcommand("secrets", "Manage values that workloads use and never see");
  group->require_subcommand(1);
  add_secret_list(*group, context);
  add_secret_set(*group, context);
  add_secret_remove(*group, context);
}

}  // namespace sandgate::cli
