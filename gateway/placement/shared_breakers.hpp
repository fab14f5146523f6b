#pragma once
#include <string>

#include "gateway/core/database.hpp"
#include "gateway/core/notifications.hpp"
#include "gateway/placement/deployments.hpp"
#include "gateway/placement/health_board.hpp"

namespace sandgate {

// Shares circuit breaker verdicts among gateways through the database; the newest verdict wins, so
// one gateway's failures warn all. Backends on a gateway's own machine are not shared. While the
// database is away each gateway decides alone.
class SharedBreakers {
 public:
  SharedBreakers(Database& database, const Deployments& deployments, HealthBoard& board)
      : database_(database), deployments_(deployments), board_(board) {}

  // Publishes a verdict of this board; logs failures.
  Task<void> publish(DeploymentKey deployment, Verdict verdict);
  // Adopts the published verdicts. Throws when the database does not answer.
  Task<void> read();

  // Runs read() on `executor` after each publication. Call before `notifications` start.
  void subscribe(Notifications& notifications, asio::any_io_executor executor);

 private:
  bool is_shared(const DeploymentKey& deployment) const;

  Database& database_;
  const Deployments& deployments_;
  HealthBoard& board_;
};

}  // namespace sandgate
