#include "gateway/compat/e2b/sandbox_list.hpp"

#include "gateway/api/page.hpp"
#include "gateway/compat/e2b/sandbox_view.hpp"
#include "gateway/core/percent.hpp"

namespace sandgate::compat::e2b {
namespace {

constexpr int64_t kMaxItems = 100;

// Of cursors: one of a list in the other order would lead astray.
std::string list_name(bool oldest_first) {
  return oldest_first ? "e2b sandboxes, oldest first" : "e2b sandboxes";
}

bool is_oldest_first(const http::Query& query) {
  const std::string order = query.find("order").value_or("desc");
  if (order != "asc" && order != "desc") throw Error::invalid("/order", "must be asc or desc");
  return order == "asc";
}

std::optional<Time> started_after(const http::Query& query) {
  const auto text = query.find("startedAfter");
  if (!text || text->empty()) return std::nullopt;
  const auto at = from_rfc3339(*text);
  if (!at) throw Error::invalid("/startedAfter", "must be a time such as 2026-07-25T12:00:00Z");
  return at;
}

std::string decoded(std::string text) {
  auto plain = percent_decode(text);
  if (!plain) throw Error::invalid("/metadata", "is not percent-encoded text");
  return std::move(*plain);
}

std::vector<SandboxState> states_from(std::string_view text) {
  std::vector<SandboxState> states;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, end);
    if (word == "running")
      states.insert(states.end(), {SandboxState::running, SandboxState::resuming});
    else if (word == "paused")
      states.insert(states.end(), {SandboxState::paused, SandboxState::pausing});
    else
      throw Error::invalid("/state", "must be running or paused, or both with a comma");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return states;
}

}  // namespace

http::Query page_query_of(const http::Query& query) {
  std::string text = "limit=" + std::to_string(query.integer("limit", 1, kMaxItems, kMaxItems));
  // Our cursors need no encoding; read_page refuses anything else.
  if (const auto token = query.find("nextToken"); token && !token->empty())
    text += "&cursor=" + *token;
  return http::Query(text);
}

std::map<std::string, std::string> metadata_from(std::string_view text) {
  std::map<std::string, std::string> wanted;
  const http::Query form(text);
  for (const auto& [key, value] : form.items()) wanted[decoded(key)] = decoded(value);
  return wanted;
}

ListRequest list_request_from(const http::Request& request) {
  const bool oldest_first = is_oldest_first(request.query);
  const api::PageRequest page =
      api::read_page(page_query_of(request.query), 2, list_name(oldest_first));
  ListRequest list{.limit = static_cast<size_t>(page.limit)};
  list.filter.tenant = request.tenant();
  list.filter.rows = page.rows_to_fetch();
  // The older version of the list defaults to running sandboxes.
  const bool old = !request.path.starts_with("/e2b/v2/");
  const std::string states = request.query.find("state").value_or("");
  list.filter.states = states_from(!states.empty() ? states : old ? "running" : "running,paused");
  list.filter.metadata = metadata_from(request.query.find("metadata").value_or(""));
  list.filter.profile = request.query.find("template").value_or("");
  list.filter.oldest_first = oldest_first;
  list.filter.created_after = started_after(request.query);
  list.filter.after = page.created_after();
  return list;
}

Listed find_listed(pqxx::work& tx, const ListRequest& asked) {
  Listed found{.rows = sandbox_rows::list(tx, asked.filter), .running = std::nullopt};
  sandbox_rows::Filter running = asked.filter;
  std::erase_if(running.states, [](SandboxState state) { return !is_running(state); });
  running.ended = false;  // else all sandboxes that the tenant ever had are looked through
  if (!running.states.empty()) found.running = sandbox_rows::count(tx, running);
  return found;
}

http::Response list_answer(const Listed& found, const ListRequest& asked,
                           const std::string& domain) {
  const std::vector<SandboxRecord>& rows = found.rows;
  Json items = Json::array();
  const size_t shown = std::min(rows.size(), asked.limit);
  for (size_t i = 0; i < shown; ++i) items.push_back(detail_json(rows[i], domain));
  http::Response answer = http::Response::json(200, items);
  if (found.running) answer.headers.emplace_back("X-Total-Running", std::to_string(*found.running));
  if (rows.size() > shown && shown > 0) {
    const std::string token =
        api::to_cursor(list_name(asked.filter.oldest_first), api::creation_key(rows[shown - 1]));
    answer.headers.emplace_back("X-Next-Token", token);
  }
  return answer;
}

}  // namespace sandgate::compat::e2b
