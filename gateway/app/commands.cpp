#include "gateway/app/commands.hpp"

#include <signal.h>

#include <iostream>

#include "gateway/app/command_database.hpp"
#include "gateway/app/doctor.hpp"
#include "gateway/app/gateway.hpp"
#include "gateway/app/image_commands.hpp"
#include "gateway/app/node_settings.hpp"
#include "gateway/app/serve.hpp"
#include "gateway/app/settings_descriptor.hpp"
#include "gateway/app/settings_flags.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/migrate.hpp"
#include "gateway/supervisor/child.hpp"
#include "gateway/supervisor/process_hardening.hpp"
#include "local/egress/egress.hpp"
#include "local/node/node.hpp"

namespace sandgate {
namespace {

int run_serve(const SettingsFlags& flags) {
  disable_core_dumps();
  make_undumpable();
  // Stays pending until the supervisor listens: SIGHUP must not end a starting process.
  sigset_t reload;
  sigemptyset(&reload);
  sigaddset(&reload, SIGHUP);
  sigprocmask(SIG_BLOCK, &reload, nullptr);
  const Config config = flags.load();
  configure_log(config);
  for (const std::string& warning : config.warnings) log::warn(warning);
  return serve(config, [&flags] { return flags.load(/*again=*/true); });
}

// A distinct exit code for start-up failures, so that they are not retried like crashes.
int run_child(const std::function<int(const Config&)>& body) {
  try {
    disable_core_dumps();
    const Config config = config_from_supervisor();
    configure_log(config);
    return body(config);
  } catch (const Error& error) {
    report_start_failure(error.what());
    return kCannotStart;
  }
}

int run_migrate(const SettingsFlags& flags, bool as_json) {
  const Config config = flags.load();
  const auto database = command_database(config);
  asio::io_context loop;
  auto applied = asio::co_spawn(loop, migrate(*database, shipped_migrations()), asio::use_future);
  loop.run();
  const auto names = applied.get();
  if (as_json) {
    std::cout << Json{{"applied", names}}.dump(2) << "\n";
    return 0;
  }
  for (const std::string& name : names) std::cout << "applied " << name << "\n";
  if (names.empty()) std::cout << "nothing to apply\n";
  return 0;
}

void add_migrate(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("migrate", "Bring a database's schema up to date");
  const auto flags = std::make_shared<SettingsFlags>(*command);
  const auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print JSON");
  command->callback([flags, as_json, &exit_code] { exit_code = run_migrate(*flags, *as_json); });
}

}  // namespace

void add_server_commands(CLI::App& app, int& exit_code) {
  CLI::App* serve_command = app.add_subcommand(
      "serve", "Run the gateway, with the local provider and an embedded database as configured");
  const auto serve_flags = std::make_shared<SettingsFlags>(*serve_command);
  serve_command->callback([serve_flags, &exit_code] { exit_code = run_serve(*serve_flags); });

  app.add_subcommand("worker", "Started by serve")->group("")->callback([&exit_code] {
    exit_code = run_child([](const Config& config) -> int {
      make_undumpable();
      set_no_new_privileges();
      Gateway(config).run();
    });
  });
  app.add_subcommand("node", "Started by serve: the privileged part")
      ->group("")
      ->callback([&exit_code] {
        exit_code = run_child([](const Config& config) { return run_node(node_settings(config)); });
      });

  app.add_subcommand("egress", "Started by the node: carries bytes out of sandboxes")
      ->group("")
      ->callback([&exit_code] { exit_code = egress::run_egress(); });

  add_migrate(app, exit_code);

  CLI::App* doctor_command = app.add_subcommand(
      "doctor", "Show what this machine offers, what is missing and how to fix it");
  const auto doctor_flags = std::make_shared<SettingsFlags>(*doctor_command);
  const auto as_json = std::make_shared<bool>(false);
  doctor_command->add_flag("--json", *as_json, "Print JSON");
  doctor_command->callback(
      [doctor_flags, as_json, &exit_code] { exit_code = doctor(doctor_flags->load(), *as_json); });

  add_image_commands(app, exit_code);
}

}  // namespace sandgate
