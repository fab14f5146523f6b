#include "gateway/cli/client.hpp"

#include <thread>

#include "gateway/cli/terminal/console.hpp"
#include "gateway/cli/terminal/interrupt.hpp"
#include "gateway/cli/transfer.hpp"
#include "gateway/core/random.hpp"

namespace sandgate::cli {
namespace {

// Before a request is sent again. A gateway that died takes some seconds to come back.
constexpr std::chrono::milliseconds kPauses[] = {std::chrono::milliseconds(250),
                                                 std::chrono::milliseconds(1000),
                                                 std::chrono::milliseconds(3000)};
constexpr std::chrono::milliseconds kLook{50};

void pause_for(std::chrono::milliseconds pause, int patience) {
  for (auto left = pause; left.count() > 0; left -= kLook) {
    if (interrupts() > patience) throw Error(ErrorCode::timeout, "interrupted");
    std::this_thread::sleep_for(kLook);
  }
}

// Which command names what there is, by how a problem says that something is not there.
constexpr std::pair<std::string_view, std::string_view> kLists[] = {
    {"no sandbox '", "sandgate list"},
    {"no profile '", "sandgate profiles list"},
    {"no snapshot '", "sandgate snapshot list"},
    {"no secret '", "sandgate secrets list"},
    {"no tenant '", "sandgate tenants list"},
    {"no key '", "sandgate keys list"},
    {"no deployment '", "sandgate deployments list"},
    {"no webhook '", "sandgate webhooks list"},
    {"no export '", "sandgate exports list"},
    {"no invoice '", "sandgate invoices list"},
    {"no price book '", "sandgate prices list"},
};

// What answers need not be a Sandgate, so each member may be of any type.
std::string text_in(const Json& object, const char* name, const std::string& otherwise) {
  const Json text = object.is_object() ? object.value(name, Json()) : Json();
  return text.is_string() ? text.get<std::string>() : otherwise;
}

// The name in "profile 'NAME' has no version 9"; empty for other text.
std::string profile_without_it(std::string_view detail) {
  constexpr std::string_view kBeginning = "profile '";
  if (!detail.starts_with(kBeginning)) return "";
  detail.remove_prefix(kBeginning.size());
  const size_t end = detail.find("' has no ");
  return std::string(end == std::string_view::npos ? "" : detail.substr(0, end));
}

std::string where_to_look(const std::string& detail) {
  if (const std::string profile = profile_without_it(detail); !profile.empty())
    return "; `sandgate profiles versions " + profile + "` shows what it has";
  for (const auto& [beginning, command] : kLists)
    if (detail.starts_with(beginning)) return "; `" + std::string(command) + "` shows them";
  return "";
}

std::string next_step(const Json& problem, ErrorCode code, const char* key_variable) {
  if (code == ErrorCode::conflict && problem.value("state", Json()) == "paused")
    return "; `sandgate resume` lets it go on";
  const std::string detail = text_in(problem, "detail", "");
  switch (code) {
    case ErrorCode::unauthenticated:
      return std::string("; set ") + key_variable + " to a valid key";
    case ErrorCode::not_found:
      return where_to_look(detail);
    case ErrorCode::unavailable:
      if (detail.ends_with("on the machine of another gateway")) return "; ask that one";
      [[fallthrough]];
    case ErrorCode::no_capacity:
      return "; try again in a moment";
    default:
      return "";
  }
}

std::string fields_text(const Json& problem) {
  std::string text;
  for (const Json& field : problem.value("fields", Json::array())) {
    const std::string path = text_in(field, "path", "");  // an empty path means the whole document
    text += "; " + path + (path.empty() ? "" : " ") + text_in(field, "message", "");
  }
  return text;
}

// An address with a path is right behind a proxy alone.
bool has_path(std::string_view url) {
  const size_t scheme = url.find("://");
  return url.find('/', scheme == std::string_view::npos ? 0 : scheme + 3) != std::string_view::npos;
}

Error problem_error(const std::string& url, const Reply& reply, const char* key_variable) {
  const Json problem = Json::parse(reply.body, nullptr, false);
  if (!problem.is_object() || !problem.contains("code") || !problem["code"].is_string())
    return Error(ErrorCode::internal, "the server answered " + std::to_string(reply.status) +
                                          " without a problem document; is " + url +
                                          " a Sandgate's address?");
  const std::string code = problem["code"];
  const ErrorCode known = error_code_from(code).value_or(ErrorCode::internal);
  const std::string fields = fields_text(problem);
  const std::string detail = fields.empty() ? text_in(problem, "detail", code) : fields.substr(2);
  const std::string path =
      known == ErrorCode::not_found && has_path(url) ? "; is the path in " + url + " right?" : "";
  Error error(known,
              printable(detail + next_step(problem, known, key_variable) + path + " (" + code +
                        ", request " + text_in(problem, "request_id", "unknown") + ")"));
  error.details = problem;
  return error;
}

}  // namespace

Json Reply::json() const {
  Json value = Json::parse(body, nullptr, false);
  if (value.is_discarded())
    throw Error(ErrorCode::internal, "the server's answer is not JSON; is this a Sandgate URL?");
  return value;
}

Client::Client(std::string url, Secret key, std::string tenant, const char* key_variable)
    : url_(std::move(url)),
      key_(std::move(key)),
      tenant_(std::move(tenant)),
      key_variable_(key_variable) {}

Reply Client::call(Call call) const {
  if (!call.once) return send(call, "");
  const std::string idempotency_key = random_hex(16);
  std::exception_ptr lost;
  for (const auto pause : kPauses) {
    try {
      return send(call, idempotency_key);
    } catch (const LostAnswer&) {
      lost = std::current_exception();
    } catch (const Unreachable&) {
      if (!lost) throw;
    }
    pause_for(pause, call.patience);
  }
  try {
    return send(call, idempotency_key);
  } catch (const Unreachable&) {
    std::rethrow_exception(lost);  // tells that something may have been made
  }
}

Reply Client::send(Call& call, const std::string& idempotency_key) const {
  Transfer transfer(url_, call);
  if (!idempotency_key.empty()) transfer.header("Idempotency-Key: " + idempotency_key);
  if (!key_.empty()) transfer.header("Authorization: Bearer " + key_.reveal());
  if (!tenant_.empty()) transfer.header("X-Sandgate-Tenant: " + tenant_);
  Reply reply = transfer.run();
  if (reply.status >= 400) throw problem_error(url_, reply, key_variable_);
  return reply;
}

Json Client::get(std::string path) const { return call({.path = std::move(path)}).json(); }

Json Client::post(std::string path, Json body) const {
  const Reply reply = call({.method = "POST", .path = std::move(path), .json = std::move(body)});
  return reply.body.empty() ? Json::object() : reply.json();
}

Json Client::create(std::string path, Json body) const {
  return call({.method = "POST", .path = std::move(path), .json = std::move(body), .once = true})
      .json();
}

Json Client::put(std::string path, Json body) const {
  const Reply reply = call({.method = "PUT", .path = std::move(path), .json = std::move(body)});
  return reply.body.empty() ? Json::object() : reply.json();
}

void Client::remove(std::string path) const { call({.method = "DELETE", .path = std::move(path)}); }

std::vector<Json> Client::all(std::string path, size_t most) const {
  std::vector<Json> items;
  const char* separator = path.find('?') == std::string::npos ? "?" : "&";
  std::string page = path + separator + "limit=100";
  while (items.size() < most) {
    const Json answer = get(page);
    for (const Json& item : answer.value("items", Json::array())) items.push_back(item);
    const Json cursor = answer.value("next_cursor", Json());
    if (!cursor.is_string()) break;
    page = path + separator + "limit=100&cursor=" + percent_encode(cursor.get<std::string>());
  }
  if (items.size() > most) items.resize(most);
  return items;
}

std::string query_of(std::initializer_list<std::pair<const char*, const std::string&>> parameters) {
  std::string query;
  for (const auto& [name, value] : parameters)
    if (!value.empty())
      query += (query.empty() ? "?" : "&") + std::string(name) + "=" + percent_encode(value);
  return query;
}

std::string sandbox_path(const std::string& id) { return "/v1/sandboxes/" + percent_encode(id); }

}  // namespace sandgate::cli
