#pragma once
#include <functional>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "gateway/cli/client.hpp"
#include "gateway/cli/console.hpp"

namespace sandgate::cli {

// 0 success, 1 error, 2 usage; for run and exec the program's own.
using ExitCode = int;

// What every command shares. Commands keep it alive through the callbacks that CLI11 holds.
class Context : public std::enable_shared_from_this<Context> {
 public:
  Context(Environment environment, Console console, ExitCode& exit_code);

  // Adds --json, --url and --tenant to the command and runs `work` when it is chosen. An Error
  // becomes one line on the error stream and exit code 1.
  void on(CLI::App& command, std::function<void()> work);
  // The same for a command that a developer's key may not use: SANDGATE_ADMIN_KEY is preferred.
  void on_operator(CLI::App& command, std::function<void()> work);

  // With the key of the environment; the operator's when the command or --tenant asks for it.
  Client client() const;
  Client operator_client() const;
  const Console& console() const { return console_; }
  bool json() const { return json_; }
  void exit_with(ExitCode code) { exit_code_ = code; }

  // With --json the document itself, indented; else whatever `render` prints.
  void show(const Json& document, const std::function<void(const Json&)>& render) const;
  // The same for the items of a list.
  void show_items(const std::vector<Json>& items,
                  const std::function<void(const std::vector<Json>&)>& render) const;
  // A line that says that something was done, where no document is asked for.
  void say(const std::string& line) const;

 private:
  void add(CLI::App& command, std::function<void()> work, bool prefer_admin);
  void report(const Error& error);
  std::string way_out(const Error& error) const;
  Client connect(bool prefer_admin) const;

  Environment environment_;
  Console console_;
  ExitCode& exit_code_;
  bool json_ = false;
  bool prefer_admin_ = false;
  std::string url_, tenant_;
};

using ContextPtr = std::shared_ptr<Context>;

// A member as text for a table: text as it is, numbers and booleans as JSON, null or absent as "-".
// `path` is a JSON Pointer.
std::string cell(const Json& document, const char* path);
// The same, a number without its fraction.
std::string rounded_cell(const Json& document, const char* path);
// "2026-11-20T08:09:10.123456Z" as "2026-11-20 08:09:10Z"; other texts unchanged.
std::string time_cell(const Json& document, const char* path);

}  // namespace sandgate::cli
