#include "gateway/cli/commands/processes.hpp"

#include "gateway/cli/terminal/table.hpp"
#include "gateway/core/number_text.hpp"
#include "gateway/core/percent.hpp"

namespace sandgate::cli {
namespace {

std::string processes_of(const std::string& id) { return sandbox_path(id) + "/processes"; }

std::string command_cell(const Json& process) {
  std::string line;
  for (const Json& word : process.value("command", Json::array()))
    line += (line.empty() ? "" : " ") + (word.is_string() ? word.get<std::string>() : word.dump());
  return line;
}

// The state, and how it ended: "exited 0", "exited SIGKILL".
std::string state_cell(const Json& process) {
  const std::string state = cell(process, "/state");
  if (process.contains("signal") && process["signal"].is_string())
    return state + " " + cell(process, "/signal");
  const bool ended = process.contains("exit_code") && process["exit_code"].is_number();
  return ended ? state + " " + cell(process, "/exit_code") : state;
}

// The API takes a number as one, not as text.
Json signal_of(const std::string& given) {
  const auto number = number_from<int>(given);
  return number ? Json(*number) : Json(given);
}

void add_process_list(CLI::App& group, const ContextPtr& context) {
  auto id = std::make_shared<std::string>();
  auto* command = group.add_subcommand(
      "list", "List the programs started in a sandbox: those that run, then the latest");
  command->add_option("ID", *id, "The sandbox")->required();
  context->on(*command, [context, id] {
    const std::vector<Json> processes = context->client().all(processes_of(*id));
    context->show_items(processes, [&](const std::vector<Json>& items) {
      Table table({"ID", "STATE", "STARTED", "COMMAND"});
      for (const Json& process : items)
        table.add({cell(process, "/id"), state_cell(process), time_cell(process, "/started_at"),
                   command_cell(process)});
      table.print(context->console(), "No programs. `sandgate exec` starts one.");
    });
  });
}

void add_process_signal(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string id, process, signal = "SIGTERM";
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("signal", "Send a signal to a program and what it started");
  command->add_option("ID", options->id, "The sandbox")->required();
  command->add_option("PROCESS", options->process, "The program")->required();
  command->add_option("SIGNAL", options->signal, "Its name or number")->capture_default_str();
  context->on(*command, [context, options] {
    context->client().post(
        processes_of(options->id) + "/" + percent_encode(options->process) + "/signal",
        Json{{"signal", signal_of(options->signal)}});
    context->show(Json{{"signaled", options->process}}, [&](const Json&) {
      context->say(options->signal + " is sent to " + options->process);
    });
  });
}

}  // namespace

void add_process_commands(CLI::App& app, const ContextPtr& context) {
  auto* processes = app.add_subcommand("process", "List and signal programs in a sandbox");
  processes->require_subcommand(1);
  add_process_list(*processes, context);
  add_process_signal(*processes, context);
}

}  // namespace sandgate::cli
