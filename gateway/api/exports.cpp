#include "gateway/api/exports.hpp"

#include "gateway/api/audit.hpp"
#include "gateway/api/named_resource.hpp"
#include "gateway/core/document_reader.hpp"
#include "gateway/core/moment.hpp"
#include "gateway/http/table_body.hpp"
#include "registry/document_fields.hpp"

namespace sandgate::api {
namespace {

constexpr size_t kMaxExportBytes = 8 << 20;
constexpr size_t kMaxSecrets = 8, kMaxSecretBytes = 4096, kMaxRetried = 1000;

ExportStore::Draft draft_from(const http::Request& request) {
  const Json body = http::table_in(request);
  DocumentReader reader(body);
  ExportStore::Draft draft{.name = request.param("name")};
  if (!is_name(draft.name)) reader.problems().add("", kNameRule);
  reader.require("kind");
  draft.kind = reader.text("kind", {.min = 1, .max = 63}).value_or("");
  if (!draft.kind.empty() && !find_export_kind(draft.kind))
    reader.problem("kind", "is not a kind of export of this gateway");
  const Json* settings = reader.object("settings");
  draft.settings = settings ? *settings : Json::object();
  if (const auto texts =
          reader.text_map("secrets", kMaxSecrets, {.min = 1, .max = kMaxSecretBytes})) {
    draft.secrets.emplace();
    for (const auto& [name, value] : *texts) draft.secrets->emplace(name, Secret(value));
  }
  draft.enabled = reader.boolean("enabled").value_or(true);
  draft.since = read_moment(reader, "since");
  reader.finish_or_throw();
  return draft;
}

// {"events": [ids]}; an empty body means all dead letters.
std::vector<std::string> events_from(const http::Request& request) {
  if (request.body.empty()) return {};
  const Json body = request.json_or_empty();
  DocumentReader reader(body);
  const auto events = reader.texts("events", kMaxRetried, {.min = 36, .max = 36});
  reader.finish_or_throw();
  return events.value_or(std::vector<std::string>());
}

}  // namespace

void ExportHandlers::add_routes(http::Routes& routes) {
  using http::Method;
  NamedRoutes named(routes, *this, http::Permission::operate, http::Permission::operate,
                    kMaxExportBytes);
  named.add(Method::get, "/v1/exports", &ExportHandlers::list);
  named.add(Method::put, "/v1/exports/{name}", &ExportHandlers::put);
  named.add(Method::get, "/v1/exports/{name}", &ExportHandlers::get);
  named.add(Method::delete_, "/v1/exports/{name}", &ExportHandlers::remove);
  named.add(Method::get, "/v1/exports/{name}/dead-letters", &ExportHandlers::dead_letters);
  named.add(Method::post, "/v1/exports/{name}/retry", &ExportHandlers::retry);
}

Task<http::Response> ExportHandlers::list(http::Request& request) {
  const PageRequest page = read_page(request, 1);
  const auto rows = co_await exports_.list();
  const auto render = [](const ExportRow& row) { return to_json(row); };
  const auto key = [](const ExportRow& row) { return std::vector{row.name}; };
  co_return http::Response::json(200, page_of_all(page, rows, render, key));
}

Task<http::Response> ExportHandlers::get(http::Request& request) {
  const ExportRow row = co_await exports_.get(request.param("name"));
  co_return http::Response::json(200, to_json(row));
}

Task<http::Response> ExportHandlers::put(http::Request& request) {
  const ExportStore::Draft draft = draft_from(request);
  const ChangeTrail trail = trail_of(request, std::nullopt, "export.set", draft.name);
  const ExportRow row = co_await exports_.put(draft, trail);
  co_return http::Response::json(200, to_json(row));
}

Task<http::Response> ExportHandlers::remove(http::Request& request) {
  const std::string name = request.param("name");
  const ChangeTrail trail = trail_of(request, std::nullopt, "export.delete", name);
  co_await exports_.remove(name, trail);
  co_return http::Response::empty(204);
}

Task<http::Response> ExportHandlers::dead_letters(http::Request& request) {
  const PageRequest page = read_page(request, 1);
  const int64_t after = page.after.empty() ? 0 : page.integer_after(0);
  const auto letters =
      co_await exports_.dead_letters(request.param("name"), after, page.rows_to_fetch());
  const auto render = [](const DeadLetter& letter) { return to_json(letter); };
  const auto key = [](const DeadLetter& letter) {
    return std::vector{std::to_string(letter.sequence)};
  };
  co_return http::Response::json(200, page_json(page, letters, render, key));
}

Task<http::Response> ExportHandlers::retry(http::Request& request) {
  const std::vector<std::string> events = events_from(request);
  const size_t count = co_await exports_.retry(request.param("name"), events);
  co_return http::Response::json(202, {{"retried", count}});
}

}  // namespace sandgate::api
