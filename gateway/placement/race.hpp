#pragma once
#include <memory>
#include <vector>

#include "gateway/placement/place.hpp"

namespace sandgate {

// The attempts of one placement, on one strand. Attempts outlive the race's end: a create that
// succeeds too late is killed on arrival.
class Race : public std::enable_shared_from_this<Race> {
 public:
  Race(asio::strand<asio::any_io_executor> strand, Decision decision, CreateSpec spec,
       HealthBoard& board);

  Task<Placement> run();  // once, on the strand

 private:
  using Steady = std::chrono::steady_clock;
  using Result = Outcome<BackendSandbox>;

  // One attempt, until the backend has answered it; the race may have given it up before.
  struct Flight {
    DeploymentPtr deployment;
    Steady::time_point started, deadline;
    size_t attempt = 0;  // index in placement_.attempts
    bool active = true;  // the race still waits for it
    Account::Slot slot;  // of its account, until the backend has answered
    std::optional<Result> result;
  };
  using FlightPtr = std::shared_ptr<Flight>;

  // Beginning one.
  bool start_next();  // on the next candidate that is open to it; false: there is none
  CreateSpec spec_for(const Deployment& deployment) const;
  void launch(const FlightPtr& flight);  // asks the backend, beside the race

  // Its answer.
  void arrived(const FlightPtr& flight, Result result);
  void arrived_late(const Flight& flight, const Result& result);
  // Kills what is not as it was asked for, and makes a failure of it.
  Result refused(const Flight& flight, const BackendSandbox& made);
  void kill_late(const DeploymentPtr& deployment, std::string backend_id);

  // What comes of it.
  void settle(const FlightPtr& flight);  // takes a result into account
  void give_up_overdue(Steady::time_point now);
  void note_failure(const FlightPtr& flight, const Error& error);
  void learn(const Flight& flight, const Error& error);  // for later placements

  // How the race stands.
  Task<void> wait();  // for an answer, or the next moment at which there is something to do
  bool over(Steady::time_point now) const;  // its time is
  bool more() const;  // another candidate may be tried
  size_t active() const;
  Error final_error() const;

  asio::strand<asio::any_io_executor> strand_;
  Decision decision_;
  CreateSpec spec_;
  HealthBoard& board_;
  asio::steady_timer wake_;
  Steady::time_point deadline_;
  std::vector<FlightPtr> flights_;
  size_t next_ = 0;  // candidate
  bool finished_ = false;  // run() has ended: arrivals are late
  bool stop_ = false;  // an error that no other deployment cures
  Placement placement_;
};

}  // namespace sandgate
