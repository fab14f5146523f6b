#pragma once
#include <memory>

#include "billing/ledger/losses.hpp"
#include "billing/prices/price_books.hpp"
#include "billing/usage/meter.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/core/database.hpp"
#include "gateway/placement/deployments.hpp"
#include "gateway/placement/health_board.hpp"
#include "gateway/placement/place.hpp"
#include "gateway/sandboxes/creating/create_queue.hpp"
#include "gateway/sandboxes/creating/optimistic_create_limiter.hpp"
#include "gateway/sandboxes/ending/outage_journal.hpp"
#include "gateway/sandboxes/installation.hpp"
#include "gateway/sandboxes/sandbox_cache.hpp"
#include "gateway/sandboxes/spend_guard.hpp"

namespace sandgate {

// The services of a gateway that the classes which change sandboxes share. What is referred to
// outlives them all.
struct LifecycleParts {
  Database& database;
  Deployments& deployments;
  HealthBoard& board;
  PriceBooks& prices;
  Meter& meter;
  SpendGuard& spend;
  SandboxCache& cache;
  const Clock& clock;
  const Cipher& cipher;  // opens secrets
  asio::any_io_executor executor;  // for detached work
  OutageJournal* outage = nullptr;  // null: nothing can be ended while the database is away
  bool price_required = false;  // a deployment of unknown price is not eligible
  std::shared_ptr<Installation> installation = std::make_shared<Installation>();
  std::shared_ptr<OptimisticCreateLimiter> optimistic_creates =
      std::make_shared<OptimisticCreateLimiter>();
  std::shared_ptr<CreateQueue> create_queue = std::make_shared<CreateQueue>();
  std::shared_ptr<Losses> losses = std::make_shared<Losses>(prices);
};

}  // namespace sandgate
