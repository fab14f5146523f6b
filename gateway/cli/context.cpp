#include "gateway/cli/context.hpp"

#include <cmath>
#include <filesystem>

#include "gateway/cli/decision.hpp"
#include "gateway/cli/options/tenant_reference.hpp"
#include "gateway/cli/terminal/interrupt.hpp"
#include "gateway/core/json_text.hpp"

namespace sandgate::cli {

Context::Context(Environment environment, Console console, ExitCode& exit_code)
    : environment_(std::move(environment)), console_(console), exit_code_(exit_code) {}

void Context::on(CLI::App& command, std::function<void()> work) {
  add(command, std::move(work), Acts::for_tenant);
}

void Context::on_operator(CLI::App& command, std::function<void()> work) {
  add(command, std::move(work), Acts::as_operator);
}

void Context::on_either(CLI::App& command, std::function<void()> work) {
  command.add_flag("--operator", operator_, "Act with the operator's key, and for no tenant");
  add(command, std::move(work), Acts::for_either);
}

void Context::add(CLI::App& command, std::function<void()> work, Acts acts) {
  command.add_flag("--json", json_, "Print the answer as JSON");
  command.add_option("--url", url_, "The gateway's address (SANDGATE_URL)");
  command.add_option("--tenant", tenant_,
                     "Act for this tenant (id or name), with an operator's key");
  command.callback([self = shared_from_this(), work = std::move(work), acts] {
    self->acts_ = acts;
    try {
      work();
    } catch (const Error& error) {
      self->report(error);
    } catch (const std::filesystem::filesystem_error& failure) {
      self->report(Error(ErrorCode::invalid, "cannot use " + failure.path1().string() + ": " +
                                                 failure.code().message()));
    }
  });
}

void Context::report(const Error& error) {
  exit_code_ = 1;
  console_.out << std::flush;
  if (json_) {
    const Json plain{{"code", to_string(error.code)}, {"detail", error.what()}};
    console_.err << json_text(error.details.is_null() ? plain : error.details, 2) << std::endl;
    return;
  }
  const std::string line = printable(std::string("sandgate: ") + error.what() + hint_for(error));
  console_.err << console_.styled_error(line) << std::endl;
  for (const std::string& refusal : refusals(error.details))
    console_.err << "  " << refusal << std::endl;
}

// An operator has no tenant, so only the user can say which tenant to act for. What a sandbox or a
// backend forbids, no other key permits; what suspension forbids, for some requests no key does.
std::string Context::hint_for(const Error& error) const {
  if (error.code != ErrorCode::forbidden || acts_ == Acts::as_operator) return "";
  if (operator_ || !tenant_.empty()) return "";
  if (error.details.contains("refused_by") || error.details.contains("provider")) return "";
  const Settings settings = load_settings(environment_);
  if (settings.api_key.empty() || settings.admin_key.empty()) return "";
  if (std::string_view(error.what()).starts_with("this tenant is suspended"))
    return "; `sandgate tenants unsuspend` ends that";
  return acts_ == Acts::for_either ? "; --operator or --tenant ID acts with the operator's key"
                                   : "; --tenant ID acts with the operator's key";
}

void Context::interruptible(const std::function<void()>& work) {
  catch_interrupts();
  try {
    work();
  } catch (const Error&) {
    // Tested before what `work` may leave to be undone clears the flag.
    if (!interrupted()) throw;
    exit_with(kEndedBySignal + interrupt_signal());
  }
}

void Context::each(const std::vector<std::string>& names,
                   const std::function<void(const std::string& name)>& work) {
  for (const std::string& name : names) {
    try {
      work(name);
    } catch (const Error& error) {
      report(error);
    }
  }
}

// Acting for a tenant requires an operator's key.
Client Context::client() const {
  if (operator_) return operator_client();
  const Settings settings = load_settings(environment_);
  const std::string tenant = tenant_.empty() ? settings.tenant : tenant_;
  return connect(settings, acts_ == Acts::as_operator || !tenant_.empty(), tenant);
}

Client Context::operator_client() const {
  return connect(load_settings(environment_), /*prefer_admin=*/true, tenant_);
}

bool Context::has_operator_key() const { return !load_settings(environment_).admin_key.empty(); }

Client Context::connect(Settings settings, bool prefer_admin, const std::string& tenant) const {
  if (!url_.empty()) settings.url = url_;
  settings.url = gateway_address(settings.url);
  const bool use_admin = !settings.admin_key.empty() && (prefer_admin || settings.api_key.empty());
  const Secret& key = use_admin ? settings.admin_key : settings.api_key;
  if (key.empty()) throw Error(ErrorCode::unauthenticated, about_missing_key(prefer_admin));
  const std::string id = tenant_id(tenant);
  return Client(settings.url, key, id, use_admin ? "SANDGATE_ADMIN_KEY" : "SANDGATE_API_KEY");
}

std::string Context::about_missing_key(bool prefer_admin) const {
  const std::string file = settings_path(environment_).string();
  for (const char* name : {"SANDGATE_API_KEY", "SANDGATE_ADMIN_KEY"})
    if (const auto value = environment_(name); value && value->empty())
      return std::string("no API key: ") + name + " is set but empty, which goes before " + file +
             ": set it to a key, or unset it";
  return prefer_admin ? "no operator's key: set SANDGATE_ADMIN_KEY, or admin_key in " + file
                      : "no API key: set SANDGATE_API_KEY, or api_key in " + file;
}

std::string Context::tenant_id(const std::string& given) const {
  if (given.empty()) return "";
  return tenant_id_of(connect(load_settings(environment_), /*prefer_admin=*/true, ""), given);
}

void Context::print(const Json& document) const { console_.out << json_text(document, 2) << '\n'; }

void Context::show(const Json& document, const std::function<void(const Json&)>& render) const {
  if (json_)
    print(document);
  else
    render(document);
}

void Context::show_items(const std::vector<Json>& items,
                         const std::function<void(const std::vector<Json>&)>& render) const {
  if (json_)
    print({{"items", items}});
  else
    render(items);
}

void Context::say(const std::string& line) const {
  if (!json_) console_.out << printable(line) << '\n';
}

std::string cell(const Json& document, const char* path) {
  const Json::json_pointer pointer(path);
  if (!document.contains(pointer)) return "-";
  const Json& value = document.at(pointer);
  if (value.is_null()) return "-";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string rounded_cell(const Json& document, const char* path) {
  const Json::json_pointer pointer(path);
  if (!document.contains(pointer) || !document.at(pointer).is_number()) return cell(document, path);
  return std::to_string(std::llround(document.at(pointer).get<double>()));
}

std::string time_cell(const Json& document, const char* path) {
  std::string text = cell(document, path);
  if (text.size() < 20 || text[10] != 'T') return text;
  text.resize(19);
  text[10] = ' ';
  return text + 'Z';
}

}  // namespace sandgate::cli
