#pragma once
#include <memory>
#include <vector>

#include "gateway/placement/place.hpp"

namespace sandgate {

// The attempts of one placement, on one strand. An attempt may outlive the race; its sandbox is
// then killed on arrival.
class Race : public std::enable_shared_from_this<Race> {
 public:
  Race(asio::strand<asio::any_io_executor> strand, Decision decision, CreateSpec spec,
       HealthBoard& board, DiscardSandbox discard);

  Task<Placement> run();  // once, on the strand

 private:
  using Steady = std::chrono::steady_clock;
  using Result = Outcome<BackendSandbox>;

  // One attempt, until the backend answers. The race may give it up earlier.
  struct Flight {
    DeploymentPtr deployment;
    Steady::time_point started, deadline;
    size_t attempt = 0;  // index in placement_.attempts
    bool active = true;  // the race still waits for it
    bool undecided = true;  // nothing was learnt from it yet
    Account::Slot slot;  // held until the backend has answered
    std::optional<Result> result;
  };
  using FlightPtr = std::shared_ptr<Flight>;

  // Starting attempts.
  bool start_next();  // on the next candidate that admits one; false: none left
  std::string image_on(const Deployment& deployment) const;  // its backend's name for the image
  CreateSpec spec_for(const Deployment& deployment) const;
  void launch(const FlightPtr& flight);  // calls the backend in parallel to the race

  // Answers.
  void arrived(const FlightPtr& flight, Result result);
  void arrived_late(Flight& flight, const Result& result);
  // Kills a sandbox with the wrong isolation or region; returns the failure to record.
  Result refused(const Flight& flight, const BackendSandbox& made);
  void discard(const Flight& flight, const BackendSandbox& made);  // in parallel to the race

  // Results.
  void record(const FlightPtr& flight);  // a result that has arrived; no effect without one
  void give_up_overdue(Steady::time_point now);
  void note_failure(const FlightPtr& flight, const Error& error);
  void learn(Flight& flight, const Error& error);  // updates breaker and account

  // State of the race.
  Task<void> wait();  // for an answer, or the next deadline or hedge
  bool over(Steady::time_point now) const;  // deadline_ has passed
  bool more() const;  // another candidate may be tried
  size_t active() const;
  Error final_error() const;

  asio::strand<asio::any_io_executor> strand_;
  Decision decision_;  // candidates that turn out to be busy are rejected in it
  const size_t eligible_;  // of its candidates, before any attempt
  CreateSpec spec_;
  HealthBoard& board_;
  const DiscardSandbox discard_;
  asio::steady_timer wake_;
  Steady::time_point deadline_;
  std::vector<FlightPtr> flights_;
  size_t next_ = 0;  // index of the next candidate
  bool finished_ = false;  // run() has ended: arrivals are late
  bool stop_ = false;  // an error that no other deployment would avoid
  Placement placement_;
};

}  // namespace sandgate
