#include "local/agent/requests.hpp"

#include <algorithm>
#include <array>

#include "gateway/core/error.hpp"
#include "gateway/core/json_reader.hpp"
#include "local/agent/dial.hpp"
#include "local/agent/files/file_worker.hpp"
#include "local/agent/processes/environment.hpp"

namespace sandgate::agent {
namespace {

using Handler = std::unique_ptr<Operation> (*)(const ProcessRequest&);

template <void (*answer)(const ProcessRequest&)>
std::unique_ptr<Operation> answered(const ProcessRequest& request) {
  answer(request);
  request.connection.finish();
  return nullptr;
}

void answer_ping(const ProcessRequest& request) {
  request.reader.finish();
  request.problems.throw_if_any();
  request.connection.reply(
      {{"protocol", kProtocolVersion}, {"processes", request.context.processes.alive()}});
}

void answer_configure(const ProcessRequest& request) {
  const auto allow_root = request.reader.boolean("allow_root");
  auto env = read_environment(request.reader, request.problems);
  request.reader.finish();
  request.problems.throw_if_any();
  AgentSettings& settings = request.context.settings;
  if (!settings.awaits_owner) throw Error(ErrorCode::conflict, "the sandbox has its owner");
  settings.awaits_owner = false;
  settings.env = std::move(env);
  settings.allow_root = allow_root.value_or(false);
  request.connection.reply(
      {{"variables", settings.env.size()}, {"allow_root", settings.allow_root}});
}

struct Entry {
  std::string_view operation;
  Handler handler;
  bool lasts = false;
};

constexpr std::array kOperations{
    Entry{"ping", answered<answer_ping>},
    Entry{"configure", answered<answer_configure>},
    Entry{"exec", start_exec, true},
    Entry{"attach", start_attach, true},
    Entry{"write_stdin", start_write_input, true},
    Entry{"close_stdin", answered<answer_close_input>},
    Entry{"processes", answered<answer_processes>},
    Entry{"process", answered<answer_process>},
    Entry{"signal", answered<answer_signal>},
    Entry{"resize", answered<answer_resize>},
    Entry{"dial", answered<answer_dial>},
};

}  // namespace

bool starts_lasting(const nlohmann::json& request) {
  const auto named = request.is_object() ? request.find("operation") : request.end();
  if (named == request.end() || !named->is_string()) return false;
  return std::ranges::any_of(
      kOperations, [&](const Entry& entry) { return entry.lasts && *named == entry.operation; });
}

std::unique_ptr<Operation> start_operation(Context& context, Connection& connection,
                                           const nlohmann::json& request) {
  Problems problems;
  ObjectReader reader(request, problems);
  reader.require("protocol");
  reader.require("operation");
  const auto protocol = reader.integer("protocol", 0, INT32_MAX);
  const std::string operation = reader.text("operation").value_or("");
  problems.throw_if_any();
  if (protocol != kProtocolVersion)
    throw Error(ErrorCode::unsupported, "the agent speaks another version of the protocol");
  for (const Entry& entry : kOperations)
    if (entry.operation == operation) return entry.handler({context, connection, reader, problems});
  if (!is_file_operation(operation))
    throw Error(ErrorCode::unsupported, "the agent has no such operation");
  start_file_worker(context, connection, request);
  return nullptr;
}

}  // namespace sandgate::agent
