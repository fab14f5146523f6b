#include "gateway/sandboxes/creating/shadowing.hpp"

#include "billing/sql_array.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/core/statement.hpp"
#include "gateway/sandboxes/creating/creation.hpp"
#include "gateway/sandboxes/upkeep/orphans.hpp"

namespace sandgate {
namespace {

constexpr int kShadowsAtOnce = 4;  // further creates are not shadowed
constexpr std::chrono::seconds kShadowKillTimeout{30};

constexpr char kBegun[] = R"sql(
  INSERT INTO shadow (id, sandbox, tenant, profile, version, outcome, document, finished_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, CASE WHEN $6 <> 'running' THEN now() END))sql";
constexpr char kEnded[] = R"sql(
  UPDATE shadow SET outcome = $2, document = $3::jsonb, finished_at = now() WHERE id = $1)sql";
// A placement takes at most ten minutes.
constexpr char kLost[] = R"sql(
  UPDATE shadow SET outcome = 'unknown', finished_at = now()
  WHERE outcome = 'running' AND created_at <= now() + make_interval(secs => $1 / 1000.0)
    - interval '15 minutes')sql";

}  // namespace

struct Shadowing::Run {
  SandboxId id, beside;
  CreateOrder order;  // with the shadow's profile_version and request
  Decision decision;
  std::string outcome;

  Json document() const { return outcome == "refused" ? Json::object() : to_json(decision); }
};

void Shadowing::follow(const CreateOrder& order, const SandboxId& sandbox) {
  if (!order.shadow || order.request.snapshot) return;
  if (++under_way_ > kShadowsAtOnce) {
    --under_way_;
    return;
  }
  Run run{.id = SandboxId::make(), .beside = sandbox, .order = order, .outcome = "refused"};
  run.order.profile_version = order.shadow->version;
  auto work = [this, run = std::move(run)]() mutable -> Task<void> {
    auto running = carry_out(std::move(run));
    const auto outcome = co_await attempt(std::move(running));
    if (const auto* error = std::get_if<Error>(&outcome))
      log::warn("a shadow was not recorded", {{"reason", error->what()}});
    --under_way_;
  };
  spawn_detached(parts_.executor, std::move(work));
}

Task<void> Shadowing::carry_out(Run run) {
  if (run.order.shadow->request) {
    run.order.request = *run.order.shadow->request;
    run.decision = lifecycle_.explain(run.order);
    run.outcome = run.decision.eligible() > 0 ? "running" : "failed";
  }
  auto begin = [run](pqxx::work& tx) {
    run_prepared(tx, kBegun, run.id.value, run.beside.value, run.order.tenant.value,
                 run.order.profile, run.order.profile_version, run.outcome, run.document().dump());
  };
  co_await parts_.database.run(std::move(begin));
  if (run.outcome != "running") co_return;
  co_await place_run(run);
  auto end = [id = run.id, outcome = run.outcome, document = run.document()](pqxx::work& tx) {
    run_prepared(tx, kEnded, id.value, outcome, document.dump());
  };
  co_await parts_.database.run(std::move(end));
}

Task<void> Shadowing::place_run(Run& run) {
  CreateSpec spec = spec_of(run.order.request, run.id, run.order.tenant);
  spec.installation = parts_.installation->id();
  spec.forwarding_path = run.order.passed;
  const auto asked_at = std::chrono::steady_clock::now();
  auto placing = place(run.decision, std::move(spec), parts_.board, discarding_at_a_loss(parts_));
  const Placement placement = co_await std::move(placing);
  run.decision.attempts = placement.attempts;
  run.outcome = placement.placed ? "created" : "failed";
  if (!placement.placed) co_return;
  UnwantedSandbox unwanted{placement.placed->deployment, placement.placed->sandbox,
                           run.order.request.profile.resources, asked_at};
  unwanted.sandbox.sandbox_id = run.id.value;
  run.decision.chosen = unwanted.deployment->name;
  auto ending = discard_at_a_loss(parts_, unwanted);
  const auto ended = co_await attempt_within(kShadowKillTimeout, std::move(ending));
  if (std::holds_alternative<Error>(ended))
    log::warn("a shadow's sandbox was not killed at once",
              {{"deployment", unwanted.deployment->name}});
}

size_t close_lost_shadows(pqxx::work& tx, std::chrono::milliseconds ahead) {
  return static_cast<size_t>(run_prepared(tx, kLost, ahead.count()).affected_rows());
}

std::vector<std::string> shadows_among(pqxx::work& tx, const std::vector<std::string>& ids) {
  const auto rows =
      run_prepared(tx, "SELECT id FROM shadow WHERE id = ANY($1::text[])", sql_array_of(ids));
  std::vector<std::string> known;
  for (const auto& row : rows) known.push_back(row[0].as<std::string>());
  return known;
}

std::optional<Json> find_shadow(pqxx::work& tx, const SandboxId& sandbox) {
  const auto rows =
      run_prepared(tx, "SELECT version, outcome, document FROM shadow WHERE sandbox = $1 LIMIT 1",
                   sandbox.value);
  if (rows.empty()) return std::nullopt;
  Json decision = Json::parse(rows[0][2].as<std::string>());
  if (decision.empty()) decision = nullptr;
  return Json{{"version", rows[0][0].as<int>()},
              {"outcome", rows[0][1].as<std::string>()},
              {"decision", std::move(decision)}};
}

}  // namespace sandgate
