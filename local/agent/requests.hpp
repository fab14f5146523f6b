#pragma once
#include <memory>
#include <nlohmann/json.hpp>

#include "local/agent/connection.hpp"
#include "local/agent/context.hpp"

namespace sandgate {
class ObjectReader;
class Problems;
}  // namespace sandgate

namespace sandgate::agent {

// Starts the operation that a request names. Returns null when it was answered at once or a file
// worker took the connection over. Throws Error, unsupported for an unknown operation or protocol
// version.
std::unique_ptr<Operation> start_operation(Context& context, Connection& connection,
                                           const nlohmann::json& request);

// Whether a request names an operation that lasts as long as its client wants: it starts a program,
// or follows one or writes its input.
bool starts_lasting(const nlohmann::json& request);

// The argument of the operations on processes. Each operation reads its members of the request and
// finishes the reader.
struct ProcessRequest {
  Context& context;
  Connection& connection;
  ObjectReader& reader;
  Problems& problems;
};
std::unique_ptr<Operation> start_exec(const ProcessRequest& request);
std::unique_ptr<Operation> start_attach(const ProcessRequest& request);
std::unique_ptr<Operation> start_write_input(const ProcessRequest& request);
void answer_processes(const ProcessRequest& request);
void answer_process(const ProcessRequest& request);
void answer_signal(const ProcessRequest& request);
void answer_close_input(const ProcessRequest& request);
void answer_resize(const ProcessRequest& request);

}  // namespace sandgate::agent
