#include "gateway/cli/commands/run.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>
#include <sstream>

#include "gateway/cli/options/create_options.hpp"
#include "gateway/cli/options/pairs.hpp"
#include "gateway/cli/patient_create.hpp"
#include "gateway/cli/process_output.hpp"
#include "gateway/cli/terminal/interrupt.hpp"
#include "gateway/cli/terminal/stdin_forwarder.hpp"
#include "gateway/core/crypto.hpp"

namespace sandgate::cli {
namespace {

constexpr double kMaxSeconds = 7 * 24 * 3600;
constexpr int kNotFound = 127;

struct ExecOptions {
  std::vector<std::string> command;
  std::vector<std::string> env;
  std::string cwd, user;
  double timeout_seconds = 0;
  bool stdin_too = false;

  Json body() const;
};

Json ExecOptions::body() const {
  Json body{{"command", command}};
  if (!env.empty()) body["env"] = pairs(env, "--env");
  if (!cwd.empty()) body["cwd"] = cwd;
  if (!user.empty()) body["user"] = user;
  if (timeout_seconds > 0)
    body["timeout_ms"] = std::max<int64_t>(1, std::llround(timeout_seconds * 1000));
  return body;
}

// Also refuses what is no number at all, as nan.
std::string positive(const std::string& text) {
  double value = 0;
  return CLI::detail::lexical_cast(text, value) && value > 0 && value <= kMaxSeconds
             ? ""
             : "must be more than 0 and at most a week in seconds, not '" + text + "'";
}

void add_exec_options(CLI::App& command, ExecOptions& options) {
  command.add_option("--cwd", options.cwd, "Directory to start in");
  command.add_option("--user", options.user, "Account inside");
  command.add_option("--timeout", options.timeout_seconds, "Seconds until it is killed")
      ->check(positive);
  command.add_flag(
      "-i,--stdin", options.stdin_too,
      "Pass standard input to the program as it arrives; with --json, all of it at the start");
  command.add_option("COMMAND", options.command, "The program and its arguments, after --")
      ->required();
}

void answer_in_json(Context& context, const Client& client, const std::string& id,
                    const ExecOptions& options) {
  Json body = options.body();
  if (options.stdin_too) {
    const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
    body["stdin_base64"] = base64_encode(input);
  }
  const Json result = client.post(sandbox_path(id) + "/exec", body);
  context.print({{"sandbox", id}, {"result", result}});
  context.exit_with(result.value("exit_code", 1));
}

// Whether a line for a shell was given as the name of a program, which is then not found.
bool is_shell_line(const ExecOptions& options) {
  return options.command.size() == 1 && options.command[0].find(' ') != std::string::npos;
}

// Streams the program's output, or prints one JSON answer. Sets the program's exit code.
void execute(Context& context, const Client& client, const std::string& id,
             const ExecOptions& options) {
  if (context.json()) return answer_in_json(context, client, id, options);
  StdinForwarder input_forwarder(client);
  Call call{.method = "POST",
            .path = sandbox_path(id) + "/exec",
            .json = options.body(),
            .on_progress = {}};
  call.on_progress = [&](uint64_t, uint64_t) { input_forwarder.check(); };
  const auto on_start = [&](const std::string& process) {
    std::string input = sandbox_path(id) + "/processes/" + percent_encode(process) + "/stdin";
    options.stdin_too ? input_forwarder.start(std::move(input))
                      : input_forwarder.close(std::move(input));
  };
  const StreamedExit exit = stream_output(client, std::move(call), context.console(), on_start);
  if (exit.timed_out) context.console().err << "sandgate: the time limit ended the program\n";
  if (exit.exit_code == kNotFound && is_shell_line(options))
    context.console().err << "sandgate: for a line of the shell, give -- sh -c '…'\n";
  context.exit_with(exit.exit_code);
}

// Kills the sandbox on destruction, however the program ended. Reports a failure to do so.
class KillAtEnd {
 public:
  KillAtEnd(const Context& context, const Client& client, std::string id)
      : context_(context), client_(client), id_(std::move(id)) {}
  KillAtEnd(const KillAtEnd&) = delete;
  ~KillAtEnd() {
    reset_interrupts();
    try {
      client_.remove(sandbox_path(id_));
    } catch (const Error& error) {
      context_.console().err << "sandgate: " << printable(id_)
                             << " could not be killed: " << error.what() << '\n';
    }
  }

 private:
  const Context& context_;
  const Client& client_;
  std::string id_;
};

void run_once(Context& context, const CreateOptions& create, const ExecOptions& exec, bool keep) {
  const Client client = context.client();
  const Json body = create.body();
  std::string id;
  context.interruptible([&] { id = cell(create_patiently(client, body), "/id"); });
  if (id.empty()) return;
  if (keep) {
    context.console().err << printable(id) << '\n';
    return context.interruptible([&] { execute(context, client, id, exec); });
  }
  const KillAtEnd kill(context, client, id);
  context.interruptible([&] { execute(context, client, id, exec); });
}

void add_run(CLI::App& app, const ContextPtr& context) {
  struct Options {
    CreateOptions create;
    ExecOptions exec;
    bool keep = false;
  };
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("run", "Create a sandbox, run a program in it, end it");
  add_create_options(*command, options->create);
  command->add_flag("--keep", options->keep, "Leave the sandbox running and print its id");
  add_exec_options(*command, options->exec);
  context->on(*command, [context, options] {
    run_once(*context, options->create, options->exec, options->keep);
  });
}

void add_exec(CLI::App& app, const ContextPtr& context) {
  struct Options {
    std::string id;
    ExecOptions exec;
  };
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("exec", "Run a program in a sandbox");
  command->add_option("ID", options->id, "The sandbox")->required();
  command->add_option("-e,--env", options->exec.env, "NAME=VALUE of the environment; repeatable")
      ->allow_extra_args(false);
  add_exec_options(*command, options->exec);
  context->on(*command, [context, options] {
    const Client client = context->client();
    context->interruptible([&] { execute(*context, client, options->id, options->exec); });
  });
}

std::string newest_process(const Client& client, const std::string& id) {
  std::string newest, started;
  for (const Json& process : client.all(sandbox_path(id) + "/processes"))
    if (const std::string at = cell(process, "/started_at"); at >= started) {
      started = at;
      newest = cell(process, "/id");
    }
  if (newest.empty()) throw Error(ErrorCode::not_found, "no program was started in " + id + " yet");
  return newest;
}

void print_logs(const Context& context, const Client& client, const std::string& process,
                const std::string& path) {
  if (!context.json()) {
    const StreamedExit exit = stream_output(client, {.path = path}, context.console());
    if (!exit.signal.empty())
      context.console().err << "sandgate: " << printable(exit.signal) << " ended the program\n";
    return;
  }
  std::ostringstream out, err;
  const StreamedExit exit = stream_output(client, {.path = path}, Console(out, err, false, false));
  context.print({{"process_id", process},
                 {"exit_code", exit.exit_code},
                 {"signal", exit.signal.empty() ? Json() : Json(exit.signal)},
                 {"stdout", out.str()},
                 {"stderr", err.str()}});
}

void add_logs(CLI::App& app, const ContextPtr& context) {
  struct Options {
    std::string id, process;
  };
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("logs", "Print a program's output and follow it to its end");
  command->add_option("ID", options->id, "The sandbox")->required();
  command->add_option("PROCESS", options->process,
                      "The program, of `process list`; absent: the newest");
  context->on(*command, [context, options] {
    const Client client = context->client();
    const std::string process =
        options->process.empty() ? newest_process(client, options->id) : options->process;
    const std::string path =
        sandbox_path(options->id) + "/processes/" + percent_encode(process) + "/output";
    context->interruptible([&] { print_logs(*context, client, process, path); });
  });
}

}  // namespace

void add_run_commands(CLI::App& app, const ContextPtr& context) {
  add_run(app, context);
  add_exec(app, context);
  add_logs(app, context);
}

}  // namespace sandgate::cli
