#include "gateway/cli/commands/provider_trial.hpp"

#include <chrono>

#include "gateway/cli/decision.hpp"
#include "gateway/cli/patient_create.hpp"
#include "gateway/cli/terminal/interrupt.hpp"
#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

constexpr int kExitCode = 7;  // an unusual code, so that a match is no accident
constexpr const char* kFile = "sandgate-providers-test";

std::string all_bytes() {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  return bytes;
}

[[noreturn]] void disagree(const std::string& what) { throw Error(ErrorCode::internal, what); }

// The steps on one deployment. A failed step skips those that depend on it; a created sandbox is
// always killed.
class Trial {
 public:
  Trial(const Client& client, std::string deployment, std::string profile)
      : client_(client), deployment_(std::move(deployment)), profile_(std::move(profile)) {}

  void run();
  bool failed() const { return failed_; }
  Json document() const { return {{"deployment", deployment_}, {"steps", steps_}}; }

 private:
  using Step = std::string (Trial::*)();

  // Runs a step; returns whether it succeeded. Its result or error fills the detail column.
  bool take(const char* name, Step step);
  void skip(const char* name, const std::string& why) { note(name, "skipped", Json(), why); }
  void note(const char* name, const char* result, Json milliseconds, std::string detail);

  std::string look();
  std::string create();
  std::string exec();
  std::string files();
  std::string kill();

  const Client& client_;
  const std::string deployment_, profile_;
  Json verbs_ = Json::object();
  std::string id_;
  Json steps_ = Json::array();
  bool failed_ = false;
};

void Trial::note(const char* name, const char* result, Json milliseconds, std::string detail) {
  steps_.push_back({{"step", name},
                    {"result", result},
                    {"ms", std::move(milliseconds)},
                    {"detail", std::move(detail)}});
}

bool Trial::take(const char* name, Step step) {
  const auto begin = std::chrono::steady_clock::now();
  const auto since = [&] {
    const auto took = std::chrono::steady_clock::now() - begin;
    return std::chrono::duration_cast<std::chrono::milliseconds>(took).count();
  };
  try {
    std::string detail = (this->*step)();
    note(name, "ok", since(), std::move(detail));
    return true;
  } catch (const Error& error) {
    failed_ = true;
    std::string detail = error.what();
    for (const std::string& line : refusals(error.details)) detail += "; " + line;
    note(name, "failed", since(), std::move(detail));
    return false;
  }
}

std::string Trial::look() {
  for (const Json& item : client_.all("/v1/providers")) {
    if (cell(item, "/deployment") != deployment_) continue;
    const Json descriptor = item.value("descriptor", Json::object());
    verbs_ = descriptor.value("verbs", Json::object());
    return cell(item, "/provider") + ", " + cell(descriptor, "/isolation") + ", breaker " +
           cell(item, "/health/breaker");
  }
  throw Error::not_found("deployment", deployment_);
}

std::string Trial::create() {
  const Json made = create_patiently(client_, {{"profile", profile_},
                                               {"metadata", {{"made_by", "providers test"}}},
                                               {"placement", {{"only", {deployment_}}}}});
  id_ = cell(made, "/id");
  if (cell(made, "/backend/deployment") != deployment_)
    disagree("it runs on " + cell(made, "/backend/deployment"));
  return id_;
}

std::string Trial::exec() {
  const Json done = client_.post(
      sandbox_path(id_) + "/exec",
      {{"command",
        {"/bin/sh", "-c", "echo out; echo err >&2; exit " + std::to_string(kExitCode)}}});
  if (done.value("exit_code", -1) != kExitCode || done.value("stdout", "") != "out\n" ||
      done.value("stderr", "") != "err\n")
    disagree("the program's output or exit code came back wrong");
  return "output and exit code are right";
}

std::string Trial::files() {
  const std::string file = sandbox_path(id_) + "/files?path=" + kFile;
  client_.call({.method = "PUT",
                .path = file,
                .content_type = "application/octet-stream",
                .text = all_bytes()});
  if (client_.call({.path = file}).body != all_bytes()) disagree("the file came back changed");
  client_.remove(file);
  return "every byte came back as it was written";
}

std::string Trial::kill() {
  client_.remove(sandbox_path(id_));
  const std::string state = cell(client_.get(sandbox_path(id_)), "/state");
  if (state != "stopped" && state != "stopping") disagree("it is " + state);
  return state;
}

void Trial::run() {
  if (!take("descriptor", &Trial::look)) return;
  catch_interrupts();
  const bool made = take("create", &Trial::create);
  for (const auto& [name, verb, step] :
       {std::tuple("exec", "exec", &Trial::exec), std::tuple("files", "files", &Trial::files)}) {
    if (!made)
      skip(name, "there is no sandbox");
    else if (!verbs_.contains(verb))
      skip(name, "the backend does not offer it");
    else
      take(name, step);
  }
  reset_interrupts();
  if (id_.empty())
    skip("kill", "there is no sandbox");
  else
    take("kill", &Trial::kill);
}

void print_trial(const Console& console, const Json& document) {
  Table table({"STEP", "RESULT", ">MS", "DETAIL"});
  for (const Json& step : document["steps"])
    table.add(
        {cell(step, "/step"), cell(step, "/result"), cell(step, "/ms"), cell(step, "/detail")});
  table.print(console, "");
}

}  // namespace

void add_provider_trial(CLI::App& group, const ContextPtr& context) {
  struct Options {
    std::string deployment, profile = "python";
  };
  auto options = std::make_shared<Options>();
  auto* command = group.add_subcommand("test", "Create, use and kill a sandbox on one deployment");
  command->add_option("DEPLOYMENT", options->deployment, "The deployment")->required();
  command->add_option("--profile", options->profile, "What to create")->capture_default_str();
  context->on(*command, [context, options] {
    const Client client = context->client();
    Trial trial(client, options->deployment, options->profile);
    trial.run();
    context->show(trial.document(),
                  [&](const Json& document) { print_trial(context->console(), document); });
    if (trial.failed()) context->exit_with(1);
  });
}

}  // namespace sandgate::cli
