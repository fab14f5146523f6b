#pragma once
#include <functional>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "gateway/cli/client.hpp"
#include "gateway/cli/options/settings.hpp"
#include "gateway/cli/terminal/console.hpp"

namespace sandgate::cli {

// 0 success, 1 error, 2 wrong usage; for run and exec the program's exit code.
using ExitCode = int;

// State shared by all commands. The callbacks stored in CLI11 keep it alive.
class Context : public std::enable_shared_from_this<Context> {
 public:
  Context(Environment environment, Console console, ExitCode& exit_code);

  // Adds --json, --url and --tenant to the command and sets `work` as its action. An Error, or a
  // failure of this machine's file system, is printed to the error stream and sets exit code 1: one
  // line, and one for each deployment that refused; with --json the problem document, or
  // {"code","detail"} where no gateway answered.
  void on(CLI::App& command, std::function<void()> work);
  // Like on() for commands that need an operator's key: prefers SANDGATE_ADMIN_KEY.
  void on_operator(CLI::App& command, std::function<void()> work);
  // Like on() for commands that an operator may also want for no tenant: with --operator, client()
  // is operator_client().
  void on_either(CLI::App& command, std::function<void()> work);

  // client() uses the operator's key for operator commands and with --tenant, otherwise the API
  // key; operator_client() prefers the operator's key, and acts for no tenant but that of --tenant.
  // Both throw Error(unauthenticated) without a key.
  Client client() const;
  Client operator_client() const;
  // The id of a tenant that is given by id or name, read with the operator's key; empty stays so.
  // Errors as of tenant_id_of().
  std::string tenant_id(const std::string& given) const;
  bool has_operator_key() const;  // in the environment, or else in the file; empty is none
  const Console& console() const { return console_; }
  bool json() const { return json_; }
  bool for_operator() const { return operator_; }  // --operator of a command for either
  void exit_with(ExitCode code) { exit_code_ = code; }

  // Runs `work`, which ends in order on Ctrl-C, and when nobody reads the output any more; the exit
  // code is then that of a program that this ended.
  void interruptible(const std::function<void()>& work);

  // Calls `work` for each name, and goes on after an Error, which is printed and makes the exit
  // code 1.
  void each(const std::vector<std::string>& names,
            const std::function<void(const std::string& name)>& work);

  // Prints the document, indented. Names and output that are not UTF-8 get U+FFFD.
  void print(const Json& document) const;
  // Prints the document with --json; otherwise calls `render`.
  void show(const Json& document, const std::function<void(const Json&)>& render) const;
  // Likewise for a list.
  void show_items(const std::vector<Json>& items,
                  const std::function<void(const std::vector<Json>&)>& render) const;
  // Prints a line that confirms an action, except with --json.
  void say(const std::string& line) const;

 private:
  enum class Acts { for_tenant, for_either, as_operator };

  void add(CLI::App& command, std::function<void()> work, Acts acts);
  void report(const Error& error);
  std::string hint_for(const Error& error) const;
  Client connect(Settings settings, bool prefer_admin, const std::string& tenant) const;
  std::string about_missing_key(bool prefer_admin) const;

  Environment environment_;
  Console console_;
  ExitCode& exit_code_;
  bool json_ = false;
  Acts acts_ = Acts::for_tenant;
  bool operator_ = false;  // --operator of a command for either
  std::string url_, tenant_;
};

using ContextPtr = std::shared_ptr<Context>;

// Formats a member for a table: text as it is, numbers and booleans as JSON, null or absent as "-".
// `path` is a JSON Pointer.
std::string cell(const Json& document, const char* path);
// Like cell(), with numbers rounded to integers.
std::string rounded_cell(const Json& document, const char* path);
// Formats "2026-11-20T08:09:10.123456Z" as "2026-11-20 08:09:10Z"; keeps other texts.
std::string time_cell(const Json& document, const char* path);

}  // namespace sandgate::cli
