#include "gateway/cli/commands/commands.hpp"

#include <algorithm>
#include <iostream>
#include <optional>

#include "gateway/cli/commands/budgets.hpp"
#include "gateway/cli/commands/copy.hpp"
#include "gateway/cli/commands/deployments.hpp"
#include "gateway/cli/commands/events.hpp"
#include "gateway/cli/commands/exports.hpp"
#include "gateway/cli/commands/invoices.hpp"
#include "gateway/cli/commands/keys.hpp"
#include "gateway/cli/commands/ledger.hpp"
#include "gateway/cli/commands/network.hpp"
#include "gateway/cli/commands/ports.hpp"
#include "gateway/cli/commands/prices.hpp"
#include "gateway/cli/commands/processes.hpp"
#include "gateway/cli/commands/profiles.hpp"
#include "gateway/cli/commands/reconciliations.hpp"
#include "gateway/cli/commands/run.hpp"
#include "gateway/cli/commands/sandboxes.hpp"
#include "gateway/cli/commands/secrets.hpp"
#include "gateway/cli/commands/shell.hpp"
#include "gateway/cli/commands/snapshots.hpp"
#include "gateway/cli/commands/states.hpp"
#include "gateway/cli/commands/tenants.hpp"
#include "gateway/cli/commands/usage.hpp"
#include "gateway/cli/options/completion.hpp"
#include "gateway/cli/options/help_text.hpp"
#include "gateway/core/json_text.hpp"

namespace sandgate {
namespace {

constexpr int kUsageError = 2;

// The value of an unknown option takes the place of what follows it: `run --bogus 5 -- true` takes
// 5 for the program. CLI11 then has `true` left as well, and tells it first. Of flags that were
// given together it may be only one that is left: a part of a word.
std::optional<std::string> first_unknown(const CLI::App& app,
                                         const std::vector<std::string>& words) {
  const std::vector<std::string> left = app.remaining(/*recurse=*/true);
  for (const std::string& word : words)
    if (word != "--" && std::ranges::count(left, word) > 0) return word;
  const auto part = std::ranges::find_if(left, [](const auto& word) { return word != "--"; });
  return part == left.end() ? std::nullopt : std::optional(*part);
}

// A mistyped command also leaves a required one missing, and CLI11 reports only the missing one.
// Help requested for an unknown command would be that of its parent.
std::optional<std::string> unknown_word(const CLI::App& app, const CLI::ParseError& error,
                                        const std::vector<std::string>& words) {
  if (!dynamic_cast<const CLI::RequiredError*>(&error) &&
      !dynamic_cast<const CLI::ExtrasError*>(&error) &&
      !dynamic_cast<const CLI::CallForHelp*>(&error))
    return std::nullopt;
  const std::optional<std::string> unknown = first_unknown(app, words);
  if (!unknown) return std::nullopt;
  const CLI::App* command = &app;
  std::string name = app.get_name();
  bool early = false;
  while (!command->get_subcommands().empty()) {
    early = early || std::ranges::count(command->remaining(), *unknown) > 0;
    command = command->get_subcommands().front();
    name += " " + command->get_name();
  }
  if (early && command->get_option_no_throw(*unknown))
    return "'" + *unknown + "' goes after '" + name + "'";
  const bool runs = command->get_option_no_throw("COMMAND") != nullptr;
  const bool parted = std::ranges::count(words, "--") > 0;
  const bool terminal = *unknown == "-t" || *unknown == "--tty";  // as other tools call it
  return "'" + *unknown + "' is no command or option of '" + name + "'" +
         (!runs      ? ""
          : terminal ? "; 'sandgate shell' opens a terminal"
          : parted   ? ""
                     : "; a program that takes options goes after --");
}

// CLI11 says of a text where a number belongs only that it could not convert it.
std::optional<std::string> unreadable_number(const CLI::ParseError& error) {
  static constexpr std::string_view kSaid = "Could not convert: ", kBetween = " = ";
  const std::string text = error.what();
  const size_t end = text.find(kBetween);
  if (!dynamic_cast<const CLI::ConversionError*>(&error) || !text.starts_with(kSaid) ||
      end == std::string::npos)
    return std::nullopt;
  return text.substr(kSaid.size(), end - kSaid.size()) + ": must be a number, not '" +
         text.substr(end + kBetween.size()) + "'";
}

// What is wrong with a number that CLI11 would take for another one: it reads 0600 as octal, which
// is 384, and -1 as the largest number where none is negative.
std::string misread_number(const std::string& text, bool may_be_negative) {
  const bool negative = text.starts_with('-');
  const std::string digits = text.substr(negative ? 1 : 0);
  const bool plain = !digits.starts_with('0') || digits.size() == 1 || digits[1] == '.';
  if (!plain) return "must be a number without a leading 0, not '" + text + "'";
  return negative && !may_be_negative ? "must be 0 or more, not '" + text + "'" : "";
}

void refuse_misread_numbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options({})) {
    const std::string type = option->get_type_name();
    const bool is_signed = type.starts_with("INT") || type.starts_with("FLOAT");
    if (is_signed || type.starts_with("UINT"))
      option->check([is_signed](const auto& text) { return misread_number(text, is_signed); });
  }
  for (CLI::App* command : app.get_subcommands({})) refuse_misread_numbers(*command);
}

// Whether the words ask for JSON. They may be wrong, so the parser may not have come that far;
// those after -- are a program's.
bool ask_for_json(const std::vector<std::string>& words) {
  const auto end = std::ranges::find(words, "--");
  return std::find(words.begin(), end, "--json") != end;
}

// Exists for --help and completions only: run_command_line() translates it to --help.
void add_help_command(CLI::App& app) {
  auto* command = app.add_subcommand("help", "Show the help of a command, as its --help does");
  command->add_option("COMMAND", "The command; absent: all of them")->expected(0, -1);
}

// Prints "NAME VERSION", as --version does.
void add_version_command(CLI::App& app, const cli::ContextPtr& context) {
  CLI::App* command = app.add_subcommand("version", "Show name and version, as --version does");
  const auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print JSON");
  command->callback([&app, context, as_json] {
    const std::string text = app.version();
    const Json document{{"name", app.get_name()}, {"version", text.substr(text.rfind(' ') + 1)}};
    context->console().out << (*as_json ? document.dump(2) : text) << "\n";
  });
}

// Translates "help run" to "run --help": inside `help`, CLI11 would execute "run".
std::vector<std::string> asked_words(int argc, const char* const* argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.push_back("--help");
  return words;
}

bool wants_json(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  const CLI::Option* option = command->get_option_no_throw("--json");
  return option && option->count() > 0;
}

void print_problem(const Error& error) {
  Json problem{{"code", to_string(error.code)}, {"detail", error.what()}};
  for (const FieldProblem& field : error.fields)
    problem["fields"].push_back({{"path", field.path}, {"message", field.message}});
  std::cerr << json_text(problem, 2) << std::endl;
}

ExitCode failed(const CLI::App& app, const Error& error) {
  std::cout << std::flush;
  if (wants_json(app)) {
    print_problem(error);
    return 1;
  }
  // An image's names may be in it, and terminals execute some control sequences.
  std::cerr << "sandgate: " << cli::printable(error.what()) << "\n";
  for (size_t i = 1; i < error.fields.size(); ++i)
    std::cerr << "  also " << cli::printable(error.fields[i].path + ": " + error.fields[i].message)
              << "\n";
  return 1;
}

ExitCode wrongly_used(const std::string& complaint, bool as_json) {
  if (as_json)
    print_problem(Error(ErrorCode::invalid, complaint));
  else
    std::cerr << "sandgate: " << cli::printable(complaint)
              << "\nRun with --help for more information.\n";
  return kUsageError;
}

// A full disk may show only when the last bytes leave their buffer.
ExitCode checked_output(ExitCode code) {
  if (code != 0) return code;
  try {
    cli::write_out(std::cout, "");
    return code;
  } catch (const Error& error) {
    std::cerr << "sandgate: " << error.what() << "\n";
    return 1;
  }
}

}  // namespace

void add_client_commands(CLI::App& app, ExitCode& exit_code,
                         cli::OperatorKeyMaker make_operator_key) {
  const auto context = std::make_shared<cli::Context>(&cli::environment_variable,
                                                      cli::Console::standard(), exit_code);
  cli::add_run_commands(app, context);
  cli::add_process_commands(app, context);
  cli::add_sandbox_commands(app, context);
  cli::add_state_commands(app, context);
  cli::add_snapshot_commands(app, context);
  cli::add_shell_command(app, context);
  cli::add_copy_command(app, context);
  cli::add_port_commands(app, context);
  cli::add_network_commands(app, context);
  cli::add_profile_commands(app, context);
  cli::add_secret_commands(app, context);
  cli::add_deployment_commands(app, context);
  cli::add_event_commands(app, context);
  cli::add_tenant_commands(app, context);
  cli::add_key_commands(app, context, std::move(make_operator_key));
  cli::add_usage_command(app, context);
  cli::add_budget_commands(app, context);
  cli::add_price_commands(app, context);
  cli::add_invoice_commands(app, context);
  cli::add_ledger_commands(app, context);
  cli::add_export_commands(app, context);
  cli::add_reconcile_command(app, context);
  cli::add_completion_command(app, context);
  add_version_command(app, context);
  add_help_command(app);
}

int run_command_line(CLI::App& app, int argc, const char* const* argv, const ExitCode& exit_code) {
  const std::vector<std::string> words = asked_words(argc, argv);
  const bool as_json = ask_for_json(words);
  cli::fit_help(app);
  refuse_misread_numbers(app);
  try {
    // CLI11 expects reverse order.
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    auto complaint = unknown_word(app, error, words);
    if (!complaint) complaint = unreadable_number(error);
    if (complaint || error.get_exit_code() != 0)
      return wrongly_used(complaint.value_or(error.what()), as_json);
    app.exit(error);  // prints help or version
    return checked_output(0);
  } catch (const Error& error) {
    return failed(app, error);
  } catch (const std::exception& failure) {
    return failed(app, Error(ErrorCode::internal, failure.what()));
  }
  return checked_output(exit_code);
}

}  // namespace sandgate
