#pragma once
#include <atomic>
#include <string>

#include "gateway/core/database.hpp"
#include "gateway/core/notifications.hpp"
#include "gateway/placement/deployments.hpp"
#include "gateway/placement/health_board.hpp"

namespace sandgate {

// Breakers among the gateways of one database: each decides by what it saw and takes over what
// another decided later, so that one finds out for all. Of backends that each gateway has one of,
// each keeps its own. Without the database each goes on alone.
class SharedBreakers {
 public:
  SharedBreakers(Database& database, const Deployments& deployments, HealthBoard& board)
      : database_(database), deployments_(deployments), board_(board) {}

  // Tells the others what the board decided.
  Task<void> tell(DeploymentKey deployment, Verdict verdict);
  // Takes over what the others decided.
  Task<void> read();

  // Has read() run on `executor` whenever somebody told something. Before `notifications` start.
  void subscribe(Notifications& notifications, asio::any_io_executor executor);

 private:
  bool is_shared(const DeploymentKey& deployment) const;

  Database& database_;
  const Deployments& deployments_;
  HealthBoard& board_;
};

}  // namespace sandgate
